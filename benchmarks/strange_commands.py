"""Fuzzed commands: ``benchmarks/strange_commands.py [--count N] [--out FILE]``; motion, growth?

A line of JSON for every 10,000 commands. With ``--out`` the lines are kept in a file, and what is in it is
not run again: a campaign that was stopped goes on. Exit code 1 if a command got through or memory grew.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hand.options import RunOptions
from runtime.setup import read_hand
from telemetry.shm.segment import Segment
from tests.rigs.strange_commands import Target, allocated

BLOCK = 10_000
BLOCKS_GROWN_MOST = 1000
"""Blocks of Python's memory: one of a thousand commands that leaves one behind is found in a million."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    lines = words.out.read_text().splitlines() if words.out and words.out.exists() else []
    done = {json.loads(line)["seed"]: line for line in lines}  # as text: what is kept here counts as grown
    segment = Segment.create(rate_hz=100.0)
    try:
        target = Target(read_hand(RunOptions(hand="hasy")), segment)
        target.block(-1 & 0xFFFF, BLOCK // 10)  # what is made once is there
        first = allocated()
        for seed in range(-(-words.count // BLOCK)):
            if seed not in done:
                done[seed] = json.dumps(_row(target, seed, first))
                print(done[seed], flush=True)
                if words.out:
                    with words.out.open("a") as file:
                        file.write(done[seed] + "\n")
    finally:
        segment.unlink()
    return _told([json.loads(line) for line in done.values()])


def _row(target: Target, seed: int, first: int) -> dict[str, Any]:
    begun = time.process_time()
    found = target.block(seed, BLOCK)
    return {
        "seed": seed,
        "codes": dict(found.codes),
        "stops": found.stops,
        "moved": found.moved,
        "broken": target.server.broken,
        "blocks_grown": allocated() - first,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "cpu_s": round(time.process_time() - begun, 2),
    }


def _told(rows: list[dict[str, Any]]) -> int:
    moved = [text for row in rows for text in row["moved"]]
    grown = max(row["blocks_grown"] for row in rows)
    codes = sum((Counter(row["codes"]) for row in rows), Counter[str]())
    good = not moved and grown < BLOCKS_GROWN_MOST and not any(row["broken"] for row in rows)
    summary = {
        "commands": BLOCK * len(rows),
        "good": good,
        "moved": moved[:5],
        "blocks_grown": grown,
        "stops": sum(row["stops"] for row in rows),
        "codes": dict(codes.most_common()),
    }
    print(json.dumps(summary))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
