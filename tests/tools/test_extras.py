"""A command that needs an extra says which, and how to get it; without any extra nothing else ends."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from signals.extras import EXTRAS, how_to_get
from signals.rooms import ROOMS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _imported() -> set[str]:
    """Packages of others that any room imports."""
    names = set()
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    for node in (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            names |= {a.name.partition(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").partition(".")[0])
    return names - {*ROOMS, "configs", "tests", "", *sys.stdlib_module_names}


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def _brought(requirements: list[str]) -> set[str]:
    """Distributions that a list of requirements installs, by what each of them requires in turn."""
    found: set[str] = set()
    todo = list(requirements)
    while todo:
        name = _name(todo.pop())
        if name not in found:
            found.add(name)
            try:
                todo += [r for r in requires(name) or () if "extra ==" not in r]
            except PackageNotFoundError:  # of another system
                continue
    return found


def test_every_module_that_we_import_is_brought_by_the_package_or_by_the_extra_that_the_table_names():
    distributions = packages_distributions()
    always, imported = _brought(PROJECT["dependencies"]), _imported()
    assert len(imported) > 10
    for module in sorted(imported):
        its = {_name(d) for d in distributions.get(module, ["pin"])}  # pin has a folder of its own
        if not its & always:
            assert module in EXTRAS, f"{module} is in no table: a command would end as a bug without it"
            extra = PROJECT["optional-dependencies"][EXTRAS[module]]
            assert its & _brought(extra), module
    assert set(EXTRAS) <= imported


HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
{then}
"""


def _without_extras(then: str, folder: Path) -> subprocess.CompletedProcess[str]:
    text = HIDDEN.format(hidden=set(EXTRAS), then=then)
    words = [sys.executable, "-c", text]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )


def test_all_commands_and_all_benches_but_one_are_there_without_an_extra(tmp_path):
    names = [f"tools.commands.{p.stem}" for p in (ROOT / "tools" / "commands").glob("[a-z]*.py")]
    then = f"import importlib\nfor name in {[*names, 'benchmarks.run']}: importlib.import_module(name)"
    done = _without_extras(then, tmp_path)
    assert done.returncode == 0, done.stderr


NEEDS = {
    "bench growth --rounds 1": "mujoco",
    "view": "viser",
    "run finger_bench --view --for 1": "viser",
}
WITHOUT = [
    "bench lockstep --hand finger_bench --rounds 1 --cycles 100",
    "run finger_bench --lockstep --for 1.2 --out there",
    "design spring finger_bench --out there",
]


@pytest.mark.parametrize("words", NEEDS)
def test_a_command_that_needs_one_names_it_and_how_to_get_it(words, tmp_path):
    done = _without_extras(f"import tools.cli; tools.cli.main({words.split()!r})", tmp_path)
    assert done.returncode == 1, done.stderr
    assert how_to_get(NEEDS[words]) in done.stderr and "bug" not in done.stderr


@pytest.mark.parametrize("words", WITHOUT)
def test_a_command_that_can_do_without_does(words, tmp_path):
    done = _without_extras(f"import tools.cli; tools.cli.main({words.split()!r})", tmp_path)
    assert done.returncode in (0, 1) and "bug" not in done.stderr and "Traceback" not in done.stderr
    assert done.returncode == 0 or "bench" in words, done.stderr  # a bench may miss its bound
    if "--out" in words:
        assert how_to_get("matplotlib") in done.stderr
