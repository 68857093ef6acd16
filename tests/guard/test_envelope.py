"""The speed envelope on records written by hand: what stops in time, which speeds count, who is bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.carried import TAKEN_ALONG, arm_m, note_carriers
from guard.envelope import (
    APPROACH_1_S,
    AT_STOP_1_S,
    BACK_1_S,
    COULOMB_SHARE,
    NO_LIMIT,
    OVER_REFERENCE,
    REACTION_S,
    SETTLE_1_S,
    allowed_speed,
    joint_envelope,
    note_turns,
    stop_speed,
)
from guard.memory import new_guard_memory
from hand.assembly.figures import FIGURES
from tests.rigs.desk import model_record
from tests.rigs.moving import JOINT_RANGE, Moving, towards_the_end

DAMPING_NMS_RAD = FIGURES["envelope_damping_nms_rad"].reference
NOISE_RAD_S = FIGURES["joint_noise_rad_s"].reference
STOP_RAD_S = FIGURES["stop_speed_rad_s"].reference

STEP_S = 1e-5
WAYS = st.floats(1e-4, 0.05)
BRAKES = st.floats(1.0, 400.0)
STILL_NM = 0.2
"""What 20 N take at the spool: a torque that no bound of a hand at rest changes."""


# --- allowed speeds ---------------------------------------------------------------------------------------


@given(WAYS, BRAKES)
def test_from_the_allowed_speed_a_motor_stops_within_its_way_and_gives_little_away(
    way: float, brake: float
) -> None:
    """The speed that allows itself; then the reaction's time at that speed, then the counted deceleration.

    Close to the limit it is the slower one that falls in proportion to the way.
    """
    a_t = brake * REACTION_S
    root = math.sqrt(a_t * a_t + 2.0 * brake * way) - a_t
    speed = min(root, SETTLE_1_S * way / (1.0 + SETTLE_1_S * REACTION_S))
    assert allowed_speed(way, speed, brake) == pytest.approx(speed, rel=1e-6)
    assert allowed_speed(way, 1.01 * speed, brake) < speed < allowed_speed(way, 0.99 * speed, brake)
    close = speed < root
    gone = REACTION_S * speed
    step = min(STEP_S, 1e-3 * speed / brake)
    while speed > 0.0:
        speed -= brake * step
        gone += max(speed, 0.0) * step
    assert gone <= way * (1.0 + 1e-9)
    assert close or gone >= 0.99 * way


@given(st.floats(-0.05, 0.05), st.floats(0.0, 10.0), BRAKES)
def test_beyond_a_limit_it_goes_back_as_fast_as_it_may_come(way: float, speed: float, brake: float) -> None:
    assert allowed_speed(-way, 0.0, brake) == -allowed_speed(way, 0.0, brake) or way == 0.0
    assert allowed_speed(way, -speed, brake) == allowed_speed(way, 0.0, brake), "what moves away has no delay"
    left = way - REACTION_S * speed
    assert allowed_speed(way, speed, brake) == pytest.approx(allowed_speed(left, 0.0, brake), abs=1e-9)
    assert stop_speed(way, -speed, brake, STOP_RAD_S) == stop_speed(way, 0.0, brake, STOP_RAD_S)
    assert stop_speed(way, speed, brake, STOP_RAD_S) == pytest.approx(
        stop_speed(left, 0.0, brake, STOP_RAD_S), abs=1e-9
    )


@given(st.floats(1e-3, 1.5), st.floats(20.0, 400.0))
def test_a_joint_that_brakes_by_the_law_comes_to_its_stop_no_faster_than_promised(
    way: float, brake: float
) -> None:
    """It follows the law with no more than the counted deceleration, a step late."""
    first, end, step = stop_speed(way, 0.0, brake, STOP_RAD_S), way, 1e-4
    speed = first
    while way > 0.0:
        speed = max(speed - brake * step, min(speed, stop_speed(way, 0.0, brake, STOP_RAD_S)))
        way -= speed * step
    assert speed**2 <= STOP_RAD_S**2 + 2.0 * first * brake * step
    root = math.sqrt(STOP_RAD_S**2 + 2.0 * brake * end)
    assert stop_speed(end, 0.0, brake, STOP_RAD_S) == pytest.approx(
        min(root, STOP_RAD_S + APPROACH_1_S * end)
    )


def test_at_its_stop_a_joint_may_move_slowly_and_a_little_beyond_not_at_all() -> None:
    gone = STOP_RAD_S / BACK_1_S
    assert stop_speed(0.0, 0.0, 100.0, STOP_RAD_S) == STOP_RAD_S
    assert stop_speed(-0.5 * gone, 0.0, 100.0, STOP_RAD_S) == pytest.approx(0.5 * STOP_RAD_S)
    assert stop_speed(-gone, 0.0, 100.0, STOP_RAD_S) == pytest.approx(0.0, abs=1e-12)
    assert stop_speed(-2.0 * gone, 0.0, 100.0, STOP_RAD_S) == pytest.approx(-STOP_RAD_S)
    assert stop_speed(1e-9, 0.0, 100.0, STOP_RAD_S) == pytest.approx(STOP_RAD_S), "no step at the stop"


# --- speeds that count ------------------------------------------------------------------------------------

SPEEDS = st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4).map(np.array)
PLACES = st.lists(st.floats(-0.05, 1.05), min_size=4, max_size=4).map(np.array)


@given(PLACES, SPEEDS)
def test_margins_are_what_the_way_to_each_end_and_the_greatest_speed_leave(
    place: np.ndarray, speed: np.ndarray
) -> None:
    bench = Moving()
    q = bench.low + place * (bench.high - bench.low)
    bench.s["joint_angle_rad"][:4] = q
    bench.turn(speed)
    assert bench.mem["motor_joint_rad_s"][:4] == pytest.approx(speed, abs=1e-9)
    assert bench.mem["fastest_m_s"][0] == pytest.approx(np.abs(bench.P @ speed).max())
    up, down = bench.margins()
    turn = bench.mem["carried_turn"][:4]
    carried = np.where(turn != 0.0, turn * speed[bench.mem["carrier"][:4]], speed)
    assert sum(turn != 0.0) == 1
    for j in range(4):
        fastest = OVER_REFERENCE * bench.m["joint_speed_max_rad_s"][j]
        brake = float(bench.m["joint_brake_rad_s2"][j])
        above, below = bench.high[j] - q[j], q[j] - bench.low[j]
        way = min(max(min(above, below), 0.0), NOISE_RAD_S / AT_STOP_1_S)  # beyond it is as at the stop
        noise = 2.0 * NOISE_RAD_S - AT_STOP_1_S * way
        for margin, way, v in (
            (up[j], above, max(speed[j], carried[j] - noise)),
            (down[j], below, max(-speed[j], -carried[j] - noise)),
        ):
            allowed = min(stop_speed(way, v, brake, STOP_RAD_S), fastest)
            assert margin == pytest.approx(allowed - v, abs=1e-6)
    other = bench.mirrored().margins()
    assert other[0] == pytest.approx(down, abs=1e-9) and other[1] == pytest.approx(up, abs=1e-9)


def pip_alone(bench: Moving, winds: bool) -> int:
    """The tendon over the pip, not over the dip, whose winding bends the pip or straightens it."""
    return next(
        t
        for t in range(8)
        if bench.P[t, 3] == 0.0 and (bench.P[t, 2] < 0.0 if winds else bench.P[t, 2] > 0.0)
    )


@pytest.mark.parametrize(
    ("way_rad", "pip_rad_s", "stands", "binds"),
    [
        (0.01, 4.0, False, True),
        (0.01, 4.0, True, True),
        (0.01, -4.0, False, False),
        (0.01, -4.0, True, True),
        (1.0, 4.0, False, False),
        (1.0, -4.0, True, False),
    ],
)
def test_a_pip_brakes_where_friction_may_take_the_dip_along_into_its_stop(
    way_rad: float, pip_rad_s: float, stands: bool, binds: bool
) -> None:
    """Its motors let the dip stand. If friction holds the tendons over both in their guides, it goes along.

    If friction holds the pip, what they wind over both turns the dip the other way.
    """
    bench = Moving()
    bench.s["joint_angle_rad"][3] = bench.high[3] - way_rad
    bench.turn(np.array([0.0, 0.0, pip_rad_s, 0.0]))
    if stands:
        bench.s["joint_speed_rad_s"][:4] = 0.0
        bench.look()
    assert bench.mem["motor_joint_rad_s"][3] == pytest.approx(0.0, abs=1e-9)
    for winds in (True, False):
        t = pip_alone(bench, winds)
        assert bool(bench.bounded(t, STILL_NM if winds else -STILL_NM)[1] & JOINT_RANGE) == binds


@given(st.floats(-8.0, 8.0), st.floats(-8.0, 8.0), st.floats(-12.0, 12.0))
def test_a_dip_counts_with_what_its_motors_leave_it_where_the_pip_lags_behind_its_own(
    wound: float, moved: float, went: float
) -> None:
    """Bones follow their tendons: what the pip does not make of ``P dq = -R w``, the dip does."""
    bench = Moving()
    bench.turn(np.array([0.0, 0.0, wound, moved]))
    bench.s["joint_speed_rad_s"][:4] = [0.0, 0.0, went, moved]
    bench.look()
    P = bench.P[(bench.P[:, 3] != 0.0)][:, 2:4]
    pip = float(np.clip(went, min(wound, 0.0), max(wound, 0.0)))
    dip = moved + P[:, 1] @ (P[:, 0] * (wound - pip)) / (P[:, 1] @ P[:, 1])
    along = -P[:, 1] @ P[:, 0] / (P[:, 1] @ P[:, 1]) * wound
    rising = max(moved, max(along, dip) - NOISE_RAD_S)
    falling = min(moved, min(along, dip) + NOISE_RAD_S)
    up, down = bench.margins()
    brake, fastest = bench.m["joint_brake_rad_s2"][3], OVER_REFERENCE * bench.m["joint_speed_max_rad_s"][3]
    way = 0.5 * (bench.high[3] - bench.low[3])
    for margin, v in ((up[3], rising), (down[3], -falling)):
        allowed = min(stop_speed(way, v, brake, STOP_RAD_S), fastest)
        assert margin == pytest.approx(allowed - v, abs=1e-6)


@pytest.mark.parametrize("hand", ["finger_bench", "hasy", "leap_v1", "orca_v2", "n_plus_one", "sdm"])
def test_a_joint_is_taken_along_as_tendons_over_both_turn_it_if_they_stand(hand: str) -> None:
    model = model_record(hand)
    m, mem = model[0], new_guard_memory()
    note_carriers(m, mem[0])
    P, n = m["P_tj_m"], int(m["n_joints"])
    for j in range(n):
        f = int(m["joint_finger"][j])
        rows = P[m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
        beside = rows[rows[:, j] == 0.0]  # tendons whose motors turn joint i and not j
        turns = {
            int(i): float(np.linalg.lstsq(rows[:, [j]], -rows[:, i], rcond=None)[0][0])
            for i in m["finger_joint"][f, : m["finger_n_joints"][f]]
            if rows[:, j].any() and beside[:, i].any()
        }
        most = max(turns.values(), key=abs, default=0.0)
        if abs(most) <= TAKEN_ALONG:
            assert mem["carried_turn"][0, j] == 0.0
            continue
        i = int(mem["carrier"][0, j])
        assert mem["carried_turn"][0, j] == pytest.approx(turns[i])
        assert abs(turns[i]) == pytest.approx(abs(most))
        for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            # turned by a little and the joint taken along with it: the tendon's way is the same
            way = P[t, i] if P[t, j] == 0.0 else P[t, j] * turns[i]
            assert arm_m(mem[0], P, t, j) * turns[i] == pytest.approx(way)


@given(st.floats(0.05, 3.0), st.sampled_from([-1.0, 1.0]))
def test_only_what_takes_a_joint_along_by_half_of_its_own_turn_is_its_carrier(
    turn: float, sense: float
) -> None:
    """Pulleys of the dip drawn so that tendons over both turn it so far per turn of the pip."""
    bench = Moving()
    P = bench.m["P_tj_m"][: bench.n]
    both = P[:, 3] != 0.0
    P[both, 3] = -sense * P[both, 2] / turn
    note_turns(bench.m, bench.mem)
    if abs(turn - 0.5) > 1e-9:
        assert bench.mem["carried_turn"][3] == pytest.approx(sense * turn if turn > 0.5 else 0.0)
        assert bench.mem["carrier"][3] == (2 if turn > 0.5 else 3)
    assert np.count_nonzero(bench.mem["carried_turn"]) == (turn > 0.5)


@pytest.mark.parametrize(("beyond_rad", "noise"), [(-0.02, 1.0), (0.0, 2.0), (0.02, 2.0), (0.1, 2.0)])
def test_at_its_stop_and_beyond_twice_the_noise_of_a_joint_is_left_out(
    beyond_rad: float, noise: float
) -> None:
    bench = Moving()
    bench.turn(np.zeros(4))
    bench.s["joint_angle_rad"][0] = bench.high[0] + beyond_rad
    bench.s["joint_speed_rad_s"][0] = 4.0
    bench.look()
    counted = 4.0 - noise * NOISE_RAD_S
    allowed = stop_speed(-beyond_rad, counted, float(bench.m["joint_brake_rad_s2"][0]), STOP_RAD_S)
    assert bench.margins()[0][0] == pytest.approx(allowed - counted)


@given(st.integers(0, 3), SPEEDS, st.floats(-3.0, 3.0))
def test_a_joint_counts_only_where_it_is_clearly_faster_than_its_motors(
    joint: int, motors: np.ndarray, swing: float
) -> None:
    """It lies on a spring and is noisy: what it adds counts from ``NOISE_RAD_S`` on."""
    bench = Moving()
    bench.turn(motors)
    bench.s["joint_speed_rad_s"][joint] += swing
    bench.look()
    up, down = bench.margins()
    over = max(abs(swing) - NOISE_RAD_S, 0.0)
    seen = Moving()
    seen.turn(motors + math.copysign(over, swing) * np.eye(4)[joint])
    one, other = seen.margins()
    calm = Moving()
    calm.turn(motors)
    still = calm.margins()
    rises = swing > 0.0
    assert up[joint] == pytest.approx(one[joint] if rises else still[0][joint], abs=1e-6)
    assert down[joint] == pytest.approx(still[1][joint] if rises else other[joint], abs=1e-6)


@given(st.integers(0, 7), st.floats(-14.0, 14.0), SPEEDS, st.floats(-0.002, 0.0))
def test_a_slack_tendon_moves_no_joint(t: int, winding: float, speed: np.ndarray, beyond_m: float) -> None:
    bench = Moving()
    bench.turn(speed)
    before, fastest = bench.margins(), float(bench.mem["fastest_m_s"][0])
    bench.s["elongation_m"][t] = bench.least_m[t] + beyond_m
    bench.s["motor_speed_rad_s"][t] = winding
    bench.look()
    assert np.allclose(bench.margins(), before, atol=1e-9)
    assert bench.mem["fastest_m_s"][0] == pytest.approx(fastest)
    bench.s["elongation_m"][t] = bench.least_m[t] + 1e-6
    bench.look()
    path = bench.radius * bench.s["motor_speed_rad_s"][:8]
    made = np.linalg.lstsq(-bench.P, path, rcond=None)[0]
    assert bench.mem["motor_joint_rad_s"][:4] == pytest.approx(made, abs=1e-9), "taut, it counts"
    assert bench.mem["fastest_m_s"][0] == pytest.approx(np.abs(path).max())


@given(SPEEDS)
def test_what_the_wrist_takes_from_the_paths_counts_as_the_motors(speed: np.ndarray) -> None:
    """Motors that only follow the wrist turn no joint; those that stand while it turns do."""
    bench = Moving()
    wrist = bench.P @ speed
    bench.mem["wrist_m_s"][:8] = wrist
    bench.s["motor_speed_rad_s"][:8] = -wrist / bench.radius
    bench.look()
    assert bench.mem["motor_joint_rad_s"][:4] == pytest.approx(0.0, abs=1e-9)
    bench.s["motor_speed_rad_s"][:8] = 0.0
    bench.look()
    assert bench.mem["motor_joint_rad_s"][:4] == pytest.approx(-speed, abs=1e-9)


def test_what_was_fast_counts_no_longer_once_it_stands() -> None:
    bench = Moving()
    bench.turn(np.array([2.0, -2.0, 3.0, -3.0]))
    bench.turn(np.zeros(4))
    assert bench.mem["fastest_m_s"][0] == 0.0


def test_a_joint_without_a_brake_has_no_bound() -> None:
    """A mechanism has no tendons: nothing of its joints is bounded, whatever they do."""
    bench = towards_the_end()
    bench.m["joint_brake_rad_s2"][3] = 0.5
    bench.look()
    assert bench.margins()[0][3] < 0.0, "any brake makes a bound"
    bench.m["joint_brake_rad_s2"][:4] = 0.0
    bench.look()
    assert min(*bench.margins()[0], *bench.margins()[1]) == NO_LIMIT
    bench.m["elongation_max_m"] = 0.0
    bench.s["elongation_m"][:8] = 9.0
    for x in (-900.0, 900.0):
        assert bench.bounded(0, x) == (x, 0)


# --- bounds of a motor ------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", range(4))
@pytest.mark.parametrize("up", [True, False])
def test_near_its_end_a_joint_bounds_what_turns_it_there_and_nothing_else(joint: int, up: bool) -> None:
    """Winding of those that pull it there, unwinding of those that let it go, by as much."""
    bench = towards_the_end(joint)
    bench = bench if up else bench.mirrored()
    margin = float(bench.mem[f"margin_{'up' if up else 'down'}_rad_s"][joint])
    assert margin < 0.0
    for t in range(8):
        arm = arm_m(bench.mem, bench.P, t, joint) * (1.0 if up else -1.0)
        hold = float(bench.radius[t] * bench.s["tension_n"][t])
        slower = DAMPING_NMS_RAD * abs(arm) / bench.radius[t] * margin
        friction = COULOMB_SHARE * float(bench.m["friction_gamma_2_nm"][t])
        least, most = joint_envelope(bench.m, bench.mem, bench.s, 0, t)
        if arm < 0.0:  # winding it turns the joint there
            assert most == pytest.approx(hold + friction + slower)
            assert bench.bounded(t, most + 0.01) == (pytest.approx(most), JOINT_RANGE)
            assert bench.bounded(t, most - 0.01) == (pytest.approx(most - 0.01), 0)
        elif arm > 0.0:
            assert least == pytest.approx(hold - friction - slower)
            assert bench.bounded(t, least - 0.01) == (pytest.approx(least), JOINT_RANGE)
            assert bench.bounded(t, least + 0.01) == (pytest.approx(least + 0.01), 0)
        else:
            assert bench.bounded(t, STILL_NM) == (STILL_NM, 0)


@given(PLACES, SPEEDS, st.integers(0, 7))
def test_winding_and_unwinding_and_both_directions_of_a_joint_are_bounded_alike(
    place: np.ndarray, speed: np.ndarray, t: int
) -> None:
    """In the mirrored state a tendon may unwind by as much as it may wind in this one."""
    bench = Moving()
    bench.s["joint_angle_rad"][:4] = bench.low + place * (bench.high - bench.low)
    bench.turn(speed)
    least, most = joint_envelope(bench.m, bench.mem, bench.s, 0, t)
    other = bench.mirrored()
    back = joint_envelope(other.m, other.mem, other.s, 0, t)
    hold = 2.0 * float(bench.radius[t] * bench.s["tension_n"][t])
    assert least + back[1] == pytest.approx(hold, abs=1e-9)
    assert most + back[0] == pytest.approx(hold, abs=1e-9)
