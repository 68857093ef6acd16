"""What the sensors of the simulated hand say: encoder, Hall lever sensor, joints, potentiometer, temperature.

Levels: ``ideal`` reads the truth (the Hall count keeps its fraction); ``quantised`` rounds to counts;
``full`` adds filter and noise of the sensors of levers and joints, a Hall sensor's magnetic hysteresis, and
the potentiometer's noise. All samples are taken at one instant, the end of the plant's step.
"""

from __future__ import annotations

import math

from mechanics.hysteresis import play
from mechanics.low_pass import filter_share
from mechanics.springs import count_of_lever
from signals.compiled import law
from signals.modes import DriveReport
from signals.typed import Measurement, Model
from sim.plant_record import PlantRecord
from sim.randomness import next_normal, next_normals

SPEED, CURRENT, TEMPERATURE = int(DriveReport.SPEED), int(DriveReport.CURRENT), int(DriveReport.TEMPERATURE)
MISSING = 1
RESET = 32


@law
def _read_motors(m: Model, p: PlantRecord, z: Measurement, now_ns: int) -> None:
    ideal = p.sensor_level == 0
    angle, speed = z.motor_angle_rad, z.motor_speed_rad_s
    for i in range(m.n_motors):
        if p.motor_lost[i]:
            z.motor_status[i] = MISSING
            continue
        z.motor_time_ns[i] = now_ns
        z.motor_status[i] = RESET if p.motor_reset[i] else 0
        true = p.theta_rad[i] + p.encoder_offset_rad[i]
        step = m.encoder_step_rad[i]
        reading = true if ideal or step <= 0.0 else math.floor(true / step + 0.5) * step
        if p.encoder_frozen[i]:
            reading = p.encoder_rad[i]
        speed[i] = p.w_rad_s[i] if ideal else (reading - p.encoder_rad[i]) / m.dt_s
        if (m.motor_reports[i] & SPEED) == 0:
            speed[i] = 0.0
        p.encoder_rad[i] = reading
        angle[i] = reading
        amperes = p.motor_torque_nm[i] / m.motor_torque_constant_nm_a[i]
        z.motor_current_a[i] = amperes if (m.motor_reports[i] & CURRENT) != 0 else 0.0
        case = p.case_degc[i]
        told = case if ideal else math.floor(case + 0.5)
        z.motor_temperature_degc[i] = told if (m.motor_reports[i] & TEMPERATURE) != 0 else 0.0
        if p.motor_nan[i]:
            angle[i] = math.nan
            speed[i] = math.nan


@law
def _difference_count(m: Model, p: PlantRecord, t: int, share: float) -> float:
    """Count of a sensor of the difference of two forces, with its low-pass's share of this period."""
    difference = p.tension_n[t] - p.tension_n[m.difference_to[t]]
    if p.sensor_level == 2:
        p.difference_filtered_n[t] += share * (difference - p.difference_filtered_n[t])
        difference = p.difference_filtered_n[t]
    return float(m.difference_zero_count[t] + m.difference_counts_n[t] * difference)


@law
def _read_halls(m: Model, p: PlantRecord, z: Measurement, now_ns: int) -> None:
    level = p.sensor_level
    fine, coarse = z.hall_fine_count, z.hall_count
    filter_hz, share, spare = 0.0, 1.0, 0.0
    for t in range(m.n_tendons):
        z.hall_time_ns[t] = now_ns
        z.hall_status[t] = 0
        lever = p.lever_rad[t]
        if level == 2:
            if m.hall_filter_hz[t] != filter_hz:  # mostly all sensors are alike
                filter_hz = m.hall_filter_hz[t]
                share = filter_share(filter_hz, m.dt_s) if filter_hz > 0.0 else 1.0
            p.hall_filtered_rad[t] += share * (lever - p.hall_filtered_rad[t])
            p.hall_played_rad[t] = play(
                p.hall_played_rad[t], p.hall_filtered_rad[t], m.hall_hysteresis_rad[t]
            )
            lever = p.hall_played_rad[t]
        count = count_of_lever(m, t, lever)
        if m.n_differences != 0 and m.difference_to[t] >= 0:
            count = _difference_count(m, p, t, share)
        if level == 2:
            if t % 2 == 0:
                noise, spare = next_normals(p.rng)
            else:
                noise = spare
            count += m.hall_noise_count[t] * p.hall_noise_scale[t] * noise
        elif p.hall_noise_scale[t] != 1.0:
            count += p.hall_noise_scale[t] * next_normal(p.rng)
        count += p.hall_offset_count[t] + p.hall_glitch_count[t]
        p.hall_glitch_count[t] = 0.0
        if p.hall_frozen[t]:
            count = p.hall_frozen_count[t]
        else:
            p.hall_frozen_count[t] = count
        count = min(max(count, 0.0), float(m.hall_count_max[t]))
        coarse[t] = int(math.floor(count + 0.5))
        fine[t] = count if level == 0 else float(coarse[t])


@law
def _read_axes(m: Model, p: PlantRecord, z: Measurement, now_ns: int) -> None:
    for a in range(m.n_axes):
        z.axis_time_ns[a] = now_ns
        z.axis_status[a] = 0
        angle = p.axis_rad[a] + p.axis_zero_rad[a] + p.axis_offset_rad[a]
        if p.sensor_level == 2:
            angle += m.axis_noise_rad[a] * next_normal(p.rng)
        step = m.axis_step_rad[a]
        if p.sensor_level > 0 and step > 0.0:
            angle = math.floor(angle / step + 0.5) * step
        z.axis_angle_rad[a] = angle


@law
def _read_joints(m: Model, p: PlantRecord, z: Measurement, now_ns: int) -> None:
    level = p.sensor_level
    for j in range(m.n_joints):
        if m.joint_weight_m2[j] == 0.0:
            continue
        if p.joint_lost[j]:
            z.joint_status[j] = MISSING
            continue
        z.joint_time_ns[j] = now_ns
        z.joint_status[j] = 0
        angle = p.q_rad[j]
        if level == 2:
            share = filter_share(m.joint_filter_hz[j], m.dt_s)
            p.joint_filtered_rad[j] += share * (angle - p.joint_filtered_rad[j])
            angle = p.joint_filtered_rad[j]
        count = m.joint_zero_count[j] + m.joint_counts_rad[j] * (angle + p.joint_offset_rad[j])
        if level == 2 or p.joint_noise_scale[j] != 1.0:
            count += m.joint_noise_count[j] * p.joint_noise_scale[j] * next_normal(p.rng)
        if level > 0:
            count = math.floor(count + 0.5)
        turn = abs(m.joint_turn_rad[j] * m.joint_counts_rad[j])
        if turn > 0.0:
            count -= turn * math.floor(count / turn)
        count = min(max(count, 0.0), m.joint_count_max[j])
        if p.joint_frozen[j]:
            count = p.joint_frozen_count[j]
        p.joint_frozen_count[j] = count
        z.joint_count[j] = count


@law
def read_sensors(m: Model, p: PlantRecord, z: Measurement, now_ns: int) -> None:
    """Fill the measurement ``z`` from the plant ``p`` at the instant ``now_ns`` [ns]."""
    _read_motors(m, p, z, now_ns)
    _read_halls(m, p, z, now_ns)
    _read_axes(m, p, z, now_ns)
    if m.n_joint_sensors != 0:
        _read_joints(m, p, z, now_ns)
    z.time_ns = now_ns
    z.seq += 1
