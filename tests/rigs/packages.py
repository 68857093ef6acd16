"""Other people's packages: the examples as pip installs them, and broken ones as an installer leaves them."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
NUMBERS = itertools.count()


def example_folders() -> tuple[Path, ...]:
    """Folders of ``examples`` that are packages."""
    return tuple(sorted(path.parent for path in EXAMPLES.glob("*/pyproject.toml")))


def install(target: Path, folders: Iterable[Path]) -> None:
    """Install packages from their own ``pyproject.toml`` into a folder; no network, no dependency."""
    assert importlib.util.find_spec("hatchling"), "hatchling is not installed: run ./dev lint once"
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    words += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    done = subprocess.run([*words, *map(str, folders)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Stranger:
    """A package as an installer leaves it."""

    name: str
    """Of the package, and of its entry."""
    file: Path
    """Its module."""
    declared: Path
    """Its list of entry points."""


def stranger(folder: Path, group: str, text: str, value: str = "{name}:THING", entry: str = "") -> Stranger:
    """Write a package of one module with one entry point into a folder of the path.

    Args:
        folder: on ``sys.path``.
        group: of the entry point.
        text: the module; ``NAME`` in it becomes the package's name.
        value: of the entry point, with ``{name}`` for the module.
        entry: name of the entry; else that of the package.
    """
    name = f"stranger_{next(NUMBERS)}"
    file = folder / f"{name}.py"
    file.write_text(text.replace("NAME", name), encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\nSummary: A stranger\n", encoding="utf-8")
    declared = info / "entry_points.txt"
    declared.write_text(f"[{group}]\n{entry or name} = {value.format(name=name)}\n", encoding="utf-8")
    importlib.invalidate_caches()
    return Stranger(name, file, declared)
