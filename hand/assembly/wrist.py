"""Wrist and object of the model record."""

from __future__ import annotations

import math

import numpy as np

from hand.file.errors import HandFileError, Problem
from hand.file.hand import HandFile
from hand.file.wrist import Wrist
from mechanics.palm_angles import WristOutOfRange, axis_range
from mechanics.wrist import wrist_lengths, wrist_pose
from signals.layout import FloatArray
from signals.records import RecordArray


def store_wrist(hand: HandFile, model: RecordArray) -> None:
    """Geometry, sensors and drive of the wrist; nothing for a hand without one."""
    wrist = hand.wrist
    if wrist is None:
        return
    m = model[0]
    m["n_axes"] = 2
    m["wrist_size_m"] = (wrist.length_m, wrist.width_m, wrist.thickness_m)
    m["wrist_neutral_rad"] = wrist.neutral_rad
    for t, tendon in enumerate(hand.tendons):
        m["forearm_point_m"][t] = tendon.forearm_m
        m["palm_point_m"][t] = tendon.palm_m
    record = model[0]
    q71, q73 = wrist.neutral_rad
    lengths = np.zeros(len(m["wrist_neutral_length_m"]))
    wrist_lengths(record, q71, q73, lengths)
    m["wrist_neutral_length_m"] = lengths
    rotation, origin = np.zeros((3, 3)), np.zeros(3)
    wrist_pose(record, q71, q73, rotation, origin)
    m["wrist_origin_m"] = origin
    m["axis_min_rad"], m["axis_max_rad"] = _axis_range(hand, wrist, model)
    _store_devices(wrist, model)


def _axis_range(hand: HandFile, wrist: Wrist, model: RecordArray) -> tuple[FloatArray, FloatArray]:
    try:
        return axis_range(model, _radians(wrist.pitch_range_deg), _radians(wrist.yaw_range_deg))
    except WristOutOfRange as error:
        problem = Problem(
            file=hand.path,
            line=hand.line_of(("wrist", "pitch_range_deg")),
            key="wrist.pitch_range_deg, wrist.yaw_range_deg",
            found=f"pitch {wrist.pitch_range_deg}, yaw {wrist.yaw_range_deg} deg",
            legal=f"a range that the wrist reaches ({error})",
        )
        raise HandFileError([problem]) from None


def _store_devices(wrist: Wrist, model: RecordArray) -> None:
    m = model[0]
    sensor, drive = wrist.potentiometer, wrist.drive
    m["axis_step_rad"] = math.radians(sensor.range_deg) / 2**sensor.bits
    m["axis_noise_rad"] = math.radians(sensor.noise_deg_rms)
    m["axis_torque_limit_nm"] = drive.torque_max_nm
    m["axis_speed_limit_rad_s"] = math.radians(drive.speed_max_deg_s)
    m["axis_bandwidth_hz"] = drive.bandwidth_hz
    m["axis_damping_ratio"] = drive.damping_ratio
    if drive.springs is not None:
        m["axis_spring_arm_m"] = drive.springs.lever_arm_m
        m["axis_spring_force_n"] = drive.springs.pretension_n
        m["axis_spring_length_m"] = drive.springs.force_length_m
        m["axis_spring_damping_nms_rad"] = drive.springs.damping_nms_rad


def _radians(pair: tuple[float, float]) -> tuple[float, float]:
    return math.radians(pair[0]), math.radians(pair[1])


def store_object(hand: HandFile, model: RecordArray) -> None:
    """The compliant object; radius 0: none."""
    if hand.object is None:
        return
    m = model[0]
    m["object_center_m"] = hand.object.center_palm_m
    m["object_radius_m"] = hand.object.radius_m
    m["object_stiffness_n_m"] = hand.object.stiffness_n_m
    m["object_damping_ns_m"] = hand.object.damping_ns_m
    m["object_friction"] = hand.object.friction
