"""Guide friction: both laws behind one interface, and the compiled law that uses their loss."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.guides import GuideLaw, RopeGuide, SaturatingGuide, guided_tension_n

PULLEY = SaturatingGuide(c0=0.12, c1_rad=0.6)
laws = st.one_of(
    st.builds(SaturatingGuide, c0=st.floats(0.0, 0.99), c1_rad=st.floats(0.0, 5.0)),
    st.builds(RopeGuide, mu=st.floats(0.0, 1.0)),
)
angles = st.floats(0.0, 10.0)
tensions = st.floats(0.0, 250.0)
speeds = st.floats(-0.5, 0.5)
fractions = st.just(0.0) | st.floats(1e-3, 0.9)
V0 = 0.0005


def test_loss_of_the_reference_path() -> None:
    assert PULLEY.loss_frac(1.5) == pytest.approx(0.071, abs=5e-4)


@settings(deadline=None)
@given(guide=laws, a=angles, b=angles)
def test_a_guide_loses_nothing_straight_and_more_with_every_bend(guide: GuideLaw, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert guide.loss_frac(0.0) == 0.0
    assert 0.0 <= guide.loss_frac(low) <= guide.loss_frac(high) <= 1.0


@settings(deadline=None)
@given(mu=st.floats(0.0, 1.0), a=angles, b=angles)
def test_two_rope_guides_in_line_are_one_of_the_summed_angle(mu: float, a: float, b: float) -> None:
    guide = RopeGuide(mu=mu)
    passed = (1.0 - guide.loss_frac(a)) * (1.0 - guide.loss_frac(b))
    assert 1.0 - guide.loss_frac(a + b) == pytest.approx(passed, rel=1e-12)


@settings(deadline=None)
@given(c0=st.floats(0.0, 0.99), c1=st.floats(0.01, 5.0))
def test_equation_4_1_saturates_at_c0_and_starts_like_a_rope_of_mu_c0_c1(c0: float, c1: float) -> None:
    guide = SaturatingGuide(c0=c0, c1_rad=c1)
    assert guide.loss_frac(1e4) == pytest.approx(c0, rel=1e-12)
    small = 1e-6
    assert guide.loss_frac(small) == pytest.approx(RopeGuide(mu=c0 * c1).loss_frac(small), rel=1e-5)


@settings(deadline=None)
@given(f=tensions, frac=fractions, v=speeds)
def test_guides_are_passive_and_direction_dependent(f: float, frac: float, v: float) -> None:
    behind, _ = guided_tension_n(f, frac, 0.0, v, V0)
    assert (behind - f) * v >= 0.0
    assert abs(behind - f) <= f * frac + 1e-15 * f
    against, _ = guided_tension_n(f, frac, 0.0, -v, V0)
    assert behind + against == pytest.approx(2.0 * f, rel=1e-12)


@settings(deadline=None)
@given(f=tensions, frac=fractions, v=st.floats(0.01, 0.5))
def test_the_loss_is_the_laws_and_independent_of_speed_beyond_the_smooth_range(
    f: float, frac: float, v: float
) -> None:
    winding_in, _ = guided_tension_n(f, frac, 0.0, -v, V0)
    pulled_out, _ = guided_tension_n(f, frac, 0.0, v, V0)
    assert winding_in == pytest.approx(f * (1.0 - frac), abs=f * frac * 2e-3 + 1e-12)
    assert pulled_out == pytest.approx(f * (1.0 + frac), abs=f * frac * 2e-3 + 1e-12)


@settings(deadline=None)
@given(f=tensions, frac=fractions, v=speeds)
def test_slope_equals_finite_difference_and_damps(f: float, frac: float, v: float) -> None:
    _, slope = guided_tension_n(f, frac, 0.0, v, V0)
    step = 1e-8
    ahead, behind = (
        guided_tension_n(f, frac, 0.0, v + step, V0)[0],
        guided_tension_n(f, frac, 0.0, v - step, V0)[0],
    )
    assert slope >= 0.0
    scale = f * frac / V0 + 1e-6
    assert slope == pytest.approx((ahead - behind) / (2 * step), abs=1e-5 * scale)


def test_impossible_guides_are_refused() -> None:
    with pytest.raises(ValueError, match="c0 < 1"):
        SaturatingGuide(c0=1.0, c1_rad=0.5)
    with pytest.raises(ValueError, match="mu >= 0"):
        RopeGuide(mu=-0.1)
    with pytest.raises(ValueError, match="c1 >= 0"):
        SaturatingGuide(c0=0.1, c1_rad=math.nan)
    with pytest.raises(ValueError, match="bending angle"):
        PULLEY.loss_frac(-0.1)
