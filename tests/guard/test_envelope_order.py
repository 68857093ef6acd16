"""Order of the bounds of the envelope: contradictions, fingers in fault, short ways round that skip them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.envelope import joint_envelope, tension_envelope, tension_free
from guard.limits import SOFT_STOP_RAD, SOFT_STOP_WIDTH_RAD, bounded, motor_bounds
from signals.modes import MachineState, Request
from tests.rigs.bare import Guarded
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

NEAR = st.floats(-4.5, -1.0).map(lambda power: float(10.0**power))
ELONGATIONS = st.one_of(st.floats(0.0, 1.0), NEAR, NEAR.map(lambda share: 1.0 - share))
"""Shares of the way from the least to the greatest one, with weight on both ends."""


# --- contradictions, and fingers in fault -----------------------------------------------------------------


def torn(taut: bool) -> tuple[Moving, int]:
    """A joint near its end; a tendon that must not unwind for its sake, but is too tight, or the reverse."""
    bench = towards_the_end()
    t = next(t for t in range(8) if (bench.P[t, 3] > 0.0) == taut and bench.P[t, 3] != 0.0)
    bench.s["elongation_m"][t] = bench.most_m[t] + 0.001 if taut else bench.least_m[t] - 0.0004
    bench.turn(3.0 * np.eye(4)[3])
    if not taut:
        bench.mem["margin_up_rad_s"][3] = -3.0
    return bench, t


@pytest.mark.parametrize("taut", [True, False])
def test_of_two_bounds_that_contradict_each_other_the_tension_has_the_last_word(taut: bool) -> None:
    bench, t = torn(taut)
    least, most = envelope(bench, t)
    down, up = joint_envelope(bench.m, bench.mem, bench.s, 0, t)
    if taut:
        assert most < down, "they contradict each other"
        assert bench.bounded(t, 0.0) == (
            pytest.approx(max(most, -limit_nm(bench, t))),
            JOINT_RANGE | TENSION_MAX,
        )
    else:
        assert least > up
        assert bench.bounded(t, 0.5) == (pytest.approx(least), JOINT_RANGE | TENSION_MIN)


@given(TENDONS, st.floats(-0.002, 0.01), st.floats(-14.0, 14.0), st.floats(-2.9, 2.9), st.floats(-3.0, 3.0))
def test_a_finger_in_fault_is_bounded_in_winding_alone(
    t: int, elongation: float, winding: float, x: float, speed: float
) -> None:
    """Never pulled and never unwound by a bound: what is seen of it may be the fault."""
    bench = towards_the_end()
    bench.turn(speed * np.eye(4)[3])
    bench.s["elongation_m"][t], bench.s["motor_speed_rad_s"][t] = elongation, winding
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.look()
    most = envelope(bench, t)[1]
    sent, bits = bench.bounded(t, x)
    if x <= 0.0:
        assert (sent, bits) == (x, 0)
    else:
        assert sent == pytest.approx(min(x, max(most, 0.0)))
        assert bits == (TENSION_MAX if sent < x else 0)


def test_a_finger_in_fault_stops_winding_at_the_end_of_its_elongation() -> None:
    bench = alone(3, 0.0002, 0.1)
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    assert bench.bounded(3, 1.0) == (0.0, TENSION_MAX)
    assert bench.bounded(3, -1.0) == (-1.0, 0)


# --- the short ways round ---------------------------------------------------------------------------------


def in_full(bench: Moving, t: int, x: float) -> float:
    """The torque after all bounds, none of them left out."""
    limit, bits = limit_nm(bench, t), 0
    least, most = joint_envelope(bench.m, bench.mem, bench.s, 0, t)
    x, bits = bounded(x, min(least, limit), max(most, -limit), JOINT_RANGE, bits)
    least, most = tension_envelope(bench.m, bench.mem, bench.s, 0, t)
    x, bits = bounded(x, min(least, limit), limit, TENSION_MIN, bits)
    x, bits = bounded(x, -limit, max(most, -limit), TENSION_MAX, bits)
    return float(motor_bounds(bench.m, bench.mem, bench.s, t, x, bits)[0])


@given(
    st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).map(np.array),
    st.lists(st.floats(-8.0, 8.0), min_size=8, max_size=8).map(np.array),
    st.lists(st.floats(-2.0, 2.0), min_size=4, max_size=4).map(np.array),
    st.lists(ELONGATIONS, min_size=8, max_size=8).map(np.array),
    st.sampled_from([-FAR_NM, -2.0, 0.1, 2.0, FAR_NM]),
)
def test_no_bound_that_would_bind_is_ever_left_out(
    place: np.ndarray, winding: np.ndarray, swing: np.ndarray, stretched: np.ndarray, x: float
) -> None:
    bench = Moving()
    bench.s["joint_angle_rad"][:4] = bench.low + place * (bench.high - bench.low)
    bench.s["elongation_m"][:8] = bench.least_m + stretched * (bench.most_m - bench.least_m)
    bench.s["motor_speed_rad_s"][:8] = winding
    bench.s["tension_n"][:8] = 5.0 + 115.0 * stretched
    bench.look()
    bench.s["joint_speed_rad_s"][:4] = bench.mem["motor_joint_rad_s"][:4] + swing
    bench.look()
    for t in range(8):
        sent, bits = bench.bounded(t, x)
        sent = motor_bounds(bench.m, bench.mem, bench.s, t, sent, bits)[0]
        assert sent == pytest.approx(in_full(bench, t, x), abs=1e-12)


def test_far_from_all_limits_nothing_is_computed_and_near_one_of_them_it_is() -> None:
    bench = Moving()
    bench.s["elongation_m"][:8] = 0.5 * (bench.least_m + bench.most_m)
    bench.m["joint_min_rad"][:4], bench.m["joint_max_rad"][:4] = bench.low - 1.0, bench.high + 1.0
    bench.look()
    assert all(tension_free(bench.m, bench.mem, bench.s, 0, t) for t in range(8))
    for t in range(8):
        for e in (bench.least_m[t], bench.most_m[t]):
            for sign in (1.0, -1.0):
                bench.s["elongation_m"][t] = e + sign * 2e-5
                assert not tension_free(bench.m, bench.mem, bench.s, 0, t)


@given(TENDONS, st.floats(0.0, 0.08), st.booleans(), st.booleans())
def test_a_tendon_just_far_enough_to_be_skipped_is_bounded_by_no_torque_of_its_motor(
    t: int, speed: float, tight: bool, winds: bool
) -> None:
    """At the greatest speed that its finger can give it, three times that of its fastest motor."""
    bench = Moving()
    bench.mem["fastest_m_s"][0] = speed / 3.0
    bench.s["motor_speed_rad_s"][t] = (speed if winds else -speed) / bench.radius[t]

    def is_free(way_m: float) -> bool:
        e = bench.most_m[t] - way_m if tight else bench.least_m[t] + way_m
        bench.s["elongation_m"][t] = e
        bench.s["tension_n"][t] = 5.0 + 115.0 * (e - bench.least_m[t]) / (bench.most_m[t] - bench.least_m[t])
        return bool(tension_free(bench.m, bench.mem, bench.s, 0, t))

    low, high = 0.0, 0.5 * float(bench.most_m[t] - bench.least_m[t])
    assert is_free(high) and not is_free(low), "in the middle no motor needs a bound"
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_free(middle) else (middle, high)
    assert is_free(high)
    least, most = envelope(bench, t)
    assert least <= -limit_nm(bench, t) and most >= limit_nm(bench, t)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_wish_beyond_the_drive_has_no_bit_of_a_limit_that_it_does_not_meet(sign: float) -> None:
    """Or its torque would fall as from a tension that is too high."""
    bench = Moving()
    bench.s["motor_speed_rad_s"][:8] = 0.5  # so that the tension is looked at
    bench.s["elongation_m"][:8] = bench.least_m + 0.6 * (bench.most_m - bench.least_m)
    bench.look()
    bench.mem["fastest_m_s"][0] = 1.0
    for t in range(8):
        x = sign * 3.0 * limit_nm(bench, t)
        least, most = envelope(bench, t)
        joints = joint_envelope(bench.m, bench.mem, bench.s, 0, t)
        sent, bits = bench.bounded(t, x)
        assert (sent == x) == (bits == 0)
        assert bool(bits & TENSION_MAX) == (most < min(x, joints[1]))
        assert bool(bits & TENSION_MIN) == (least > max(x, joints[0]))


@pytest.mark.parametrize("stopped", [False, True])
def test_a_joint_out_of_its_range_holds_no_finger_in_fault(stopped: bool) -> None:
    """What the joint angles say may be the fault; its probe has to wind."""
    bench = Guarded()
    bench.m["torque_rate_nm_s"] = 0.0
    if stopped:
        bench.cycle(Request.STOP)
    end = float(bench.m["joint_max_rad"][3])
    bench.s["joint_angle_rad"][3] = end + SOFT_STOP_RAD + SOFT_STOP_WIDTH_RAD
    pulls_out = next(t for t in range(8) if bench.mem["P_tj_m"][t, 3] < 0.0)
    bench.s["ref_motor_torque_nm"][:8] = 1.0
    bench.s["motor_angle_rad"][:8] = bench.mem["last_angle_rad"][:8] = -0.005  # the hold winds it back
    for _ in range(60):
        bench.cycle()
    assert bench.s["finger_state"][0] == (MachineState.FAULT if stopped else MachineState.ACTIVE)
    limited = bool(int(bench.s["clip"][pulls_out]) & JOINT_RANGE)
    assert limited is not stopped
    assert bool(bench.s["motor_torque_nm"][pulls_out] > 0.5) is stopped
