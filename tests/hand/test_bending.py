"""Bending of tendons at guides: the force that it takes is the work of fibres that slide, in runs too."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hand.assembly.assemble import hand_sha256, model_of
from hand.file import parse_hand
from mechanics.guides import bending_loss_n, guided_tension_n, pulled_tension_n
from runtime.session import run_lockstep
from tests.rigs.mutations import TEXTS, unsaid

MOMENT_NM, RADII_M = 1.2e-3, (0.004, 0.004, 0.003)
V0 = 0.0005


def bent(moment_nm: float = MOMENT_NM, radii_m: tuple[float, ...] = RADII_M) -> str:
    """A shipped hand's file with tendons that resist bending."""
    table = f'[guides.bending]\nmoment_nm = {moment_nm}\nradii_m = {list(radii_m)}\norigin = "assumed"\n\n'
    return TEXTS["finger_bench"].replace("[guides.pairs.pulley]", f"{table}[guides.pairs.pulley]")


def pulled_over(radii_m: list[float], signs: list[int], moment_nm: float, slip_1_m: float) -> float:
    """Force that moves a tendon over guides, from one point of it that is followed through all of the path.

    A point resists with a moment that follows its curvature elastically, over ``slip_1_m``, and slides at
    ``moment_nm`` (Prandtl). The path's curvature comes and goes smoothly, straight between the guides. Work
    per way, of a tendon that runs on and on, is the area of the loop that a point describes.
    """
    course = [np.zeros(1)]
    for radius, sign in zip(radii_m, signs, strict=True):
        rise = 0.5 * (1.0 - np.cos(np.linspace(0.0, math.pi, 2000)))
        course.append(sign / radius * np.concatenate([rise, np.ones(50), rise[::-1], np.zeros(50)]))
    curvature = np.concatenate(course)
    elastic, work = 0.0, 0.0
    for _ in range(2):  # the first begins unbent, the second as all that follow
        work = 0.0
        for step in np.diff(curvature):
            wanted = elastic + step
            kept = min(max(wanted, -slip_1_m), slip_1_m)
            work += abs(wanted - kept) * moment_nm  # slides at its greatest moment
            elastic = kept
    return work


@settings(max_examples=12, deadline=None)
@given(
    guides=st.lists(st.tuples(st.floats(0.002, 0.02), st.sampled_from((-1, 1))), min_size=1, max_size=4),
    moment=st.floats(1e-5, 1e-2),
)
def test_the_force_is_the_work_of_fibres_that_slide_in_every_metre(
    guides: list[tuple[float, int]], moment: float
) -> None:
    radii, signs = [r for r, _ in guides], [s for _, s in guides]
    stiff = 1e-4 / max(radii)
    assert bending_loss_n(moment, radii) == pytest.approx(pulled_over(radii, signs, moment, stiff), rel=1e-3)


def test_an_elastic_tendon_gives_back_what_it_took() -> None:
    """What does not slide costs nothing: a loop without area."""
    assert pulled_over([0.004], [1], MOMENT_NM, 1.01 / 0.004) == 0.0


def test_moments_about_a_pulley_say_the_same() -> None:
    """Statics: the moment shifts the tension's line of action, outwards where it runs on, inwards off."""
    for tension, radius in ((20.0, 0.004), (80.0, 0.01)):
        on, off = radius + MOMENT_NM / tension, 0.0
        more = tension
        for _ in range(60):
            off = radius - MOMENT_NM / more
            more = tension * on / off
        assert more - tension == pytest.approx(bending_loss_n(MOMENT_NM, [radius]), rel=1e-9)


@settings(deadline=None)
@given(f=st.floats(0.0, 200.0), frac=st.floats(0.0, 0.5), bend=st.floats(0.0, 3.0), v=st.floats(-0.5, 0.5))
def test_a_tendon_never_pushes_and_guides_only_take(f: float, frac: float, bend: float, v: float) -> None:
    behind, slope = pulled_tension_n(f, frac, bend, v, V0)
    assert behind >= 0.0 and slope >= 0.0 and (behind - f) * v >= 0.0
    free, free_slope = guided_tension_n(f, frac, bend, v, V0)
    assert (behind, slope) == ((free, free_slope) if free >= 0.0 else (0.0, 0.0))
    step = 1e-8
    ahead, back = (pulled_tension_n(f, frac, bend, v + s, V0)[0] for s in (step, -step))
    if free > 0.0 and ahead > 0.0 and back > 0.0:
        scale = (f * frac + bend) / V0 + 1e-6
        assert slope == pytest.approx((ahead - back) / (2.0 * step), abs=1e-4 * scale + 1e-7 * f)


def row(text: str) -> Any:
    return model_of(parse_hand(text, "hand.toml"))[0]


def test_a_file_says_it_for_all_tendons_and_one_without_is_as_before() -> None:
    m, n = row(bent()), 8
    assert m["guide_bending_n"][:n] == pytest.approx(2.0 * MOMENT_NM * (2 / 0.004 + 1 / 0.003))
    plain = parse_hand(TEXTS["finger_bench"], "hand.toml")
    assert not row(TEXTS["finger_bench"])["guide_bending_n"].any()
    assert "bending" not in plain.model_dump()["guides"]
    assert hand_sha256(plain) != hand_sha256(parse_hand(bent(), "hand.toml"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bent(moment_nm=0.0), ("guides.bending.moment_nm",)),
        (bent(radii_m=()), ("guides.bending.radii_m", "at least 1")),
        (bent(radii_m=(0.004, -0.001)), ("guides.bending.radii_m",)),
        (bent().replace("moment_nm", "moment_n_m"), ("guides.bending", "moment_nm")),
    ],
)
def test_what_no_tendon_has_is_refused(text: str, words: tuple[str, ...]) -> None:
    assert words and unsaid(text, words) == []


def test_every_tension_of_a_run_is_off_by_share_and_bending_and_the_feedforward_makes_up_for_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "bent.toml"
    file.write_text(bent())
    rms = {}
    for without in ((), ("guides",)):
        moved = run_lockstep(str(file), motion="open_close", seconds=1.5, without=without, every=1)
        truth, m = moved.frames["truth"], row(bent())
        assert not moved.frames["state"]["finger_cause"].any()
        rms[without] = moved.report["tracking_error_deg"]["rms"]
    v = truth["joint_speed_rad_s"][:, :4] @ m["P_tj_m"][:8, :4].T
    tension, lost = truth["tension_n"][:, :8], truth["finger_tension_n"][:, :8] - truth["tension_n"][:, :8]
    fast = (np.abs(v) > 10.0 * m["guide_speed_m_s"]) & (tension > 5.0)
    assert fast.sum() > 1000
    expected = np.sign(v) * (tension * m["guide_loss_frac"][:8] + m["guide_bending_n"][:8])
    np.testing.assert_allclose(lost[fast], expected[fast], rtol=6e-3)
    assert rms[()] < 0.8 * rms["guides",]
