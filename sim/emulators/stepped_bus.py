"""A simulated hand behind emulated devices in simulated time: real drivers, real bytes, no computer between.

Streams are started before motors are switched on, whose watchdogs run from then on. Drivers that keep their
own pace go on without a pause, one after the other, as one worker would: a cycle sees what the last exchange
that is through has brought, and its command leaves with the next one. The others are exchanged in the cycle.
The plant moves in the steps in which the devices look at it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.composite import CompositeBus
from drivers.dynamixel.device import DynamixelBus
from drivers.dynamixel.settings import DynamixelSettings
from drivers.family import BusSettings
from drivers.hal import Bus, Capabilities
from drivers.hallbridge.device import HallBridgeBus
from drivers.hallbridge.orca_device import OrcaBus
from drivers.hallbridge.settings import HallBridgeSettings, OrcaSettings
from hand.file.busfile import is_bus_file, load_bus_file
from signals.choices import WrongChoice
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, TRUTH, RecordArray, new
from sim.emulators.copied import wire_by
from sim.emulators.side import BackendSide
from sim.emulators.stepped import SteppedTime
from sim.emulators.wiring import SERVO_MODEL, Site

KINDS: Final = ("collector", "dynamixel")
"""Wirings that can be stepped: their drivers wait by an injected clock."""
BETWEEN_NS: Final = 150_000
"""What a worker needs between two exchanges."""
FIRST_NS: Final = 50_000_000
"""From the first exchange to the first cycle."""
NEVER: Final = 1 << 62
TIMES: Final = ("time_ns", "motor_time_ns", "hall_time_ns", "joint_time_ns", "axis_time_ns")


class _Side(BackendSide):
    """Notes the truth as it is at a given time, between two steps of the plant."""

    def __init__(self, make: Callable[[RecordArray], Bus], shown: RecordArray) -> None:
        self._truth, self._shown, self._at_ns = new(TRUTH), shown, NEVER
        super().__init__(lambda: make(self._truth))

    def show_at(self, time_ns: int) -> None:
        """Show the truth of this time as soon as it has come."""
        self._at_ns = time_ns

    def advance(self, now_ns: int) -> None:
        """One exchange with the plant; two, if the truth is wanted in between."""
        if now_ns >= self._at_ns:
            super().advance(self._at_ns)
            np.copyto(self._shown, self._truth)
            self._at_ns = NEVER
        super().advance(now_ns)


class _Landing(NamedTuple):
    """What an exchange has brought, and when."""

    time_ns: int
    measurement: RecordArray
    status: int


class SteppedBus(CompositeBus):
    """Drivers of all devices of a hand; a ``drivers.hal.Bus`` in lockstep.

    Args:
        kind: one of ``KINDS``, or a bus file: devices as it has them.
        names: names of the hand.
        make: makes the plant in real time, filling the TRUTH record that it is given.
        truth: TRUTH record of the frame, shape (1,).
        servo: model of emulated servos.

    Raises:
        WrongChoice: no such wiring, or one whose drivers wait for a kernel.
    """

    def __init__(
        self,
        kind: str,
        names: HandNames,
        make: Callable[[RecordArray], Bus],
        truth: RecordArray,
        servo: str = SERVO_MODEL,
    ) -> None:
        if kind not in KINDS and not is_bus_file(kind):
            legal = f"legal with --lockstep: {', '.join(KINDS)}, or a bus file"
            raise WrongChoice(f"--wiring {kind} cannot be stepped; {legal}")
        self._time, self._names = SteppedTime(), names
        self._side = _Side(make, truth)
        with tempfile.TemporaryDirectory(prefix="flexor-") as folder:
            site = Site(folder=Path(folder), clock=self._time.clock, servo=servo, line=self._time.line)
            wired = wire_by(kind, self._side, names, site)
            self._time.emulators = wired.emulators
            path = Path(folder) / "bus.toml"
            path.write_text(wired.text, encoding="utf-8")
            settings = [entry.settings for entry in load_bus_file(str(path)).fitted_to(names).entries]
            settings.sort(key=lambda each: bool(each.motors(names)))
        motors = [frozenset(names.motors.index(name) for name in each.motors(names)) for each in settings]
        super().__init__([self._driver(each) for each in settings], motors)
        fast = [part for part in self.parts if part.capabilities.in_control_process]
        slow = [part for part in self.parts if part not in fast]
        self._fast, self._slow = CompositeBus(fast, ()), CompositeBus(slow, ())
        self._command, self._newest, self._shown = new(COMMAND), new(MEASUREMENT), new(MEASUREMENT)
        self._shift_ns = self._free_ns = self._status = 0
        self._landing: _Landing | None = None

    def _driver(self, settings: BusSettings) -> Bus:
        time, names = self._time, self._names
        if isinstance(settings, DynamixelSettings):
            return DynamixelBus(settings, names, False, time.clock, time.serial)
        if isinstance(settings, HallBridgeSettings):
            return HallBridgeBus(settings, names, False, time.clock, time.serial)
        if isinstance(settings, OrcaSettings):
            return OrcaBus(settings, names, False, time.clock, time.serial)
        assert isinstance(settings, CollectorSettings)
        return CollectorBus(settings, names, False, time.clock, time.udp())

    @property
    def capabilities(self) -> Capabilities:
        """Those of the parts, in simulated time."""
        return replace(super().capabilities, lockstep=True)

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """What the devices have told until ``now_ns``; see ``drivers.hal.Bus``."""
        if not self._free_ns:  # the loop's time begins soon after the devices were set up
            self._free_ns = self._time.now_ns
            self._shift_ns = self._time.now_ns + FIRST_NS - now_ns
        tick_ns = now_ns + self._shift_ns
        self._side.show_at(tick_ns)
        while self._slow.parts and self._free_ns < tick_ns:
            self._land(self._free_ns)
            self._time.until(self._free_ns)
            status = self._slow.exchange(self._command, self._newest, self._time.now_ns)
            self._landing = _Landing(self._time.now_ns, self._newest.copy(), status)
            self._free_ns = self._time.now_ns + BETWEEN_NS
        self._land(tick_ns)
        self._time.until(tick_ns)
        status = self._status | self._fast.exchange(command, self._shown, self._time.now_ns)
        self._side.advance(max(self._time.now_ns, tick_ns))
        np.copyto(measurement, self._shown)
        for name in TIMES:
            measurement[name] -= self._shift_ns
        measurement["time_ns"] = now_ns
        return status

    def _land(self, until_ns: int) -> None:
        """What is through until then is what a cycle sees."""
        if self._landing is not None and self._landing.time_ns <= until_ns:
            np.copyto(self._shown, self._landing.measurement)
            self._status, self._landing = self._landing.status, None

    def forward(self, command: RecordArray) -> None:
        """The next exchange carries this command."""
        np.copyto(self._command, command)

    def close(self) -> None:
        """Drivers and devices."""
        super().close()
        for emulator in self._time.emulators:
            emulator.close()
