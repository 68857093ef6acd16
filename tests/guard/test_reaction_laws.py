"""The reaction law by law: who is let go how, how far, how fast, and what the probe may do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.channel_checks import LOST_S
from guard.letting_go import rest_nm
from guard.lookahead import DONE
from guard.reaction import (
    RELEASE_S,
    change_choice,
    reaction_of,
)
from guard.simulated_break import coasting_m
from mechanics.friction import motor_friction_nm
from mechanics.springs import stiffness_of_force
from mechanics.tension_loop import tension_torque_nm
from signals.compiled import law
from signals.faults import CAUSES, Cause, Scope
from signals.modes import ChannelStatus, MachineState, Reaction
from tests.rigs.faulted import HALLS, LIMIT_NM, MOTORS, PAIRS, Faulted
from tests.rigs.probing import LEVER_MAX, MARGIN, RADIUS_M, Probe

WINDING, NAMED = 1, 2


@law
def _change(model: Any, memory: Any, state: Any) -> None:
    change_choice(model[0], memory[0], state[0])


# --- who reacts how -----------------------------------------------------------------------------------

SOUND = (Cause.NONE, Cause.MOTOR_BLOCKED, Cause.JOINT_OUT_OF_RANGE)
"""Causes that leave a finger's own sensors and tendons sound."""


@pytest.mark.parametrize("cause", [Cause.NONE, *(c for c in Cause if c in CAUSES)])
@pytest.mark.parametrize("chosen", list(Reaction))
def test_the_configured_reaction_is_for_sound_fingers_all_others_let_go(
    cause: Cause, chosen: Reaction
) -> None:
    fault = Faulted(cause)
    fault.m["finger_reaction"][0] = int(chosen)
    expected = chosen if cause in SOUND else Reaction.RELEASE
    assert reaction_of(fault.m, fault.s, 0) == expected
    fault.s["hand_cause"] = int(Cause.OPERATOR_STOP)
    expected = Reaction.HOLD if cause is Cause.NONE else expected
    assert reaction_of(fault.m, fault.s, 0) == expected


@pytest.mark.parametrize("cause", list(CAUSES))
@pytest.mark.parametrize("part", [2, 7])
@pytest.mark.parametrize("tension_n", [2.0, 8.7, 40.0])
def test_a_tendon_whose_own_sensor_or_motor_is_the_cause_is_left_alone_and_its_partner_not_below_it(
    cause: Cause, part: int, tension_n: float
) -> None:
    """With a bad Hall sensor its tension is not known: the partner is left alone too."""
    fault = Faulted(cause, part)
    # motor 7 - t winds tendon t: whose cause it is depends on what the part counts
    fault.m["tendon_motor"][:8] = np.arange(8)[::-1]
    fault.s["tension_n"][[part, 7 - part]] = tension_n
    fault.begin()
    blind = {part} if cause in HALLS else {7 - part} if cause in MOTORS else set()
    assert fault.marked("blind") == blind
    assert fault.marked("left_alone") == (blind | {PAIRS[t] for t in blind} if cause in HALLS else blind)
    if cause is not Cause.TENSION_LOST:
        down_to = {PAIRS[t]: max(tension_n, 5.0) for t in blind if cause in MOTORS}
        assert all(fault.mem["release_to_n"][t] == down_to.get(t, 5.0) for t in range(8))


@pytest.mark.parametrize("name", ["hall_status", "motor_status"])
@pytest.mark.parametrize("value", ["status", "number"])
def test_a_tendon_that_cannot_be_seen_is_left_alone_whatever_the_cause(name: str, value: str) -> None:
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE, 1)
    if value == "status":
        fault.z[name][4] = int(ChannelStatus.MISSING)
    else:
        fault.z["hall_fine_count" if name == "hall_status" else "motor_angle_rad"][4] = math.nan
    fault.s["tension_n"][5] = 40.0
    fault.begin()
    assert fault.marked("blind") == {4}
    assert fault.torque(4) == 0.0 and fault.torque(0) < 0.0
    if name == "hall_status":
        assert fault.marked("left_alone") == {4, 5}
        assert fault.torque(5) == 0.0
    else:
        assert fault.marked("left_alone") == {4}
        assert fault.mem["release_to_n"][5] == 20.0 and fault.torque(5) < 0.0


@pytest.mark.parametrize(
    ("slack_s", "urgent_s"), [(0.0, 0.0195), (0.0044, 0.0195), (0.0055, 0.0185), (0.0105, 0.0135)]
)
def test_a_throw_begins_with_the_loss_however_late_that_is_told(slack_s: float, urgent_s: float) -> None:
    """What is let go in a hurry is so until 24 ms after the tendon came to its slack stop."""
    fault = Faulted(Cause.TENSION_LOST, 2)
    fault.mem["slack_s"][2] = slack_s
    fault.begin()
    assert fault.mem["urgent_s"][0] == pytest.approx(urgent_s)
    assert 1 in fault.marked("urgent")
    for age_s, full in ((urgent_s - 1e-4, True), (urgent_s + 1e-4, False)):
        fault.mem["fault_age_s"][0] = age_s
        fault.mem["last_torque_nm"][1] = -2.0
        assert (fault.torque(1) == -LIMIT_NM) is full


def test_a_loss_that_is_told_after_its_throw_is_over_hurries_nobody() -> None:
    fault = Faulted(Cause.TENSION_LOST, 2)
    fault.mem["slack_s"][2] = 0.150
    fault.begin()
    assert fault.mem["urgent_s"][0] < 0.0
    assert fault.torque(1) > -LIMIT_NM
    other = Faulted(Cause.HALL_STUCK, 2)
    other.mem["slack_s"][2] = 0.150
    assert other.begin().mem["urgent_s"][0] == pytest.approx(0.0195)


def test_what_pulls_a_joint_into_a_stop_nearby_is_found_by_its_sign() -> None:
    """Joint 2 (row P: tendons 4 and 6 with +, 5 and 7 with -): pulling turns it towards -P."""
    end = math.radians(100.0)
    for angle, expected in (
        (end - 0.149, {5}),
        (end - 0.151, set()),
        (0.149, {4}),
        (0.151, set()),
    ):
        fault = Faulted(Cause.TENSION_LOST)
        fault.s["joint_angle_rad"][:4] = (0.0, 0.6, angle, 0.6)
        found = fault.into_stop()
        # 6 and 7 also move joint 3, which is far from its stops, so that joint 2 decides
        assert found == expected | {t + 2 for t in expected}


def test_of_two_joints_near_their_stops_the_distal_one_decides() -> None:
    fault = Faulted(Cause.TENSION_LOST)
    fault.s["joint_angle_rad"][:4] = (0.0, 0.6, math.radians(100.0) - 0.05, math.radians(85.0) - 0.05)
    # joint 3: tendon 6 with -, 7 with +
    assert fault.into_stop() == {5, 6}
    fault.s["joint_angle_rad"][3] = 0.05
    assert fault.into_stop() == {5, 7}


@pytest.mark.parametrize("lost", range(8))
def test_the_partner_of_a_lost_tendon_is_let_go_to_slack_at_once(lost: int) -> None:
    fault = Faulted(Cause.TENSION_LOST, lost).begin()
    assert PAIRS[lost] in fault.marked("urgent")
    assert lost not in fault.marked("urgent")
    assert fault.mem["release_to_n"][PAIRS[lost]] == 0.0
    calm = set(range(8)) - fault.marked("urgent")
    assert all(fault.mem["release_to_n"][t] == 5.0 for t in calm)
    assert (fault.mem["probe_phase"][0], fault.mem["probe_tendon"][0]) == (WINDING, lost)
    assert np.all(fault.mem["release_n"][:8] == 20.0)


@pytest.mark.parametrize("cause", [c for c in CAUSES if c is not Cause.TENSION_LOST])
def test_without_a_lost_tendon_nothing_is_urgent_and_nothing_probes(cause: Cause) -> None:
    fault = Faulted(cause, 2, (0.0, 1.5, 1.7, 1.4))
    fault.mem["urgent"][:8] = 1
    fault.mem["probe_phase"][0] = WINDING
    fault.mem["fault_age_s"][0] = 3.0
    fault.mem["released_s"][:8] = 1.0
    fault.s["tension_n"][2] = 4.0
    fault.begin()
    assert not fault.marked("urgent") and fault.mem["probe_phase"][0] == 0
    assert fault.mem["fault_age_s"][0] == 0.0
    assert not fault.mem["released_s"][:8].any()
    assert np.all(fault.mem["release_to_n"][:8] == 5.0)


@pytest.mark.parametrize(
    ("pose", "thrown"),
    [
        # tendon 0 lost (P: + +): joints 0 and 1 are thrown towards their greatest angles, 20 and 90 deg
        ((0.0, 0.3, 0.6, 0.6), 0),
        ((0.3, 1.56, 0.6, 0.6), 1),
        ((0.1, math.radians(90.0) - 0.25, 0.6, 0.6), None),
        ((0.1, math.radians(90.0) - 0.24 / 0.79, 0.6, 0.6), None),
    ],
)
def test_what_throws_the_same_joint_as_the_lost_one_is_let_go_to_slack_too(
    pose: tuple[float, ...], thrown: int | None
) -> None:
    """Joint 0 is thrown by tendons with P < 0 there (2 and 3), joint 1 by 1 and 3; joint 2 is untouched."""
    fault = Faulted(Cause.TENSION_LOST, 0, pose)
    way = (math.radians(20.0) - pose[0], math.radians(90.0) - pose[1])
    if thrown is None:
        assert max(way) * 0.8 < min(way), "neither is clearly first"
    fault.begin()
    slack = {t for t in range(8) if fault.mem["release_to_n"][t] == 0.0}
    assert slack == {3} | ({0: {2}, 1: {1}}[thrown] if thrown is not None else set())


# --- how far ------------------------------------------------------------------------------------------


def test_a_tendon_is_released_when_it_is_down_for_five_milliseconds_and_stays_so() -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.s["tension_n"][1] = 6.01
    assert not any(fault.released(1) for _ in range(100))
    fault.s["tension_n"][1] = 5.99
    lasting = fault.bench.cycles(0.005)
    used = next(k for k in range(1, 100) if fault.released(1))
    assert abs(used - lasting) <= 1
    fault.s["tension_n"][1] = 50.0
    assert fault.released(1), "it is not taken up again"


@pytest.mark.parametrize(
    ("lever", "counts"), [(LEVER_MAX - 0.9 * MARGIN, True), (LEVER_MAX - 1.1 * MARGIN, False)]
)
def test_a_lever_at_its_slack_stop_is_released_whatever_the_tension_reads(lever: float, counts: bool) -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.s["lever_angle_rad"][1] = lever
    assert any(fault.released(1) for _ in range(100)) is counts


def test_an_urgent_one_is_released_in_the_first_cycle_and_every_one_after_a_second() -> None:
    fault = Faulted(Cause.TENSION_LOST, 2).begin()
    fault.mem["release_to_n"][1] = 5.0
    fault.s["tension_n"][1] = 5.9
    assert fault.released(1)
    late = Faulted(Cause.MOTOR_BLOCKED).begin()
    late.mem["fault_age_s"][0] = 0.999
    assert not late.released(4)
    late.mem["fault_age_s"][0] = 1.001
    assert late.released(4)


@given(speed=st.floats(-14.0, 14.0))
def test_a_motor_coasts_as_far_as_its_gears_friction_lets_its_energy_go(speed: float) -> None:
    fault = Faulted(Cause.TENSION_LOST)
    energy_j = 0.5 * 0.005301 * speed**2
    friction_nm = 0.5586 * math.pi / 2.0
    expected = energy_j / friction_nm * RADIUS_M if speed < 0.0 else 0.0
    assert coasting_m(fault.m, 1, RADIUS_M, speed) == pytest.approx(expected, rel=1e-9)
    fault.m["friction_gamma_2_nm"][1] = 0.0
    assert coasting_m(fault.m, 1, RADIUS_M, speed) == 0.0


def test_one_that_is_to_go_slack_is_released_once_it_will_coast_there() -> None:
    for elongation, counts in ((0.0029, True), (0.0031, False)):
        fault = Faulted(Cause.TENSION_LOST, 2).begin()
        fault.s["motor_speed_rad_s"][1] = -10.0
        way = coasting_m(fault.m, 1, RADIUS_M, -10.0)
        fault.s["elongation_m"][1] = way * elongation / 0.003
        assert fault.released(1) is counts
        calm = Faulted(Cause.MOTOR_BLOCKED).begin()
        calm.s["motor_speed_rad_s"][1], calm.s["elongation_m"][1] = -10.0, way * 0.5
        assert not any(calm.released(1) for _ in range(100)), "one with a tension left does not coast"


# --- how fast -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("most_n", [20.0, 39.9])
def test_a_finger_at_ease_is_led_down_by_the_loop_in_the_time_of_its_greatest_tension(most_n: float) -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED)
    fault.s["tension_n"][4] = most_n
    fault.begin()
    laws = [float(fault.m[n][1]) for n in _FRICTION]
    rate = -20.0 / RELEASE_S  # in proportion to its own, whatever the greatest is
    for k in range(1, 100):
        wanted = 20.0 + rate * k / 3000.0
        speed = rate / 7176.0 / RADIUS_M
        expected = tension_torque_nm(fault.m, 1, wanted, 20.0, 7176.0, -0.3 - speed, 1.0)
        expected += motor_friction_nm(speed, *laws)
        fault.s["motor_speed_rad_s"][1] = -0.3
        assert fault.torque(1) == pytest.approx(min(max(expected, -1.37), 0.0), rel=1e-9)
        assert fault.mem["release_n"][1] == pytest.approx(wanted)


@pytest.mark.parametrize("why", ["lost", "presses"])
def test_a_finger_that_lost_a_tendon_or_presses_on_something_is_led_down_at_once(why: str) -> None:
    fault = Faulted(Cause.TENSION_LOST if why == "lost" else Cause.MOTOR_BLOCKED)
    fault.s["tension_n"][4] = 20.0 if why == "lost" else 40.1
    fault.begin()
    fault.mem["urgent"][:8], fault.mem["fault_age_s"][0] = 0, 0.02
    for k in range(1, 20):
        fault.torque(1)
        own = 500.0 if why == "lost" else 500.0 * 20.0 / 40.1
        assert fault.mem["release_n"][1] == pytest.approx(max(20.0 - own * k / 3000.0, 5.0))


@pytest.mark.parametrize("cause", [c for c in CAUSES if CAUSES[c].scope == Scope.FINGER])
def test_a_finger_that_a_push_stopped_is_led_down_as_one_at_ease(cause: Cause) -> None:
    fault = Faulted(cause)
    fault.s["tension_n"][4] = 100.0
    fault.begin()
    pushed = cause in (Cause.TENSION_TOO_HIGH, Cause.JOINT_OUT_OF_RANGE)
    rate_n_s = 100.0 / RELEASE_S if pushed else float(fault.m["release_rate_n_s"])
    assert fault.mem["release_n_s"][0] == pytest.approx(rate_n_s)
    assert fault.mem["gives_way"][0] == (not pushed)


@pytest.mark.parametrize(("most_n", "gives_way"), [(2000.0, 0), (20.0, 1)])
def test_how_fast_a_finger_is_led_down_does_not_say_whether_it_presses_on_something(
    most_n: float, gives_way: int
) -> None:
    """A hand whose drives lead down slowly, pushed hard, comes down as fast as one that presses."""
    fault = Faulted(Cause.TENSION_TOO_HIGH if gives_way == 0 else Cause.TENSION_LOST)
    fault.s["tension_n"][4] = most_n
    fault.begin()
    assert fault.mem["release_n_s"][0] >= float(fault.m["release_rate_n_s"])
    assert fault.mem["gives_way"][0] == gives_way


@pytest.mark.parametrize("most_n", [0.0, 0.7, 40.0])
@pytest.mark.parametrize("shared", [0, 1])
@pytest.mark.parametrize("cause", [Cause.TENSION_LOST, Cause.MOTOR_BLOCKED])
def test_a_finger_is_led_down_in_proportion_if_nothing_is_lost_no_motor_shared_and_something_pulls(
    cause: Cause, shared: int, most_n: float
) -> None:
    fault = Faulted(cause)
    tension_n = most_n * np.linspace(0.3, 1.0, 8)
    fault.m["finger_shares"][0], fault.s["tension_n"][:8] = shared, tension_n
    fault.begin()
    alike = cause is Cause.TENSION_LOST or shared or most_n == 0.0
    assert fault.mem["release_share"][:8] == pytest.approx(np.ones(8) if alike else tension_n / most_n)


@settings(max_examples=10)
@given(
    st.lists(st.floats(0.02, 1.0), min_size=8, max_size=8),
    st.lists(st.floats(8.0, 90.0), min_size=8, max_size=8),
)
def test_what_balances_the_joints_of_a_finger_falls_alike_whatever_its_arms(
    arms: list[float], tension_n: list[float]
) -> None:
    """Torque of every joint over that at first: one share for all, however unequal the arms."""
    fault = Faulted(Cause.MOTOR_BLOCKED)
    P = np.sign(fault.mem["P_tj_m"][:8, :4]) * np.outer(arms, np.ones(4)) * 0.01
    fault.s["tension_n"][:8] = tension_n
    fault.begin()
    at_first = P.T @ np.array(tension_n)
    before = np.zeros(8)
    for _ in range(10):
        before[:] = fault.mem["release_n"][:8]
        for t in range(8):
            fault.torque(t)
        now = fault.mem["release_n"][:8].copy()
        if now.min() <= 5.0:
            break
        shares = now / np.array(tension_n)
        assert now.max() < before.max()
        assert P.T @ now == pytest.approx(shares[0] * at_first, abs=1e-9)


@pytest.mark.parametrize("by", ["motor", "wrist"])
@pytest.mark.parametrize("shown_n", [20.0, 60.0])
def test_a_motor_unwinds_no_further_than_still_joints_would_need(by: str, shown_n: float) -> None:
    """The tension that is seen stays or rises: a push, or a count that stands."""
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE).begin()
    fault.s["tension_n"][1] = shown_n
    unwound_m, cycles = 0.0, 0
    while not (stopped := fault.torque(1) == 0.0) and cycles < 3000:
        cycles += 1
        unwound_m += 2e-6
        if by == "motor":
            fault.s["motor_angle_rad"][1] = -unwound_m / RADIUS_M
        else:
            fault.s["wrist_length_m"][1] = -unwound_m
    assert stopped
    low, high = (stiffness_of_force(fault.m, 1, n) for n in (6.0, 20.0))
    assert (20.0 - 6.0) / max(low, high) < unwound_m < (20.0 - 6.0) / min(low, high) + 15 * 2e-6 + 1e-9


@pytest.mark.parametrize("name", ["hall_status", "motor_status"])
def test_what_gets_lost_from_sight_while_it_is_led_stays_and_so_does_its_partner(name: str) -> None:
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE, 1)
    fault.s["tension_n"][[4, 5]] = 14.0, 16.0
    fault.begin()
    fault.z[name][4] = int(ChannelStatus.MISSING)
    cycles = fault.bench.cycles(LOST_S)
    for _ in range(cycles - 1):
        fault.look()
        assert fault.torque(4) == 0.0 and fault.torque(5) < 0.0
        assert fault.marked("blind") == set()
    for _ in range(3):
        fault.look()
    assert fault.marked("blind") == {4}
    if name == "hall_status":
        assert fault.marked("left_alone") == {4, 5}
    else:
        assert fault.marked("left_alone") == {4} and fault.mem["release_to_n"][5] == 14.0


def test_a_single_answer_that_is_missed_while_it_is_led_changes_nothing() -> None:
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE, 1).begin()
    fault.z["hall_status"][4] = int(ChannelStatus.MISSING)
    fault.look()
    fault.z["hall_status"][4] = 0
    fault.look()
    assert fault.marked("blind") == set() and fault.torque(4) < 0.0


_FRICTION = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")


@given(tension=st.floats(0.0, 130.0), stiffness=st.floats(-1.0, 6e4), speed=st.floats(-14.0, 14.0))
def test_letting_go_never_winds_and_never_exceeds_its_torque(
    tension: float, stiffness: float, speed: float
) -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.s["tension_n"][1], fault.s["tendon_stiffness_n_m"][1] = tension, stiffness
    fault.s["motor_speed_rad_s"][1] = speed
    for _ in range(20):
        assert -1.37 <= fault.torque(1) <= 0.0


def test_an_urgent_one_unwinds_at_full_torque_for_19_5_milliseconds_then_on_a_ramp_then_it_is_led() -> None:
    fault = Faulted(Cause.TENSION_LOST, 2).begin()
    for age, full in ((0.0, True), (0.0194, True), (0.0196, False)):
        fault.mem["fault_age_s"][0] = age
        fault.mem["last_torque_nm"][1] = -LIMIT_NM
        torque = fault.torque(1)
        assert (torque == -LIMIT_NM) is full
    # full torque would be gone in 0.1 s, but it never falls below what leads
    assert torque == pytest.approx(-LIMIT_NM + LIMIT_NM / 300.0)
    for age, on_ramp in ((0.0292, True), (0.0293, False)):
        fault.mem["fault_age_s"][0] = age
        assert (fault.torque(1) < -1.37) is on_ramp
    fault.mem["fault_age_s"][0] = 0.0196
    fault.mem["last_torque_nm"][1] = -1.372
    assert fault.torque(1) == -1.37
    others = [t for t in range(8) if t not in (*fault.marked("urgent"), 2)]
    fault.mem["fault_age_s"][0] = 0.0194
    assert all(fault.torque(t) == 0.0 for t in others), "the others wait for it"
    fault.mem["fault_age_s"][0] = 0.0196
    assert all(fault.torque(t) < 0.0 for t in others)


@given(speed=st.floats(-14.0, 14.0))
def test_the_motor_of_a_named_tendon_is_braked_and_never_driven(speed: float) -> None:
    fault = Faulted(Cause.TENSION_LOST, 2).begin()
    fault.s["motor_speed_rad_s"][2] = speed
    expected = -min(0.5 * speed, 1.0) if speed > 0.5 else 0.0
    assert rest_nm(fault.m, fault.s, 2) == pytest.approx(expected)
    fault.mem["probe_phase"][0] = NAMED
    assert fault.torque(2) == pytest.approx(expected)


@pytest.mark.parametrize(("reaction", "share"), [(Reaction.HOLD, 0.5), (Reaction.FREEZE, 1.0)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_holding_in_fault_is_bounded_by_its_share_of_the_torque(
    reaction: Reaction, share: float, sign: float
) -> None:
    fault = Faulted(Cause.NONE).begin()
    fault.mem["fade_torque_nm"][:8] = 0.0
    fault.s["motor_angle_rad"][1] = -sign * 0.9 * share * LIMIT_NM / 200.0
    assert fault.torque(1, reaction) == pytest.approx(sign * 0.9 * share * LIMIT_NM)
    fault.s["motor_angle_rad"][1] = -sign * 1.1 * share * LIMIT_NM / 200.0
    assert fault.torque(1, reaction) == pytest.approx(sign * share * LIMIT_NM)


# --- hold ---------------------------------------------------------------------------------------------


@given(
    speed=st.floats(-5.0, 5.0),
    sent=st.floats(-2.0, 2.0),
    wrist=st.floats(-0.01, 0.01),
    away=st.floats(-0.1, 0.1),
)
def test_holding_begins_with_the_torque_that_was_sent_and_fades_to_a_spring(
    speed: float, sent: float, wrist: float, away: float
) -> None:
    fault = Faulted(Cause.NONE)
    fault.s["motor_angle_rad"][1], fault.s["wrist_length_m"][1] = 0.7, 0.002
    fault.s["motor_speed_rad_s"][1], fault.mem["last_torque_nm"][1] = speed, sent
    fault.begin()
    fault.m["motor_torque_limit_nm"][1] = 1e3
    kept = math.exp(-fault.bench.dt_s / 0.05)
    assert fault.torque(1, Reaction.FREEZE) == pytest.approx(
        sent * kept - 3.0 * speed * (1.0 - kept), abs=1e-9
    )
    # a wrist that lengthens the way lets the motor pay out
    fault.s["wrist_length_m"][1] += wrist
    fault.s["motor_angle_rad"][1] += away - wrist / RADIUS_M
    expected = -200.0 * away - 3.0 * speed + (sent + 3.0 * speed) * kept**2
    assert fault.torque(1, Reaction.FREEZE) == pytest.approx(expected, abs=1e-9)


# --- probe --------------------------------------------------------------------------------------------


def test_three_millimetres_without_tension_are_a_break() -> None:
    probe = Probe()
    assert probe.at(2.99e-3, 300) is Cause.TENSION_LOST
    probe.mem["fault_age_s"][0] = 0.3
    probe.mem["released_s"][1] = 1.0
    probe.mem["urgent"][5] = 1
    urgent = probe.marked("urgent")
    assert probe.at(3.01e-3) is Cause.TENDON_BROKEN
    assert probe.figures == (2, pytest.approx(3.01), pytest.approx(3.0))
    assert probe.mem["probe_phase"][0] == NAMED
    assert probe.mem["fault_age_s"][0] == pytest.approx(0.15), "a long probe does not make letting go longer"
    # now its partner has nothing to hold against: it goes slack
    assert urgent >= {PAIRS[2], 5} and not probe.marked("urgent")
    assert all(probe.mem["released_s"][t] == 0.0 for t in urgent)
    assert probe.mem["release_to_n"][PAIRS[2]] == 0.0
    # any other one keeps what its own partner holds against
    assert all(probe.mem["release_to_n"][t] == 5.0 for t in set(range(8)) - {2, PAIRS[2]})


def test_a_probe_that_takes_half_a_second_ends_as_a_break() -> None:
    probe = Probe()
    lasting = probe.bench.cycles(0.5)
    assert probe.at(1e-3, lasting - 2) is Cause.TENSION_LOST
    assert probe.at(1e-3, 4) is Cause.TENDON_BROKEN
    assert probe.figures == (2, pytest.approx(1.0), pytest.approx(3.0))


def test_a_tension_that_lasts_four_milliseconds_is_a_slack_tendon_and_a_flicker_is_not() -> None:
    probe = Probe()
    lasting = probe.bench.cycles(0.004)
    for _ in range(3):
        probe.s["lever_angle_rad"][2] = LEVER_MAX - 2.1 * MARGIN
        assert probe.at(1.2e-3, lasting - 2) is Cause.TENSION_LOST
        probe.s["lever_angle_rad"][2] = LEVER_MAX - 1.9 * MARGIN
        assert probe.at(1.2e-3, 1) is Cause.TENSION_LOST
    probe.s["lever_angle_rad"][2] = LEVER_MAX - 2.1 * MARGIN
    assert probe.at(1.2e-3, lasting + 1) is Cause.TENDON_SLACK
    assert probe.figures == (2, pytest.approx(1.2), pytest.approx(3.0))
    assert probe.mem["probe_phase"][0] == NAMED


@pytest.mark.parametrize(("wound_m", "longest_s"), [(0.00019, 0.030), (0.00021, 0.008), (0.0029, 0.008)])
def test_a_motor_that_stands_under_the_probes_torque_ends_it(wound_m: float, longest_s: float) -> None:
    probe = Probe()
    assert probe.at(wound_m, probe.bench.cycles(0.040)) is Cause.TENSION_LOST, "it moves"
    probe.mem["blocked_s"][2] = longest_s - 1e-6
    assert probe.at(wound_m) is Cause.TENSION_LOST
    probe.mem["blocked_s"][2] = longest_s + 1e-6
    assert probe.at(wound_m) is Cause.ENCODER_STUCK
    assert probe.figures == (2, pytest.approx(1e3 * longest_s, rel=1e-3), pytest.approx(1e3 * longest_s))
    assert probe.mem["probe_phase"][0] == NAMED


def test_a_motor_that_stood_before_its_probe_has_the_time_of_one_at_rest() -> None:
    probe = Probe()
    probe.mem["blocked_s"][2] = 0.4
    assert probe.at(0.0, probe.bench.cycles(0.030) - 2) is Cause.TENSION_LOST
    assert probe.at(0.0, 3) is Cause.ENCODER_STUCK


@pytest.mark.parametrize("tendon", [2, 3])
@pytest.mark.parametrize("phase", [WINDING, NAMED])
@pytest.mark.parametrize("since", [MachineState.FAULT, MachineState.ACTIVE])
def test_only_a_fault_of_what_the_probe_goes_by_ends_it(tendon: int, phase: int, since: MachineState) -> None:
    probe = Probe()
    probe.mem["probe_phase"][0] = phase
    probe.mem["last_finger_state"][0] = int(since)
    probe.latch(tendon, Cause.ENCODER_FAULT)
    ends = tendon == 2 and phase == WINDING and since is MachineState.FAULT
    assert probe.s["finger_cause"][0] == int(Cause.ENCODER_FAULT if ends else Cause.TENSION_LOST)
    assert probe.mem["probe_phase"][0] == (NAMED if ends else phase)


def test_a_probe_begins_with_empty_clocks_at_the_present_angle() -> None:
    fault = Faulted(Cause.TENSION_LOST, 2)
    fault.mem["probe_age_s"][0], fault.mem["probe_back_s"][0] = 0.4, 0.1
    fault.s["motor_angle_rad"][2] = 1.25
    fault.begin()
    assert fault.mem["probe_age_s"][0] == fault.mem["probe_back_s"][0] == 0.0
    assert fault.mem["probe_angle_rad"][0] == 1.25


@given(speed=st.floats(-10.0, 10.0))
def test_the_probe_winds_at_its_speed_with_the_friction_on_top_within_its_torque(speed: float) -> None:
    probe = Probe()
    probe.s["motor_speed_rad_s"][2] = speed
    friction = 0.5586 * math.atan(10.0 * 2.5) + 0.0356 * 2.5
    expected = min(max(friction + 0.3 * (2.5 - speed), 0.0), 1.37)
    assert probe.torque(2) == pytest.approx(expected, rel=1e-9)


def test_a_look_that_ends_late_keeps_what_the_partner_of_an_undriven_tendon_is_led_to() -> None:
    """Tendon 2 is lost, motor 6 silent: tendon 7 is not let go below the tension that tendon 6 keeps."""
    fault = Faulted(Cause.TENSION_LOST, 2)
    fault.z["motor_status"][6] = int(ChannelStatus.MISSING)
    fault.s["tension_n"][6] = 40.0
    fault.begin()
    assert fault.mem["release_to_n"][7] == 40.0
    fault.mem["look_set"][1], fault.mem["look_choice"], fault.mem["look_phase"] = 0b10, 1, DONE
    _change(fault.bench.model, *(fault.bench.records[k] for k in (0, 2)))
    assert fault.marked("urgent") == {1}
    assert fault.mem["release_to_n"][7] == 40.0
    fault.mem["urgent"][7] = 1
    fault.mem["probe_age_s"][0] = 0.51
    assert fault.judge() is Cause.TENDON_BROKEN
    assert fault.mem["release_to_n"][7] == 40.0 and fault.mem["release_to_n"][1] == 0.0
