"""What a run may choose; one frozen value that also travels to the child processes as JSON."""

from __future__ import annotations

import ipaddress
import json
import math
import os
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, Final

from flexor.places import LOOPBACK
from signals.choices import WrongChoice
from signals.names import UnknownName
from signals.tables import RATE_HZ

TRANSPORTS = ("tcp", "ipc")
SENSORS = ("ideal", "quantised", "full")
GUIDES = ("ideal", "friction")
WITHOUT = ("friction", "ripple", "guides", "lever", "wrist")


LONGEST_S = 1e7
"""Longest run: 115 days."""
SEEDS = 2**63
BOX_MB = 65_536


class OptionError(WrongChoice):
    """An option of a run is out of its range; names it and says which values are legal."""


def _one_of(kind: str, word: object, legal: tuple[str, ...]) -> None:
    if not isinstance(word, str):
        raise OptionError(f"{kind} is {word!r}; legal: {', '.join(legal)}")
    if word not in legal:
        raise UnknownName(kind, word, legal)


_KINDS: Final[dict[str, tuple[type, str]]] = {
    "str": (str, "a text"),
    "float": (Real, "a number"),
    "int": (Integral, "a whole number"),
    "bool": (bool, "True or False"),
}


def _typed(option: str, annotation: str, value: object) -> None:
    """Refuse what is not of an option's type: a caller from Python may give anything."""
    kind, _, optional = annotation.partition(" | ")
    if value is None and optional:
        return
    if kind == "tuple[str, ...]":
        if not isinstance(value, tuple) or not all(isinstance(word, str) for word in value):
            raise OptionError(f"{option} is {value!r}; legal is a tuple or list of texts")
        return
    wanted, words = _KINDS[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise OptionError(f"{option} is {value!r}; legal is {words}{' or None' if optional else ''}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of ``flexor run`` and of ``runtime.session``.

    Raises:
        OptionError: an option is out of its range; says which are legal.
        signals.names.UnknownName: a word is none of the legal ones.
    """

    hand: str = "finger_bench"
    motion: str | None = None
    seconds: float | None = None
    lockstep: bool = False
    sensors: str = "full"
    guides: str = "friction"
    mismatch: int | None = None
    plant: str | None = None
    """Hand file of the simulated hand, if that is another than the controller's; with the same names."""
    pretension_n: float | None = None
    faults: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    rate_hz: float | None = None
    seed: int = 0
    bus: str | None = None
    """Bus file of the hardware (or of ``flexor emulate``); ``None``: the plant in the process."""
    wiring: str | None = None
    """Drivers and emulated devices between loop and plant, in simulated time; ``None``: none."""
    readonly: bool = False
    """Watch the buses of ``bus``, never write: estimates are real, commands are computed and go nowhere."""
    settings: tuple[str, ...] = ()
    """Overrides of the hand file, ``key=value``."""
    substeps: int | None = None
    hybrid: bool = False
    require_realtime: bool = False
    """Refuse to start without real-time priority and locked memory, in the place of a warning."""
    record: bool = False
    black_box_mb: int = 512
    """Memory for the last seconds at full rate, written down at a fault; 0: none."""
    publish: bool = True
    """With processes of their own for sockets and recorder; a lockstep run may do without."""
    io_restarts: int = 0
    """How often a dead io process is started again; 0: the run ends."""
    out: str | None = None
    picture: bool = True
    """Draw ``run.png`` into ``out``."""
    rights_told: bool = False
    """What the loop's process was granted was told by a run before this one."""
    port_base: int = 5600
    transport: str = "tcp"
    """``tcp``: ports on loopback, open to every user of the machine; ``ipc``: socket files of this user."""
    address: str = LOOPBACK
    """Where the ports of ``tcp`` are; any but loopback needs ``keys``."""
    keys: str | None = None
    """File with the keys of those who may watch or command; ``None``: every user of the machine."""
    plotjuggler: bool = False

    def __post_init__(self) -> None:
        _one_of("sensor level", self.sensors, SENSORS)
        _one_of("transport", self.transport, TRANSPORTS)
        _one_of("guide law", self.guides, GUIDES)
        for f in fields(self):
            _typed(f.name, str(f.type), getattr(self, f.name))
        for word in self.without:
            _one_of("part to leave out", word, WITHOUT)
        if self.seconds is not None and not 0.0 < self.seconds <= LONGEST_S:
            raise OptionError(f"--for is {self.seconds} s; legal are numbers above 0, up to {LONGEST_S:g} s")
        if self.rate_hz is not None and not RATE_HZ[0] <= self.rate_hz <= RATE_HZ[1]:
            raise OptionError(f"--rate is {self.rate_hz} Hz; legal are {RATE_HZ[0]:g} to {RATE_HZ[1]:g} Hz")
        if self.pretension_n is not None and not 0.0 <= self.pretension_n < math.inf:
            raise OptionError(f"--pretension is {self.pretension_n} N; legal are 0 and more")
        for option, seed in (("seed", self.seed), ("mismatch", self.mismatch)):
            if seed is not None and not 0 <= seed < SEEDS:
                raise OptionError(f"--{option} is {seed}; legal are whole numbers from 0 to 2^63 - 1")
        if not 0 <= self.black_box_mb <= BOX_MB:
            raise OptionError(f"--black-box-mb is {self.black_box_mb}; legal are 0 (none) to {BOX_MB}")
        if self.lockstep and self.bus is not None:
            raise OptionError("--lockstep is for the simulated hand in the process; leave --bus out")
        if self.wiring is not None and not self.lockstep:
            raise OptionError("--wiring is for --lockstep; with real clocks: flexor emulate, then --bus")
        if self.faults and self.bus is not None:
            raise OptionError("--fault is for the simulated hand in the process; leave --bus out")
        if self.plant is not None and self.bus is not None:
            raise OptionError("--plant is for the simulated hand in the process; leave --bus out")
        if self.readonly and self.bus is None:
            raise OptionError("--readonly watches the buses of a bus file; give one with --bus")
        if self.readonly and self.motion is not None:
            raise OptionError("--readonly moves nothing; leave --motion out")
        if not 1024 <= self.port_base <= 65_000:
            raise OptionError(f"--port-base is {self.port_base}; legal are 1024 to 65000")
        self._check_address()
        if self.out is not None and os.path.exists(self.out) and not os.path.isdir(self.out):
            raise OptionError(f"--out {self.out} is a file; give a folder, which is made if it is not there")

    def _check_address(self) -> None:
        try:
            ipaddress.IPv4Address(self.address)
        except ValueError:
            raise OptionError(
                f"--address is {self.address!r}; legal are {LOOPBACK}, or an IPv4 address of this machine"
            ) from None
        if self.address != LOOPBACK and self.keys is None:
            raise OptionError(
                f"--address {self.address} lets other machines in; --keys FILE says whom ('flexor keys add')"
            )
        if self.transport == "ipc" and (self.keys is not None or self.address != LOOPBACK):
            raise OptionError("--transport ipc is for this user alone; leave --address and --keys out")
        if self.plotjuggler and self.keys is not None:
            raise OptionError("--plotjuggler asks for no keys, everybody could watch; leave it or --keys out")

    @property
    def starts(self) -> bool:
        """The hand is armed and activated by itself: with a motion, a length or a fault; else it waits."""
        if self.readonly:
            return False
        return self.motion is not None or self.seconds is not None or bool(self.faults)

    def without_bus(self) -> RunOptions:
        """The same with the plant in the process in place of the hardware."""
        return replace(self, bus=None, readonly=False)

    def to_json(self) -> str:
        """For a child process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> RunOptions:
        """What ``to_json`` wrote."""
        raw: dict[str, Any] = json.loads(text)
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in raw.items() if k in known
        }
        return cls(**values)
