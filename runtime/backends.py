"""What stands behind the HAL: the plant in this process, or the devices of a bus file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from drivers.axis_zeros import with_zeros
from drivers.hal import Bus, MotorSetup, reports_of
from hand.motion.load import Motion
from hand.options import RunOptions
from mechanics.sources import channels_used
from signals.clock import new_timespec, now_ns, wait_until
from signals.modes import MotorMode, mode_of
from signals.records import MEASUREMENT, RecordArray, new

if TYPE_CHECKING:
    from hand.hand import Hand
    from signals.names import HandNames

HOMING_S = 3.0
"""Longest wait for complete measurements of real devices."""
HOMING_CYCLES = 30
"""Measurements at rest that homing averages: 10 ms at 3 kHz."""


def sim_bus(
    hand: Hand, options: RunOptions, truth: RecordArray, motion: Motion | None = None, wired: bool = False
) -> Bus:
    """The plant in the place of the hardware, or ``wired``: of what devices move; ``sim.drawn.plant_of``."""
    from sim.backend import SimulatedBus
    from sim.drawn import plant_of

    homing_s = (HOMING_CYCLES - 1) / hand.rate_hz
    return SimulatedBus(*plant_of(hand, options, motion, homing_s, wired), truth=truth)


def backend_of(options: RunOptions) -> tuple[str, bool]:
    """Name of what stands behind the HAL, and whether it knows the truth; opens nothing.

    Raises:
        drivers.errors.DriverError: the bus file is refused.
    """
    from hand.file.busfile import is_bus_file, load_bus_file

    wires = options.bus or options.wiring or ""
    if options.bus is None and not is_bus_file(wires):
        return wires or "sim", True
    file = load_bus_file(wires)
    families = "+".join(dict.fromkeys(entry.family.name for entry in file.entries))
    return families, options.bus is None or bool(file.truth)


def unproven(path: str | None, names: HandNames, setups: tuple[MotorSetup, ...] = ()) -> tuple[str, ...]:
    """Protection of the devices that a bus file leaves unproven; told at the start, in health, in the report.

    Args:
        path: bus file of the run; None: a simulated hand, whose motors end with their process.
        names: names of the hand.
        setups: what its drives are set up for; those in position mode may hold when nobody speaks.
    """
    if path is None:
        return ()
    from hand.file.busfile import load_bus_file

    buses = [entry.settings for entry in load_bus_file(path).entries]
    positioned = {s.name for s in setups if s.mode is MotorMode.POSITION}
    return tuple(
        f"bus {bus.name!r}, unproven protection: {text}"
        for bus in buses
        for text in (*bus.unproven(names), *bus.held(names, positioned))
    )


def bus_names(options: RunOptions, names: HandNames) -> tuple[str, ...]:
    """The buses of a run that move motors: those of its bus file; the simulation is one.

    Raises:
        drivers.errors.DriverError: the bus file is refused.
    """
    if options.bus is None:
        return ("sim",)
    from hand.file.busfile import load_bus_file

    buses = (entry.settings for entry in load_bus_file(options.bus).entries)
    return tuple(bus.name for bus in buses if bus.motors(names))


def said_by(bus: Bus) -> tuple[str, ...]:
    """The newest trouble of every bus that has had one, in its own words; not for the loop."""
    return tuple(f"bus {r.name!r} said: {r.reason}" for r in reports_of(bus) if r.reason)


def open_bus(
    hand: Hand, options: RunOptions, truth: RecordArray, motion: Motion | None
) -> tuple[Bus, str, bool]:
    """The bus of a run, its name, and whether it fills ``truth``.

    Raises:
        drivers.errors.DriverError: a bus does not open, or cannot do what the hand needs.
    """
    backend, has_truth = backend_of(options)
    if hand.mechanism is not None:
        return hand.mechanism.bus(hand.model, options, truth, motion), backend, has_truth
    if options.wiring is not None:
        from sim.emulators.stepped_bus import SteppedBus

        real = replace(options, lockstep=False, wiring=None)
        make = partial(sim_bus, hand, real, motion=motion, wired=True)
        stepped = SteppedBus(options.wiring, hand.names, make, truth)
        return with_zeros(stepped, hand.file.axis_zeros_rad), backend, has_truth
    if options.bus is None:
        return sim_bus(hand, options, truth, motion), backend, has_truth
    from runtime.busprocess.hardware import hardware_bus

    bus = hardware_bus(options.bus, hand.names, motor_setups(hand), hand.rate_hz, truth, options.readonly)
    return with_zeros(bus, hand.file.axis_zeros_rad), backend, has_truth


def motor_setups(hand: Hand) -> tuple[MotorSetup, ...]:
    """What ``Bus.configure`` writes into the drives."""
    limits, commands = hand.model["motor_current_limit_a"][0], hand.model["motor_command"][0]
    return tuple(
        MotorSetup(index=i, name=name, current_limit_a=float(limits[i]), mode=mode_of(int(commands[i])))
        for i, name in enumerate(hand.names.motors)
    )


def at_rest(bus: Bus, command: RecordArray, rate_hz: float, start_ns: int) -> list[RecordArray]:
    """Measurements of the plant before its first cycle."""
    period_ns = round(1e9 / rate_hz)
    measurements = []
    for k in range(HOMING_CYCLES):
        measurement = new(MEASUREMENT)
        bus.exchange(command, measurement, start_ns - (HOMING_CYCLES - k) * period_ns)
        measurements.append(measurement)
    return measurements


def at_rest_on_wire(
    bus: Bus, command: RecordArray, hand: Hand, beat: Callable[[], None] = lambda: None
) -> list[RecordArray]:
    """Complete measurements of real devices, which may take a while to speak.

    Args:
        bus: active already.
        command: zero command.
        hand: whose channels have to answer.
        beat: called before every exchange.

    Raises:
        BusLost: there are not enough of them within ``HOMING_S``.
    """
    from drivers.errors import BusLost

    period_ns = round(1e9 / hand.rate_hz)
    measurements: list[RecordArray] = []
    timespec, due, status = new_timespec(), now_ns(), 0
    until = due + round(HOMING_S * 1e9)
    n_motors, n_tendons = len(hand.names.motors), len(hand.names.tendons)
    used = channels_used(hand.model[0], slice(0, n_tendons))
    sensed = slice(0, len(hand.names.joints) if hand.homing_pose == "joint_sensors" else 0)
    measurement = new(MEASUREMENT)
    while len(measurements) < HOMING_CYCLES and due < until:
        beat()
        due = max(due + period_ns, now_ns())
        status = bus.exchange(command, measurement, wait_until(due, 0, timespec))
        z = measurement[0]
        bad = (z["motor_status"][:n_motors], z["hall_status"][:n_tendons][used], z["joint_status"][sensed])
        if not any(status.any() for status in bad):
            measurements.append(measurement.copy())
    if len(measurements) < HOMING_CYCLES:
        names, z = hand.names, measurement[0]
        silent = [n for n, s in zip(names.motors, z["motor_status"], strict=False) if s]
        silent += [
            f"sensor of {n}" for n, s in zip(names.joints, z["joint_status"][sensed], strict=False) if s
        ]
        said = "".join(f"; {text}" for text in said_by(bus))
        raise BusLost(
            bus.capabilities.family,
            f"no complete measurement within {HOMING_S:g} s (status {status}, "
            f"without a good sample: {', '.join(silent[:6]) or 'Hall sensors'}{said})",
        )
    return measurements
