"""Keeps one bus process alive: starts it again when it dies, ends it when it hangs. Itself does nothing else.

``python -m runtime.busprocess.guardian BLOCK_FD CALLS_FD PARENT_PID SPEC_JSON``. The control process only
looks at heartbeats in shared memory; starting a process from it would cost milliseconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Final

from runtime.busprocess.block import Block, Phase
from runtime.realtime import die_with_parent

LOOK_S: Final = 0.01
HANG_NS: Final = 1_000_000_000
"""Age of the heartbeat above which a worker hangs; opening a bus may take longer and is not counted."""
HANG_LOOKS: Final = HANG_NS // round(LOOK_S * 1e9)
"""And looks of ours in a row that saw no heartbeat: a computer that stood still itself hangs nobody."""
PAUSES_S: Final = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
STOP_S: Final = 1.5


class HangWatch:
    """Whether a worker hangs, by its phase and heartbeat, asked every ``LOOK_S``."""

    def __init__(self) -> None:
        self._beat_ns = self._looks = 0

    def hung(self, phase: int, beat_ns: int, now_ns: int) -> bool:
        """True once a worker that should beat has not, for ``HANG_NS`` and ``HANG_LOOKS``."""
        if phase not in (Phase.RUNNING, Phase.READY) or beat_ns != self._beat_ns:
            self._beat_ns, self._looks = beat_ns, 0
            return False
        self._looks += 1
        return self._looks >= HANG_LOOKS and now_ns - beat_ns > HANG_NS


class Guardian:
    """One worker and its restarts."""

    def __init__(self, block: Block, arguments: list[str], descriptors: tuple[int, ...]) -> None:
        self.block, self._arguments, self._descriptors = block, arguments, descriptors
        self._deaths = 0
        self._worker = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        self.block.field("phase")[0] = Phase.STARTING
        words = [sys.executable, "-m", "runtime.busprocess.worker", *self._arguments[:2], str(os.getpid())]
        return subprocess.Popen([*words, self._arguments[2]], pass_fds=self._descriptors)

    def watch(self) -> None:
        """Until the stop flag."""
        stop, phase, beat = (self.block.field(name) for name in ("stop", "phase", "beat_ns"))
        watch = HangWatch()
        while not stop[0]:
            time.sleep(LOOK_S)
            if self._worker.poll() is not None:
                if int(phase[0]) == Phase.FAILED and not self.block.field("active")[0]:
                    return
                self._again(f"bus process ended with code {self._worker.returncode}")
            elif watch.hung(int(phase[0]), int(beat[0]), time.monotonic_ns()):
                age_s = (time.monotonic_ns() - int(beat[0])) * 1e-9
                self._worker.kill()
                self._worker.wait()
                self._again(f"bus process hung for {age_s:.1f} s")
                watch = HangWatch()
        self.end()

    def _again(self, why: str) -> None:
        self.block.say("reason", why)
        pause_s = PAUSES_S[min(self._deaths, len(PAUSES_S) - 1)]
        self._deaths += 1
        until = time.monotonic() + pause_s
        while time.monotonic() < until and not self.block.field("stop")[0]:
            time.sleep(LOOK_S)
        if not self.block.field("stop")[0]:
            self.block.field("restarts")[0] += 1
            self._worker = self._started()

    def end(self) -> None:
        """Let the worker release the motors, then make sure that it is gone."""
        try:
            self._worker.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.wait()


def main() -> None:
    """Entry point of the child process."""
    descriptor, calls, parent = (int(word) for word in sys.argv[1:4])
    block = Block(descriptor)
    stop = block.field("stop")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.__setitem__(0, 1))
    if not die_with_parent(parent, signal.SIGTERM):
        os._exit(1)
    arguments = [sys.argv[1], sys.argv[2], sys.argv[4]]
    Guardian(block, arguments, (descriptor, calls)).watch()


if __name__ == "__main__":
    main()
