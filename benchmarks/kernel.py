"""Instructions of one tick, counted by callgrind: a number that no busy neighbour can change.

Both sides are built for the generic processor of the architecture (callgrind knows no AVX-512), the C library
is told to take its generic routines too, and the count is the slope between two numbers of ticks, so that
interpreter, imports and start-up drop out. ``kernel_instructions.json`` beside this file holds the count,
and how many channels of the reference tick make as many; a change of more than 0.5 % has to be accepted.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks import native
from benchmarks.canned import TICKS
from signals.choices import WrongChoice
from signals.compiled import cache_root
from telemetry.shm.ring import WORDS

TOLERANCE: Final = 0.005
REFERENCE_TOLERANCE: Final = 0.03
"""How far the reference tick's count may lie from the tick's before ``bench tick`` compares unequal work."""
GATE: Final = Path(__file__).with_name("kernel_instructions.json")
FEW: Final = TICKS
MANY: Final = 3 * TICKS
_SLOTS: Final = 64
_TUNABLES: Final = (
    "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable,-FMA4_Usable"
    ":glibc.cpu.x86_rep_movsb_threshold=1073741824"
)
"""Generic sine and arctangent; copies without ``rep movsb``, whose every byte counts as an instruction."""


class CannotCount(RuntimeError):
    """Valgrind is missing or failed; says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The accepted count and what it was counted with."""

    hand: str
    motion: str
    instructions_per_tick: float
    reference_channels: int
    reference_instructions_per_tick: float
    versions: dict[str, str]


def gate_path() -> Path:
    """The gate file; part of the package, so that an installed bench compares equal work too."""
    return GATE


def load_gate(path: Path | None = None) -> Gate | None:
    """The gate, or ``None`` where there is no file.

    Raises:
        ValueError: the file is none of ours.
    """
    path = path or gate_path()
    if not path.exists():
        return None
    try:
        return Gate(**json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise WrongChoice(f"{path}: {error}; flexor bench kernel --accept writes it anew") from None


def save_gate(gate: Gate, path: Path | None = None) -> Path:
    """Write the gate."""
    path = path or gate_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(gate), indent=2) + "\n", encoding="utf-8")
    return path


def versions() -> dict[str, str]:
    """What the count depends on besides the sources."""
    packages = {name: version(name) for name in ("numpy", "numba", "llvmlite")}
    return {
        "python": platform.python_version(),
        **packages,
        "libc": " ".join(platform.libc_ver()),
        "cc": native.compiler_version(),
        "arch": platform.machine(),
    }


def _environment() -> dict[str, str]:
    place = cache_root() / "counted"
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


def _instructions(words: list[str], folder: Path, name: str) -> int:
    """Instructions of a program from its start to its end.

    Raises:
        CannotCount: valgrind is missing or the program failed.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CannotCount("no valgrind, nothing is counted; Debian and Ubuntu: sudo apt install valgrind")
    out = folder / f"{name}.callgrind"
    command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    match = re.search(r"^(?:summary|totals): (\d+)", out.read_text() if out.exists() else "", re.MULTILINE)
    if done.returncode or match is None:
        raise CannotCount(f"valgrind ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return int(match[1])


def _slope(command: Callable[[int], list[str]], few: int, many: int) -> float:
    """Instructions per tick between two numbers of ticks, both counted at the same time."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        low, high = pool.map(lambda ticks: _instructions(command(ticks), folder, str(ticks)), (few, many))
    return (high - low) / (many - few)


def count_tick(canned: Path) -> float:
    """Instructions of one tick of ours over a canned stretch; compiles for the generic processor first."""
    words = [sys.executable, "-m", "benchmarks.counted", str(canned)]
    warm = subprocess.run([*words, str(FEW)], capture_output=True, text=True, check=False, env=_environment())
    if warm.returncode:
        raise CannotCount(f"the counted program failed: {warm.stderr.strip()[-500:]}")
    return _slope(lambda ticks: [*words, str(ticks)], FEW, MANY)


def count_reference(channels: int) -> float:
    """Instructions of one reference tick of that many channels."""
    program = str(native.build(fast=False))
    return _slope(
        lambda ticks: [program, "count", str(channels), str(ticks), str(_SLOTS), str(WORDS)], 200, 600
    )


def calibrated_channels(wanted: float, count: Callable[[int], float] = count_reference) -> tuple[int, float]:
    """Channels of the reference tick whose count is nearest to ``wanted``, and that count.

    The count grows with every channel and jumps at each eighth (a finger) and fortieth (a hand), so the
    answer is bracketed first and then halved.
    """
    seen: dict[int, float] = {}

    def counted(channels: int) -> float:
        if channels not in seen:
            seen[channels] = count(channels)
        return seen[channels]

    low, high = 1, 8
    while counted(high) < wanted and high < 1024:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counted(middle) < wanted else (low, middle)
    best = min((low, high), key=lambda c: abs(counted(c) - wanted))
    return best, counted(best)


def judge(gate: Gate | None, tick: float, reference: float | None) -> tuple[bool, list[str]]:
    """(gate held, sentences) for counts beside the gate."""
    if gate is None:
        return True, ["no gate for this hand and motion in this tree (flexor bench kernel --accept)"]
    change = tick / gate.instructions_per_tick - 1.0
    said = [f"{tick:.0f} instructions per tick, gate {gate.instructions_per_tick:.0f}: {100 * change:+.2f} %"]
    now = versions()
    other = [f"{k} {gate.versions.get(k)} -> {now[k]}" for k in now if gate.versions.get(k) != now[k]]
    if other:
        said.append("counted with other versions than the gate: " + ", ".join(other))
    held = abs(change) <= TOLERANCE
    if not held:
        word = "more" if change > 0 else "fewer"
        said.append(f"{word} than the gate allows; if that is meant: flexor bench kernel --accept")
    if reference is not None and abs(reference / tick - 1.0) > REFERENCE_TOLERANCE:
        said.append(f"the reference tick has {reference:.0f}: calibrate it anew with --accept")
    return held, said
