"""Are runs the same, bit for bit, as before? ``python -m benchmarks.same_runs --out FILE | --against FILE``.

Every shipped motion of both hands at three sensor levels, and every kind of fault. A file holds one digest
per run and signal: an added or renamed signal hides no other. ``--against`` names the runs and signals that
differ and ends with 1. Durations on the machine's clock are left out. The digests of one machine and one set
of packages say nothing about another: make both files on the same one.
A process that compiles a law itself may round its last bits otherwise than one that loads it: another process
compiles first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from hand.hand import Hand
from hand.options import RunOptions
from runtime.session import Session
from runtime.setup import read_hand
from signals.choices import WrongChoice
from signals.records import FRAME_RECORDS
from sim.options import Fault
from telemetry.columns import Columns, FrameBuffer, counts_of

HANDS: Final = ("finger_bench", "hasy")
LEVELS: Final = ("ideal", "quantised", "full")
FAULT_MOTIONS: Final = {"finger_bench": "open_close", "hasy": "grasp"}
FAULT_S: Final = 0.6
"""When a fault strikes; its place goes round by its number."""
RECORDS: Final = ("measurement", "goal", "state", "command", "truth")
"""What a tick computes; the other records of a frame hold durations on the machine's clock."""
DIFFERENT: Final = 1


def runs(seconds: float) -> Iterator[tuple[str, RunOptions]]:
    """Name and options of every run."""
    motions = sorted(Path(str(p)).stem for p in (files("configs") / "motions").iterdir())
    for hand in HANDS:
        common: dict[str, Any] = {"hand": hand, "lockstep": True, "seconds": seconds}
        for motion in motions:
            for level in LEVELS:
                yield f"{hand} {motion} {level}", RunOptions(motion=motion, sensors=level, seed=1, **common)
        places = read_hand(RunOptions(hand=hand)).names
        for k, kind in enumerate(Fault.kinds()):
            space = Fault.space(kind)
            names = places.of(space)
            if names:
                text = f"{kind}:{names[7 * k % len(names)]}@{FAULT_S}"
                options = RunOptions(motion=FAULT_MOTIONS[hand], faults=(text,), seed=k, **common)
                yield f"{hand} {text}", options


def digests(options: RunOptions) -> dict[str, int]:
    """Check sum of every signal over all cycles of a run.

    Raises:
        ValueError: an option does not fit the hand.
    """

    def keep(hand: Hand) -> FrameBuffer:
        return FrameBuffer(Columns(counts_of(hand.model), exact=FRAME_RECORDS), 1, None)

    session = Session(options, keep)
    session.run(options.seconds or 0.0)
    session.close()
    frames = session.result().frames
    found = {}
    for record in RECORDS:
        for field in frames[record].dtype.names or ():
            found[f"{record}.{field}"] = crc32(np.ascontiguousarray(frames[record][field]).tobytes())
    return found


def main() -> int:
    """Write or compare digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.2, help="simulated length of every run")
    parser.add_argument("--out", type=Path, help="write the digests here")
    parser.add_argument("--against", type=Path, help="compare with the digests of this file")
    parser.add_argument("--compile", action="store_true", help="only compile")
    words = parser.parse_args()
    if not words.compile:
        again = [sys.executable, "-m", "benchmarks.same_runs", "--compile", "--seconds", "0.01"]
        subprocess.run(again, check=True, stdout=subprocess.DEVNULL)
    before = json.loads(words.against.read_text()) if words.against else None
    found, refused, differing, begun = {}, 0, 0, time.monotonic()
    for name, options in runs(words.seconds):
        try:
            found[name] = digests(options)
        except (WrongChoice, ValueError) as error:
            refused += 1
            found[name] = {"refused": crc32(str(error).encode())}
        if before is not None:
            old = before.get(name, {})
            unlike = [key for key in old if key in found[name] and old[key] != found[name][key]]
            unlike += [] if old else ["no such run before"]
            differing += bool(unlike)
            if unlike:
                print(f"{name}: {', '.join(unlike[:6])} and in all {len(unlike)} signals differ", flush=True)
        print(f"\r{len(found)} runs, {time.monotonic() - begun:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{len(found)} runs, {refused} of them refused" + (f", {differing} differ" if before else ""))
    if words.out:
        words.out.write_text(json.dumps(found))
    return DIFFERENT if differing else 0


if __name__ == "__main__":
    sys.exit(main())
