"""Mechanisms that carry a tendon hand: which coordinates have motors, and the tree that both make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from mechanics.carried import lengths_at
from mechanics.dynamics.tree import Tree
from signals.names import HandNames
from signals.records import RecordArray
from sim.mechanisms.arm7 import ArmFile
from sim.mechanisms.carpal_wrist import LEGS, CarpalWristFile
from sim.mechanisms.hand_on_arm import HandOnArmFile, carrier_joints, limb_tree
from sim.mechanisms.hand_on_carpal import PALM, HandOnCarpalFile, carpal_limb_tree, without_wrist
from sim.mechanisms.load import LoadedMechanism, load_mechanism


class Carrying(ABC):
    """A mechanism that carries a hand.

    Attributes:
        hand: name or path of the hand's file.
        name: of what carries it.
        joints: coordinates with motors of their own, base first.
        palm: frame of the palm, if the hand's tendons run over the carrier's joints: it is the hand's wrist.
    """

    hand: str
    name: str
    joints: tuple[str, ...]
    palm: str | None = None

    def carried(self, model: RecordArray, names: HandNames) -> tuple[RecordArray, HandNames]:
        """What a hand is here: without its own wrist, if the carrier takes its place."""
        return (model, names) if self.palm is None else without_wrist(model, names)

    @abstractmethod
    def bare_tree(self, model: RecordArray, names: HandNames) -> Tree:
        """Carrier and hand as one tree, as the mechanism's file has them."""

    def tree(self, model: RecordArray, names: HandNames, rotors_kg_m2: Sequence[float]) -> Tree:
        """Carrier and hand as one tree.

        Springs, dampers and stops of the hand's own joints are left out: its plant has them, and its tendons
        take the place of the springs that stand for them in the mechanism's file.

        Args:
            model: of the hand as it is ``carried``, MODEL record, shape (1,): its bodies.
            names: of that hand.
            rotors_kg_m2: inertia of the motor of each joint of the carrier, at the joint.
        """
        tree = self.bare_tree(model, names)
        for name in (*names.axes, *names.joints):
            d = tree.dof(name)
            for key in ("damping", "stiffness", "stop_stiffness", "stop_damping"):
                tree.record[key][0, d] = 0.0
        for name, rotor in zip(self.joints, rotors_kg_m2, strict=True):
            tree.record["armature"][0, tree.dof(name)] += rotor
        return tree

    def note_home(self, tree: Tree, model: RecordArray, home_rad: Sequence[float]) -> None:
        """Lengths of the hand's tendons at the carrier's home into its model: those of a neutral wrist."""
        if self.palm is not None:
            at = dict(zip(self.joints, home_rad, strict=True))
            model["wrist_neutral_length_m"][0] = lengths_at(tree, self.palm, model, at)


class OnArm(Carrying):
    """A hand, with its wrist, on the seven-joint arm."""

    def __init__(self, file: HandOnArmFile) -> None:
        arm = load_mechanism(file.arm).file
        assert isinstance(arm, ArmFile)  # else the mechanism was refused as it was loaded
        self._file, self._arm = file, arm
        self.hand, self.name, self.joints = file.hand, arm.name, carrier_joints(file, arm)

    def bare_tree(self, model: RecordArray, names: HandNames) -> Tree:
        """As ``Carrying.bare_tree``."""
        return limb_tree(self._file, self._arm, model, names)


class OnCarpal(Carrying):
    """A hand on a carpal wrist in the place of its own."""

    palm = PALM
    joints = LEGS

    def __init__(self, file: HandOnCarpalFile) -> None:
        carpal = load_mechanism(file.carpal).file
        assert isinstance(carpal, CarpalWristFile)
        self._file, self._carpal = file, carpal
        self.hand, self.name = file.hand, carpal.name

    def bare_tree(self, model: RecordArray, names: HandNames) -> Tree:
        """As ``Carrying.bare_tree``."""
        return carpal_limb_tree(self._file, self._carpal, model, names)


def carrying(loaded: LoadedMechanism) -> Carrying | None:
    """How a mechanism carries a hand, ``None``: it carries none."""
    match loaded.file:
        case HandOnArmFile():
            return OnArm(loaded.file)
        case HandOnCarpalFile():
            return OnCarpal(loaded.file)
    return None


def driven(loaded: LoadedMechanism) -> tuple[str, ...]:
    """Coordinates with motors of their own, base first: all, or those of what carries a hand."""
    kind = carrying(loaded)
    return loaded.mechanism.system.dofs if kind is None else kind.joints
