"""A hand file whose numbers are all scaled by their units gives the model that is scaled by its units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hand.assembly import figures
from hand.assembly.assemble import model_of
from hand.assembly.figures import FIGURES, OF_A_WRIST
from hand.file import load_hand, parse_hand, shipped_hands
from signals.records import RecordArray
from signals.table import TABLE
from tests.rigs.similar import Factors, scaled, scaled_file

FILES = {name: file for name in shipped_hands() if not (file := load_hand(name)).gears}
"""Without those whose gears are computed as lines: the newtons of these are nobody's."""
PERSON = {"joint_speed_max_rad_s"}
"""A turn in a second where the file says nothing: as fast as a person's fingers, whatever the hand's size."""


def text_of(name: str) -> str:
    """The file of a shipped hand."""
    return Path(FILES[name].path).read_text(encoding="utf-8")


def unlike(name: str, factors: Factors, text: str | None = None) -> set[str]:
    """Fields of the model that are not the other's, scaled."""
    file = FILES[name]
    expected = scaled(model_of(file), factors)
    found: RecordArray = model_of(parse_hand(text or scaled_file(text_of(name), factors), "scaled.toml"))
    wrist = not int(found["n_axes"][0])  # figures of a wrist that is not there are the reference hand's
    others = {n for n, f in FIGURES.items() if f.quantity in OF_A_WRIST} if wrist else set()
    wrong = set()
    for signal in TABLE["model"]:
        ours, theirs = expected[signal.name], found[signal.name]
        size = np.nanmax(np.abs(ours), initial=0.0)
        if not np.allclose(theirs, ours, rtol=1e-9, atol=1e-9 * size):
            wrong.add(signal.name)
    return wrong - others


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("factors", [(1.4, 0.8), (0.7, 1.2)])
def test_a_file_of_a_larger_or_stronger_hand_gives_its_model(name: str, factors: tuple[float, ...]) -> None:
    assert unlike(name, np.array([*factors, 1.0, 1.0, 1.0])) == set()


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_slower_hand_gives_its_model_but_for_a_persons_speed(name: str) -> None:
    assert unlike(name, np.array([1.3, 0.9, 1.25, 1.0, 0.8])) <= PERSON


def test_a_key_that_is_forgotten_and_a_constant_in_the_assembly_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factors = np.array([1.3, 0.9, 1.0, 1.0, 1.0])
    text = text_of("finger_bench").replace("gamma_2_nm", "gamma_2_x", 1)
    whole = scaled_file(text, factors).replace("gamma_2_x", "gamma_2_nm", 1)
    assert "friction_gamma_2_nm" in unlike("finger_bench", factors, whole)
    constant = FIGURES["probe_way_m"]._replace(quantity=lambda m: figures.REFERENCE[figures.spool_m])
    monkeypatch.setitem(figures.REFERENCE, constant.quantity, figures.REFERENCE[figures.spool_m])
    monkeypatch.setitem(FIGURES, "probe_way_m", constant)
    assert unlike("finger_bench", factors) == {"probe_way_m"}
