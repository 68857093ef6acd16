"""The table is what it makes: records, frame views, names, causes, the page in the docs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals.faults import BLINDS, CAUSES, FOREIGN, Blinds, Cause, Scope, blamed, part_name
from signals.names import HandNames, Space, UnknownName
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


def test_every_cause_has_one_row_with_words() -> None:
    assert set(CAUSES) == set(Cause) - {Cause.NONE} - set(FOREIGN)
    for cause, row in CAUSES.items():
        filled = row.sentence.format(name="part", value=1.0, limit=2.0)
        assert filled and row.hint and "{" not in filled, cause
        assert ("part" in filled) or row.space in (Space.HAND, Space.BUS), cause


def test_only_a_fingers_cause_leaves_its_sensors_to_be_believed() -> None:
    assert BLINDS[Cause.NONE] == Blinds.NOTHING
    for code in range(1, len(BLINDS)):
        row = CAUSES.get(code)  # type: ignore[call-overload]  # a number that may be none
        of_a_finger = row is not None and row.scope == Scope.FINGER
        assert BLINDS[code] == (row.blinds if of_a_finger else Blinds.FINGER)


@pytest.mark.parametrize("cause", list(CAUSES), ids=lambda cause: cause.name)
def test_a_part_is_named_in_the_space_of_its_cause_and_in_no_other(cause: Cause) -> None:
    spaces = ("motor", "tendon", "joint", "finger", "axe", "buse")
    names = HandNames(hand="hand", **{f"{s}s": (f"{s} 0", f"{s} 1", f"{s} 2") for s in spaces})
    kind = {"hall": "tendon", "axis": "axe", "bus": "buse"}.get(CAUSES[cause].space, CAUSES[cause].space)
    all_of_it = "hand" if kind == "hand" else f"{kind} 0, {kind} 1, {kind} 2"
    assert part_name(cause, names, -1) == all_of_it
    if kind != "hand":
        assert [part_name(cause, names, k) for k in range(4)] == [*all_of_it.split(", "), ""]
    assert blamed(int(cause), names, -1) == f"{cause.name} of {all_of_it}" and blamed(0, names, 2) == ""


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


def test_the_page_of_states_tells_the_evidence_of_every_cause_once() -> None:
    """Its table of causes has each cause in one row; ``(hand)``, ``(sensor)``: it stops more, or less."""
    page = (ROOT / "docs" / "state_machine.md").read_text()
    rows = page.split("| cause | evidence | time |")[1].split("\n\n")[0].splitlines()[2:]
    told = {
        (name, next((scope for scope in Scope if f"({scope})" in row), Scope.FINGER))
        for row in (row.split("|")[1] for row in rows)
        for name in re.findall("[A-Z_]{5,}", row)
    }
    assert told == {(cause.name, row.scope) for cause, row in CAUSES.items()}


def test_nobody_gives_a_status_another_name() -> None:
    """Their names clash with no class of the house, so that no import needs an alias."""
    texts = {file: file.read_text() for file in ROOT.glob("[a-z]*/**/*.py")}
    texts = {file: text for file, text in texts.items() if "signals.modes" in text}
    assert len(texts) > 100
    aliased = [
        f"{file}:{node.lineno}"
        for file, text in texts.items()
        if " as " in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "signals.modes"
        for name in node.names
        if name.asname
    ]
    assert aliased == []
