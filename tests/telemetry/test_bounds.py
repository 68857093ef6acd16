"""Bounds of goals against what the hand does: no legal state lies outside of them, their ends are reached."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hand.assembly.assemble import model_of
from hand.file import load_hand, shipped_hands
from hand.mechanism_file import shipped_mechanism_hands
from mechanics.coupling import tendon_jacobian, tendon_lengths
from mechanics.springs import spring_at, spring_state
from mechanics.wrist import wrist_lengths
from runtime.mechanism_hand import load_mechanism_hand
from signals.modes import TendonKind
from signals.records import RecordArray
from telemetry.command.bounds import GAIN_TIMES, goal_bounds

MODELS = {name: model_of(load_hand(name)) for name in shipped_hands()}
both = pytest.mark.parametrize("name", list(MODELS))
SEEDS = st.integers(0, 2**32 - 1)


def jacobian(model: RecordArray, q: np.ndarray) -> np.ndarray:
    m = model[0]
    P, pose = np.zeros_like(m["P_tj_m"]), np.zeros(m["P_tj_m"].shape[1])
    pose[: len(q)] = q
    tendon_jacobian(m, pose, P)
    return P[: int(m["n_tendons"]), : int(m["n_joints"])]


def poses(model: RecordArray, finger: int) -> list[np.ndarray]:
    """The first two joints of a finger at their ends and quarters, all others straight."""
    m, found = model[0], []
    joints = m["finger_joint"][finger, : min(2, int(m["finger_n_joints"][finger]))]
    for shares in itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=len(joints)):
        q = np.zeros(int(m["n_joints"]))
        for j, share in zip(joints, shares, strict=True):
            q[j] = m["joint_min_rad"][j] + share * (m["joint_max_rad"][j] - m["joint_min_rad"][j])
        found.append(q)
    return found


@both
def test_ends_of_what_joints_bear_and_how_fast_they_move_are_those_of_their_tendons(name: str) -> None:
    """Tendon by tendon, each at the tension or speed that does most, at the pose where it does."""
    model = MODELS[name]
    m, bounds = model[0], goal_bounds(model)
    tendon_n_m = [stiffness_n_m(model, t) for t in range(int(m["n_tendons"]))]
    for f in range(int(m["n_fingers"])):
        for j in m["finger_joint"][f, : int(m["finger_n_joints"][f])]:
            low, high, fastest, stiffest = 0.0, 0.0, 0.0, 0.0
            for q in poses(model, f):
                down = up = stiff = 0.0
                speed = np.inf
                for t, arm in enumerate(jacobian(model, q)[:, j]):
                    if arm != 0.0:
                        ends = sorted(-arm * m[f"tension_{end}_n"][t] for end in ("min", "max"))
                        down, up = down + ends[0], up + ends[1]
                        winds = m["motor_speed_limit_rad_s"][m["tendon_motor"][t]] * abs(
                            m["spool_radius_m"][t]
                        )
                        speed = min(speed, winds / abs(arm))
                        stiff += arm**2 * tendon_n_m[t]
                low, high = min(low, down), max(high, up)
                fastest, stiffest = max(fastest, speed), max(stiffest, stiff)
            assert bounds.of("joint_torques", j) == pytest.approx((low, high))
            assert bounds.of("joint_speeds", j) == pytest.approx((-fastest, fastest))
            assert bounds.of("stiffnesses", j) == pytest.approx((0.0, stiffest), rel=1e-4)


def stiffness_n_m(model: RecordArray, t: int) -> float:
    """By a difference of the spring's own solution around the greatest tension."""
    m = model[0]
    low, high = 0.0, 0.02
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = spring_state(m, t, middle, 0.0, 0.0)[1] < m["tension_max_n"][t]
        low, high = (middle, high) if below else (low, middle)
    step = 1e-7
    one, other = (spring_state(m, t, low + sign * step, 0.0, 0.0)[1] for sign in (-1.0, 1.0))
    return float((other - one) / (2.0 * step))


@both
@given(SEEDS)
@example(4_000_000)
def test_no_pose_and_no_tensions_make_a_torque_that_is_refused(name: str, seed: int) -> None:
    model, rng = MODELS[name], np.random.default_rng(seed)
    m, bounds = model[0], goal_bounds(model)
    n, joints = int(m["n_tendons"]), int(m["n_joints"])
    q = rng.uniform(m["joint_min_rad"][:joints], m["joint_max_rad"][:joints])
    force = np.where(rng.random(n) < 0.5, m["tension_min_n"][:n], m["tension_max_n"][:n])
    torque = -jacobian(model, q).T @ force
    for j in range(joints):
        low, high = bounds.of("joint_torques", j)
        assert 1.02 * low <= torque[j] <= 1.02 * high


@pytest.mark.sample(4)
@both
def test_a_motor_may_go_as_far_as_joints_spring_tendon_and_wrist_take_it(name: str) -> None:
    model = MODELS[name]
    m, bounds = model[0], goal_bounds(model)
    n, joints = int(m["n_tendons"]), int(m["n_joints"])
    wrist = np.zeros((25 if m["n_axes"] else 1, n))
    if m["n_axes"]:
        axes = [np.linspace(m["axis_min_rad"][a], m["axis_max_rad"][a], 5) for a in range(2)]
        for k, (one, other) in enumerate(itertools.product(*axes)):
            wrist_lengths(m, float(one), float(other), wrist[k])
    now = np.linspace(-2.0, 2.0, len(m["motor_torque_limit_nm"]))
    for t in range(n):
        f, i = int(m["tendon_finger"][t]), int(m["tendon_motor"][t])
        paths = []
        for ends in itertools.product((0, 1), repeat=int(m["finger_n_joints"][f])):
            q, h = np.zeros(m["P_tj_m"].shape[1]), np.zeros(len(m["tendon_kind"]))
            for j, end in zip(m["finger_joint"][f], ends, strict=False):
                q[j] = m["joint_max_rad" if end else "joint_min_rad"][j]
            tendon_lengths(m, q, h)
            paths.append(h[t])
        k = m["tendon_spring"][t]
        levers = np.linspace(m["lever_min_rad"][k], m["lever_max_rad"][k], 200)
        spring = [spring_at(m, t, float(lever))[2] for lever in levers]
        stretch = float(m["tension_max_n"][t] * m["tendon_compliance_m_n"][t])
        way = np.ptp(paths) + np.ptp(spring) + np.ptp(wrist[:, t]) + stretch
        low, high = bounds.of("motors", i, now)
        travel = way / abs(float(m["spool_radius_m"][t]))
        if m["tendon_kind"][t] == TendonKind.INSERTION_POINTS:  # each joint with its greatest arm on the way
            arms = np.max([np.abs(jacobian(model, q)[t]) for q in poses(model, f)], axis=0)
            width = m["joint_max_rad"][:joints] - m["joint_min_rad"][:joints]
            travel += float((arms @ width - np.ptp(paths)) / m["spool_radius_m"][t])
        assert 0.5 * (high - low) == pytest.approx(travel, rel=1e-6)
        assert 0.5 * (low + high) == pytest.approx(now[i])
        assert bounds.of("motors", i) == pytest.approx((low - now[i], high - now[i]))
    assert joints == len([j for j in range(joints) if bounds.of("joint_speeds", j)[1] > 0.0])


@both
def test_what_the_hand_file_says_of_a_value_is_its_bound(name: str) -> None:
    m, bounds = MODELS[name][0], goal_bounds(MODELS[name])
    for j in range(int(m["n_joints"])):
        assert bounds.of("joints", j) == (m["joint_min_rad"][j], m["joint_max_rad"][j])
        assert bounds.of("impedances", j) == (0.0, GAIN_TIMES * m["joint_impedance_nm_rad"][j])
        assert bounds.of("dampings", j) == (0.0, GAIN_TIMES * m["joint_damping_nms_rad"][j])
    for t in range(int(m["n_tendons"])):
        assert bounds.of("tensions", t) == (m["tension_min_n"][t], m["tension_max_n"][t])
        assert bounds.of("tension_rates", t) == (-m["tension_rate_n_s"], m["tension_rate_n_s"])
    for i in range(int(m["n_motors"])):
        for argument, limit in (("motor_speeds", "speed_limit_rad_s"), ("motor_torques", "torque_limit_nm")):
            assert bounds.of(argument, i) == (-m[f"motor_{limit}"][i], m[f"motor_{limit}"][i])
    for a in range(int(m["n_axes"])):
        assert bounds.of("axes", a) == (m["axis_min_rad"][a], m["axis_max_rad"][a])
        assert bounds.of("axis_speeds", a) == (
            -m["axis_speed_limit_rad_s"][a],
            m["axis_speed_limit_rad_s"][a],
        )


def test_a_finger_carries_no_more_in_common_than_its_weakest_tendon_and_no_less_than_its_neediest() -> None:
    model = MODELS["hasy"].copy()
    m = model[0]
    m["tension_min_n"][5], m["tension_max_n"][23] = 9.0, 77.0
    bounds = goal_bounds(model)
    usual = (m["tension_min_n"][0], m["tension_max_n"][0])
    for f in range(int(m["n_fingers"])):
        own = m["finger_tendon"][f, : int(m["finger_n_tendons"][f])]
        assert bounds.of("pretension", f) == (9.0 if 5 in own else usual[0], 77.0 if 23 in own else usual[1])


@pytest.mark.parametrize("name", shipped_mechanism_hands())
def test_a_rigid_drive_pushes_as_well_as_it_pulls(name: str) -> None:
    """Without tendons a joint bears what its motors give through their arms, either way."""
    model = load_mechanism_hand(name).model
    m, bounds = model[0], goal_bounds(model)
    n = int(m["n_tendons"])
    for j in range(int(m["n_joints"])):
        most = 0.0
        for t in range(n):
            force = m["motor_torque_limit_nm"][m["tendon_motor"][t]] / m["spool_radius_m"][t]
            most += abs(m["P_tj_m"][t, j]) * (m["tension_max_n"][t] or force)
        if not m["tension_max_n"][:n].any():
            assert bounds.of("joint_torques", j) == pytest.approx((-most, most))
    for f in range(int(m["n_fingers"])):
        if int(m["finger_n_tendons"][f]) == 0:
            assert bounds.of("pretension", f) == (0.0, 0.0)


def test_parts_without_tendons_are_bounded_by_their_drives_or_not_moved_at_all() -> None:
    """Without tensions it is a rigid drive; a joint without tendons has no speed, a finger no tension."""
    model = MODELS["finger_bench"].copy()
    m = model[0]
    m["tension_max_n"][:8] = 0.0
    m["tension_max_n"][2], m["tension_min_n"][2] = 0.5, 0.25
    m["P_tj_m"][:8, 3] = 0.0
    bounds = goal_bounds(model)
    push = m["motor_torque_limit_nm"][m["tendon_motor"][:8]] / m["spool_radius_m"][:8]
    for j in range(4):
        low = high = 0.0
        for t in range(8):
            least, most = (0.25, 0.5) if t == 2 else (-push[t], push[t])
            ends = sorted(-m["P_tj_m"][t, j] * f for f in (least, most))
            low, high = low + ends[0], high + ends[1]
        assert bounds.of("joint_torques", j) == pytest.approx((low, high))
    assert bounds.of("joint_speeds", 3) == (0.0, 0.0)
    m["finger_n_tendons"][0] = 0
    assert goal_bounds(model).of("pretension", 0) == (0.0, 0.0)
