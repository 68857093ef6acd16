"""Tendons that share a motor, law by law: looked at once, let go to their mean, bounded each in its sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.envelope import joint_margins
from guard.friction_checks import check_friction, loads_believed
from guard.guard import shared_bounds, tendon_bounds
from guard.letting_go import level_shared, release_nm, rest_nm, shared_release_nm
from guard.lookahead import suspected
from guard.motor_checks import check_motors
from guard.probe import PROBED, probe_torque_nm
from guard.reaction import begin_reaction
from mechanics.lines import sense_of
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState
from tests.rigs.bare import Bare, Paired

LOW_N = 5.0
PAIRS = st.integers(0, 3)
TENSIONS = st.lists(st.floats(0.5, 90.0), min_size=8, max_size=8)


def partner(t: int) -> int:
    """The other tendon of the same motor."""
    pair = next(p for p in Paired.PARTNERS if t in p)
    return pair[1] if t == pair[0] else pair[0]


@given(st.integers(0, 7), st.integers(0, 7))
def test_a_motors_load_is_believed_if_the_sensors_of_all_its_tendons_are(asked: int, broken: int) -> None:
    bench = Paired()
    assert loads_believed(bench.m, bench.z, 0, asked)
    bench.z["hall_status"][broken] = int(ChannelStatus.MISSING)
    mine = broken in (asked, partner(asked))
    assert loads_believed(bench.m, bench.z, 0, asked) is not mine


def test_a_shared_motor_is_looked_at_once_in_a_cycle() -> None:
    bench = Paired()
    bench.stamp()
    bench.s["motor_speed_rad_s"][:4] = 1.0
    check_friction(bench.m, bench.mem, bench.z, bench.s)
    assert list(bench.mem["moved_s"][:5]) == [bench.dt_s] * 4 + [0.0]
    bench.s["motor_speed_rad_s"][:4] = 0.01  # stands and should stand: its friction's work is noted
    bench.s["friction_torque_nm"][:4] = 0.3
    check_motors(bench.m, bench.mem, bench.z, bench.s)
    assert bench.mem["energy_j"][:5] == pytest.approx([bench.dt_s * 0.3 * 0.01] * 4 + [0.0], rel=1e-9)


def test_a_shared_encoder_that_stands_is_found_by_the_length_of_its_first_tendon() -> None:
    bench = Paired()
    bench.s["ref_motor_speed_rad_s"][2] = 1.0
    for _ in range(bench.cycles(1.0)):
        bench.s["residual_m"][4] += 2e-6
        bench.stamp()
        check_motors(bench.m, bench.mem, bench.z, bench.s)
        if bench.s["finger_cause"][0] != Cause.NONE:
            break
    assert (bench.s["finger_cause"][0], bench.s["finger_cause_part"][0]) == (Cause.ENCODER_STUCK, 2)


@given(TENSIONS, st.integers(-1, 7))
def test_tendons_of_a_motor_are_let_go_to_their_mean_but_not_with_a_lost_one(
    n: list[float], lost: int
) -> None:
    bench = Paired()
    bench.s["tension_n"][:8] = n
    bench.mem["least_n"][:8] = LOW_N
    level_shared(bench.m, bench.mem, bench.s, 0, lost)
    for t in range(8):
        mean = 0.5 * (n[t] + n[partner(t)])
        spared = lost in (t, partner(t))
        assert bench.mem["least_n"][t] == pytest.approx(LOW_N if spared else max(LOW_N, mean))


@pytest.mark.parametrize(("cause", "spared"), [(Cause.TENSION_LOST, True), (Cause.MOTOR_BLOCKED, False)])
def test_only_a_lost_tendon_keeps_its_partner_from_the_mean(cause: Cause, spared: bool) -> None:
    bench = Paired()
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(cause), 4
    begin_reaction(bench.m, bench.mem, bench.z, bench.s, 0)
    least = float(bench.m["tension_min_n"][5])
    assert least < 20.0
    assert bench.mem["release_to_n"][5] == (least if spared else 20.0)
    assert bench.mem["release_to_n"][7] == 20.0


def reacting(n: list[float], speeds: list[float]) -> Paired:
    """A finger in fault, well after its begin, its motors turning."""
    bench = Paired()
    bench.s["tension_n"][:8] = n
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(Cause.MOTOR_BLOCKED), 0
    begin_reaction(bench.m, bench.mem, bench.z, bench.s, 0)
    bench.mem["fault_age_s"][0] = 0.1
    bench.mem["release_to_n"][:8] = LOW_N  # as if they were alone: each has something to let go
    bench.s["motor_speed_rad_s"][:4] = speeds
    return bench


def alone(bench: Paired, law: Any, t: int) -> float:
    """A law's torque of one tendon, on memories of its own, in the motor's sense."""
    memory = bench.records[0].copy()[0]
    return float(sense_of(bench.m, t) * law(bench.m, memory, bench.s, 0, t))


@given(TENSIONS, st.lists(st.floats(-2.0, 2.0), min_size=4, max_size=4), PAIRS)
def test_a_shared_motor_sums_what_leads_its_tendons_down(n: list[float], speeds: list[float], i: int) -> None:
    bench = reacting(n, speeds)
    expected = sum(alone(bench, release_nm, t) for t in Paired.PARTNERS[i])
    assert shared_release_nm(bench.m, bench.mem, bench.s, 0, i) == pytest.approx(expected, abs=1e-12)


def test_what_leads_down_is_no_zero_and_has_both_senses() -> None:
    bench = reacting([60.0] * 8, [0.0] * 4)
    torques = [alone(bench, release_nm, t) for t in range(8)]
    assert torques[4] < 0.0 < torques[5]


@pytest.mark.parametrize("t", [4, 5])
def test_while_a_tendon_is_probed_its_motor_does_nothing_else(t: int) -> None:
    bench = reacting([60.0] * 8, [0.2] * 4)
    bench.mem["probe_phase"][0], bench.mem["probe_tendon"][0] = PROBED - 1, t
    own = alone(bench, probe_torque_nm, t)
    assert own != 0.0
    assert shared_release_nm(bench.m, bench.mem, bench.s, 0, 2) == pytest.approx(own)
    other = sum(alone(bench, release_nm, o) for o in Paired.PARTNERS[3])
    assert shared_release_nm(bench.m, bench.mem, bench.s, 0, 3) == pytest.approx(other)


@pytest.mark.parametrize("t", [4, 5])
def test_a_probed_tendons_motor_rests_while_its_partner_is_led_down(t: int) -> None:
    bench = reacting([60.0] * 8, [0.0] * 4)
    bench.s["motor_speed_rad_s"][2] = 2.0 * sense_of(bench.m, t) * bench.m["rest_speed_rad_s"]
    bench.mem["probe_phase"][0], bench.mem["probe_tendon"][0] = PROBED, t
    rest = float(sense_of(bench.m, t) * rest_nm(bench.m, bench.s, t))
    expected = rest + alone(bench, release_nm, partner(t))
    assert rest != 0.0 and expected != rest
    assert shared_release_nm(bench.m, bench.mem, bench.s, 0, 2) == pytest.approx(expected)


@given(
    PAIRS,
    st.floats(-3.0, 3.0),
    st.lists(st.floats(-12.0, 12.0), min_size=4, max_size=4),
    st.lists(st.floats(-0.05, 1.05), min_size=4, max_size=4),
    st.booleans(),
)
def test_a_shared_motor_is_bounded_by_each_of_its_tendons_in_its_sense(
    i: int, torque: float, speeds: list[float], shares: list[float], in_fault: bool
) -> None:
    bench = Paired()
    n = bench.joints
    low, high = bench.m["joint_min_rad"][:n], bench.m["joint_max_rad"][:n]
    bench.s["joint_angle_rad"][:n] = low + np.array(shares) * (high - low)
    bench.s["motor_speed_rad_s"][:4] = speeds
    if in_fault:
        bench.s["finger_state"][0] = int(MachineState.FAULT)
    joint_margins(bench.m, bench.mem, bench.s, 0)
    x, bits = torque, 0
    for t in Paired.PARTNERS[i]:
        sense = sense_of(bench.m, t)
        x, bits = tendon_bounds(bench.m, bench.mem, bench.s, 0, t, sense * x, bits, not in_fault)
        x *= sense
    found, noted = shared_bounds(bench.m, bench.mem, bench.s, 0, i, torque, 0)
    assert found == pytest.approx(x, rel=1e-12, abs=1e-15) and noted == bits


@pytest.mark.parametrize("t", [4, 5])
def test_a_tendon_that_is_almost_too_tight_bounds_its_motor_in_its_own_sense(t: int) -> None:
    bench = Paired()
    bench.mem["taut"][:8] = 1
    n = bench.joints
    bench.s["joint_angle_rad"][:n] = 0.5 * (bench.m["joint_min_rad"][:n] + bench.m["joint_max_rad"][:n])
    bench.s["elongation_m"][t] = bench.m["elongation_max_m"][t]
    joint_margins(bench.m, bench.mem, bench.s, 0)
    sense = float(sense_of(bench.m, t))
    winding, bits = shared_bounds(bench.m, bench.mem, bench.s, 0, 2, sense * 2.0, 0)
    assert sense * winding < 2.0 and bits != 0
    assert shared_bounds(bench.m, bench.mem, bench.s, 0, 2, -sense * 0.1, 0) == (-sense * 0.1, 0)


@pytest.mark.parametrize("rig", [Bare, Paired])
def test_only_a_tendon_with_a_motor_of_its_own_starts_a_look_ahead(rig: type[Bare]) -> None:
    bench = rig()
    bench.mem["slack_s"][2], bench.mem["taut"][2] = 0.001, 1
    assert suspected(bench.m, bench.mem, bench.s, 2) is (rig is Bare)
