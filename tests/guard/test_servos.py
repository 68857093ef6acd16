"""Drives that take angles, law by law: what caps their torque, what stops their goal, how they are let go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.friction_checks import check_friction
from guard.hold import GLIDE_S
from guard.motor_checks import BLOCKED_S, check_motors, servo_torque_nm
from guard.reaction import RELEASE_S
from guard.servos import (
    SOFT_RANGE_RAD,
    command_servos,
    goal_by_state,
    leads_out,
    note_torques,
    one_sided,
    torque_cap_nm,
)
from mechanics.springs import stiffness_of_force
from signals.faults import Cause
from signals.modes import ChannelStatus, Clip, DriveCommand, DriveReport, MachineState, MotorMode, Reaction
from tests.rigs.bare import TENSION_N, Guarded, Paired

T, PAIR = 2, 3
STIFFNESS_NM_RAD, DEADBAND_RAD, STEP_RAD = 6.0, 0.02, 0.001
LIMIT_NM, KT = 2.0, 1.5
HELD, FAULT = int(MachineState.HOLDING), int(MachineState.FAULT)
senses = pytest.mark.parametrize("sense", [-1.0, 1.0])


class Servos(Guarded):
    """The bench's finger with servos for motors; they stand at their goals."""

    def made(self, hand: str) -> Any:
        model = super().made(hand)
        m = model[0]
        n = int(m["n_motors"])
        m["n_servos"], m["motor_command"][:n] = n, int(DriveCommand.CURRENT_POSITION)
        m["motor_reports"][:n] = int(DriveReport.ANGLE | DriveReport.CURRENT | DriveReport.SPEED)
        m["servo_stiffness_nm_rad"][:n], m["servo_deadband_rad"][:n] = STIFFNESS_NM_RAD, DEADBAND_RAD
        m["encoder_step_rad"][:n], m["friction_watched"][:n] = STEP_RAD, 1
        m["motor_torque_limit_nm"][:n], m["motor_torque_constant_nm_a"][:n] = LIMIT_NM, KT
        return model

    def wind(self, t: int, radius_m: float) -> Servos:
        """The spool of a tendon."""
        self.m["spool_radius_m"][t] = radius_m
        return self

    def command(self) -> None:
        """One cycle of the servos' own law, later than the one before."""
        self.stamp()
        command_servos(self.m, self.mem, self.z, self.s, self.c, 0)

    def wanted(self, state: int, reaction: int = int(Reaction.RELEASE), t: int = T) -> Any:
        """Goal, share and clip bits in a state of the finger."""
        self.s["finger_state"][0] = state
        return goal_by_state(self.m, self.mem, self.z, self.s, 0, t, reaction)


class ServoPairs(Servos, Paired):
    """Two tendons on each servo, wound in opposite senses."""


def same_sense() -> ServoPairs:
    """Pairs whose tendons are wound alike."""
    pairs = ServoPairs()
    pairs.m["spool_radius_m"][: pairs.n] = abs(pairs.m["spool_radius_m"][: pairs.n])
    return pairs


# --- greatest torque --------------------------------------------------------------------------------------


@given(
    radius=st.sampled_from([-0.01, 0.004, 0.02]),
    most_n=st.sampled_from([0.5, 30.0, 90.0]),
    limit_n=st.sampled_from([0.7, 31.0, 200.0]),
    gamma_2=st.floats(0.0, 0.4),
    limit_nm=st.floats(0.05, 3.0),
)
def test_no_servo_may_pull_a_tendon_beyond_its_bounds_whatever_its_gear_holds_back(
    radius: float, most_n: float, limit_n: float, gamma_2: float, limit_nm: float
) -> None:
    """A gear's friction is at most that of its law at endless speed, and helps nobody over the hard limit."""
    bench = Servos().wind(T, radius)
    m = bench.m
    m["tension_max_n"][T], m["tension_limit_n"][T] = most_n, limit_n
    m["friction_gamma_2_nm"][T], m["motor_torque_limit_nm"][T] = gamma_2, limit_nm
    cap = torque_cap_nm(m, T)
    held_nm = gamma_2 * math.atan(math.inf)
    balance_n = (cap - held_nm) / abs(radius), cap / abs(radius)
    over = balance_n[0] / most_n, balance_n[1] / limit_n, cap / limit_nm
    assert max(over) == pytest.approx(1.0, rel=1e-9), "one of the three is reached, none is passed"


def test_a_servo_whose_tendon_has_no_bounds_has_its_own() -> None:
    bench = Servos()
    bench.m["tension_max_n"][T] = 0.0
    assert torque_cap_nm(bench.m, T) == LIMIT_NM


# --- senses -----------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-0.01, 0.01]), min_size=8, max_size=8), st.integers(0, 3))
def test_a_motor_is_one_sided_if_it_winds_all_its_tendons_in_one_sense(radii: list[float], i: int) -> None:
    pairs = ServoPairs()
    pairs.m["spool_radius_m"][:8] = radii
    a, b = (radii[t] for t in Paired.PARTNERS[i])
    assert one_sided(pairs.m, 0, i) == (math.copysign(1.0, a) if a == b else 0.0)


@pytest.mark.parametrize("loose", Paired.PARTNERS[1])
def test_a_line_without_a_tension_goes_both_ways(loose: int) -> None:
    pairs = same_sense()
    pairs.m["tension_max_n"][:8] = 0.5
    assert one_sided(pairs.m, 0, 1) == 1.0
    pairs.m["tension_max_n"][loose] = 0.0
    assert one_sided(pairs.m, 0, 1) == 0.0
    assert one_sided(pairs.m, 0, 2) == 1.0


# --- goals that lead out ----------------------------------------------------------------------------------


def leads(bench: Servos, change: float, t: int = T) -> int:
    return int(leads_out(bench.m, bench.mem, bench.s, 0, t, change))


@senses
@pytest.mark.parametrize(("above_n", "bits"), [(-0.1, 0), (0.1, int(Clip.TENSION_MAX))])
def test_a_tendon_above_its_greatest_tension_is_not_wound_on(sense: float, above_n: float, bits: int) -> None:
    bench = Servos().wind(T, sense * 0.01)
    bench.s["tension_n"][T] = bench.m["tension_max_n"][T] + above_n
    assert leads(bench, sense * 0.01) == bits
    assert leads(bench, 0.0) == leads(bench, -sense * 0.01) == 0


@senses
def test_a_tendon_is_unwound_no_further_than_its_least_tension_once_the_motor_is_at_its_goal(
    sense: float,
) -> None:
    bench = Servos().wind(T, sense * 0.01)
    m, s = bench.m, bench.s
    m["tension_min_n"][T], m["tension_max_n"][T] = 0.1, 0.5
    s["tendon_stiffness_n_m"][T], s["motor_angle_rad"][T], s["tension_n"][T] = 50.0, 0.3, 0.4
    there = s["motor_angle_rad"][T] - sense * 0.3 / (50.0 * 0.01)
    for further, bits in ((-1e-6, 0), (1e-6, int(Clip.TENSION_MIN))):
        bench.mem["servo_goal_rad"][T] = there - sense * further
        assert leads(bench, -sense * 0.001) == bits
        assert leads(bench, sense * 0.001) == 0, "winding is no way to less"
    m["tension_max_n"][T] = 0.0
    assert leads(bench, -sense * 0.001) == 0, "no tension is a line's"


def test_a_motor_with_tendons_on_both_sides_unwinds_as_it_likes() -> None:
    """Its pair is wound as far; alone, the same goal would lead out."""
    for bench, i, bits in ((ServoPairs(), 1, 0), (same_sense(), 1, int(Clip.TENSION_MIN))):
        t = Paired.PARTNERS[1][0]
        bench.mem["servo_goal_rad"][i] = bench.s["motor_angle_rad"][i] - 1.0
        assert bench.m["spool_radius_m"][t] > 0.0
        assert leads(bench, -0.01, t) == bits


@senses
@pytest.mark.parametrize("end", [-1, 1])
@pytest.mark.parametrize("arm", [-0.008, 0.0, 0.008])
def test_no_goal_pulls_a_joint_further_out_of_its_range_than_it_may_be(
    sense: float, end: int, arm: float
) -> None:
    """Pulling turns a joint against its arm; the other joints of the tendon stand within theirs."""
    bench = Servos().wind(T, sense * 0.01)
    bench.mem["P_tj_m"][T, :4] = 0.005, arm, 0.0, -0.005
    edge = bench.m["joint_max_rad" if end > 0 else "joint_min_rad"][1]
    for beyond, allowed in ((0.99, True), (1.01, False)):
        bench.s["joint_angle_rad"][1] = edge + end * beyond * SOFT_RANGE_RAD
        outwards = not allowed and arm * end < 0.0
        assert leads(bench, sense * 0.01) == (int(Clip.JOINT_RANGE) if outwards else 0)
        assert leads(bench, 0.0) == 0


# --- goals by state ---------------------------------------------------------------------------------------


@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.5, 20.0))
def test_an_active_servo_goes_to_its_reference_at_its_speed(last: float, wanted: float, speed: float) -> None:
    bench = Servos()
    bench.m["motor_speed_limit_rad_s"][T] = speed
    bench.mem["servo_goal_rad"][T], bench.s["ref_motor_angle_rad"][T] = last, wanted
    goal, share, bits = bench.wanted(int(MachineState.ACTIVE))
    step = speed * bench.dt_s
    assert goal == pytest.approx(last + float(np.clip(wanted - last, -step, step)), abs=1e-12)
    assert (share, bits) == (1.0, 0 if abs(wanted - last) <= step else int(Clip.RATE))


@pytest.mark.parametrize("wanted", [math.nan, math.inf, -math.inf])
def test_a_reference_that_is_no_number_is_named_and_moves_nothing(wanted: float) -> None:
    bench = Servos()
    bench.mem["servo_goal_rad"][T], bench.s["ref_motor_angle_rad"][T] = 0.25, wanted
    assert bench.wanted(int(MachineState.ACTIVE)) == (0.25, 1.0, int(Clip.NOT_FINITE))
    assert bench.found == (Cause.NOT_FINITE_COMMAND, T, 0.0, 0.0)


def test_a_servo_seen_too_late_stays_where_its_goal_was() -> None:
    bench = Servos()
    bench.stamp()
    bench.mem["servo_goal_rad"][T], bench.s["ref_motor_angle_rad"][T] = 0.25, 0.2501
    bench.m["measurement_age_s"][1] = 0.010
    for age_ns, then in ((9_900_000, (0.2501, 1.0, 0)), (10_100_000, (0.25, 1.0, int(Clip.STATE)))):
        bench.z["motor_time_ns"][T] = bench.s["time_ns"] - age_ns
        assert bench.wanted(int(MachineState.ACTIVE)) == then


HOLDS = ((HELD, Reaction.RELEASE, 0), (HELD, Reaction.HOLD, 0), (FAULT, Reaction.HOLD, int(Clip.STATE)))


@senses
@pytest.mark.parametrize(("state", "reaction", "bits"), HOLDS)
def test_a_held_servo_gives_the_wrist_what_it_takes_of_the_tendon(
    sense: float, state: int, reaction: Reaction, bits: int
) -> None:
    bench = Servos().wind(T, sense * 0.01)
    bench.mem["hold_angle_rad"][T], bench.mem["hold_wrist_m"][T] = 0.7, 0.001
    bench.s["wrist_length_m"][T], bench.s["ref_motor_angle_rad"][T] = 0.003, 5.0
    bench.mem["servo_goal_rad"][T], bench.mem["fault_age_s"][0] = -2.0, 0.4
    goal, share, told = bench.wanted(state, int(reaction))
    wound = float(bench.m["spool_radius_m"][T]) * (goal - 0.7)
    assert wound == pytest.approx(-0.002) and (share, told) == (1.0, bits)


@pytest.mark.parametrize("speed_rad_s", [2.0, -0.5, 0.0])
def test_a_servo_that_is_held_in_motion_glides_to_its_rest(speed_rad_s: float) -> None:
    """Its goal goes on by the way that its speed makes in that time, ever more slowly."""
    bench, goals = Servos(), [0.7]
    bench.mem["hold_angle_rad"][T], bench.mem["hold_speed_rad_s"][T] = 0.7, speed_rad_s
    for _ in range(round(12.0 * GLIDE_S / bench.dt_s)):
        goals.append(bench.wanted(HELD)[0])
    steps = np.abs(np.diff(goals))
    assert np.all(np.diff(steps) <= 1e-12)
    assert goals[-1] - 0.7 == pytest.approx(speed_rad_s * GLIDE_S, rel=0.02)


@pytest.mark.parametrize(("n", "q_rad"), [(TENSION_N, 9.0), (500.0, 0.0)])
def test_a_gliding_servo_stops_where_a_goal_may_go_no_further(n: float, q_rad: float) -> None:
    """Beyond the range of a joint, or above the greatest tension of its tendon."""
    bench = Servos()
    bench.s["tension_n"][T] = n
    joints = int(bench.m["finger_n_joints"][0])
    turns = np.sign(bench.mem["P_tj_m"][T, :joints])
    bench.s["joint_angle_rad"][:joints] = -q_rad * turns
    bench.mem["hold_angle_rad"][T], bench.mem["hold_speed_rad_s"][T] = 0.7, 3.0
    assert bench.wanted(HELD)[0] == 0.7 and bench.mem["hold_speed_rad_s"][T] == 0.0
    bench.mem["hold_speed_rad_s"][T] = -3.0
    assert bench.wanted(HELD)[0] < 0.7, "back it may go"


@senses
@given(share=st.floats(0.0, 1.5))
def test_a_servo_is_let_go_by_what_its_co_contraction_stretches(sense: float, share: float) -> None:
    bench = Servos().wind(T, sense * 0.01)
    m = bench.m
    m["pretension_n"][0] = 12.0
    bench.mem["hold_angle_rad"][T], bench.mem["hold_wrist_m"][T] = 0.7, 0.001
    bench.s["wrist_length_m"][T], bench.mem["fault_age_s"][0] = 0.003, share * RELEASE_S
    held = bench.wanted(FAULT, int(Reaction.HOLD))[0]
    goal, left, bits = bench.wanted(FAULT)
    assert left == pytest.approx(max(1.0 - share, 0.0)) and bits == int(Clip.STATE)
    least, half, whole = (stiffness_of_force(m, T, force_n) for force_n in (0.0, 6.0, 12.0))
    assert 1.1 * least < half < 0.9 * whole
    slack_m = 12.0 / half
    assert float(m["spool_radius_m"][T]) * (held - goal) == pytest.approx((1.0 - left) * slack_m, abs=1e-12)


def test_a_servo_with_tendons_on_both_sides_is_let_go_where_it_is() -> None:
    bench = ServoPairs()
    bench.mem["hold_angle_rad"][1], bench.mem["servo_goal_rad"][1] = 0.7, 0.4
    bench.mem["fault_age_s"][0] = 0.25 * RELEASE_S
    t = Paired.PARTNERS[1][0]
    assert bench.wanted(FAULT, t=t) == (0.4, pytest.approx(0.75), int(Clip.STATE))


# --- commands ---------------------------------------------------------------------------------------------


@senses
def test_an_active_servo_gets_its_goal_and_the_current_that_its_tendon_may_have(sense: float) -> None:
    bench = Servos().wind(T, sense * 0.01)
    bench.m["tension_max_n"][T] = 30.0
    bench.mem["servo_goal_rad"][:8], bench.mem["last_torque_nm"][:8] = 0.1, np.arange(8) * 0.01
    bench.s["ref_motor_angle_rad"][:8] = 0.1001
    bench.command()
    caps = [torque_cap_nm(bench.m, t) for t in range(8)]
    assert caps[T] < LIMIT_NM
    assert bench.c["motor_current_a"][:8] == pytest.approx(np.array(caps) / KT)
    assert np.all(bench.c["motor_angle_rad"][:8] == 0.1001)
    assert np.all(bench.c["motor_mode"][:8] == int(MotorMode.POSITION))
    assert np.all(bench.s["motor_torque_nm"][:8] == np.arange(8) * 0.01), "what it reports"
    assert not bench.s["clip"].any() and not bench.s["clip_count"].any()


def test_a_goal_that_leads_out_stands_and_says_why() -> None:
    """As long as it does; another servo goes on."""
    bench = Servos()
    bench.mem["servo_goal_rad"][:8], bench.s["ref_motor_angle_rad"][:8] = 0.1, 0.1001
    bench.s["tension_n"][T] = bench.m["tension_max_n"][T] + 1.0
    for count in (1, 2):
        bench.command()
        assert (bench.c["motor_angle_rad"][T], bench.s["clip"][T]) == (0.1, int(Clip.TENSION_MAX))
        assert bench.s["clip_count"][T] == count
    assert bench.c["motor_angle_rad"][T + 1] == 0.1001 and not bench.s["clip_count"][T + 1]
    bench.s["ref_motor_angle_rad"][T] = 5.0
    bench.command()
    assert bench.s["clip"][T] == int(Clip.TENSION_MAX | Clip.RATE), "all reasons"
    bench.s["tension_n"][T], bench.s["ref_motor_angle_rad"][T] = 20.0, 0.1002
    bench.command()
    assert (bench.c["motor_angle_rad"][T], bench.s["clip"][T]) == (0.1002, 0)


@pytest.mark.parametrize("state", [HELD, FAULT])
def test_a_finger_that_does_not_follow_goals_is_held_whatever_its_tension_is(state: int) -> None:
    bench = Servos(state=state)
    bench.s["hand_cause"] = int(Cause.OPERATOR_STOP)
    bench.mem["hold_angle_rad"][:8] = 0.3
    bench.s["tension_n"][T] = bench.m["tension_max_n"][T] + 1.0
    bench.command()
    assert bench.c["motor_angle_rad"][T] == 0.3
    assert bench.s["clip"][T] == (int(Clip.STATE) if state == FAULT else 0)


@pytest.mark.parametrize("line", [0, 1])
def test_a_servo_of_two_tendons_is_bounded_by_both(line: int) -> None:
    """Either tendon of the pair may stop the goal, and the weaker one caps the torque."""
    bench = ServoPairs()
    t = Paired.PARTNERS[PAIR][line]
    sense = math.copysign(1.0, bench.m["spool_radius_m"][t])
    bench.m["tension_max_n"][t] = 30.0
    bench.mem["servo_goal_rad"][PAIR], bench.s["ref_motor_angle_rad"][PAIR] = 0.1, 0.1 + sense * 1e-4
    bench.command()
    assert bench.c["motor_angle_rad"][PAIR] == pytest.approx(0.1 + sense * 1e-4, abs=1e-15)
    caps = [torque_cap_nm(bench.m, o) for o in Paired.PARTNERS[PAIR]]
    assert bench.c["motor_current_a"][PAIR] * KT == pytest.approx(caps[line]) and caps[line] == min(caps)
    assert caps[line] < max(caps)
    bench.s["tension_n"][t], before = 31.0, float(bench.c["motor_angle_rad"][PAIR])
    bench.s["ref_motor_angle_rad"][PAIR] += sense * 1e-4
    bench.command()
    assert bench.c["motor_angle_rad"][PAIR] == before
    assert bench.s["clip_count"][:4].tolist() == [0, 0, 0, 1], "counted once"


@pytest.mark.parametrize(("heat", "bits"), [(-0.5, 0), (0.25, int(Clip.TEMPERATURE))])
def test_a_hot_servo_gets_less(heat: float, bits: int) -> None:
    bench = Servos()
    first, second = bench.m["winding_limit_degc"]
    bench.m["tension_max_n"][T] = 0.0
    bench.s["winding_temperature_degc"][T] = first + heat * (second - first)
    bench.s["ref_motor_angle_rad"][T] = 5.0
    bench.command()
    assert bench.s["clip"][T] == bits | int(Clip.RATE)
    assert bench.c["motor_current_a"][T] * KT == pytest.approx(LIMIT_NM * min(1.0, 1.0 - heat))


def test_the_current_of_a_servo_that_is_let_go_falls_with_its_time_and_then_it_is_off() -> None:
    bench = Servos(state=FAULT)
    bench.s["finger_cause"][0] = int(Cause.HALL_LOST)
    bench.m["tension_max_n"][T] = 0.0
    caps = np.array([torque_cap_nm(bench.m, t) for t in range(8)])
    for share, mode in ((0.25, MotorMode.POSITION), (0.75, MotorMode.POSITION), (1.0, MotorMode.OFF)):
        bench.mem["fault_age_s"][0] = share * RELEASE_S
        bench.command()
        assert bench.c["motor_current_a"][:8] * KT == pytest.approx((1.0 - share) * caps)
        assert bench.c["motor_mode"][T] == int(mode)
        assert bench.s["clip"][T] == int(Clip.STATE)


@pytest.mark.parametrize("state", [MachineState.READY, MachineState.HOLDING])
def test_before_a_hand_holds_its_servos_are_off_where_they_are(state: MachineState) -> None:
    bench = Servos(state=int(state))
    off = state is MachineState.READY
    bench.s["motor_angle_rad"][:8], bench.mem["hold_angle_rad"][:8] = 0.6, 0.2
    bench.mem["servo_cap_nm"][:8] = bench.mem["servo_share"][:8] = (
        0.5  # as they were while the hand was active
    )
    bench.command()
    assert np.all(bench.c["motor_angle_rad"][:8] == (0.6 if off else 0.2))
    assert np.all(bench.c["motor_mode"][:8] == int(MotorMode.OFF if off else MotorMode.POSITION))
    assert not bench.s["clip"].any()
    assert bool(bench.c["motor_current_a"][:8].any()) is not off
    bench.s["ref_motor_speed_rad_s"][T] = 0.5
    bench.command()
    assert bench.s["clip"][T] == (int(Clip.STATE) if off else 0), "a motion that is wanted and not made"
    assert bench.s["clip_count"][:8].sum() == int(off)


def test_what_a_servo_reports_is_its_torque() -> None:
    bench = Servos()
    bench.z["motor_current_a"][:8] = 0.4
    bench.z["motor_current_a"][3], bench.z["motor_status"][4] = math.nan, int(ChannelStatus.MISSING)
    bench.m["motor_reports"][5] = int(DriveReport.ANGLE)
    bench.m["motor_command"][6] = int(DriveCommand.CURRENT)
    bench.mem["last_torque_nm"][:8] = 0.11
    note_torques(bench.m, bench.mem, bench.z)
    told = 0.4 * KT
    assert bench.mem["last_torque_nm"][:8].tolist() == [told, told, told, 0.0, 0.11, 0.0, 0.11, told]


# --- under the whole guard --------------------------------------------------------------------------------


def test_a_servos_torque_is_noted_before_its_winding_warms() -> None:
    """Of a hand of servos alone; one of other motors keeps what was sent."""
    for servos in (0, 1, 8):
        bench = Servos()
        bench.m["n_servos"] = servos
        bench.z["motor_current_a"][:8] = 0.9
        bench.cycle()
        assert bool(bench.mem["last_torque_nm"][T] == 0.9 * KT) is (servos > 0)


def test_a_lost_tendon_of_a_servo_begins_no_probe_and_its_time_counts() -> None:
    """Currents are what a probe winds with."""
    bench = Servos()
    bench.s["finger_state"][0] = FAULT
    bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(Cause.TENSION_LOST), T
    bench.mem["fault_age_s"][0], bench.mem["probe_phase"][0] = 9.0, 1
    for cycle in range(3):
        bench.cycle()
        assert bench.mem["fault_age_s"][0] == pytest.approx(cycle * bench.dt_s)
        assert bench.mem["probe_phase"][0] == 0
    assert np.all(bench.c["motor_mode"][:8] == int(MotorMode.POSITION))
    assert not bench.mem["released_s"].any() and not bench.mem["unseen_s"].any()


def test_a_servo_that_goes_from_holding_to_active_and_back_begins_at_its_goal() -> None:
    bench = Servos()
    bench.s["ref_motor_angle_rad"][:8] = 0.1
    for _ in range(3):
        bench.cycle()
    step = float(bench.m["motor_speed_limit_rad_s"][T]) * bench.dt_s
    assert bench.c["motor_angle_rad"][T] == pytest.approx(min(3.0 * step, 0.1))
    assert not bench.c["motor_mode"][8:].any()


# --- detectors --------------------------------------------------------------------------------------------


def test_a_servos_torque_is_its_current_or_by_the_angle_that_its_loop_misses() -> None:
    bench = Servos()
    bench.mem["last_torque_nm"][T], bench.s["motor_angle_rad"][T] = 0.17, 0.4
    assert servo_torque_nm(bench.m, bench.mem, bench.s, T) == 0.17
    bench.m["motor_reports"][T] = int(DriveReport.ANGLE)
    dead = DEADBAND_RAD + STEP_RAD
    for missing, torque in ((0.9 * dead, 0.0), (dead + 0.05, 0.05 * STIFFNESS_NM_RAD), (9.0, LIMIT_NM)):
        for sign in (-1.0, 1.0):
            bench.mem["servo_goal_rad"][T] = 0.4 + sign * missing
            assert servo_torque_nm(bench.m, bench.mem, bench.s, T) == pytest.approx(sign * torque)


class Blocked(Servos):
    """Servo ``T`` under a torque beyond its tendon's load."""

    def __init__(self, share: float = 1.01, sign: float = 1.0) -> None:
        super().__init__()
        self.slower(8)
        self.load = float(self.m["spool_radius_m"][T]) * 20.0
        self.z["motor_current_a"][:8] = self.m["spool_radius_m"][:8] * 20.0 / KT
        self.z["motor_current_a"][T] = (self.load + sign * share * float(self.m["excess_torque_nm"])) / KT
        self.mem["servo_share"][:8] = 1.0

    def look(self) -> None:
        self.stamp()
        note_torques(self.m, self.mem, self.z)
        check_motors(self.m, self.mem, self.z, self.s)

    def lasts(self, most_s: float = 2.0) -> float:
        for k in range(1, round(most_s / self.dt_s)):
            self.look()
            if self.found:
                return k * self.dt_s
        return math.inf


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_servo_that_stands_under_what_nothing_balances_is_blocked(sign: float) -> None:
    bench = Blocked(sign=sign)
    assert bench.lasts() == pytest.approx(BLOCKED_S, abs=1.5 * bench.dt_s)
    amperes, limit = float(bench.z["motor_current_a"][T]), float(bench.m["motor_current_limit_a"][T])
    assert bench.found == (Cause.MOTOR_BLOCKED, T, pytest.approx(amperes), pytest.approx(limit))
    assert Blocked(share=0.99, sign=sign).lasts() == math.inf


@pytest.mark.parametrize("why", ["moves", "let go", "silent", "no number"])
def test_a_servo_that_moves_is_let_go_or_not_seen_is_not_blocked(why: str) -> None:
    bench = Blocked()
    if why == "moves":
        bench.s["motor_speed_rad_s"][T] = -1.01 * bench.m["rest_speed_rad_s"]
    elif why == "let go":
        bench.mem["servo_share"][T] = 0.99
    elif why == "silent":
        bench.z["motor_status"][T] = int(ChannelStatus.MISSING)
    else:
        bench.z["motor_angle_rad"][T] = math.nan
    assert bench.lasts(0.7) == math.inf


def test_a_motion_ends_the_time_for_which_a_servo_stood() -> None:
    bench = Blocked()
    assert bench.lasts(0.9 * BLOCKED_S) == math.inf
    bench.s["motor_speed_rad_s"][T] = 1.0
    bench.look()
    assert bench.mem["blocked_s"][T] == 0.0
    bench.s["motor_speed_rad_s"][T] = 0.99 * bench.m["rest_speed_rad_s"]
    assert bench.lasts() == pytest.approx(BLOCKED_S, abs=1.5 * bench.dt_s)


def test_a_hand_without_servos_is_not_asked_for_blocked_ones() -> None:
    bench = Blocked()
    bench.m["n_servos"], bench.m["motor_command"][:8] = 0, int(DriveCommand.CURRENT)
    bench.s["motor_torque_nm"][T] = bench.load
    assert bench.lasts(0.7) == math.inf
    assert not bench.mem["blocked_s"].any()


def test_other_motors_beside_servos_are_judged_as_ever() -> None:
    """Their angle that stands under a torque, not one that creeps; a servo's may stand."""
    excess = 1.01 * float(Servos().m["excess_torque_nm"])
    for command, found in ((DriveCommand.CURRENT, True), (DriveCommand.POSITION, False)):
        bench = Blocked(share=0.0)
        bench.m["motor_command"][T] = int(command)
        bench.s["motor_torque_nm"][T] = bench.load + excess
        assert (bench.lasts(0.7) < math.inf) is found
    bench.m["motor_command"][T] = int(DriveCommand.CURRENT)
    bench.mem["last_torque_nm"][T] = bench.load + excess
    for _ in range(bench.cycles(1.1 * BLOCKED_S)):
        bench.s["motor_angle_rad"][T] += 1e-9
        bench.look()
    assert bench.found is None


def test_a_single_servo_is_one() -> None:
    bench = Blocked()
    bench.m["n_servos"], bench.m["motor_command"][:T] = 1, int(DriveCommand.CURRENT)
    bench.m["motor_command"][T + 1 : 8] = int(DriveCommand.CURRENT)
    assert bench.lasts() == pytest.approx(BLOCKED_S, abs=1.5 * bench.dt_s)


def test_a_shared_servo_is_looked_at_once() -> None:
    bench = ServoPairs()
    bench.mem["servo_share"][:4] = 1.0
    bench.z["motor_current_a"][PAIR] = 1.01 * float(bench.m["excess_torque_nm"]) / KT
    bench.stamp()
    note_torques(bench.m, bench.mem, bench.z)
    check_motors(bench.m, bench.mem, bench.z, bench.s)
    assert bench.mem["blocked_s"][:5].tolist() == [0.0, 0.0, 0.0, bench.dt_s, 0.0]


@pytest.mark.parametrize(
    ("servos", "watched", "looks"), [(8, 0, False), (1, 0, False), (8, 1, True), (0, 0, True)]
)
def test_the_friction_of_servos_is_followed_where_their_torque_is_known(
    servos: int, watched: int, looks: bool
) -> None:
    bench = Servos()
    bench.m["n_servos"], bench.m["friction_watched"][T] = servos, watched
    bench.s["motor_speed_rad_s"][T] = 1.0
    bench.stamp()
    check_friction(bench.m, bench.mem, bench.z, bench.s)
    assert bool(bench.mem["moved_s"][T] > 0.0) is looks


def test_servos_beside_it_do_not_excuse_a_motor_that_stands_under_torque() -> None:
    bench = Servos()
    bench.m["motor_command"][3] = int(DriveCommand.CURRENT)
    bench.m["n_servos"] -= 1
    bench.stamp()
    check_motors(bench.m, bench.mem, bench.z, bench.s)
    bench.s["motor_torque_nm"][3] = bench.m["spool_radius_m"][3] * TENSION_N + 0.6
    for _ in range(round(1.1 * BLOCKED_S / bench.dt_s)):
        bench.stamp()
        check_motors(bench.m, bench.mem, bench.z, bench.s)
        if bench.found:
            break
    assert bench.found is not None and bench.found[:2] == (Cause.MOTOR_BLOCKED, 3)
