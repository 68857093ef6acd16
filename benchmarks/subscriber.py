"""A subscriber of everything, as a client would be: ``python -m benchmarks.subscriber PORT [PAUSE_S]``.

Reads all topics, with a pause after each message if one is given, until SIGTERM. Then it prints how many
messages and bytes came as one JSON object. It keeps off the loop's core, as docs/real_time.md asks of every
viewer on the loop's machine.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

import zmq

from runtime.realtime import leave_loop_core


def main() -> None:
    """Entry point."""
    stopped = []

    def stop(*_: Any) -> None:
        stopped.append(True)

    signal.signal(signal.SIGTERM, stop)
    leave_loop_core()  # before zmq makes its thread, which inherits it
    context = zmq.Context()
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, b"")
    socket.setsockopt(zmq.LINGER, 0)
    socket.connect(f"tcp://127.0.0.1:{int(sys.argv[1])}")
    pause_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    counts: dict[str, int] = {}
    size = 0
    while not stopped:
        if not socket.poll(100):
            continue
        topic, payload = socket.recv_multipart()
        counts[topic.decode()] = counts.get(topic.decode(), 0) + 1
        size += len(payload)
        if pause_s:
            time.sleep(pause_s)
    print(json.dumps({"messages": counts, "bytes": size}))
    socket.close()
    context.term()


if __name__ == "__main__":
    main()
