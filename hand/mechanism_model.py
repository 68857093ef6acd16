"""Names and model record of a mechanism with motors: what the loop, the guard and the records see of it.

Each joint has one Hall channel (its sensor) and stands in the records as one tendon of radius 1 with a row of
P = -1: the guard's view of a motor that turns a joint directly. Its lever rests in the middle and its tension
stays 0, so that what belongs to tendons neither acts nor latches.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hand.assembly.figures import store_reference_figures
from hand.mechanism_file import MechanismHandFile
from signals.modes import FingerKind, Reaction
from signals.names import HandNames
from signals.records import MODEL, RecordArray, new


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
    m["difference_to"][:n] = -1
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
