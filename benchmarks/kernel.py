"""Instructions of one tick, counted by callgrind: a number that no busy neighbour can change.

Both sides are built for the generic processor of the architecture (callgrind knows no AVX-512), the C library
is told to take its generic routines too, and the count is the slope between two numbers of ticks, so that
interpreter, imports and start-up drop out. ``kernel_instructions.json`` beside this file holds the count,
and how many channels of the reference tick make as many; a change of more than 0.5 % has to be accepted.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks import lean, native
from benchmarks.by_law import Costs, costs
from benchmarks.callgrind import CannotCount as CannotCount
from benchmarks.callgrind import callgrind, environment, program_slope, total
from benchmarks.canned import TICKS
from signals.choices import WrongChoice
from telemetry.shm.ring import WORDS

TOLERANCE: Final = 0.005
REFERENCE_TOLERANCE: Final = 0.03
"""How far the reference tick's count may lie from the tick's before ``bench tick`` compares unequal work."""
NAMED: Final = 8
"""How many laws are named when a count left its gate."""
LEAST: Final = 20
"""Instructions per tick from which on a law has a line in the gate file."""
GATE: Final = Path(__file__).with_name("kernel_instructions.json")
FEW: Final = TICKS
MANY: Final = 3 * TICKS
LOOP: Final = "benchmarks.ticks.run_ticks"
_SLOTS: Final = 64
_BY_ADDRESS: Final = ("--dump-instr=yes", "--compress-pos=no", "--compress-strings=no")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The accepted count and what it was counted with."""

    hand: str
    motion: str
    instructions_per_tick: float
    reference_channels: int
    reference_instructions_per_tick: float
    versions: dict[str, str]
    p99: float = 0.0
    worst: float = 0.0
    stages: dict[str, int] = field(default_factory=dict)
    laws: dict[str, int] = field(default_factory=dict)
    lean_instructions_per_tick: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Instructions of a tick over a canned stretch: mean, p99 and worst of its cycles, and whose they are."""

    mean: float
    p99: float
    worst: float
    costs: Costs


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


def count_tick(canned: Path) -> Count:
    """Instructions of one tick of ours over a canned stretch; compiles for the generic processor first.

    Raises:
        CannotCount: valgrind is missing or the counted program failed.
    """
    words = [sys.executable, "-m", "benchmarks.counted", str(canned)]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        warm = subprocess.run(
            [*words, str(FEW)],
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        if warm.returncode:
            raise CannotCount(f"the counted program failed: {warm.stderr.strip()[-500:]}")

        def counted(ticks: int) -> tuple[int, Costs]:
            out, code = folder / f"{ticks}.callgrind", folder / f"{ticks}.o"
            callgrind([*words, str(ticks), str(code)], out, *_BY_ADDRESS)
            return total(out), costs(out, code, LOOP)

        (low, few), (high, many) = pool.map(counted, (FEW, MANY))
        each = _each(words, folder)
    return Count(
        mean=(high - low) / (MANY - FEW),
        p99=float(np.quantile(each, 0.99)),
        worst=float(np.max(each)),
        costs=many.per_tick_since(few, MANY - FEW),
    )


def _each(words: list[str], folder: Path) -> list[int]:
    """Instructions of every tick of the stretch, each less those of a call without a tick.

    Without a C compiler nothing tells callgrind where a tick ends: then all are 0.
    """
    if native.compiler() is None:
        return [0]
    out = folder / "each"
    callgrind([*words, str(FEW), str(folder / "each.o"), "--each"], out, "--dump-line=no")
    totals = [total(folder / f"each.{part}") for part in range(2, 2 * FEW + 2)]
    each = [tick - empty for empty, tick in zip(totals[::2], totals[1::2], strict=True)]
    return each[1:]  # before the first one the words before the stretch are put back


def count_reference(channels: int) -> float:
    """Instructions of one reference tick of that many channels."""
    program = str(native.build(fast=False))
    return program_slope(
        lambda ticks: [program, "count", str(channels), str(ticks), str(_SLOTS), str(WORDS)], 200, 600
    )


def count_lean(stretch: Path, length: int) -> float:
    """Instructions of one lean tick over a stretch of that many measurements (``lean.write_stretch``)."""
    program = str(lean.program())
    return program_slope(lambda ticks: [program, str(stretch), str(length), str(ticks)], length, 3 * length)


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


def judge(gate: Gate | None, tick: Count, reference: float | None) -> tuple[bool, list[str]]:
    """(gate held, sentences) for counts beside the gate."""
    if gate is None:
        return True, ["no gate for this hand and motion in this tree (flexor bench kernel --accept)"]
    held, said = True, []
    rows = (
        ("mean", tick.mean, gate.instructions_per_tick),
        ("p99", tick.p99, gate.p99),
        ("worst", tick.worst, gate.worst),
    )
    for name, now, before in rows:
        if before and now:
            change = now / before - 1.0
            held = held and abs(change) <= TOLERANCE
            said.append(f"{name} {now:.0f} instructions per tick, gate {before:.0f}: {100 * change:+.2f} %")
    now_with = versions()
    other = [f"{k} {gate.versions.get(k)} -> {v}" for k, v in now_with.items() if gate.versions.get(k) != v]
    if other:
        said.append("counted with other versions than the gate: " + ", ".join(other))
    if not held:
        word = "more" if tick.mean > gate.instructions_per_tick else "fewer"
        said.append(f"{word} than the gate allows; if that is meant: flexor bench kernel --accept")
        said += changed_laws(gate, tick)
    if reference is not None and abs(reference / tick.mean - 1.0) > REFERENCE_TOLERANCE:
        said.append(f"the reference tick has {reference:.0f}: calibrate it anew with --accept")
    return held, said


def sorted_counts(counts: Counter[str]) -> dict[str, int]:
    """Counts by name in alphabetical order, so that changes can be read; the least are left out."""
    return {name: count for name, count in sorted(counts.items()) if count >= LEAST}


def changed_laws(gate: Gate, tick: Count) -> list[str]:
    """The laws that changed most since the gate, in sentences."""
    names = set(gate.laws) | set(tick.costs.laws)
    changes = {name: tick.costs.laws.get(name, 0) - gate.laws.get(name, 0) for name in names}
    most = sorted(changes, key=lambda name: (-abs(changes[name]), name))[:NAMED]
    return [
        f"  {name}: {gate.laws.get(name, 0)} -> {tick.costs.laws.get(name, 0)} ({changes[name]:+d})"
        for name in most
        if changes[name]
    ]
