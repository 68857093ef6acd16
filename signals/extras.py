"""Modules that only some commands need: the extras of the package, and how to get one that is not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

EXTRAS: Final = {
    "matplotlib": "report",
    "mujoco": "contact",
    "pinocchio": "test",
    "pyarrow": "parquet",
    "pytest": "test",
    "trimesh": "view",
    "viser": "view",
    "websockets": "view",
}
"""Module -> extra of ``pyproject.toml`` that brings it."""


_CLONE: Final = Path(__file__).parents[1]
"""Folder of the rooms: a clone has its ``pyproject.toml`` there."""


def how_to_get(module: str) -> str:
    """The words that install a module's extra, into the Python that runs: of a clone, or of a package.

    Args:
        module: one of ``EXTRAS``.
    """
    pip, extra = f"{sys.executable} -m pip install", EXTRAS[module]
    if (_CLONE / "pyproject.toml").is_file():
        return f"{pip} -e '{_CLONE}[{extra}]'"
    return f"{pip} 'flexor[{extra}]'"


def missing(error: BaseException) -> str:
    """What to do about an import that failed, as a sentence; empty: it was none of the extras."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or name not in EXTRAS:
        return ""
    return f"this needs {name} of the extra '{EXTRAS[name]}', which is not installed: {how_to_get(name)}"


def no_picture() -> str:
    """What to say where a picture is left out because nothing can draw it."""
    return f"no picture: matplotlib is not installed: {how_to_get('matplotlib')}"
