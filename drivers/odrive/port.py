"""A CAN bus through python-can: 11-bit data frames, one kind of error, our own receive loop.

python-can's Notifier dies silently on errors, some back-ends report a dead bus as silence and ``bus.state``
is not to be trusted; so liveness is judged by the drives' heartbeats (device) and loss by errors of send and
by error frames.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from typing import Final

import can

from drivers.canline import opened
from drivers.counts import WireCounts
from drivers.errors import BusLost, ReadOnly
from drivers.locks import BusLock
from drivers.odrive.codec import Frame
from drivers.odrive.settings import OdriveSettings

Clock = Callable[[], int]
ERR_BUSOFF: Final = 0x40
ENOBUFS: Final = 105
DRAIN_NS: Final = 100_000_000
MANY: Final = 4096
"""Frames taken in one go at most, so that a babbling bus cannot hold the loop."""


class CanPort:
    """One locked CAN bus.

    Args:
        settings: its table of the bus file.
        readonly: refuse every write.
        clock: monotonic nanoseconds.

    Raises:
        BusBusy: with the holder's process id.
        BusLost: the interface does not open.
    """

    def __init__(
        self, settings: OdriveSettings, readonly: bool = False, clock: Clock = time.monotonic_ns
    ) -> None:
        self.settings, self.name, self.readonly, self.clock = settings, settings.name, readonly, clock
        self.counts = WireCounts()
        self._bus: can.BusABC | None = None
        self._lock: BusLock | None = None
        logging.getLogger("can.interfaces.socketcand").setLevel(logging.ERROR)
        self.open()

    @property
    def place(self) -> str:
        """Interface as text."""
        server = f" at {self.settings.host}:{self.settings.port}" if self.settings.host else ""
        return f"{self.settings.interface} {self.settings.channel}{server}"

    def open(self) -> None:
        """Open the interface (again)."""
        self.close()
        if not self.readonly:  # who only listens disturbs nobody
            self._lock = BusLock(self.settings.identity(), f"{self.name} ({self.place})")
        try:
            arguments, bitrate = self.settings.bus_arguments(), self.settings.bitrate
            self._bus = opened(self.name, self.place, arguments, bitrate, self._filters())
        except BusLost:
            self.close()
            raise

    def _filters(self) -> list[dict[str, int | bool]] | None:
        """Filters where the kernel applies them; python-can's own cost more than they save."""
        if self.settings.interface != "socketcan":
            return None
        nodes = [d.node for d in self.settings.device]
        return [{"can_id": n << 5, "can_mask": 0x7E0, "extended": False} for n in nodes]

    def send(self, frame: Frame) -> None:
        """Queue one frame; raises BusLost when the bus is gone, drops it when the queue is full."""
        if self.readonly:
            raise ReadOnly(self.name)
        if self._bus is None:
            raise BusLost(self.name, "closed")
        try:
            self._bus.send(can.Message(arbitration_id=frame.id, data=frame.data, is_extended_id=False))
        except (OSError, can.CanError) as error:
            if getattr(error, "errno", None) == ENOBUFS or getattr(error, "error_code", None) == ENOBUFS:
                self.counts.lost += 1
                return
            raise BusLost(self.name, f"{self.place}: {error}", self._restart_hint()) from None

    def receive(self, until_ns: int) -> list[Frame]:
        """Frames that wait, at least one unless ``until_ns`` passes; raises BusLost on bus-off."""
        if self._bus is None:
            raise BusLost(self.name, "closed")
        found: list[Frame] = []
        wait_s = max((until_ns - self.clock()) * 1e-9, 0.0)
        try:
            while len(found) < MANY:
                message = self._bus.recv(wait_s)
                if message is None:
                    break
                wait_s = 0.0
                frame = self._judged(message)
                if frame is not None:
                    found.append(frame)
        except (OSError, can.CanError, ValueError) as error:
            raise BusLost(self.name, f"{self.place}: {error}", self._restart_hint()) from None
        return found

    def drain(self) -> None:
        """Throw away what waited while nobody read."""
        until_ns = self.clock() + DRAIN_NS
        while self.clock() < until_ns and self.receive(0):
            pass

    def _judged(self, message: can.Message) -> Frame | None:
        if message.is_error_frame:
            if message.arbitration_id & ERR_BUSOFF:
                raise BusLost(self.name, f"{self.place} is bus-off", self._restart_hint())
            self.counts.framing += 1
            return None
        if message.is_extended_id or message.is_remote_frame:
            self.counts.unexpected += 1
            return None
        self.counts.frames += 1
        return Frame(message.arbitration_id, bytes(message.data))

    def _restart_hint(self) -> str:
        return (
            "check wiring and termination; let the kernel restart the interface by itself: "
            f"ip link set {self.settings.channel} type can restart-ms 100"
        )

    def close(self) -> None:
        """Close interface and lock; safe to call twice."""
        if self._bus is not None:
            with contextlib.suppress(OSError, can.CanError):
                self._bus.shutdown()
            self._bus = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
