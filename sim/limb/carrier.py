"""Mechanisms that carry a tendon hand: which coordinates have motors, and the tree that both make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mechanics.carried import lengths_at
from mechanics.dynamics.tree import Tree
from signals.names import HandNames
from signals.records import RecordArray
from sim.mechanisms.arm7 import ArmFile
from sim.mechanisms.carpal_wrist import LEGS, CarpalWristFile
from sim.mechanisms.hand_on_arm import HandOnArmFile, carrier_joints, limb_tree
from sim.mechanisms.hand_on_carpal import PALM, HandOnCarpalFile, carpal_limb_tree, without_wrist
from sim.mechanisms.load import LoadedMechanism, load_mechanism

CARRYING: Final = (HandOnArmFile, HandOnCarpalFile)


def hand_of(loaded: LoadedMechanism) -> str | None:
    """Name or path of the hand file that a mechanism carries, ``None``: it carries none."""
    return loaded.file.hand if isinstance(loaded.file, CARRYING) else None


def _arm_of(file: HandOnArmFile) -> ArmFile:
    arm = load_mechanism(file.arm).file
    assert isinstance(arm, ArmFile)  # else the mechanism was refused as it was loaded
    return arm


def _carpal_of(file: HandOnCarpalFile) -> CarpalWristFile:
    carpal = load_mechanism(file.carpal).file
    assert isinstance(carpal, CarpalWristFile)
    return carpal


def driven(loaded: LoadedMechanism) -> tuple[str, ...]:
    """Coordinates with motors of their own, base first: all, or those of what carries a hand."""
    if isinstance(loaded.file, HandOnArmFile):
        return carrier_joints(loaded.file, _arm_of(loaded.file))
    if isinstance(loaded.file, HandOnCarpalFile):
        return LEGS
    return loaded.mechanism.system.dofs


def carrier_name(loaded: LoadedMechanism) -> str:
    """Name of what carries the hand."""
    if isinstance(loaded.file, HandOnArmFile):
        return _arm_of(loaded.file).name
    if isinstance(loaded.file, HandOnCarpalFile):
        return _carpal_of(loaded.file).name
    return loaded.file.name


def palm_of(loaded: LoadedMechanism) -> str | None:
    """Frame of the palm, if the hand's tendons run over the carrier's joints: it is the hand's wrist."""
    return PALM if isinstance(loaded.file, HandOnCarpalFile) else None


def carried(loaded: LoadedMechanism, model: RecordArray, names: HandNames) -> tuple[RecordArray, HandNames]:
    """What a hand is on its carrier: without its own wrist, if that takes its place."""
    return without_wrist(model, names) if palm_of(loaded) is not None else (model, names)


def tree_with(
    loaded: LoadedMechanism, model: RecordArray, names: HandNames, rotors_kg_m2: Sequence[float]
) -> Tree:
    """Carrier and hand as one tree.

    Springs, dampers and stops of the hand's own joints are left out: its plant has them, and its tendons take
    the place of the springs that stand for them in the mechanism's file.

    Args:
        loaded: a mechanism that carries a hand.
        model: of the hand as it is ``carried``, MODEL record, shape (1,): its bodies.
        names: of that hand.
        rotors_kg_m2: inertia of the motor of each joint of the carrier, at the joint.
    """
    if isinstance(loaded.file, HandOnCarpalFile):
        tree = carpal_limb_tree(loaded.file, _carpal_of(loaded.file), model, names)
    else:
        assert isinstance(loaded.file, HandOnArmFile)
        tree = limb_tree(loaded.file, _arm_of(loaded.file), model, names)
    for name in (*names.axes, *names.joints):
        d = tree.dof(name)
        for key in ("damping", "stiffness", "stop_stiffness", "stop_damping"):
            tree.record[key][0, d] = 0.0
    for name, rotor in zip(driven(loaded), rotors_kg_m2, strict=True):
        tree.record["armature"][0, tree.dof(name)] += rotor
    return tree


def note_home(loaded: LoadedMechanism, tree: Tree, model: RecordArray, home_rad: Sequence[float]) -> None:
    """Lengths of the hand's tendons at the carrier's home into its model, as those of a neutral wrist."""
    palm = palm_of(loaded)
    if palm is not None:
        at = dict(zip(driven(loaded), home_rad, strict=True))
        model["wrist_neutral_length_m"][0] = lengths_at(tree, palm, model, at)
