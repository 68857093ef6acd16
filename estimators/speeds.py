r"""Speeds by a filtered difference: ``v += a ((x - x_last)/dt - v)``, ``a = 1 - exp(-2 pi f_c dt)``.

The filter is the exact discretisation of a first-order low-pass, so that its bandwidth does not depend on
the rate and a late cycle (longer dt) is weighed by its true length.

``dt`` is the time between the two samples, not between two cycles: a slow bus brings a new sample in some
cycles only, and then the change of several. Without a new sample a speed stays as it is, for a while.
"""

from __future__ import annotations

from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.low_pass import filter_share
from signals.compiled import law
from signals.typed import Measurement, Model, State

HELD_NS: Final = 10_000_000
"""Age of a sample up to which its speed is kept; older ones are of something that seems to rest."""


@law
def filtered_speed(speed: float, value: float, last: float, dt_s: float, share: float) -> float:
    """Next filtered speed from two values ``dt_s`` apart."""
    return speed + share * ((value - last) / dt_s - speed)


@law
def cycle_s(m: Model, s: State) -> float:
    """Time since the previous cycle [s]; the control period where the loop gave none."""
    return float(s.dt_s) if s.dt_s > 0.0 else float(m.dt_s)


@law
def since_last_s(m: Model, s: State, ok: bool, time_ns: int, last_ns: int) -> float:
    """Time [s] from the last good sample of a channel to this one; 0: its speed stays, nothing is new.

    A channel that fails, or whose sample is too old, has rested since the last cycle. One whose clock was set
    back has moved since then.
    """
    if ok and time_ns > last_ns:
        return 1e-9 * float(time_ns - last_ns)
    if ok and time_ns == last_ns and s.time_ns - time_ns <= HELD_NS:
        return 0.0
    return cycle_s(m, s)


@law
def motor_speeds(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Motor angles in use [rad] and filtered speeds [rad/s] into ``s``; a missing motor seems to rest."""
    angle, last, speed = mem.motor_angle_rad, mem.last_motor_angle_rad, s.motor_speed_rad_s
    share_of_s = share = 0.0  # most motors share one time between samples: one exponential for all
    times = sampled = 0
    for i in range(m.n_motors):
        ok, time_ns = mem.motor_ok[i] != 0, z.motor_time_ns[i]
        dt_s = since_last_s(m, s, ok, time_ns, mem.last_motor_ns[i])
        if mem.started == 0:
            speed[i] = dt_s = 0.0
        elif dt_s > 0.0:
            if dt_s != share_of_s:
                share_of_s, share = dt_s, filter_share(m.velocity_filter_hz, dt_s)
                times += 1
            speed[i] = filtered_speed(speed[i], angle[i], last[i], dt_s, share)
            sampled += 1
        mem.motor_dt_s[i] = dt_s
        if ok:
            mem.last_motor_ns[i] = time_ns
        last[i] = angle[i]
        s.motor_angle_rad[i] = angle[i]
    mem.one_dt_s, mem.one_share = 0.0, 0.0
    if times == 1 and sampled == m.n_motors:
        mem.one_dt_s, mem.one_share = share_of_s, share


@law
def finger_dt_s(m: Model, mem: EstimatorMemory, f: int) -> float:
    """Time [s] that finger ``f``'s joints had to move: its motors' times between samples, their mean."""
    total, tendons, n = 0.0, m.finger_tendon, m.finger_n_tendons[f]
    for k in range(n):
        total += mem.motor_dt_s[m.tendon_motor[tendons[f, k]]]
    return total / n if n > 0 else 0.0


@law
def joint_speeds(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Filtered joint speeds [rad/s] into ``s`` from the joint angles estimated now.

    The motors wind most of what a joint moves, so their samples are the clock; what the Hall sensors alone
    say between two of them counts with the next one.
    """
    angle, last, speed = s.joint_angle_rad, mem.last_joint_angle_rad, s.joint_speed_rad_s
    share_of_s, share = mem.one_dt_s, mem.one_share
    for f in range(m.n_fingers):
        dt_s = mem.one_dt_s
        if dt_s == 0.0 or m.finger_n_tendons[f] == 0:
            dt_s = finger_dt_s(m, mem, f)
        if dt_s != share_of_s:
            share_of_s, share = dt_s, filter_share(m.velocity_filter_hz, dt_s)
        for b in range(m.finger_n_joints[f]):
            j = m.finger_joint[f, b]
            if mem.started == 0:
                speed[j] = 0.0
            elif mem.anew[f] != 0:  # a sensor of the finger is taken over at a new place
                speed[j] -= share * speed[j]
            elif dt_s > 0.0:
                speed[j] = filtered_speed(speed[j], angle[j], last[j], dt_s, share)
            else:
                continue
            last[j] = angle[j]
