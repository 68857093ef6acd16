"""A tendon hand that stands on a mechanism, as a hand of the runtime: one loop, guard and log for both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from hand.file import HandFile
from hand.hand import Hand, read_tendon_hand
from hand.limb import limb_stages, whole_model, whole_names
from hand.mechanism_file import MechanismHandFile
from hand.motion.load import Motion
from hand.options import RunOptions
from hand.stages import Stages
from mechanics.dynamics.tree import Tree
from runtime import mechanism_hand
from runtime.backends import HOMING_CYCLES
from runtime.mechanism_hand import MechanismHand, MechanismHandError, load_mechanism_hand
from signals.names import HandNames
from signals.records import RecordArray
from sim.drawn import plant_of
from sim.limb.bus import Carrier, LimbBus
from sim.limb.carrier import Carrying, carrying
from sim.mechanisms.load import load_mechanism
from sim.mechanisms.mechanism import Mechanism


@dataclass(frozen=True, slots=True, eq=False)
class LimbHand:
    """What a run needs of hand and carrier beside the usual records; implements ``hand.hand.Mechanism``."""

    carrier: MechanismHand
    kind: Carrying
    mechanism: Mechanism
    hand: Hand
    """The hand that is carried, by itself."""
    names: HandNames
    """Of the whole limb."""

    @property
    def file(self) -> MechanismHandFile:
        """File of the carrier's motors; ``mechanism`` names the mechanism's own."""
        return self.carrier.file

    @property
    def home(self) -> Any:
        """Coordinates of the limb where joint and axis angles are 0, shape (n,)."""
        at = dict(zip(self.kind.joints, self.carrier.home, strict=True))
        return np.array([at.get(dof, 0.0) for dof in self.mechanism.system.dofs])

    @property
    def start(self) -> Any:
        """Coordinates of the start pose, shape (n,): fingers straight, wrist neutral."""
        return self.coordinates(np.zeros(len(self.names.joints)), self.hand.model["wrist_neutral_rad"][0])

    def coordinates(self, joints: Any, axes: Any) -> Any:
        """Coordinates, shape (..., n), of joint and axis angles, shape (..., joints) and (..., axes)."""
        n, names = len(self.names.joints), (*self.names.joints, *self.names.axes)
        angles = np.concatenate([joints[..., :n], axes[..., : len(self.names.axes)]], axis=-1)
        order = [names.index(dof) for dof in self.mechanism.system.dofs]
        return self.home + angles[..., order]

    def tree(self, model: RecordArray) -> Tree:
        """Carrier and hand as one tree, the motors' inertias in it; ``model``: of the hand."""
        rotors = [motor.rotor_inertia_kg_m2 for motor in self.file.motor]
        return self.kind.tree(model, self.hand.names, rotors)

    def motion(self, name_or_path: str) -> str:
        """Path of a motion: one of ``configs/mechanism_hands/motions`` by name, else what was given."""
        return self.carrier.motion(name_or_path)

    def bus(
        self, model: RecordArray, options: RunOptions, truth: RecordArray, motion: Motion | None
    ) -> LimbBus:
        """Hand and carrier as one plant behind the HAL; raises ``ValueError`` for options that it has not."""
        if options.wiring is not None:
            raise MechanismHandError(
                "--wiring: for hands alone; the carrier's motors have no emulated devices"
            )
        plant, chosen = plant_of(self.hand, options, motion, (HOMING_CYCLES - 1) / self.hand.rate_hz)
        tree = self.tree(plant)
        self.kind.note_home(tree, plant, self.carrier.home.tolist())
        carrier = Carrier(
            tree=tree,
            joints=self.kind.joints,
            home=self.carrier.home,
            brake_nms_rad=np.array([motor.brake_nms_rad for motor in self.file.motor]),
            palm=self.kind.palm,
            count_fraction=self.file.sensors.count_fraction,
        )
        return LimbBus(plant, model.copy(), carrier, self.hand.names, chosen, truth)

    def stages(self, measurement: RecordArray) -> Stages:
        """Estimator and controller of hand and carrier, one guard."""
        own, home = self.hand.model.copy(), self.carrier.home
        return limb_stages(own, self.names, self.tree(own), self.file, home, self.kind.palm)


def read_as_hand(options: RunOptions) -> Hand:
    """What ``runtime.setup.read_hand`` gives for a mechanism, be it alone or with a hand on it.

    Raises:
        ValueError: a file, their fit, or an option is refused.
    """
    carrier = load_mechanism_hand(options.hand, options.rate_hz)
    loaded = load_mechanism(carrier.file.mechanism)
    kind = carrying(loaded)
    if kind is None:
        return mechanism_hand.read_as_hand(options)
    given = [o for o, v in (("--bus", options.bus), ("--plant", options.plant)) if v is not None]
    if given:
        raise MechanismHandError(f"{', '.join(given)}: not for a hand that stands on a mechanism")
    rate_hz = options.rate_hz or carrier.file.control.rate_hz
    hand = read_tendon_hand(replace(options, hand=kind.hand, rate_hz=rate_hz))
    hand.model, hand.names = kind.carried(hand.model, hand.names)
    names = whole_names(carrier.names, hand.names, kind.name)
    limb = LimbHand(carrier, kind, loaded.mechanism, hand, names)
    kind.note_home(limb.tree(hand.model), hand.model, carrier.home.tolist())
    model = whole_model(hand.model, carrier.model)
    sha256 = hashlib.sha256(f"{carrier.sha256} {hand.sha256}".encode()).hexdigest()
    file = cast(HandFile, carrier.file)
    return Hand(names.hand, names, model, carrier.text, sha256, rate_hz, file, limb)
