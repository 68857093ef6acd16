"""The lean reference tick in C beside ours: the same canned stretch and commands, as little work as may be.

The C compiler gets the runtime's own records: ``records.h`` is made from their dtypes. That it is no lazy
reference is shown by its commands (``difference``), that it is no fat one by its count (``MOST``).
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import native
from benchmarks.canned import Canned, Ticker, block_of
from benchmarks.ratios import Ratio, paired
from controllers.memory import CONTROLLER_MEMORY
from estimators.memory import ESTIMATOR_MEMORY
from guard.memory import GUARD_MEMORY
from signals.modes import FingerKind, MotorMode, TendonKind
from signals.records import COMMAND, GOAL, MEASUREMENT, MODEL, STATE, RecordArray

MOST: Final = 60_000
"""Instructions of a lean tick at most, for the reference hand."""
SAME: Final = 1e-9
"""Greatest difference of its commands from ours, as a share of full scale."""
RATIO_BOUND: Final = 2.0
"""Instructions of our tick over those of the lean one at most."""
TIME_BOUND: Final = 2.2
"""The same of their times, hot."""
ROUNDS: Final = 12
_BLOCK: Final = 256
_RECORDS: Final[dict[str, np.dtype[Any]]] = {
    "model": MODEL,
    "measurement": MEASUREMENT,
    "goal": GOAL,
    "estimator": ESTIMATOR_MEMORY,
    "controller": CONTROLLER_MEMORY,
    "guard": GUARD_MEMORY,
    "state": STATE,
    "command": COMMAND,
}
_C_TYPES: Final = {"f8": "double", "i8": "int64_t", "u8": "uint64_t", "u4": "uint32_t", "i4": "int32_t"}
_CONSTANTS: Final = {
    "TENSEGRITY": int(FingerKind.TENSEGRITY_BASE),
    "INSERTION": int(TendonKind.INSERTION_POINTS),
    "MOTOR_CURRENT": int(MotorMode.CURRENT),
}


def header() -> str:
    """C structures of the records, the fields at the same places."""
    lines = ["#include <stddef.h>", "#include <stdint.h>"]
    lines += [f"#define {name} {value}" for name, value in _CONSTANTS.items()]
    for record, dtype in _RECORDS.items():
        lines.append(f"struct {record} {{")
        for name in dtype.names or ():
            base, shape = dtype[name].base, dtype[name].shape
            lines.append(f"    {_C_TYPES[base.str[1:]]} {name}{''.join(f'[{n}]' for n in shape)};")
        lines.append("};")
        places = {name: place[1] for name, place in (dtype.fields or {}).items()}
        lines += [f"_Static_assert(offsetof(struct {record}, {n}) == {at});" for n, at in places.items()]
        lines.append(f"_Static_assert(sizeof(struct {record}) == {dtype.itemsize});")
    return "\n".join(lines) + "\n"


class Lean:
    """The lean tick over a canned stretch.

    Args:
        canned: the stretch.
        fast: for this processor; else for any of its kind.
    """

    def __init__(self, canned: Canned, *, fast: bool = True) -> None:
        lib = ctypes.CDLL(str(native.build_with("lean.c", {"records.h": header()}, fast=fast)))
        lib.lean_new.restype, lib.lean_new.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        lib.lean_run.restype = ctypes.c_int64
        lib.lean_run.argtypes = [ctypes.c_void_p] * 9 + [ctypes.c_int64] * 2
        self._lib, self.canned = lib, canned
        self._plan = lib.lean_new(canned.model.ctypes.data)
        self.before = block_of(canned.before)
        self.unhealthy = 0

    def run(self, ticks: int) -> RecordArray:
        """Commands of ``ticks`` ticks from the beginning of the stretch on, shape (ticks,)."""
        views = {name: self.before[name].copy() for name in ("estimator", "controller", "guard")}
        frame = self.before["frame"]
        views |= {name: np.ascontiguousarray(frame[name]).copy() for name in ("state", "command")}
        commands = np.zeros(ticks, dtype=COMMAND)
        order = ("estimator", "controller", "guard", "state")
        self.unhealthy = self._lib.lean_run(
            self._plan,
            self.canned.model.ctypes.data,
            self.canned.measurements.ctypes.data,
            self.canned.goals.ctypes.data,
            *(views[name].ctypes.data for name in order),
            commands.ctypes.data,
            len(self.canned.measurements),
            ticks,
        )
        return commands


def write_stretch(canned: Canned, path: Path) -> None:
    """The stretch as the lean program reads it: records one after the other, as bytes."""
    before = block_of(canned.before)
    parts = [canned.model, *(before[name] for name in ("estimator", "controller", "guard"))]
    parts += [np.ascontiguousarray(before["frame"]["state"]), canned.measurements, canned.goals]
    path.write_bytes(b"".join(part.tobytes() for part in parts))


def program(*, fast: bool = False) -> Path:
    """The lean tick as a program: ``lean STRETCH LENGTH TICKS``."""
    return native.build_with("lean.c", {"records.h": header()}, fast=fast, shared=False)


def time_beside(canned: Path) -> Ratio | None:
    """Time of our tick over the lean one's, hot, in interleaved rounds of a process of its own.

    Raises:
        RuntimeError: the process failed; carries the end of what it said.
    """
    words = [sys.executable, "-m", "benchmarks.lean", str(canned)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the measuring process failed: {done.stderr.strip()[-500:]}")
    seen = json.loads(done.stdout)
    return paired("tick / lean tick, hot", seen["ours"], seen["lean"], TIME_BOUND)


def main() -> None:
    """Medians [ns] of the rounds of both, as one JSON object."""
    canned = Canned.load(Path(sys.argv[1]))
    ticker, lean = Ticker(canned), Lean(canned)
    ticker.compiled(_BLOCK)
    lean.run(_BLOCK)
    seen: dict[str, list[float]] = {"ours": [], "lean": []}
    for _ in range(ROUNDS):
        for name, run in (("ours", ticker.compiled), ("lean", lean.run)):
            begun = time.thread_time_ns()  # a neighbour that takes the core does not count
            run(_BLOCK)
            seen[name].append((time.thread_time_ns() - begun) / _BLOCK)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
