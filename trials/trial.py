"""What a trial is: the faults, the touch, the storm of goals, and where they happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from signals.names import HandNames
from trials.rules import KINDS

CLIENT: Final = "client"
"""In the place of a motion: a client commands."""
EVERY: Final = -1
"""In the place of a part: all motors at once."""
OTHER_NOISE: Final = 2**40
"""As much more of a seed draws other noise of the sensors for the same trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """A second fault.

    Attributes:
        kind: name in ``rules.KINDS``.
        part: index of tendon, motor or axis; ``EVERY``: all motors.
        size: size in the units of its rule, signed.
        at_s: time after the first one.
    """

    kind: str
    part: int
    size: float
    at_s: float

    def part_name(self, names: HandNames) -> str:
        """Name of its part."""
        return "all motors" if self.part == EVERY else names.of(KINDS[self.kind].space)[self.part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A force on a fingertip, or something in its way.

    Attributes:
        finger: index.
        shape: ``push`` (constant), ``jab`` (half a sine), ``soft`` or ``stiff`` (an object).
        force_n: force, or the greatest one, of push and jab.
        seconds: how long it lasts.
        direction: unit vector in the palm frame, of the force or towards the object.
        before_s: time between its begin and the trial's moment.
        stiffness_n_m: of the object.
        gap_m: between fingertip and object at the begin.
    """

    finger: int
    shape: str
    force_n: float
    seconds: float
    direction: tuple[float, float, float]
    before_s: float = 0.0
    stiffness_n_m: float = 0.0
    gap_m: float = 0.0

    @property
    def falls_s(self) -> float:
        """Time after its begin from which on its force only falls: of a jab the half, else its end."""
        return 0.5 * self.seconds if self.shape == "jab" else self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One fault in one motion; or a second one, a touch or a storm of goals with it or in its place.

    Attributes:
        seed: draws everything below, and the sensors' noise.
        kind: name in ``rules.KINDS``; or that of a storm or a touch, where there is no fault.
        motion: name of the motion; ``CLIENT``: a storm of goals.
        mismatch: seed of the drawn hand; 0: the hand as its file says.
        part: index of tendon, motor or axis.
        moment: share of the motion's period at which the fault happens.
        size: size of the fault in the units of its rule, signed.
        second: second fault.
        touch: touch.
        storm: name in ``storm.STORMS``; empty: none.
    """

    seed: int
    kind: str
    motion: str
    mismatch: int
    part: int
    moment: float
    size: float
    second: Struck | None = None
    touch: Touch | None = None
    storm: str = ""

    def text(self, names: HandNames) -> str:
        """What happens, in words."""
        said = [f"{f.kind} of {f.part_name(names)}, size {f.size:.4g}" for f in self.faults]
        for k, fault in enumerate(self.faults):
            said[k] += f" {1e3 * fault.at_s:.0f} ms later" if fault.at_s else ""
        if self.touch is not None:
            said.append(f"{self.touch.shape} on {names.fingers[self.touch.finger]}")
        if self.storm:
            said.append(f"a client's storm ({self.storm})")
        return ", ".join(said)

    @property
    def drawn_from(self) -> int:
        """Seed of what happens: with other noise it stays."""
        return self.seed % OTHER_NOISE

    @property
    def faults(self) -> tuple[Struck, ...]:
        """Every fault in order; none where the kind is that of a storm or a touch."""
        if self.kind not in KINDS:
            return ()
        first = Struck(kind=self.kind, part=self.part, size=self.size, at_s=0.0)
        return (first,) if self.second is None else (first, self.second)
