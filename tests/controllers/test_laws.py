"""Laws of the controller's parts: blending, tension loop, feedforward, stiffness, collocated feedback."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.feedforward import friction_torque_nm, place_ripples, ripple_torque_nm, ripple_torques
from controllers.memory import new_controller_memory
from controllers.stiffness import common_tension_n, stiff_enough
from mechanics.blend import PEAK, duration_s, fading, share_left, share_rate
from mechanics.collocated import (
    CROSSOVER_HZ,
    begin_feedback,
    from_tendons,
    joint_feedback,
    share_of_measured,
)
from mechanics.coupling import tendon_jacobian, tendon_lengths
from mechanics.finger_rows import gather, place_rows
from mechanics.friction import motor_friction_nm
from mechanics.ripple import ripple_nm
from mechanics.springs import stiffness_of_force
from mechanics.tension_loop import GREATEST_SHARE, LEAST_SHARE, scheduled_kp, tension_torque_nm
from signals.compiled import law
from tests.rigs.desk import Desk, model_record

BENCH = model_record("finger_bench")
M = BENCH[0]


@given(st.floats(0.0, 1.5), st.floats(0.01, 5.0))
def test_a_blend_is_smooth_and_monotone(x: float, duration: float) -> None:
    assert 0.0 <= share_left(x) <= 1.0
    assert share_left(x + 1e-3) <= share_left(x)
    h = 1e-6
    slope = (share_left(x + h) - share_left(max(x - h, 0.0))) / (h + min(x, h)) / duration
    assert share_rate(x, duration) == pytest.approx(slope, abs=2e-3 / duration)
    assert abs(share_rate(x, duration)) <= PEAK / duration + 1e-12


def test_a_blend_begins_and_ends_at_rest() -> None:
    assert share_left(0.0) == 1.0
    assert share_left(1.0) == share_left(7.0) == 0.0
    assert share_rate(0.0, 1.0) == share_rate(1.0, 1.0) == 0.0


@given(st.floats(-10.0, 10.0), st.floats(0.01, 10.0), st.floats(0.001, 1.0))
def test_a_blend_nowhere_exceeds_its_speed(distance: float, speed: float, shortest: float) -> None:
    duration = duration_s(distance, speed, shortest)
    assert duration >= shortest
    fastest = max(abs(distance * share_rate(x, duration)) for x in np.linspace(0.0, 1.0, 101))
    assert fastest <= speed * (1.0 + 1e-9)


@given(st.floats(-5.0, 5.0), st.floats(1e-4, 1e-2), st.floats(0.01, 1.0))
def test_fading_is_exponential_whatever_the_step(value: float, dt_s: float, constant_s: float) -> None:
    twice = fading(fading(value, dt_s, constant_s), dt_s, constant_s)
    assert twice == pytest.approx(fading(value, 2.0 * dt_s, constant_s), abs=1e-12)
    assert abs(twice) <= abs(value)


@given(st.floats(3.0, 130.0), st.floats(3.0, 130.0), st.floats(2e3, 6e4), st.floats(-10.0, 10.0))
def test_the_tension_loop_balances_its_load_and_pushes_towards_its_want(
    wanted: float, tension: float, stiffness: float, speed_error: float
) -> None:
    torque = tension_torque_nm(M, 0, wanted, tension, stiffness, speed_error, 1.0)
    balanced = tension_torque_nm(M, 0, wanted, wanted, stiffness, 0.0, 1.0)
    assert balanced == pytest.approx(M["spool_radius_m"][0] * wanted)
    pushed = torque - balanced + M["tension_kd_nms_rad"] * speed_error
    assert pushed * (wanted - tension) >= 0.0
    share = scheduled_kp(M, stiffness) / M["tension_kp_nm_n"]
    assert LEAST_SHARE <= share <= GREATEST_SHARE
    assert scheduled_kp(M, 1.1 * stiffness) <= scheduled_kp(M, stiffness)


@given(st.floats(-15.0, 15.0), st.floats(-1.0, 3.0), st.integers(0, 7))
def test_friction_feedforward_never_exceeds_the_friction(speed: float, gain: float, motor: int) -> None:
    """Passivity: what is put in at the wanted speed is at most what friction takes out there."""
    m = BENCH[0]
    g1, g2, g3 = (m[f"friction_gamma_{k}"][motor] for k in ("1_s_rad", "2_nm", "3_nms_rad"))
    torque = friction_torque_nm(m, motor, speed, gain)
    friction = motor_friction_nm(speed, g1, g2, g3)
    assert 0.0 <= torque * speed <= friction * speed + 1e-12
    assert torque == pytest.approx(min(max(gain, 0.0), 1.0) * friction)


def test_friction_feedforward_is_silent_at_rest_and_off() -> None:
    assert friction_torque_nm(M, 0, 0.0, 1.0) == 0.0
    model = BENCH.copy()
    model["use_friction"] = 0
    assert friction_torque_nm(model[0], 0, 3.0, 1.0) == 0.0


@given(st.floats(-20.0, 20.0), st.floats(-14.0, 14.0), st.floats(-1.0, 3.0), st.integers(0, 7))
def test_ripple_feedforward_never_exceeds_what_was_identified(
    angle: float, speed: float, gain: float, motor: int
) -> None:
    model = BENCH.copy()
    model["ripple_gain"] = gain
    identified = float(np.sum(np.abs(M["ripple_amplitude_nm"][motor])))
    assert (
        abs(ripple_torque_nm(model[0], motor, angle, speed)) <= min(max(gain, 0.0), 1.0) * identified + 1e-12
    )


@given(st.floats(-20.0, 20.0), st.floats(-0.02, 0.02), st.integers(0, 7))
def test_at_low_speed_a_full_gain_cancels_the_ripple_where_it_will_be(
    angle: float, speed: float, motor: int
) -> None:
    model = BENCH.copy()
    model["ripple_gain"] = 1.0
    m = model[0]
    lead = speed * (m["delay_s"] + 0.5 * m["dt_s"])
    assert ripple_torque_nm(m, motor, angle, speed) == pytest.approx(
        ripple_nm(m, motor, angle + lead), abs=1e-9
    )


@law
def _all_ripples(model: object, memory: object, state: object) -> None:
    place_ripples(model[0], memory[0])  # type: ignore[index]
    ripple_torques(model[0], memory[0], state[0])  # type: ignore[index]


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.booleans())
def test_all_ripples_at_once_are_each_motors_own(seed: int, unknown: int, used: bool) -> None:
    desk, rng = Desk("finger_bench"), np.random.default_rng(seed)
    desk.model["use_ripple"] = used
    desk.state["motor_angle_rad"][0, :8] = rng.uniform(-20.0, 20.0, 8)
    desk.state["motor_speed_rad_s"][0, :8] = rng.uniform(-14.0, 14.0, 8)
    desk.state["ripple_unknown"][0] = 0
    desk.state["ripple_unknown"][0, unknown] = 1
    _all_ripples(desk.model, desk.controller, desk.state)
    for i in range(8):
        angle, speed = desk.state["motor_angle_rad"][0, i], desk.state["motor_speed_rad_s"][0, i]
        own = 0.0 if i == unknown else ripple_torque_nm(desk.model[0], i, angle, speed)
        assert desk.controller["ripple_nm"][0, i] == pytest.approx(own, abs=1e-15)


def test_a_harmonic_too_fast_for_the_cycle_fades_out() -> None:
    model = BENCH.copy()
    model["ripple_gain"] = 1.0
    fast_orders = model["ripple_order"][0] > 2.0
    assert fast_orders.any()
    model["ripple_amplitude_nm"][0, :, ~fast_orders] = 0.0
    angles = np.linspace(0.0, 0.2, 57)
    assert not any(ripple_torque_nm(model[0], 0, a, 14.0) for a in angles)
    slow = [abs(ripple_torque_nm(model[0], 0, a, 0.01)) for a in angles]
    assert max(slow) > 0.5 * model["ripple_amplitude_nm"][0, 0].max()


@given(
    st.lists(st.floats(0.0, 6.0), min_size=4, max_size=4),
    st.lists(st.floats(-20.0, 20.0), min_size=8, max_size=8),
    st.floats(5.0, 60.0),
)
def test_co_contraction_is_the_least_that_gives_the_stiffness(
    want: list[float], shift: list[float], least: float
) -> None:
    desk = Desk("finger_bench")
    desk.goal["joint_stiffness_nm_rad"][0, :4] = want
    P = M["P_tj_m"]
    shifts = np.zeros(len(P))
    shifts[:8] = shift
    goal = desk.goal[0]
    common = common_tension_n(M, goal, 0, P, shifts, least, 120.0)
    assert least <= common <= 120.0
    tension = np.clip(common + shifts[:8], M["tension_min_n"][:8], M["tension_max_n"][:8])
    stiffness = np.array([stiffness_of_force(M, t, tension[t]) for t in range(8)])
    have = np.einsum("tj,t,tj->j", P[:8, :4], stiffness, P[:8, :4])
    if common < 120.0 - 1e-3:
        assert np.all(have >= np.array(want) - 1e-9)
    if common > least + 1e-3:
        assert not stiff_enough(M, goal, 0, P, shifts, common - 1e-3)


@law
def _turn(model: object, rows: object, P: np.ndarray, finger: int, path: np.ndarray, out: np.ndarray) -> None:
    m, w = model[0], rows[0]  # type: ignore[index]
    place_rows(m, P, w)
    gather(m, finger, path, w.row)
    from_tendons(m, w, finger, w.row, out)


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_tendon_motion_made_by_the_joints_gives_the_joints_back(hand: str) -> None:
    """P^+ P = I, the thumb's pose dependent P included; round trip of field report B35."""
    model = model_record(hand)
    m = model[0]
    n = int(m["n_joints"])
    rng, rows = np.random.default_rng(0), new_controller_memory()
    for _ in range(10):
        q = np.zeros(len(m["joint_min_rad"]))
        span = m["joint_max_rad"] - m["joint_min_rad"]
        q[:n] = (m["joint_min_rad"] + rng.uniform(0.1, 0.6, len(q)) * span)[:n]
        P, dq, out = np.zeros_like(m["P_tj_m"]), np.zeros(len(q)), np.zeros(len(q))
        tendon_jacobian(m, q, P)
        dq[:n] = rng.normal(size=n)
        for f in range(int(m["n_fingers"])):
            _turn(model, rows, P, f, -(P @ dq), out)
        assert out[:n] == pytest.approx(dq[:n], abs=1e-10)
        h = [np.zeros(len(P)), np.zeros(len(P))]
        tendon_lengths(m, q + 1e-6 * dq, h[0])
        tendon_lengths(m, q - 1e-6 * dq, h[1])
        assert (h[0] - h[1]) / 2e-6 == pytest.approx(P @ dq, abs=1e-8)


@law
def _begin(model: object, memory: object, state: object) -> None:
    begin_feedback(model[0], memory[0], state[0], 0)  # type: ignore[index]


@law
def _feedback(model: object, memory: object, state: object) -> None:
    memory[0].feedback_share = share_of_measured(model[0])  # type: ignore[index]
    joint_feedback(model[0], memory[0], state[0], 0)  # type: ignore[index]


def test_the_feedback_angle_follows_the_motor_at_once_and_the_sensor_slowly() -> None:
    desk = Desk("finger_bench")
    desk.look()
    mem, s = desk.controller, desk.state
    place_rows(M, M["P_tj_m"], mem[0])
    _begin(desk.model, mem, s)
    start = s["joint_angle_rad"][0, :4].copy()
    turn = np.array([0.05, 0.1, -0.08, 0.03])
    s["motor_angle_rad"][0, :8] -= (M["P_tj_m"][:8, :4] @ turn) / M["spool_radius_m"][:8]
    _feedback(desk.model, mem, s)
    share = 1.0 - math.exp(-2.0 * math.pi * CROSSOVER_HZ * desk.dt_s)
    assert mem["feedback_rad"][0, :4] == pytest.approx(start + (1.0 - share) * turn, abs=1e-12)
    for _ in range(round(3.0 / desk.dt_s)):
        _feedback(desk.model, mem, s)
    assert mem["feedback_rad"][0, :4] == pytest.approx(start, abs=1e-9)
