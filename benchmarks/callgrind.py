"""A program under callgrind: generic processor, one thread, warm cache, so that counts repeat."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from signals.compiled import cache_root

_TUNABLES: Final = (
    "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable,-FMA4_Usable"
    ":glibc.cpu.x86_rep_movsb_threshold=1073741824"
)
"""Generic sine and arctangent; copies without ``rep movsb``, whose every byte counts as an instruction."""


class CannotCount(RuntimeError):
    """Valgrind is missing or failed; says what to do."""


def environment() -> dict[str, str]:
    """What a counted process needs beside the caller's environment."""
    place = cache_root() / "counted_by_line"
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {
        **inherited,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "FLEXOR_CACHE_DIR": str(place),
        # one thread: a waiting pool of numpy's library spins for a different time in every run
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPYCACHEPREFIX": str(place / "bytecode"),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(os.path.abspath(p) for p in sys.path if p),
        "GLIBC_TUNABLES": _TUNABLES,
    }


def callgrind(words: list[str], out: Path, *options: str) -> None:
    """Run a program under callgrind, which writes ``out``.

    Raises:
        CannotCount: valgrind is missing or the program failed.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CannotCount("no valgrind, nothing is counted; Debian and Ubuntu: sudo apt install valgrind")
    command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", *options, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    if done.returncode or not out.exists():
        raise CannotCount(f"valgrind ended with {done.returncode}: {done.stderr.strip()[-500:]}")


def total(out: Path) -> int:
    """Instructions of a callgrind file."""
    match = re.search(r"^(?:summary|totals): (\d+)", out.read_text(errors="replace"), re.MULTILINE)
    if match is None:
        raise CannotCount(f"{out.name} of callgrind holds no sum")
    return int(match[1])


def program_slope(words: Callable[[int], list[str]], few: int, many: int) -> float:
    """Instructions per tick of a program between two numbers of ticks, both counted at the same time."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:

        def counted(ticks: int) -> int:
            out = Path(name) / f"{ticks}.callgrind"
            callgrind(words(ticks), out)
            return total(out)

        low, high = pool.map(counted, (few, many))
    return (high - low) / (many - few)
