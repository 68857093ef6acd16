r"""How much a motor may wind or unwind: no tension beyond its limit, no joint fast into its stop.

A limit that is met when it is reached is met too late: the rotor carries on, and braking it takes time. So,
in any mode, the guard looks at the way that is left and allows the speed from which the motor stops in it,

.. math:: v(x) = \sqrt{v_0^2 + 2 a x}

with a share of the drive's torque for the deceleration a, and the way x shortened by what passes until the
drive answers. It does this twice:

* elongation: the way up to ``elongation_max_m``; its speed is ``R w`` and what joints and wrist add;
* joints: the way up to the end of the range; the speed is the one that the motors make,
  ``-P^+ (R w + dh_wrist/dt)``: the joint's own is behind a spring, a brake on it would shake, and counts
  from ``joint_noise_rad_s`` on. A joint that another one takes along counts with what friction makes of it.
  In a finger whose paths move fast the range ends ``joint_care_rad`` sooner: what friction holds just before
  its stop slips when others pull, later than any brake can act. Far from the stop nothing is kept.

And the wrist: all tendons together can pull it four times as hard as its drive holds; then it runs away and
stretches them. As its torque nears the drive's, those that add to it wind more slowly, at last not at all.

A motor that is faster than allowed gets the torque that holds its tendon, less (or, where its unwinding lets
the joint go, more) by a damping:  ``R f + K (w_allowed - w)``. Far from its limits a tension cannot be bound,
and a few comparisons say so.
"""

from __future__ import annotations

import math
from typing import Final

from guard.carried import arm_m, note_carriers
from guard.memory import GuardMemory
from guard.paths import REST_S, WRIST_HZ, motor_paths, note_stands, unrest
from mechanics.collocated import from_tendons
from mechanics.curves import CURVED
from mechanics.lines import load_nm, sense_of
from mechanics.low_pass import filter_share
from mechanics.thumb import INSERTION
from signals.compiled import law
from signals.modes import MachineState
from signals.typed import Model, State

ACTIVE: Final = int(MachineState.ACTIVE)
SOFT_STOP_RAD: Final = math.radians(1.5)
"""How far beyond its range a joint may be (errors of the estimate) before pulling further is limited."""
REACTION_S: Final = 0.005
"""Time that passes until a drive brakes: filter of the speed, delay of the command, rate of the torque."""
BRAKE_SHARE: Final = 0.5
"""Share of a motor's greatest torque that the guard counts on where it brakes."""
SETTLE_1_S: Final = 150.0
"""Rate at which the last of a way is closed [1/s]."""
OVER_REFERENCE: Final = 1.5
"""Greatest speed of a joint in any mode, in that of its reference."""
APPROACH_1_S: Final = 12.0
"""How much faster per way before it [1/s]: a brake that fades lets the bones come to rest."""
BACK_1_S: Final = 10.0
"""How much less of it per way beyond [1/s]."""
FREE_CARES: Final = 3.0
"""Way before its stop from which on a joint is not kept from it, in its care."""
LED_BACK: Final = 6.0
"""How much more a joint is kept from its stop per way that it is too close to it,"""
LED_BACK_RAD: Final = 0.05
"""and at most: it goes back with 0.5 rad/s more. Faster, a finger that begins to move kicks."""
AT_STOP_1_S: Final = 50.0
"""How much less of a joint's own speed is noise per way before its stop [1/s]; twice as much is at the stop,
where it cannot become fast any more."""
COULOMB_SHARE: Final = 0.5 * math.pi
"""Of a motor's ``gamma_2``: its friction at speed, eq. (3.8)."""
WIND_BACK: Final = 2.0
"""Torque that winds a slack tendon back, in its motor's friction: also where its joint is at its end."""
NO_LIMIT: Final = 1e9
WRIST_SHARE: Final = 0.8
"""Share of the wrist drive's torque that tendons may put on it."""
WRIST_CARE: Final = 0.5
"""Share of that from which on it counts at all."""


@law
def allowed_speed(way: float, speed: float, deceleration: float) -> float:
    """Speed [1/s] towards a limit from which one still stops there; beyond it negative: back, as fast as far.

    Close to the limit it falls in proportion to the way: the root's slope there would be all noise.

    Args:
        way: way that is left, in the coordinate's unit.
        speed: present speed towards the limit [1/s].
        deceleration: what one can count on [1/s2], positive.
    """
    left = way - REACTION_S * max(speed, 0.0)
    allowed = min(math.sqrt(2.0 * deceleration * abs(left)), SETTLE_1_S * abs(left))
    return allowed if left > 0.0 else -allowed


@law
def stop_speed(way_rad: float, speed_rad_s: float, deceleration_rad_s2: float, end_rad_s: float) -> float:
    """The same for a joint and its stop [rad/s]: slowly it may come there, and a little beyond.

    The estimate of a joint at its stop errs by a degree: there its tendons still may wind together.
    """
    left = way_rad - REACTION_S * max(speed_rad_s, 0.0)
    if left > 0.0:
        hard = math.sqrt(end_rad_s * end_rad_s + 2.0 * deceleration_rad_s2 * left)
        return min(hard, end_rad_s + APPROACH_1_S * left)
    return end_rad_s + BACK_1_S * left


@law
def kept_rad(way_rad: float, care_rad: float, passed_rad: float) -> float:
    """By how much the range of a joint ends sooner, ``way_rad`` before its nearer stop [rad].

    By ``care_rad`` up to that way, by nothing at three times as much: there a goal is followed as ever. By
    more where it is closer than the law of the way lets it pass, ``passed_rad``: friction would leave it.
    """
    kept = max(0.5 * (FREE_CARES * care_rad - way_rad), 0.0)
    if kept <= care_rad:
        return kept
    closer = care_rad - passed_rad - max(way_rad, 0.0)
    return care_rad + min(LED_BACK * max(closer, 0.0), LED_BACK_RAD)


@law
def note_near(m: Model, mem: GuardMemory) -> None:
    """Way before its stop from which on nothing of it counts, neither care nor more noise, into ``mem``."""
    for j in range(m.n_joints):
        mem.near_rad[j] = max(FREE_CARES * m.joint_care_rad[j], m.joint_noise_rad_s / AT_STOP_1_S)


@law
def note_turns(m: Model, mem: GuardMemory) -> None:
    """What stays as it is into ``mem``: carriers, shares of a cycle, the least turn of a joint per turn.

    The turn is that of a tendon's motor, and 0 where it depends on the pose.
    """
    note_carriers(m, mem)
    note_stands(m, mem)
    note_near(m, mem)
    mem.path_share = filter_share(WRIST_HZ, m.dt_s)
    mem.unrest_kept = math.exp(-m.dt_s / REST_S)
    for t in range(m.n_tendons):
        f, least = m.tendon_finger[t], NO_LIMIT
        for b in range(m.finger_n_joints[f]):
            arm = abs(arm_m(mem, m.P_tj_m, t, m.finger_joint[f, b]))
            if arm != 0.0:
                least = min(least, arm / abs(m.spool_radius_m[t]))
        bent = m.tendon_kind[t] == INSERTION or m.finger_kind[f] == CURVED
        mem.least_turn[t] = 0.0 if bent else least


@law
def joint_margins(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """How much faster the motors may move each joint of finger ``f``, up and down [rad/s], into ``mem``.

    Negative where they move it too fast for what is left of its range. Beside them the least of the finger's
    margins, and whether all its joints are within their soft stops.
    """
    least, inside = NO_LIMIT, 1
    end, calm = m.stop_speed_rad_s, m.joint_noise_rad_s
    motor_paths(m, mem, s, f)
    share = unrest(m, mem, f)
    from_tendons(m, mem, f, mem.row, mem.motor_joint_rad_s)
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        q, brake = s.joint_angle_rad[j], m.joint_brake_rad_s2[j]
        above, below = m.joint_max_rad[j] - q, q - m.joint_min_rad[j]
        nearest = min(above, below)
        if not nearest >= -SOFT_STOP_RAD:
            inside = 0
        if brake <= 0.0:  # a mechanism's joint, without tendons
            mem.margin_up_rad_s[j] = mem.margin_down_rad_s[j] = NO_LIMIT
            continue
        moved, fastest = mem.motor_joint_rad_s[j], OVER_REFERENCE * m.joint_speed_max_rad_s[j]
        rising = falling = s.joint_speed_rad_s[j]
        turn = mem.carried_turn[j]
        if turn != 0.0:  # friction may hold its tendons, or the joint that takes it along
            wound = mem.motor_joint_rad_s[mem.carrier[j]]
            went = min(max(s.joint_speed_rad_s[mem.carrier[j]], min(wound, 0.0)), max(wound, 0.0))
            along, left = turn * wound, moved - turn * (wound - went)
            rising, falling = max(rising, along, left), min(falling, along, left)
        noise = calm
        if nearest < mem.near_rad[j]:
            noise = min(max(calm, 2.0 * calm - AT_STOP_1_S * nearest), 2.0 * calm)
            passed = end / BACK_1_S if s.finger_state[f] == ACTIVE else NO_LIMIT
            kept = kept_rad(nearest, share * m.joint_care_rad[j], passed)
            above, below = above - kept, below - kept
        up, down = max(moved, rising - noise), -min(moved, falling + noise)
        up_margin = min(stop_speed(above, up, brake, end), fastest) - up
        down_margin = min(stop_speed(below, down, brake, end), fastest) - down
        mem.margin_up_rad_s[j], mem.margin_down_rad_s[j] = up_margin, down_margin
        least = min(least, up_margin, down_margin)
    mem.least_margin_rad_s[f], mem.inside[f] = least, inside


@law
def joints_free(m: Model, mem: GuardMemory, s: State, f: int, t: int, x: float) -> bool:
    """True if its joints leave the motor of tendon ``t`` so much way that ``joint_envelope`` binds no torque.

    Whatever joint of the finger has the least margin, and whatever turns least with this motor.
    """
    limit = m.motor_torque_limit_nm[m.tendon_motor[t]]
    way = m.envelope_damping_nms_rad * mem.least_turn[t] * mem.least_margin_rad_s[f]
    return bool(abs(x) <= limit and way >= limit + abs(load_nm(m, s, f, t)))


@law
def tension_free(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> bool:
    """True if the tendon is so far from its limits that no torque of its motor needs a bound.

    What joints add to the speed of a tendon is the projection of what the motors wind, so that three times
    the fastest of the finger is more than any.
    """
    i = m.tendon_motor[t]
    fastest, limit = 3.0 * mem.fastest_m_s[f], 2.0 * m.motor_torque_limit_nm[i]
    way = min(m.elongation_max_m[t] - s.elongation_m[t], s.elongation_m[t] - m.elongation_min_m[t])
    way -= REACTION_S * fastest
    speed = fastest + abs(m.spool_radius_m[t]) * limit / m.envelope_damping_nms_rad
    brake = BRAKE_SHARE * abs(m.spool_radius_m[t]) * limit  # 2 a, times the motor's inertia
    return bool(way > 0.0 and brake * way > speed * speed * m.motor_inertia_kg_m2[i])


@law
def joint_envelope(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> tuple[float, float]:
    """Least and most torque [N m] of the motor of tendon ``t`` for the sake of its joints.

    Both have the motor's friction in addition: where a joint stands at its stop, its tendon still winds as
    fast as its partners, and does not fall behind them.
    """
    i, radius = m.tendon_motor[t], abs(m.spool_radius_m[t])
    wind = unwind = NO_LIMIT
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        arm = arm_m(mem, mem.P_tj_m, t, j)
        if arm != 0.0:
            # winding turns the joint towards -P, unwinding lets it go the other way
            turn = abs(arm) / radius
            up, down = turn * mem.margin_up_rad_s[j], turn * mem.margin_down_rad_s[j]
            wind = min(wind, down if arm > 0.0 else up)
            unwind = min(unwind, up if arm > 0.0 else down)
    hold = load_nm(m, s, f, t)
    friction = COULOMB_SHARE * m.friction_gamma_2_nm[i]
    return (
        hold - friction - m.envelope_damping_nms_rad * unwind,
        hold + friction + m.envelope_damping_nms_rad * wind,
    )


@law
def tension_envelope(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> tuple[float, float]:
    """Least and most torque [N m] of the motor of tendon ``t`` for the sake of its tension.

    The least one keeps a tendon taut that is, was or should be, by no more than winds it back slowly. A slack
    one has all its way left: it may be wound, by a probe too. What joints add to its speed counts where it
    makes things worse: a joint at its stop, or held, does not give way.
    """
    i, radius = m.tendon_motor[t], abs(m.spool_radius_m[t])
    speed = m.spool_radius_m[t] * s.motor_speed_rad_s[i] + mem.wrist_m_s[t]
    joints = 0.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        joints += mem.P_tj_m[t, j] * mem.motor_joint_rad_s[j]
    stretching, letting = speed + max(joints, 0.0), speed + min(joints, 0.0)
    brake = BRAKE_SHARE * m.motor_torque_limit_nm[i] / m.motor_inertia_kg_m2[i] * radius
    damping = m.envelope_damping_nms_rad / radius
    hold = load_nm(m, s, f, t)
    tight = allowed_speed(m.elongation_max_m[t] - s.elongation_m[t], stretching, brake) - stretching
    least = -m.motor_torque_limit_nm[i]
    left = s.elongation_m[t] - m.elongation_min_m[t]
    if left > 0.0 or mem.taut[t] != 0 or s.ref_tension_n[t] > 0.0:
        loose = allowed_speed(left, -letting, brake) + letting
        least = hold + min(-damping * loose, WIND_BACK * COULOMB_SHARE * m.friction_gamma_2_nm[i])
    most = hold + damping * tight
    return least, most if left > 0.0 else NO_LIMIT


@law
def wrist_load(m: Model, mem: GuardMemory, s: State) -> None:
    """Torque of all tendons on each wrist axis, as a share of what they may put on it, into ``mem``."""
    mem.wrist_loaded = 0
    for a in range(m.n_axes):
        load = s.wrist_torque_nm[a] / (WRIST_SHARE * m.axis_torque_limit_nm[a])
        mem.wrist_load[a] = load
        if abs(load) > WRIST_CARE:
            mem.wrist_loaded = 1


@law
def wrist_envelope(m: Model, mem: GuardMemory, s: State, t: int) -> float:
    """Most torque [N m] of the motor of tendon ``t`` for the sake of the wrist; a slack tendon loads nothing.

    So a probe winds, and what became slack is wound back, however the wrist is loaded by others.
    """
    i = m.tendon_motor[t]
    wind = NO_LIMIT
    if s.elongation_m[t] <= m.elongation_min_m[t]:
        return wind
    for a in range(m.n_axes):
        load = mem.wrist_load[a]
        if abs(load) > WRIST_CARE and load * m.wrist_arm_m[t, a] < 0.0:  # its torque is -arm f
            wind = min(wind, m.wrist_wind_rad_s * (1.0 - abs(load)) - sense_of(m, t) * s.motor_speed_rad_s[i])
    return float(load_nm(m, s, m.tendon_finger[t], t) + m.envelope_damping_nms_rad * wind)
