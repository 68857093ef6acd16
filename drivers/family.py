"""What a driver family offers: its settings in a bus file, how it opens, how it is found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol, Self

from pydantic import Field

from drivers.hal import Bus
from signals.names import HandNames
from signals.tables import Table

FROM_HAND: Final = -1
"""In the place of a device's number that a bus file leaves out: the hand file's."""


class BusSettings(Table):
    """One ``[[bus]]`` table."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    family: str

    @abstractmethod
    def identity(self) -> str:
        """Name of the physical bus, the same through every path to it (``drivers.locks``)."""

    @abstractmethod
    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors that this bus moves."""

    def halls(self, names: HandNames) -> tuple[str, ...]:
        """Tendons whose Hall channel this bus reads; none unless its family says so, as of what follows."""
        return ()

    def axes(self, names: HandNames) -> tuple[str, ...]:
        """Wrist axes whose angle this bus reads."""
        return ()

    def joints(self, names: HandNames) -> tuple[str, ...]:
        """Joints whose own sensor this bus reads."""
        return ()

    def fitted(self, names: HandNames) -> Self:
        """The same table with what it leaves out taken from the hand file: ids and channels of sensors.

        Raises:
            ValueError: a number of the hand file is none that this bus can have.
        """
        return self

    def with_values(self, **values: Any) -> Self:
        """The same table with other values, checked again."""
        return type(self).model_validate(dict(self) | values)

    def conflicts(self) -> tuple[str, ...]:
        """What contradicts itself inside this table (an id used twice)."""
        return ()

    def unproven(self, names: HandNames) -> tuple[str, ...]:
        """Protection of the devices that this table leaves unproven, a sentence for each.

        A driver proves its devices' own watchdog and limits by reading them back or by watching them work,
        and refuses a device without; a key that makes it do without is told at every start and in health. Of
        a family that says nothing the watchdog counts as unproven.
        """
        return ("its driver proves no watchdog of its devices",) if self.motors(names) else ()

    def holding(self, names: HandNames) -> tuple[str, ...]:
        """Motors whose device, once its watchdog tripped in position mode, holds its angle: no letting go."""
        return ()

    def held(self, names: HandNames, positioned: Collection[str]) -> tuple[str, ...]:
        """A sentence on the motors of ``holding`` among those in position mode, if there are any."""
        found = [name for name in self.holding(names) if name in positioned]
        if not found:
            return ()
        whose = ", ".join(found)
        return (
            f"when the computer is gone, {whose} hold their angle with the current that they were last "
            "allowed, and do not let go; have a switch for their power within reach",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One device that a scan found."""

    family: str
    place: str
    device: str
    detail: str
    problem: str = ""


class Listener(Protocol):
    """Hears what passes at one place and writes nothing; ``flexor bus log`` and ``flexor scan`` feed it."""

    @property
    def hello(self) -> bytes:
        """What makes a device that waits to be asked speak up; empty: nothing is sent."""

    @property
    def certain(self) -> bool:
        """A device was heard without doubt: a scan need not listen on."""

    def lines(self, data: Any, now_ns: int) -> Iterable[str]:
        """A line for every message in new bytes of a serial line, or in a ``can.Message``; none: not ours."""

    def findings(self, place: str, seconds: float) -> Iterable[Finding]:
        """Devices that were heard within some time [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How devices of a family are found and heard without a hand."""

    place: type[Any]
    """Where they can be: a class of ``drivers.places``."""
    listener: Callable[[], Listener] | None = None
    """For devices that talk by themselves, and for ``flexor bus log``."""
    find: Callable[[Any], Iterator[Finding]] | None = None
    """Asks at a place; left out with ``flexor scan --listen``."""
    log: Callable[[Any, Callable[[], bool]], Iterator[tuple[float, str]]] | None = None
    """(place, going) -> (seconds, line) where a place has nothing to listen to (UDP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One line of the driver table."""

    name: str
    settings: type[BusSettings]
    open: Callable[[Any, HandNames, bool], Bus]
    """(settings, names, readonly) -> bus; raises ``drivers.errors``."""
    in_control_process: bool
    """True: fast enough to be exchanged inside the control process."""
    search: Search | None = None
    """None: ``flexor scan`` and ``flexor bus log`` do not know its devices."""
