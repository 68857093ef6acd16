"""How a place is written on the command line: serial line, CAN bus or board."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from drivers.errors import DriverError
from drivers.locks import address_identity, can_identity, serial_identity

DEFAULT_BAUD = 1_000_000
UDP_PORT = 4038


class PlaceError(DriverError, ValueError):
    """A place that cannot be read; says how to write one."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(
            f"place {text!r}: write /dev/ttyUSB0@1000000, can:socketcan:can0, "
            "can:socketcand:can0:127.0.0.1:28600 or udp:192.168.7.2:4038"
        )


@dataclass(frozen=True, slots=True)
class SerialPlace:
    """A serial line."""

    path: str
    baud: int

    @property
    def identity(self) -> str:
        """Name of the lock."""
        return serial_identity(self.path)

    def __str__(self) -> str:
        return f"{self.path}@{self.baud}"


@dataclass(frozen=True, slots=True)
class CanPlace:
    """A CAN bus of python-can."""

    interface: str
    channel: str
    host: str | None = None
    port: int | None = None

    @property
    def identity(self) -> str:
        """Name of the lock."""
        place = self.channel if self.host is None else f"{self.channel}-{self.host}-{self.port}"
        return can_identity(self.interface, place)

    def arguments(self) -> dict[str, Any]:
        """Arguments of ``can.Bus``."""
        arguments: dict[str, Any] = {"interface": self.interface, "channel": self.channel}
        if self.host is not None:
            arguments |= {"host": self.host, "port": self.port}
        return arguments

    def __str__(self) -> str:
        server = f":{self.host}:{self.port}" if self.host is not None else ""
        return f"can:{self.interface}:{self.channel}{server}"


@dataclass(frozen=True, slots=True)
class UdpPlace:
    """A board."""

    host: str
    port: int

    @property
    def identity(self) -> str:
        """Name of the lock."""
        return address_identity(self.host, self.port)

    def __str__(self) -> str:
        return f"udp:{self.host}:{self.port}"


Place = SerialPlace | CanPlace | UdpPlace


def parsed(text: str) -> Place:
    """A place from text.

    Raises:
        PlaceError: saying how places are written.
    """
    if found := re.fullmatch(r"can:([\w-]+):([\w.-]+)(?::([\w.-]+):(\d+))?", text):
        interface, channel, host, port = found.groups()
        return CanPlace(interface, channel, host, int(port) if port else None)
    if found := re.fullmatch(r"udp:([\w.-]+)(?::(\d+))?", text):
        return UdpPlace(found[1], int(found[2] or UDP_PORT))
    if found := re.fullmatch(r"(/[^@]+)(?:@(\d+))?", text):
        return SerialPlace(found[1], int(found[2] or DEFAULT_BAUD))
    raise PlaceError(text)
