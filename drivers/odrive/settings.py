"""Bus-file table of ODrive axes on one CAN bus."""

from __future__ import annotations

import struct
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from drivers.family import FROM_HAND, BusSettings
from drivers.locks import can_identity
from drivers.motors import MotorDevice, numbered
from drivers.odrive.codec import NODE_MAX
from signals.names import HandNames

Endpoint = Literal["current_soft_max", "vel_limit", "watchdog_timeout", "enable_watchdog"]
FORMATS: Final[dict[str, str]] = {
    "current_soft_max": "<f",
    "vel_limit": "<f",
    "watchdog_timeout": "<f",
    "enable_watchdog": "<?",
}


def endpoint_bytes(name: str, value: float) -> bytes:
    """Value of an endpoint as it goes over the wire."""
    return struct.pack(FORMATS[name], value)


class OdriveDevice(MotorDevice):
    """``[[bus.device]]``: one axis."""

    node: Annotated[int, Field(ge=0, le=NODE_MAX)] = FROM_HAND
    """Left out: the id that the hand file gives the motor."""
    torque_constant_nm_a: Annotated[float, Field(gt=0.0)]
    """Torque of the motor shaft per ampere, as configured in the drive."""


class OdriveSettings(BusSettings):
    """``[[bus]]`` with ``family = "odrive"``."""

    family: Literal["odrive"]
    interface: Annotated[str, Field(min_length=1)] = "socketcan"
    """Back-end of python-can."""
    channel: Annotated[str, Field(min_length=1)]
    bitrate: Annotated[int, Field(gt=0)] = 1_000_000
    """Rate of the bus, for the computed wire limit; the interface itself sets it."""
    host: str | None = None
    """Server, with ``interface = "socketcand"``."""
    port: int | None = None
    """Its port."""
    firmware: Literal["0.5", "0.6"] = "0.6"
    heartbeat_ms: Annotated[int, Field(ge=10, le=1000)] = 100
    feedback_ms: Annotated[int, Field(ge=1, le=100)] = 10
    """Period of the encoder messages, as configured in the drives."""
    watchdog_ms: Annotated[float, Field(ge=1.0, le=1000.0)] = 50.0
    endpoints: dict[Endpoint, Annotated[int, Field(ge=0, le=65535)]] = {}
    """Numbers from the firmware's own flat_endpoints.json; with them limits and watchdog are read back."""
    without_watchdog: bool = False
    """True: drive axes whose own watchdog is not proven; told at every start and in health."""
    device: Annotated[tuple[OdriveDevice, ...], Field(min_length=1)]

    @property
    def reads_watchdog(self) -> bool:
        """Whether the axes' watchdog can be written and read back."""
        return "watchdog_timeout" in self.endpoints

    def watchdog_values(self) -> dict[int, bytes]:
        """Endpoint -> its value as it goes over the wire, for the watchdog."""
        if not self.reads_watchdog:
            return {}
        values = {"watchdog_timeout": self.watchdog_ms * 1e-3, "enable_watchdog": True}
        return {self.endpoints[n]: endpoint_bytes(n, v) for n, v in values.items()}  # type: ignore[index]

    def unproven(self, names: HandNames) -> tuple[str, ...]:
        """The watchdog, only where the file asks for it; limits that cannot be read back."""
        found = []
        if self.without_watchdog:
            found.append("without_watchdog: the last torque stays on when this computer or the cable is gone")
        if "current_soft_max" not in self.endpoints:
            found.append("current limits are not read back (no endpoint current_soft_max)")
        return tuple(found)

    def identity(self) -> str:
        """Interface and channel; a server's address belongs to it."""
        place = self.channel if self.host is None else f"{self.channel}-{self.host}-{self.port}"
        return can_identity(self.interface, place)

    def bus_arguments(self) -> dict[str, Any]:
        """Arguments of ``can.Bus``."""
        arguments: dict[str, Any] = {"interface": self.interface, "channel": self.channel}
        if self.interface == "socketcand":
            arguments |= {"host": self.host, "port": self.port, "tcp_tune": True}
        elif self.interface == "udp_multicast":
            arguments["hop_limit"] = 0
        return arguments

    def fitted(self, names: HandNames) -> Self:
        """With the hand file's ids where a device has none."""
        return self.with_values(device=numbered(self.device, "node", names))

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors on the bus."""
        return tuple(d.motor for d in self.device)

    def conflicts(self) -> tuple[str, ...]:
        """Nodes used twice; a server without an address."""
        found = []
        for d in self.device:
            twin = next((e for e in self.device if e.node == d.node and e is not d), None)
            if twin is not None and d.node != FROM_HAND and d.motor < twin.motor:
                found.append(f"node {d.node} is given to {d.motor!r} and to {twin.motor!r}")
        if self.interface == "socketcand" and (self.host is None or self.port is None):
            found.append("interface socketcand needs host and port")
        if ("watchdog_timeout" in self.endpoints) != ("enable_watchdog" in self.endpoints):
            found.append("endpoints: watchdog_timeout and enable_watchdog go together")
        if self.without_watchdog and self.reads_watchdog:
            found.append("without_watchdog, and endpoints that switch the watchdog on; leave one of them out")
        return tuple(found)
