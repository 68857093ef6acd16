"""Figures of guard and controllers: the reference hand's own; a scaled hand's as their units say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly import figures
from hand.assembly.assemble import model_of
from hand.assembly.figures import FIGURES, REFERENCE, Figure, store_figures, store_reference_figures
from hand.file import load_hand, shipped_hands
from signals.records import MODEL, RecordArray, new
from signals.table import TABLE
from tests.rigs.similar import scaled
from tests.rigs.units import dimension

MODELS = {name: model_of(load_hand(name)) for name in shipped_hands()}
UNITS: Final = {signal.name: signal.unit for signal in TABLE["model"] if signal.kind == "f8"}
KEPT: Final = {
    "release_torque_nm": 1.37,
    "envelope_damping_nms_rad": 3.0,
    "probe_speed_rad_s": 2.5,
    "release_rate_n_s": 500.0,
    "dip_tension_n": 9.0,
    "least_wanted_n": 4.0,
    "probe_way_m": 0.003,
    "jump_count": 40.0,
    "still_residual_m_n": 3.0e-6,
    "enter_axis_rad_s": 0.5,
}
"""What campaigns on the reference hand have found, as it was before it was derived."""


def derived(model: RecordArray) -> dict[str, float]:
    """All figures, derived anew from all other fields."""
    other = model.copy()
    for name in FIGURES:
        other[name] = np.nan
    store_figures(other)
    return {name: float(other[name][0]) for name in FIGURES}


def unlike(model: RecordArray, factors: np.ndarray[Any, Any]) -> list[str]:
    """Figures that a scaled hand gets otherwise than in the scale of their unit."""
    before, after = derived(model), derived(scaled(model, factors))
    scales = {}
    for name, figure in FIGURES.items():
        # a count always rounds to one: the path that it rounds shrinks as a sensor gets finer
        of_a_count = dimension("1/count") if figure.quantity is figures.count_path_m else 0.0
        scales[name] = np.prod(factors ** (dimension(UNITS[name]) + of_a_count))
    return [n for n in FIGURES if after[n] != pytest.approx(scales[n] * before[n], rel=1e-9)]


FACTORS = st.tuples(*5 * [st.floats(0.1, 10.0)]).map(np.array)


@contextmanager
def planted(name: str, figure: Figure) -> Iterator[None]:
    kept = FIGURES[name]
    FIGURES[name] = figure
    yield
    FIGURES[name] = kept


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_the_reference_hand_has_the_figures_that_were_found_on_it(hand: str) -> None:
    model = MODELS[hand]
    for name, figure in FIGURES.items():
        # springs are tables of sines: the last bit of theirs is the machine's
        assert model[name][0] == pytest.approx(figure.reference, rel=1e-15), name
    for name, value in KEPT.items():
        assert model[name][0] == pytest.approx(value, rel=1e-15), name


@given(FACTORS)
def test_a_scaled_hand_gets_figures_in_the_scale_of_their_units(factors: np.ndarray[Any, Any]) -> None:
    assert unlike(MODELS["hasy"], factors) == []


@pytest.mark.parametrize("name", list(FIGURES))
def test_a_constant_among_the_figures_is_found(name: str) -> None:
    """And so is a quantity of another unit: no two of the factors' powers are alike."""
    factors = np.array([1.3, 1.7, 0.6, 2.3, 0.8])
    constant = Figure(FIGURES[name].reference, lambda m: 1.0)
    REFERENCE[constant.quantity] = 1.0
    with planted(name, constant):
        assert unlike(MODELS["hasy"], factors) == [name]
    del REFERENCE[constant.quantity]


@given(st.floats(1.1, 10.0))
def test_more_friction_means_more_torque_to_let_go(share: float) -> None:
    model = MODELS["hasy"].copy()
    model["friction_gamma_2_nm"] *= share
    coulomb = 0.5 * np.pi * MODELS["hasy"]["friction_gamma_2_nm"][0, 0]
    more = derived(model)["release_torque_nm"] / FIGURES["release_torque_nm"].reference
    assert more == pytest.approx(1.0 + (share - 1.0) * coulomb / REFERENCE[figures.resistance_nm])
    assert derived(model)["probe_speed_rad_s"] == FIGURES["probe_speed_rad_s"].reference


def test_a_drive_without_friction_still_winds_a_probe() -> None:
    model = MODELS["hasy"].copy()
    for name in ("friction_gamma_2_nm", "friction_gamma_3_nms_rad"):
        model[name] = 0.0
    torque = derived(model)["release_torque_nm"]
    assert 0.0 < torque < float(model["motor_torque_limit_nm"][0, 0])


def test_what_has_no_tendons_gets_the_figures_of_the_reference_hand() -> None:
    model = new(MODEL)
    store_reference_figures(model)
    assert all(model[name][0] == figure.reference for name, figure in FIGURES.items())
