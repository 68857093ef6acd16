"""What is legal in a hand file but hard to believe: printed misprints, derived values that do not follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from mechanics.motor import torque_constant_nm_a
from runtime.config.checks_physics import geometry_of
from runtime.config.fingers import ChainFinger
from runtime.config.hand import HandFile
from runtime.config.locate import Path, dotted
from runtime.config.thumb_base import unheld_of

SHORTEST_DISTAL_M: Final = 0.005
DERIVED_TOLERANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something to look at; the hand is used all the same."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {dotted(self.path)}: {self.text}"


def suspicions(hand: HandFile) -> tuple[Suspicion, ...]:
    """All suspicions, in the order of the file."""
    found = [Suspicion(path, hand.line_of(path), text) for rule in _RULES for path, text in rule(hand)]
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


def _derived(hand: HandFile) -> Found:
    motor, tendon = hand.motor, hand.tendon
    torque = torque_constant_nm_a(motor.pole_pairs, motor.flux_linkage_wb, hand.gear.ratio)
    section = math.pi / 4.0 * tendon.diameter_m**2 * tendon.youngs_modulus_pa
    values: tuple[tuple[Path, float, float, str], ...] = (
        (
            ("motor", "torque_constant_output_nm_a"),
            motor.torque_constant_output_nm_a,
            torque,
            "1.5 x pole_pairs x flux_linkage_wb x gear.ratio",
        ),
        (("tendon", "axial_stiffness_n"), tendon.axial_stiffness_n, section, "youngs_modulus_pa x section"),
    )
    for path, value, wanted, formula in values:
        if abs(value - wanted) > DERIVED_TOLERANCE * wanted:
            yield path, f"{value:g}, but {formula} gives {wanted:.4g}"


def _strength(hand: HandFile) -> Found:
    limit, kt = hand.limits.device_current_a, hand.motor.torque_constant_output_nm_a
    friction = math.pi / 2.0 * hand.friction.gamma_2_nm
    pull = (limit * kt - friction) / hand.spool.radius_m
    path: Path = ("limits", "device_current_a")
    if pull < hand.tendon.force_max_n:
        yield (
            path,
            f"pulls {pull:.0f} N against friction, less than force_max_n ({hand.tendon.force_max_n:g} N)",
        )
    if limit * kt > hand.gear.torque_peak_nm:
        yield (
            path,
            f"gives {limit * kt:.2f} N m, more than gear.torque_peak_nm ({hand.gear.torque_peak_nm:g})",
        )


def _ripple(hand: HandFile) -> Found:
    amplitude = sum(r.amplitude_nm for r in hand.ripple)
    friction = math.pi / 2.0 * hand.friction.gamma_2_nm
    if amplitude >= friction:
        text = (
            f"all harmonics give up to {amplitude:.3g} N m, friction {friction:.3g}: at a wrong phase their "
        )
        text += "feedforward turns a motor that should rest"
        yield ("ripple",), text


def _springs(hand: HandFile) -> Found:
    for name, spring in hand.springs.items():
        geometry = geometry_of(spring)
        levers = np.radians([spring.lever_slack_deg, spring.lever_max_deg, spring.lever_hard_stop_deg])
        slack, calibrated, stop = geometry.force_n(levers)
        low, high, most = hand.tendon.force_min_n, hand.tendon.force_max_n, hand.tendon.force_limit_n
        if low < slack:
            yield ("tendon", "force_min_n"), f"{low:g} N, but {name} sees nothing below {slack:.1f} N"
        if high > calibrated:
            yield ("tendon", "force_max_n"), f"{high:g} N, but {name} is calibrated to {calibrated:.0f} N"
        if most > stop:
            text = f"{most:g} N, but the lever of {name} stops at {stop:.0f} N: over-tension shows only"
            text += f" as a lever beyond its calibrated end ({calibrated:.0f} N)"
            yield ("tendon", "force_limit_n"), text


def _balance(hand: HandFile) -> Found:
    """Equal tensions should leave the straight fingers at rest: only then is the start pose one."""
    torque: dict[str, float] = {}
    size: dict[str, float] = {}
    for tendon in hand.tendons:
        for named, value in (tendon.dh_dq_m_rad or {}).items():
            torque[named] = torque.get(named, 0.0) - value
            size[named] = size.get(named, 0.0) + abs(value)
    for name, finger in hand.fingers.items():
        for k, joint in enumerate(finger.joints):
            if abs(torque.get(joint.name, 0.0)) > 0.01 * size.get(joint.name, 0.0):
                force = hand.tendon.pretension_n
                start = force * torque[joint.name]
                text = f"equal tensions of {force:g} N turn {joint.name} with {start:.3f} N m"
                yield ("fingers", name, "joints", k), text


def _wrist(hand: HandFile) -> Found:
    wrist = hand.wrist
    if wrist is None:
        return
    a, b, c = wrist.length_m, wrist.width_m, wrist.thickness_m
    box = (math.atan2(c, a), math.pi / 2.0 - math.atan2(b, math.hypot(a, c)))
    if max(abs(x - y) for x, y in zip(box, wrist.neutral_rad, strict=True)) > 1e-9:
        yield ("wrist", "neutral_rad"), f"not the neutral box of its size ({box[0]:.6f}, {box[1]:.6f})"


_RULES: Final[tuple[Callable[[HandFile], Found], ...]] = (
    _bones,
    _insertions,
    _unheld,
    _derived,
    _strength,
    _ripple,
    _springs,
    _balance,
    _wrist,
)
