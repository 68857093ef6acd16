"""What a simulation run may choose: sensors, guides, substeps, seed, injected faults."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from signals.choices import WrongChoice
from signals.modes import FaultKind, SensorLevel
from signals.names import HandNames, UnknownName

MIN_SUBSTEPS = 4
"""Fewer substeps per 3 kHz cycle are stable but wrong by more than 15 % at high pretension."""
LONGEST_STEP_S = 1.0 / 3000.0 / MIN_SUBSTEPS
"""A longer substep hands the sensors motions that no hand makes."""


def substeps_of(period_s: float) -> int:
    """Substeps of a control period [s]: not longer than ``LONGEST_STEP_S``, at least ``MIN_SUBSTEPS``."""
    return max(MIN_SUBSTEPS, math.ceil(period_s / LONGEST_STEP_S - 1e-6))


@dataclass(frozen=True, slots=True)
class FaultEffect:
    """What a kind of fault does to the plant.

    Attributes:
        space: index space of the part that it strikes: tendon, motor, joint or axis.
        field: signal of the plant's memory that changes at that part.
        size: size where the user gives none: metres, counts, factors, radians, degrees Celsius.
        added: the size times this is added; 0: the field gets the size.
        sized: a user may give a size.
    """

    space: str
    field: str
    size: float = 1.0
    added: float = 0.0
    sized: bool = True


FAULT_EFFECTS: Final = {
    FaultKind.TENDON_BREAK: FaultEffect("tendon", "tendon_off", sized=False),
    FaultKind.TENDON_SLACK: FaultEffect("tendon", "e0_m", 0.002, added=-1.0),
    FaultKind.TENDON_SLIP: FaultEffect("tendon", "e0_m", 0.0015, added=-1.0),
    FaultKind.TENDON_OFF: FaultEffect("tendon", "tendon_off", sized=False),
    FaultKind.HALL_STUCK: FaultEffect("tendon", "hall_frozen", sized=False),
    FaultKind.HALL_OFFSET: FaultEffect("tendon", "hall_offset_count", 60.0, added=1.0),
    FaultKind.HALL_NOISE: FaultEffect("tendon", "hall_noise_scale", 10.0),
    FaultKind.HALL_SATURATED: FaultEffect("tendon", "hall_offset_count", 1e6, sized=False),
    FaultKind.HALL_GLITCH: FaultEffect("tendon", "hall_glitch_count", 400.0, added=1.0),
    FaultKind.HALL_WRAP: FaultEffect("tendon", "hall_offset_count", 2048.0, added=-1.0, sized=False),
    FaultKind.MOTOR_LOST: FaultEffect("motor", "motor_lost", sized=False),
    FaultKind.FRICTION_GROWTH: FaultEffect("motor", "friction_scale", 2.0),
    FaultKind.ENCODER_STUCK: FaultEffect("motor", "encoder_frozen", sized=False),
    FaultKind.ENCODER_JUMP: FaultEffect("motor", "encoder_offset_rad", 0.3, added=1.0),
    FaultKind.MOTOR_RESET: FaultEffect("motor", "motor_reset", sized=False),
    FaultKind.MOTOR_HOT: FaultEffect("motor", "winding_degc", 150.0),
    FaultKind.NAN: FaultEffect("motor", "motor_nan", sized=False),
    FaultKind.JOINT_STUCK: FaultEffect("joint", "joint_frozen", sized=False),
    FaultKind.JOINT_JUMP: FaultEffect("joint", "joint_offset_rad", 0.5, added=1.0),
    FaultKind.JOINT_NOISE: FaultEffect("joint", "joint_noise_scale", 100.0),
    FaultKind.JOINT_SILENT: FaultEffect("joint", "joint_lost", sized=False),
    FaultKind.WRIST_OFFSET: FaultEffect("axis", "axis_offset_rad", 0.052359877559829886, added=1.0),
}
"""The one list of the kinds of faults that can be injected."""


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
        return tuple(k.name.lower().replace("_", "-") for k in FAULT_EFFECTS)

    @staticmethod
    def space(kind: str) -> str:
        """Index space of the part that a kind strikes: tendon, motor, joint or axis."""
        return FAULT_EFFECTS[FaultKind[kind.replace("-", "_").upper()]].space

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
        effect = FAULT_EFFECTS[kind]
        name, equals, value_text = name.partition("=")
        try:
            time_s = float(when)
            value = float(value_text) if equals else effect.size
        except ValueError:
            raise WrongChoice(f"fault {text!r}: time and value must be numbers") from None
        if not 0.0 <= time_s < 1e6:
            raise WrongChoice(f"fault {text!r}: time {time_s} s; legal are 0 to 1e6 s")
        space = effect.space
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
    axis_zeros_rad: tuple[float, ...] = ()
    """What the sensor of each wrist axis shows beyond the axis' angle; its drive goes by it too."""

    def __post_init__(self) -> None:
        if self.substeps < 1:
            raise WrongChoice(f"substeps is {self.substeps}; legal are 1 and more, advised {MIN_SUBSTEPS}")
        if not 0.0 <= self.pretension_n < math.inf:
            raise WrongChoice(f"pretension is {self.pretension_n} N; legal are 0 and more")
