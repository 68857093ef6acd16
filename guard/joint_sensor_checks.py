"""Detectors of sensors at joints, each against what tendons and motors tell of the joint without it.

A sensor that is silent, stands still, jumps or is noisy is left out until the hand is armed anew, and its
joint goes on by tendons and motors: nothing stops. A difference that comes slowly is a fault of the finger: a
tendon that slipped and a sensor that turned on its shaft look the same.

What the friction of the drives may hide is no evidence (``model.joint_band_rad``), nor what the tolerances of
pulleys and spools leave open over the joint's whole range (``model.joint_side_rad``).
"""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import CHANGING, RATE_SHARE, SILENT, since_sample_s
from guard.latch import FAULT, latch_finger
from guard.memory import GuardMemory
from mechanics.plausible import JOINT_NOISE, LEAST_NOISE, in_time, joint_way_rad, usable
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

JOINT_CONTRADICTED: Final = int(Cause.JOINT_CONTRADICTED)
LOST: Final = int(Cause.JOINT_SENSOR_LOST)
STUCK: Final = int(Cause.JOINT_SENSOR_STUCK)
JUMP: Final = int(Cause.JOINT_SENSOR_JUMP)
NOISY: Final = int(Cause.JOINT_SENSOR_NOISY)

SILENT_S: Final = 0.05
"""Silence after which a sensor is lost, where the hand file has no limit for the age of a measurement."""
JUMP_S: Final = 0.003
JUMP_CYCLES: Final = 2.5
SAME: Final = 8
"""Samples in which the count stays, at least, before it counts as stuck."""
BANDS: Final = 1.5
MOVED_RAD: Final = math.radians(1.0)
"""Turn of the joint, by tendons and motors, in which a noisy count should have changed."""
NOISE_SHARE: Final = 1.0 / 32.0
"""Share of the newest sample in the noise."""
NOISE_FACTOR: Final = 6.0
TIME_PERIODS: Final = 0.25
"""What the time of a sample is off by, rms, in periods of the loop."""
TIME_FACTOR: Final = 3.0
LEAST_RAD: Final = 1e-12
ODD_SHARE: Final = 2.0
"""A single step counts as no more than so many times the limit of the noise: eight make it."""
APART_S: Final = 0.2


@law
def begin_sensor(mem: GuardMemory, j: int, count: float, error_rad: float) -> None:
    """Everything that is judged of joint ``j``'s sensor begins here."""
    mem.joint_count[j] = count
    mem.joint_same[j] = 0
    mem.joint_anchor_rate[j] = mem.joint_change_rate[j]
    mem.joint_anchor_rad[j] = mem.joint_before_rad[j] = mem.joint_last_rad[j] = error_rad
    mem.joint_slope_rad[j] = mem.joint_noise_share[j] = 0.0
    mem.joint_doubt_s[j] = mem.joint_apart_s[j] = 0.0


@law
def jumps(m: Model, mem: GuardMemory, j: int, error_rad: float, since_s: float) -> bool:
    """True if the error has changed by more than joints can, and stays there."""
    if abs(error_rad - mem.joint_before_rad[j]) <= joint_way_rad(m, j, since_s):
        mem.joint_before_rad[j] = error_rad
        mem.joint_doubt_s[j] = 0.0
        return False
    mem.joint_doubt_s[j] += since_s
    return bool(mem.joint_doubt_s[j] > max(JUMP_S, JUMP_CYCLES * m.dt_s))


@law
def noisy(m: Model, mem: GuardMemory, j: int, error_rad: float, speed_rad_s: float) -> bool:
    """True if second differences of the error are far larger than the noise that the file tells.

    Nobody knows the time of a sample to less than some share of a period: wires and computers have their own
    noise, which a joint's speed makes one of the error.
    """
    limit = NOISE_FACTOR * m.joint_noise_rad[j] + TIME_FACTOR * TIME_PERIODS * m.dt_s * abs(speed_rad_s)
    limit *= math.sqrt(6.0)
    slope = error_rad - mem.joint_last_rad[j]
    odd = min(abs(slope - mem.joint_slope_rad[j]) / max(limit, LEAST_RAD), ODD_SHARE)
    mem.joint_last_rad[j], mem.joint_slope_rad[j] = error_rad, slope
    mem.joint_noise_share[j] += NOISE_SHARE * (odd * odd - mem.joint_noise_share[j])
    return bool(mem.joint_noise_share[j] > 1.0)


@law
def stuck(m: Model, mem: GuardMemory, j: int, count: float, error_rad: float) -> bool:
    """True if the count stays the same while tendons and motors say that the joint turns.

    A joint that something holds stands still too where springs let the others go on, but its count has noise.
    """
    changed = 1.0 if count != mem.joint_count[j] else 0.0
    mem.joint_change_rate[j] += RATE_SHARE * (changed - mem.joint_change_rate[j])
    if changed > 0.0:
        mem.joint_count[j], mem.joint_same[j], mem.joint_anchor_rad[j] = count, 0, error_rad
        mem.joint_anchor_rate[j] = mem.joint_change_rate[j]
        return False
    mem.joint_same[j] += 1
    turned, rate = abs(error_rad - mem.joint_anchor_rad[j]), mem.joint_anchor_rate[j]
    way = BANDS * m.joint_band_rad[j] + JOINT_NOISE * m.joint_noise_rad[j]
    if mem.joint_same[j] >= SAME and turned > way:
        return True
    changing = m.joint_noise_count[j] >= LEAST_NOISE and rate > CHANGING
    return bool(changing and rate * mem.joint_same[j] > SILENT and turned > MOVED_RAD)


@law
def judge_sample(m: Model, mem: GuardMemory, s: State, j: int, count: float, since_s: float) -> None:
    """A new sample of joint ``j``'s sensor, while its finger is sound."""
    error, side = s.joint_sensor_error_rad[j], m.joint_side_rad[j]
    if jumps(m, mem, j, error, since_s):
        s.joint_sensor_cause[j] = JUMP
    if noisy(m, mem, j, error, s.joint_speed_rad_s[j]):
        s.joint_sensor_cause[j] = NOISY
    if stuck(m, mem, j, count, error):
        s.joint_sensor_cause[j] = STUCK
    apart = abs(error) > side and mem.joint_doubt_s[j] == 0.0
    mem.joint_apart_s[j] = mem.joint_apart_s[j] + since_s if apart else 0.0
    if mem.joint_apart_s[j] > APART_S and s.joint_sensor_cause[j] == 0:
        f = m.joint_finger[j]
        latch_finger(s, f, JOINT_CONTRADICTED, j, math.degrees(error), math.degrees(side))


@law
def check_joint_sensors(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Leave out sensors that are wrong, latch joints whose two sides contradict each other."""
    silent_s = m.measurement_age_s[2] if m.measurement_age_s[2] > 0.0 else SILENT_S
    for j in range(m.n_joints):
        if mem.started == 0:
            s.joint_sensor_cause[j] = 0
            mem.joint_silent_s[j] = 0.0
        if m.joint_weight_m2[j] == 0.0 or s.joint_sensor_cause[j] != 0:
            continue
        count, time_ns = z.joint_count[j], z.joint_time_ns[j]
        known = usable(int(z.joint_status[j]), count) and in_time(s.time_ns, time_ns)
        if not known or time_ns == mem.joint_sample_ns[j]:
            mem.joint_silent_s[j] += m.dt_s
            if mem.joint_silent_s[j] > silent_s:
                s.joint_sensor_cause[j] = LOST
            continue
        mem.joint_silent_s[j] = 0.0
        since_s = since_sample_s(m, s, time_ns, mem.joint_sample_ns[j])
        mem.joint_sample_ns[j] = time_ns
        if mem.started == 0 or s.finger_state[m.joint_finger[j]] == FAULT:
            begin_sensor(mem, j, count, s.joint_sensor_error_rad[j])
        else:
            judge_sample(m, mem, s, j, count, since_s)
