"""The compile cache of a tick depends on every source that the tick reaches."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from signals import plugins
from signals.compiled import _imports_of, closure_hash
from signals.rooms import ROOMS


def _true_imports(path: Path) -> set[Path]:
    """Project modules that a file imports, by Python's own parser."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] + [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        for name in names:
            if name.split(".")[0] not in ROOMS:
                continue
            try:
                spec = find_spec(name)
            except (ImportError, ValueError):
                continue
            if spec is not None and spec.origin is not None:
                found.add(Path(spec.origin))
    return found


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("room", ROOMS)
def test_every_project_import_is_part_of_the_cache_key(room: str) -> None:
    left = {path: _true_imports(path) - set(_imports_of(path)) for path in (ROOT / room).rglob("*.py")}
    assert left and {path: imports for path, imports in left.items() if imports} == {}


LAW = """
from signals.compiled import law

@law
def twice(x: float) -> float:
    return 2.0 * x

print(twice(1.5), twice.stats.cache_hits)
"""


def test_a_second_folder_with_the_same_sources_starts_warm(tmp_path: Path) -> None:
    printed = []
    for place in ("first", "second"):
        folder = tmp_path / place
        folder.mkdir()
        (folder / "twice.py").write_text(LAW, encoding="utf-8")
        environment = {**os.environ, "FLEXOR_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "twice.py"]
        printed.append(subprocess.check_output(command, cwd=folder, env=environment, text=True))
    assert printed[0].startswith("3.0 Counter()")
    assert "Counter({" in printed[1]


def test_the_same_sources_under_another_name_are_another_module(tmp_path: Path) -> None:
    """What is kept refers to its module by name: a renamed module would look for the old one."""
    files = [tmp_path / name for name in ("twice.py", "double.py")]
    for file in files:
        file.write_text(LAW, encoding="utf-8")
    assert closure_hash(files[0]) != closure_hash(files[1])
    assert closure_hash(ROOT / "signals" / "clock.py") != closure_hash(ROOT / "signals" / "records.py")


NESTED = """
from signals.compiled import law

@law
def half(x: float) -> float:
    return 0.5 * x

@law
def both(x: float) -> float:
    return half(x) + half(half(x))

print(both(4.0), len(half.overloads), len(half.inner.overloads), half(3.0), len(half.overloads))
"""


def test_a_law_inside_a_law_is_no_machine_code_until_python_calls_it(tmp_path: Path) -> None:
    """Cold, then from the cache, where the caller needs nothing of what it calls."""
    (tmp_path / "nested.py").write_text(NESTED, encoding="utf-8")
    environment = {**os.environ, "FLEXOR_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    told = [
        subprocess.check_output(
            [sys.executable, "nested.py"], cwd=tmp_path, env=environment, text=True
        ).split()
        for _ in range(2)
    ]
    assert told[0] == ["3.0", "0", "1", "1.5", "1"]
    assert told[1] == ["3.0", "0", "0", "1.5", "1"]


LOADED = """
import sys
import numpy as np
from numba import typeof
from numba.core.errors import NumbaTypeError
from signals.compiled import law

@law
def add(values: np.ndarray, out: np.ndarray) -> None:
    for k in range(len(values)):
        out[k] += 2.0 * values[k]

out = np.zeros(3)
add(np.array([1.0, 2.0, 3.0]), out)
compiler = "numba.cpython.unicode" in sys.modules
out[:] += np.array([add.py_func is not add, sum(add.stats.cache_hits.values()), compiler])

@law
def norm(values: np.ndarray) -> float:
    return float(np.sqrt(np.sum(values * values)))

print(*out, norm(np.array([3.0, 4.0])))
try:
    typeof(np.ma.array([3.0, 4.0]))
except NumbaTypeError as error:
    print("MaskedArray" in str(error))
"""


def test_what_is_compiled_is_loaded_without_the_compiler_which_comes_when_something_is_not(
    tmp_path: Path,
) -> None:
    """The second process loads ``add`` and then compiles ``norm``, with numba's own functions of arrays."""
    (tmp_path / "laws.py").write_text(LOADED, encoding="utf-8")
    (tmp_path / "cache").mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "FLEXOR_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    for _ in range(2):
        for path in (tmp_path / "cache").rglob("laws.norm*"):
            path.unlink()
        done = subprocess.run(
            [sys.executable, "laws.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        )
        printed.append(done.stdout.split())
    assert printed == [["3.0", "4.0", "7.0", "5.0", "True"], ["3.0", "5.0", "6.0", "5.0", "True"]]


OBJECTS = """
import pickle

import numba

import signals.compiled  # a user's own numba in a process of ours
from numba.core.environment import Environment

@numba.njit
def told(x):
    total = 0.0
    for k in range(3):
        if k != 1:
            with numba.objmode(y="float64"):
                y = float(str(x + k))
            total += y
    return total

one = Environment({"__name__": "numba.core.ir"})
one.env_name = "mine"
print(told(1.5), b"signals" in pickle.dumps(one))
try:
    numba.typeof(__import__("numpy").zeros(2, "longdouble"))
except numba.errors.NumbaValueError as error:
    print("longdouble" in str(error) or "float128" in str(error))
"""


def test_numba_of_a_user_beside_ours_is_numbas(tmp_path: Path) -> None:
    """Object mode, what it keeps on the disk, and what it refuses."""
    (tmp_path / "mine.py").write_text(OBJECTS, encoding="utf-8")
    words = [sys.executable, str(tmp_path / "mine.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["5.0", "False", "True"]


def test_a_place_of_packages_that_nobody_may_read_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the interpreter does; also one that goes away meanwhile."""
    kept = Path.stat

    def stat(self: Path, **words: bool) -> os.stat_result:
        if self.name == "locked":
            raise PermissionError(13, "not yours", str(self))
        return kept(self, **words)

    monkeypatch.setattr(Path, "stat", stat)
    before = plugins.offered(plugins.COMMANDS)
    monkeypatch.setattr(sys, "path", [*sys.path, "/locked", "/gone"])
    assert plugins.offered(plugins.COMMANDS) == before
