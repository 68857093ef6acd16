r"""The guard's word on drives that take angles: goal and greatest current by the state of the finger.

.. math:: i_{max} k_t = \min(|R| f_{max} + \tau_{friction},\ |R| f_{limit},\ \tau_{limit})

so that no tendon is pulled harder than it may be, whatever the goal. A drive whose command is ``position``
takes no greatest current: there the detectors of tension remain. Held fingers keep their goal. Letting go is
an act here too: the goal unwinds what the co-contraction stretches and the greatest current falls to zero
with it; then the motor is off. A motor with tendons on both sides has no way that unwinds: its current falls.
"""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import degraded
from guard.hold import glide, held_angle_rad
from guard.latch import FAULT, latch_finger
from guard.limits import beyond_range_rad
from guard.machine import ACTIVE, HOLDING
from guard.memory import GuardMemory
from guard.reaction import RELEASE, RELEASE_S, reaction_of
from guard.winding import derating
from mechanics.drives import is_servo, tells_current
from mechanics.lines import sense_of
from mechanics.plausible import usable
from mechanics.springs import stiffness_of_force
from signals.compiled import law
from signals.faults import Cause
from signals.modes import Clip, MotorMode
from signals.typed import Command, Measurement, Model, State

NOT_FINITE_COMMAND: Final = int(Cause.NOT_FINITE_COMMAND)
OFF: Final = int(MotorMode.OFF)
POSITION: Final = int(MotorMode.POSITION)
STATE: Final = int(Clip.STATE)
NOT_FINITE: Final = int(Clip.NOT_FINITE)
RATE: Final = int(Clip.RATE)
JOINT_RANGE: Final = int(Clip.JOINT_RANGE)
TENSION_MAX: Final = int(Clip.TENSION_MAX)
TENSION_MIN: Final = int(Clip.TENSION_MIN)
TEMPERATURE: Final = int(Clip.TEMPERATURE)

SOFT_RANGE_RAD: Final = math.radians(4.0)
"""How far beyond its range a joint may be before a goal that leads further out stands still."""


@law
def torque_cap_nm(m: Model, t: int) -> float:
    """Greatest torque [N m] of the motor of tendon ``t`` that its tension bounds allow."""
    i, arm = m.tendon_motor[t], abs(m.spool_radius_m[t])
    if m.tension_max_n[t] <= 0.0:
        return float(m.motor_torque_limit_nm[i])
    friction = 0.5 * math.pi * m.friction_gamma_2_nm[i]
    most = min(arm * m.tension_max_n[t] + friction, arm * m.tension_limit_n[t])
    return float(min(most, m.motor_torque_limit_nm[i]))


@law
def one_sided(m: Model, f: int, i: int) -> float:
    """Sense in which motor ``i`` winds its tendons of finger ``f``: 1 or -1; 0: on both sides."""
    sense = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_motor[t] == i:
            own = sense_of(m, t)
            if m.tension_max_n[t] <= 0.0 or sense == -own:
                return 0.0
            sense = own
    return sense


@law
def leads_out(m: Model, mem: GuardMemory, s: State, f: int, t: int, change: float) -> int:
    """Clip bits if the motor's goal goes on to where a joint or tendon ``t`` is too far already.

    Unwinding stops before the least tension, as it will be once the motor is where its goal is now: where an
    object keeps the joints from following, the tendon would go slack. A motor with tendons on both sides
    takes the joints along; where they cannot follow, its greatest current is the bound.
    """
    tensed, radius = m.tension_max_n[t] > 0.0, m.spool_radius_m[t]
    if change * radius < 0.0:
        if one_sided(m, f, m.tendon_motor[t]) == 0.0:
            return 0
        on_the_way = radius * (mem.servo_goal_rad[m.tendon_motor[t]] - s.motor_angle_rad[m.tendon_motor[t]])
        there = s.tension_n[t] + s.tendon_stiffness_n_m[t] * on_the_way
        return TENSION_MIN if tensed and there < m.tension_min_n[t] else 0
    if change == 0.0:
        return 0
    if tensed and s.tension_n[t] > m.tension_max_n[t]:
        return TENSION_MAX
    return JOINT_RANGE if beyond_range_rad(m, mem.P_tj_m, s, f, t) > SOFT_RANGE_RAD else 0


@law
def goal_by_state(
    m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int, reaction: int
) -> tuple[float, float, int]:
    """Goal [rad], share of the greatest current and clip bits for the motor of tendon ``t``."""
    i, state = m.tendon_motor[t], s.finger_state[f]
    last, wanted = mem.servo_goal_rad[i], s.ref_motor_angle_rad[i]
    if state == ACTIVE:
        if not math.isfinite(wanted):
            latch_finger(s, f, NOT_FINITE_COMMAND, i, 0.0, 0.0)
            return float(last), 1.0, NOT_FINITE
        if degraded(m, z, s, t):
            return float(last), 1.0, STATE
        step = m.motor_speed_limit_rad_s[i] * m.dt_s
        goal = min(max(wanted, last - step), last + step)
        return float(goal), 1.0, 0 if goal == wanted else RATE
    if leads_out(m, mem, s, f, t, mem.hold_speed_rad_s[i]) != 0:
        mem.hold_speed_rad_s[i] = 0.0
    glide(m, mem, i)
    held = held_angle_rad(m, mem, s, t)
    if state == FAULT and reaction == RELEASE:
        left = max(1.0 - mem.fault_age_s[f] / RELEASE_S, 0.0)
        if one_sided(m, f, i) == 0.0:
            return float(last), left, STATE
        common = m.pretension_n[f]
        stretch = common / stiffness_of_force(m, t, 0.5 * common)
        unwound = (1.0 - left) * stretch / m.spool_radius_m[t]
        return held - unwound, left, STATE
    return held, 1.0, STATE if state == FAULT else 0


@law
def command_servos(m: Model, mem: GuardMemory, z: Measurement, s: State, c: Command, f: int) -> None:
    """Goals [rad] and greatest currents [A] of the motors of finger ``f`` into the command."""
    powered, reaction = s.finger_state[f] >= HOLDING, reaction_of(m, s, f)
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        if m.tendon_follows[t] == 0:  # a motor's first line: the others bound what it decides
            mem.servo_before_rad[i] = mem.servo_goal_rad[i]
            if powered:
                mem.servo_goal_rad[i], share, bits = goal_by_state(m, mem, z, s, f, t, reaction)
                mem.servo_cap_nm[i] = share * m.motor_torque_limit_nm[i]
                hot = derating(m, s.winding_temperature_degc[i])
                if hot < 1.0:
                    mem.servo_cap_nm[i], bits = hot * mem.servo_cap_nm[i], bits | TEMPERATURE
                mem.servo_share[i] = share
            else:
                mem.servo_goal_rad[i] = s.motor_angle_rad[i]
                mem.servo_cap_nm[i] = mem.servo_share[i] = 0.0
                bits = STATE if s.ref_motor_speed_rad_s[i] != 0.0 else 0
            s.clip[i] = bits
        if powered:
            out = leads_out(m, mem, s, f, t, mem.servo_goal_rad[i] - mem.servo_before_rad[i])
            if out != 0 and s.finger_state[f] == ACTIVE:
                mem.servo_goal_rad[i] = mem.servo_before_rad[i]
                s.clip[i] |= out
            mem.servo_cap_nm[i] = min(mem.servo_cap_nm[i], mem.servo_share[i] * torque_cap_nm(m, t))
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_follows[t] == 0:
            send_goal(m, mem, s, c, m.tendon_motor[t], powered)


@law
def send_goal(m: Model, mem: GuardMemory, s: State, c: Command, i: int, powered: bool) -> None:
    """Motor ``i``'s command; its torque [N m] is what it reports."""
    s.motor_torque_nm[i] = mem.last_torque_nm[i]
    if s.clip[i] != 0:
        s.clip_count[i] += 1
    c.motor_current_a[i] = mem.servo_cap_nm[i] / m.motor_torque_constant_nm_a[i]
    c.motor_angle_rad[i] = mem.servo_goal_rad[i]
    c.motor_mode[i] = POSITION if powered and mem.servo_share[i] > 0.0 else OFF


@law
def note_torques(m: Model, mem: GuardMemory, z: Measurement) -> None:
    """Torques [N m] of the servos as they report them now: theirs to say, not what was sent last."""
    for i in range(m.n_motors):
        if is_servo(m, i) and usable(int(z.motor_status[i]), z.motor_angle_rad[i]):
            torque = z.motor_current_a[i] * m.motor_torque_constant_nm_a[i] if tells_current(m, i) else 0.0
            mem.last_torque_nm[i] = torque if math.isfinite(torque) else 0.0
