"""Errors of drivers; each keeps its figures and says what to do next."""

from __future__ import annotations


class DriverError(RuntimeError):
    """Base of all driver errors."""


class ConfigureError(DriverError):
    """A device did not take a setting."""

    def __init__(self, name: str, setting: str, wanted: object, found: object, hint: str = "") -> None:
        self.name, self.setting, self.wanted, self.found = name, setting, wanted, found
        tail = f"; {hint}" if hint else ""
        super().__init__(f"{name}: {setting} is {found!r} after writing {wanted!r}{tail}")


class WrongDevice(DriverError):
    """The device at this place is not the one that the bus file names."""

    def __init__(self, name: str, wanted: str, found: str) -> None:
        self.name, self.wanted, self.found = name, wanted, found
        super().__init__(f"{name}: the bus file says {wanted}, the device says {found}; correct the bus file")


class DuplicateId(DriverError):
    """More than one device answers at one address."""

    def __init__(self, bus: str, device_id: int, evidence: str) -> None:
        self.bus, self.device_id = bus, device_id
        super().__init__(
            f"{bus}: more than one device at id {device_id} ({evidence}); connect one at a time and give "
            "each its own id (flexor bus id)"
        )


class TurnsUnknown(DriverError):
    """A motor's whole turns were lost and cannot be told from its travel."""

    def __init__(self, name: str, angle_rad: float, candidates: int | None) -> None:
        self.name, self.angle_rad, self.candidates = name, angle_rad, candidates
        found = "no turn fits its travel" if candidates == 0 else f"{candidates} turns fit its travel"
        if candidates is None:
            found = "the bus file gives it no travel_rad"
        super().__init__(f"{name}: turn count lost, {found} at {angle_rad:.3f} rad; re-home it before torque")


class BusBusy(DriverError):
    """Another process or computer holds the bus."""

    def __init__(self, bus: str, pid: int | None = None, holder: str = "") -> None:
        self.bus, self.pid = bus, pid
        who = f"process {pid}" if pid is not None else holder or "another process"
        super().__init__(f"bus {bus} is in use by {who}; stop it, then start again")


class BusLost(DriverError):
    """The way to the devices is gone (cable, adapter, bus-off)."""

    def __init__(self, bus: str, reason: str, hint: str = "check power and cable") -> None:
        self.bus, self.reason, self.hint = bus, reason, hint
        super().__init__(f"bus {bus}: {reason}; {hint}")


class ReplyTimeout(DriverError, TimeoutError):
    """A device stayed silent."""

    def __init__(self, name: str, waited_s: float) -> None:
        self.name, self.waited_s = name, waited_s
        super().__init__(f"{name}: silent for {waited_s * 1e3:.1f} ms")


class ReadOnly(DriverError):
    """A write on a bus that was opened for watching."""

    def __init__(self, bus: str) -> None:
        self.bus = bus
        super().__init__(f"bus {bus} was opened read-only; nothing is written to it")
