"""The metacarpal's four-bar: bars keep their length, ratio is a derivative, toggle, impossible linkages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.fourbar import FourBar, four_bar

BARS = {"ground_m": 0.018, "crank_m": 0.014, "coupler_m": 0.011, "rocker_m": 0.014}
HMC = FourBar(**BARS, neutral_crank_rad=math.radians(77.0))
crank = st.floats(math.radians(-101.9), math.radians(101.9))


def joints(theta: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """A and B."""
    rocker, _, _, _ = four_bar(*BARS.values(), theta)
    a = (0.014 * math.cos(theta), 0.014 * math.sin(theta))
    return a, (0.018 + 0.014 * math.cos(rocker), 0.014 * math.sin(rocker))


@given(crank)
def test_the_coupler_keeps_its_length_and_direction(theta):
    a, b = joints(theta)
    assert math.dist(a, b) == pytest.approx(0.011, abs=1e-15)
    _, coupler, _, _ = four_bar(*BARS.values(), theta)
    assert a[0] + 0.011 * math.cos(coupler) == pytest.approx(b[0], abs=1e-15)
    assert a[1] + 0.011 * math.sin(coupler) == pytest.approx(b[1], abs=1e-15)


@given(st.floats(math.radians(5), math.radians(100)))
def test_the_ratio_is_the_derivative_of_the_rocker(theta):
    step = 1e-6
    up, down = (four_bar(*BARS.values(), theta + s)[0] for s in (step, -step))
    ratio = four_bar(*BARS.values(), theta)[2]
    assert ratio == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-8)


@given(st.floats(math.radians(10), math.radians(101.9)))
def test_the_branch_is_the_uncrossed_one(theta):
    """Rocker and crank on the same side of the ground, coupler and ground do not cross."""
    a, b = joints(theta)
    assert b[0] > a[0] - 0.011
    side = (b[0] - a[0]) * (0.0 - a[1]) - (b[1] - a[1]) * (0.018 - a[0])
    assert side < 0.0, "B lies beyond the line from A to D, seen from O"


def test_the_toggle_is_25_degrees_past_neutral():
    assert math.degrees(HMC.toggle_crank_rad) == pytest.approx(102.0, abs=0.05)
    assert math.degrees(HMC.travel_rad) == pytest.approx(25.0, abs=0.05)
    a, b = joints(HMC.toggle_crank_rad - 1e-9)
    assert math.dist(a, (0.018, 0.0)) == pytest.approx(0.025, abs=1e-9), "coupler and rocker in one line"
    assert math.dist(a, b) + math.dist(b, (0.018, 0.0)) == pytest.approx(0.025, abs=1e-9)


def test_towards_the_toggle_the_rocker_turns_ever_faster():
    shares = (0.0, 0.5, 0.9, 0.99, 0.999, 0.999999)
    ratios = [abs(HMC.ratio(s * HMC.travel_rad)) for s in shares]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 500.0
    margins = [four_bar(*BARS.values(), HMC.neutral_crank_rad + s * HMC.travel_rad)[3] for s in shares]
    assert margins == sorted(margins, reverse=True)


def test_beyond_the_toggle_is_refused_but_the_law_stays_at_it():
    beyond = HMC.toggle_crank_rad + 0.1
    rocker, _, ratio, margin = four_bar(*BARS.values(), beyond)
    assert margin < 0.0 and math.isfinite(rocker) and ratio == math.inf
    with pytest.raises(ValueError, match=r"toggle is 25\.0"):
        HMC.rocker_rad(HMC.travel_rad + 0.1)
    assert HMC.rocker_rad(0.0) == 0.0


bar_m = st.floats(0.001, 0.05)


@settings(max_examples=200)
@given(bar_m, bar_m, bar_m, bar_m, st.floats(0.02, 3.1), st.floats(0.0, 0.999))
def test_a_linkage_is_refused_or_closes_from_neutral_to_its_toggle(
    ground, a, coupler, rocker, neutral, share
):
    try:
        bar = FourBar(
            ground_m=ground, crank_m=a, coupler_m=coupler, rocker_m=rocker, neutral_crank_rad=neutral
        )
    except ValueError as refusal:
        assert any(word in str(refusal) for word in ("shorten", "lengthen", "choose", "make the two"))
        return
    theta = neutral + share * bar.travel_rad
    angle, _, _, margin = four_bar(ground, a, coupler, rocker, theta)
    assert margin >= 0.0
    start = (a * math.cos(theta), a * math.sin(theta))
    end = (ground + rocker * math.cos(angle), rocker * math.sin(angle))
    assert math.dist(start, end) == pytest.approx(coupler, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ground_m": 0.040}, r"shorten it by more than 0\.001 m"),
        ({"neutral_crank_rad": math.radians(110)}, r"below 102\.0 deg"),
        ({"coupler_m": 0.020, "rocker_m": 0.002, "neutral_crank_rad": 0.3}, "more equal"),
        ({"rocker_m": 0.0}, "length > 0"),
        ({"neutral_crank_rad": -0.2}, "between 0 and 180"),
    ],
)
def test_impossible_linkages_are_refused_with_what_to_change(change, word):
    values = BARS | {"neutral_crank_rad": math.radians(77.0)} | change
    with pytest.raises(ValueError, match=word):
        FourBar(**values)
