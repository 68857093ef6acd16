"""Detectors of tension: lost (lever at its slack stop while tension is wanted) and too high.

A tendon that was taut and snaps shows the lever at its stop within a few ms; one that dips in motion comes
back by the tension loop. So the time allowed at the stop depends on the tension wanted, on whether the
tendon was taut before, and on how fast the lever got there; it ends where the path that the others see is
longer than the tendon, as only a lost one's can be. A tendon that gives way throws the finger, and others of
it go slack for a moment, its antagonist first of all: the one that fell first is the lost one.
"""

from __future__ import annotations

from typing import Final

from guard.latch import latch_finger
from guard.memory import GuardMemory
from mechanics.coupling import tendon_length
from mechanics.lines import sense_of
from mechanics.low_pass import filter_share
from mechanics.plausible import beyond_stop, usable
from mechanics.springs import greatest_tension_n
from signals.compiled import law
from signals.faults import Cause
from signals.layout import FloatArray
from signals.typed import Measurement, Model, State

TENSION_LOST: Final = int(Cause.TENSION_LOST)
TENSION_TOO_HIGH: Final = int(Cause.TENSION_TOO_HIGH)

LOST_S: Final = 0.010
"""Time at the slack stop of a tendon that was taut and is wanted so."""
SNAPPED_S: Final = 0.004
"""The same after a fall that only a break can make."""
DIP_S: Final = 0.150
"""The same for a tension wanted so low that motion can take it to the stop for a moment."""
TORN_SHARE: Final = 0.4
"""Share of the finger's residual limit by which a path is longer than a tendon that cannot be whole,"""
GROWN_SHARE: Final = 0.2
"""and by which it has become so since it came to its slack stop: tolerances of a hand stay as they are."""
SLACK_START_S: Final = 0.6
"""The same for a tendon that was not taut yet and is being wound in."""
TAUT_S: Final = 0.050
SNAP_RAD: Final = 0.025
SNAP_HZ: Final = 50.0
"""A snap leaves the lever's low-pass of this cut-off behind by SNAP_RAD; a fast unwinding by 0.019 rad, and
where the lever is soft by 0.027."""
UNWOUND: Final = 1.5
"""As far where its own motor unwinds at more than half of its speed: a snap from 6 N is one of 0.07 rad."""
TORN_S: Final = 0.0018
"""Time for which it has to lack length. As the next tendon falls, joints are told wrong for some cycles."""
SURE_CYCLES: Final = 1.5
"""The same in cycles, for slow loops: two of them."""
TOGETHER_S: Final = 0.002
"""Time within which tendons fall together, as goals let them go: a torn one throws others later."""
THROW_NS: Final = 30_000_000
"""Time [ns] in which a tendon that gave way throws its finger, and by it another tendon into slack."""
HIGH_S: Final = 0.004
NEAR_RAD: Final = 0.01
"""Distance from the end of what the sensor can see within which a tension is looked at closely."""


@law
def at_slack_stop(m: Model, t: int, lever_rad: float) -> bool:
    """True if a lever angle is within the slack margin of the slack stop."""
    k = m.tendon_spring[t]
    return bool(lever_rad >= m.lever_max_rad[k] - m.slack_margin_rad[k])


@law
def missing_m(m: Model, s: State, t: int) -> float:
    """Length [m] that tendon ``t``, at its slack stop, lacks for the path that the joints make; < 0: slack.

    A lost tendon's lever is at its stop as well, but what had stretched it is gone, its motor winds, and the
    finger goes where it held it: the path grows longer than what is left.
    """
    return float(tendon_length(m, t, s.joint_angle_rad) - s.tendon_length_m[t])


@law
def is_slack(m: Model, f: int, missing: float) -> bool:
    """True if a tendon of finger ``f`` that lacks so much [m] is slack: whoever pushed it, it is whole."""
    if m.n_axes > 0 and m.use_wrist == 0:
        return False
    return bool(missing < m.residual_limit_m[f])


@law
def share_a_joint(m: Model, P: FloatArray, f: int, a: int, b: int) -> bool:
    """True if tendons ``a`` and ``b`` of finger ``f`` turn a joint both."""
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        if P[a, j] != 0.0 and P[b, j] != 0.0:
            return True
    return False


@law
def is_torn(m: Model, mem: GuardMemory, f: int, t: int, missing: float) -> bool:
    """True if tendon ``t``, which lacks so much [m], cannot be whole: it lacks more and more of it.

    Joints say nothing where another one of a joint of its fell before it, or together with it: what is left
    taut may just do for these joints, and no length contradicts another any more.
    """
    limit = m.residual_limit_m[f]
    grown = missing - mem.slack_from_m[t] > GROWN_SHARE * limit
    if (m.n_axes > 0 and m.use_wrist == 0) or not (grown and missing > TORN_SHARE * limit > 0.0):
        return False
    for k in range(m.finger_n_tendons[f]):
        other = m.finger_tendon[f, k]
        fell = mem.slack_s[other] > max(mem.slack_s[t] - TOGETHER_S, 0.0)
        if fell and other != t and share_a_joint(m, mem.P_tj_m, f, t, other):
            return False
    return True


@law
def lacks_for_sure(m: Model, lacks_s: float) -> bool:
    """True once a length lacks for long enough to be no joint told wrong, and in more than one cycle."""
    return lacks_s > max(TORN_S, SURE_CYCLES * m.dt_s)


@law
def allowed_slack_s(m: Model, wanted_n: float, taut: bool, snapped: bool) -> float:
    """Time [s] that a lever may stay at its slack stop while a tension [N] is wanted."""
    if not taut:
        return SLACK_START_S
    if snapped:
        return SNAPPED_S
    return LOST_S if wanted_n > m.dip_tension_n else DIP_S


@law
def wanted_tension_n(m: Model, mem: GuardMemory, s: State, t: int) -> float:
    """Tension that should be there: the reference, or the least one where a motor only holds its place.

    No less than that either after a fall that only a break can make: a goal that lets a tendon go meanwhile
    does not make it whole.
    """
    wanted_n = float(s.ref_tension_n[t])
    if wanted_n > 0.0 and mem.snapped[t] == 0:
        return wanted_n
    return max(wanted_n, float(m.tension_min_n[t]) if mem.taut[t] != 0 else 0.0)


@law
def fell_after_another(m: Model, mem: GuardMemory, f: int, t: int, now_ns: int) -> bool:
    """True if another tendon of finger ``f`` fell before ``t`` did, or came to its stop: ``t`` was thrown."""
    own_ns = mem.fell_ns[t] if now_ns - mem.fell_ns[t] < THROW_NS else now_ns
    for k in range(m.finger_n_tendons[f]):
        before_ns = mem.fell_ns[m.finger_tendon[f, k]]
        if before_ns > 0 and own_ns - THROW_NS < before_ns < own_ns:
            return True
    return False


@law
def snaps(m: Model, s: State, t: int, lag_rad: float) -> bool:
    """True if the lever of tendon ``t`` leaves its low-pass behind as only one that gives way lets it."""
    if lag_rad <= SNAP_RAD:
        return False
    i = m.tendon_motor[t]
    speed = sense_of(m, t) * s.motor_speed_rad_s[i]
    return bool(speed > -0.5 * m.motor_speed_limit_rad_s[i] or lag_rad > UNWOUND * SNAP_RAD)


@law
def track_tautness(m: Model, mem: GuardMemory, s: State, t: int, share: float) -> None:
    """Timers of tendon ``t``: falling, at the slack stop, taut, snapped.

    ``share`` is that of this cycle in the lever's low-pass.
    """
    lever = s.lever_angle_rad[t]
    if mem.started == 0:
        mem.lever_low_rad[t] = lever
        mem.fell_ns[t] = 0
    mem.lever_low_rad[t] += share * (lever - mem.lever_low_rad[t])
    falls = snaps(m, s, t, lever - mem.lever_low_rad[t])
    if falls and mem.falling[t] == 0:
        mem.fell_ns[t] = s.time_ns
    mem.falling[t] = 1 if falls else 0
    if at_slack_stop(m, t, lever) and not beyond_stop(m, t, lever):
        if mem.slack_s[t] == 0.0:
            mem.thrown[t] = 1 if fell_after_another(m, mem, m.tendon_finger[t], t, s.time_ns) else 0
            mem.slack_from_m[t] = missing_m(m, s, t)
        if falls:
            mem.snapped[t] = 1
        mem.slack_s[t] += m.dt_s
        mem.taut_s[t] = 0.0
    else:
        mem.snapped[t] = 0
        mem.slack_s[t] = 0.0
        mem.taut_s[t] += m.dt_s
        if mem.taut_s[t] > TAUT_S:
            mem.taut[t] = 1


@law
def far_from_limit(m: Model, s: State, t: int) -> bool:
    """True if a few comparisons say that tendon ``t`` is below ``greatest_tension_n``.

    The force falls with the lever's angle; neither is near its end.
    """
    seen = s.lever_angle_rad[t] > m.lever_calibrated_min_rad[m.tendon_spring[t]] + NEAR_RAD
    return bool(seen and s.tension_n[t] < min(m.tension_max_n[t], m.tension_limit_n[t]))


@law
def check_slack(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> None:
    """Latch tendon ``t``, which is at its slack stop, once it counts as lost.

    A goal may want less than its lever shows: it is at its stop then, whole, but lacks no length.
    """
    wanted, taut, slack_s = wanted_tension_n(m, mem, s, t), mem.taut[t] != 0, mem.slack_s[t]
    missing = missing_m(m, s, t)
    allowed = allowed_slack_s(m, wanted, taut, mem.snapped[t] != 0)
    if mem.thrown[t] != 0:
        allowed = max(allowed, DIP_S)
    mem.lacks_s[t] = 0.0 if is_slack(m, f, missing) else mem.lacks_s[t] + m.dt_s
    lost = slack_s > allowed and (slack_s > SLACK_START_S or lacks_for_sure(m, mem.lacks_s[t]))
    lost = lost and wanted > m.least_wanted_n
    mem.torn_s[t] = mem.torn_s[t] + m.dt_s if is_torn(m, mem, f, t, missing) else 0.0
    if lost or (taut and slack_s > LOST_S and lacks_for_sure(m, mem.torn_s[t])):
        latch_finger(s, f, TENSION_LOST, t, s.tension_n[t], wanted)


@law
def check_tensions(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch lost and excessive tensions. What a push made slack is wound in as at the start."""
    if mem.started == 0:
        mem.snap_share = filter_share(SNAP_HZ, m.dt_s)
    share = mem.snap_share
    for t in range(m.n_tendons):
        if m.hall_weight[t] > 0.0 and not usable(int(z.hall_status[t]), z.hall_fine_count[t]):
            continue
        f = m.tendon_finger[t]
        track_tautness(m, mem, s, t, share)
        if mem.slack_s[t] > 0.0:
            check_slack(m, mem, s, f, t)
        if far_from_limit(m, s, t):
            mem.high_s[t] = 0.0
            continue
        limit = greatest_tension_n(m, t)
        high = s.tension_n[t] > limit and not beyond_stop(m, t, s.lever_angle_rad[t])
        mem.high_s[t] = mem.high_s[t] + m.dt_s if high else 0.0
        if mem.high_s[t] > HIGH_S:
            latch_finger(s, f, TENSION_TOO_HIGH, t, s.tension_n[t], limit)
