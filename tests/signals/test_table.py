"""The table is what it makes: records, frame views, names, causes, the page in the docs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals.faults import CAUSES, Cause
from signals.names import HandNames, UnknownName
from signals.records import FRAME, FRAME_RECORDS, RECORDS, new_frame
from signals.sizes import EXTENTS
from signals.table import TABLE

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("record", TABLE)
def test_every_signal_is_a_field_of_its_shape(record: str) -> None:
    dtype = RECORDS[record]
    for signal in TABLE[record]:
        field = dtype.fields[signal.name][0]  # type: ignore[index]
        assert field.base == np.dtype(signal.kind)
        assert field.shape == tuple(EXTENTS[d] for d in signal.dims)
        assert signal.meaning and signal.origin


@pytest.mark.parametrize("record", TABLE)
def test_physical_scalars_carry_their_unit(record: str) -> None:
    plain = ("rad", "N", "m", "s", "ns", "A", "degC", "Hz", "J", "V", "Ohm", "kg")
    suffix = {"rad/s": "_rad_s", "N m": "_nm"} | {u: f"_{u.lower()}" for u in plain}
    wrong = [s.name for s in TABLE[record] if s.unit in suffix and not s.name.endswith(suffix[s.unit])]
    assert wrong == []


def test_a_frames_views_are_the_frame() -> None:
    frame, views = new_frame()
    assert tuple(views) == FRAME_RECORDS
    for k, name in enumerate(FRAME_RECORDS):
        field = TABLE[name][0].name
        views[name][field] = k + 1
        assert np.all(frame[name][field] == k + 1)
        assert views[name].dtype is RECORDS[name]
    assert frame.nbytes == FRAME.itemsize


def test_every_cause_has_its_words_and_its_own_number() -> None:
    assert set(CAUSES) == set(Cause) - {Cause.NONE}
    for cause, text in CAUSES.items():
        filled = text.sentence.format(name="part", value=1.0, limit=2.0)
        assert filled and text.hint and text.scope in ("finger", "hand"), cause


NAMES = st.lists(st.text("abc_1", min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


@given(NAMES, st.text("abc_1"))
def test_names_and_indices_are_one_another(names: list[str], other: str) -> None:
    hand = HandNames(hand="h", motors=(), tendons=tuple(names), joints=(), fingers=())
    assert [hand.index("tendon", n) for n in names] == list(range(len(names)))
    if other not in names:
        with pytest.raises(UnknownName, match="legal"):
            hand.index("tendon", other)


def test_the_page_in_the_docs_is_the_table() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "tools.cli", "signals"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert (ROOT / "docs" / "signals.md").read_text() == made, "run: flexor signals > docs/signals.md"


def test_a_script_that_hides_a_room_is_named(tmp_path: Path) -> None:
    (tmp_path / "sim.py").write_text("x = 1\n")
    (tmp_path / "mine.py").write_text("import runtime\n")
    result = subprocess.run([sys.executable, "mine.py"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode != 0
    assert "'sim' of flexor is hidden by" in result.stderr and "sim.py" in result.stderr
