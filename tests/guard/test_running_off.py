"""A finger in fault: no tendon is unwound while it holds back a joint that runs into its stop."""

from __future__ import annotations

import numpy as np
import pytest

from guard.envelope import joint_envelope
from signals.modes import MachineState
from tests.rigs.moving import JOINT_RANGE, Moving

URGENT_S = 0.0195
HARD_NM = -2.0
"""More than a joint's margin leaves."""
ENDS = (1.0, -1.0)


def faulted(joint: int, sign: float, speed: float = 2.0, way: float = 0.02) -> Moving:
    """A finger that lost a tendon; a joint runs towards its upper (1) or lower (-1) end."""
    bench = Moving()
    end = bench.high[joint] - way if sign > 0.0 else bench.low[joint] + way
    bench.s["joint_angle_rad"][joint] = end
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.mem["probe_phase"][0], bench.mem["probe_tendon"][0] = 1, -1  # none of those that are looked at
    bench.mem["urgent_s"][0], bench.mem["fault_age_s"][0] = URGENT_S, 0.05
    bench.turn(sign * speed * np.eye(bench.joints)[joint])
    return bench


def holds(bench: Moving, t: int, joint: int, sign: float) -> bool:
    """Pulling turns a joint towards -P: unwinding lets it go the other way."""
    return bool(sign * bench.P[t, joint] > 0.0)


@pytest.mark.parametrize("sign", ENDS)
@pytest.mark.parametrize("joint", range(4))
def test_what_holds_the_joint_is_let_go_no_faster_than_its_way_allows_and_the_rest_as_was_chosen(
    joint: int, sign: float
) -> None:
    bench, held = faulted(joint, sign), 0
    for t in range(bench.n):
        x, bits = bench.bounded(t, HARD_NM)
        if holds(bench, t, joint, sign):
            least = float(joint_envelope(bench.m, bench.mem, bench.s, 0, t)[0])
            assert x == pytest.approx(min(least, 0.0)) and x > HARD_NM
            assert bits & JOINT_RANGE
            held += 1
        else:
            assert (x, bits) == (HARD_NM, 0)
    assert held >= 1


@pytest.mark.parametrize("sign", ENDS)
def test_it_is_held_by_its_gear_and_never_pulled(sign: float) -> None:
    bench = faulted(3, sign, speed=20.0)
    for t in range(bench.n):
        x, _ = bench.bounded(t, HARD_NM)
        assert x == (0.0 if holds(bench, t, 3, sign) else HARD_NM)
        assert bench.bounded(t, 0.0) == (0.0, 0)


@pytest.mark.parametrize("sign", ENDS)
@pytest.mark.parametrize(("speed", "held"), [(0.99, False), (1.01, True)])
def test_a_joint_that_may_come_to_its_stop_as_fast_or_only_seems_beyond_it_is_let_go(
    sign: float, speed: float, held: bool
) -> None:
    bench = faulted(3, sign, way=-0.5)
    bench.s["joint_speed_rad_s"][3] = sign * speed * float(bench.m["stop_speed_rad_s"])
    bench.look()
    for t in range(bench.n):
        if holds(bench, t, 3, sign):
            assert (bench.bounded(t, HARD_NM)[0] > HARD_NM) is held


def test_a_joint_that_goes_away_from_its_stop_is_let_go() -> None:
    bench = faulted(3, 1.0)
    bench.turn(-0.5 * np.eye(bench.joints)[3])
    assert all(bench.bounded(t, HARD_NM) == (HARD_NM, 0) for t in range(bench.n))


@pytest.mark.parametrize(
    ("phase", "age_s", "held"),
    [(1, 0.0, False), (1, URGENT_S - 1e-6, False), (1, URGENT_S, True), (2, 0.5, True), (0, 0.5, False)],
)
def test_what_is_let_go_in_a_hurry_or_probed_or_in_balance_is_let_go_as_chosen(
    phase: int, age_s: float, held: bool
) -> None:
    bench = faulted(3, 1.0)
    bench.mem["fault_age_s"][0], bench.mem["probe_phase"][0] = age_s, phase
    (t,) = (t for t in range(bench.n) if holds(bench, t, 3, 1.0))
    assert (bench.bounded(t, HARD_NM)[0] > HARD_NM) is held
    bench.mem["probe_tendon"][0] = t
    assert bench.bounded(t, HARD_NM)[0] == HARD_NM


def test_a_tendon_that_pulls_another_joint_into_its_stop_is_let_go() -> None:
    """Tendon 7 (P < 0 on joint 2, > 0 on joint 3) holds the fingertip and pulls the joint before it up."""
    bench = faulted(3, 1.0, speed=20.0)
    assert bench.bounded(7, HARD_NM) == (0.0, JOINT_RANGE)
    bench.s["joint_angle_rad"][2] = bench.high[2] - 0.02
    for speed in (2.0, 4.0, 40.0):
        bench.turn(np.array([0.0, 0.0, speed, 20.0]))
        most = float(joint_envelope(bench.m, bench.mem, bench.s, 0, 7)[1])
        assert bench.bounded(7, HARD_NM)[0] == pytest.approx(min(max(most, HARD_NM), 0.0))
    assert bench.bounded(7, HARD_NM) == (HARD_NM, 0)


@pytest.mark.parametrize("t", [6, 7])
def test_what_pulls_a_joint_that_runs_is_let_go_although_it_holds_another_that_does_not(t: int) -> None:
    """The fingertip runs the way of the pull; the joint before it seems beyond the stop it is kept from."""
    bench = Moving()
    along, kept = -np.sign(bench.P[t, 3]), np.sign(bench.P[t, 2])
    assert along == kept != 0.0
    bench = faulted(2, kept, way=-0.5)
    slow = 0.99 * float(bench.m["stop_speed_rad_s"])
    for fast, held in ((-along, True), (along, False)):
        bench.turn(np.array([0.0, 0.0, kept * slow, fast * 2.0]))
        least = float(joint_envelope(bench.m, bench.mem, bench.s, 0, t)[0])
        assert least > HARD_NM
        assert (bench.bounded(t, HARD_NM)[0] > HARD_NM) is held


@pytest.mark.parametrize("sign", ENDS)
@pytest.mark.parametrize(
    ("age_s", "speed", "way", "held"),
    [
        (0.0, 0.31, 0.02, True),
        (0.199, 0.31, 0.149, True),
        (0.201, 2.0, 0.02, False),
        (0.1, 0.29, 0.02, False),
        (0.1, 0.31, 0.151, False),
        (0.1, 0.31, -0.02, True),
        (0.1, -0.31, 0.02, False),
    ],
)
@pytest.mark.parametrize("joint", range(4))
def test_in_any_fault_what_a_goal_had_set_in_motion_is_held_as_it_falls_into_a_stop_close_by(
    joint: int, sign: float, age_s: float, speed: float, way: float, held: bool
) -> None:
    bench = faulted(joint, sign, way=way)
    bench.mem["probe_phase"][0], bench.mem["fault_age_s"][0], bench.mem["urgent_s"][0] = 0, age_s, 1.0
    bench.s["joint_speed_rad_s"][joint] = sign * speed
    bench.look()
    seen = 0
    for t in range(bench.n):
        x, bits = bench.bounded(t, 10.0 * HARD_NM)
        assert x <= 0.0, "nothing pulls"
        holding = holds(bench, t, joint, sign)
        free = bench.bounded(t, 10.0 * HARD_NM) == (10.0 * HARD_NM, 0)
        seen += holding and not free
        assert holding or not bits & JOINT_RANGE
    assert (seen > 0) is held
