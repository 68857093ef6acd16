"""What a check found: a level, the fact with its numbers, and unless it is a Pass its cost and its fix."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any


class Level(IntEnum):
    """How bad it is."""

    PASS = 0
    WARN = 1
    """Runs; now and then a cycle is late, or something else than control suffers."""
    FAIL = 2
    """Not to be trusted with a hand, or it will not run at all."""

    @property
    def shown(self) -> str:
        """``[Pass]``, ``[Warn]`` or ``[Fail]``."""
        return f"[{self.name.capitalize()}]"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor.

    Raises:
        ValueError: a warning without its cost and its fix, or a Pass with one.
    """

    check: str
    level: Level
    fact: str
    cost: str = ""
    fix: str = ""

    def __post_init__(self) -> None:
        if (self.level is Level.PASS) != (not self.cost) or (self.level is Level.PASS) != (not self.fix):
            raise ValueError(f"finding {self.check!r}: cost and fix belong to Warn and Fail, and only there")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "level": self.level.name.lower()}


def good(check: str, fact: str) -> Finding:
    """A Pass."""
    return Finding(check, Level.PASS, fact)


def warn(check: str, fact: str, cost: str, fix: str) -> Finding:
    """A Warn."""
    return Finding(check, Level.WARN, fact, cost, fix)


def fail(check: str, fact: str, cost: str, fix: str) -> Finding:
    """A Fail."""
    return Finding(check, Level.FAIL, fact, cost, fix)


def boot_option(option: str) -> str:
    """How to set a kernel option for good."""
    where = "GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub"
    return f'add "{option}" to {where}, run: sudo update-grub, then reboot'
