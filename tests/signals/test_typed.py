"""Compiled code is typed: classes that are the records, no open types, a wrong field is an error."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Protocol, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import signals.typed
from signals.layout import FloatArray, IntArray, dtype_of
from signals.records import FRAME_RECORDS, RECORDS
from signals.rooms import ROOMS
from signals.table import LIVE, TABLE
from tools.commands.signals import classes

ROOT = Path(__file__).parents[2]


def _compiled() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every compiled function of every room: its place and what was compiled."""
    for file in sorted(f for room in ROOMS for f in (ROOT / room).rglob("*.py")):
        tree = ast.parse(file.read_text())
        top = {id(node) for node in tree.body}
        module = file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and {"law", "inlined"} & set(
                map(ast.unparse, node.decorator_list)
            ):
                assert id(node) in top, f"{module}.{node.name} is compiled inside of something"
                yield f"{module}.{node.name}", getattr(importlib.import_module(module), node.name).py_func


def _unknown(hint: Any) -> bool:
    """True if a type leaves something open; the shape of an array is open in every numpy annotation."""
    args = get_args(hint)[1:] if get_origin(hint) is np.ndarray else get_args(hint)
    return hint is Any or any(map(_unknown, args))


def test_no_compiled_function_has_an_open_type() -> None:
    compiled = dict(_compiled())
    assert len(compiled) > 500
    left = []
    for place, function in compiled.items():
        hints = get_type_hints(function)
        names = [*function.__code__.co_varnames[: function.__code__.co_argcount], "return"]
        left += [f"{place}: {name}" for name in names if name not in hints or _unknown(hints[name])]
    assert left == []


@pytest.mark.parametrize("record", TABLE)
def test_the_classes_are_the_records(record: str) -> None:
    made, kept = dtype_of(getattr(signals.typed, record.capitalize())), RECORDS[record]
    assert made.names == tuple(s.name for s in TABLE[record])
    assert {n: made[n] for n in made.names} == {n: kept[n] for n in kept.names or () if n != "pad_"}


def test_the_class_of_a_frame_is_the_frame() -> None:
    assert tuple(get_type_hints(signals.typed.Frame)) == FRAME_RECORDS


def test_the_file_of_classes_is_the_table() -> None:
    assert Path(signals.typed.__file__).read_text() == classes(), "run: ./dev signals"


def test_a_class_gives_its_dtype() -> None:
    class Base(Protocol):
        count: int
        unsigned: np.uint64
        short: Annotated[int, "u2"]

    class Inner(Protocol):
        R: Annotated[FloatArray, 3, 3]

    class Whole(Base, Protocol):
        share: float
        by_motor: Annotated[IntArray, "motor"]
        inner: Inner

    globals().update(Inner=Inner)
    inner = np.dtype([("R", "f8", (3, 3))], align=True)
    fields = [
        ("count", "i8"),
        ("unsigned", "u8"),
        ("short", "u2"),
        ("share", "f8"),
        ("by_motor", "i8", (64,)),
        ("inner", inner),
    ]
    assert dtype_of(Whole) == np.dtype(fields, align=True)


@pytest.mark.parametrize("wrong", [str, FloatArray, Annotated[FloatArray, "muscle"], Annotated[str, 3], Any])
def test_a_field_that_is_none_is_named(wrong: Any) -> None:
    record = type("Odd", (), {"__annotations__": {"field": wrong}})
    with pytest.raises(TypeError, match=r"Odd\.field: .* is no field; legal: float, int"):
        dtype_of(record)


MISSPELT = (
    ("estimators/tension.py", "s.tension_n[t]", "s.tensoin_n[t]", "tensoin_n"),
    ("estimators/channels.py", "mem.started == 0", "mem.startd == 0", "startd"),
)


def test_a_misspelt_field_is_a_type_error(tmp_path: Path) -> None:
    """One of a record and one of a memory, planted in the kernels that read them."""
    shadows, files, wanted = [], [], set()
    for file, right, wrong, name in MISSPELT:
        source = (ROOT / file).read_text()
        assert right in source, f"{file} has no {right}: plant another one"
        shadow = tmp_path / file.replace("/", "_")
        shadow.write_text(source.replace(right, wrong, 1))
        shadows += ["--shadow-file", file, str(shadow)]
        files.append(file)
        wanted.add((file, str(source[: source.index(right)].count("\n") + 1), name))
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    done = subprocess.run([*command, *shadows, *files], capture_output=True, text=True, cwd=ROOT)
    found = re.findall(r'^(\S+?):(\d+): error: .* no attribute "(\w+)"', done.stdout, re.MULTILINE)
    assert set(found) == wanted and done.returncode == 1, done.stdout + done.stderr


ONE_LINE = "grip_n | N | tendon | f8 | estimators | a signal that nobody else knows | grip"


def test_a_new_signal_is_one_line(tmp_path: Path) -> None:
    """Planted in a copy of the table, it is in frames, log columns, both topics, meta and pages."""
    source = (ROOT / "signals" / "table.py").read_text()
    old = "tick                       | 1     | -      | u8 | runtime     | number of the cycle\n"
    assert source.count(old) == 1
    (tmp_path / "planted.py").write_text(source.replace(old, f"{old}{ONE_LINE}\n"))
    code = """
import importlib, msgpack, numpy as np, sys
sys.modules["signals.table"] = importlib.import_module("planted")
from signals.records import FRAME, MODEL, new
from signals.names import HandNames
from telemetry.columns import Columns, counts_of
from telemetry.publish.messages import RawMessage, ViewMessage, meta_units
from tools.commands.signals import classes, table
names = HandNames(hand="h", motors=(), tendons=("a", "b"), joints=(), fingers=())
model, frames = new(MODEL), np.zeros(3, dtype=FRAME)
model["n_tendons"] = 2
frames["state"]["grip_n"][:, :2] = 1.5, 2.5
kept = Columns(counts_of(model)).take(frames)["state"]["grip_n"]
assert kept.tolist() == [[1.5, 2.5]] * 3
view = ViewMessage(names, True).build(frames[0], 0.0, {}, {})
assert view["grip"] == {"a": 1.5, "b": 2.5}
raw = msgpack.unpackb(RawMessage(model, True).encode(frames, 0))
assert [row["grip"] for row in raw] == [[1.5, 2.5]] * 3
assert meta_units(True)["grip"] == {"unit": "N", "space": "tendon", "signal": "state.grip_n"}
assert '    grip_n: Annotated[FloatArray, "tendon"]' in classes()
assert any(line.startswith("| `grip_n` | N | tendon") and "| grip |" in line for line in table(["state"]))
"""
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_live_key_is_a_key_of_its_own() -> None:
    from signals.names import HandNames
    from signals.records import FRAME
    from telemetry.publish.messages import ViewMessage

    names = HandNames(hand="h", motors=(), tendons=(), joints=(), fingers=())
    view = ViewMessage(names, True).build(np.zeros(1, dtype=FRAME)[0], 0.0, {}, {})
    own = set(view) - set(LIVE)
    assert set(LIVE) < set(view) and {"timestamp", "seq", "tick", "machine", "armed", "track", "loop"} <= own
