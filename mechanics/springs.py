r"""Spring mechanism and tendon in series: tension from elongation, stiffness from tension, both compiled.

.. math:: e = -L(\vartheta) + T\, l_0/EA, \qquad T = c f(\vartheta), \qquad c = 1 + \epsilon s

with the mechanism's path L and force f over the lever angle, and the lever's friction loop s in [-1, 1] of
relative half width epsilon (mechanics.hysteresis). At its stops the lever is rigid and the tendon alone
stretches: there ``T = (e + L(stop)) EA/l0``.

``m`` is the model record, ``t`` a tendon. All need ``tendon_compliance_m_n > 0``.
"""

from __future__ import annotations

from mechanics.interpolation import hermite, hermite_or_line, interval_of, value_or_line
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


@law
def lever_of_count(m: Model, t: int, count: float) -> float:
    """Lever angle [rad] of a Hall count."""
    return float((count - m.hall_zero_count[t]) / m.hall_counts_rad[t])


@law
def count_of_lever(m: Model, t: int, lever_rad: float) -> float:
    """Hall count, with fraction and not yet limited to the sensor's range, of a lever angle [rad]."""
    return float(m.hall_zero_count[t] + lever_rad * m.hall_counts_rad[t])


@law
def spring_at(m: Model, t: int, lever_rad: float) -> tuple[float, float, float, float]:
    """Tendon force [N], its slope [N/rad], path [m] and its slope [m/rad] at a lever angle.

    From the Hermite tables, the force times the tendon's ``spring_scale``; beyond the stops both are
    continued by their tangents (a Hall count can lie there).
    """
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    nodes = m.spring_force_n.shape[1]
    k, u = interval_of(lever_rad, low, high, nodes)
    h = (high - low) / (nodes - 1)
    f, df = hermite_or_line(
        u,
        h,
        m.spring_force_n[s, k],
        m.spring_force_n[s, k + 1],
        m.spring_force_slope_n_rad[s, k],
        m.spring_force_slope_n_rad[s, k + 1],
    )
    path, dpath = hermite_or_line(
        u,
        h,
        m.spring_path_m[s, k],
        m.spring_path_m[s, k + 1],
        m.spring_path_slope_m_rad[s, k],
        m.spring_path_slope_m_rad[s, k + 1],
    )
    scale = m.spring_scale[t]
    return scale * f, scale * df, path, dpath


@law
def forces_at(m: Model, t: int, lever_rad: FloatArray, force_n: FloatArray) -> None:
    """Tendon forces [N] of ``spring_at`` at lever angles, shape (n,) both; the second is written."""
    for k in range(len(lever_rad)):
        force_n[k], _, _, _ = spring_at(m, t, lever_rad[k])


@law
def elongation_of_lever(m: Model, t: int, lever_rad: float) -> tuple[float, float]:
    """Tension [N] and elastic elongation [m] of tendon ``t`` at a lever angle [rad].

    The values of ``spring_at`` without its slopes: every cycle asks for them, of every tendon.
    """
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    nodes = m.spring_force_n.shape[1]
    k, u = interval_of(lever_rad, low, high, nodes)
    h = (high - low) / (nodes - 1)
    force = value_or_line(
        u,
        h,
        m.spring_force_n[s, k],
        m.spring_force_n[s, k + 1],
        m.spring_force_slope_n_rad[s, k],
        m.spring_force_slope_n_rad[s, k + 1],
    )
    path = value_or_line(
        u,
        h,
        m.spring_path_m[s, k],
        m.spring_path_m[s, k + 1],
        m.spring_path_slope_m_rad[s, k],
        m.spring_path_slope_m_rad[s, k + 1],
    )
    tension = max(m.spring_scale[t] * force, 0.0)
    return tension, -path + tension * m.tendon_compliance_m_n[t]


@law
def spring_energy_j(m: Model, t: int, lever_rad: float) -> float:
    """Elastic energy [J] of the mechanism at a lever angle between its stops, 0 at the slack stop.

    Its slope at the nodes is that of virtual work, ``dV = -f dL``; the tendon's own is not in it.
    """
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    nodes = m.spring_force_n.shape[1]
    k, u = interval_of(min(max(lever_rad, low), high), low, high, nodes)
    d0 = -m.spring_force_n[s, k] * m.spring_path_slope_m_rad[s, k]
    d1 = -m.spring_force_n[s, k + 1] * m.spring_path_slope_m_rad[s, k + 1]
    step = (high - low) / (nodes - 1)
    energy, _ = hermite(u, step, m.spring_energy_j[s, k], m.spring_energy_j[s, k + 1], d0, d1)
    return float(m.spring_scale[t] * energy)


@law
def greatest_tension_n(m: Model, t: int) -> float:
    """Tension [N] that must not be passed: the hand's limit, or the end of what the sensor can see."""
    seen, _, _, _ = spring_at(m, t, m.lever_calibrated_min_rad[m.tendon_spring[t]])
    limit = m.tension_limit_n[t]
    return float(min(seen, limit)) if limit > 0.0 else float(seen)


@law
def series_stiffness_n_m(mechanism_n_m: float, compliance_m_n: float) -> float:
    """Stiffness [N/m] of mechanism and tendon in series."""
    return mechanism_n_m / (1.0 + mechanism_n_m * compliance_m_n)


@law
def stiffness_of_force(m: Model, t: int, force_n: float) -> float:
    """Stiffness [N/m] of mechanism and tendon in series at a tendon force, for controllers.

    Between the stops the mechanism's own curve. Beyond them the lever is rigid and the true stiffness is
    the tendon's alone (or zero, when slack): at the slack stop it jumps by a factor of 28, which no gain
    should follow on a noisy force. So below the slack force the value at the slack stop is kept, and above
    the hard stop's force the value there (in the reference hand 7 % below the tendon's alone).
    """
    s = m.tendon_spring[t]
    scale = m.spring_scale[t]
    last = m.spring_force_n.shape[1] - 1
    # the mechanism at 1/scale of the force has 1/scale of the stiffness
    f = min(max(force_n / scale, m.spring_force_n[s, last]), m.force_max_n[s])
    k, u = interval_of(f, 0.0, m.force_max_n[s], m.stiffness_n_m.shape[1])
    mechanism = (1.0 - u) * m.stiffness_n_m[s, k] + u * m.stiffness_n_m[s, k + 1]
    return series_stiffness_n_m(scale * mechanism, m.tendon_compliance_m_n[t])


@law
def _interval_of_elongation(m: Model, s: int, elongation_m: float, stretch_m_n: float, guess: int) -> int:
    """Interval of the table that holds an elongation; the node elongations fall with the index.

    The guessed interval and its neighbours are looked at first; else bisection, always the same number
    of steps. The answer does not depend on the guess.
    """
    last = int(m.spring_force_n.shape[1]) - 2
    for step in (0, -1, 1):
        k = min(max(guess + step, 0), last)
        upper = stretch_m_n * m.spring_force_n[s, k] - m.spring_path_m[s, k]
        lower = stretch_m_n * m.spring_force_n[s, k + 1] - m.spring_path_m[s, k + 1]
        if lower < elongation_m <= upper:
            return k
    low, high = 0, last + 1
    while high - low > 1:
        middle = (low + high) // 2
        if elongation_m <= stretch_m_n * m.spring_force_n[s, middle] - m.spring_path_m[s, middle]:
            low = middle
        else:
            high = middle
    return low


@law
def spring_state(
    m: Model, t: int, elongation_m: float, lever_guess_rad: float, loop_sign: float
) -> tuple[float, float]:
    """Lever angle [rad] and tension [N] of a tendon at an elongation.

    Solves the module's equation: interval of the table, then a secant step and two Newton steps inside
    it, which leave less than 1e-12 N. The guess (the lever of the step before) only shortens the search.

    Args:
        m: Model record.
        t: Tendon.
        elongation_m: Elastic elongation of mechanism and tendon; <= 0 is slack, tension 0.
        lever_guess_rad: Lever angle nearby.
        loop_sign: State of the lever's friction loop, -1..1, + while the force rises.
    """
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    nodes = m.spring_force_n.shape[1]
    compliance = m.tendon_compliance_m_n[t]
    if elongation_m <= 0.0:
        return high, 0.0
    gain = m.spring_scale[t] * (1.0 + m.lever_friction_frac[t] * loop_sign)
    stretch = gain * compliance
    if elongation_m <= stretch * m.spring_force_n[s, nodes - 1] - m.spring_path_m[s, nodes - 1]:
        return high, (elongation_m + m.spring_path_m[s, nodes - 1]) / compliance
    if elongation_m >= stretch * m.spring_force_n[s, 0] - m.spring_path_m[s, 0]:
        return low, (elongation_m + m.spring_path_m[s, 0]) / compliance
    guess, _ = interval_of(lever_guess_rad, low, high, nodes)
    k = _interval_of_elongation(m, s, elongation_m, stretch, guess)
    h = (high - low) / (nodes - 1)
    f0, f1 = m.spring_force_n[s, k], m.spring_force_n[s, k + 1]
    fd0, fd1 = m.spring_force_slope_n_rad[s, k], m.spring_force_slope_n_rad[s, k + 1]
    e0 = stretch * f0 - m.spring_path_m[s, k]
    e1 = stretch * f1 - m.spring_path_m[s, k + 1]
    # The elongation is a sum of two cubics over one interval, hence one cubic itself.
    d0 = stretch * fd0 - m.spring_path_slope_m_rad[s, k]
    d1 = stretch * fd1 - m.spring_path_slope_m_rad[s, k + 1]
    u = (elongation_m - e0) / (e1 - e0)
    for _ in range(2):
        e, slope = hermite(u, h, e0, e1, d0, d1)
        u = min(max(u + (elongation_m - e) / (slope * h), 0.0), 1.0)
    f, _ = hermite(u, h, f0, f1, fd0, fd1)
    return low + (k + u) * h, gain * f
