"""Lever, tension and friction loop together: as by bisection, and quiet where a lagged loop is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.hysteresis import dahl
from mechanics.leverloop import loop_state
from mechanics.springs import spring_at, spring_state
from signals.compiled import law
from signals.records import RecordArray
from tests.rigs.actuation import actuation_model


@law
def solved(model, e, lever, s):  # type: ignore[no-untyped-def]
    return loop_state(model[0], 0, e, lever, s)


@law
def spring(model, lever):  # type: ignore[no-untyped-def]
    return spring_at(model[0], 0, lever)


@law
def plain(model, e, lever, s):  # type: ignore[no-untyped-def]
    return spring_state(model[0], 0, e, lever, s)


MODEL = actuation_model()
MODEL["lever_friction_frac"], MODEL["lever_presliding_rad"] = 0.107, np.radians(0.3)


def oracle(m: RecordArray, e: float, lever: float, s: float) -> tuple[float, float]:
    """Lever and tension by bisection over the whole range, stops included."""
    low, high = float(m["lever_min_rad"][0, 0]), float(m["lever_max_rad"][0, 0])
    c, frac, x0 = (
        float(m[n][0, 0]) for n in ("tendon_compliance_m_n", "lever_friction_frac", "lever_presliding_rad")
    )

    def excess(x: float) -> float:
        f, _, path, _ = spring(m, x)
        return c * f * (1 + frac * dahl(s, x - lever, x0)) - path - e

    if e <= 0 or excess(high) > 0:
        return high, max(e / c, 0.0)
    if excess(low) < 0:
        return low, (e + spring(m, low)[2]) / c
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    f, _, path, _ = spring(m, low)
    return low, (e + path) / c


@given(st.floats(-0.001, 0.0115), st.floats(-0.42, 0.262), st.floats(-1, 1))
def test_any_jump_is_solved_as_by_bisection(e: float, lever: float, s: float) -> None:
    low, high = float(MODEL["lever_min_rad"][0, 0]), float(MODEL["lever_max_rad"][0, 0])
    lever = min(max(lever, low), high)
    x, tension, s_after = solved(MODEL, e, lever, s)
    x_true, tension_true = oracle(MODEL, e, lever, s)
    assert x == pytest.approx(x_true, abs=1e-6)
    assert tension == pytest.approx(tension_true, abs=2e-3, rel=1e-4)
    assert -1.0 <= s_after <= 1.0


@given(st.floats(5.0, 130.0), st.floats(-1, 1), st.floats(-1e-5, 1e-5))
def test_a_small_step_is_solved_to_a_millinewton(force: float, s: float, de: float) -> None:
    lever = _lever_of(MODEL, force)
    f, _, path, _ = spring(MODEL, lever)
    c, frac = float(MODEL["tendon_compliance_m_n"][0, 0]), float(MODEL["lever_friction_frac"][0, 0])
    e = c * f * (1 + frac * s) - path
    x, tension, _ = solved(MODEL, e + de, lever, s)
    x_true, tension_true = oracle(MODEL, e + de, lever, s)
    assert x == pytest.approx(x_true, abs=1e-6)
    assert tension == pytest.approx(tension_true, abs=1e-3)


def _lever_of(m: RecordArray, force: float) -> float:
    low, high = float(m["lever_min_rad"][0, 0]), float(m["lever_max_rad"][0, 0])
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spring(m, middle)[0] > force else (low, middle)
    return low


@pytest.mark.parametrize("force", [20.0, 60.0, 100.0, 120.0])
def test_a_held_elongation_stays_where_a_lagged_loop_alternates(force: float) -> None:
    lever = _lever_of(MODEL, force)
    f, _, path, _ = spring(MODEL, lever)
    e = float(MODEL["tendon_compliance_m_n"][0, 0]) * f - path + 2e-6
    x, s, tensions = lever, 0.0, []
    lagged_x, lagged_s, lagged = lever, 0.0, []
    for _ in range(40):
        x, tension, s = solved(MODEL, e, x, s)
        tensions.append(tension)
        before = lagged_x
        lagged_x, tension = plain(MODEL, e, lagged_x, lagged_s)
        lagged_s = dahl(lagged_s, lagged_x - before, float(MODEL["lever_presliding_rad"][0, 0]))
        lagged.append(tension)
    assert np.ptp(tensions[2:]) < 1e-3
    if force >= 100.0:
        assert np.abs(np.diff(lagged[20:])).max() > 0.1
