"""What the envelope leaves of a torque: tension, contradictions, fingers in fault, the short ways round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guard.envelope import (
    BRAKE_SHARE,
    COULOMB_SHARE,
    REACTION_S,
    SETTLE_1_S,
    WIND_BACK,
    allowed_speed,
    joint_margins,
)
from guard.limits import envelope_bounds, motor_bounds
from hand.assembly.figures import FIGURES
from mechanics.friction import motor_friction_nm
from signals.compiled import law
from tests.rigs.moving import (
    FAR_NM,
    JOINT_RANGE,
    TENDONS,
    TENSION_MAX,
    TENSION_MIN,
    Moving,
    alone,
    envelope,
    limit_nm,
    towards_the_end,
)

DAMPING_NMS_RAD = FIGURES["envelope_damping_nms_rad"].reference

BEYOND_M = 2e-5
"""Elongation beyond the limit: half a newton."""


def brake_m_s2(bench: Moving, t: int) -> float:
    """What the guard counts on where it brakes a motor, at its tendon."""
    return BRAKE_SHARE * limit_nm(bench, t) * float(bench.radius[t] / bench.m["motor_inertia_kg_m2"][t])


def steady_m_s(t: int, way_m: float) -> float:
    """The speed that allows itself: from it the motor stops in the way, after its reaction's time."""
    brake = brake_m_s2(Moving(), t)
    delay = brake * REACTION_S
    close = SETTLE_1_S * way_m / (1.0 + SETTLE_1_S * REACTION_S)
    return min(math.sqrt(delay * delay + 2.0 * brake * way_m) - delay, close)


# --- tension ----------------------------------------------------------------------------------------------


@given(TENDONS, st.floats(-0.002, 0.007), st.floats(-0.14, 0.14))
def test_the_most_and_the_least_torque_follow_from_the_way_that_is_left(
    t: int, way: float, speed: float
) -> None:
    bench = alone(t, way, speed)
    brake, damping = brake_m_s2(bench, t), DAMPING_NMS_RAD / bench.radius[t]
    hold = float(bench.radius[t] * bench.s["tension_n"][t])
    most = hold + damping * (allowed_speed(way, speed, brake) - speed)
    assert envelope(bench, t)[1] == pytest.approx(most, abs=1e-6)
    other = alone(t, way, -speed, tight=False)
    pull = damping * (allowed_speed(way, speed, brake) - speed)
    friction = COULOMB_SHARE * float(bench.m["friction_gamma_2_nm"][t])
    assert envelope(other, t)[0] == pytest.approx(hold + min(-pull, WIND_BACK * friction), abs=1e-6)


@given(TENDONS, st.floats(1e-4, 0.007))
def test_a_motor_at_the_allowed_speed_holds_its_tendon_and_a_faster_one_less(t: int, way: float) -> None:
    speed = steady_m_s(t, way)
    for factor in (0.9, 1.0, 1.1):
        bench = alone(t, way, factor * speed)
        hold = float(bench.radius[t] * bench.s["tension_n"][t])
        most = envelope(bench, t)[1]
        assert most == pytest.approx(hold, abs=1e-6) if factor == 1.0 else (most < hold) == (factor > 1.0)


@law
def furthest_m(model, memory, state, t, asked, stiffness, sent):  # type: ignore[no-untyped-def]
    """How far the asked direction takes the elongation of a motor on its spring."""
    m, mem, s = model[0], memory[0], state[0]
    i, radius = m.tendon_motor[t], m.spool_radius_m[t]
    sign, furthest = math.copysign(1.0, asked), -1.0
    g1, g2, g3 = m.friction_gamma_1_s_rad[i], m.friction_gamma_2_nm[i], m.friction_gamma_3_nms_rad[i]
    for k in range(600):
        s.tension_n[t] = max(stiffness * s.elongation_m[t], 0.0)
        joint_margins(m, mem, s, 0)
        x, bits = envelope_bounds(m, mem, s, 0, t, asked, 0)
        slot = k % sent.size  # the drive is late by as many cycles
        torque, sent[slot] = sent[slot], motor_bounds(m, mem, s, i, x, bits)[0]
        push = torque - radius * s.tension_n[t] - motor_friction_nm(s.motor_speed_rad_s[i], g1, g2, g3)
        s.motor_speed_rad_s[i] += push / m.motor_inertia_kg_m2[i] * m.dt_s
        s.elongation_m[t] += radius * s.motor_speed_rad_s[i] * m.dt_s
        furthest = max(furthest, sign * s.elongation_m[t])
    return furthest


@given(st.floats(0.001, 0.007), st.floats(0.0, 0.06), st.floats(0.1, FAR_NM), st.booleans(), st.booleans())
def test_whatever_is_asked_a_motor_alone_stops_at_the_end_of_its_elongation(
    way: float, speed: float, asked: float, tight: bool, known: bool
) -> None:
    """Winding tight and letting go; its drive is late by less than the time that the law counts on.

    So too where its tendon was not seen taut for long yet, as after off and on.
    """
    t, sign = 0, 1.0 if tight else -1.0
    bench = alone(t, way, sign * speed, tight)
    bench.mem["taut"][t], bench.s["ref_tension_n"][t] = known, 0.0
    assume(way > speed * REACTION_S + speed * speed / (2.0 * brake_m_s2(bench, t)))
    stiffness = 115.0 / float(bench.most_m[t])
    late = np.full(2, float(bench.radius[t]) * stiffness * float(bench.s["elongation_m"][t]))
    model, memory, state = bench.model, bench.records[0], bench.records[2]
    gone = furthest_m(model, memory, state, t, sign * asked, stiffness, late)
    assert gone <= (float(bench.most_m[t]) if tight else -float(bench.least_m[t])) + BEYOND_M


@pytest.mark.parametrize(("taut", "wanted_n", "kept"), [(1, 0.0, True), (0, 0.5, True), (0, 0.0, False)])
def test_a_slack_tendon_that_was_or_should_be_taut_is_wound_back_and_no_other(
    taut: int, wanted_n: float, kept: bool
) -> None:
    bench = Moving()
    t = 2
    bench.mem["taut"][t], bench.s["ref_tension_n"][t] = taut, wanted_n
    bench.s["elongation_m"][t], bench.s["tension_n"][t] = bench.least_m[t] - 0.001, 0.0
    bench.look()
    limit = limit_nm(bench, t)
    sent, bits = bench.bounded(t, -0.5 * limit)
    if kept:
        back = WIND_BACK * COULOMB_SHARE * float(bench.m["friction_gamma_2_nm"][t])
        assert 0.0 < sent <= back and bits == TENSION_MIN, "wound back, slowly"
    else:
        assert (sent, bits) == (-0.5 * limit, 0)
        assert envelope(bench, t)[0] == -limit


@pytest.mark.parametrize("t", range(8))
def test_each_limit_of_the_tension_has_its_own_bit(t: int) -> None:
    tight = alone(t, 0.0005, steady_m_s(t, 0.0005))
    most = envelope(tight, t)[1]
    assert tight.bounded(t, most + 0.01) == (pytest.approx(most), TENSION_MAX)
    assert tight.bounded(t, most - 0.01) == (pytest.approx(most - 0.01), 0)
    loose = alone(t, 0.0005, -steady_m_s(t, 0.0005), tight=False)
    least = envelope(loose, t)[0]
    assert loose.bounded(t, least - 0.01) == (pytest.approx(least), TENSION_MIN)
    assert loose.bounded(t, least + 0.01) == (pytest.approx(least + 0.01), 0)


@pytest.mark.parametrize("t", range(8))
def test_bounds_beyond_what_a_motor_gives_are_its_limit(t: int) -> None:
    """No bound asks for more than the drive has, in either direction."""
    limit = limit_nm(Moving(), t)
    beyond = alone(t, -0.01, 0.1)
    assert envelope(beyond, t)[1] < -limit
    assert beyond.bounded(t, 0.0) == (-limit, TENSION_MAX)
    joint = int(np.flatnonzero(Moving().P[t])[-1])  # the last one, that takes no other along
    for sign in (1.0, -1.0):
        bench = towards_the_end(joint)
        bench.turn(40.0 * np.eye(4)[joint])
        bench = bench if bench.P[t, joint] * sign < 0.0 else bench.mirrored()
        bench.m["elongation_max_m"][t] = 0.0  # the joint alone
        assert bench.bounded(t, sign * 0.1) == (-sign * limit, JOINT_RANGE)


def test_joints_that_go_along_take_nothing_off_a_motors_speed() -> None:
    """They may stand at a stop: a tendon counts as if its joint stood, whoever winds it."""
    bench = Moving()
    bench.s["elongation_m"][:8] = 0.004
    bench.turn(np.array([2.0, -2.0, 3.0, -3.0]))
    for t in range(8):
        stands = alone(
            t, float(bench.most_m[t]) - 0.004, float(bench.radius[t] * bench.s["motor_speed_rad_s"][t])
        )
        still = alone(t, float(bench.most_m[t]) - 0.004, 0.0)
        winds = bench.s["motor_speed_rad_s"][t] > 0.0
        assert envelope(bench, t)[1] == pytest.approx(envelope(stands if winds else still, t)[1], abs=1e-6)
        assert envelope(bench, t)[0] == pytest.approx(envelope(still if winds else stands, t)[0], abs=1e-6)


@pytest.mark.parametrize("speed", [-0.05, 0.05])
def test_a_wrist_that_moves_a_tendon_counts_as_its_motor(speed: float) -> None:
    bench = alone(2, 0.004, 0.0)
    bench.mem["wrist_m_s"][2] = speed
    assert envelope(bench, 2) == pytest.approx(envelope(alone(2, 0.004, speed), 2), abs=1e-9)


@pytest.mark.parametrize("t", range(8))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_joints_that_others_move_stretch_a_tendon_or_let_it_go(t: int, sign: float) -> None:
    bench = alone(t, 0.004, 0.0)
    joint = int(np.flatnonzero(bench.P[t])[0])
    bench.mem["motor_joint_rad_s"][joint] = sign * 0.5
    stretched = sign * 0.5 * float(bench.P[t, joint])
    other = alone(t, 0.004, stretched)
    one = 1 if stretched > 0.0 else 0
    assert envelope(bench, t)[one] == pytest.approx(envelope(other, t)[one], abs=1e-6)
    assert envelope(bench, t)[1 - one] == pytest.approx(envelope(alone(t, 0.004, 0.0), t)[1 - one], abs=1e-6)
