r"""Detector of growing friction: the torque that motion takes, against the identified law and its past.

While a motor turns, what its torque leaves over after the tendon's load is friction,
``tau_m - R f = c (gamma_2 atan(gamma_1 w) + gamma_3 w)``. The factor c, averaged over motion, is compared
with its own long average (a guide or gear that changes) and with 1, the commissioned law (years of wear).
"""

from __future__ import annotations

from typing import Final

from guard.channel_checks import hall_believed
from guard.latch import latch_finger
from guard.memory import GuardMemory
from mechanics.friction import motor_friction_nm
from mechanics.lines import motor_load_nm
from mechanics.low_pass import memory_share
from mechanics.plausible import usable
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

FRICTION_GROWN: Final = int(Cause.FRICTION_GROWN)

FAST_S: Final = 0.4
SLOW_S: Final = 20.0
LEARN_S: Final = 0.8
"""Motion after which the averages are compared."""
SUSPICIOUS: Final = 1.2
"""Growth from which the past is no longer updated: it must not follow what it is to find."""
GROWTH: Final = 1.5
"""Growth over the own past that latches."""
ABSOLUTE: Final = 2.5
"""Factor over the commissioned law that latches: beyond the spread of motors that were never identified."""


@law
def friction_factor(m: Model, mem: GuardMemory, s: State, i: int, t: int) -> tuple[float, float]:
    """(friction of motor ``i``, friction of its law) at its present speed, both along the motion [N m]."""
    speed = s.motor_speed_rad_s[i]
    expected = motor_friction_nm(
        speed, m.friction_gamma_1_s_rad[i], m.friction_gamma_2_nm[i], m.friction_gamma_3_nms_rad[i]
    )
    left = mem.last_torque_nm[i] - motor_load_nm(m, s, m.tendon_finger[t], t)
    return (left, expected) if speed > 0.0 else (-left, -expected)


@law
def check_friction_growth(m: Model, mem: GuardMemory, s: State, f: int, t: int, fast: float) -> None:
    """Follow the friction of tendon ``t``'s motor while it turns; latch what has grown.

    ``fast`` is the share of this cycle in the fast averages.
    """
    i = m.tendon_motor[t]
    if abs(s.motor_speed_rad_s[i]) < m.turning_speed_rad_s:
        return
    measured, expected = friction_factor(m, mem, s, i, t)
    mem.moved_s[i] += m.dt_s
    # long averages begin as plain means, so that the past counts from the first motion on
    slow = min(SLOW_S, mem.moved_s[i])
    share = fast if slow >= FAST_S else memory_share(m.dt_s, slow)
    mem.friction_fast_nm[i] += share * (measured - mem.friction_fast_nm[i])
    mem.law_fast_nm[i] += share * (expected - mem.law_fast_nm[i])
    learned = mem.moved_s[i] > LEARN_S and mem.law_slow_nm[i] > 0.0 and mem.friction_slow_nm[i] > 0.0
    now = mem.friction_fast_nm[i] / mem.law_fast_nm[i] if learned else 0.0
    past = mem.friction_slow_nm[i] / mem.law_slow_nm[i] if learned else 1.0
    if now < SUSPICIOUS * past:
        share = memory_share(m.dt_s, slow)
        mem.friction_slow_nm[i] += share * (measured - mem.friction_slow_nm[i])
        mem.law_slow_nm[i] += share * (expected - mem.law_slow_nm[i])
    if now > GROWTH * past:
        latch_finger(s, f, FRICTION_GROWN, i, now / past, GROWTH)
    elif past > ABSOLUTE:
        latch_finger(s, f, FRICTION_GROWN, i, past, ABSOLUTE)


@law
def loads_believed(m: Model, z: Measurement, f: int, t: int) -> bool:
    """True if the Hall sensors of all that tendon ``t``'s motor winds can be believed."""
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        if m.tendon_motor[o] == m.tendon_motor[t] and not hall_believed(m, z, o):
            return False
    return True


@law
def check_friction(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch grown friction of all motors whose channels can be believed."""
    fast, shared, servos = memory_share(m.dt_s, FAST_S), m.n_motors < m.n_tendons, m.n_servos != 0
    for t in range(m.n_tendons):
        i = m.tendon_motor[t]
        if shared and m.tendon_follows[t] != 0:
            continue
        motor = usable(int(z.motor_status[i]), z.motor_angle_rad[i])
        if servos and m.friction_watched[i] == 0:
            continue
        if motor and (loads_believed(m, z, m.tendon_finger[t], t) if shared else hall_believed(m, z, t)):
            check_friction_growth(m, mem, s, m.tendon_finger[t], t, fast)
