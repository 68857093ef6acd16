"""Several buses as one: the control process sees one ``Bus`` however a hand is wired."""

from __future__ import annotations

from collections.abc import Sequence

from drivers.errors import DriverError
from drivers.hal import Bus, BusReport, Capabilities, Forwarding, MotorSetup, Separate, reports_of
from signals.records import RecordArray


class CompositeBus:
    """Parts exchanged one after the other; implements ``drivers.hal.Bus``.

    Args:
        parts: the buses, those exchanged over a wire in this process first.
        motors: indices of the motors of every part.
    """

    def __init__(self, parts: Sequence[Bus], motors: Sequence[frozenset[int]]) -> None:
        self.parts, self._motors = tuple(parts), tuple(motors)
        self._forwarding = tuple(p for p in parts if isinstance(p, Forwarding))

    @property
    def capabilities(self) -> Capabilities:
        """Sums and common denominators of the parts."""
        all_of = [p.capabilities for p in self.parts]
        moving = [c for c in all_of if c.n_motors]
        watchdogs = [c.device_watchdog_s for c in moving]
        modes = frozenset.intersection(*(c.motor_modes for c in moving)) if moving else frozenset()
        return Capabilities(
            family="+".join(c.family for c in all_of),
            n_motors=sum(c.n_motors for c in all_of),
            n_halls=sum(c.n_halls for c in all_of),
            n_axes=sum(c.n_axes for c in all_of),
            motor_modes=modes,
            rate_max_hz=min(c.rate_max_hz for c in all_of),
            in_control_process=True,
            device_watchdog_s=max(w for w in watchdogs if w is not None)
            if watchdogs and None not in watchdogs
            else None,
            own_position_loop=bool(moving) and all(c.own_position_loop for c in moving),
        )

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Each part its own motors; bus processes work at the same time."""
        chosen = [tuple(s for s in setups if s.index in motors) for motors in self._motors]
        for part, mine in zip(self.parts, chosen, strict=True):
            if isinstance(part, Separate):
                part.begin_configure(mine)
        for part, mine in zip(self.parts, chosen, strict=True):
            if isinstance(part, Separate):
                part.end_configure()
            else:
                part.configure(mine)

    def activate(self) -> None:
        """All parts, or none: all are released if one refuses."""
        try:
            for part in self.parts:
                if isinstance(part, Separate):
                    part.begin_activate()
            for part in self.parts:
                if isinstance(part, Separate):
                    part.end_activate()
                else:
                    part.activate()
        except DriverError:
            for part in self.parts:
                part.deactivate()
            raise

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Every part fills its own channels; see ``drivers.hal.Bus``."""
        status = 0
        for part in self.parts:
            status |= part.exchange(command, measurement, now_ns)
        return status

    def forward(self, command: RecordArray) -> None:
        """To the parts with a pace of their own; see ``drivers.hal.Forwarding``."""
        for part in self._forwarding:
            part.forward(command)

    def deactivate(self) -> bool:
        """True if every part confirmed zero torque."""
        return all([part.deactivate() for part in self.parts])

    def recover(self) -> None:
        """Every part."""
        for part in self.parts:
            part.recover()

    def close(self) -> None:
        """Every part."""
        for part in self.parts:
            part.close()

    def reports(self) -> tuple[BusReport, ...]:
        """Reports of the parts."""
        return tuple(report for part in self.parts for report in reports_of(part))
