"""Where a tensegrity base can be held: poses at which its straight tendons can all be taut at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hand.file.balance import insertion_row, taut_pattern
from hand.file.fingers import ChainFinger
from hand.file.hand import HandFile

POSES = 9
"""Poses per joint range that are looked at."""


@dataclass(frozen=True, slots=True)
class Unheld:
    """How much of a base's range cannot be held."""

    share: float
    q0_deg: float
    q1_deg: float
    """Such a pose, the one nearest to straight."""


def unheld_of(hand: HandFile, name: str, finger: ChainFinger) -> Unheld | None:
    """Poses of the two base joints where no tensions between force_min_n and force_max_n balance."""
    points = (finger.insertions or {})[finger.insertion_set or ""]
    letters = [t.insertion for t in hand.tendons if t.finger == name and t.insertion is not None]
    ends = [(np.array(points.palm_m[k]), np.array(points.bone_m[k])) for k in letters]
    offset, bone = finger.bones[0].length_m, finger.bones[1].length_m
    most = hand.tendon.force_max_n / hand.tendon.force_min_n
    grid = [np.linspace(*finger.joints[k].range_deg, POSES) for k in range(2)]
    bad: list[tuple[float, float]] = []
    for q0 in grid[0]:
        for q1 in grid[1]:
            angles = math.radians(q0), math.radians(q1)
            rows = np.array([insertion_row(a, b, offset, bone, *angles) for a, b in ends])
            pattern = taut_pattern(rows)
            if pattern is None or pattern.max() > most:
                bad.append((float(q0), float(q1)))
    if not bad:
        return None
    nearest = min(bad, key=lambda pose: math.hypot(*pose))
    return Unheld(len(bad) / POSES**2, *nearest)
