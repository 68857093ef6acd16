"""What detectors and references ask of single values: lengths, blows, stale counts, skews, ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from controllers.memory import new_controller_memory
from controllers.reference import APPROACH_1_S, BRAKE_SHARE, glide, shape_reference
from guard.envelope import stop_speed
from guard.hall_checks import (
    AGREE_SHARE,
    DISAGREE_SHARE,
    GIVE_WAY_S,
    TREND_SHARE,
    check_halls,
    elongation_of_count_m,
    lengths_agree,
)
from guard.motor_checks import check_friction_energy
from guard.residual_checks import STEP_S, STEP_SHARE, check_residuals
from guard.tension_checks import is_slack, missing_m
from guard.winding import LEAST_DEGC, MOST_DEGC, plausible
from hand.assembly.figures import FIGURES
from mechanics.springs import count_of_lever, lever_of_count, spring_at, spring_state
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState, Mode, Reaction
from tests.rigs.bare import COUNT, Bare
from tests.rigs.faulted import Faulted

JUMP_COUNTS = FIGURES["jump_count"].reference
OTHERS_COUNTS = FIGURES["others_count"].reference
RUNS_RAD_S = FIGURES["running_speed_rad_s"].reference

T = 4

# --- counts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", range(8))
def test_a_count_says_the_elongation_of_its_lever(t: int) -> None:
    """Against the spring's own solution; slack, the mechanism's path alone is left."""
    m = Bare().m
    for elongation in np.linspace(0.001, 0.007, 7):
        count = round(count_of_lever(m, t, spring_state(m, t, float(elongation), 0.0, 0.0)[0]))
        lever = lever_of_count(m, t, float(count))
        near = spring_state(m, t, elongation_of_count_m(m, t, count), lever, 0.0)[0]
        assert near == pytest.approx(lever, abs=1e-9)
    beyond = math.radians(40.0) + float(m["lever_max_rad"][m["tendon_spring"][t]])
    count = round(count_of_lever(m, t, beyond))
    force, _, path, _ = spring_at(m, t, lever_of_count(m, t, float(count)))
    assert force < 0.0 and elongation_of_count_m(m, t, count) == pytest.approx(-path, abs=1e-12)


def changed(counts: int) -> tuple[Bare, int, float]:
    """A count that changes, the lever in use with it; and the change of its elongation."""
    bench, now = Bare(), COUNT + counts
    bench.mem["last_count"][T] = COUNT
    bench.s["lever_angle_rad"][T] = lever_of_count(bench.m, T, float(now))
    change = elongation_of_count_m(bench.m, T, now) - elongation_of_count_m(bench.m, T, COUNT)
    return bench, now, abs(float(change))


@pytest.mark.parametrize("weight", [0.4, 1.0])
@pytest.mark.parametrize("before", [-0.002, 0.0, 0.003])
def test_lengths_agree_if_little_of_this_cycles_change_is_left_over(weight: float, before: float) -> None:
    """A residual that was there before does not count; a sensor with less weight is believed less."""
    bench, now, change = changed(-150)
    bench.m["hall_weight"][T] = weight
    bench.mem["last_residual_m"][T] = before
    for share in (-1.01, -0.99, 0.99, 1.01):
        bench.s["residual_m"][T] = before + share * AGREE_SHARE * weight * change
        assert lengths_agree(bench.m, bench.mem, bench.s, T, now) is (abs(share) < 1.0)


@pytest.mark.parametrize("off", [-1.01, -0.99, 0.99, 1.01])
def test_lengths_say_nothing_of_a_count_that_is_not_in_use(off: float) -> None:
    bench, now, _ = changed(-150)
    bench.s["lever_angle_rad"][T] = lever_of_count(bench.m, T, now + off * OTHERS_COUNTS)
    assert lengths_agree(bench.m, bench.mem, bench.s, T, now) is (abs(off) < 1.0)


def test_a_count_that_gets_fast_and_slow_again_by_and_by_is_never_a_jump() -> None:
    bench = Bare()
    for step in (-50, -100, -150, -100, -50, 0):
        bench.strike(T, step, 0.5)
    assert bench.until(None, 60) > 60


def test_a_residual_that_stood_before_a_jump_does_not_contradict_it() -> None:
    bench = Bare()
    for _ in range(2):
        bench.s["residual_m"][T] = 0.0006
        bench.detect()
    bench.strike(T, -150, 0.0)
    assert bench.until(None, 20) > 20


@pytest.mark.parametrize(("use_wrist", "blind"), [(1, False), (0, False), (1, True)])
@pytest.mark.parametrize("left_share", [0.30, 0.40])
def test_a_jump_towards_slack_in_a_finger_that_moves_is_named_by_the_lengths_it_leaves(
    left_share: float, use_wrist: int, blind: bool
) -> None:
    """All other levers move; a blow leaves lengths that agree, a wrong count or a slip does not."""
    bench = Bare()
    bench.m["n_axes"], bench.m["use_wrist"] = 1, use_wrist
    towards_slack = 150 if bench.m["hall_counts_rad"][T] > 0.0 else -150
    bench.strike(T, towards_slack, left_share)
    bench.mem["glitch_blind"][T] = int(blind)
    bench.z["hall_count"][7] += 30
    for _ in range(bench.cycles(GIVE_WAY_S) + 2):
        bench.stamp()
        check_halls(bench.m, bench.mem, bench.z, bench.s)
        if bench.found:
            break
    named = left_share > DISAGREE_SHARE and use_wrist == 1 and not blind
    assert (bench.found is not None) is named
    assert bench.found is None or bench.found[:2] == (Cause.RESIDUAL_TOO_LARGE, T)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("slack", [False, True])
@pytest.mark.parametrize("counts", [-150, 150])
def test_whether_a_jump_is_seen_by_the_lengths_is_asked_as_it_begins(
    before: int, slack: bool, counts: int
) -> None:
    bench = Bare()
    bench.s["ref_tension_n"][:8], bench.mem["taut"][:8] = 0.0, 0
    bench.mem["glitch_blind"][T] = before
    if slack:
        bench.s["lever_angle_rad"][7] = bench.m["lever_max_rad"][bench.m["tendon_spring"][7]]
    bench.strike(T, counts, 0.5)
    assert bench.mem["glitch_blind"][T] == int(slack)


def looked(bench: Bare, count: int, stale: bool = False) -> None:
    """One look at the counts alone, the sample of tendon T of this cycle or as old as the last one."""
    old = int(bench.z["hall_time_ns"][T])
    bench.stamp()
    if stale:
        bench.z["hall_time_ns"][T] = old
    bench.z["hall_count"][T] = count
    check_halls(bench.m, bench.mem, bench.z, bench.s)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("more", [-1, 0])
def test_changes_below_a_jump_make_the_trend(sign: int, more: int) -> None:
    bench, change = Bare(), sign * (int(JUMP_COUNTS) + more)
    bench.mem["last_count"][T], bench.mem["count_trend"][T] = COUNT, 3.0
    looked(bench, COUNT + change)
    followed = 3.0 + TREND_SHARE * (change - 3.0)
    assert bench.mem["count_trend"][T] == pytest.approx(followed if more < 0 else 3.0)
    assert bench.mem["last_change"][T] == change


def test_before_the_hand_is_armed_counts_have_no_trend_and_every_look_is_a_beginning() -> None:
    bench = Bare()
    bench.mem["started"] = 0
    for k, stale in enumerate((False, True, True)):
        bench.s["motor_angle_rad"][T] = 0.1 * k
        looked(bench, COUNT, stale)
        assert bench.mem["anchor_angle_rad"][T] == bench.s["motor_angle_rad"][T]
        assert bench.mem["count_trend"][T] == bench.mem["last_change"][T] == 0.0


def test_a_sample_that_is_no_new_one_says_nothing_of_a_stuck_count() -> None:
    bench = Bare()
    looked(bench, COUNT)
    cycles = int(bench.mem["same_cycles"][T])
    looked(bench, COUNT, stale=True)
    assert bench.mem["same_cycles"][T] == cycles
    looked(bench, COUNT)
    assert bench.mem["same_cycles"][T] == cycles + 1


@pytest.mark.parametrize("status", [ChannelStatus.MISSING, ChannelStatus.OUT_OF_RANGE])
def test_a_fine_count_at_its_rail_is_named_where_values_are_not_believed(status: ChannelStatus) -> None:
    bench = Bare()
    bench.s["finger_status"][0] = int(status)
    bench.stamp()
    bench.z["hall_fine_count"][T] = 1e9
    check_halls(bench.m, bench.mem, bench.z, bench.s)
    assert bool(bench.mem["rail_s"][T] > 0.0) is (status is ChannelStatus.OUT_OF_RANGE)


# --- tension, residual, winding, fault --------------------------------------------------------------------


@pytest.mark.parametrize(("axes", "use", "known"), [(0, 0, True), (0, 1, True), (1, 0, False), (1, 1, True)])
def test_a_lever_is_explained_by_lengths_only_if_the_wrists_are_among_them(
    axes: int, use: int, known: bool
) -> None:
    bench = Bare()
    bench.m["n_axes"], bench.m["use_wrist"] = axes, use
    for slack in (True, False):
        bench.s["tendon_length_m"][2] = (-0.9 if slack else -1.1) * bench.m["residual_limit_m"][0]
        assert is_slack(bench.m, 0, missing_m(bench.m, bench.s, 2)) is (known and slack)


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_step_of_the_residual_may_be_larger_by_what_moved_between_the_samples(share: float) -> None:
    bench, old_ns = Bare(), 10_000_000
    bench.s["motor_speed_rad_s"][5] = 3.0
    limit = float(bench.m["residual_limit_m"][0])
    skew = 1e-9 * old_ns * 3.0 * float(bench.m["spool_radius_m"][5])
    bench.s["tension_n"][2] = 0.0
    r = share * (STEP_SHARE * limit + skew)
    for _ in range(bench.cycles(STEP_S) + 1):
        bench.stamp()
        bench.z["hall_time_ns"][1] -= old_ns
        bench.s["residual_unexplained_m"][2] = r
        bench.mem["residual_fast_m"][2] = bench.mem["residual_slow_m"][2] = 0.0
        check_residuals(bench.m, bench.mem, bench.z, bench.s)
        if bench.found:
            break
    assert (bench.found is not None) is (share > 1.0)


def test_a_temperature_that_no_winding_has_is_not_used() -> None:
    for degc, used in (
        (MOST_DEGC - 1.0, True),
        (MOST_DEGC + 1.0, False),
        (LEAST_DEGC + 1.0, True),
        (LEAST_DEGC - 1.0, False),
    ):
        assert plausible(degc) is used


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("share", [-1.01, -0.99, 0.99, 1.01])
def test_a_motor_that_runs_is_none_that_should_rest_in_any_mode(mode: Mode, share: float) -> None:
    bench = Bare()
    bench.s["finger_mode"][0] = int(mode)
    speed = share * RUNS_RAD_S
    bench.s["friction_torque_nm"][3], bench.s["motor_speed_rad_s"][3] = math.copysign(0.2, speed), speed
    check_friction_energy(bench.m, bench.mem, bench.s, 0, 3, 1.0)
    assert bench.mem["energy_j"][3] == pytest.approx(
        bench.dt_s * 0.2 * abs(speed) if abs(share) < 1.0 else 0.0
    )


@pytest.mark.parametrize("machine", list(MachineState))
def test_a_finger_that_holds_in_a_hand_in_fault_holds_with_the_wrist_as_it_is(machine: MachineState) -> None:
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE).begin()
    fault.s["machine"] = int(machine)
    fault.s["wrist_length_m"][:8] = 0.004
    fault.torque(1, Reaction.HOLD)
    stands = machine is MachineState.FAULT
    assert fault.mem["hold_wrist_m"][1] == (0.004 if stands else 0.0)


# --- references -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_reference_closes_its_way_in_proportion_at_its_end_and_as_it_can_brake_before(sign: float) -> None:
    """With an acceleration that it has in one cycle."""
    acceleration = 100.0
    for way in (0.25, 4.0):
        way *= 2.0 * BRAKE_SHARE * acceleration / APPROACH_1_S**2  # where the two laws meet, at 1
        asked = min(APPROACH_1_S * way, math.sqrt(2.0 * BRAKE_SHARE * acceleration * way))
        _, rate = glide(0.0, 0.0, sign * way, 0.0, 1e3, acceleration, -9.0, 9.0, 0.1)
        assert rate == pytest.approx(sign * asked)


@pytest.mark.parametrize("up", [True, False])
def test_a_reference_comes_to_the_end_of_its_range_as_the_guard_lets_a_joint_come(up: bool) -> None:
    bench, memory = Bare(), new_controller_memory()
    m, mem, way = bench.m, memory[0], 0.1
    end = float(m["joint_max_rad"][1] if up else m["joint_min_rad"][1])
    sign = 1.0 if up else -1.0
    allowed = stop_speed(way, 0.0, float(m["joint_brake_rad_s2"][1]), float(m["stop_speed_rad_s"]))
    mem["shaped_rad"][1], mem["shaped_speed_rad_s"][1] = end - sign * way, sign * allowed
    shape_reference(m, mem, 1, end, 0.0)
    assert mem["shaped_speed_rad_s"][1] == pytest.approx(sign * allowed)
