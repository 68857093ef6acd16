"""What stands between the loop and a bus and changes one thing: all else goes on to the bus."""

from __future__ import annotations

from drivers.hal import Bus, BusReport, Capabilities, Forwarding, MotorSetup, reports_of
from signals.records import RecordArray


class Passing:
    """A bus in front of another one; implements ``drivers.hal.Bus``.

    Args:
        bus: the devices.
    """

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self._forwarding = bus if isinstance(bus, Forwarding) else None

    @property
    def capabilities(self) -> Capabilities:
        """Of the bus."""
        return self.bus.capabilities

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Of the bus."""
        self.bus.configure(setups)

    def activate(self) -> None:
        """Of the bus."""
        self.bus.activate()

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Of the bus."""
        return self.bus.exchange(command, measurement, now_ns)

    def forward(self, command: RecordArray) -> None:
        """Of the bus, if it has a pace of its own."""
        if self._forwarding is not None:
            self._forwarding.forward(command)

    def deactivate(self) -> bool:
        """Of the bus."""
        return self.bus.deactivate()

    def recover(self) -> None:
        """Of the bus."""
        self.bus.recover()

    def close(self) -> None:
        """Of the bus."""
        self.bus.close()

    def reports(self) -> tuple[BusReport, ...]:
        """Of the bus, or of its parts."""
        return reports_of(self.bus)
