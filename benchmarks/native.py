"""The C yardsticks: compiled on the spot with the machine's compiler, kept in the cache folder."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

from signals.compiled import cache_root

FLAGS: Final = ("-std=gnu11", "-O3", "-ffp-contract=off", "-Wall")
"""IEEE arithmetic as the laws have it; no fast-math, no fused multiply-add of the compiler's own."""
FAST: Final = ("-march=native",)
"""For timing: the whole instruction set, as numba has it too. Counting takes the generic one for both."""
_SOURCES: Final = ("reference.c", "waiter.c")


class NoCompiler(RuntimeError):
    """There is no C compiler; says what is left out and how to get one."""

    def __init__(self) -> None:
        super().__init__(
            "no C compiler (cc, gcc, clang): the C waiter, the C loop and the reference tick are left out; "
            "Debian and Ubuntu: sudo apt install gcc libc6-dev"
        )


class CompileFailed(RuntimeError):
    """The compiler refused the yardsticks; carries what it said."""


def compiler() -> str | None:
    """Path of a C compiler: ``CC``, cc, gcc or clang."""
    chosen = os.environ.get("CC")
    for name in (chosen, "cc", "gcc", "clang"):
        if name and (path := shutil.which(name)):
            return path
    return None


def compiler_version() -> str:
    """First line of what the compiler says about itself; empty without one."""
    cc = compiler()
    if cc is None:
        return ""
    out = subprocess.run([cc, "--version"], capture_output=True, text=True, check=False).stdout
    return out.splitlines()[0] if out else cc


def build(*, shared: bool = False, fast: bool = True) -> Path:
    """The waiter as a program, or the reference tick as a library.

    Args:
        shared: the library instead of the program.
        fast: for this processor; else for any of its kind, which is what callgrind can count.

    Raises:
        NoCompiler: there is none.
        CompileFailed: it refused.
    """
    cc = compiler()
    if cc is None:
        raise NoCompiler
    folder = files("benchmarks")
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in _SOURCES}
    words = [*FLAGS, *(FAST if fast else ()), *(("-shared", "-fPIC") if shared else ())]
    return _compiled(
        cc, words, texts, "reference.c" if shared else "waiter.c", "reference.so" if shared else "waiter"
    )


def build_with(source: str, headers: dict[str, str], *, fast: bool = True, shared: bool = True) -> Path:
    """A source of this folder as a library or a program, with headers that are made on the spot.

    Raises:
        NoCompiler: there is no compiler.
        CompileFailed: it refused.
    """
    cc = compiler()
    if cc is None:
        raise NoCompiler
    texts = {source: (files("benchmarks") / source).read_text(encoding="utf-8"), **headers}
    words = [*FLAGS, *(FAST if fast else ()), *(("-shared", "-fPIC") if shared else ())]
    return _compiled(cc, words, texts, source, source.replace(".c", ".so" if shared else ""))


def _compiled(cc: str, words: list[str], texts: dict[str, str], main: str, name: str) -> Path:
    """What the compiler makes of ``main`` among its texts, kept by their content."""
    key = hashlib.sha256("\0".join([cc, compiler_version(), *words, *texts.values()]).encode()).hexdigest()[
        :16
    ]
    place = cache_root() / "native" / key
    target = place / name
    if target.exists():
        return target
    place.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (place / file).write_text(text, encoding="utf-8")
    source = place / main
    fresh = place / f"new-{os.getpid()}"
    done = subprocess.run(
        [cc, *words, str(source), "-o", str(fresh), "-lm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CompileFailed(f"{cc} refused {source.name}: {done.stderr.strip()[-800:]}")
    fresh.rename(target)
    return target


def dump_counts() -> Callable[[], None]:
    """A call at which callgrind writes what it counted since the last; without valgrind nothing."""
    call = ctypes.CDLL(str(build(shared=True, fast=False))).dump_counts
    call.restype, call.argtypes = None, []
    return cast(Callable[[], None], call)


class Reference:
    """The reference tick in this process, for timing it hot beside ours.

    Args:
        n_slots: frames of its ring.
        frame_words: 8-byte words of a frame.
    """

    def __init__(self, n_slots: int, frame_words: int) -> None:
        lib = ctypes.CDLL(str(build(shared=True)))
        lib.reference_new.restype = ctypes.c_void_p
        lib.reference_new.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        lib.reference_durations.restype = None
        lib.reference_durations.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_void_p,
        ]
        self._lib = lib
        self._state = lib.reference_new(n_slots, frame_words)
        if not self._state:
            raise MemoryError("no memory for the reference tick's ring")

    def durations(self, channels: int, out: Any, sleep_ns: int = 0) -> None:
        """Fill ``out`` (int64, shape (n,)) with durations of ticks [ns], each after a sleep if asked for."""
        self._lib.reference_durations(self._state, channels, len(out), sleep_ns, out.ctypes.data)
