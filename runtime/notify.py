"""The service manager's notification socket (sd_notify) without its library, and the watchdog ping.

A datagram of ``KEY=value`` lines to the socket named in ``NOTIFY_SOCKET``. Outside of a service nothing is
sent and nothing fails. The ping follows the control loop's heartbeat: a supervisor that lives beside a
dead loop must not keep the service alive.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import Final

from signals.clock import NS_S, now_ns

PINGS_PER_WATCHDOG: Final = 3
"""Pings within one watchdog time: two may be late before the service is killed."""


class Notifier:
    """Speaks to the service manager; silent where there is none.

    Args:
        environ: where ``NOTIFY_SOCKET``, ``WATCHDOG_USEC`` and ``WATCHDOG_PID`` are looked up.
    """

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._socket: socket.socket | None = None
        self._address = environ.get("NOTIFY_SOCKET", "")
        self.lost = 0
        """Messages that could not be delivered."""
        self.watchdog_s: float | None = _watchdog_s(environ)
        """The manager's watchdog time; ``None``: it does not watch this process."""
        if self._address[:1] in ("/", "@"):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)

    @property
    def active(self) -> bool:
        """A service manager listens."""
        return self._socket is not None

    def send(self, *lines: str) -> bool:
        """Send ``KEY=value`` lines in one message; False if nobody got it. Never blocks, never raises."""
        if self._socket is None:
            return False
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        try:
            self._socket.sendto("\n".join(lines).encode(), address)
        except OSError:
            self.lost += 1
            return False
        return True

    def ready(self, status: str = "") -> bool:
        """Start-up is over: the loop runs."""
        return self.send("READY=1", f"STATUS={_one_line(status)}")

    def status(self, text: str) -> bool:
        """One line for ``systemctl status``."""
        return self.send(f"STATUS={_one_line(text)}")

    def ping(self) -> bool:
        """Feed the watchdog once."""
        return self.send("WATCHDOG=1")

    def stopping(self, status: str = "") -> bool:
        """The stop sequence has begun."""
        return self.send("STOPPING=1", f"STATUS={_one_line(status)}")

    def extend(self, seconds: float) -> bool:
        """Ask for more time to start or stop (a cold compile)."""
        return self.send(f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}")

    def close(self) -> None:
        """Close the socket; safe to call twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Watchdog:
    """Pings while a heartbeat moves, at a third of the manager's watchdog time.

    Args:
        notifier: where pings go.
        clock: monotonic clock [ns].
    """

    def __init__(self, notifier: Notifier, clock: Callable[[], int] = now_ns) -> None:
        self._notifier, self._clock = notifier, clock
        watchdog_s = notifier.watchdog_s
        self._interval_ns = None if watchdog_s is None else int(watchdog_s * NS_S / PINGS_PER_WATCHDOG)
        self._beat: int | None = None
        self._next_ns = 0

    def look(self, beat: int) -> bool:
        """Compare the loop's heartbeat with the last one; True if a ping was sent.

        Args:
            beat: any number that changes while the control loop lives (its ``control_beat_ns``).
        """
        if self._interval_ns is None or beat == self._beat:
            return False
        now = self._clock()
        if now < self._next_ns:
            return False
        self._beat, self._next_ns = beat, now + self._interval_ns
        return self._notifier.ping()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _watchdog_s(environ: Mapping[str, str]) -> float | None:
    """Watchdog time of this process [s]; a time meant for another process does not count."""
    time_us = environ.get("WATCHDOG_USEC", "")
    pid = environ.get("WATCHDOG_PID", "")
    if not time_us.isdigit() or int(time_us) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(time_us) / 1e6
