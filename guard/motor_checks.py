"""Detectors of a motor: too fast, angle that jumps or stands still, blocked, over-compensated friction."""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import since_sample_s
from guard.latch import latch_finger, latch_probed
from guard.memory import GuardMemory
from mechanics.drives import is_servo, tells_current
from mechanics.lines import motor_load_nm
from mechanics.plausible import motor_way_rad, usable
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

MOTOR_TOO_FAST: Final = int(Cause.MOTOR_TOO_FAST)
MOTOR_BLOCKED: Final = int(Cause.MOTOR_BLOCKED)
ENCODER_FAULT: Final = int(Cause.ENCODER_FAULT)
ENCODER_STUCK: Final = int(Cause.ENCODER_STUCK)
FRICTION_ENERGY: Final = int(Cause.FRICTION_ENERGY)

FAST_SHARE: Final = 1.15
FAST_S: Final = 0.003
STILL_S: Final = 0.030
CONTRADICTED_S: Final = 0.012
"""The same where lengths contradict each other meanwhile: before that counts as their own fault."""
BLOCKED_S: Final = 0.5
WANTED_RAD: Final = 0.03
"""Motion that was asked for before a motor that stands exactly still is suspicious."""
ENERGY_MEMORY_S: Final = 2.0


@law
def check_speed(m: Model, mem: GuardMemory, s: State, f: int, i: int) -> None:
    """Latch a motor beyond its no-load speed."""
    limit = FAST_SHARE * m.motor_speed_limit_rad_s[i]
    fast = abs(s.motor_speed_rad_s[i]) > limit > 0.0
    mem.fast_s[i] = mem.fast_s[i] + m.dt_s if fast else 0.0
    if mem.fast_s[i] > FAST_S:
        latch_finger(s, f, MOTOR_TOO_FAST, i, s.motor_speed_rad_s[i], limit)


@law
def check_angle_jump(
    m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int, time_s: float
) -> None:
    """Latch an angle that is further from the one in use than any speed allows since the last sample.

    The sample itself is looked at: what the estimator does not believe, it does not use. ``t`` is the tendon
    of the motor, ``time_s`` the time since its last sample.
    """
    i = m.tendon_motor[t]
    possible = motor_way_rad(m, i, time_s)
    mem.motor_sample_ns[i] = z.motor_time_ns[i]
    change = z.motor_angle_rad[i] - mem.last_angle_rad[i]
    if mem.started != 0 and abs(change) > possible:
        latch_probed(mem, s, f, t, ENCODER_FAULT, i, change, possible)


@law
def check_standstill(m: Model, mem: GuardMemory, s: State, f: int, t: int, time_s: float) -> None:
    """Latch a motor whose angle stands exactly still although the motor must, or does, move.

    If meanwhile the tension changes, or the length residual although motion is wanted, it is the encoder;
    under a torque that nothing balances the motor is blocked. ``time_s`` is the time since its last sample.
    """
    i = m.tendon_motor[t]
    moved = s.motor_angle_rad[i] != mem.last_angle_rad[i] or mem.started == 0
    if moved:
        mem.still_s[i] = mem.still_wanted_rad[i] = 0.0
        mem.still_residual_m[i] = s.residual_m[t]
    excess = s.motor_torque_nm[i] - motor_load_nm(m, s, f, t)
    if moved or abs(excess) <= m.excess_torque_nm:
        mem.blocked_s[i] = 0.0
        mem.still_tension_n[i] = s.tension_n[t]
    else:
        mem.blocked_s[i] += time_s
    if moved:
        return
    mem.still_s[i] += time_s
    mem.still_wanted_rad[i] += abs(s.ref_motor_speed_rad_s[i]) * time_s
    stretched = (
        mem.blocked_s[i] > STILL_S and abs(s.tension_n[t] - mem.still_tension_n[i]) > m.moving_tension_n
    )
    limit = m.still_residual_m + m.still_residual_m_n * s.tension_n[t]
    contradicted = abs(s.residual_m[t] - mem.still_residual_m[i]) > limit
    contradicted = contradicted and mem.still_s[i] > CONTRADICTED_S and mem.still_wanted_rad[i] > WANTED_RAD
    if stretched or contradicted:
        latch_finger(s, f, ENCODER_STUCK, i, 1e3 * mem.still_s[i], 1e3 * STILL_S)
    if mem.blocked_s[i] > BLOCKED_S:
        amperes = s.motor_torque_nm[i] / m.motor_torque_constant_nm_a[i]
        latch_finger(s, f, MOTOR_BLOCKED, i, amperes, m.motor_current_limit_a[i])


@law
def should_rest(m: Model, s: State, i: int) -> bool:
    """True if no motion is wanted of motor ``i`` and it does not run."""
    still = abs(s.ref_motor_speed_rad_s[i]) < m.standing_speed_rad_s
    return bool(still and abs(s.motor_speed_rad_s[i]) < m.running_speed_rad_s)


@law
def check_friction_energy(m: Model, mem: GuardMemory, s: State, f: int, i: int, kept: float) -> None:
    """Latch a friction compensation that keeps on pushing a motor which should rest.

    One that runs is no such motor: under a torque, or between tensions, a joint goes where they take it.
    ``kept`` is what a cycle leaves of the work noted.
    """
    mem.energy_j[i] *= kept
    if should_rest(m, s, i):
        mem.energy_j[i] += m.dt_s * s.friction_torque_nm[i] * s.motor_speed_rad_s[i]
        if mem.energy_j[i] > m.friction_energy_j:
            latch_finger(s, f, FRICTION_ENERGY, i, mem.energy_j[i], m.friction_energy_j)


@law
def motor_of_joint(m: Model, f: int, j: int) -> int:
    """Motor of the tendon of finger ``f`` with the longest lever arm at joint ``j``."""
    best = m.finger_tendon[f, 0]
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if abs(m.P_tj_m[t, j]) > abs(m.P_tj_m[best, j]):
            best = t
    return int(m.tendon_motor[best])


@law
def check_guide_energy(m: Model, mem: GuardMemory, s: State, f: int, kept: float) -> None:
    """The same for the compensation at the joints of finger ``f``, while all its motors should rest."""
    resting = True
    for k in range(m.finger_n_tendons[f]):
        if not should_rest(m, s, m.tendon_motor[m.finger_tendon[f, k]]):
            resting = False
            break
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.joint_energy_j[j] *= kept
        if resting:
            mem.joint_energy_j[j] += m.dt_s * s.guide_torque_nm[j] * s.joint_speed_rad_s[j]
            if mem.joint_energy_j[j] > m.friction_energy_j:
                motor = motor_of_joint(m, f, j)
                latch_finger(s, f, FRICTION_ENERGY, motor, mem.joint_energy_j[j], m.friction_energy_j)


@law
def servo_torque_nm(m: Model, mem: GuardMemory, s: State, i: int) -> float:
    """Torque [N m] of servo ``i`` at a standstill: by its current, or by its loop where it reports none."""
    if tells_current(m, i):
        return float(mem.last_torque_nm[i])
    missing = mem.servo_goal_rad[i] - s.motor_angle_rad[i]
    dead = m.servo_deadband_rad[i] + m.encoder_step_rad[i]
    missing -= min(max(missing, -dead), dead)
    most = m.motor_torque_limit_nm[i]
    return float(min(max(m.servo_stiffness_nm_rad[i] * missing, -most), most))


@law
def check_servo(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> None:
    """Latch a servo that stands under a torque that nothing balances; what its tendons hold is no fault."""
    i = m.tendon_motor[t]
    torque = servo_torque_nm(m, mem, s, i)
    stands = abs(s.motor_speed_rad_s[i]) < m.rest_speed_rad_s
    excess = abs(torque - motor_load_nm(m, s, f, t)) > m.excess_torque_nm
    mem.blocked_s[i] = mem.blocked_s[i] + m.dt_s if stands and excess and mem.servo_share[i] >= 1.0 else 0.0
    if mem.blocked_s[i] > BLOCKED_S:
        amperes = torque / m.motor_torque_constant_nm_a[i]
        latch_finger(s, f, MOTOR_BLOCKED, i, amperes, m.motor_current_limit_a[i])


@law
def check_servos(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch the faults that servos alone have: in a loop of their own, for a hand without them."""
    for t in range(m.n_tendons):
        i = m.tendon_motor[t]
        if m.tendon_follows[t] == 0 and is_servo(m, i):
            if usable(int(z.motor_status[i]), z.motor_angle_rad[i]):
                check_servo(m, mem, s, m.tendon_finger[t], t)


@law
def check_motors(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch the faults of all motors."""
    kept, shared = math.exp(-m.dt_s / ENERGY_MEMORY_S), m.n_motors < m.n_tendons
    servos = m.n_servos != 0
    for t in range(m.n_tendons):
        i, f = m.tendon_motor[t], m.tendon_finger[t]
        if shared and m.tendon_follows[t] != 0:
            continue
        if usable(int(z.motor_status[i]), z.motor_angle_rad[i]):
            fresh = z.motor_time_ns[i] != mem.motor_sample_ns[i]  # an old sample is no standstill
            time_s = since_sample_s(m, s, z.motor_time_ns[i], mem.motor_sample_ns[i])
            check_speed(m, mem, s, f, i)
            check_angle_jump(m, mem, z, s, f, t, time_s)
            if servos and is_servo(m, i):
                continue
            if fresh or mem.started == 0:
                check_standstill(m, mem, s, f, t, time_s if mem.started != 0 else m.dt_s)
            check_friction_energy(m, mem, s, f, i, kept)
    if servos:
        check_servos(m, mem, z, s)
    if m.use_guides != 0 and m.guide_gain > 0.0:
        for f in range(m.n_fingers):
            check_guide_energy(m, mem, s, f, kept)
    for i in range(m.n_motors):
        mem.last_angle_rad[i] = s.motor_angle_rad[i]
