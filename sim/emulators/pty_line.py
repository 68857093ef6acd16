"""A serial line without hardware: a pseudo-terminal behind a stable name that can be pulled out."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import termios
import time
import tty
from pathlib import Path
from typing import Final

SPEEDS: Final = {
    getattr(termios, name): int(name[1:])
    for name in dir(termios)
    if name.startswith("B") and name[1:].isdigit()
}
CHUNK: Final = 4096
TRIES: Final = 40
HOP_MAX_NS: Final = 20_000
"""More than this is the computer's and not the pty's; nothing is taken off for it."""


class PtyLine:
    """The device's end of a serial line.

    Args:
        link: stable name (as ``/dev/serial/by-id/...``), a symbolic link to the present device node.
    """

    def __init__(self, link: Path) -> None:
        self.link = link
        self._master = self._slave = -1
        self.overflows = 0
        """Writes that found nobody reading and a full buffer."""
        self.hop_in_ns = self.hop_out_ns = 0
        """Least time that this pty takes from the driver to us, and back: no wire has it.

        An emulator that takes it off what it charges never answers before the wire would be through, for no
        byte is faster than the fastest.
        """
        self.plug()

    def plug(self) -> None:
        """Put the adapter in: a new device node behind the same name."""
        self.unplug()
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.hop_in_ns, self.hop_out_ns = self._measured()
        self.link.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self.link.unlink()
        self.link.symlink_to(os.ttyname(self._slave))

    def _measured(self) -> tuple[int, int]:
        """Least times of a byte through the pty in both directions, each end read without sleeping."""
        os.set_blocking(self._slave, False)
        hops = tuple(
            min(_hop_ns(source, target) for _ in range(TRIES))
            for source, target in ((self._slave, self._master), (self._master, self._slave))
        )
        os.set_blocking(self._slave, True)
        return min(hops[0], HOP_MAX_NS), min(hops[1], HOP_MAX_NS)

    def unplug(self) -> None:
        """Pull the adapter out: both ends close, the name disappears."""
        with contextlib.suppress(FileNotFoundError):
            self.link.unlink()
        for descriptor in (self._master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)
        self._master = self._slave = -1

    @property
    def plugged(self) -> bool:
        """Whether the adapter is in."""
        return self._master >= 0

    @property
    def descriptor(self) -> int:
        """To wait for bytes of the driver."""
        return self._master

    def baud(self) -> int:
        """Baud rate that the driver has set; 0 if it is none of the table."""
        speed = termios.tcgetattr(self._master)[5]
        return SPEEDS.get(speed, 0)

    def read(self) -> bytes:
        """Bytes that the driver sent."""
        try:
            return os.read(self._master, CHUNK)
        except (BlockingIOError, OSError):
            return b""

    def write(self, data: bytes) -> None:
        """Bytes to the driver; what does not fit is lost, as on a real line."""
        if not self.plugged:
            return
        try:
            sent = os.write(self._master, data)
        except (BlockingIOError, OSError):
            sent = 0
        if sent < len(data):
            self.overflows += 1

    def readable(self) -> bool:
        """Whether bytes of the driver wait."""
        return self.plugged and bool(select.select([self._master], [], [], 0)[0])

    def close(self) -> None:
        """Pull the adapter out for good."""
        self.unplug()


def _hop_ns(source: int, target: int) -> int:
    """Time from a write of one byte to its arrival."""
    begun_ns = time.monotonic_ns()
    os.write(source, b"x")
    while True:
        try:
            os.read(target, CHUNK)
        except BlockingIOError:
            continue
        return time.monotonic_ns() - begun_ns


class OnALine:
    """An emulated device whose wire is one serial line."""

    line: PtyLine

    def descriptors(self) -> list[int]:
        """The pty, while it is plugged in."""
        return [self.line.descriptor] if self.line.plugged else []

    def unplug(self) -> None:
        """Fault hook: the adapter is pulled out; what is behind it keeps its power."""
        self.line.unplug()

    def close(self) -> None:
        """Pull the adapter out for good."""
        self.line.close()
