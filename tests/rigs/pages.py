"""Pages with figures and the scripts that make them: is what stands there what comes out today?"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
_NUMBER = re.compile(r"[-+]?(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def maker(name: str) -> ModuleType:
    """A script of ``docs``, as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[Path(name).stem] = module  # dataclasses of the script look for it there
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[Path(name).stem]
    return module


def drifted(written: str, made: str, share: float) -> list[str]:
    """Lines that differ in words, or in a number by more than a share and by more than its last digit."""
    before, after = written.splitlines(), made.splitlines()
    found = [f"{len(before)} lines, made: {len(after)}"] if len(before) != len(after) else []
    for old, new in zip(before, after, strict=False):
        numbers = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=False)
        if _NUMBER.sub("0", old) != _NUMBER.sub("0", new) or any(_far(a, b, share) for a, b in numbers):
            found.append(f"written: {old}\n   made: {new}")
    return found


def _far(written: str, made: str, share: float) -> bool:
    a, b = (float(text.replace(",", "")) for text in (written, made))
    digits = len(written.partition(".")[2])
    return abs(a - b) > max(share * abs(a), 1.5 * 10.0**-digits)
