"""The equations of a simulated break against plain numpy: each step, its course, the reaction's torque.

What is asked of a step is that it solves its equation, not how; the spring is taken from its lever.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from guard.simulated_break import AWAY_RAD, LOOK_S, STEP_S, advance, begin_throw, throw
from mechanics.springs import elongation_of_lever
from tests.rigs.ahead import REST_NM, Ahead
from tests.rigs.desk import model_record

FloatArray = NDArray[np.float64]
JOINTS, TENDONS = 4, 8
seeds = st.integers(0, 10_000)


@cache
def springs() -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Of every tendon points of its lever [rad], its tension [N] and its elongation [m]."""
    m, found = model_record("finger_bench")[0], []
    for t in range(TENDONS):
        s = int(m["tendon_spring"][t])
        lever = np.linspace(m["lever_max_rad"][s], m["lever_min_rad"][s], 4001)
        force, length = np.array([elongation_of_lever(m, t, x) for x in lever]).T
        # at its stops the lever stands, and the tendon alone stretches
        hard = length[-1] + 100.0 * m["tendon_compliance_m_n"][t]
        lever, length = np.r_[lever[0], lever, lever[-1]], np.r_[0.0, length, hard]
        found.append((lever, np.r_[0.0, force, force[-1] + 100.0], length))
    return found


class Equations:
    """The bench's finger as a set of equations; a state is (q, qd, e, w)."""

    def __init__(self, finger: Ahead, lost: int) -> None:
        self.m, mem = finger.m, finger.mem
        self.kept = np.arange(TENDONS) != lost
        self.P = np.array(mem["look_P_m"][:TENDONS, :JOINTS])
        self.H = np.array(mem["look_H"][:JOINTS, :JOINTS])
        self.H = np.tril(self.H) + np.tril(self.H, -1).T
        motors, m = self.m["tendon_motor"][:TENDONS], self.m
        self.radius, self.inertia = m["spool_radius_m"][:TENDONS], m["motor_inertia_kg_m2"][motors]
        self.g1, self.g2 = m["friction_gamma_1_s_rad"][motors], m["friction_gamma_2_nm"][motors]
        self.g3 = m["friction_gamma_3_nms_rad"][motors]
        self.low, self.high = m["joint_min_rad"][:JOINTS], m["joint_max_rad"][:JOINTS]
        self.springs = springs()

    def tension_n(self, e: FloatArray) -> FloatArray:
        """Tensions [N] by interpolation of elongations."""
        found = [np.interp(x, length, force) for x, (_, force, length) in zip(e, self.springs, strict=True)]
        return np.where(self.kept & (e > 0.0), found, 0.0)

    def lever_rad(self, e: FloatArray) -> FloatArray:
        return np.array(
            [np.interp(x, length, lever) for x, (lever, _, length) in zip(e, self.springs, strict=True)]
        )

    def gear_nm(self, w: FloatArray) -> FloatArray:
        return self.g2 * np.arctan(self.g1 * w) + self.g3 * w

    def joint_damping_nms(self, qd: FloatArray) -> FloatArray:
        """Coulomb and viscous friction per speed at the speed before a step."""
        coulomb, viscous = self.m["joint_coulomb_nm"][:JOINTS], self.m["joint_viscous_nms_rad"][:JOINTS]
        return viscous + coulomb / np.sqrt(qd**2 + self.m["joint_friction_speed_rad_s"] ** 2)

    def guide_damping_ns(self, qd: FloatArray, tension: FloatArray) -> FloatArray:
        loss, v0 = self.m["guide_loss_frac"][:TENDONS], self.m["guide_speed_m_s"]
        resists = self.kept * (tension * loss + self.m["guide_bending_n"][:TENDONS])
        return np.asarray(resists / np.sqrt((self.P @ qd) ** 2 + v0**2))

    def stop_nm(self, beyond: FloatArray, qd: FloatArray) -> FloatArray:
        """Torque of the stops at angles beyond them."""
        push = self.m["stop_stiffness_nm_rad"] * beyond + self.m["stop_damping_nms_rad"] * qd
        return np.where(beyond != 0.0, -push, 0.0)

    def beyond_rad(self, q: FloatArray) -> FloatArray:
        return np.maximum(q - self.high, 0.0) + np.minimum(q - self.low, 0.0)

    def slope(self, y: FloatArray, torque: FloatArray) -> FloatArray:
        """Derivative of a state while the motors have torques [N m]."""
        q, qd, e, w = np.split(y, (JOINTS, 2 * JOINTS, 2 * JOINTS + TENDONS))
        tension = self.tension_n(e)
        pulls = self.P.T @ (tension + self.guide_damping_ns(qd, tension) * (self.P @ qd))
        moves = -pulls - self.joint_damping_nms(qd) * qd + self.stop_nm(self.beyond_rad(q), qd)
        moves -= self.m["joint_spring_nm_rad"][:JOINTS] * (q - self.m["joint_rest_rad"][:JOINTS])
        arms, preload = self.m["passive_arm_m"][:, :JOINTS], self.m["passive_preload_n"]
        moves -= arms.T @ np.maximum(preload + self.m["passive_stiffness_n_m"] * (arms @ q), 0.0)
        spin = (torque - self.gear_nm(w) - self.radius * tension) / self.inertia
        return np.concatenate((qd, np.linalg.solve(self.H, moves), self.P @ qd + self.radius * w, spin))

    def course(self, y: FloatArray, torque: FloatArray, seconds: float, step_s: float) -> FloatArray:
        """The state after a time: implicit Euler with the slope's own derivative, by differences."""
        for _ in range(round(seconds / step_s)):
            now = self.slope(y, torque)
            J = np.empty((len(y), len(y)))
            for k in range(len(y)):
                d = np.zeros(len(y))
                d[k] = 1e-7
                J[:, k] = (self.slope(y + d, torque) - now) / 1e-7
            y = y + np.linalg.solve(np.eye(len(y)) - step_s * J, step_s * now)
        return y


def scratch(finger: Ahead) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Copies of q, qd, e, w and torque of the scratch."""
    mem = finger.mem
    joints = [np.array(mem[name][:JOINTS]) for name in ("look_q_rad", "look_qd_rad_s")]
    motors = [np.array(mem[name][:TENDONS]) for name in ("look_e_m", "look_w_rad_s", "look_torque_nm")]
    return joints[0], joints[1], motors[0], motors[1], motors[2]


def anywhere(rng: np.random.Generator, lost: int) -> Ahead:
    """The bench's finger in any state of a throw: moving, tendons slack and taut, joints beyond stops."""
    finger = Ahead()
    low, high = finger.m["joint_min_rad"][:JOINTS], finger.m["joint_max_rad"][:JOINTS]
    finger.m["guide_bending_n"][:TENDONS] = rng.uniform(0.0, 1.0, TENDONS)
    finger.pose(rng.uniform(low + 0.05, high - 0.05)).pull(20.0).begin(lost)
    mem = finger.mem
    begin_throw(finger.m, mem, 0)
    mem["look_q_rad"][:JOINTS] = rng.uniform(low - 0.05, high + 0.05)
    mem["look_qd_rad_s"][:JOINTS] = rng.uniform(-8.0, 8.0, JOINTS) * rng.choice((0.01, 1.0), JOINTS)
    mem["look_e_m"][:TENDONS] = rng.uniform(-0.001, 0.007, TENDONS)
    mem["look_w_rad_s"][:TENDONS] = rng.uniform(-6.0, 6.0, TENDONS)
    mem["look_torque_nm"][:TENDONS] = rng.uniform(-1.0, 1.0, TENDONS)
    return finger


# --- a step -----------------------------------------------------------------------------------------------


@given(seeds, st.integers(0, TENDONS - 1))
def test_every_step_solves_its_equation(seed: int, lost: int) -> None:
    """Friction F v' / |v| and stops at the step's end; springs at its beginning; gears by their slope."""
    rng = np.random.default_rng(seed)
    finger = anywhere(rng, lost)
    eq, h = Equations(finger, lost), STEP_S
    q, qd, e, w, torque = scratch(finger)
    unwound, share = int(rng.integers(256)), float(rng.uniform(0.1, 1.0))
    assert advance(finger.m, finger.mem, 0, lost, unwound, True, share, REST_NM)
    q1, qd1, e1, w1, torque1 = scratch(finger)

    tension = eq.tension_n(e)
    pulls = eq.P.T @ (tension + eq.guide_damping_ns(qd, tension) * (eq.P @ qd1))
    beyond = eq.beyond_rad(q)
    stops = eq.stop_nm(np.where(beyond != 0.0, beyond + h * qd1, 0.0), qd1)
    missing = eq.H @ (qd1 - qd) / h + pulls + eq.joint_damping_nms(qd) * qd1 - stops
    assert np.abs(missing).max() < 2e-4 * max(np.abs(pulls).max(), np.abs(stops).max(), 0.1)
    assert q1 == pytest.approx(q + h * qd1, abs=1e-12)

    kept = eq.kept
    slope = (eq.gear_nm(w + 1e-6) - eq.gear_nm(w - 1e-6)) / 2e-6
    spun = torque1 - eq.gear_nm(w) - slope * (w1 - w) - eq.radius * tension
    assert (eq.inertia * (w1 - w) / h)[kept] == pytest.approx(spun[kept], abs=1e-4)
    assert w1[lost] == w[lost] and torque1[lost] == torque[lost], "nobody drives the lost one"
    assert e1 == pytest.approx(e + h * (eq.P @ qd1 + eq.radius * w1), abs=1e-12)
    change = float(finger.m["torque_rate_nm_s"]) * h
    assert np.all(np.abs(torque1 - torque) <= change * (1.0 + 1e-9))
    assert np.abs(torque1 - torque)[kept].max() == pytest.approx(change), "as fast as the hand's rate allows"
    taut = kept & (e > 0.0)
    lever = np.array(finger.mem["look_lever_rad"][:TENDONS])
    assert lever[taut] == pytest.approx(eq.lever_rad(e)[taut], abs=1e-4), "where the next search begins"


# --- its course -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "spring_nm_rad", "row_n_m"),
    [(0, 0.0, 0.0), (1, 0.0, 0.0), (4, 0.0, 0.0), (6, 0.0, 0.0), (1, 0.3, 0.0), (1, 0.0, 3000.0)],
)
def test_the_course_is_that_of_a_finer_integration(lost: int, spring_nm_rad: float, row_n_m: float) -> None:
    """Eight milliseconds that nobody has noticed, against steps twenty times as short.

    Without dry friction: as it is taken, by the speed before a step, it lags behind one that gathers way.
    """
    finger = Ahead().pose((0.0, 0.6, 0.6, 0.6)).pull(20.0).begin(lost)
    finger.m["joint_coulomb_nm"][:JOINTS] = finger.m["guide_loss_frac"][:TENDONS] = 0.0
    finger.m["joint_spring_nm_rad"][:JOINTS], finger.m["joint_rest_rad"][:JOINTS] = spring_nm_rad, -0.8
    finger.m["finger_loaded"][0] = spring_nm_rad + row_n_m > 0.0
    if row_n_m > 0.0:  # one over all joints, and one that is slack for a part of the way
        finger.m["n_passives"], finger.m["passive_stiffness_n_m"][:2] = 2, row_n_m
        finger.m["passive_arm_m"][:2, :JOINTS] = (0.0, 0.004, 0.006, 0.005), (0.0, -0.006, 0.0, 0.004)
        finger.m["passive_preload_n"][:2] = 10.0, 3.0
    begin_throw(finger.m, finger.mem, 0)
    eq = Equations(finger, lost)
    q, qd, e, w, torque = scratch(finger)
    y = eq.course(np.concatenate((q, qd, e, w)), torque, 0.008, STEP_S / 20.0)
    for _ in range(round(0.008 / STEP_S)):
        assert advance(finger.m, finger.mem, 0, lost, 0, False, 1.0, 0.0)
    went, fine = finger.mem["look_q_rad"][:JOINTS] - q, y[:JOINTS] - q
    assert np.abs(went - fine).max() < 0.1 * np.abs(fine).max()


# --- the reaction's torque --------------------------------------------------------------------------------


def torque_at_end(change: Any, **times: float) -> tuple[FloatArray, FloatArray]:
    """Torques [N m] after a throw that lets all but tendon 0 go, and the motors' limits.

    Gears and joints that nothing turns, so that no tendon gets slack, and drives without a torque rate.
    """
    finger = Ahead().pose((0.0, 0.6, 0.6, 0.6)).pull(20.0)
    finger.m["motor_inertia_kg_m2"][:TENDONS], finger.m["torque_rate_nm_s"] = 1e6, 1e9
    finger.m["joint_viscous_nms_rad"][:JOINTS] = 1e6
    change(finger.m)
    finger.begin(0)
    asked = {"react_s": 0.0045, "urgent_s": 0.02, "ramp_s": 0.1, "rest_nm": 0.0} | times
    assert throw(finger.m, finger.mem, 0, 0, 0xFE, *asked.values())
    assert not finger.mem["look_slack"][:TENDONS].any()
    own = finger.m["tendon_motor"][1:TENDONS]
    return np.array(finger.mem["look_torque_nm"][1:TENDONS]), np.array(finger.m["motor_torque_limit_nm"][own])


@given(react_s=st.floats(0.0, 0.05), urgent_s=st.floats(0.001, 0.2), ramp_s=st.floats(0.02, 0.5))
def test_a_released_motor_has_full_torque_for_a_time_and_then_less(
    react_s: float, urgent_s: float, ramp_s: float
) -> None:
    """The last step begins a step before the end: there the torque is that of the schedule."""
    torque, limit = torque_at_end(lambda m: None, react_s=react_s, urgent_s=urgent_s, ramp_s=ramp_s)
    past = LOOK_S - STEP_S - react_s - urgent_s
    assert torque == pytest.approx(-limit * min(max(1.0 - past / ramp_s, 0.0), 1.0), abs=1e-9)


def test_what_goes_on_unwinding_is_a_torque_and_no_motor_gets_more_than_its_own_limit() -> None:
    """Drives of three sizes in one finger; the ramp is over long before the end."""

    def mixed(m: Any) -> None:
        m["motor_torque_limit_nm"][m["tendon_motor"][:3]] = 0.5 * REST_NM, 2.0 * REST_NM, 0.8 * REST_NM

    torque, limit = torque_at_end(mixed, ramp_s=0.01, rest_nm=REST_NM)
    assert torque == pytest.approx(-np.minimum(REST_NM, limit))
    assert len(set(torque)) == 2


@pytest.mark.parametrize("react_s", [0.5 * LOOK_S, 2.0 * LOOK_S])
def test_before_anybody_has_noticed_the_torques_stay(react_s: float) -> None:
    torque, limit = torque_at_end(lambda m: None, react_s=react_s)
    held = torque == pytest.approx(0.01 * 20.0)
    assert held if react_s > LOOK_S else torque == pytest.approx(-limit * (1.0 - (0.029 / 0.1)))


# --- two in a row -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), [(0, 3), (3, 0), (1, 2), (2, 1), (4, 5), (5, 4), (6, 7), (7, 6)]
)
def test_two_breaks_in_a_row_are_what_each_is_alone(first: int, second: int) -> None:
    """The first throws a joint far from its stop; the second begins beside that stop, which it cannot hit."""

    def beside_its_stop(finger: Ahead) -> tuple[FloatArray, ...]:
        q = np.array((0.0, 0.6, 0.6, 0.6))
        P = finger.pose(q).P[second]
        x = int(np.argmax(np.abs(P)))
        stop, inwards = ("joint_max_rad", -1.0) if P[x] > 0.0 else ("joint_min_rad", 1.0)
        q[x] = finger.m[stop][x] + inwards * 0.5 * AWAY_RAD
        finger.pose(q).pull(20.0).begin(second)
        return (finger.throw(0), *scratch(finger))

    finger = Ahead().pose((0.0, 0.6, 0.6, 0.6)).pull(20.0).begin(first)
    finger.throw(0)
    assert finger.mem["look_away_rad"][:JOINTS].max() > AWAY_RAD
    after, alone = beside_its_stop(finger), beside_its_stop(Ahead())
    assert all(np.array_equal(a, b) for a, b in zip(after, alone, strict=True))


def test_a_look_is_the_same_a_second_time_also_where_tendons_got_slack() -> None:
    finger = Ahead().pose((0.0, 0.6, 0.6, 0.6)).pull(20.0).begin(0)
    finger.throw(0xFE)
    first = scratch(finger)
    assert finger.mem["look_slack"][1:TENDONS].any()
    finger.throw(0xFE)
    assert all(np.array_equal(a, b) for a, b in zip(first, scratch(finger), strict=True))
