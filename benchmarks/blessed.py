"""Blessed logs: what was measured and asked for in a few short runs, and what was commanded then.

``python -m benchmarks.blessed`` answers them with the tick of this tree and tells what is commanded otherwise
now; it ends with 1 then. A law that is changed on purpose is blessed by ``python -m benchmarks.blessed
--bless``: the runs are recorded anew, and the commit says why. Records are carried over by the names of their
fields, so a new field asks for no blessing. The tests answer them (tests/trials/test_blessed.py).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.same_commands import Difference, record, replay
from hand.options import RunOptions

FOLDER: Final = Path(__file__).parents[1] / "tests" / "trials" / "blessed"
SAME: Final = 1e-6
"""Greatest difference of a command, as a share of full scale: above what compilers round otherwise."""
RUNS: Final[dict[str, dict[str, Any]]] = {
    "finger_open_close": {"hand": "finger_bench", "motion": "open_close", "seconds": 0.3},
    "finger_force_sine": {"hand": "finger_bench", "motion": "force_sine", "seconds": 0.15},
    "finger_tendon_breaks": {
        "hand": "finger_bench",
        "motion": "open_close",
        "seconds": 0.25,
        "faults": ("tendon-break:index_3@0.1",),
    },
    "finger_hall_jumps": {
        "hand": "finger_bench",
        "motion": "step",
        "seconds": 0.2,
        "faults": ("hall-offset:index_2@0.1",),
    },
    "hand_closes": {"hand": "hasy", "motion": "grasp", "seconds": 0.1},
    "servos_open_close": {"hand": "orca_v2", "motion": "open_close", "seconds": 0.5},
}


def options_of(name: str) -> RunOptions:
    """Options of a blessed run: full sensors, always the same noise."""
    return RunOptions(lockstep=True, sensors="full", seed=7, **RUNS[name])


def path_of(name: str) -> Path:
    """File of a blessed run."""
    return FOLDER / f"{name}.npz"


def bless(name: str) -> None:
    """Record a run with the tick of this tree; a file that holds the same is left as it is."""
    path = path_of(name)
    record(options_of(name), path)
    with np.load(path) as raw:
        parts = {part: raw[part] for part in raw.files}
    np.savez_compressed(path, **parts)


def said(name: str, row: Difference) -> str:
    """What differs, in a line; empty if nothing does."""
    if row.share <= SAME and row.other_modes == row.other_causes == 0:
        return ""
    return (
        f"{name}: commands differ by {row.share:.1e} of full scale, first or most in cycle {row.cycle}; "
        f"{row.other_modes} cycles with other modes, {row.other_causes} with other states or causes. "
        f"If that is meant: python -m benchmarks.blessed --bless"
    )


def main() -> int:
    """Answer all, or bless them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bless", action="store_true", help="record the runs anew")
    if parser.parse_args().bless:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in RUNS:
            bless(name)
            print(f"{name}: {path_of(name).stat().st_size / 1024:.0f} kB", flush=True)
        return 0
    found = [said(name, replay(options_of(name), path_of(name))) for name in RUNS]
    print("\n".join(filter(None, found)) or f"{len(found)} blessed logs: commands as they were")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
