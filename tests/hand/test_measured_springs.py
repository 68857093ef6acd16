"""Springs by the polynomials of their calibration: what laws read is what the file's numbers say."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial

from hand.assembly.assemble import model_of
from hand.file import parse_hand
from hand.hand import read_tendon_hand
from hand.options import RunOptions
from mechanics.leverpolynomials import LeverPolynomials
from mechanics.springs import elongation_of_lever, spring_energy_j, spring_state, stiffness_of_force
from reports.design.spring import spring_sheet
from runtime.session import run_lockstep
from tests.rigs.actuation import reference_geometry
from tests.rigs.mutations import TEXTS, refusal, unsaid

GEOMETRY = reference_geometry()
STOPS = {
    "lever_slack_deg": GEOMETRY.theta_slack_deg,
    "lever_max_deg": GEOMETRY.theta_max_deg,
    "lever_hard_stop_deg": GEOMETRY.theta_hard_stop_deg,
}
LEVER = np.linspace(GEOMETRY.lever_min_rad, GEOMETRY.lever_max_rad, 400)
LN_FORCE = polynomial.polyfit(LEVER, np.log(GEOMETRY.force_n(LEVER)), 9).tolist()
PATH = polynomial.polyfit(LEVER, GEOMETRY.path_m(LEVER), 9).tolist()


def measured(ln_force: list[float] = LN_FORCE, path_m: list[float] = PATH, **stops: float) -> str:
    """The bench's hand file with a calibration in the place of its lever's geometry."""
    origin = {"origin": '"assumed: a calibration"'}
    rows = {"kind": '"polynomial"', "ln_force": ln_force, "path_m": path_m} | STOPS | stops | origin
    table = "[springs.tangent_alpha]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items()) + "\n"
    return re.sub(r"\[springs\.tangent_alpha\].*?\n\n", table, TEXTS["finger_bench"], flags=re.DOTALL)


def row(text: str) -> Any:
    return model_of(parse_hand(text, "hand.toml"))[0]


def test_the_calibration_of_the_reference_mechanism_gives_its_tables() -> None:
    """Two descriptions of one mechanism, the one from its geometry, meet within the fit's own error."""
    ours, known = row(measured()), row(TEXTS["finger_bench"])
    fit = np.abs(np.exp(polynomial.polyval(LEVER, LN_FORCE)) / GEOMETRY.force_n(LEVER) - 1.0).max()
    assert 0.0 < fit < 2e-3
    for name, share in (
        ("spring_force_n", 2.0 * fit),
        ("spring_path_m", 1e-4),
        ("spring_energy_j", 2.0 * fit),
    ):
        np.testing.assert_allclose(ours[name][0], known[name][0], atol=share * abs(known[name][0]).max())
    for force in (8.0, 20.0, 60.0, 110.0):
        assert stiffness_of_force(ours, 0, force) == pytest.approx(
            stiffness_of_force(known, 0, force), rel=0.02
        )


@settings(max_examples=30, deadline=None)
@given(
    rise=st.floats(3.0, 8.0),
    bend=st.floats(-3.0, 4.0),
    way=st.floats(0.005, 0.02),
    share=st.floats(0.02, 0.98),
)
def test_tension_path_and_energy_of_any_calibration_belong_together(
    rise: float, bend: float, way: float, share: float
) -> None:
    """Virtual work: what is stored is the integral of force over path, whatever the polynomials are."""
    m = row(measured([2.5, -rise, bend], [0.0, way, 0.2 * way]))
    slack, tight = float(m["lever_max_rad"][0]), float(m["lever_calibrated_min_rad"][0])
    lever = slack + share * (tight - slack)
    at = np.linspace(lever, slack, 20001)
    scale = float(m["spring_scale"][0])
    force = scale * np.exp(2.5 - rise * at + bend * at**2)
    work = np.trapezoid(force * (way + 0.4 * way * at), at)
    assert spring_energy_j(m, 0, lever) == pytest.approx(work, rel=1e-4)
    tension, elongation = elongation_of_lever(m, 0, lever)
    assert tension == pytest.approx(force[0], rel=1e-4)
    path = way * (slack - lever) + 0.2 * way * (slack**2 - lever**2)
    assert elongation == pytest.approx(path + tension * float(m["tendon_compliance_m_n"][0]), rel=1e-4)
    assert spring_state(m, 0, elongation, 0.0, 0.0) == pytest.approx((lever, tension), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (measured(path_m=[0.0, -0.01]), ("path_m does not shorten", "check its signs")),
        (measured(ln_force=[2.5, 4.0]), ("ln_force does not rise", "check its signs")),
        (measured(ln_force=[2.5, -4.0, -20.0]), ("ln_force does not rise", "end the range earlier")),
        (measured(ln_force=[800.0, -8.0]), ("ln_force gives a force outside 1e-06 to 1e+06 N", "in rad")),
        (measured(ln_force=[2.5, -1e6]), ("ln_force gives a force outside", "15.0 deg")),
        (measured(ln_force=[-800.0, -8.0]), ("ln_force gives a force outside",)),
        (measured(path_m=[0.0, 1e-300]), ("path_m changes so little", "path in m")),
        (measured(ln_force=[2.5]), ("ln_force", "at least 2")),
        (measured(ln_force=[2.5, math.inf]), ("ln_force",)),
        (measured(lever_max_deg=20.0), ("lever_hard_stop_deg < lever_max_deg < lever_slack_deg",)),
        (measured().replace('"polynomial"', '"polinomial"'), ("kind", "polynomial")),
    ],
)
def test_a_calibration_that_no_mechanism_has_is_refused_with_what_to_change(
    text: str, words: tuple[str, ...]
) -> None:
    assert words and unsaid(text, words) == []


def test_energy_is_exact_where_it_is_known_in_closed_form() -> None:
    curve = LeverPolynomials(
        ln_force=(2.0, -5.0),
        path=(0.3, 0.01),
        theta_slack_deg=15.0,
        theta_max_deg=-22.0,
        theta_hard_stop_deg=-24.0,
    )
    lever = np.linspace(curve.lever_min_rad, curve.lever_max_rad, 50)
    force = 0.01 / 5.0 * (np.exp(2.0 - 5.0 * lever) - np.exp(2.0 - 5.0 * curve.lever_max_rad))
    np.testing.assert_allclose(curve.stored_energy_j(lever), force, rtol=1e-12, atol=1e-15)


def test_a_measured_hand_moves_and_its_curve_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "measured.toml"
    file.write_text(measured())
    moved = run_lockstep(str(file), motion="force_sine", seconds=0.5)
    assert not moved.frames["state"]["finger_cause"].any()
    assert np.ptp(moved.frames["truth"]["tension_n"]) > 3.0
    sheet = spring_sheet(read_tendon_hand(RunOptions(hand=str(file))))
    tight = float(np.exp(polynomial.polyval(GEOMETRY.lever_min_rad, LN_FORCE)))
    assert sheet.figures["force_n"][-1] == pytest.approx(sheet.figures["spring_scale"] * tight, rel=1e-6)
    sheet.draw(pytest.importorskip("matplotlib.figure").Figure())


def test_too_few_coefficients_are_told_once() -> None:
    for text in (measured(ln_force=[]), measured(ln_force=[2.5]), measured(path_m=[0.0])):
        assert len(refusal(text)) == 1


def test_a_coefficient_that_is_no_number_is_told_alone_and_still_counts() -> None:
    nan = float("nan")
    for coefficients, bad in (([nan, -1.0], 1), ([2.5, nan], 1), ([nan, nan], 2), ([2.5, -1.0, nan], 1)):
        told = [str(problem) for problem in refusal(measured(ln_force=coefficients))]
        assert len(told) == bad and all("a finite number" in line for line in told)
    assert any("found 1 of them" in str(problem) for problem in refusal(measured(ln_force=[nan])))


def test_stops_out_of_order_are_told_once() -> None:
    for text in (
        measured(lever_max_deg=20.0),
        TEXTS["finger_bench"].replace("lever_max_deg = -22.0", "lever_max_deg = 20.0"),
    ):
        assert len(refusal(text)) == 1
