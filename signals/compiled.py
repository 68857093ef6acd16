"""The one door to numba: ``law`` compiles a function without the GIL, cached on disk.

Numba keys its cache on place, time and size of the function's file alone, so that a change in a callee's
file leaves a stale caller behind: wrong physics, silently. Here every module gets a cache folder named by
the hash of its own source and of all sources of this project that it imports, directly or not. Nothing else
counts but their modules' names, which the kept code refers to: a second clone of the same sources, or a
folder that was moved, starts warm.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from signals.habits import break_habits, name_helpers
from signals.inner import LawDispatcher
from signals.kept import KeptFile
from signals.rooms import ROOMS

OPTIONS: Final = {
    "nopython": True,
    "nogil": True,
    "fastmath": {"contract"},
    "error_model": "numpy",
    "boundscheck": False,
    "no_cfunc_wrapper": True,
}
break_habits()
F = TypeVar("F", bound=Callable[..., Any])
_SETTINGS: Any = numba.config
_SETTINGS.SLP_VECTORIZE = (
    1  # superwords: unrolled loops and straight code over tendons become vector code too
)

HOME: Final = Path(__file__).parents[1]
"""Folder of the rooms."""
_ROOM: Final = rf"(?:{'|'.join(ROOMS)})[\w.]*"
# the names end with the line, or with the bracket: a greedy class with newlines would eat the next import
_IMPORT: Final = re.compile(
    rf"^[ \t]*(?:from[ \t]+({_ROOM})[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n(]*))|import[ \t]+({_ROOM}))",
    re.MULTILINE,
)


def cache_root() -> Path:
    """Folder of the compile cache: ``FLEXOR_CACHE_DIR``, or the user's cache folder.

    It may be one that cannot be made: then nothing is kept (``signals.kept``).
    """
    chosen = os.environ.get("FLEXOR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home() / ".cache") / "flexor" / "compiled"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user of a container: a number without a name and without HOME
        return Path("/nonexistent")


@cache
def _source_of(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin)


@cache
def _imports_of(path: Path) -> frozenset[Path]:
    found = set()
    for source, bracketed, listed, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        module = source or plain
        candidates = [module] + [f"{module}.{name}" for name in re.findall(r"\w+", bracketed or listed)]
        for candidate in candidates:
            origin = _source_of(candidate)
            if origin is not None:
                found.add(origin)
    return frozenset(found)


def _name_of(path: Path) -> str:
    """A source as its module is named, wherever this clone lies."""
    return path.relative_to(HOME).as_posix() if path.is_relative_to(HOME) else path.name


@cache
def closure_hash(path: Path) -> str:
    """Hash of a module's source and of every project source that it reaches by imports."""
    seen: set[Path] = set()
    todo = [path]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(_imports_of(current))
    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {np.__version__} {sys.version_info[:3]}".encode())
    for source in sorted(seen):
        digest.update(_name_of(source).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


class ContentLocator(UserProvidedCacheLocator):
    """Where numba keeps what it compiled from a function: by content, wherever and from when its file is."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._cache_path = str(cache_root() / closure_hash(Path(file)))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> ContentLocator:
        """One for any function: a folder that cannot be made keeps nothing."""
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        """Make the folder if that is possible; a warm one that takes no file is good to read from."""
        with suppress(OSError):
            os.makedirs(self._cache_path, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Nothing beyond the folder's name, which is the hash of the sources."""
        return ""


class _LawCacheImpl(CompileResultCacheImpl):
    _locator_classes = [ContentLocator]


class LawCache(FunctionCache):
    """What was compiled from a law, on disk.

    Args:
        function: the law.
        ending: tells its code for laws from its code for Python.
    """

    _impl_class = _LawCacheImpl

    def __init__(self, function: Callable[..., Any], ending: str) -> None:
        settings: Any = numba.config
        chosen, settings.CACHE_LOCATOR_CLASSES = settings.CACHE_LOCATOR_CLASSES, ""  # there is one place
        try:
            begin: Any = super().__init__
            begin(function)
        finally:
            settings.CACHE_LOCATOR_CLASSES = chosen
        kept: Any = self
        kept._cache_file = KeptFile(kept.cache_path, kept._impl.filename_base + ending)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As numba's, but without all that its compiler knows: what is compiled needs none of it.

        A compiler fetches it when it begins.
        """
        name_helpers()
        kept: Any = self
        return kept._load_overload(sig, target_context)


def inlined(function: F) -> F:
    """A law so short that a call of it costs more than its work: its code stands wherever it is called.

    Every array is seven arguments of a call. A law that many places call is not inlined otherwise.
    """
    return _compiled(function, forceinline=True)


def law(function: F) -> F:
    """Compile a law or a tick: no GIL, C division, cached; IEEE arithmetic with fused multiply-adds.

    Types are taken from the first call; ``runtime.warmup`` makes every first call before a loop
    starts, so nothing compiles in a cycle.
    """
    return _compiled(function)


def _compiled(function: F, **more: bool) -> F:
    return cast(F, LawDispatcher(function, {**OPTIONS, **more}, LawCache))
