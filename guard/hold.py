r"""Holding: every motor keeps the angle at which holding began, the wrist's share taken off.

.. math:: \tau_m = k_p (\theta_0 - \Delta h_{wrist}/R - \theta) - k_d w + \text{fading rest of the old torque}

The gears hold by themselves (88 N of friction at the spool), so the tensions stay as they are.
"""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from mechanics.blend import fading
from signals.compiled import inlined, law
from signals.modes import MachineState
from signals.typed import Model, State

HOLDING: Final = int(MachineState.HOLDING)
FADE_S: Final = 0.05
GLIDE_S: Final = 0.03
"""Time constant with which a motor that turns as its finger holds comes to rest: at once, its bones would go on."""


@law
def begin_hold(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """Note the angles of finger ``f`` and the torque that is being sent."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        mem.hold_angle_rad[i] = s.motor_angle_rad[i]
        mem.hold_wrist_m[t] = s.wrist_length_m[t]
        mem.hold_speed_rad_s[i] = s.motor_speed_rad_s[i] if s.finger_state[f] == HOLDING else 0.0
        mem.fade_torque_nm[i] = mem.last_torque_nm[i] + m.position_kd_nms_rad * (
            s.motor_speed_rad_s[i] - mem.hold_speed_rad_s[i]
        )


@inlined
def held_angle_rad(m: Model, mem: GuardMemory, s: State, t: int) -> float:
    """Angle [rad] at which the motor of tendon ``t`` was held, less what the wrist has taken since."""
    wrist = (s.wrist_length_m[t] - mem.hold_wrist_m[t]) / m.spool_radius_m[t]
    return float(mem.hold_angle_rad[m.tendon_motor[t]] - wrist)


@law
def hold_torque_nm(m: Model, mem: GuardMemory, s: State, t: int) -> float:
    """Torque [N m] that keeps the motor of tendon ``t`` where holding began."""
    i = m.tendon_motor[t]
    mem.fade_torque_nm[i] = fading(mem.fade_torque_nm[i], m.dt_s, FADE_S)
    mem.hold_angle_rad[i] += m.dt_s * mem.hold_speed_rad_s[i]
    mem.hold_speed_rad_s[i] = fading(mem.hold_speed_rad_s[i], m.dt_s, GLIDE_S)
    return float(
        m.position_kp_nm_rad * (held_angle_rad(m, mem, s, t) - s.motor_angle_rad[i])
        + m.position_kd_nms_rad * (mem.hold_speed_rad_s[i] - s.motor_speed_rad_s[i])
        + mem.fade_torque_nm[i]
    )
