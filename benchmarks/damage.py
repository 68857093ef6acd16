"""Every codec on damaged traffic: ``benchmarks/damage.py [--frames N] [--share S] [--seed K] [CODEC ...]``.

One JSON object per codec: damaged frames, wrong values accepted, sound frames lost, most bytes held, longest
call. Exit code 1 if a law is broken: no wrong value, at most one sound frame lost per damaged one (none where
frames come one by one), nothing held beyond one frame. A checksum of 16 bits lets one of 65536 badly damaged
frames pass: a million frames with 1 % damaged meet that once in several runs, by chance and not by a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.rigs.streams import PACKETS, STREAMS, judged


def main() -> int:
    codecs = STREAMS | PACKETS
    parser = argparse.ArgumentParser()
    parser.add_argument("codec", nargs="*", help=", ".join(codecs))
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=8)
    words = parser.parse_args()
    unknown = [c for c in words.codec if c not in codecs]
    if unknown:
        parser.error(f"no codec {unknown[0]!r}; there are {', '.join(codecs)}")
    broken = 0
    for name in words.codec or codecs:
        begun = time.process_time()
        found = judged(name, words.frames, words.seed, words.share)
        lost_max = found.bad if name in STREAMS else 0
        good = not found.wrong and found.lost <= lost_max and found.held <= codecs[name].limit
        broken += not good
        cpu_s = round(time.process_time() - begun, 1)
        print(json.dumps({"codec": name, "good": good} | asdict(found) | {"cpu_s": cpu_s}), flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
