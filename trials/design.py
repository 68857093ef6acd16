"""What a broken tendon does to a joint, and what of the hand would have to change so that its stop is spared.

A tendon breaks, its partners pull the joint into its stop, and the strongest brake that the rules of the
fault trials allow tries to hold them back. The plant is asked, not a formula: the same break at lower working
tensions, and with faster drives. Damping ahead of the stop comes from the joint's inertia and its speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from hand.assembly.assemble import model_of
from hand.hand import Hand
from mechanics.springs import stiffness_of_force
from reports.design.sheet import Sheet, Table
from reports.picture import COLOURS, PALE
from signals.choices import WrongChoice
from signals.layout import FloatArray
from signals.names import UnknownName
from signals.records import RecordArray
from telemetry.shm.channel import Channel
from trials import rules
from trials.campaign import motions_of
from trials.judge import Judge
from trials.record import Recording
from trials.rules import KINDS
from trials.scene import SLOTS, Scene
from trials.trial import Trial

KIND: Final = "tendon-break"
UNTIL_S: Final = 0.2
"""Time after the break that is looked at."""
TENSIONS_N: Final = (15.0, 10.0, 7.0, 5.0)
"""Working tensions that are tried below the hand's own."""
DRIVES: Final = (2.0, 4.0, 8.0, 16.0)
"""Drives that are tried: current, voltage and torque rate this many times the hand's."""
BUMPER_RAD: Final = float(np.radians(5.0))
"""Way ahead of the stop over which a bumper damps."""
SLOW_RAD_S: Final = 0.5
"""A joint that reaches its stop no faster is not thrown."""
ENERGY_STEPS: Final = 200
Hits = dict[tuple[int, int], float]
"""(joint, side) -> speed [rad/s] into that stop under its strongest brake."""


@dataclass(slots=True, kw_only=True)
class Throw:
    """What the break of one tendon does to the joint that it throws hardest.

    Attributes:
        tendon: the tendon that breaks.
        joint: joint that is thrown; empty: none reaches its stop.
        side: 1 the upper stop, -1 the lower one.
        working_n: true tension of the tendon before it breaks.
        energy_j: elastic energy of all tendons that pull the joint to that stop.
        speed_rad_s: speed into the stop with the controller at work.
        braked_rad_s: the same under the strongest brake.
        tension_n: highest tried working tension whose braked speed keeps the rule; ``None``: none does.
        drive: least tried factor of a drive that does; ``None``: none does.
        bumper_nms_rad: damping over ``BUMPER_RAD`` ahead of the stop that does.
        safe: the braked speed keeps the rule as the hand is.
    """

    tendon: str
    joint: str = ""
    side: int = 0
    working_n: float = 0.0
    energy_j: float = 0.0
    speed_rad_s: float = 0.0
    braked_rad_s: float = 0.0
    tension_n: float | None = None
    drive: float | None = None
    bumper_nms_rad: float = 0.0
    safe: bool = True


class Breaks:
    """Breaks of every tendon of one hand.

    Args:
        hand: the hand, read.
        place: motion, and share of its period at which a tendon breaks.
        drive: current, voltage and torque rate of its drives as a multiple of the hand's.
    """

    def __init__(self, hand: Hand, place: tuple[str, float], drive: float = 1.0) -> None:
        self.judge = Judge(hand.names, _with_drives(hand.model, drive))
        self._scene = Scene(hand, place[0], channel=Channel.local(SLOTS, window=round(hand.rate_hz)))
        plant = self._scene.bus.model
        plant[:] = _with_drives(plant, drive)
        self._scene.drives = self.judge.model
        self._scene.keep_states()
        self._place = place

    def free(self, t: int) -> Recording:
        """The break of a tendon, with the controller at work."""
        return self._scene.run_trial(self._trial(t), until_s=UNTIL_S)

    def braked(self, t: int, stops: Iterable[tuple[int, int]], pose: FloatArray) -> Hits:
        """Speed into each stop under the strongest brake of its joint; 0: it is not reached."""
        found: Hits = {}
        for j, side in stops:
            brake = self.judge.brake_a(self._trial(t), j, side, pose)
            told_s = KINDS[KIND].tell_s
            seen = self._scene.run_trial(self._trial(t), brake=brake, brake_after_s=told_s, until_s=UNTIL_S)
            found[j, side] = self.judge.hits(seen, 0.0).get((j, side), (0.0, 0.0))[0]
        return found

    def _trial(self, t: int) -> Trial:
        motion, moment = self._place
        return Trial(seed=t, kind=KIND, motion=motion, mismatch=0, part=t, moment=moment, size=0.0)

    def inertia_kg_m2(self, j: int) -> float:
        """Inertia of the tree beyond a joint about it, in the pose before a break."""
        self._scene.run_trial(self._trial(0), with_fault=False, until_s=1.0 / self._scene.hand.rate_hz)
        c = int(self._scene.hand.model["n_axes"][0]) + j
        return float(self._scene.bus.work["H"][0, c, c])


def _with_drives(model: RecordArray, times: float) -> RecordArray:
    found = model.copy()
    for name in ("motor_current_limit_a", "motor_torque_limit_nm", "bus_voltage_v", "torque_rate_nm_s"):
        found[name] = found[name] * times
    return found


def energy_j(model: RecordArray, t: int, force_n: float) -> float:
    """Elastic energy [J] of spring and tendon at a tension: the integral of f / k(f)."""
    f = np.linspace(0.0, force_n, ENERGY_STEPS)
    k = np.array([stiffness_of_force(model[0], t, float(x)) for x in f])
    return float(np.trapezoid(f / k, f))


def throws(hand: Hand, motion: str = "hold", moment: float = 0.0) -> list[Throw]:
    """The hardest throw of every tendon as the hand is, and what would spare its stop.

    Args:
        hand: the hand, read.
        motion: what the hand does.
        moment: share 0..1 of the motion's period at which a tendon breaks.

    Raises:
        UnknownName: a motion that the hand cannot make with all its tendons.
        WrongChoice: no such share.
    """
    if motion not in motions_of(hand):
        raise UnknownName("motion of this hand", motion, motions_of(hand))
    if not 0.0 <= moment <= 1.0:
        raise WrongChoice(f"moment is {moment:g}; legal are 0 to 1, a share of the motion's period")
    place = (motion, moment)
    own = Breaks(hand, place)
    found: list[tuple[Throw, tuple[int, int], FloatArray]] = []
    safe: list[Throw] = []
    for t in range(len(hand.names.tendons)):
        throw, stop, pose = _hardest(own, hand, t)
        if throw.safe:
            safe.append(throw)
        else:
            found.append((throw, stop, pose))
    for tension_n in TENSIONS_N:
        left = [item for item in found if item[0].tension_n is None and item[0].working_n > tension_n]
        if left:
            softer = Breaks(_softer(hand, tension_n), place)
            for throw, stop, pose in left:
                t = hand.names.tendons.index(throw.tendon)
                if softer.braked(t, [stop], pose)[stop] <= rules.STOP_SPEED_RAD_S:
                    throw.tension_n = tension_n
    for times in DRIVES:
        left = [item for item in found if item[0].drive is None]
        if left:
            faster = Breaks(hand, place, times)
            for throw, stop, pose in left:
                t = hand.names.tendons.index(throw.tendon)
                if faster.braked(t, [stop], pose)[stop] <= rules.STOP_SPEED_RAD_S:
                    throw.drive = times
    order = hand.names.tendons.index
    return sorted([throw for throw, _, _ in found] + safe, key=lambda throw: order(throw.tendon))


def _softer(hand: Hand, tension_n: float) -> Hand:
    return replace(hand, model=model_of(hand.file, rate_hz=hand.rate_hz, pretension_n=tension_n))


def _hardest(own: Breaks, hand: Hand, t: int) -> tuple[Throw, tuple[int, int], FloatArray]:
    """The stop that is hit hardest under its brake, and the pose before the break."""
    recording = own.free(t)
    before = recording.after(0.0) - 1
    pose = recording.of("truth", "joint_angle_rad")[before]
    tension = recording.of("truth", "tension_n")[before]
    throw = Throw(tendon=hand.names.tendons[t], working_n=float(tension[t]))
    hits = own.judge.hits(recording, SLOW_RAD_S)
    if not hits:
        return throw, (0, 0), pose
    braked = own.braked(t, hits, pose)
    stop = max(hits, key=lambda hit: (braked[hit], hits[hit][0]))
    j, side = stop
    rows = own.judge.coupling(pose)
    finger = hand.model["tendon_finger"][0]
    pullers = [p for p in range(len(rows)) if p != t and finger[p] == finger[t] and -side * rows[p, j] > 0.0]
    throw.joint, throw.side = hand.names.joints[j], side
    throw.energy_j = sum(energy_j(hand.model, p, float(tension[p])) for p in pullers)
    throw.speed_rad_s, throw.braked_rad_s = hits[stop][0], braked[stop]
    throw.safe = braked[stop] <= rules.STOP_SPEED_RAD_S
    # a damper D over a way w takes D w / I of the speed
    excess = max(braked[stop] - rules.STOP_SPEED_RAD_S, 0.0)
    throw.bumper_nms_rad = own.inertia_kg_m2(j) * excess / BUMPER_RAD
    return throw, stop, pose


def break_sheet(hand: Hand, found: list[Throw], motion: str = "hold", moment: float = 0.0) -> Sheet:
    """What breaks do and what would spare the stops, as ``throws`` found it."""
    bad = sum(not throw.safe for throw in found)
    return Sheet(
        name="break",
        title=f"{hand.name}: one tendon breaks",
        line=f"Motion {motion}, at {moment:g} of it; limit {rules.STOP_SPEED_RAD_S:.0f} rad/s into a stop.",
        figures={
            "motion": motion,
            "moment": moment,
            "hand": hand.name,
            "hand_sha256": hand.sha256,
            "limit_rad_s": rules.STOP_SPEED_RAD_S,
            "bumper_rad": BUMPER_RAD,
            "tensions_n": list(TENSIONS_N),
            "drives": list(DRIVES),
            "unavoidable": bad,
            "tendons": [asdict(throw) for throw in found],
        },
        tables=[Table(title="Every tendon", heads=HEADINGS, rows=[_row(throw) for throw in found])],
        draw=lambda figure: _draw(figure, found),
        about="speed into the stop by broken tendon, and the energy of its pullers",
        notes=(
            f"{bad} of {len(found)} breaks hit a stop that the strongest brake does not spare; "
            f"damping is over the last {np.degrees(BUMPER_RAD):.0f} deg ahead of the stop.",
        ),
    )


HEADINGS: Final = (
    "tendon", "joint", "stop", "N", "energy mJ", "rad/s", "braked", "spared at N", "by drive", "by damping"
)  # fmt: skip


def _row(throw: Throw) -> tuple[str, ...]:
    wanted = ("-", "-", "-")
    if not throw.safe:
        wanted = (
            f"none of {TENSIONS_N[-1]:.0f}+" if throw.tension_n is None else f"{throw.tension_n:.0f}",
            f"not by x{DRIVES[-1]:.0f}" if throw.drive is None else f"x{throw.drive:.0f}",
            f"{1e3 * throw.bumper_nms_rad:.2f} mN m s",
        )
    stop = {1: "upper", -1: "lower", 0: "-"}[throw.side]
    figures = (f"{throw.working_n:.0f}", f"{1e3 * throw.energy_j:.1f}", f"{throw.speed_rad_s:.1f}")
    return (throw.tendon, throw.joint or "-", stop, *figures, f"{throw.braked_rad_s:.1f}", *wanted)


def _draw(figure: Any, found: list[Throw]) -> None:
    speed, energy = figure.subplots(2, 1, sharex=True)
    at = np.arange(len(found))
    speed.bar(at - 0.2, [t.speed_rad_s for t in found], 0.4, color=COLOURS[0], label="controller at work")
    speed.bar(at + 0.2, [t.braked_rad_s for t in found], 0.4, color=COLOURS[1], label="strongest brake")
    speed.axhline(rules.STOP_SPEED_RAD_S, color=PALE, linestyle=":", label="limit")
    speed.set(title="Speed into the stop", ylabel="rad/s")
    speed.legend()
    energy.bar(at, [1e3 * t.energy_j for t in found], 0.6, color=COLOURS[2])
    energy.set(title="Energy of all tendons that pull there", ylabel="mJ")
    for axis in (speed, energy):
        axis.set_axisbelow(True)
    energy.set_xticks(at, [t.tendon for t in found], rotation=90)
