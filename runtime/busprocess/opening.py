"""From a bus file to one ``Bus``: fast families in this process, slow ones in processes of their own."""

from __future__ import annotations

from drivers.composite import CompositeBus
from drivers.errors import ConfigureError
from drivers.hal import Bus, MotorSetup
from drivers.registry import opened
from hand.file.busfile import BusFile
from runtime.busprocess.remote import RemoteBus
from signals.names import HandNames


def open_buses(file: BusFile, names: HandNames, readonly: bool = False) -> Bus:
    """Open every bus of a file for a hand.

    Args:
        file: a checked bus file.
        names: names of the hand.
        readonly: watch only.

    Raises:
        BusFileError: the file does not fit the hand.
        DriverError: a bus does not open; those opened before are closed again.
    """
    file = file.fitted_to(names)
    parts: list[Bus] = []
    motors: list[frozenset[int]] = []
    try:
        for entry in sorted(file.entries, key=lambda e: not e.family.in_control_process):
            settings = entry.settings
            if entry.family.in_control_process:
                parts.append(opened(entry.family, settings, names, readonly))
            else:
                parts.append(RemoteBus(settings, names, readonly, realtime=file.realtime, wait=False))
            motors.append(frozenset(names.motors.index(n) for n in settings.motors(names)))
        for part in parts:
            if isinstance(part, RemoteBus):
                part.wait_ready()
    except BaseException:
        for part in parts:
            part.close()
        raise
    return parts[0] if len(parts) == 1 else CompositeBus(parts, motors)


def check_capable(bus: Bus, setups: tuple[MotorSetup, ...], rate_hz: float) -> None:
    """Refuse a hand that asks a bus for more than it can do.

    Raises:
        ConfigureError: naming what is asked for and what is offered.
    """
    able = bus.capabilities
    for setup in setups:
        if setup.mode not in able.motor_modes:
            legal = sorted(m.name for m in able.motor_modes)
            raise ConfigureError(
                f"motor {setup.name}", "mode", setup.mode.name, "not offered", f"legal: {legal}"
            )
        if able.current_max_a is not None and setup.current_limit_a > able.current_max_a:
            raise ConfigureError(
                f"motor {setup.name}", "current limit [A]", setup.current_limit_a, able.current_max_a
            )
    if rate_hz > able.rate_max_hz:
        raise ConfigureError(able.family, "rate [Hz]", rate_hz, able.rate_max_hz, "lower it with --rate")
