"""The io process alone, with its true sockets and turns, for tests of what strangers can do to it.

``python -m tests.runtime.front PORT_BASE TRANSPORT`` says ``ready``, and its costs when something is typed.
"""

from __future__ import annotations

import json
import resource
import select
import sys
import time

from runtime.options import RunOptions
from runtime.processes.io import IoProcess
from runtime.setup import read_hand
from runtime.telemetry.segment import Segment

FILES = 1024
"""The usual limit of a login's processes."""


def main() -> None:
    """Turn until the input ends."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    options = RunOptions(hand="finger_bench", port_base=int(sys.argv[1]), transport=sys.argv[2])
    segment = Segment.create(rate_hz=100.0)
    try:
        io = IoProcess(segment, options, read_hand(options))
        longest, before = 0.0, resource.getrusage(resource.RUSAGE_SELF)
        print("ready", flush=True)
        begun = last = time.monotonic()
        while not select.select([sys.stdin], [], [], 0.0)[0]:
            io.turn()
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        after = resource.getrusage(resource.RUSAGE_SELF)
        cost = {
            "longest_turn_s": longest,
            "grown_mb": (after.ru_maxrss - before.ru_maxrss) / 1024,
            "load": (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / (last - begun),
            "turned_away": io.reception.door.turned_away,
            "events": [event["text"] for event in io.publisher.recent],
        }
        io.publisher.close()
        io.reception.close()
        io.context.term()
        print(json.dumps(cost), flush=True)
    finally:
        segment.unlink()


if __name__ == "__main__":
    main()
