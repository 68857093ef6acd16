r"""Holding: every motor keeps the angle at which holding began, the wrist's share taken off.

.. math:: \tau_m = k_p (\theta_0 - \Delta h_{wrist}/R - \theta) + k_d (w_0 - w) + \text{fading rest}

The rest is that of the torque before. The gears hold by themselves (88 N of friction at the spool), so the
tensions stay as they are. A finger that moves as it begins to hold glides to its rest: its angle goes on with
the speed w_0 that its motor had, which fades. Held at once, 6 rad/s of a base are gone within 10 ms, and what
it carries is thrown into a stop. In a fault nothing glides.
"""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from mechanics.blend import fading
from signals.compiled import inlined, law
from signals.modes import MachineState
from signals.typed import Model, State

ACTIVE: Final = int(MachineState.ACTIVE)
HOLDING: Final = int(MachineState.HOLDING)
FADE_S: Final = 0.05
GLIDE_S: Final = 0.03
"""Time constant with which the speed of a held angle fades: a finger's base at 6 rad/s goes on for 10 deg."""


@law
def begin_hold(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """Note the angles of finger ``f``, how fast they change, and the torque that is being sent.

    Only what followed goals glides: what was being let go, or rested, is held where it is. What the wrist
    does to a motor is no motion of its own, as the held angle takes the wrist's way along.
    """
    glides = s.finger_state[f] == HOLDING and mem.last_finger_state[f] == ACTIVE
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        mem.hold_angle_rad[i] = s.motor_angle_rad[i]
        mem.hold_wrist_m[t] = s.wrist_length_m[t]
        if m.tendon_follows[t] != 0:  # the first line of a motor tells its angle
            continue
        fastest = m.motor_speed_limit_rad_s[i]
        own = s.motor_speed_rad_s[i] + mem.wrist_m_s[t] / m.spool_radius_m[t]
        mem.hold_speed_rad_s[i] = min(max(own, -fastest), fastest) if glides else 0.0
        rest = m.position_kd_nms_rad * (s.motor_speed_rad_s[i] - mem.hold_speed_rad_s[i])
        mem.fade_torque_nm[i] = mem.last_torque_nm[i] + rest


@law
def glide(m: Model, mem: GuardMemory, i: int) -> None:
    """The held angle of motor ``i`` goes on for a cycle, ever more slowly."""
    mem.hold_angle_rad[i] += m.dt_s * mem.hold_speed_rad_s[i]
    mem.hold_speed_rad_s[i] = fading(mem.hold_speed_rad_s[i], m.dt_s, GLIDE_S)


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
    glide(m, mem, i)
    return float(
        m.position_kp_nm_rad * (held_angle_rad(m, mem, s, t) - s.motor_angle_rad[i])
        + m.position_kd_nms_rad * (mem.hold_speed_rad_s[i] - s.motor_speed_rad_s[i])
        + mem.fade_torque_nm[i]
    )
