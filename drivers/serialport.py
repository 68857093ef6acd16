"""A serial line: exclusive, bounded in time, one kind of error, countable, with an injected clock.

pyserial opens and sets up the line; bytes move by ``os.read`` and ``os.write`` on its descriptor, with waits
of microsecond resolution. Low latency, modem lines and the like are optional: a pty has none of them.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import time
from collections.abc import Callable

import serial

from drivers.errors import BusLost, ReadOnly
from drivers.locks import BusLock, serial_identity

Clock = Callable[[], int]
LineMaker = Callable[[str, int, str, bool, Clock], "SerialPort"]
"""Makes the line behind a path: (path, baud, name, readonly, clock); for lines that no kernel has."""
CHUNK = 4096
SPIN_MAX_NS = 500_000


class SerialPort:
    """One locked serial line.

    Args:
        path: device node; give ``/dev/serial/by-id/...``, which survives replugging.
        baud: bits per second.
        name: name of the bus, for messages.
        readonly: refuse every write.
        clock: monotonic nanoseconds.
        write_timeout_s: longest wait for a full output buffer.

    Raises:
        BusBusy: with the holder's process id.
        BusLost: the node is missing or cannot be opened.
    """

    def __init__(
        self,
        path: str,
        baud: int,
        name: str,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        write_timeout_s: float = 0.05,
    ) -> None:
        self.path, self.baud, self.name, self.readonly, self.clock = path, baud, name, readonly, clock
        self._write_timeout_s = write_timeout_s
        self.bytes_in = 0
        self._lock: BusLock | None = None
        self._serial: serial.Serial | None = None
        self._fd = -1
        self.open()

    def open(self) -> None:
        """Open the line (again); the lock is taken for the device behind the path."""
        self.close()
        if not os.path.exists(self.path):
            raise BusLost(self.name, f"no device {self.path}", "plug it in; flexor scan lists what is there")
        self._lock = BusLock(serial_identity(self.path), f"{self.name} ({self.path})")
        try:
            self._serial = serial.Serial(self.path, self.baud, timeout=0, write_timeout=0, exclusive=True)
            self._fd = self._serial.fileno()
            self._tell_nothing_from_the_end()
        except (OSError, ValueError, termios.error) as error:
            self.close()
            hint = "add yourself to its group (dialout), see flexor doctor"
            if not isinstance(error, PermissionError) and "ermission" not in str(error):
                hint = "check cable and baud rate"
            raise BusLost(self.name, f"cannot open {self.path}: {error}", hint) from None
        with contextlib.suppress(OSError, ValueError, AttributeError, NotImplementedError):
            self._serial.set_low_latency_mode(True)

    def _tell_nothing_from_the_end(self) -> None:
        """A read that finds nothing says so; with pyserial's VMIN of 0 it would look like a hang-up."""
        os.set_blocking(self._fd, False)
        attributes = termios.tcgetattr(self._fd)
        attributes[6][termios.VMIN] = 1
        termios.tcsetattr(self._fd, termios.TCSANOW, attributes)

    def write(self, data: bytes) -> None:
        """Write everything, or raise BusLost within the write time-out."""
        if self.readonly:
            raise ReadOnly(self.name)
        sent = 0
        until_ns = self.clock() + int(self._write_timeout_s * 1e9)
        while sent < len(data):
            try:
                sent += os.write(self._fd, data[sent:] if sent else data)
            except BlockingIOError:
                left_s = (until_ns - self.clock()) * 1e-9
                if left_s <= 0.0 or not select.select([], [self._fd], [], left_s)[1]:
                    raise self._lost("does not take bytes", "the adapter hangs; replug it") from None
            except (OSError, ValueError) as error:
                raise self._lost(str(error)) from None

    def read(
        self, until_ns: int, spin_from_ns: int = 0, meanwhile: Callable[[], object] | None = None
    ) -> bytes:
        """What has arrived; waits for the first byte until ``until_ns``; empty if none came.

        Args:
            until_ns: monotonic time at which the wait ends; 0: no wait, and one system call less.
            spin_from_ns: from this time on look without sleeping for at most 0.5 ms; 0: never.
            meanwhile: called once when the looking begins, if nothing has come yet.
        """
        try:
            if until_ns and not self._ready(until_ns, spin_from_ns, meanwhile):
                return b""
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return b""
        except (OSError, ValueError) as error:
            raise self._lost(str(error)) from None
        if not data:
            raise self._lost("end of file")
        self.bytes_in += len(data)
        return data

    def pause(self, until_ns: int) -> None:
        """Sleep until then, bytes or not."""
        left_ns = until_ns - self.clock()
        if left_ns > 0:
            time.sleep(left_ns * 1e-9)

    def _ready(self, until_ns: int, spin_from_ns: int, meanwhile: Callable[[], object] | None) -> bool:
        """Sleep until ``spin_from_ns``, look again and again for a short while, sleep on: a byte is there."""
        clock = self.clock
        if spin_from_ns:
            if spin_from_ns > clock() and self._wait(spin_from_ns):
                return True
            if meanwhile is not None:
                meanwhile()
            end_ns = min(until_ns, spin_from_ns + SPIN_MAX_NS)
            while clock() < end_ns:
                if select.select([self._fd], [], [], 0)[0]:
                    return True
        return self._wait(until_ns)

    def _wait(self, until_ns: int) -> bool:
        """Sleep until the first byte, at most until then; whether there is one."""
        left_s = (until_ns - self.clock()) * 1e-9
        return bool(select.select([self._fd], [], [], max(left_s, 0.0))[0])

    def drain(self) -> int:
        """Throw away what waits; returns how many bytes."""
        thrown = 0
        while True:
            data = self.read(0)
            thrown += len(data)
            if len(data) < CHUNK:
                return thrown

    def _lost(self, reason: str, hint: str = "check cable and adapter") -> BusLost:
        return BusLost(self.name, f"{self.path}: {reason}", hint)

    def close(self) -> None:
        """Close line and lock; safe to call twice."""
        if self._serial is not None:
            with contextlib.suppress(OSError):
                self._serial.close()
            self._serial = None
        self._fd = -1
        if self._lock is not None:
            self._lock.release()
            self._lock = None
