"""Errors in a user's own controller, estimator or driver name his file and line, never a bug of ours."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.registry import family
from hand.file.busfile import load_bus_file
from hand.stages import CONTROLLER_ARGUMENTS, StageError, make_stages
from runtime.busprocess.opening import open_buses
from signals.names import HandNames
from signals.records import COMMAND, GOAL, MEASUREMENT, MODEL, STATE, new
from tests.rigs.packages import stranger
from tools import cli

NUMBERS = itertools.count()
RECORDS = {"model": MODEL, "goal": GOAL, "state": STATE, "command": COMMAND, "measurement": MEASUREMENT}
HEAD = "import numba\nimport numpy as np\nMEMORY = np.dtype([('wanted_since_s', 'f8')])\n"
Writer = Callable[[str], tuple[str, Path]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """Write a module with a name of its own into a folder of the path; its name and its file."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(text: str) -> tuple[str, Path]:
        name = f"strangers_{next(NUMBERS)}"
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return name, path

    return written


def _raised(name: str) -> str:
    stages = make_stages(controller=f"{name}:law")
    records = [new(RECORDS[a]) if a in RECORDS else stages.controller_memory for a in CONTROLLER_ARGUMENTS]
    with pytest.raises(StageError) as caught:
        stages.control(*records)
    return str(caught.value)


BODIES = {
    "attribute": ("s = state[0]\n    s.tensoin_n[0] = 1.0", 5, "tensoin_n", "'tension_n' of state and truth"),
    "item": ("s = state[0]\n    s['tensoin_n'][0] = 1.0", 5, "tensoin_n", "'tension_n' of state and truth"),
    "memory": ("memory[0]['wanted_sinc_s'] = 1.0", 4, "wanted_sinc_s", "'wanted_since_s' of memory"),
    "other record": ("x = goal[0]['joint_stiffness'][0]", 4, "joint_stiffness", "'joint_stiffness_nm_rad'"),
    "far": ("x = state[0]['zzzzzzzz']", 4, "zzzzzzzz", "flexor signals lists"),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("case", BODIES)
def test_a_wrong_field_is_named_with_its_line_and_the_nearest(
    case: str, compiled: bool, write: Writer
) -> None:
    body, line, wrong, near = BODIES[case]
    decorator = "@numba.njit\n" if compiled else ""
    name, path = write(f"{HEAD}{decorator}def law(model, goal, memory, state, command):\n    {body}\n")
    told = _raised(name)
    assert told.startswith(f"controller '{name}:law': {path}:{line + compiled + 1}: no such field: '{wrong}'")
    assert near in told


def _likeness(name: str, wrong: str) -> float:
    return SequenceMatcher(None, name, wrong).ratio()


@given(st.data())
def test_every_field_with_a_slip_of_the_finger_finds_its_name(data: st.DataObject) -> None:
    from signals.foreign import sentence

    record = data.draw(st.sampled_from(sorted(RECORDS)))
    field = data.draw(st.sampled_from([n for n in RECORDS[record].names or () if len(n) > 6]))
    at = data.draw(st.integers(1, len(field) - 2))
    slips = (field[:at] + field[at + 1 :], field[:at] + field[at + 1] + field[at] + field[at + 2 :])
    wrong = data.draw(st.sampled_from(slips))
    try:
        _ = new(RECORDS[record])[wrong]
    except ValueError as error:
        told = sentence("x", error, None)
        assert f"no such field: '{wrong}'; did you mean '" in told
        near = told.split("did you mean '")[1].split("'")[0]
        assert _likeness(near, wrong) >= _likeness(field, wrong)


ERRORS = (
    "ValueError('odd')",
    "KeyError('odd')",
    "ZeroDivisionError()",
    "OSError(28, 'odd')",
    "SystemExit(3)",
)
ERRORS += ("RecursionError()", "MemoryError()", "StopIteration()", "UnicodeError('odd')", "AssertionError()")


@pytest.mark.parametrize("error", ERRORS)
def test_whatever_a_controller_raises_names_its_line(error: str, write: Writer) -> None:
    name, path = write(f"def law(*records):\n    deeper()\n\ndef deeper():\n    raise {error}\n")
    told = _raised(name)
    assert told.startswith(f"controller '{name}:law': {path}:5: {error.split('(')[0]}")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = 1\ndef law(:\n", 2, "SyntaxError"),
        ("\n\nimport no_such_thing\n", 3, "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("from signals.records import STAT\n", 1, "ImportError: cannot import name 'STAT'"),
        ("x = undefined\n", 1, "NameError"),
        ("import json\n\njson.loads('{')\n", 3, "JSONDecodeError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        (
            "def law(model, goal):\n    pass\n",
            1,
            "takes (model, goal); legal: (model, goal, memory, stat",
        ),
        ("import numba\n@numba.njit\ndef law(m):\n    pass\n", 2, "takes (m); legal: (model, goal, memory"),
    ],
)
def test_a_module_that_cannot_be_used_names_its_line(text: str, line: int, said: str, write: Writer) -> None:
    name, path = write(text)
    for _ in range(2):  # a broken import is not remembered as a sound one
        with pytest.raises(StageError) as caught:
            make_stages(controller=f"{name}:law")
        assert f"{path}:{line}: {said}" in str(caught.value)


def test_a_memory_that_is_no_dtype_is_refused_with_its_file(write: Writer) -> None:
    name, path = write("MEMORY = [1, 2]\ndef law(*records):\n    pass\n")
    with pytest.raises(StageError, match=r"MEMORY in .* is \[1, 2\]; legal: a numpy.dtype"):
        make_stages(estimator=f"{name}:law")


@pytest.mark.parametrize("kind", ["controller", "estimator"])
def test_a_run_ends_with_one_line_about_the_users_code(kind: str, write: Writer, capsys: Any) -> None:
    name, path = write("def law(*records):\n    state = records[3]\n    state['tensoin_n'] = 1.0\n")
    words = ["run", "finger_bench", "--set", f"{kind}={name}:law", "--lockstep", "--for", "0.1"]
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    told = capsys.readouterr().err
    assert ended.value.code == 2 and "bug" not in told
    assert f"error: {kind} '{name}:law': {path}:3: no such field" in told


# --- drivers ------------------------------------------------------------------------------------------------

DRIVER = """
from drivers.family import BusSettings, Family

class Settings(BusSettings):
    def identity(self): return "here"
    def motors(self, names): return names.motors
    def halls(self, names): return ()
    def axes(self, names): return ()

def opened(settings, names, readonly):
    return broken(settings)

def broken(settings):
    raise TypeError("odd")

FAMILY = Family(name="NAME", settings=Settings, open=opened, in_control_process=True)
"""


def _package(folder: Path, text: str, value: str = "FAMILY") -> tuple[str, Path]:
    """A package with a driver family, and a bus file that names it; the family's name, its file."""
    made = stranger(folder, "flexor.drivers", text, f"{{name}}:{value}")
    (folder / "bus.toml").write_text(f'[[bus]]\nname = "b"\nfamily = "{made.name}"\n', encoding="utf-8")
    return made.name, made.file


HAND = HandNames(hand="x", motors=("m",), tendons=("t",), joints=("j",), fingers=("f",))


@pytest.mark.parametrize(
    ("old", "new_text", "value", "said"),
    [
        ("", "", "FAMLY", "has no attribute 'FAMLY'"),
        ("from drivers.family", "from drivers.famly", "FAMILY", "{path}:2: ModuleNotFoundError"),
        ("def opened(", "def opened((", "FAMILY", "{path}:10: SyntaxError"),
        ("FAMILY = Family(", "FAMILY = Famly(", "FAMILY", "{path}:16: NameError"),
        ("FAMILY = Family(", "FAMILY = dict(", "FAMILY", "is not a drivers.family.Family"),
        ("settings=Settings", "settings=dict", "FAMILY", "<class 'dict'>, no drivers.family.BusSettings"),
        ('    def identity(self): return "here"\n', "", "FAMILY", "have no identity()"),
        ("return names.motors", "return names.motrs", "FAMILY", "{path}:6: AttributeError"),
        ("", "", "FAMILY", "{path}:14: TypeError: odd"),
        ("return broken(settings)", "return object()", "FAMILY", "without activate, capabilities, close"),
    ],
)
def test_a_broken_driver_names_its_package_or_its_line(
    old: str, new_text: str, value: str, said: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    name, path = _package(tmp_path, DRIVER.replace(old, new_text) if old else DRIVER, value)
    with pytest.raises(Exception) as caught:
        open_buses(load_bus_file(str(tmp_path / "bus.toml")), HAND)
    assert cli._told(caught.value) == 2
    told = capsys.readouterr().err
    assert said.format(path=path) in told and name in told and "bug" not in told


def test_two_packages_with_one_family_are_both_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    name, _ = _package(tmp_path, DRIVER)
    second = stranger(tmp_path, "flexor.drivers", "", "json:loads", name)
    said = rf"package {name} 1.0 \({name}:FAMILY\) and by package {second.name} 1.0 \(json:loads\)"
    with pytest.raises(RuntimeError, match=said):
        family(name)


@pytest.mark.realtime
def test_a_driver_that_breaks_in_a_bus_process_is_told_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *filter(None, sys.path)]))
    name, path = _package(tmp_path, DRIVER.replace("in_control_process=True", "in_control_process=False"))
    with pytest.raises(
        RuntimeError, match=rf"driver family '{name}' of package {name} 1.0 .*{path}:14: Type"
    ):
        open_buses(load_bus_file(str(tmp_path / "bus.toml")), HAND)
