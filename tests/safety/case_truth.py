"""What a known case is, what truly came of it, and which promises that breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from guard.envelope import OVER_REFERENCE
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.layout import FloatArray
from trials import rules
from trials.draw import Trial
from trials.judge import Judge
from trials.record import Recording
from trials.rules import KINDS
from trials.scene import Scene
from trials.stops import Stops

NEVER_N: Final = 160.0
"""True tension that no legal goal may make."""
MOMENT_MS: Final = 20.0
"""Time in a row for which a legal goal may hold a tendon above ``rules.TENSION_LATER_N``."""


@cache
def hand_of(name: str) -> Hand:
    """A hand file, read once."""
    return read_hand(RunOptions(hand=name))


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        name: its name.
        hand: hand file.
        motion: motion; ``None``: a client commands.
        state: file of the state, without its ending.
        seconds: time that is run from the state on.
        what: what is done, each with ``at_s``: ``mode``, ``goal``, ``fault`` or ``measurement``.
        why: the promise that it broke.
        unavoidable: joints that reach a stop in spite of the strongest brake that the rules allow.
    """

    name: str
    hand: str
    motion: str | None
    state: str
    seconds: float
    what: tuple[dict[str, Any], ...]
    why: str
    unavoidable: tuple[str, ...] = ()

    @property
    def moves_one_joint(self) -> bool:
        """True if all that is done is one goal for one joint: the others only follow."""
        goals = [act.get("goal", {}) for act in self.what]
        if len(goals) != 1 or list(goals[0]) != ["joints"]:
            return False
        return len(goals[0]["joints"]) == 1 and "*" not in goals[0]["joints"]


@dataclass(slots=True)
class Truth:
    """What truly happened, all shapes (n cycles, ...).

    Attributes:
        time_s: time since the state, first row 0 (the state itself).
        tension_n: true tensions.
        joint_rad: true joint angles.
        joint_rad_s: true joint speeds.
        stops: joint -> greatest speed [rad/s] at which it reached a hard stop, 0.1 and more.
        causes: (finger or ``hand``) -> (cause, index of its part) at the end.
        refused: what the desk refused, as ``code: text``.
    """

    recording: Recording
    names: Any
    stops: dict[str, float]
    causes: dict[str, tuple[Cause, int]]
    refused: list[str] = field(default_factory=list)

    @property
    def time_s(self) -> FloatArray:
        return self.recording.time_s

    @property
    def tension_n(self) -> FloatArray:
        return self.recording.of("truth", "tension_n")

    @property
    def joint_rad(self) -> FloatArray:
        return self.recording.of("truth", "joint_angle_rad")

    @property
    def joint_rad_s(self) -> FloatArray:
        return self.recording.of("truth", "joint_speed_rad_s")

    @property
    def greatest_n(self) -> float:
        """Greatest true tension [N]."""
        return float(self.tension_n[1:].max())

    def above_ms(self, limit_n: float = rules.TENSION_LATER_N) -> float:
        """Longest time in a row [ms] that one tendon was above a tension."""
        over = self.tension_n[1:] > limit_n
        run, longest = np.zeros(over.shape[1]), 0.0
        for row in over:
            run = (run + 1.0) * row
            longest = max(longest, float(run.max()))
        return 1e3 * longest * float(np.median(np.diff(self.time_s)))

    @property
    def fastest_stop(self) -> tuple[float, str]:
        """Greatest speed into a hard stop [rad/s] and its joint."""
        return max(((v, j) for j, v in self.stops.items()), default=(0.0, ""))

    @property
    def fastest_joint(self) -> tuple[float, str]:
        """Greatest joint speed [rad/s] and its joint."""
        speeds = abs(self.joint_rad_s).max(axis=0)
        j = int(speeds.argmax())
        return float(speeds[j]), self.names.joints[j]


def broken(case: Case, truth: Truth) -> list[str]:
    """Promises that a case broke, each with its figures; empty: all were kept."""
    found = []
    if truth.greatest_n > NEVER_N:
        found.append(f"tension: {truth.greatest_n:.0f} N above {NEVER_N:.0f} N")
    if truth.above_ms() > MOMENT_MS:
        found.append(f"tension: above {rules.TENSION_LATER_N:.0f} N for {truth.above_ms():.1f} ms in a row")
    for joint, speed in truth.stops.items():
        if speed > rules.STOP_SPEED_RAD_S and joint not in case.unavoidable:
            found.append(f"stop: {joint} {speed:.1f} rad/s")
    if case.moves_one_joint:
        found += _too_fast(hand_of(case.hand), truth)
    for act in case.what:
        if "fault" in act:
            found += _misnamed(case, act["fault"], truth)
        if "measurement" in act:
            found += _pulled(act, truth)
    return found


def _too_fast(hand: Hand, truth: Truth) -> list[str]:
    """No joint may be faster than the guard lets its motors move it."""
    speed = abs(truth.joint_rad_s).max(axis=0)
    fastest = OVER_REFERENCE * hand.model["joint_speed_max_rad_s"][0, : len(speed)]
    return [
        f"speed: {hand.names.joints[j]} {speed[j]:.1f} rad/s above {fastest[j]:.1f}"
        for j in np.flatnonzero(speed > fastest)
    ]


def _misnamed(case: Case, fault: dict[str, Any], truth: Truth) -> list[str]:
    rule, hand = KINDS[fault["kind"]], hand_of(case.hand)
    judge = Judge(hand.names, hand.model)
    trial = Trial(seed=0, motion="", mismatch=0, moment=0.0, **fault)
    own = judge.finger_of(trial)
    cause, part = truth.causes.get("hand" if own is None else hand.names.fingers[own], (Cause.NONE, -1))
    if cause in rule.causes and part in judge.right_parts(trial, rule, cause):
        return []
    return [f"name: {cause.name} {part}"]


def _pulled(act: dict[str, Any], truth: Truth) -> list[str]:
    """No motor may pull harder after a sample that nobody should believe than it did before."""
    torque = truth.recording.of("truth", "motor_torque_nm")
    begun = truth.recording.after(act["at_s"]) + 1  # a frame's torque was commanded before its sample
    harder = torque[begun:] - torque[:begun].max(axis=0)
    most = float(harder.max())
    return [f"torque: {most:.2f} N m more than before"] if most > rules.TORQUE_MARGIN_NM else []


def stops_of(hand: Hand, recording: Recording) -> dict[str, float]:
    """Joint -> greatest speed [rad/s] at which it reached a hard stop, 0.1 and more."""
    found: dict[str, float] = {}
    for (j, _), (speed, _) in Stops(hand.names, hand.model).hits(recording, 0.1).items():
        found[hand.names.joints[j]] = max(found.get(hand.names.joints[j], 0.0), speed)
    return found


def causes_of(hand: Hand, scene: Scene) -> dict[str, tuple[Cause, int]]:
    """Finger or ``hand`` -> latched cause and index of its part now."""
    s = scene.rig.views["state"][0]
    found = {}
    if s["hand_cause"]:
        found["hand"] = (Cause(int(s["hand_cause"])), int(s["hand_cause_part"]))
    for f, name in enumerate(hand.names.fingers):
        if s["finger_cause"][f]:
            found[name] = (Cause(int(s["finger_cause"][f])), int(s["finger_cause_part"][f]))
    return found
