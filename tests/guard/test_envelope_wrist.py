"""The wrist's share of the envelope: what tendons may put on its drive, and how fast a tension is let go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.envelope import (
    WRIST_CARE,
    WRIST_SHARE,
    note_turns,
    wrist_envelope,
    wrist_load,
)
from guard.limits import LETTING_GO, envelope_bounds, rate_bounds
from guard.paths import WRIST_HZ, path_speeds
from guard.tension_checks import SNAP_HZ
from hand.assembly.figures import FIGURES
from signals.modes import Clip, MachineState
from tests.rigs.bare import Bare, Guarded

DAMPING_NMS_RAD = FIGURES["envelope_damping_nms_rad"].reference
WRIST_RAD_S = FIGURES["wrist_wind_rad_s"].reference

TENSION_MAX, RATE = int(Clip.TENSION_MAX), int(Clip.RATE)
T = 4


class Loaded(Bare):
    """The whole hand at rest, its joints and tendons far from their limits, with a torque on its wrist."""

    def __init__(self, *shares: float) -> None:
        super().__init__("hasy")
        low, high = self.m["joint_min_rad"], self.m["joint_max_rad"]
        self.s["joint_angle_rad"] = 0.5 * (low + high)
        self.mem["margin_up_rad_s"] = self.mem["margin_down_rad_s"] = 1e3
        self.limit = WRIST_SHARE * self.m["axis_torque_limit_nm"]
        self.put(*shares)

    def put(self, *shares: float) -> None:
        """Torques on the axes, as shares of what the tendons may put on them."""
        self.s["wrist_torque_nm"] = np.array(shares) * self.limit
        wrist_load(self.m, self.mem, self.s)

    def pulls(self, t: int, axis: int) -> float:
        """Sign of the torque that tendon ``t`` puts on an axis."""
        return -float(np.sign(self.m["wrist_arm_m"][t, axis]))

    def hold(self, t: int) -> float:
        return float(self.m["spool_radius_m"][t] * self.s["tension_n"][t])

    def bounded(self, t: int, x: float) -> tuple[float, int]:
        y, bits = envelope_bounds(self.m, self.mem, self.s, int(self.m["tendon_finger"][t]), t, x, 0)
        return float(y), int(bits)


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_the_load_is_the_share_of_what_tendons_may_put_on_an_axis(one: float, other: float) -> None:
    bench = Loaded(one, other)
    assert bench.mem["wrist_load"][:2] == pytest.approx([one, other], abs=1e-9)
    assert bool(bench.mem["wrist_loaded"]) == (max(abs(one), abs(other)) > WRIST_CARE)


def test_a_wrist_that_is_no_longer_loaded_bounds_nothing() -> None:
    for shares in ((1.1, 0.0), (0.0, -1.1)):
        bench = Loaded(*shares)
        assert bench.mem["wrist_loaded"] == 1
        bench.put(0.99 * WRIST_CARE, -0.99 * WRIST_CARE)
        assert bench.mem["wrist_loaded"] == 0
        assert all(bench.bounded(t, 2.0) == (2.0, 0) for t in range(bench.n))


@given(
    st.integers(0, 37),
    st.integers(0, 1),
    st.floats(1.01 * WRIST_CARE, 1.4),
    st.booleans(),
    st.floats(-5.0, 5.0),
)
def test_a_motor_that_would_load_the_wrist_more_winds_the_slower_the_more_it_bears(
    t: int, axis: int, load: float, more: bool, speed: float
) -> None:
    """Only one that loads it more: the others unload it."""
    bench = Loaded(0.0, 0.0)
    bench.s["motor_speed_rad_s"][bench.m["tendon_motor"][t]] = speed
    shares = [0.0, 0.0]
    shares[axis] = load * bench.pulls(t, axis) * (1.0 if more else -1.0)
    bench.put(*shares)
    most = float(wrist_envelope(bench.m, bench.mem, bench.s, t))
    if more:
        allowed = WRIST_RAD_S * (1.0 - load)
        assert most == pytest.approx(bench.hold(t) + DAMPING_NMS_RAD * (allowed - speed), abs=1e-6)
    else:
        assert most > 1e3, "no motor gives that"


@pytest.mark.parametrize("t", range(0, 38, 5))
def test_of_two_loaded_axes_the_one_that_bears_more_decides(t: int) -> None:
    bench = Loaded(0.0, 0.0)
    loads = []
    for shares in ((0.7, 1.1), (1.1, 0.7), (0.7, 0.0), (0.0, 1.1)):
        bench.put(*(share * bench.pulls(t, a) for a, share in enumerate(shares)))
        most = float(wrist_envelope(bench.m, bench.mem, bench.s, t))
        loads.append(1.0 - (most - bench.hold(t)) / DAMPING_NMS_RAD / WRIST_RAD_S)
    assert loads == pytest.approx([1.1, 1.1, 0.7, 1.1])


def test_an_axis_that_bears_little_bounds_nothing_while_the_other_one_bears_much() -> None:
    bench = Loaded(0.0, 0.0)
    bench.put(0.9 * WRIST_CARE * bench.pulls(T, 0), -1.1 * bench.pulls(T, 1))
    assert bench.mem["wrist_loaded"] == 1
    assert wrist_envelope(bench.m, bench.mem, bench.s, T) > 1e3, "no motor gives that"
    assert bench.bounded(T, 2.0) == (2.0, 0)


def test_every_cycle_of_the_guard_looks_at_the_wrist_and_at_every_joint_anew() -> None:
    bench = Guarded("hasy")
    bench.m["measurement_age_s"] = 0.0
    note_turns(bench.m, bench.mem)
    bench.mem["margin_up_rad_s"], bench.mem["wrist_load"] = 99.0, 99.0
    bench.s["wrist_torque_nm"] = 0.25 * bench.m["axis_torque_limit_nm"]
    bench.cycle()
    bench.s["wrist_length_m"][: bench.n] += 1e-5
    bench.cycle()
    assert bench.mem["wrist_load"][:2] == pytest.approx(0.25 / WRIST_SHARE)
    assert np.all(bench.mem["margin_up_rad_s"][: bench.joints] < 99.0)
    assert np.all(bench.mem["wrist_m_s"][: bench.n] > 0.0)


@pytest.mark.parametrize("started", [0, 1])
def test_the_share_of_a_snap_is_worked_out_where_a_guard_begins_and_kept(started: int) -> None:
    bench = Guarded("hasy")
    bench.mem["started"], bench.mem["snap_share"] = started, 0.5
    bench.cycle()
    begun = 1.0 - math.exp(-2.0 * math.pi * SNAP_HZ * bench.dt_s)
    assert bench.mem["snap_share"] == pytest.approx(0.5 if started else begun)


@pytest.mark.parametrize("fault", [False, True])
def test_beyond_its_load_a_tendon_is_let_go_and_a_finger_in_fault_only_stops_winding(fault: bool) -> None:
    bench = Loaded(0.0, 0.0)
    if fault:
        bench.s["finger_state"][bench.m["tendon_finger"][T]] = int(MachineState.FAULT)
    bench.put(1.04 * bench.pulls(T, 0), 0.0)
    most = float(wrist_envelope(bench.m, bench.mem, bench.s, T))
    assert -1.5 < most < 0.0
    assert bench.bounded(T, 2.0) == (pytest.approx(0.0 if fault else most), TENSION_MAX)
    assert bench.bounded(T, -1.9) == (-1.9, 0)
    bench.put(9.0 * bench.pulls(T, 0), 0.0)
    limit = float(bench.m["motor_torque_limit_nm"][T])
    assert bench.bounded(T, 2.0) == (0.0 if fault else -limit, TENSION_MAX)


@pytest.mark.parametrize("bits", [0, TENSION_MAX, int(Clip.TORQUE), TENSION_MAX | int(Clip.TORQUE)])
@pytest.mark.parametrize("last", [-0.5, 0.7])
def test_a_torque_falls_faster_where_it_makes_a_tension_too_high_and_never_rises_faster(
    bits: int, last: float
) -> None:
    bench = Bare()
    bench.mem["last_torque_nm"][T] = last
    step = float(bench.m["torque_rate_nm_s"]) * bench.dt_s
    down = step * (LETTING_GO if bits & TENSION_MAX else 1.0)
    for way, most in ((-1.0, down), (1.0, step)):
        asked = last + way * 1.01 * most
        assert rate_bounds(bench.m, bench.mem, T, asked, bits) == (
            pytest.approx(last + way * most),
            bits | RATE,
        )
        asked = last + way * 0.99 * most
        assert rate_bounds(bench.m, bench.mem, T, asked, bits) == (asked, bits)


def test_the_speed_of_a_path_through_the_wrist_is_low_passed_from_the_second_cycle_on() -> None:
    bench = Bare()
    speed = np.linspace(-0.3, 0.4, 8)
    note_turns(bench.m, bench.mem)
    bench.mem["started"] = 0
    bench.mem["wrist_before_m"][:8] = 1.0
    for k in range(1, 60):
        bench.s["wrist_length_m"][:8] = k * speed * bench.dt_s
        path_speeds(bench.m, bench.mem, bench.s)
        bench.mem["started"] = 1
        known = 1.0 - math.exp(-2.0 * math.pi * WRIST_HZ * (k - 1) * bench.dt_s)
        assert bench.mem["wrist_m_s"][:8] == pytest.approx(known * speed, abs=1e-9)


@pytest.mark.parametrize("state", [MachineState.ACTIVE, MachineState.FAULT])
@pytest.mark.parametrize("joint_rad_s", [-9.0, 9.0])
def test_a_slack_tendon_may_be_wound_however_wrist_and_joints_are_loaded(
    state: MachineState, joint_rad_s: float
) -> None:
    """What is slack loads nothing: a probe finds out in time whether its tendon is broken."""
    bench = Loaded(0.0, -1.2)
    t = next(t for t in range(bench.n) if bench.pulls(t, 1) < 0.0)
    f = int(bench.m["tendon_finger"][t])
    bench.s["finger_state"][f] = int(state)
    bench.mem["fastest_m_s"][f], bench.mem["motor_joint_rad_s"] = 1.0, joint_rad_s
    wish = 0.4 * float(bench.m["motor_torque_limit_nm"][bench.m["tendon_motor"][t]])
    assert bench.bounded(t, wish)[0] < wish, "taut it adds to the load"
    bench.s["elongation_m"][t], bench.s["tension_n"][t] = 0.5 * bench.m["elongation_min_m"][t], 0.0
    assert not bench.bounded(t, wish)[1] & TENSION_MAX
    assert bench.bounded(t, wish)[0] >= wish
