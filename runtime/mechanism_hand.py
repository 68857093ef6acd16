"""A mechanism as a hand of the runtime.

Its names and records: ``hand.mechanism_model``; estimator and controller: ``hand.mechanism_stages``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hand.file import HandFile, HandFileError
from hand.file.errors import MotionFileError, Problem
from hand.file.locate import Locator
from hand.file.text import installed, path_of
from hand.hand import Hand
from hand.mechanism_file import FOLDER, MechanismHandFile, ReadHand, read_mechanism_hand
from hand.mechanism_model import model_of, names_of
from hand.mechanism_stages import mechanism_stages
from hand.motion.load import Motion
from hand.options import RunOptions
from hand.stages import Stages
from mechanics.dynamics.systems import Kind, System
from signals.names import HandNames
from signals.records import RecordArray
from sim.limb.carrier import driven
from sim.mechanisms.bus import MechanismBus, MechanismSetup
from sim.mechanisms.load import load_mechanism


class MechanismHandError(ValueError):
    """An option that a mechanism has no use for."""


@dataclass(frozen=True, slots=True, eq=False)
class MechanismHand:
    """What a run needs of a mechanism beside the usual records."""

    file: MechanismHandFile
    text: str
    sha256: str
    names: HandNames
    model: RecordArray

    @property
    def home(self) -> Any:
        """Coordinates where the hand's joint angles are 0, shape (n,)."""
        return np.array([joint.home_rad for joint in self.file.joint])

    @property
    def start(self) -> Any:
        """Coordinates of the start pose, shape (n,)."""
        return self.home

    def coordinates(self, joints: Any, axes: Any) -> Any:
        """Coordinates, shape (..., n), of joint angles, shape (..., n)."""
        return self.home + joints

    def system(self) -> System:
        """New equations of motion with the motors' inertias."""
        mechanism = load_mechanism(self.file.mechanism).mechanism
        system = mechanism.system
        if system.kind == Kind.TREE:
            for i, motor in enumerate(self.file.motor):
                system.parts[0]["armature"][0, i] += motor.rotor_inertia_kg_m2
        return system

    def motion(self, name_or_path: str) -> str:
        """Path of a motion: one of ``configs/mechanism_hands/motions`` by name, else what was given."""
        return motion_path(name_or_path)

    def bus(
        self, model: RecordArray, options: RunOptions, truth: RecordArray, motion: Motion | None = None
    ) -> MechanismBus:
        """The simulated mechanism behind the HAL.

        Raises:
            MechanismHandError: options that are for tendon hands.
        """
        refuse_tendon_options(options)
        mechanism = load_mechanism(self.file.mechanism).mechanism
        setup = MechanismSetup(
            home=self.home,
            rest_z=mechanism.rest_z,
            step_s=self.file.control.plant_step_s,
            count_fraction=self.file.sensors.count_fraction,
            realtime=not options.lockstep,
            seed=options.seed,
        )
        return MechanismBus(self.system(), model, setup, truth)

    def stages(self, measurement: RecordArray) -> Stages:
        """Estimator, controller and guard; the muscle's controller looks at its temperature too."""
        return mechanism_stages(self.file, self.system(), self.home, measurement)


def motion_path(name_or_path: str) -> str:
    """Path of a motion of ``configs/mechanism_hands/motions`` by its name, else what was given."""
    if "/" in name_or_path or name_or_path.endswith((".toml", ".csv")):
        return name_or_path
    folder = f"{FOLDER}/motions"
    if name_or_path not in installed(folder):
        return name_or_path
    return str(path_of(name_or_path, folder, "motion", MotionFileError))


def refuse_tendon_options(options: RunOptions) -> None:
    """Refuse options that a mechanism has no use for; raises ``MechanismHandError``."""
    given = {
        **{"--bus": options.bus is not None, "--plant": options.plant is not None},
        **{"--mismatch": options.mismatch is not None, "--wiring": options.wiring is not None},
        "--pretension": options.pretension_n is not None,
        "--fault": bool(options.faults),
        "--without": bool(options.without),
        "--set": bool(options.settings),
    }
    wrong = [name for name, present in given.items() if present]
    if wrong:
        raise MechanismHandError(f"{', '.join(wrong)}: for tendon hands; a mechanism takes none of them")


def read_as_hand(options: RunOptions) -> Hand:
    """What ``runtime.setup.read_hand`` gives for a mechanism.

    Raises:
        ValueError: the file, its fit, or an option is refused.
    """
    refuse_tendon_options(options)
    mechanism = load_mechanism_hand(options.hand, options.rate_hz)
    rate_hz = options.rate_hz or mechanism.file.control.rate_hz
    file = cast(HandFile, mechanism.file)
    name, text = mechanism.file.name, mechanism.text
    return Hand(name, mechanism.names, mechanism.model, text, mechanism.sha256, rate_hz, file, mechanism)


def load_mechanism_hand(name_or_path: str, rate_hz: float | None = None) -> MechanismHand:
    """Read a hand file of a mechanism and make its records.

    Raises:
        hand.file.HandFileError: the file is refused, or its motors or joints do not fit the mechanism.
    """
    read = read_mechanism_hand(name_or_path)
    check_fit(read)
    file = read.file
    values = json.dumps(file.model_dump(mode="json", exclude={"description"}), sort_keys=True)
    sha256 = hashlib.sha256(values.encode()).hexdigest()
    return MechanismHand(file, read.text, sha256, names_of(file), model_of(file, rate_hz))


def check_fit(read: ReadHand) -> None:
    """Refuse a file whose motors or joints are not those of its mechanism; raises ``HandFileError``."""
    file, locator = read.file, Locator.of(read.text)
    loaded = load_mechanism(file.mechanism)
    mechanism, dofs = loaded.mechanism, driven(loaded)
    problems = []

    def refuse(key: str, found: str, legal: str) -> None:
        place = locator.place((key,))
        problems.append(Problem(file=read.path, line=place.line, key=key, found=found, legal=legal))

    joints = tuple(joint.name for joint in file.joint)
    if joints != dofs:
        legal = f"{', '.join(dofs)}, in this order, as the mechanism {file.mechanism} has them"
        refuse("joint", ", ".join(joints), legal)
    muscle = mechanism.system.kind == Kind.FINGER
    kind = "muscle" if muscle else "inverse_dynamics"
    if file.controller.kind != kind:
        refuse(
            "controller", repr(file.controller.kind), f"{kind!r} for a mechanism of kind {mechanism.kind!r}"
        )
    wanted = 1 if muscle else len(dofs)
    if len(file.motor) != wanted:
        refuse("motor", f"{len(file.motor)} of them", f"{wanted} for the mechanism {file.mechanism}")
    if problems:
        raise HandFileError(problems)
