"""The house stands as drawn: every room comes from this tree, and numba has one door."""

import ast
import re
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from signals.rooms import ROOMS as CODE

ROOT = Path(__file__).parent.parent
ROOMS = (*CODE, "configs")


@pytest.mark.sample(4)
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_comes_from_this_tree_and_from_one_distribution(room: str) -> None:
    spec = find_spec(room)
    assert spec is not None and spec.origin is not None
    assert Path(spec.origin).parent == ROOT / room
    assert set(packages_distributions().get(room, ["flexor"])) == {"flexor"}


def sources() -> list[Path]:
    return [p for room in ROOMS for p in (ROOT / room).rglob("*.py")]


LINES_OF_A_FILE, LINES_OF_A_FUNCTION = 300, 60
LONG_FILES = {
    "signals/table.py": "the one table of signals, a row each",
    "signals/typed.py": "generated from the table",
    "drivers/collector/codec.py": "one wire format, message by message",
    "drivers/contract.py": "one suite that other packages import as a whole",
    "runtime/realtime.py": "each right that a process asks of the kernel, and what lacks without it",
    "sim/emulators/collector.py": "one board: its whole state is in one object, as in the device",
    "benchmarks/kill_anything.py": "a script that is read from top to bottom",
    "benchmarks/throughput.py": "a script: three wires that are measured alike, side by side",
}
LONG_FUNCTIONS = {
    "drivers/collector/laws.py: take_sample": "one line per value on the wire",
    "runtime/entries.py: tick_at": "one tick, an address per line",
}
"""What is longer than the house allows, and why."""


def test_files_and_functions_are_short_or_have_a_reason_not_to_be() -> None:
    files, functions = set(), set()
    for path in sources():
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        if text.count("\n") > LINES_OF_A_FILE:
            files.add(name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= LINES_OF_A_FUNCTION:
                    functions.add(f"{name}: {node.name}")
    assert files == set(LONG_FILES), "a reason for each, and no reason without its file"
    assert functions == set(LONG_FUNCTIONS)


SAID_ONCE = {
    r"get_close_matches": "signals/choices.py",
    r"\bConfigDict\(": "signals/tables.py",
    r"6\.0 \* \w+ - 15\.0|15\.0 - 6\.0 \*": "signals/minimum_jerk.py",
    r"\b50(\.0)?\b.*\b20_?000\b": "signals/tables.py",
    r"^(\w*UNUSABLE)\b.*=": "mechanics/plausible.py",
    r"FaultKind\.\w+: ": "sim/options.py",
}
"""What was once said in several places -> where it is said."""


@pytest.mark.parametrize("pattern", SAID_ONCE)
def test_what_is_said_once_stays_there(pattern: str) -> None:
    said = re.compile(pattern, re.MULTILINE)
    found = {str(p.relative_to(ROOT)) for p in sources() if said.search(p.read_text(encoding="utf-8"))}
    assert found == {SAID_ONCE[pattern]}


def test_numba_has_one_door() -> None:
    allowed = ROOT / "signals" / "compiled.py"
    direct = re.compile(r"numba\.(njit|jit|vectorize|guvectorize)|from numba import .*\b(njit|jit)\b")
    offenders = [p.relative_to(ROOT) for p in sources() if p != allowed and direct.search(p.read_text())]
    assert offenders == []


def test_no_source_names_a_path_of_one_machine() -> None:
    local = re.compile(r"[\"'](/work/|/home/|/root/|/tmp/)")
    offenders = [p.relative_to(ROOT) for p in sources() if local.search(p.read_text())]
    assert offenders == []


def test_every_record_is_aligned_and_packed() -> None:
    import numpy as np

    from signals.records import FRAME, RECORDS

    for name, dtype in {**RECORDS, "frame": FRAME}.items():
        packed = sum(dtype.fields[f][0].itemsize for f in dtype.names)  # type: ignore[index,union-attr]
        assert dtype.itemsize == packed, name
        assert dtype.isalignedstruct, name
        assert np.zeros(1, dtype).nbytes % 8 == 0, name
