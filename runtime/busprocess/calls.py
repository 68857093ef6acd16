"""Life-cycle calls from the control process to a bus process: one JSON line there, one back.

Errors of drivers travel as class name and text and are raised again on the other side as ``RemoteError`` or
as the driver error of the same meaning.
"""

from __future__ import annotations

import json
import select
import socket
from dataclasses import asdict
from typing import Any, Final

from drivers import errors
from drivers.hal import MotorSetup
from signals.modes import MotorMode
from signals.plugins import PluginError

LINE_MAX: Final = 1 << 20


class RemoteError(errors.DriverError):
    """A driver error that was raised in a bus process; ``kind`` is its class there."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        Exception.__init__(self, text)


class RemoteBusy(RemoteError, errors.BusBusy):
    """``BusBusy`` in a bus process."""

    def __init__(self, kind: str, text: str) -> None:
        RemoteError.__init__(self, kind, text)


class RemoteLost(RemoteError, errors.BusLost):
    """``BusLost`` in a bus process."""

    def __init__(self, kind: str, text: str) -> None:
        RemoteError.__init__(self, kind, text)


class RemoteRefused(RemoteError, errors.ConfigureError):
    """``ConfigureError`` in a bus process."""

    def __init__(self, kind: str, text: str) -> None:
        RemoteError.__init__(self, kind, text)


class RemoteForeign(RemoteError, PluginError):
    """An error in somebody else's driver, in a bus process."""


_KINDS: Final[dict[str, type[RemoteError]]] = {
    "BusBusy": RemoteBusy,
    "BusLost": RemoteLost,
    "ConfigureError": RemoteRefused,
    "ForeignDriver": RemoteForeign,
}


def raised(kind: str, text: str) -> RemoteError:
    """The exception for an answer that carries an error."""
    return _KINDS.get(kind, RemoteError)(kind, text)


def setups_json(setups: tuple[MotorSetup, ...]) -> str:
    """Set-ups as text."""
    return json.dumps([asdict(s) | {"mode": int(s.mode)} for s in setups])


def setups_of(text: str) -> tuple[MotorSetup, ...]:
    """Set-ups from text."""
    return tuple(MotorSetup(**(raw | {"mode": MotorMode(raw["mode"])})) for raw in json.loads(text or "[]"))


class Line:
    """One end of the socket pair."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._end.setblocking(False)
        self._rest = b""

    def fileno(self) -> int:
        """For select."""
        return self._end.fileno()

    def send(self, message: dict[str, Any]) -> None:
        """Send one line (waits at most a second for room)."""
        data = json.dumps(message).encode() + b"\n"
        self._end.settimeout(1.0)
        try:
            self._end.sendall(data)
        finally:
            self._end.setblocking(False)

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """One line, or None: nothing came in time, or the other end is gone."""
        while b"\n" not in self._rest:
            if not select.select([self._end], [], [], timeout_s)[0]:
                return None
            try:
                data = self._end.recv(65536)
            except (BlockingIOError, OSError):
                return None
            if not data or len(self._rest) > LINE_MAX:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Close this end."""
        self._end.close()
