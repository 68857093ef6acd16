"""Errors of drivers; each keeps its figures and says what to do next."""

from __future__ import annotations


class DriverError(Exception):
    """Base of all driver errors."""


class ConfigureError(DriverError):
    """A device did not take a setting."""

    def __init__(self, name: str, setting: str, wanted: object, found: object, hint: str = "") -> None:
        self.name, self.setting, self.wanted, self.found = name, setting, wanted, found
        tail = f"; {hint}" if hint else ""
        super().__init__(f"{name}: {setting} is {found!r} after writing {wanted!r}{tail}")


class BusBusy(DriverError):
    """Another process holds the bus."""

    def __init__(self, bus: str, pid: int | None) -> None:
        self.bus, self.pid = bus, pid
        who = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"bus {bus} is in use by {who}; stop it, then start again")


class BusLost(DriverError):
    """The way to the devices is gone (cable, adapter, bus-off)."""


class ReplyTimeout(DriverError, TimeoutError):
    """A device stayed silent."""

    def __init__(self, name: str, waited_s: float) -> None:
        self.name, self.waited_s = name, waited_s
        super().__init__(f"{name}: silent for {waited_s * 1e3:.1f} ms")
