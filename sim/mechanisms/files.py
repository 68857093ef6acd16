"""Kinds of mechanism file: for each its tables and how they become equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sim.mechanisms.arm7 import ArmFile, arm_mechanism
from sim.mechanisms.carpal_wrist import CarpalWristFile, carpal_mechanism
from sim.mechanisms.mechanism import Mechanism
from sim.mechanisms.muscle_finger import MuscleFingerFile, finger_mechanism
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import TreeFile, tree_mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismKind:
    """One kind of mechanism file."""

    tables: type[MechanismTable]
    """What the file may hold; unknown keys are errors."""
    assemble: Callable[[Any], Mechanism]
    """Checked tables -> mechanism; raises ``ValueError`` for what cannot exist, naming the part in quotes."""


ALONE: Final[dict[str, MechanismKind]] = {
    "tree": MechanismKind(tables=TreeFile, assemble=tree_mechanism),
    "muscle_finger": MechanismKind(tables=MuscleFingerFile, assemble=finger_mechanism),
    "arm": MechanismKind(tables=ArmFile, assemble=arm_mechanism),
    "carpal_wrist": MechanismKind(tables=CarpalWristFile, assemble=carpal_mechanism),
}
"""Our kinds whose files need no other file."""
