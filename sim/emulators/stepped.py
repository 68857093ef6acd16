"""Wires in simulated time: one thread, one clock, lines in memory between drivers and emulated devices.

A driver that waits lets the time go on: to the next thing that a device does, until its bytes are there or
its deadline has come. Nothing else takes time but what the devices charge for the wire, so a busy computer
changes nothing, and the same run gives the same bytes.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from pathlib import Path
from typing import Final

from drivers.collector.port import UdpPort
from drivers.serialport import CHUNK, Clock, SerialPort
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import Emulator
from sim.emulators.pty_line import PtyLine

BEGIN_NS: Final = 1_000_000_000
"""Drivers take a time of 0 for never."""


def _never() -> bool:
    return False


class SteppedTime:
    """The clock of all wires of a hand, and the devices on them."""

    def __init__(self) -> None:
        self.now_ns = BEGIN_NS
        self.emulators: list[Emulator] = []
        self.lines: dict[str, MemoryLine] = {}

    def clock(self) -> int:
        """Monotonic nanoseconds."""
        return self.now_ns

    def until(self, until_ns: int, ready: Callable[[], bool] = _never) -> None:
        """Let the devices live until then, or until something is ``ready``."""
        while not ready():
            emulator = min(self.emulators, key=_due_ns)
            if emulator.due_ns() > until_ns:
                self.now_ns = max(self.now_ns, until_ns)
                return
            self.now_ns = max(self.now_ns, emulator.due_ns())
            emulator.on_time(self.now_ns)

    def line(self, link: Path) -> PtyLine:
        """A device's end of a new line."""
        self.lines[str(link)] = made = MemoryLine()
        return made

    def serial(self, path: str, baud: int, name: str, readonly: bool, clock: Clock) -> SerialPort:
        """The driver's end of it."""
        line = self.lines[path]
        device = next(e for e in self.emulators if getattr(e, "line", None) is line)
        return MemoryPort(self, line, device, baud, readonly)

    def udp(self) -> type[UdpPort]:
        """The driver's socket to a board: the kernel has the bytes, this clock has the time."""
        time = self

        class Stepped(UdpPort):
            def send(self, datagram: bytes | memoryview) -> bool:
                sent = super().send(datagram)
                for board in time.emulators:
                    if isinstance(board, CollectorEmulator):
                        board.readable(-1, time.now_ns)
                return sent

            def receive(self, buffer: memoryview, until_ns: int) -> int:
                time.until(until_ns, lambda: bool(select.select(self._readers, [], [], 0.0)[0]))
                return super().receive(buffer, 0)

        return Stepped


def _due_ns(emulator: Emulator) -> int:
    return emulator.due_ns()


class MemoryLine(PtyLine):
    """Device's end of a line in memory: bytes are there at once, the device charges for the wire."""

    def __init__(self) -> None:
        self.inbox, self.outbox, self.rate = bytearray(), bytearray(), 0
        self.hop_in_ns = self.hop_out_ns = self.overflows = 0
        self._in = True

    def plug(self) -> None:
        """Put the adapter in again."""
        self._in = True

    def unplug(self) -> None:
        """Pull the adapter out."""
        self._in = False
        self.inbox.clear()

    @property
    def plugged(self) -> bool:
        """Whether the adapter is in."""
        return self._in

    @property
    def descriptor(self) -> int:
        """None: nobody waits for it."""
        return -1

    def baud(self) -> int:
        """Baud rate that the driver has set."""
        return self.rate

    def read(self) -> bytes:
        """Bytes that the driver sent."""
        data = bytes(self.inbox)
        self.inbox.clear()
        return data

    def write(self, data: bytes) -> None:
        """Bytes to the driver."""
        self.outbox += data

    def readable(self) -> bool:
        """Whether bytes of the driver wait."""
        return bool(self.inbox)


class MemoryPort(SerialPort):
    """Driver's end of a line in memory.

    Args:
        time: what goes on while the driver waits.
        line: the device's end.
        device: what hangs on it.
        baud: bits per second.
        readonly: refuse every write.
    """

    def __init__(
        self, time: SteppedTime, line: MemoryLine, device: Emulator, baud: int, readonly: bool
    ) -> None:
        self.readonly, self.clock, self.bytes_in = readonly, time.clock, 0
        self._time, self._line, self._device = time, line, device
        line.rate = baud

    def open(self) -> None:
        """It is always open."""

    def write(self, data: bytes) -> None:
        """Write everything."""
        self._line.inbox += data
        self._device.readable(-1, self._time.now_ns)

    def read(
        self, until_ns: int, spin_from_ns: int = 0, meanwhile: Callable[[], object] | None = None
    ) -> bytes:
        """What has arrived; lets time go on to the first byte or to ``until_ns``."""
        outbox = self._line.outbox
        if not outbox and self._time.now_ns < until_ns:
            self._time.until(until_ns, lambda: bool(outbox))
        data = bytes(outbox[:CHUNK])
        del outbox[:CHUNK]
        self.bytes_in += len(data)
        return data

    def pause(self, until_ns: int) -> None:
        """Let time go on until then."""
        self._time.until(until_ns)

    def close(self) -> None:
        """Nothing to release."""
