"""What is seen of each finger, by what, and what is not detected, by the sensors that its file has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from hand.assembly.assemble import model_of
from hand.file.hand import HandFile
from mechanics.drives import angles_taken
from mechanics.plausible import LEAST_NOISE
from mechanics.sources import differing, joint_sources
from signals.choices import WrongChoice
from signals.layout import BoolArray

CAPABILITIES: Final[dict[str, str]] = {
    "joints": "sensors alone tell all joint angles",
    "tension": "a sensor tells the tension of every tendon",
    "redundancy": "more sensors than joints: they can contradict each other",
}
"""What ``--require`` may name."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen of a finger.

    Attributes:
        finger: its name.
        joints: what tells its joint angles.
        tension: what tells the tensions of its tendons.
        can: those of ``CAPABILITIES`` that it has.
        not_detected: faults that no detector can see.
    """

    finger: str
    joints: str
    tension: str
    can: tuple[str, ...]
    not_detected: tuple[str, ...]


ALWAYS: Final = (
    "wear and creep of tendons, before they show as slack or as a residual",
    "a sensor that stands still while its finger does",
)
"""What no finger's detectors see."""


def sights_of(hand: HandFile) -> tuple[Sight, ...]:
    """One for each finger, in the order of the file."""
    m = model_of(hand)[0]
    return tuple(_sight(hand, m, f, name) for f, name in enumerate(hand.fingers))


def _plays(hand: HandFile, m: np.void, f: int) -> list[str]:
    """What gears with play leave open of the joints of a finger, by its size."""
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    joints: dict[str, list[str]] = {}
    ways_m = 0.5 * m["backlash_rad"][m["tendon_motor"][tendons]] * abs(m["spool_radius_m"][tendons])
    for j in m["finger_joint"][f, : m["finger_n_joints"][f]]:
        if hand.joint_sensor_at(hand.joints[j].name) is not None:
            continue
        play_deg = 2.0 * float(np.degrees(abs(m["pinv_jt_1_m"][j, tendons]) @ ways_m))
        if play_deg > 0.0:
            joints.setdefault(f"{play_deg:.3g}", []).append(hand.joints[j].name)
    return [
        f"play of {play} deg at joint {', '.join(names)}, which motor encoders do not see"
        for play, names in joints.items()
    ]


def _common(names: list[str]) -> list[str]:
    """What sensors of force differences leave open of these tendons, which have no others."""
    if not names:
        return []
    which = ", ".join(names)
    return [
        f"a loss or growth of the tension that {which} have in common: sensors tell their differences",
        "an offset or jumps of a sensor of force differences",
    ]


def _tension_by(sensed: BoolArray, differ: BoolArray) -> str:
    """What tells the tensions of tendons: sensors of their own, or of differences to others."""
    if sensed.all():
        return "sensors"
    if not (differ & ~sensed).any():
        return "sensors, others computed" if sensed.any() else "motor currents"
    told = (
        ("sensors", sensed.any()),
        ("force differences", True),
        ("others computed", not (differ | sensed).all()),
    )
    return ", ".join(word for word, there in told if there)


def _sight(hand: HandFile, m: np.void, f: int, name: str) -> Sight:
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    sensed = m["hall_weight"][tendons] > 0.0
    sources = joint_sources(m, f)
    by_springs, by_current = "springs" in sources, "motor currents" in sources
    joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
    own = m["joint_weight_m2"][joints] > 0.0
    side_deg = float(np.degrees(m["joint_side_rad"][joints].max()))
    differ = differing(m, tendons)
    names = [hand.tendons[t].name for t in tendons]
    blind = [n for n, seen in zip(names, sensed, strict=True) if not seen]
    can = [
        word
        for word, has in (
            ("joints", own.all() or (not by_current and not by_springs)),
            ("tension", not blind),
            ("redundancy", own.all() or (not by_current and sensed.sum() > own.size)),
        )
        if has
    ]
    missed = []
    if hand.gears:
        missed.append("a break of any gear (of any tendon, as its lines are called): its motor turns on")
    elif blind and own.all():
        missed.append(
            f"a break or slackness of {', '.join(blind)}, while no joint is {side_deg:.0f} deg away"
        )
    elif blind:
        how = "only its motor's current" if by_current else "no sensor"
        how = "at most a difference" if differ.any() else how
        which = ", ".join(blind) if sensed.any() else "any tendon"
        missed.append(f"a break or slackness of {which}: {how} tells its tension")
    if "redundancy" not in can:
        slips = "a horn or gear that slips" if hand.gears else "a tendon that slips on its spool"
        missed.append(f"{slips}, a drift of a sensor or a motor's angle")
    elif own.all() and by_current:
        missed.append(f"a slip or a drift by which joint and motor are less than {side_deg:.0f} deg apart")
    if by_current and not own.all():
        missed.append("what turns a joint while its motor stands: the friction of the drive hides it")
    if by_current:
        if angles_taken(m, f):
            missed.append("a gear that is stuck: its current is that of a finger that pushes")
    missed += _common([n for n, d in zip(names, differ & ~sensed, strict=True) if d])
    missed += _plays(hand, m, f)
    quiet = [j for j in joints[own] if m["joint_noise_count"][j] < LEAST_NOISE]
    if by_springs and quiet:
        which = ", ".join(hand.joints[j].name for j in quiet)
        missed.append(
            f"a joint sensor that stands still, of {which}: something may hold the joint, "
            "and less noise than half a count does not tell a sound sensor from a dead one"
        )
    if by_springs and not own.all():
        missed.append(
            "an object that holds some joints: the others are taken to be where their springs have them"
        )
        missed.append("a spring that is broken or has grown soft: the joints share the line's way otherwise")
    tension = _tension_by(sensed, differ)
    return Sight(name, " and ".join(sources), tension, tuple(can), tuple(missed))


def gaps(hand: HandFile, required: tuple[str, ...]) -> list[str]:
    """Capabilities that are required and that a finger does not have, each as a sentence.

    Raises:
        WrongChoice: a word that is none of ``CAPABILITIES``.
    """
    for word in required:
        if word not in CAPABILITIES:
            raise WrongChoice(f"require: found {word!r}; legal: {', '.join(CAPABILITIES)}")
    return [
        f"{s.finger}: no {word} ({CAPABILITIES[word]})"
        for word in dict.fromkeys(required)
        for s in sights_of(hand)
        if word not in s.can
    ]
