"""The collector's way: one UDP socket, one exclusive lock, waits that end in microseconds."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable

from drivers.collector.codec import MAX_DATAGRAM, Header, Kind, opened
from drivers.errors import BusLost, ReplyTimeout
from drivers.locks import BusLock, address_identity

Clock = Callable[[], int]
NS_S = 1e-9


class UdpPort:
    """A connected UDP socket.

    Args:
        host: address of the board.
        port: its UDP port.
        name: name of the bus, for messages.
        clock: monotonic nanoseconds.
        locked: take the machine-wide lock of this board.

    Raises:
        BusBusy: another process of this machine holds the board.
        BusLost: no route to the address.
    """

    def __init__(
        self, host: str, port: int, name: str, clock: Clock = time.monotonic_ns, locked: bool = True
    ) -> None:
        self.host, self.port, self.name, self.clock = host, port, name, clock
        self._lock = BusLock(address_identity(host, port), name) if locked else None
        try:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((host, port))
        except OSError as error:
            self.close()
            raise BusLost(name, f"{host}:{port}: {error.strerror or error}", "check the address") from None
        self._socket.setblocking(False)
        self._readers = [self._socket]
        self._nobody: list[socket.socket] = []

    @property
    def place(self) -> str:
        """Address as text."""
        return f"{self.host}:{self.port}"

    def send(self, datagram: bytes | memoryview) -> bool:
        """Send one datagram; False when the network refuses it. Real-time safe."""
        try:
            self._socket.send(datagram)
        except OSError:
            return False
        return True

    def receive(self, buffer: memoryview, until_ns: int) -> int:
        """Wait for a datagram until ``until_ns``; its length, 0: none came, -1: nobody listens there.

        A longer datagram than the buffer is cut by the kernel; its length then fails the check.
        """
        left_s = (until_ns - self.clock()) * NS_S
        if not select.select(self._readers, self._nobody, self._nobody, max(left_s, 0.0))[0]:
            return 0
        try:
            return self._socket.recv_into(buffer)
        except BlockingIOError:
            return 0
        except OSError:
            return -1

    def ask(self, datagram: bytes, answer: Kind, timeout_s: float, tries: int = 3) -> tuple[Header, bytes]:
        """Send until the wanted kind of answer comes; for configuring, not for the loop.

        Raises:
            ReplyTimeout: after all tries.
        """
        buffer = memoryview(bytearray(MAX_DATAGRAM + 1))
        for _ in range(tries):
            self.send(datagram)
            until_ns = self.clock() + int(timeout_s / tries * 1e9)
            while self.clock() < until_ns:
                length = self.receive(buffer, until_ns)
                if length < 0:
                    time.sleep(min(0.01, timeout_s / tries))
                    break
                found = opened(bytes(buffer[:length])) if length else None
                if found is not None and found[0].kind in (answer, Kind.REFUSED):
                    return found
        raise ReplyTimeout(f"{self.name} at {self.place}", timeout_s)

    def drain(self) -> None:
        """Throw away what waits."""
        buffer = bytearray(MAX_DATAGRAM + 1)
        for _ in range(4096):
            try:
                if not self._socket.recv_into(buffer):
                    return
            except OSError:
                return

    def close(self) -> None:
        """Close socket and lock; safe to call twice."""
        if hasattr(self, "_socket"):
            self._socket.close()
        if self._lock is not None:
            self._lock.release()
