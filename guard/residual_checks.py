"""Detectors on the residual: what no joint angle explains of the tendons' lengths.

A tendon that slips or jumps its pulley, and a sensor that jumps, make a step; creep and a drifting sensor a
slow growth. Hysteresis and the tolerances of a hand make a residual too, which grows with the tension, so the
limit of a step grows with it. An antagonist pair has identical columns: the tendon named stands for the pair.
What one wrist angle explains of all fingers is the wrist sensor's affair (``guard.joint_checks``) and
not counted here. Nor is what a finger moves between its samples, where a slow bus brings them one by one.
"""

from __future__ import annotations

from typing import Final

from guard.latch import latch_finger
from guard.memory import GuardMemory
from mechanics.low_pass import memory_share
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

RESIDUAL_TOO_LARGE: Final = int(Cause.RESIDUAL_TOO_LARGE)
HALL_DRIFT: Final = int(Cause.HALL_DRIFT)

STEP_MEMORY_S: Final = 0.3
STEP_S: Final = 0.015
STEP_SHARE: Final = 0.32
"""Step that latches at no tension, as a share of the finger's residual limit."""
LARGE_S: Final = 0.050
DRIFT_MEMORY_S: Final = 3.0
DRIFT_SHARE: Final = 0.7


@law
def skew_m(m: Model, z: Measurement, s: State, f: int) -> float:
    """Way [m] that the fastest tendon of finger ``f`` is wound between its oldest and its newest sample."""
    oldest_ns = newest_ns = s.time_ns
    speed = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        first_ns = last_ns = z.motor_time_ns[i]
        if m.hall_weight[t] > 0.0:
            first_ns, last_ns = min(first_ns, z.hall_time_ns[t]), max(last_ns, z.hall_time_ns[t])
        oldest_ns = first_ns if k == 0 else min(oldest_ns, first_ns)
        newest_ns = last_ns if k == 0 else max(newest_ns, last_ns)
        speed = max(speed, abs(m.spool_radius_m[t] * s.motor_speed_rad_s[i]))
    return float(1e-9 * float(newest_ns - oldest_ns) * speed)


@law
def check_tendon_residual(
    m: Model,
    mem: GuardMemory,
    z: Measurement,
    s: State,
    f: int,
    t: int,
    limit: float,
    fast: float,
    slow: float,
) -> None:
    """Latch a residual of tendon ``t`` that steps, is large, or has grown slowly.

    ``fast`` and ``slow`` are the shares of this cycle in the two averages.
    """
    r = s.residual_unexplained_m[t]
    if mem.started == 0:
        mem.residual_fast_m[t] = r
        mem.residual_slow_m[t] = r
    mem.residual_fast_m[t] += fast * (r - mem.residual_fast_m[t])
    mem.residual_slow_m[t] += slow * (r - mem.residual_slow_m[t])
    step = r - mem.residual_fast_m[t]
    allowed = limit * (STEP_SHARE + m.step_share_1_n * s.tension_n[t])
    # only raises the limits: asked for where one is passed
    skew = skew_m(m, z, s, f) if abs(step) > allowed or abs(r) > limit else 0.0
    allowed += skew
    mem.step_s[t] = mem.step_s[t] + m.dt_s if abs(step) > allowed else 0.0
    mem.large_s[t] = mem.large_s[t] + m.dt_s if abs(r) > limit + skew else 0.0
    if mem.step_s[t] > STEP_S:
        latch_finger(s, f, RESIDUAL_TOO_LARGE, t, 1e3 * r, 1e3 * allowed)
    elif mem.large_s[t] > LARGE_S:
        latch_finger(s, f, RESIDUAL_TOO_LARGE, t, 1e3 * r, 1e3 * (limit + skew))
    elif abs(mem.residual_slow_m[t]) > DRIFT_SHARE * limit:
        latch_finger(s, f, HALL_DRIFT, t, 1e3 * mem.residual_slow_m[t], 1e3 * DRIFT_SHARE * limit)


@law
def check_residuals(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch fingers whose tendon lengths contradict each other.

    With a wrist whose lengths are not removed (``use_wrist`` 0) nothing can be told.
    """
    if m.n_axes > 0 and m.use_wrist == 0:
        return
    fast, slow = memory_share(m.dt_s, STEP_MEMORY_S), memory_share(m.dt_s, DRIFT_MEMORY_S)
    for f in range(m.n_fingers):
        limit = m.residual_limit_m[f]
        if limit > 0.0:
            for k in range(m.finger_n_tendons[f]):
                check_tendon_residual(m, mem, z, s, f, m.finger_tendon[f, k], limit, fast, slow)
