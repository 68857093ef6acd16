"""Rules by which a trial is judged, written before any run; the controller reads none of them.

Every figure is a demand on the hand, not a setting of its controller. Where the controller has a constant
that means the same (how long a torque may take to fall), it stands in ``controllers`` a second time, on
purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from signals.faults import CAUSES, Cause, Scope
from signals.modes import FaultKind
from sim.options import FAULT_EFFECTS

TENSION_NEVER_N: Final = 210.0
"""True tension that no tendon may reach: wrist design load 8000 N over 38 tendons (domain facts, item 5)."""
TENSION_LATER_N: Final = 135.0
"""True tension allowed but for the first moment after the fault: end of the calibrated lever (mechanics)."""
FIRST_MOMENT_S: Final = 0.020
"""That moment."""
STOP_SPEED_RAD_S: Final = 2.0
"""Speed at which a joint may reach its hard stop because of a fault."""
REACT_S: Final = 0.025
"""From the moment a fault can be observed to motors at zero, on their ramp or probing. A tendon is at its
slack stop within 10 ms of its break, and 10 ms there are the proof (domain facts, 4.2); 5 ms to spare."""
RAMP_S: Final = 0.100
"""Time in which a torque that pulls has to be gone."""
UNWIND_NM: Final = 1.5
"""Torque that may unwind a motor of the faulted finger: gear friction 0.88 N m, its spread and ripple."""
UNWIND_S: Final = 1.2
"""Time after which that has to be over."""
PROBE_NM: Final = 1.5
"""Torque of the bounded probe: friction, its spread and ripple; a sound tendon gets less than 100 N by it."""
PROBE_M: Final = 0.0035
"""Way that the probe may wind: 3 mm and half a millimetre to come to rest (10 ms at its 25 mm/s, twice)."""
PROBE_S: Final = 0.55
"""Time after which the probe has to be over."""
TORQUE_MARGIN_NM: Final = 0.02
"""A motor below this counts as off; rounding of a current command and one cycle of a ramp."""
SHOWN_M: Final = 0.001
"""Winding after which a stuck sensor could be seen (domain facts, 4.2)."""
DIP_S: Final = 0.005
"""Time after which a lever at its slack stop is no dip of quick motion."""
SPIKE_S: Final = 0.002
"""Time after which a count that jumped is no spike."""
RESIDUAL_CONFIRM_S: Final = 0.050
"""Lengths that contradict each other count after this time: contact and quick motion do it for a moment."""

GOAL_NEVER_N: Final = 160.0
"""True tension that no legal goal and no touch may make: half-way to the tendons' 210 N from the 135 N."""
GOAL_MOMENT_S: Final = 0.020
"""Time in a row for which one may hold a tendon above ``TENSION_LATER_N``."""
SECOND_S: Final = 0.5
"""Time within which a second fault follows the first one."""
TOUCH_N: Final = (0.5, 30.0)
"""Forces on a fingertip that are no fault: from a tap to the weight of 3 kg."""
TOUCH_S: Final = (0.005, 1.0)
"""How long such a force lasts: from a knock to a held load."""
QUIET_CAUSES: Final = frozenset({Cause.NONE, Cause.OPERATOR_STOP, Cause.COMMAND_TOO_OLD})
"""What may be latched without a fault: a stop that was asked for, a client that fell silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRule:
    """What is injected as one kind of trial, and what has to follow.

    Attributes:
        fault: fault of the plant.
        sizes: range that the size is drawn from, SI or counts; ``None``: the fault has no size.
        signed: the size gets a random sign.
        repeat: how often the fault is injected, ``gap_s`` apart.
        causes: causes that name it right; with ``Cause.NONE`` among them it may also go unnamed.
        pair: the antagonist partner is a right part too: the residual cannot tell the two apart.
        must_react: the finger has to be made safe; else it may go on as well.
        shows_after_s: time from the fault until it can be observed at all.
        shows_by_winding: it can be observed once its motor has wound ``SHOWN_M``.
        tell_s: time that it takes to tell it from what is harmless, whoever looks: 5 ms from a tendon that
            dips in motion, 2 ms from a spike. A hard stop that is hit although all that pulls there is let go
            at full torque from then on, as fast as the hand's torque rate allows, is counted apart.
        name_s: time from there to the right name.
        watch_s: time that is recorded after the fault.
    """

    fault: FaultKind
    causes: frozenset[Cause]
    name_s: float
    sizes: tuple[float, float] | None = None
    signed: bool = False
    repeat: int = 1
    gap_s: float = 0.0
    pair: bool = False
    must_react: bool = True
    shows_after_s: float = 0.0
    shows_by_winding: bool = False
    tell_s: float = 0.0
    watch_s: float = 0.8

    @property
    def space(self) -> str:
        """Index space of the part: tendon, motor or axis."""
        return FAULT_EFFECTS[self.fault].space

    @property
    def whole_hand(self) -> bool:
        """A cause of it is one of the hand: all fingers stop."""
        return any(CAUSES[cause].scope == Scope.HAND for cause in self.causes - {Cause.NONE})


_HALL: Final = frozenset({Cause.HALL_GLITCH, Cause.HALL_SATURATED})
_LENGTHS: Final = frozenset({Cause.RESIDUAL_TOO_LARGE, Cause.HALL_DRIFT})

KINDS: Final[dict[str, KindRule]] = {
    # 3 mm at the probe's 25 mm/s are 120 ms; with 25 ms of reaction and its start 300 ms are twice that
    "tendon-break": KindRule(
        fault=FaultKind.TENDON_BREAK,
        causes=frozenset({Cause.TENDON_BROKEN}),
        tell_s=DIP_S,
        name_s=0.300,
    ),
    # size: slack left after the tension is gone; the loop may wind it in before it counts as lost
    "tendon-slack": KindRule(
        fault=FaultKind.TENDON_SLACK,
        causes=frozenset({Cause.TENDON_SLACK, *_LENGTHS}),
        sizes=(0.0005, 0.002),
        pair=True,
        shows_after_s=RESIDUAL_CONFIRM_S,
        name_s=0.300,
    ),
    # below 4 mm one tendon moves its finger's joints by up to 20 deg, but no tension is lost
    "tendon-slip": KindRule(
        fault=FaultKind.TENDON_SLIP,
        causes=frozenset({Cause.TENDON_SLACK, *_LENGTHS}),
        sizes=(0.003, 0.005),
        pair=True,
        shows_after_s=RESIDUAL_CONFIRM_S,
        name_s=0.300,
    ),
    "hall-stuck": KindRule(
        fault=FaultKind.HALL_STUCK,
        causes=frozenset({Cause.HALL_STUCK}),
        shows_by_winding=True,
        name_s=0.100,
        watch_s=1.6,
    ),
    # a jump of more than 2 deg of lever within a cycle
    "hall-offset": KindRule(
        fault=FaultKind.HALL_OFFSET,
        causes=_HALL | _LENGTHS,
        sizes=(100.0, 400.0),
        signed=True,
        pair=True,
        tell_s=SPIKE_S,
        name_s=0.025,
    ),
    "hall-saturated": KindRule(fault=FaultKind.HALL_SATURATED, causes=_HALL, tell_s=SPIKE_S, name_s=0.025),
    "hall-wrap": KindRule(fault=FaultKind.HALL_WRAP, causes=_HALL, tell_s=SPIKE_S, name_s=0.025),
    # one spike is no reason to stop
    "hall-spike": KindRule(
        fault=FaultKind.HALL_GLITCH,
        causes=frozenset({Cause.NONE}),
        sizes=(100.0, 1000.0),
        signed=True,
        must_react=False,
        name_s=0.8,
    ),
    # five spikes, 40 ms apart, are
    "hall-spikes": KindRule(
        fault=FaultKind.HALL_GLITCH,
        causes=_HALL,
        sizes=(100.0, 1000.0),
        signed=True,
        repeat=5,
        gap_s=0.040,
        shows_after_s=0.160,
        name_s=0.025,
    ),
    # ten times the noise must not make a finger chatter or stop (field report B17)
    "hall-noise": KindRule(
        fault=FaultKind.HALL_NOISE,
        causes=frozenset({Cause.NONE, Cause.HALL_GLITCH}),
        sizes=(5.0, 15.0),
        must_react=False,
        name_s=0.8,
    ),
    "motor-lost": KindRule(fault=FaultKind.MOTOR_LOST, causes=frozenset({Cause.MOTOR_LOST}), name_s=0.025),
    "motor-reset": KindRule(fault=FaultKind.MOTOR_RESET, causes=frozenset({Cause.MOTOR_RESET}), name_s=0.025),
    "not-a-number": KindRule(
        fault=FaultKind.NAN,
        causes=frozenset({Cause.NOT_FINITE_MEASUREMENT}),
        name_s=0.025,
    ),
    # the sensor of a motor that should move and does not: the motor turns unseen
    "encoder-stuck": KindRule(
        fault=FaultKind.ENCODER_STUCK,
        causes=frozenset({Cause.ENCODER_STUCK, Cause.ENCODER_FAULT}),
        shows_by_winding=True,
        name_s=0.100,
        watch_s=1.6,
    ),
    "encoder-jump": KindRule(
        fault=FaultKind.ENCODER_JUMP,
        causes=frozenset({Cause.ENCODER_FAULT}),
        sizes=(0.05, 1.0),
        signed=True,
        name_s=0.025,
    ),
    # friction shows in a slow probe of its own, not within a second
    "friction-growth": KindRule(
        fault=FaultKind.FRICTION_GROWTH,
        causes=frozenset({Cause.NONE, Cause.FRICTION_GROWN}),
        sizes=(1.5, 2.5),
        must_react=False,
        name_s=0.8,
    ),
    # a winding's heat takes a minute to reach the sensor of the case
    "motor-hot": KindRule(
        fault=FaultKind.MOTOR_HOT,
        causes=frozenset({Cause.NONE, Cause.MOTOR_TOO_HOT}),
        sizes=(90.0, 150.0),
        must_react=False,
        name_s=0.8,
    ),
    # degrees below 2.5 are less than tolerances of a hand explain
    "wrist-offset": KindRule(
        fault=FaultKind.WRIST_OFFSET,
        causes=frozenset({Cause.WRIST_SENSOR, Cause.WRIST_JUMP}),
        sizes=(0.0436, 0.0873),
        signed=True,
        shows_after_s=0.200,
        name_s=0.300,
    ),
}
"""Kinds of trials by the name that the command line takes."""

SEEN_AXES: Final = frozenset({1})
"""Wrist axes whose error the fingers' residuals show; flexion hardly does near the neutral pose."""
ALL_AT_ONCE: Final = ("motor-lost", "motor-reset", "not-a-number")
"""Kinds that also befall every motor at once, as when a supply browns out: the hand-wide second fault."""
STANDING: Final = {
    "encoder-stuck": frozenset({"encoder-jump"}),
    "hall-stuck": frozenset(
        {"hall-offset", "hall-saturated", "hall-wrap", "hall-spike", "hall-spikes", "hall-noise"}
    ),
}
"""What a value that stands hides of its own sensor: nobody can tell it before that one is told."""
