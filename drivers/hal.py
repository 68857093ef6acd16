"""The hardware abstraction layer: one batch exchange per cycle on the records, in SI units.

A driver family (Ethernet collector, serial servos, CAN drives, Hall bridge) and the simulated backend all
implement ``Bus``. Nothing here knows joints: motors, Hall channels and wrist axes have indices only.

Life of a bus: ``configure`` (limits and modes into the devices) -> ``activate`` (devices may move) ->
``exchange`` every cycle -> ``deactivate`` (devices at zero torque) -> ``close``. ``recover`` after a loss.
Constructors and life-cycle calls raise ``drivers.errors``; ``exchange`` never raises, never blocks longer
than its deadline and never allocates: it returns a status.

A motor that comes back (cable, reset, tripped watchdog of its own) must not move by itself. Its status says
``RESET``, ``DEVICE_ERROR``, or ``HELD`` if it was silent alone (``ChannelStatus``), and it has no torque
until the driver has checked it again (mode, limits, turns) *and* has seen its command at rest: mode OFF, or
CURRENT with 0 A. Then the bits clear; it moves again when the command asks for torque, which only an explicit
re-arm does. The hand-shake runs inside the records, so that no life-cycle call is needed while the loop runs.

In POSITION ``command.motor_current_a`` is the greatest current that the device may use for its angle.

``drivers.contract`` holds the suite that every implementation has to pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from drivers.errors import ConfigureError
from signals.modes import MotorMode
from signals.records import RecordArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a bus can do; the assembly refuses a hand that asks for more."""

    family: str
    n_motors: int
    n_halls: int
    n_axes: int
    motor_modes: frozenset[MotorMode]
    rate_max_hz: float
    """Fastest rate of ``exchange``."""
    in_control_process: bool
    """True: exchanged inside the control process; False: needs a bus process of its own."""
    device_watchdog_s: float | None
    """Time without commands after which the devices go to zero torque by themselves."""
    lockstep: bool = False
    """True: time is the caller's ``now_ns``; the bus may run faster than real time."""
    own_position_loop: bool = False
    """True: MotorMode.POSITION is closed in the device, at its own rate."""
    current_max_a: float | None = None
    """Greatest current that the wire can carry for one motor."""

    def must_take(self, setup: MotorSetup) -> None:
        """Refuse what a bus cannot do.

        Raises:
            ConfigureError: a mode or an index that it does not have.
        """
        if setup.mode not in self.motor_modes:
            legal = sorted(m.name for m in self.motor_modes)
            raise ConfigureError(setup.name, "mode", setup.mode.name, "not offered", f"legal: {legal}")
        if not 0 <= setup.index < self.n_motors:
            legal_index = f"legal: 0 to {self.n_motors - 1}"
            raise ConfigureError(setup.name, "index", setup.index, "not there", legal_index)


@dataclass(frozen=True, slots=True, kw_only=True)
class MotorSetup:
    """What ``configure`` writes into one motor's device."""

    index: int
    name: str
    current_limit_a: float
    mode: MotorMode = MotorMode.CURRENT
    speed_limit_rad_s: float | None = None
    temperature_limit_degc: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BusReport:
    """What a bus says about itself on the slow path: health messages, ``flexor monitor``, logs."""

    name: str
    family: str
    place: str
    """Port, interface or address."""
    exchanges: int
    lost: bool
    reason: str = ""
    """Why it is lost, or what is wrong with a part of it."""
    counts: dict[str, int] = field(default_factory=dict)
    round_trip_ns: int = 0
    """Duration of the last complete exchange on the wire."""


@runtime_checkable
class Bus(Protocol):
    """One way to motors and sensors."""

    @property
    def capabilities(self) -> Capabilities:
        """Fixed after construction."""

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Write limits and modes, read them back; raises ``ConfigureError`` naming the motor."""

    def activate(self) -> None:
        """Allow motion; torque stays zero until the first command."""

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Send one command, fill one measurement; real-time safe.

        Args:
            command: ``signals.records.COMMAND``, shape (1,).
            measurement: ``signals.records.MEASUREMENT``, shape (1,), filled in place. Channels that did
                not answer keep their value and time and get ``STALE`` or ``MISSING`` (``ChannelStatus``).
                Channels of other buses are not touched.
            now_ns: monotonic time of the cycle [ns].

        Returns:
            ``signals.modes.BusStatus`` bits, 0 when everything answered.
        """

    def deactivate(self) -> bool:
        """Zero torque; True if the devices confirmed it by read-back."""

    def recover(self) -> None:
        """Open a lost bus again and re-check every motor (mode, limits, turns); raises if it cannot."""

    def close(self) -> None:
        """Release port, lock and shared memory; safe to call twice."""


@runtime_checkable
class Forwarding(Protocol):
    """A bus with a pace of its own: it takes a command as soon as it is computed.

    Its next exchange on the wire carries the command, up to a period of the loop before ``exchange`` hands it
    over again. On a slow bus that period is a good part of the loop's delay.
    """

    def forward(self, command: RecordArray) -> None:
        """Take the command that was just computed; real-time safe, never blocks."""


@runtime_checkable
class Separate(Protocol):
    """A bus in a process of its own: several are set up at the same time."""

    def begin_configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Ask for ``Bus.configure``."""

    def end_configure(self) -> None:
        """Wait for it; raises what it raised."""

    def begin_activate(self) -> None:
        """Ask for ``Bus.activate``."""

    def end_activate(self) -> None:
        """Wait for it; raises what it raised."""


@runtime_checkable
class Reporting(Protocol):
    """A bus that can say how it is; every driver of ours can."""

    def report(self) -> BusReport:
        """Counts and state since the start; not for the loop."""


def reports_of(bus: Bus) -> tuple[BusReport, ...]:
    """Reports of a bus, or of its parts (``reports``) where it has some; none of one that cannot say."""
    several = getattr(bus, "reports", None)
    if several is not None:
        return tuple(several())
    return (bus.report(),) if isinstance(bus, Reporting) else ()
