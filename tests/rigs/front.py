"""The io process alone, with its true sockets and turns, for tests of what strangers can do to it.

``Front`` starts it as ``python -m tests.rigs.front PORT_BASE TRANSPORT [KEYS [ADDRESS]]``. It says ``ready``,
and what it cost when something is typed.
"""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import time
from typing import Any

from hand.options import RunOptions
from runtime.processes.io import IoProcess
from runtime.setup import read_hand
from telemetry.shm.segment import Segment

FILES = 1024
"""The usual limit of a login's processes."""


class Front:
    """An io process by itself."""

    def __init__(self, port_base: int, transport: str = "tcp", *more: str, **environ: str) -> None:
        self.port_base = port_base
        words = [sys.executable, "-m", "tests.rigs.front", str(port_base), transport, *more]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": "."} | environ,
        )  # fmt: skip
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> dict[str, Any]:
        """What it cost."""
        out, _ = self.process.communicate("x", timeout=20)
        return json.loads(out)

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu_s(self) -> float:
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Turn until the input ends."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    more = dict(zip(("keys", "address"), sys.argv[3:], strict=False))
    options = RunOptions(hand="finger_bench", port_base=int(sys.argv[1]), transport=sys.argv[2], **more)
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
