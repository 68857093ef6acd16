"""One thread serves many emulated devices: waits for bytes and for due times, with microsecond resolution."""

from __future__ import annotations

import ctypes
import queue
import select
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

Clock = Callable[[], int]
NEVER: Final = 1 << 62
PR_SET_TIMERSLACK: Final = 29
LONGEST_S: Final = 0.02


class Emulator(Protocol):
    """A device, or a bus full of devices."""

    def descriptors(self) -> list[int]:
        """File descriptors to wait for; may change between calls."""

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Bytes wait on a descriptor."""

    def due_ns(self) -> int:
        """When ``on_time`` wants to be called next; ``NEVER`` if not."""

    def on_time(self, now_ns: int) -> None:
        """A due time has come."""

    def close(self) -> None:
        """Release everything; safe to call twice."""


def sharp_timers() -> None:
    """Ask the kernel not to round this thread's waits (50 us by default)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)


class EmulatorLoop:
    """Runs emulators until stopped.

    Args:
        emulators: what to serve.
        spin_ns: how long before a due time, and after anything that happened, to spin in place of sleeping:
            no wake-up then stands between the wire and its emulator (sharper, costs the core).
        clock: monotonic nanoseconds.
    """

    def __init__(self, emulators: list[Emulator], spin_ns: int = 0, clock: Clock = time.monotonic_ns) -> None:
        self.emulators, self._spin_ns, self._clock = emulators, spin_ns, clock
        self.stopping = False
        """True ends ``run``; no lock, for a signal may come while another one's handler runs."""
        self._actions: queue.SimpleQueue[tuple[Callable[[], None], threading.Event]] = queue.SimpleQueue()
        self.frozen = False
        """Fault hook: True stops serving without closing anything."""
        self.latest_ns = 0
        """The latest that anything came: a driver sees a silent device where this computer paused."""
        self._busy_ns = 0
        """When something happened last."""
        self._wanted: list[int] = []
        self._owners: dict[int, Emulator] = {}
        self._poll = select.poll()

    def do(self, action: Callable[[], None]) -> None:
        """Have something done between two steps (a fault hook), and wait until it is done."""
        done = threading.Event()
        self._actions.put((action, done))
        done.wait(10.0)

    def run(self) -> None:
        """Serve until ``stopping``."""
        sharp_timers()
        self.step()
        self.latest_ns = 0  # what was due before anybody served
        while not self.stopping:
            if self.frozen:
                time.sleep(0.001)
                continue
            self.step()

    def step(self) -> None:
        """One wait and everything that it brought."""
        while not self._actions.empty():
            action, done = self._actions.get()
            action()
            done.set()
        dues = [e.due_ns() for e in self.emulators]
        due_ns = min(dues, default=NEVER)
        ready = self._waited(due_ns)
        now_ns = self._clock()
        self.latest_ns = max(self.latest_ns, now_ns - due_ns)
        for descriptor in ready:
            self._owners[descriptor].readable(descriptor, now_ns)
        if ready:
            now_ns = self._busy_ns = self._clock()
            dues = [e.due_ns() for e in self.emulators]
        for emulator, due_ns in zip(self.emulators, dues, strict=True):
            if due_ns <= now_ns:
                self._busy_ns = now_ns
                emulator.on_time(now_ns)

    def _waited(self, due_ns: int) -> list[int]:
        """Descriptors with bytes; nothing if ``due_ns`` came first."""
        wanted = [d for e in self.emulators for d in e.descriptors()]
        if wanted != self._wanted:
            self._wanted = wanted
            self._owners = {d: e for e in self.emulators for d in e.descriptors()}
            self._poll = select.poll()
            for d in wanted:
                self._poll.register(d, select.POLLIN)
        poll, clock, spin_ns = self._poll.poll, self._clock, self._spin_ns
        now_ns = clock()
        while spin_ns and now_ns < due_ns and now_ns - self._busy_ns < spin_ns:
            if found := poll(0):
                return [d for d, _ in found]
            now_ns = clock()
        wait_s = min(max((due_ns - spin_ns - now_ns) * 1e-9, 0.0), LONGEST_S)
        try:
            ready = select.select(wanted, [], [], wait_s)[0]
        except (OSError, ValueError):
            return []
        now_ns = clock()
        while not ready and 0 < due_ns - now_ns <= spin_ns:
            ready = [d for d, _ in poll(0)]
            now_ns = clock()
        return ready

    def close(self) -> None:
        """Stop and release everything."""
        self.stopping = True
        for emulator in self.emulators:
            emulator.close()


class EmulatorThread:
    """A loop in a thread of this process, for tests: ``with EmulatorThread([...]):``."""

    def __init__(self, emulators: list[Emulator], spin_ns: int = 0) -> None:
        self.loop = EmulatorLoop(emulators, spin_ns)
        self._thread = threading.Thread(target=self.loop.run, name="emulators", daemon=True)

    def __enter__(self) -> EmulatorThread:
        self._thread.start()
        return self

    def do(self, action: Callable[[], None]) -> None:
        """Have a fault hook done in the thread of the emulators."""
        self.loop.do(action)

    def __exit__(self, *_: object) -> None:
        self.loop.stopping = True
        self._thread.join(5.0)
        self.loop.close()
