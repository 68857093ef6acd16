r"""Lever angle, tension and friction loop of a tendon at an elongation, solved together.

.. math:: -L(\vartheta) + c\, f(\vartheta)\,(1 + \epsilon\, s(\vartheta)) = e, \qquad
          s(\vartheta) = \mathrm{dahl}(s_0, \vartheta - \vartheta_0)

with c = l0/EA. A loop state taken from the step before instead would be an iteration of gain
``eps c f / (x0 (L' + c |f'|))``, about two at 100 N in the reference hand: lever and tension would alternate
from step to step. The left side falls with the lever angle, so the root is one.
"""

from __future__ import annotations

import math

from mechanics.hysteresis import dahl
from mechanics.springs import spring_at
from signals.compiled import law
from signals.typed import Model

SMALL_RAD = 1e-4
"""Newton step from the lever before that is taken as it is: it leaves 1e-6 rad, half a millinewton."""
NEWTON = 3
CLOSE_RAD = 2e-5
"""Last of the Newton steps above which the bracketed search takes over (a snapped or slipped tendon)."""
SEARCH = 60


@law
def loop_slope_1_rad(
    s: float, before: float, lever_rad: float, start_rad: float, presliding_rad: float
) -> float:
    """ds/dlever of the loop state [1/rad]; at the start itself that of branch ``before`` (+1 or -1)."""
    side = before if lever_rad == start_rad else (1.0 if lever_rad < start_rad else -1.0)
    return -side * (side - s) / presliding_rad


@law
def excess_m(
    m: Model, t: int, lever_rad: float, start_rad: float, loop_sign: float, elongation_m: float
) -> tuple[float, float, float, float]:
    """(excess [m], its slope [m/rad], force with friction [N], loop state) at a trial lever angle."""
    force, dforce, path, dpath = spring_at(m, t, lever_rad)
    presliding, frac = m.lever_presliding_rad[t], m.lever_friction_frac[t]
    s = dahl(loop_sign, lever_rad - start_rad, presliding)
    c = m.tendon_compliance_m_n[t]
    gain = 1.0 + frac * s
    excess = c * force * gain - path - elongation_m
    ds = loop_slope_1_rad(s, 1.0 if excess < 0.0 else -1.0, lever_rad, start_rad, presliding)
    return excess, c * (dforce * gain + force * frac * ds) - dpath, force * gain, s


@law
def _searched(m: Model, t: int, start_rad: float, loop_sign: float, elongation_m: float) -> float:
    """Lever angle [rad] by bisection between the stops; a stop itself where the root lies beyond it."""
    spring = m.tendon_spring[t]
    low, high = m.lever_min_rad[spring], m.lever_max_rad[spring]
    excess, _, _, _ = excess_m(m, t, high, start_rad, loop_sign, elongation_m)
    if excess >= 0.0:
        return float(high)
    excess, _, _, _ = excess_m(m, t, low, start_rad, loop_sign, elongation_m)
    if excess <= 0.0:
        return float(low)
    for _ in range(SEARCH):
        middle = 0.5 * (low + high)
        excess, _, _, _ = excess_m(m, t, middle, start_rad, loop_sign, elongation_m)
        if excess > 0.0:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))


@law
def _turned(loop_sign: float, side: float, way: float) -> float:
    """The loop after ``way`` presliding lengths towards ``side``: Dahl's law, by its series if short."""
    if way > 0.05:
        return loop_sign - (side - loop_sign) * math.expm1(-way)
    return loop_sign + (side - loop_sign) * way * (1.0 - way * (0.5 - way * (1.0 / 6.0 - way / 24.0)))


@law
def _solved(
    m: Model, t: int, elongation_m: float, start: float, loop_sign: float
) -> tuple[float, float, float]:
    """The same from any distance: Newton steps, then bisection where they do not settle."""
    spring = m.tendon_spring[t]
    low, high = m.lever_min_rad[spring], m.lever_max_rad[spring]
    x, step = start, 0.0
    for _ in range(NEWTON):
        excess, slope, _, _ = excess_m(m, t, x, start, loop_sign, elongation_m)
        step = excess / slope
        x = min(max(x - step, low), high)
    if math.fabs(step) > CLOSE_RAD:
        x = _searched(m, t, start, loop_sign, elongation_m)
    excess, _, force, s = excess_m(m, t, x, start, loop_sign, elongation_m)
    if (x >= high and excess > 0.0) or (x <= low and excess < 0.0):
        _, _, path, _ = spring_at(m, t, x)
        return x, max((elongation_m + path) / m.tendon_compliance_m_n[t], 0.0), s
    return x, force, s


@law
def loop_state(
    m: Model, t: int, elongation_m: float, lever_rad: float, loop_sign: float
) -> tuple[float, float, float]:
    """Lever angle [rad], tension [N] and loop state of a tendon after a step.

    Args:
        m: Model record.
        t: Tendon.
        elongation_m: Elastic elongation of mechanism and tendon now; <= 0 is slack.
        lever_rad: Lever angle before the step.
        loop_sign: Loop state before the step, -1..1.
    """
    spring = m.tendon_spring[t]
    low, high = m.lever_min_rad[spring], m.lever_max_rad[spring]
    start = min(max(lever_rad, low), high)
    presliding = m.lever_presliding_rad[t]
    if elongation_m <= 0.0:
        return high, 0.0, dahl(loop_sign, high - start, presliding)
    compliance, frac = m.tendon_compliance_m_n[t], m.lever_friction_frac[t]
    force, dforce, path, dpath = spring_at(m, t, start)
    gain = 1.0 + frac * loop_sign
    excess = compliance * force * gain - path - elongation_m
    side = 1.0 if excess < 0.0 else -1.0
    ds = -side * (side - loop_sign) / presliding
    step = -excess / (compliance * (dforce * gain + force * frac * ds) - dpath)
    x = start + step
    if math.fabs(step) < SMALL_RAD and low < x < high:
        # to first order the elongation is met exactly, so the tension follows from the path
        tension = (elongation_m + path + dpath * step) / compliance
        return x, tension, _turned(loop_sign, side, math.fabs(step) / presliding)
    return _solved(m, t, elongation_m, start, loop_sign)
