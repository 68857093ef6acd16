"""What is legal in a hand file but hard to believe, and what its owner should know of it.

Suspicions are likely mistakes: slips of units, loops that are not stable, derived values that do not follow.
Facts are limits that a sound hand may have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from hand.assembly.meshes import bodies_of, mesh_file
from hand.file.checks_physics import lever_curve
from hand.file.drives import Drive, PmsmDrive
from hand.file.fingers import ChainFinger
from hand.file.gears import MADE_OF_GEARS
from hand.file.hand import HandFile
from hand.file.locate import Path, dotted
from hand.file.springs import LEVER_SPRINGS, LeverSpring, PolynomialSpring
from hand.file.thumb_base import unheld_of
from hand.review.balance import balance, joint_springs
from hand.review.margins import loop_suspicions
from hand.review.plausible import implausible, unlike_joints
from hand.review.sensors import difference_scales, force_scales, hall_scales, joint_scales
from hand.review.trees import BONE_RADIUS_M, ROD_FACTOR, tree_suspicions
from mechanics.motor import torque_constant_nm_a

SHORTEST_DISTAL_M: Final = 0.005
DERIVED_TOLERANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something to look at or to know; the hand is used all the same."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {dotted(self.path)}: {self.text}"


def suspicions(hand: HandFile, rate_hz: float | None = None) -> tuple[Suspicion, ...]:
    """All suspicions, in the order of the file; ``rate_hz``: a control rate in place of the file's."""
    if rate_hz is not None:
        control = hand.control.model_copy(update={"rate_hz": rate_hz})
        hand = hand.model_copy(update={"control": control})
    return _told(hand, _RULES)


def facts(hand: HandFile) -> tuple[Suspicion, ...]:
    """All facts, in the order of the file."""
    return _told(hand, _FACTS)


def _told(hand: HandFile, rules: tuple[Callable[[HandFile], Found], ...]) -> tuple[Suspicion, ...]:
    made = MADE_OF_GEARS if hand.gears else ()
    told = [(path, text) for rule in rules for path, text in rule(hand) if path[0] not in made]
    found = [Suspicion(path, hand.line_of(path), text) for path, text in told]
    return tuple(sorted(found, key=lambda s: s.line))


Found = Iterator[tuple[Path, str]]


def _bones(hand: HandFile) -> Found:
    for name, finger in hand.fingers.items():
        if not isinstance(finger, ChainFinger):
            continue
        tip = finger.bones[3].length_m
        if tip < SHORTEST_DISTAL_M:
            path: Path = ("fingers", name, "bones", 3, "length_m")
            origin = hand.origins.get(path)
            word = f"{origin.word}, but " if origin else ""
            yield (
                path,
                f"{word}a distal bone of {tip * 1e3:.2f} mm is a lost digit (a misprint of Table 5.1?)",
            )


def _insertions(hand: HandFile) -> Found:
    for name, finger in hand.fingers.items():
        if isinstance(finger, ChainFinger) and finger.insertions and finger.insertion_set:
            points = finger.insertions[finger.insertion_set]
            if points.palm_m == points.bone_m:
                path: Path = ("fingers", name, "insertion_set")
                yield path, f'"{finger.insertion_set}" has the same points in palm and bone'


def _unheld(hand: HandFile) -> Found:
    for name, finger in hand.fingers.items():
        if isinstance(finger, ChainFinger) and finger.kind == "tensegrity_base":
            unheld = unheld_of(hand, name, finger)
            if unheld is not None:
                text = f"no tensions hold the base in {unheld.share:.0%} of its range, as at "
                text += f"{unheld.q0_deg:.0f}, {unheld.q1_deg:.0f} deg; motions must stay out"
                yield ("fingers", name, "joints"), text


def _drives(hand: HandFile) -> Iterator[tuple[Path, Drive]]:
    """Types of drive with the place of their tables."""
    for name, drive in hand.drive_types.items():
        yield (() if hand.drives is None else ("drives", name)), drive


def _derived(hand: HandFile) -> Found:
    tendon = hand.tendon
    section = math.pi / 4.0 * tendon.diameter_m**2 * tendon.youngs_modulus_pa
    values: list[tuple[Path, float, float, str]] = [
        (("tendon", "axial_stiffness_n"), tendon.axial_stiffness_n, section, "youngs_modulus_pa x section"),
    ]
    for at, drive in _drives(hand):
        if isinstance(drive, PmsmDrive):
            motor = drive.motor
            torque = torque_constant_nm_a(motor.pole_pairs, motor.flux_linkage_wb, drive.gear.ratio)
            key: Path = (*at, "motor", "torque_constant_output_nm_a")
            formula = "1.5 x pole_pairs x flux_linkage_wb x gear.ratio"
            values.insert(0, (key, motor.torque_constant_output_nm_a, torque, formula))
    for path, value, wanted, formula in values:
        if abs(value - wanted) > DERIVED_TOLERANCE * wanted:
            yield path, f"{value:g}, but {formula} gives {wanted:.4g}"


def _strength(hand: HandFile) -> Found:
    for at, drive in _drives(hand):
        torque = hand.current_limit_a(drive) * drive.torque_nm_a
        friction = math.pi / 2.0 * drive.friction.gamma_2_nm
        pull = (torque - friction) / hand.spool.radius_m
        pmsm = isinstance(drive, PmsmDrive)
        path: Path = ("limits", "device_current_a") if pmsm else (*at, "current_limit_a")
        if not hand.gears and pull < hand.tendon.force_max_n:
            text = f"pulls {pull:.0f} N against friction, less than force_max_n"
            yield path, f"{text} ({hand.tendon.force_max_n:g} N)"
        if isinstance(drive, PmsmDrive) and torque > drive.gear.torque_peak_nm:
            peak = f"{dotted((*at, 'gear', 'torque_peak_nm'))} ({drive.gear.torque_peak_nm:g})"
            yield path, f"gives {torque:.2f} N m, more than {peak}"


def _ripple(hand: HandFile) -> Found:
    for at, drive in _drives(hand):
        amplitude = sum(r.amplitude_nm for r in drive.ripple) if isinstance(drive, PmsmDrive) else 0.0
        friction = math.pi / 2.0 * drive.friction.gamma_2_nm
        if amplitude >= friction and amplitude > 0.0:
            text = f"all harmonics give up to {amplitude:.3g} N m, friction {friction:.3g}: at a wrong phase "
            text += "their feedforward turns a motor that should rest"
            yield (*at, "ripple"), text


def _levers(hand: HandFile) -> Iterator[tuple[str, LeverSpring | PolynomialSpring]]:
    return ((name, s) for name, s in hand.springs.items() if isinstance(s, LEVER_SPRINGS))


def _springs(hand: HandFile) -> Found:
    for name, spring in _levers(hand):
        geometry = lever_curve(spring)
        levers = np.radians([spring.lever_slack_deg, spring.lever_max_deg, spring.lever_hard_stop_deg])
        slack, calibrated, _ = geometry.force_n(levers)
        low, high = hand.tendon.force_min_n, hand.tendon.force_max_n
        if low < slack:
            yield ("tendon", "force_min_n"), f"{low:g} N, but {name} sees nothing below {slack:.1f} N"
        if high > calibrated:
            yield ("tendon", "force_max_n"), f"{high:g} N, but {name} is calibrated to {calibrated:.0f} N"


def _lever_stops(hand: HandFile) -> Found:
    for name, spring in _levers(hand):
        levers = np.radians([spring.lever_max_deg, spring.lever_hard_stop_deg])
        calibrated, stop = lever_curve(spring).force_n(levers)
        most = hand.tendon.force_limit_n
        if most > stop:
            text = f"{most:g} N, but the lever of {name} stops at {stop:.0f} N: over-tension shows only"
            text += f" as a lever beyond its calibrated end ({calibrated:.0f} N)"
            yield ("tendon", "force_limit_n"), text


def _forgotten(hand: HandFile) -> Found:
    """A tendon without a sensor among others that have one; ``hall_used = false`` says that it is meant."""
    for k, tendon in enumerate(hand.tendons):
        same = [t.name for t in hand.tendons if t.finger == tendon.finger and hand.sees(t.name)]
        if same and tendon.hall_used is None and hand.channel_at(tendon.name) is None:
            text = f"no sensor, but {', '.join(same)} have one; if it has none, say hall_used = false"
            yield ("tendons", k), text


def _inertias(hand: HandFile) -> Found:
    """A bone is a rod, more or less: its inertia follows from mass and length."""
    for name, finger in hand.fingers.items():
        for k, bone in enumerate(finger.bones if isinstance(finger, ChainFinger) else ()):
            rod = bone.mass_kg * (bone.length_m**2 / 12.0 + BONE_RADIUS_M**2 / 4.0)
            found = max(bone.inertia_diag_kg_m2)
            if not rod / ROD_FACTOR <= found <= rod * ROD_FACTOR:
                text = f"{found:.3g} kg m2, but a rod as long ({bone.length_m:g} m) and heavy "
                text += f"({bone.mass_kg:g} kg) has {rod:.3g}"
                yield ("fingers", name, "bones", k, "inertia_diag_kg_m2"), text


def _meshes(hand: HandFile) -> Found:
    for path, body in bodies_of(hand):
        if body.mesh is not None and not mesh_file(hand, body.mesh.file).is_file():
            yield (*path, "mesh", "file"), f'no file "{body.mesh.file}" beside this one; drawn as a capsule'


def _wrist(hand: HandFile) -> Found:
    wrist = hand.wrist
    if wrist is None:
        return
    a, b, c = wrist.length_m, wrist.width_m, wrist.thickness_m
    box = (math.atan2(c, a), math.pi / 2.0 - math.atan2(b, math.hypot(a, c)))
    if max(abs(x - y) for x, y in zip(box, wrist.neutral_rad, strict=True)) > 1e-9:
        yield ("wrist", "neutral_rad"), f"not the neutral box of its size ({box[0]:.6f}, {box[1]:.6f})"


_FACTS: Final[tuple[Callable[[HandFile], Found], ...]] = (_insertions, _unheld, _lever_stops)
_RULES: Final[tuple[Callable[[HandFile], Found], ...]] = (
    _bones,
    _inertias,
    hall_scales,
    _forgotten,
    force_scales,
    difference_scales,
    joint_scales,
    _derived,
    _strength,
    _ripple,
    _springs,
    balance,
    joint_springs,
    _wrist,
    _meshes,
    tree_suspicions,
    implausible,
    unlike_joints,
    loop_suspicions,
)
