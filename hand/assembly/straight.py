"""The straight hand in plain numpy: base lengths, coupling, elongations; needs no compiled code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechanics.springs import greatest_tension_n
from mechanics.start_tension import start_tension_n
from signals.layout import FloatArray, IntArray
from signals.modes import TendonKind
from signals.records import RecordArray

_BISECTIONS = 60


def straight_lengths_m(model: RecordArray) -> FloatArray:
    """Path lengths in the fingers at q = 0, shape (T,): 0 of pulleys, absolute of base tendons (5.20)."""
    m = model[0]
    lengths = np.zeros(len(m["tendon_kind"]))
    for t in _base_tendons(model):
        lengths[t] = np.linalg.norm(_reach(model, t)[0])
    return lengths


def straight_jacobian(model: RecordArray) -> FloatArray:
    """P = dh/dq [m/rad] at q = 0, shape (T, J), tensegrity bases included."""
    m = model[0]
    P_tj_m: FloatArray = m["P_tj_m"].copy()
    for t in _base_tendons(model):
        pull, turned = _reach(model, t)
        first, second = m["finger_joint"][m["tendon_finger"][t], :2]
        P_tj_m[t, [first, second]] = turned @ pull / np.linalg.norm(pull)
    return P_tj_m


def _base_tendons(model: RecordArray) -> list[int]:
    m = model[0]
    return [t for t in range(int(m["n_tendons"])) if m["tendon_kind"][t] == TendonKind.INSERTION_POINTS]


def _reach(model: RecordArray, t: int) -> tuple[FloatArray, FloatArray]:
    """X0 -> X of a base tendon at q = 0, and its derivatives by the two base joints, shape (2, 3)."""
    m = model[0]
    finger = int(m["tendon_finger"][t])
    offset, along = m["thumb_base_offset_m"][finger], m["thumb_metacarpal_m"][finger]
    x, y, z = m["insertion_bone_m"][t]
    end = np.array([offset + along + x, y, z])
    turned = np.array([[-y, offset + along + x, 0.0], [-z, 0.0, along + x]])
    return end - m["insertion_palm_m"][t], turned


def greatest_tensions_n(model: RecordArray) -> FloatArray:
    """``mechanics.springs.greatest_tension_n`` of each tendon, shape (nt,)."""
    return np.array([greatest_tension_n(model[0], t) for t in range(int(model["n_tendons"][0]))])


def lever_of_tension_rad(model: RecordArray, tension_n: float | FloatArray) -> FloatArray:
    """Lever angle of each tendon, shape (nt,), at one tension or (nt,); friction loop at its middle."""
    m = model[0]
    count = int(m["n_tendons"])
    spring = m["tendon_spring"][:count]
    scale = m["spring_scale"][:count]
    low, high = m["lever_min_rad"][spring].copy(), m["lever_max_rad"][spring].copy()
    force_n = _table(m, spring, "spring_force_n", "spring_force_slope_n_rad")
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        tight = scale * force_n(middle) > tension_n
        low, high = np.where(tight, middle, low), np.where(tight, high, middle)
    lever: FloatArray = 0.5 * (low + high)
    return lever


def elongation_of_tension_m(model: RecordArray, tension_n: float | FloatArray) -> FloatArray:
    """Elastic elongation of each tendon, shape (T,), at one tension or (nt,); friction loop at its middle."""
    m = model[0]
    count = int(m["n_tendons"])
    spring, lever = m["tendon_spring"][:count], lever_of_tension_rad(model, tension_n)
    path = _table(m, spring, "spring_path_m", "spring_path_slope_m_rad")(lever)
    elongation = np.zeros(len(m["tendon_kind"]))
    elongation[:count] = tension_n * m["tendon_compliance_m_n"][:count] - path
    return elongation


def _table(m: np.void, spring: IntArray, value: str, slope: str) -> Callable[[FloatArray], FloatArray]:
    """A Hermite table over one lever angle per tendon, shape (nt,) -> (nt,)."""
    y, d = m[value], m[slope]
    nodes = y.shape[1]
    low, high = m["lever_min_rad"][spring], m["lever_max_rad"][spring]
    h = (high - low) / (nodes - 1)

    def at(lever: FloatArray) -> FloatArray:
        place = np.minimum(np.maximum((lever - low) / h, 0.0), nodes - 1.0)
        k = np.minimum(place.astype(np.int64), nodes - 2)
        u = place - k
        y0, y1, d0, d1 = y[spring, k], y[spring, k + 1], h * d[spring, k], h * d[spring, k + 1]
        result: FloatArray = (
            (1.0 + 2.0 * u) * (1.0 - u) ** 2 * y0
            + u * (1.0 - u) ** 2 * d0
            + u * u * (3.0 - 2.0 * u) * y1
            + u * u * (u - 1.0) * d1
        )
        return result

    return at


def set_start(model: RecordArray, pretension_n: float) -> None:
    """Default co-contraction of all fingers, and e0 of the straight hand at rest with it.

    The start pose has straight fingers, motors at angle 0, a neutral wrist and equal tensions, at most
    ``mechanics.start_tension``; the elongation e = h + R theta + e0 then gives e0, and the
    levers' counts there.
    """
    m = model[0]
    m["pretension_n"][: m["n_fingers"]] = pretension_n
    start = start_tension_n(m, pretension_n)
    m["elongation_goal_m"] = elongation_of_tension_m(model, pretension_n)
    m["elongation_offset_m"] = elongation_of_tension_m(model, start) - straight_lengths_m(model)
    n = int(m["n_tendons"])
    m["hall_rest_count"][:n] = (
        m["hall_zero_count"][:n] + lever_of_tension_rad(model, start) * m["hall_counts_rad"][:n]
    )
