"""Lever friction loop (Dahl) and play of the Hall sensor: closed, passive, of the stated width."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.hysteresis import dahl, play
from tests.rigs.actuation import reference_geometry

GEOMETRY = reference_geometry()
PRESLIDING = math.radians(0.3)
FRAC = 0.107
signs = st.floats(-1.0, 1.0)
travels = st.floats(-0.1, 0.1)


def sweep(levers: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Loop state at each lever angle, and the tension with the loop in it."""
    states = [s]
    for before, after in pairwise(levers.tolist()):
        states.append(dahl(states[-1], after - before, PRESLIDING))
    return np.array(states), GEOMETRY.force_n(levers) * (1.0 + FRAC * np.array(states))


def cycle(low_deg: float, high_deg: float, steps: int = 2000) -> np.ndarray:
    down = np.radians(np.linspace(high_deg, low_deg, steps))
    return np.concatenate([down, down[-2::-1]])


def test_the_loop_is_15_newton_wide_at_70_newton() -> None:
    levers = cycle(-20.0, -10.0)
    _, tension = sweep(levers, -1.0)
    force = GEOMETRY.force_n(levers)
    half = len(levers) // 2 + 1
    loading = np.interp(70.0, force[:half], tension[:half])
    unloading = np.interp(70.0, force[half:][::-1], tension[half:][::-1])
    assert loading - unloading == pytest.approx(15.0, abs=0.1)
    assert loading > 70.0 > unloading


def test_the_loop_closes_and_takes_work() -> None:
    levers = cycle(-20.0, -10.0)
    _, first = sweep(levers, 0.0)
    states, second = sweep(levers, float(sweep(levers, 0.0)[0][-1]))
    assert second[-1] == pytest.approx(second[0], abs=1e-9)
    assert states[-1] == pytest.approx(states[0], abs=1e-12)
    assert first[-1] == pytest.approx(second[-1], abs=1e-9)
    path = GEOMETRY.path_m(levers)
    work = -np.sum(0.5 * (second[1:] + second[:-1]) * np.diff(path))
    # nearly the whole rectangle of 2 * 0.107 * integral of f dL, less what the two reversals keep
    way = slice(0, len(levers) // 2 + 1)
    one_way = -np.trapezoid(GEOMETRY.force_n(levers[way]), path[way])
    assert 0.7 * 2 * FRAC * one_way < work < 2 * FRAC * one_way


def test_a_small_swing_makes_a_small_loop_without_losing_its_middle() -> None:
    levers = cycle(-16.05, -16.0)
    s = 0.0
    for _ in range(60):
        states, _ = sweep(levers, s)
        s = float(states[-1])
    assert np.ptp(states) < 0.2
    assert states.max() == pytest.approx(-states.min(), abs=0.01)


@settings(deadline=None)
@given(s=signs, travel=travels, parts=st.integers(1, 30))
def test_a_travel_cut_in_parts_ends_the_same(s: float, travel: float, parts: int) -> None:
    whole, cut = dahl(s, travel, PRESLIDING), s
    for _ in range(parts):
        cut = dahl(cut, travel / parts, PRESLIDING)
    assert cut == pytest.approx(whole, abs=1e-12)


@settings(deadline=None)
@given(s=signs, travel=travels)
def test_the_state_stays_in_range_and_goes_with_the_force(s: float, travel: float) -> None:
    after = dahl(s, travel, PRESLIDING)
    assert -1.0 <= after <= 1.0
    if travel < 0.0:  # lever falls: force rises
        assert after >= s
    elif travel > 0.0:
        assert after <= s
    else:
        assert after == s


@settings(deadline=None)
@given(s=signs, steps=st.lists(travels, min_size=1, max_size=40))
def test_no_walk_of_the_lever_takes_more_out_than_the_loop_had_stored(s: float, steps: list[float]) -> None:
    """Work ``x0`` times the integral of s: at least the change of the available energy |s| - ln(1 + |s|)."""
    work, state = 0.0, s
    for step in steps:
        side = -math.copysign(1.0, step)
        way = abs(step) / PRESLIDING
        # integral of side*s over the exact exponential; expm1 for small ways
        work += side * (side * way - (state - side) * math.expm1(-way))
        state = dahl(state, step, PRESLIDING)
    stored = [abs(x) - math.log1p(abs(x)) for x in (s, state)]
    assert work >= stored[1] - stored[0] - 1e-9


def test_reversal_passes_zero_after_0_7_and_is_done_after_3_7_presliding_lengths() -> None:
    assert dahl(-1.0, -math.log(2.0) * PRESLIDING, PRESLIDING) == pytest.approx(0.0, abs=1e-12)
    assert dahl(-1.0, -math.log(40.0) * PRESLIDING, PRESLIDING) == pytest.approx(0.95, abs=1e-12)


def test_without_presliding_the_state_turns_at_once() -> None:
    assert [dahl(0.2, d, 0.0) for d in (-1e-9, 1e-9, 0.0)] == [1.0, -1.0, 0.2]


# -- play ------------------------------------------------------------------------------------------

values = st.floats(-1.0, 1.0)
widths = st.floats(0.0, 0.5)


@settings(deadline=None)
@given(start=values, walk=st.lists(values, min_size=1, max_size=40), width=widths)
def test_play_follows_within_half_its_width_and_moves_no_more_than_needed(
    start: float, walk: list[float], width: float
) -> None:
    state = start
    for x in walk:
        before, state = state, play(state, x, width)
        assert abs(state - x) <= 0.5 * width + 1e-15
        if abs(before - x) <= 0.5 * width:
            assert state == pytest.approx(before, abs=1e-15)
    assert play(state, walk[-1], width) == state


@settings(deadline=None)
@given(middle=values, swing=st.floats(0.0, 1.0), width=widths)
def test_a_swing_makes_a_loop_of_its_width_that_closes(middle: float, swing: float, width: float) -> None:
    low, high = middle - swing, middle + swing
    state = play(play(0.0, low, width), high, width)
    down = play(state, middle, width)
    up = play(play(down, low, width), middle, width)
    assert play(up, high, width) == pytest.approx(state, abs=1e-15)
    loop = down - up
    # two equal halves of the swing: the loop opens to its width once the swing exceeds it
    assert loop == pytest.approx(min(width, max(2 * swing - width, 0.0)), abs=1e-12)
