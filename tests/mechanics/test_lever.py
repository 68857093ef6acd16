"""Lever mechanism: belt and force from exact geometry, against independent oracles and the calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mechanics.belt import belt
from mechanics.lever import SpringGeometry
from mechanics.levercurve import ImpossibleGeometry
from tests.rigs.actuation import COMPLIANCE_M_N, REFERENCE_SPRING, reference_geometry

# Calibration polynomials of the reference hand's parameter file, ascending powers of the lever angle [rad].
LN_FORCE = (2.91111, -4.5, -1.78405, -8.88349, -20.2575, -75.7672, -51.7949)
LN_STIFFNESS = (8.88588, -5.2032, 7.08675, -8.20081, -2.21732, -15.3777, 115.239)
PATH = (-0.00353798, 0.0114144, 0.00931385, -0.00453456, -0.00220111, 0.0024538)
# Force [N]: lever [deg], stiffness of the mechanism and with 0.36 m of tendon [kN/m], as tabulated.
TABULATED: dict[int, tuple[float, str, str]] = {
    5: (12.9, "2.9", "2.8"),
    10: (7.1, "4.2", "3.9"),
    20: (-1.1, "8.0", "7.2"),
    30: (-6.4, "14", "11.8"),
    50: (-12.8, "37", "24"),
    70: (-16.5, "76", "36"),
    100: (-19.7, "177", "50"),
    120: (-21.2, "279", "56"),
}
GEOMETRY = reference_geometry()


def calibrated_levers() -> Any:
    return np.linspace(math.radians(-22.0), math.radians(15.0), 500)


def lever_at(force_n: float) -> float:
    """Lever angle of a force on the exact geometry, by bisection."""
    low, high = GEOMETRY.lever_min_rad, GEOMETRY.lever_max_rad
    for _ in range(60):
        middle = 0.5 * (low + high)
        if GEOMETRY.force_n(np.array([middle]))[0] > force_n:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


# -- belt ------------------------------------------------------------------------------------------


def hull_length(circles: list[tuple[np.ndarray, float]], samples: int = 4000) -> float:
    """Length of the upper convex hull of circles, from the first one's left to the last one's right end."""
    turn = np.linspace(math.pi, 0.0, samples)
    points = np.concatenate([c + r * np.stack([np.cos(turn), np.sin(turn)], axis=1) for c, r in circles])
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    hull: list[tuple[float, float]] = []
    for x, y in points.tolist():
        while len(hull) > 1:
            (x1, y1), (x2, y2) = hull[-2], hull[-1]
            if (x2 - x1) * (y - y1) < (y2 - y1) * (x - x1):
                break
            hull.pop()
        hull.append((x, y))
    chain = np.asarray(hull)
    first, last = circles[0], circles[-1]
    begin = int(np.argmin(np.hypot(*(chain - (first[0] - [first[1], 0.0])).T)))
    end = int(np.argmin(np.hypot(*(chain - (last[0] + [last[1], 0.0])).T)))
    steps = np.diff(chain[begin : end + 1], axis=0)
    return float(np.sum(np.hypot(steps[:, 0], steps[:, 1])))


def test_belt_is_the_taut_string_over_the_three_pulleys() -> None:
    levers = np.radians([15.0, 5.0, -10.0, -24.0])
    pivot = np.asarray(GEOMETRY.lever_pivot)
    lengths = []
    for lever in levers:
        middle = pivot + GEOMETRY.lever_length * np.array([-math.cos(lever), math.sin(lever)])
        lengths.append(
            hull_length(
                [
                    (np.asarray(GEOMETRY.motor_pulley_center), GEOMETRY.R_motor),
                    (middle, GEOMETRY.R_lever),
                    (np.asarray(GEOMETRY.fixed_pulley_center), GEOMETRY.R_fixed),
                ]
            )
        )
    # a chord falls short of its arc by (pi/samples)^2/24 of it: 1e-9 m here
    assert GEOMETRY.path_m(levers) == pytest.approx(np.array(lengths) - lengths[0], abs=2e-8)


@settings(deadline=None)
@given(
    x=st.floats(-0.005, 0.005),
    y=st.floats(0.012, 0.03),
    radii=st.tuples(*[st.floats(0.001, 0.006)] * 3),
    direction=st.floats(0.0, 2 * math.pi),
)
def test_belt_derivatives_equal_finite_differences(
    x: float, y: float, radii: tuple[float, float, float], direction: float
) -> None:
    way = np.array([[math.cos(direction), math.sin(direction)]])
    step = 1e-6

    def at(distance: float) -> Any:
        middle = np.array([[x, y]]) + distance * way
        return belt(np.array([-0.02, 0.0]), middle, np.array([0.02, 0.0]), radii, way)

    here, ahead, behind = at(0.0), at(step), at(-step)
    slope = (ahead.length_m - behind.length_m) / (2 * step)
    turn = (ahead.length_gradient - behind.length_gradient) / (2 * step)
    assert np.sum(here.length_gradient * way) == pytest.approx(slope[0], abs=1e-7)
    assert here.gradient_slope[0] == pytest.approx(turn[0], rel=1e-5, abs=1e-5)


# -- mechanism -------------------------------------------------------------------------------------


def test_geometry_reproduces_the_calibration_polynomials() -> None:
    lever = calibrated_levers()
    force = np.exp(np.polynomial.polynomial.polyval(lever, LN_FORCE))
    stiffness = np.exp(np.polynomial.polynomial.polyval(lever, LN_STIFFNESS))
    path = np.polynomial.polynomial.polyval(lever, PATH)
    assert np.max(np.abs(GEOMETRY.force_n(lever) / force - 1.0)) <= 0.0060
    assert np.max(np.abs(GEOMETRY.stiffness_n_m(lever) / stiffness - 1.0)) <= 0.0118
    assert np.max(np.abs(GEOMETRY.path_m(lever) - path)) <= 1e-7


def test_geometry_reproduces_the_tabulated_characteristic() -> None:
    for force, (lever_deg, *printed) in TABULATED.items():
        lever = lever_at(force)
        stiffness = GEOMETRY.stiffness_n_m(np.array([lever]))[0]
        series = stiffness / (1.0 + stiffness * COMPLIANCE_M_N)
        # half a printed digit, and a little for the last row: -21.145 is printed as -21.2
        assert math.degrees(lever) == pytest.approx(lever_deg, abs=0.06)
        for value, text in zip((stiffness / 1e3, series / 1e3), printed, strict=True):
            assert f"{value:.{len(text.partition('.')[2])}f}" == text
    stops = GEOMETRY.force_n(np.radians([15.0, -22.0, -24.0]))
    assert stops == pytest.approx([3.5, 135.0, 189.0], rel=0.015)
    assert GEOMETRY.slack_length_m > 0.0


def test_tendon_work_is_the_energy_of_the_spring() -> None:
    lever = np.linspace(GEOMETRY.lever_min_rad, GEOMETRY.lever_max_rad, 20001)
    force, path, energy = GEOMETRY.force_n(lever), GEOMETRY.path_m(lever), GEOMETRY.stored_energy_j(lever)
    work = np.sum(0.5 * (force[1:] + force[:-1]) * np.diff(path))
    assert work == pytest.approx(energy[0] - energy[-1], rel=1e-7)


@settings(deadline=None)
@given(
    nudges=st.lists(st.floats(-0.25, 0.25), min_size=10, max_size=10),
    place=st.floats(0.001, 0.999),
)
def test_any_accepted_geometry_has_consistent_slopes_and_stiffens(nudges: list[float], place: float) -> None:
    sizes = ("R_motor", "R_fixed", "lever_length", "R_lever", "spring_attach_radius", "K")
    changes: dict[str, Any] = {}
    for name, nudge in zip(sizes, nudges, strict=False):
        changes[name] = REFERENCE_SPRING[name] * (1.0 + nudge)
    changes["spring_free_length"] = REFERENCE_SPRING["spring_free_length"] * (1.0 + nudges[6])
    x, y = REFERENCE_SPRING["spring_fixed_point"]
    changes["spring_fixed_point"] = (x + 0.01 * nudges[7], y + 0.01 * nudges[8])
    changes["theta_hard_stop_deg"] = -24.0 * (1.0 + nudges[9])
    changes["theta_max_deg"] = changes["theta_hard_stop_deg"] + 1.0
    try:
        geometry = SpringGeometry(**{**REFERENCE_SPRING, **changes})
    except ImpossibleGeometry:
        assume(False)
    low, high = geometry.lever_min_rad, geometry.lever_max_rad
    lever, step = low + place * (high - low), 1e-6
    three = np.array([lever - step, lever, lever + step])
    force, path, energy = geometry.force_n(three), geometry.path_m(three), geometry.stored_energy_j(three)
    force_slope = (force[2] - force[0]) / (2 * step)
    path_slope = (path[2] - path[0]) / (2 * step)
    assert geometry.force_slope_n_rad(three)[1] == pytest.approx(force_slope, rel=1e-5)
    assert geometry.path_slope_m_rad(three)[1] == pytest.approx(path_slope, rel=1e-5)
    assert geometry.stiffness_n_m(three)[1] == pytest.approx(-force_slope / path_slope, rel=2e-5)
    assert force[1] * path_slope == pytest.approx(-(energy[2] - energy[0]) / (2 * step), rel=1e-5)
    assert force[0] > force[2] > 0.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"K": 0.0}, "make K positive"),
        ({"lever_length": -0.014}, "make lever_length positive"),
        ({"R_lever": math.nan}, "make R_lever positive"),
        ({"theta_slack_deg": -30.0}, "order them theta_hard_stop_deg"),
        ({"R_motor": 0.025}, "runs into the motor pulley"),
        ({"fixed_pulley_center": (0.004, 0.002)}, "move the fixed pulley away"),
        ({"fixed_pulley_center": (0.014, 0.010)}, "the tendon lifts off"),
        ({"spring_free_length": 0.03}, "shorten spring_free_length"),
        ({"spring_fixed_point": (0.004, -0.024)}, "move spring_fixed_point"),
        ({"lever_pivot": (math.nan, 0.004)}, "runs into the motor pulley"),
        ({"theta_hard_stop_deg": -60.0}, "end"),
    ],
)
def test_an_impossible_geometry_is_refused_and_says_what_to_change(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ImpossibleGeometry, match=says):
        SpringGeometry(**{**REFERENCE_SPRING, **change})


def test_a_parameter_table_may_hold_more_than_the_geometry() -> None:
    table = {k: list(v) if isinstance(v, tuple) else v for k, v in REFERENCE_SPRING.items()}
    assert SpringGeometry.of({**table, "lever_inertia": 0.0}) == GEOMETRY
    with pytest.raises(KeyError, match="K"):
        SpringGeometry.of({k: v for k, v in table.items() if k != "K"})
