"""Control loop, drivers and emulators of one hand on one stepped clock: real bytes, repeatable.

Every actor (the loop, each bus) is a thread that runs only while it holds the baton. When all of them wait
the clock moves to whatever is due next: an actor, an emulated device, or bytes on their way. Costs of the
computer are numbers here: what a wake-up and a cycle of a bus process take.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from typing import Any

from drivers.counts import WireCounts
from drivers.odrive.codec import Frame
from sim.emulators.stepped import MemoryLine

START_NS = 1_000_000_000
WAKE_NS = 30_000
"""From bytes to whoever waits for them."""
EMULATOR_NS = 40_000
"""What an emulator's own step costs."""


class Over(BaseException):
    """The play is over; ends an actor's thread."""


class Actor:
    """One thread of the play."""

    def __init__(self, work: Callable[[], None], now_ns: int) -> None:
        self.work, self.wake_ns = work, now_ns
        self.line: object = None
        self.go = threading.Semaphore(0)
        self.done = False
        self.error: BaseException | None = None


class Stage:
    """Clock and baton."""

    def __init__(self) -> None:
        self.now_ns = START_NS
        self.actors: list[Actor] = []
        self.emulators: list[Any] = []
        self.lines: dict[str, Line] = {}
        self.buses: dict[str, CanEnd] = {}
        self._back = threading.Semaphore(0)
        self._local = threading.local()
        self._later: list[tuple[int, int, Callable[[], None]]] = []
        self._count = self._free_ns = 0
        self._over = False

    def clock(self) -> int:
        return self.now_ns

    def later(self, action: Callable[[], None]) -> None:
        """Something that reaches the emulators a wake-up from now."""
        self._count += 1
        heapq.heappush(self._later, (self.now_ns + WAKE_NS, self._count, action))

    def play(self, work: Callable[[], None]) -> None:
        """A further actor."""
        actor = Actor(work, self.now_ns)
        self.actors.append(actor)
        threading.Thread(target=self._body, args=(actor,), daemon=True).start()

    def _body(self, actor: Actor) -> None:
        self._local.actor = actor
        actor.go.acquire()
        try:
            if not self._over:
                actor.work()
        except Over:
            pass
        except BaseException as error:
            actor.error = error
        actor.done = True
        self._back.release()

    def wait(self, until_ns: int, line: object = None) -> None:
        """An actor sleeps until then, or until ``line`` has something for it."""
        actor: Actor = self._local.actor
        actor.wake_ns, actor.line = max(until_ns, self.now_ns), line
        self._back.release()
        actor.go.acquire()
        actor.line = None
        if self._over:
            raise Over

    def notify(self, line: object) -> None:
        """Bytes for whoever waits on ``line``."""
        for actor in self.actors:
            if actor.line is line:
                actor.wake_ns = min(actor.wake_ns, self.now_ns + WAKE_NS)

    def run(self, proceed: Callable[[], bool]) -> None:
        """Play until ``proceed`` says no; what an actor raised goes through."""
        try:
            while proceed():
                self._step()
                for actor in self.actors:
                    if actor.error is not None:
                        raise actor.error
        finally:
            self._over = True
            for actor in self.actors:
                if not actor.done:
                    actor.go.release()
                    self._back.acquire()

    def _step(self) -> None:
        actor = min((a for a in self.actors if not a.done), key=lambda a: a.wake_ns)
        emulator = min(self.emulators, key=lambda e: e.due_ns())
        actor_ns, emulator_ns = actor.wake_ns, max(emulator.due_ns(), self._free_ns)
        bytes_ns = max(self._later[0][0], self._free_ns) if self._later else actor_ns + 1
        at_ns = min(actor_ns, emulator_ns, bytes_ns)
        self.now_ns = max(self.now_ns, at_ns)
        if bytes_ns == at_ns:
            heapq.heappop(self._later)[2]()
        elif emulator_ns == at_ns:
            emulator.on_time(self.now_ns)
        else:
            actor.go.release()
            self._back.acquire()
            return
        self._free_ns = self.now_ns + EMULATOR_NS


class Line(MemoryLine):
    """Device's end of a serial line in memory; bytes wake whoever waits for them."""

    def __init__(self, stage: Stage, link: Any) -> None:
        super().__init__()
        self.stage = stage
        stage.lines[str(link)] = self

    def write(self, data: bytes) -> None:
        super().write(data)
        self.stage.notify(self)


class Serial:
    """Driver's end of it, in the place of ``SerialPort``."""

    def __init__(self, stage: Stage, path: str, baud: int, *_: Any) -> None:
        self.stage, self.line = stage, stage.lines[path]
        self.line.rate, self.bytes_in = baud, 0
        self.device = next(e for e in stage.emulators if getattr(e, "line", None) is self.line)

    def write(self, data: bytes) -> None:
        self.line.inbox += data
        self.stage.later(lambda: self.device.readable(0, self.stage.now_ns))

    def read(self, until_ns: int, *_: Any) -> bytes:
        if not self.line.outbox and self.stage.now_ns < until_ns:
            self.stage.wait(until_ns, self.line)
        data = bytes(self.line.outbox[:4096])
        del self.line.outbox[:4096]
        self.bytes_in += len(data)
        return data

    def pause(self, until_ns: int) -> None:
        if until_ns > self.stage.now_ns:
            self.stage.wait(until_ns)

    def drain(self) -> int:
        thrown = len(self.line.outbox)
        self.line.outbox.clear()
        return thrown

    def close(self) -> None:
        pass


class CanEnd:
    """A CAN bus and its only guest, in the place of a bus server."""

    def __init__(self, stage: Stage, bus: Any) -> None:
        self.stage, self.bus = stage, bus
        self.out: list[Frame] = []

    def due_ns(self) -> int:
        return int(self.bus.due_ns())

    def on_time(self, now_ns: int) -> None:
        for frame, sender in self.bus.run(now_ns):
            if sender is not self:
                self.out.append(frame)
                self.stage.notify(self)


class Can:
    """Driver's end of a CAN bus, in the place of ``CanPort``."""

    place = "stepped"

    def __init__(self, stage: Stage, settings: Any, *_: Any) -> None:
        self.stage, self.clock, self.counts = stage, stage.clock, WireCounts()
        self.end = stage.buses[settings.channel]

    def send(self, frame: Frame) -> None:
        def put() -> None:
            self.end.bus.put(frame, self.end, self.stage.now_ns)
            self.end.on_time(self.stage.now_ns)

        self.stage.later(put)

    def receive(self, until_ns: int) -> list[Frame]:
        if not self.end.out and self.stage.now_ns < until_ns:
            self.stage.wait(until_ns, self.end)
        found, self.end.out = self.end.out, []
        return found

    def drain(self) -> None:
        self.end.out.clear()

    def close(self) -> None:
        pass


def put_on_stage(stage: Stage, monkeypatch: Any) -> None:
    """Replace what holds file descriptors: lines, ports and the bus server."""

    def server(buses: dict[str, Any], host: str, port: int, _clock: Any) -> Any:
        for name, bus in buses.items():
            stage.buses[name] = CanEnd(stage, bus)
        return _Server()

    for module in ("chain", "hallstream"):
        monkeypatch.setattr(f"sim.emulators.{module}.PtyLine", lambda link: Line(stage, link))
    for module in ("dynamixel.port", "hallbridge.stream"):
        monkeypatch.setattr(f"drivers.{module}.SerialPort", lambda *words: Serial(stage, *words))
    monkeypatch.setattr("drivers.odrive.device.CanPort", lambda *words: Can(stage, *words))
    monkeypatch.setattr("sim.emulators.wiring.BusServer", server)


class _Server:
    host, port = "127.0.0.1", 1
