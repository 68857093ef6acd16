"""All kinds of mechanism file in one type, chosen by ``kind``."""

from __future__ import annotations

from sim.mechanisms.arm7 import ArmFile, arm_mechanism
from sim.mechanisms.carpal_wrist import CarpalWristFile, carpal_mechanism
from sim.mechanisms.hand_on_arm import HandOnArmFile
from sim.mechanisms.mechanism import Mechanism
from sim.mechanisms.muscle_finger import MuscleFingerFile, finger_mechanism
from sim.mechanisms.trees import TreeFile, tree_mechanism

AloneFile = TreeFile | MuscleFingerFile | ArmFile | CarpalWristFile
"""Files that need no other file."""
MechanismFile = AloneFile | HandOnArmFile

KINDS: dict[str, type[MechanismFile]] = {
    "tree": TreeFile,
    "muscle_finger": MuscleFingerFile,
    "arm": ArmFile,
    "carpal_wrist": CarpalWristFile,
    "hand_on_arm": HandOnArmFile,
}
"""Kind -> tables of its file."""


def mechanism_of(file: AloneFile) -> Mechanism:
    """Assemble a file that needs no other; raises what its assembly raises (all of them ``ValueError``)."""
    if isinstance(file, TreeFile):
        return tree_mechanism(file)
    if isinstance(file, MuscleFingerFile):
        return finger_mechanism(file)
    if isinstance(file, ArmFile):
        return arm_mechanism(file)
    return carpal_mechanism(file)
