"""Wrist angles, palm pose, tendon lengths through the wrist and their Jacobian, once per cycle."""

from __future__ import annotations

from typing import Final

from estimators.memory import EstimatorMemory
from estimators.speeds import filtered_speed, since_last_s
from mechanics.frames import set_identity
from mechanics.low_pass import filter_share
from mechanics.wrist import palm_ways, wrist_pose
from signals.compiled import law
from signals.typed import Measurement, Model, State

AXIS_SPEED_HZ: Final = 20.0
"""Cut-off of the wrist axes' speed: four times their drive's bandwidth, well below the noise of a
potentiometer differentiated at the control rate."""


@law
def read_axes(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Axis angles [rad] and filtered speeds [rad/s] into ``s``."""
    cutoff_hz = min(m.velocity_filter_hz, AXIS_SPEED_HZ)
    share_of_s = share = 0.0  # as in ``motor_speeds``
    for a in range(m.n_axes):
        angle, time_ns = mem.axis_angle_rad[a], z.axis_time_ns[a]
        ok = mem.axis_ok[a] != 0
        dt_s = since_last_s(m, s, ok, time_ns, mem.last_axis_ns[a])
        if mem.started == 0:
            s.axis_speed_rad_s[a] = 0.0
        elif dt_s > 0.0:
            if dt_s != share_of_s:
                share_of_s, share = dt_s, filter_share(cutoff_hz, dt_s)
            speed, before = s.axis_speed_rad_s[a], mem.last_axis_angle_rad[a]
            s.axis_speed_rad_s[a] = filtered_speed(speed, angle, before, dt_s, share)
        if ok:
            mem.last_axis_ns[a] = time_ns
        mem.last_axis_angle_rad[a] = angle
        s.axis_angle_rad[a] = angle


@law
def palm_pose(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Palm pose into ``mem``; path lengths through the wrist minus neutral [m] into ``s``.

    Without a wrist the pose is fixed; with the wrist switched off (``use_wrist`` 0) the lengths are not
    removed, the pose and P_wrist are still known.
    """
    if m.n_axes < 2:
        set_identity(mem.wrist_R)
        for i in range(3):
            mem.wrist_o_m[i] = m.wrist_origin_m[i]
        return
    q71, q73 = s.axis_angle_rad[0], s.axis_angle_rad[1]
    wrist_pose(m, q71, q73, mem.wrist_R, mem.wrist_o_m)
    palm_ways(m, q71, q73, mem.wrist_R, mem.wrist_o_m, mem.wrist_length_m, mem.P_wrist_m)
    used = 1.0 if m.use_wrist != 0 else 0.0
    for t in range(m.n_tendons):
        s.wrist_length_m[t] = used * (mem.wrist_length_m[t] - m.wrist_neutral_length_m[t])


@law
def wrist_torque(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Torque that all tendons put on the wrist axes, ``-P_w^T f`` [N m], into ``s``."""
    for a in range(m.n_axes):
        torque = 0.0
        for t in range(m.n_tendons):
            torque -= mem.P_wrist_m[t, a] * s.tension_n[t]
        s.wrist_torque_nm[a] = torque
