"""The house stands as drawn: every room comes from this tree, and numba has one door."""

import re
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from signals.rooms import ROOMS as CODE

ROOT = Path(__file__).parent.parent
ROOMS = (*CODE, "configs")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_comes_from_this_tree_and_from_one_distribution(room: str) -> None:
    spec = find_spec(room)
    assert spec is not None and spec.origin is not None
    assert Path(spec.origin).parent == ROOT / room
    assert set(packages_distributions().get(room, ["flexor"])) == {"flexor"}


def sources() -> list[Path]:
    return [p for room in ROOMS for p in (ROOT / room).rglob("*.py")]


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
