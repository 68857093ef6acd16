"""A mechanism as a hand of the runtime: records, names, bus, estimator, controller; the guard stays ours.

Each joint has one Hall channel (its sensor) and stands in the records as one tendon of radius 1 with a row of
P = -1: the guard's view of a motor that turns a joint directly. Its lever rests in the middle and its tension
stays 0, so that what belongs to tendons neither acts nor latches.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from controllers import inverse_dynamics as inverse_control
from controllers import muscle_position as muscle_control
from estimators.joint_sensors import MEMORY as ESTIMATOR_MEMORY
from estimators.joint_sensors import joint_sensors
from guard.guard import GUARD_MEMORY, guard
from hand.assembly.figures import store_reference_figures
from hand.file import HandFile, HandFileError
from hand.file.errors import MotionFileError, Problem
from hand.file.locate import Locator
from hand.file.text import installed, path_of
from hand.hand import Hand
from hand.mechanism_file import (
    FOLDER,
    InverseDynamics,
    MechanismHandFile,
    MuscleForce,
    ReadHand,
    read_mechanism_hand,
)
from hand.options import RunOptions
from hand.stages import Stages
from mechanics.dynamics.systems import Kind, System
from signals.modes import FingerKind, Reaction
from signals.names import HandNames
from signals.records import MODEL, RecordArray, new
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

    def bus(self, model: RecordArray, options: RunOptions, truth: RecordArray) -> MechanismBus:
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
        controller = self.file.controller
        if isinstance(controller, InverseDynamics):
            control, memory = self._inverse_dynamics(controller)
        else:
            control, memory = self._muscle(controller, measurement)
        return Stages(
            estimate=joint_sensors,
            estimator_memory=np.zeros(1, dtype=ESTIMATOR_MEMORY),
            control=control,
            controller_memory=memory,
            guard=guard,
            guard_memory=np.zeros(1, dtype=GUARD_MEMORY),
            foreign=True,
        )

    def _inverse_dynamics(self, controller: InverseDynamics) -> tuple[Callable[..., None], RecordArray]:
        system, home, nothing = self.system(), self.home, inverse_control.NO_LOADS
        kind, parts = int(system.kind), system.parts
        bandwidth, damping = 2.0 * math.pi * controller.bandwidth_hz, controller.damping_ratio
        law = inverse_control.inverse_dynamics

        def control(
            model: RecordArray,
            goal: RecordArray,
            memory: RecordArray,
            state: RecordArray,
            command: RecordArray,
        ) -> None:
            law(kind, parts, home, bandwidth, damping, nothing, model, goal, memory, state)

        return control, np.zeros(1, dtype=inverse_control.MEMORY)

    def _muscle(
        self, controller: MuscleForce, measurement: RecordArray
    ) -> tuple[Callable[..., None], RecordArray]:
        finger, law = self.system().parts[3], muscle_control.muscle_position
        gains = np.zeros(1, dtype=muscle_control.GAINS)
        gains["kp_n_rad"], gains["ki_n_rads"] = controller.force_kp_n_rad, controller.force_ki_n_rads
        gains["heating_s"], gains["home_rad"] = controller.heating_time_s, self.home
        gains["current_max_a"] = self.file.motor[0].current_limit_a

        def control(
            model: RecordArray,
            goal: RecordArray,
            memory: RecordArray,
            state: RecordArray,
            command: RecordArray,
        ) -> None:
            law(finger, gains, model, goal, measurement, memory, state)

        return control, np.zeros(1, dtype=muscle_control.MEMORY)


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
        "--bus": options.bus is not None,
        **{"--mismatch": options.mismatch is not None, "--plant": options.plant is not None},
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
    mechanism = load_mechanism(file.mechanism).mechanism
    dofs = mechanism.system.dofs
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


def names_of(file: MechanismHandFile) -> HandNames:
    """Names in the order of the records."""
    joints = tuple(joint.name for joint in file.joint)
    return HandNames(
        hand=file.name,
        motors=tuple(motor.name for motor in file.motor),
        tendons=tuple(f"{name}_sensor" for name in joints),
        joints=joints,
        fingers=(file.name,),
        joint_roles=("flexion",) * len(joints),
    )


def model_of(file: MechanismHandFile, rate_hz: float | None = None) -> RecordArray:
    """Model record of a mechanism's hand, shape (1,)."""
    model = new(MODEL)
    m = model[0]
    rate = file.control.rate_hz if rate_hz is None else rate_hz
    n, n_motors = len(file.joint), len(file.motor)
    m["n_motors"], m["n_tendons"], m["n_joints"] = n_motors, n, n
    m["n_fingers"] = m["n_bodies"] = m["n_springs"] = 1
    m["dt_s"] = m["delay_s"] = 1.0 / rate
    m["velocity_filter_hz"] = file.control.velocity_filter_hz
    m["position_kp_nm_rad"] = file.hold.position_kp_nm_rad
    m["position_kd_nms_rad"] = file.hold.position_kd_nms_rad
    store_motors(file, m)
    store_joints(file, m)
    m["torque_rate_nm_s"] = file.limits.torque_rate_nm_s
    m["command_age_s"] = file.limits.command_age_ms / 1e3
    m["measurement_age_s"] = np.array(file.limits.measurement_age_ms) / 1e3
    m["winding_limit_degc"] = file.limits.temperature_degc
    m["ambient_degc"] = 25.0
    store_reference_figures(model)
    return model


def store_motors(file: MechanismHandFile, m: Any) -> None:
    """Motors of the model."""
    for i, motor in enumerate(file.motor):
        m["motor_inertia_kg_m2"][i] = motor.rotor_inertia_kg_m2
        m["motor_torque_constant_nm_a"][i] = motor.torque_constant_nm_a
        m["motor_current_limit_a"][i] = motor.current_limit_a
        m["motor_torque_limit_nm"][i] = motor.current_limit_a * motor.torque_constant_nm_a
        m["motor_speed_limit_rad_s"][i] = motor.speed_limit_rad_s
        m["gear_ratio"][i], m["encoder_step_rad"][i] = 1.0, motor.encoder_step_rad


def store_joints(file: MechanismHandFile, m: Any) -> None:
    """Joints, their sensors, and the one finger that they form."""
    n = len(file.joint)
    m["finger_kind"][0], m["finger_reaction"][0] = FingerKind.LINEAR, Reaction[file.hold.reaction.upper()]
    m["finger_n_joints"][0] = m["finger_n_tendons"][0] = n
    m["finger_joint"][0, :n] = m["finger_tendon"][0, :n] = np.arange(n)
    m["finger_tip_body"][0] = -1
    m["body_parent"][0] = m["body_joint"][0] = -1
    m["body_rotation"][0] = np.eye(3)
    m["lever_min_rad"][0], m["lever_max_rad"][0] = -10.0, 10.0
    m["lever_calibrated_min_rad"][0], m["force_max_n"][0] = -9.0, 1.0
    m["spring_force_n"][0], m["stiffness_n_m"][0] = 1e9, 1.0
    for j, joint in enumerate(file.joint):
        m["joint_min_rad"][j], m["joint_max_rad"][j] = (math.radians(a) for a in joint.range_deg)
        m["tendon_motor"][j] = min(j, len(file.motor) - 1)
        m["spring_scale"][j], m["spool_radius_m"][j] = 1.0, 1.0
        m["P_tj_m"][j, j], m["pinv_jt_1_m"][j, j] = -1.0, -1.0
        m["hall_counts_rad"][j] = file.sensors.counts_per_rad
        m["hall_zero_count"][j] = 2.0**15
        m["hall_count_max"][j] = 2**16
