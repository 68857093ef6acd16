"""Suspicions about bones of trees: an inertia that no such bone has, a centre of mass beside the bone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from hand.file.fingers import ChainFinger, HingeFinger, TreeFinger
from hand.file.hand import HandFile
from hand.file.locate import Path
from signals.layout import FloatArray

ROD_FACTOR: Final = 15.0
"""Between a bone's inertia and that of a finger-thick rod of its mass and length."""
BONE_RADIUS_M: Final = 0.007
BESIDE: Final = (-0.3, 1.3)
"""Place of a centre of mass on the way to what the bone carries, as its share: outside it is a slip."""


def tree_suspicions(hand: HandFile) -> Iterator[tuple[Path, str]]:
    """Of every bone whose far end is known: it carries another, or the fingertip."""
    for name, finger in hand.fingers.items():
        if not isinstance(finger, TreeFinger):
            continue
        riders = [np.array(_first(f)) for f in hand.fingers.values() if f.parent == name]
        for k, bone in enumerate(finger.bones):
            last = k == len(finger.bones) - 1
            ends = _carried(finger, k) + (riders if last else [])
            if last and finger.tip_m is not None:
                ends.append(np.array(finger.tip_m))
            way = np.mean(ends, axis=0) if ends else np.zeros(3)
            length = float(np.linalg.norm(way))
            at: Path = ("fingers", name, "bones", k)
            if length > BONE_RADIUS_M:
                share = float(np.dot(way, bone.com_m)) / length**2
                if not BESIDE[0] <= share <= BESIDE[1]:
                    text = f"{share:.1f} of the way to what the bone carries; a sign or a unit?"
                    yield (*at, "com_m"), text
            reach = length or 2.0 * math.dist((0.0, 0.0, 0.0), bone.com_m)
            rod = bone.mass_kg * (reach**2 / 12.0 + BONE_RADIUS_M**2 / 4.0)
            found = max(bone.inertia_kg_m2[:3])
            if not rod / ROD_FACTOR <= found <= rod * ROD_FACTOR:
                text = f"{found:.3g} kg m2, but a rod as long ({reach:.3g} m) and heavy "
                yield (*at, "inertia_kg_m2"), text + f"({bone.mass_kg:g} kg) has {rod:.3g}"


def _carried(finger: TreeFinger, k: int) -> list[FloatArray]:
    """Places of the bones that a bone carries."""
    bones, name = finger.bones, finger.bones[k].name
    return [
        np.array(b.position_m)
        for i, b in enumerate(bones)
        if i > 0 and (b.parent == name or (b.parent is None and i == k + 1))
    ]


def _first(finger: ChainFinger | HingeFinger | TreeFinger) -> tuple[float, float, float]:
    """Where a finger stands on what carries it."""
    if isinstance(finger, TreeFinger):
        return finger.bones[0].position_m
    return finger.position_m if isinstance(finger, HingeFinger) else finger.base_position_m
