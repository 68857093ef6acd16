"""Codecs are pure bytes: no port, no device, no socket, no clock."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "drivers"
CODECS = sorted([*ROOT.glob("*/codec.py"), ROOT / "hallbridge" / "orca.py"])
FORBIDDEN = ("port", "device", "hal", "session", "stream")
OUTSIDE = {"serial", "can", "time", "select", "threading", "os"}


@pytest.mark.parametrize("path", CODECS, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_a_codec_imports_nothing_that_waits_or_sends(path: Path) -> None:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    for module in modules:
        assert module.split(".")[0] not in OUTSIDE
        assert not (module.startswith("drivers.") and module.rsplit(".", 1)[1] in FORBIDDEN)


def test_there_is_a_codec_in_every_family() -> None:
    assert {p.parent.name for p in CODECS} == {"collector", "dynamixel", "hallbridge", "odrive"}
