"""The carpal wrist: geometry, derivatives, singular poses, and MuJoCo's loop-closed model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.carpal import LEG_X, LEG_Y, carpal_motion
from mechanics.carpal_dynamics import carpal_acceleration, carpal_energy_j, carpal_torque
from mechanics.carpal_geometry import CarpalError, legs_of_pose, pose_of_legs, workspace
from tests.rigs.mechanism_cases import TH, THD, wrist

R_M, L_M = 0.05, 0.09
E = np.column_stack([LEG_X, LEG_Y, np.zeros(3)])
Z = np.array([0.0, 0.0, 1.0])
ANGLES = st.lists(st.floats(0.5, 1.3), min_size=3, max_size=3).map(np.array)
RATES = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(np.array)


def state(th, thd):
    record = wrist()
    carpal_motion(record[0], th, thd)
    return record[0]


@given(ANGLES)
def test_the_distal_plate_is_the_mirrored_base_plate(th):
    c = state(th, np.zeros(3))
    base, distal = R_M * E, c["D"] + R_M * E @ c["R"].T
    legs = np.linalg.norm(c["M"] - base, axis=1), np.linalg.norm(c["M"] - distal, axis=1)
    assert np.abs(np.array(legs) - L_M).max() < 1e-15
    # both revolute joints keep the leg in its radial plane
    radial = np.cross(E, Z)
    assert np.abs(np.sum((c["M"] - distal) * (radial @ c["R"].T), axis=1)).max() < 1e-15
    tilt = np.diag((1.0, 1.0, -1.0))
    assert np.abs(c["R"] - (np.eye(3) - 2.0 * np.outer(c["N"], c["N"])) @ tilt).max() < 1e-15
    assert np.abs(c["R"] @ c["R"].T - np.eye(3)).max() < 4e-15 and np.linalg.det(c["R"]) > 0.0


@given(ANGLES)
def test_rotation_has_no_twist(th):
    pose = pose_of_legs(R_M, L_M, th)
    a, b = pose.alpha_rad, pose.beta_rad
    turn = lambda x: np.array([[np.cos(x), -np.sin(x), 0.0], [np.sin(x), np.cos(x), 0.0], [0.0, 0.0, 1.0]])  # noqa: E731
    nod = np.array([[np.cos(b), 0.0, np.sin(b)], [0.0, 1.0, 0.0], [-np.sin(b), 0.0, np.cos(b)]])
    assert np.abs(turn(a) @ nod @ turn(-a) - pose.R).max() < 1e-14


@given(ANGLES)
def test_inverse_pose_undoes_the_pose(th):
    pose = pose_of_legs(R_M, L_M, th)
    assert np.abs(legs_of_pose(R_M, L_M, pose.alpha_rad, pose.beta_rad, pose.p_m) - th).max() < 1e-12


@given(ANGLES, RATES)
def test_velocities_and_accelerations_are_derivatives(th, thd):
    h = 1e-5
    c = state(th, thd).copy()
    ahead, behind = state(th + h * thd, thd).copy(), state(th - h * thd, thd).copy()
    for name, rate in (("N", c["J"][:2] @ thd), ("D", c["Jv"] @ thd)):
        k = slice(0, 2) if name == "N" else slice(None)
        assert np.abs((ahead[name][k] - behind[name][k]) / (2 * h) - rate).max() < 1e-8
    spin = (ahead["R"] - behind["R"]) / (2 * h) @ c["R"].T
    assert np.abs(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) - c["w"]).max() < 1e-8
    assert np.abs((ahead["w"] - behind["w"]) / (2 * h) - c["wd"]).max() < 1e-7
    assert np.abs((ahead["Jv"] @ thd - behind["Jv"] @ thd) / (2 * h) - c["vd"]).max() < 1e-7


def test_printed_angular_velocity_has_an_extra_spin_and_printed_beta_rate_is_wrong():
    c = state(TH, THD)
    N, Nd = c["N"], c["J"] @ THD
    square = N[0] ** 2 + N[1] ** 2
    alpha, alpha_rate = np.arctan2(N[1], N[0]), (N[0] * Nd[1] - N[1] * Nd[0]) / square
    root = np.sqrt(square * (1.0 - square))
    beta_rate = 2.0 * (N[0] * Nd[0] + N[1] * Nd[1]) / root
    printed_beta_rate = (N[0] * Nd[0] - N[1] * Nd[1]) / root
    assert abs(printed_beta_rate - 0.4570) < 5e-5
    direction = np.array([-np.sin(alpha), np.cos(alpha), 0.0])
    right = beta_rate * direction + alpha_rate * (Z - c["R"] @ Z)
    assert np.abs(right - c["w"]).max() < 1e-12
    printed = beta_rate * direction + alpha_rate * Z
    assert np.abs(printed - c["w"] - alpha_rate * c["R"] @ Z).max() < 1e-12
    assert abs(printed[2] + 0.934) < 5e-4


@given(ANGLES, RATES)
def test_inverse_dynamics_undoes_forward_dynamics(th, thd):
    record, out, back = wrist(), np.zeros(3), np.zeros(3)
    motor = np.array([0.5, -0.3, 0.8])
    carpal_acceleration(record, th, thd, motor, 0.0, out)
    carpal_torque(record, th, thd, out, back)
    assert np.abs(back - motor).max() < 1e-12


def test_equations_follow_from_the_energy():
    record = wrist()
    h = 1e-5

    def lagrangian(th, thd):
        kinetic, potential = carpal_energy_j(record, th, thd)
        return kinetic - potential

    def momentum(th, thd):
        return np.array(
            [(lagrangian(th, thd + e) - lagrangian(th, thd - e)) / (2 * h) for e in h * np.eye(3)]
        )

    out = np.zeros(3)
    carpal_acceleration(record, TH, THD, np.zeros(3), 0.0, out)
    A = record[0]["A"].copy()
    force = np.array([(lagrangian(TH + e, THD) - lagrangian(TH - e, THD)) / (2 * h) for e in h * np.eye(3)])
    drift = (momentum(TH + h * THD, THD) - momentum(TH - h * THD, THD)) / (2 * h)
    assert np.abs(A @ out - (force - drift)).max() < 1e-6


LEG = """
<body name="basal{i}" pos="{ax} {ay} 0">
  <joint name="base{i}" axis="{nx} {ny} 0"/>
  <inertial pos="{hx} {hy} 0" mass="1e-9" diaginertia="1e-13 1e-13 1e-13"/>
</body>"""
DISTAL = """
<body name="distal{i}" pos="{ax} {ay} 0">
  <joint name="far{i}" axis="{mx} {my} 0"/>
  <inertial pos="{hx} {hy} 0" mass="1e-9" diaginertia="1e-13 1e-13 1e-13"/>
</body>"""


def closed_chain():
    """The wrist in MuJoCo: plate as a free body, six hinges, three points to be kept together."""
    c = wrist()[0]
    legs, far = "", ""
    for i in range(3):
        e = E[i]
        fill = {"i": i, "ax": R_M * e[0], "ay": R_M * e[1], "nx": e[1], "ny": -e[0], "mx": -e[1], "my": e[0]}
        fill |= {"hx": L_M / 2 * e[0], "hy": L_M / 2 * e[1]}
        legs += LEG.format(**fill)
        far += DISTAL.format(**fill)
    inertia = c["inertia_kg_m2"]
    full = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    com = " ".join(map(str, c["com_m"]))
    tool = f'<inertial pos="{com}" mass="{c["mass_kg"]}" fullinertia="{" ".join(map(str, full))}"/>'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler boundmass="0"/><option gravity="0 0 -9.81"/><worldbody>{legs}'
        f'<body name="plate"><freejoint/>{tool}{far}</body></worldbody></mujoco>'
    )


def closed_state(model, th, thd):
    """MuJoCo's state for leg angles and rates."""
    c = state(th, thd)
    data = mujoco.MjData(model)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, c["R"].ravel())
    values = {f"{side}{i}": (th[i], thd[i]) for side in ("base", "far") for i in range(3)}
    for name, (q, qd) in values.items():
        joint = model.joint(name).id
        data.qpos[model.jnt_qposadr[joint]], data.qvel[model.jnt_dofadr[joint]] = q, qd
    plate = model.body("plate").jntadr[0]
    p, v = model.jnt_qposadr[plate], model.jnt_dofadr[plate]
    data.qpos[p : p + 3], data.qpos[p + 3 : p + 7] = c["D"], quaternion
    data.qvel[v : v + 3], data.qvel[v + 3 : v + 6] = c["Jv"] @ thd, c["R"].T @ c["w"]
    return data


def closure(model, data):
    """Gaps of the three middle joints and their Jacobian."""
    gaps, rows = [], []
    for i in range(3):
        points, jacobians = [], []
        for side in ("basal", "distal"):
            body = model.body(f"{side}{i}").id
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ (L_M * E[i])
            J = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, J, None, point, body)
            points.append(point)
            jacobians.append(J)
        gaps.append(points[0] - points[1])
        rows.append(jacobians[0] - jacobians[1])
    return np.concatenate(gaps), np.vstack(rows)


def test_accelerations_equal_mujocos_tree_with_exactly_closed_loops():
    model = closed_chain()
    rng = np.random.default_rng(9)
    record, ours = wrist(), np.zeros(3)
    worst = 0.0
    for _ in range(20):
        th, thd, motor = TH + rng.uniform(-0.2, 0.2, 3), rng.normal(size=3), rng.normal(size=3)
        data = closed_state(model, th, thd)
        mujoco.mj_forward(model, data)
        gap, J = closure(model, data)
        assert np.abs(gap).max() < 1e-14 and np.abs(J @ data.qvel).max() < 1e-13
        nv = model.nv
        M = np.zeros((nv, nv))
        mujoco.mj_fullM(model, data, M)
        h, rate = 1e-6, []
        for sign in (1.0, -1.0):
            moved = mujoco.MjData(model)
            moved.qpos[:] = data.qpos
            mujoco.mj_integratePos(model, moved.qpos, data.qvel, sign * h)
            mujoco.mj_kinematics(model, moved)
            mujoco.mj_comPos(model, moved)
            rate.append(closure(model, moved)[1])
        bias = (rate[0] - rate[1]) / (2 * h) @ data.qvel
        torque = -data.qfrc_bias
        hinges = [model.joint(f"base{i}").dofadr[0] for i in range(3)]
        torque[hinges] += motor
        K = np.block([[M, J.T], [J, np.zeros((9, 9))]])
        theirs = np.linalg.solve(K, np.concatenate([torque, -bias]))[hinges]
        carpal_acceleration(record, th, thd, motor, 0.0, ours)
        worst = max(worst, np.abs(ours - theirs).max() / np.abs(theirs).max())
    assert worst < 1e-7, worst


def test_poses_that_cannot_be_are_refused_with_what_to_change():
    with pytest.raises(
        CarpalError, match=r"leg 2 of 0.0900 m is too short .* it needs 0.1289 m; lengthen the legs"
    ):
        legs_of_pose(R_M, L_M, 0.0, 1.0, 0.12)
    with pytest.raises(CarpalError, match="below 180 deg"):
        legs_of_pose(R_M, L_M, 0.0, np.pi, 0.05)
    with pytest.raises(CarpalError, match=r"leg link 0.0 m is not positive"):
        pose_of_legs(R_M, 0.0, TH)
    with pytest.raises(CarpalError, match="is stretched"):
        pose_of_legs(R_M, L_M, np.full(3, np.pi / 2.0))
    with pytest.raises(CarpalError, match="nothing is reachable"):
        workspace(R_M, L_M, 1.55, 1.6, steps=3, least_margin=0.9)


def test_workspace_is_symmetric_under_a_third_of_a_turn():
    space = workspace(0.06, 0.1, np.radians(30.0), np.radians(70.0), steps=5)
    assert 0.5 < space.share <= 1.0 and space.beta_rad.max() < np.pi / 2
    points = space.D_m
    turn = np.array([[-0.5, -np.sqrt(0.75), 0.0], [np.sqrt(0.75), -0.5, 0.0], [0.0, 0.0, 1.0]])
    turned = points @ turn.T
    distance = np.abs(points[:, None, :] - turned[None, :, :]).max(axis=2).min(axis=1)
    assert distance.max() < 1e-12
