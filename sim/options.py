"""What a simulation run may choose: sensors, guides, substeps, seed, injected faults."""

from __future__ import annotations

from dataclasses import dataclass, field

from signals.choices import WrongChoice
from signals.modes import FaultKind, SensorLevel
from signals.names import HandNames, UnknownName

MIN_SUBSTEPS = 4
"""Fewer substeps per 3 kHz cycle are stable but wrong by more than 15 % at high pretension."""

SENSOR_NAMES = {"ideal": SensorLevel.IDEAL, "quantised": SensorLevel.QUANTISED, "full": SensorLevel.FULL}

_FAULT_SPACE = {
    FaultKind.TENDON_BREAK: "tendon",
    FaultKind.TENDON_SLACK: "tendon",
    FaultKind.TENDON_SLIP: "tendon",
    FaultKind.TENDON_OFF: "tendon",
    FaultKind.HALL_STUCK: "tendon",
    FaultKind.HALL_OFFSET: "tendon",
    FaultKind.HALL_NOISE: "tendon",
    FaultKind.HALL_SATURATED: "tendon",
    FaultKind.HALL_GLITCH: "tendon",
    FaultKind.HALL_WRAP: "tendon",
    FaultKind.MOTOR_LOST: "motor",
    FaultKind.FRICTION_GROWTH: "motor",
    FaultKind.ENCODER_STUCK: "motor",
    FaultKind.ENCODER_JUMP: "motor",
    FaultKind.MOTOR_RESET: "motor",
    FaultKind.MOTOR_HOT: "motor",
    FaultKind.NAN: "motor",
    FaultKind.WRIST_OFFSET: "axis",
}

FAULT_DEFAULT_VALUE = {
    FaultKind.TENDON_SLACK: 0.002,
    FaultKind.TENDON_SLIP: 0.0015,
    FaultKind.HALL_OFFSET: 60.0,
    FaultKind.HALL_NOISE: 10.0,
    FaultKind.HALL_GLITCH: 400.0,
    FaultKind.FRICTION_GROWTH: 2.0,
    FaultKind.ENCODER_JUMP: 0.3,
    FaultKind.MOTOR_HOT: 150.0,
    FaultKind.WRIST_OFFSET: 0.052359877559829886,
}
"""Size of a fault where the user gives none: metres, counts, factors, radians, degrees Celsius."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of the plant: what, where, when, how large."""

    kind: FaultKind
    index: int
    time_s: float
    value: float = 0.0

    @staticmethod
    def kinds() -> tuple[str, ...]:
        """Names of the kinds as the command line writes them."""
        return tuple(k.name.lower().replace("_", "-") for k in _FAULT_SPACE)

    @staticmethod
    def space(kind: str) -> str:
        """Index space of the part that a kind strikes: tendon, motor or axis."""
        return _FAULT_SPACE[FaultKind[kind.replace("-", "_").upper()]]

    @classmethod
    def parse(cls, text: str, names: HandNames) -> Fault:
        """Fault from ``KIND:NAME@T`` or ``KIND:NAME=VALUE@T``, e.g. ``tendon-break:index_4@2.5``.

        Raises:
            ValueError: saying which part is wrong, what was found and what is legal.
        """
        head, at, when = text.rpartition("@")
        kind_text, colon, name = head.partition(":")
        if not at or not colon:
            raise WrongChoice(f"fault {text!r}: found no KIND:NAME@SECONDS; example tendon-break:NAME@2.5")
        kind_name = kind_text.strip().lower().replace("_", "-")
        if kind_name not in cls.kinds():
            raise UnknownName("fault kind", kind_name, cls.kinds())
        kind = FaultKind[kind_name.replace("-", "_").upper()]
        name, equals, value_text = name.partition("=")
        try:
            time_s = float(when)
            value = float(value_text) if equals else FAULT_DEFAULT_VALUE.get(kind, 0.0)
        except ValueError:
            raise WrongChoice(f"fault {text!r}: time and value must be numbers") from None
        if not 0.0 <= time_s < 1e6:
            raise WrongChoice(f"fault {text!r}: time {time_s} s; legal are 0 to 1e6 s")
        space = cls.space(kind_name)
        legal = names.of(space)
        if space == "motor" and name not in legal and name in names.tendons:
            index = names.tendons.index(name)
        else:
            index = names.index(space, name)
        return cls(kind=kind, index=index, time_s=time_s, value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimOptions:
    """Choices of one simulated run."""

    sensors: SensorLevel = SensorLevel.FULL
    guides: bool = True
    substeps: int = MIN_SUBSTEPS
    seed: int = 0
    pretension_n: float = 20.0
    """Tension of every tendon at the start pose; the joints are straight."""
    realtime: bool = False
    """True: the plant follows the clock given to ``exchange``; False: exactly one period per exchange."""
    contact: bool = False
    """True: the compliant object of the hand file is in reach."""
    energy: bool = False
    """True: account for every joule (truth.energy_*), at some cost per substep."""
    faults: tuple[Fault, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.substeps < 1:
            raise WrongChoice(f"substeps is {self.substeps}; legal are 1 and more, advised {MIN_SUBSTEPS}")
        if not 0.0 <= self.pretension_n <= 200.0:
            raise WrongChoice(f"pretension is {self.pretension_n} N; legal are 0 to 200 N")
