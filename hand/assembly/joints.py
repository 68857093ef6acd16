"""Sensors of the joints in the model record: what a count says, how far it is believed, when it is a fault.

What tendons and motors tell of a joint without its sensor is open to two things: what the friction of a drive
hides of its load, which stretches the tendon, and the tolerances of pulleys and spools, which grow with the
joint's way. A sensor's row weighs against those of the tendons as the variances of both.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from hand.assembly.straight import straight_jacobian
from hand.assembly.tendons import length_error_m, stretch_m_n
from hand.file.hand import HandFile
from hand.file.sensors import JointSensor
from mechanics.sources import differing, joint_sources
from signals.modes import DriveReport, FingerKind, JointSource
from signals.records import RecordArray

HALF_PI: Final = 0.5 * math.pi
ROUNDING2: Final = 1.0 / 12.0
"""Variance of rounding to a step."""
LEAST_BAND_RAD: Final = math.radians(2.0)
"""Turn of a joint that its tendons' guides leave open, whatever is known of the drives."""
LOAD_BANDS: Final = 1.5
TOLERANCE_SIGMA: Final = 3.0
JUMP_SHARE: Final = 3.0
"""Times the speed that its motors can give a joint."""
NOISE_SIGMA: Final = 12.0


def store_joint_sensors(hand: HandFile, model: RecordArray) -> None:
    """Everything of sensors at joints; what tells each joint without one."""
    m = model[0]
    for f in range(int(m["n_fingers"])):
        told = joint_sources(m, f)
        source = JointSource.MOTORS if "motor currents" in told else JointSource.TENDONS
        source = JointSource.SPRINGS if "springs" in told else source
        m["joint_source"][m["finger_joint"][f, : m["finger_n_joints"][f]]] = source
    for j, joint in enumerate(hand.joints):
        sensor = hand.joint_sensor_at(joint.name)
        if sensor is not None:
            m["n_joint_sensors"] += 1
            _store_counts(sensor, m, j)
            _store_belief(hand, sensor, model, j)


def _store_counts(sensor: JointSensor, m: Any, j: int) -> None:
    span_rad = math.radians(sensor.span_deg)
    m["joint_zero_count"][j] = sensor.zero_count
    m["joint_counts_rad"][j] = sensor.direction * 2**sensor.bits / span_rad
    m["joint_count_max"][j] = 2**sensor.bits - 1
    m["joint_turn_rad"][j] = span_rad if sensor.span_deg == 360.0 else 0.0
    m["joint_noise_count"][j] = sensor.noise_counts_rms
    m["joint_filter_hz"][j] = sensor.filter_hz


def _store_belief(hand: HandFile, sensor: JointSensor, model: RecordArray, j: int) -> None:
    m, P_tj_m = model[0], straight_jacobian(model)
    f = int(m["joint_finger"][j])
    tendons = [int(t) for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
    seen = {t: hand.sees(hand.tendons[t].name) for t in tendons}
    moving = [t for t in tendons if P_tj_m[t, j] != 0.0] or tendons  # a spring alone may carry a joint
    arm_m = {t: abs(float(P_tj_m[t, j])) or float(abs(P_tj_m[t]).max()) for t in moving}
    way_rad = max(abs(m["joint_min_rad"][j]), abs(m["joint_max_rad"][j]))
    tolerance_rad = math.sqrt(2.0) * hand.tolerances.pulley_radius * way_rad
    range_rad = float(m["joint_max_rad"][j] - m["joint_min_rad"][j])
    play_m = {
        t: float(0.5 * m["backlash_rad"][m["tendon_motor"][t]] * abs(m["spool_radius_m"][t])) for t in moving
    }
    told_rad = min(
        math.hypot(length_error_m(hand, m, t, seen[t]), play_m[t] / math.sqrt(3.0)) / arm_m[t] for t in moving
    )
    if m["finger_kind"][f] == FingerKind.SPRUNG:  # what holds a joint shows in no line of the finger
        told_rad = least_rad = range_rad
    else:
        least_rad = LEAST_BAND_RAD
    noise_rad = math.sqrt(sensor.noise_counts_rms**2 + ROUNDING2) / abs(m["joint_counts_rad"][j])
    sigma_rad = math.hypot(noise_rad, math.radians(sensor.accuracy_deg))
    row_m2 = sum(m["length_weight"][t] * arm_m[t] ** 2 for t in moving)
    m["joint_weight_m2"][j] = row_m2 * (math.hypot(told_rad, tolerance_rad) / sigma_rad) ** 2
    turns = [abs(m["spool_radius_m"][t]) / arm_m[t] for t in moving]
    motors = m["tendon_motor"][moving]
    steps_rad = m["encoder_step_rad"][motors] * turns
    m["joint_noise_rad"][j] = math.hypot(noise_rad, math.sqrt(ROUNDING2) * float(steps_rad.max()))
    told = {t: seen[t] or bool(differing(m, np.array([t]))[0]) for t in moving}
    hidden = [
        (play_m[t] + (length_error_m(hand, m, t, seen[t]) if told[t] else _hidden_m(m, t))) / arm_m[t]
        for t in moving
    ]
    m["joint_band_rad"][j] = max(least_rad, *hidden)
    m["joint_side_rad"][j] = (
        LOAD_BANDS * m["joint_band_rad"][j]
        + TOLERANCE_SIGMA * math.hypot(tolerance_rad, sigma_rad)
        + NOISE_SIGMA * m["joint_noise_rad"][j]
    )
    m["joint_jump_rad_s"][j] = JUMP_SHARE * float((m["motor_speed_limit_rad_s"][motors] * turns).max())


def _hidden_m(m: Any, t: int) -> float:
    """Stretch of a tendon under what its drive's current does not show: dry friction, or any load at all."""
    i = m["tendon_motor"][t]
    shown = int(m["motor_reports"][i]) & DriveReport.CURRENT
    hidden_nm = HALF_PI * m["friction_gamma_2_nm"][i] if shown else m["motor_torque_limit_nm"][i]
    return float(hidden_nm / abs(m["spool_radius_m"][t]) * stretch_m_n(m, t))
