"""A hand that stands on a mechanism: its tree, its power, its run."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

from drivers.errors import ConfigureError
from drivers.hal import Bus, MotorSetup
from hand.file import HandFileError
from hand.limb import ROLE
from hand.mechanism_file import read_mechanism_hand
from hand.options import RunOptions
from mechanics.carpal import CARPAL, carpal_motion
from mechanics.carpal_geometry import pose_of_legs
from mechanics.carried import lengths_at
from mechanics.dynamics.tree import NO_LOADS
from mechanics.frames import rotation_rpy
from mechanics.wrist_loop import palm_pose
from mechanics.wrist_motion import wrist_motion
from runtime.limb_hand import read_as_hand
from runtime.mechanism_hand import MechanismHandError, load_mechanism_hand
from runtime.session import run_lockstep
from signals.modes import BusStatus, ChannelStatus, MachineState, MotorMode
from signals.records import COMMAND, MEASUREMENT, new
from sim.limb.kick import limb_equations
from sim.limb.record import LimbError
from sim.mechanisms.carpal_wrist import LEGS
from sim.mechanisms.hand_on_arm import limb_bodies
from sim.mechanisms.hand_on_carpal import carpal_bodies
from sim.mechanisms.load import load_mechanism
from tests.rigs.limbs import Projected, bus_of, hand_named, limb_of

PERIOD_NS = 1_000_000
ARM_JOINTS = ("shoulder_1", "shoulder_2", "shoulder_3", "elbow", "pronation")


def parallelogram(m):
    """The reference hand's wrist for ``Projected``."""

    def subspace(q, qd):
        S, rate = np.zeros((6, 2)), np.zeros(6)
        wrist_motion(m, q[0], q[1], qd[0], qd[1], S, rate)
        pose = np.array(palm_pose(m, q[0], q[1]))
        linear_first = [3, 4, 5, 0, 1, 2]
        return pin.SE3(pose[:9].reshape(3, 3), pose[9:]), S[linear_first], rate[linear_first]

    return subspace


def canfield(file):
    """A carpal wrist for ``Projected``."""
    c = np.zeros(1, dtype=CARPAL)[0]
    c["r_m"], c["l_m"] = file.geometry.joint_radius_m, file.geometry.leg_m

    def subspace(q, qd):
        carpal_motion(c, q, qd)
        R, v = c["R"].copy(), c["Jv"] @ qd
        S = np.concatenate([R.T @ c["Jv"], R.T @ c["Jw"]])
        rate = np.concatenate([R.T @ (c["vd"] - np.cross(c["w"], v)), R.T @ c["wd"]])
        return pin.SE3(R, c["D"].copy()), S, rate

    return subspace


def limbs(name):
    """A limb: our tree, Pinocchio's, and a law that draws poses of it."""
    limb = limb_of(name)
    file, names, model = load_mechanism(limb.file.mechanism).file, limb.hand.names, limb.hand.model
    tree = limb.tree(model)
    armature = np.zeros(len(tree.dofs))
    if name == "hand_on_arm":
        carrier = load_mechanism("prosthesis_arm").file
        bodies, gravity = limb_bodies(file, carrier, model, names), carrier.gravity_m_s2
        subspace, joints = parallelogram(model[0]), ARM_JOINTS
        special, middle = names.axes, model[0]["wrist_neutral_rad"]
    else:
        carrier = load_mechanism("carpal_forearm").file
        bodies = carpal_bodies(file, carrier, model, names)
        gravity = np.array([-9.81, 0.0, 0.0])  # the forearm points upward
        subspace, joints, special, middle = canfield(carrier), LEGS, LEGS, 1.15
    for joint, motor in zip(joints, limb.file.motor, strict=True):
        armature[tree.dof(joint)] = motor.rotor_inertia_kg_m2
    columns = [tree.dof(s) for s in special]

    def draw(rng):
        q, qd = rng.uniform(-0.3, 0.6, tree.n_dofs), rng.normal(size=tree.n_dofs) * 2.0
        q[columns] = middle + rng.uniform(-0.15, 0.15, len(columns))
        return q, qd

    return tree, Projected(bodies, tree.dofs, gravity, subspace, armature), draw


@pytest.mark.parametrize("name", ["hand_on_arm", "hand_on_carpal"])
def test_the_equations_of_the_plant_equal_pinocchios(name):
    tree, twin, draw = limbs(name)
    g, work, rng, n = bus_of(name).limb[0], tree.work(), np.random.default_rng(5), tree.n_dofs
    tree.record["damping"] = tree.record["stop_stiffness"] = 0.0  # what Pinocchio's model does not have
    for _ in range(10):
        q, qd = draw(rng)
        g["tree_q"][:n], g["tree_qd"][:n] = q, qd
        limb_equations(tree.record, work, g, NO_LOADS, 0.0)
        M, h = twin.equations(q, qd)
        assert np.abs(g["M"][:n, :n] - M).max() < 1e-12 * np.abs(M).max()
        assert np.abs(g["bias"][:n] - h).max() < 1e-11 * np.abs(h).max()


def test_tendons_through_the_carpal_wrist_are_as_long_as_its_geometry_says():
    limb = limb_of("hand_on_carpal")
    model, file = limb.hand.model, load_mechanism(limb.file.mechanism).file
    tree, geometry = limb.tree(model), load_mechanism("carpal_forearm").file.geometry
    rng = np.random.default_rng(7)
    turn = rotation_rpy(np.radians(file.base.rotation_rpy_deg))
    onto = rotation_rpy(np.radians(file.palm.rotation_rpy_deg))
    for _ in range(5):
        q = 1.15 + rng.uniform(-0.3, 0.2, 3)
        pose = pose_of_legs(geometry.joint_radius_m, geometry.leg_m, q)
        palm = model["palm_point_m"][0, :38] @ onto.T + file.palm.position_m
        points = (palm @ pose.R.T + pose.D_m) @ turn.T + file.base.position_m
        expected = np.linalg.norm(points - model["forearm_point_m"][0, :38], axis=1)
        found = lengths_at(tree, "palm", model, dict(zip(LEGS, q, strict=True)))[:38]
        assert np.abs(found - expected).max() < 1e-15


def test_work_of_all_motors_is_stored_or_lost():
    """Arm motors and finger motors shaken, with friction, guides, springs: what goes in is somewhere."""
    gaps = []
    for substeps in (12, 24):
        bus = bus_of("hand_on_arm", sensors="ideal", substeps=substeps)
        bus.plant["energy_on"] = 1
        bus.activate()
        command, measurement, rows = new(COMMAND), new(MEASUREMENT), []
        command["motor_mode"], command["axis_enable"] = int(MotorMode.CURRENT), 1
        command["axis_angle_rad"] = bus.model["wrist_neutral_rad"]
        load = 0.2 / bus.model["motor_torque_constant_nm_a"][0, :38]
        for k in range(300):
            t = k * 1e-3
            command["motor_current_a"][0, :38] = load * (1.0 + 0.5 * np.sin(12.0 * t + np.arange(38)))
            command["motor_current_a"][0, 38:43] = 0.5 * np.sin(9.0 * t + np.arange(5))
            command["axis_angle_rad"][0, 0] = bus.model["wrist_neutral_rad"][0, 0] + 0.1 * np.sin(6.0 * t)
            assert bus.exchange(command, measurement, k * PERIOD_NS) == 0, bus.diagnosis
            if k > 0:
                rows.append([float(bus.truth[f"energy_{w}_j"][0]) for w in ("in", "stored", "lost")])
        given, stored, lost = np.array(rows).T
        gap = given - given[0] - (stored - stored[0]) - (lost - lost[0])
        moved = np.abs(np.diff(given)).sum() + np.abs(np.diff(stored)).sum()
        gaps.append(np.abs(gap).max() / moved)
        assert lost[-1] > 0.01 and np.ptp(bus.truth["joint_angle_rad"][0, 19:24]) > 0.02
    assert gaps[0] < 2e-3 and gaps[1] < 0.6 * gaps[0], gaps


def test_a_run_of_hand_and_arm_has_one_guard_one_goal_one_log():
    result = run_lockstep("hand_on_arm", motion="reach_and_close", seconds=2.0)
    report, names = result.report, result.rig.hand.names
    assert report["faults"] == [] and report["cycles"] == 2000
    state = result.frames["state"]
    assert (state["machine"][-1] == MachineState.ACTIVE).all()
    arm = [names.joints.index(j) for j in ARM_JOINTS]
    truth, wanted = result.frames["truth"]["joint_angle_rad"], state["ref_joint_angle_rad"]
    settled = result.seconds > 1.0
    assert np.degrees(np.abs(truth - wanted)[settled][:, arm].max()) < 0.5
    assert np.degrees(np.ptp(truth[:, names.joints.index("shoulder_2")])) > 15.0
    assert np.degrees(np.abs(truth - state["joint_angle_rad"])[settled][:, arm].max()) < 2e-3


WRONG = (
    ('name = "elbow"\nhome', 'name = "elbow_9"\nhome', HandFileError, "shoulder_1, shoulder_2, shoulder_3"),
    ("brake_nms_rad = 1000.0", "brake_nms_rad = -1.0", HandFileError, "brake_nms_rad: found -1.0"),
    ('kind = "inverse_dynamics"', 'kind = "muscle"', HandFileError, "controller"),
)


@pytest.mark.parametrize(("old", "wrong", "error", "message"), WRONG)
def test_wrong_files_are_refused(tmp_path, old, wrong, error, message):
    text = read_mechanism_hand("hand_on_arm").text
    assert old in text
    path = tmp_path / "limb.toml"
    path.write_text(text.replace(old, wrong, 1), encoding="utf-8")
    with pytest.raises(error, match=re.escape(message)):
        load_mechanism_hand(str(path))


def test_what_a_limb_cannot_do_is_refused_and_what_the_hand_can_is_not():
    with pytest.raises(MechanismHandError, match="--bus: not for a hand that stands on a mechanism"):
        read_as_hand(RunOptions(hand="hand_on_arm", bus="somewhere.toml"))
    with pytest.raises(LimbError, match="no object in reach"):
        run_lockstep("hand_on_arm", motion="grasp", seconds=1.0)
    changed = read_as_hand(RunOptions(hand="hand_on_arm", settings=("gains.guide_gain=0.5",), lockstep=True))
    assert changed.model["guide_gain"][0] == 0.5
    assert changed.sha256 != hand_named("hand_on_arm").sha256


@pytest.mark.parametrize("limb", ["hand_on_arm", "hand_on_carpal"])
def test_what_carries_a_hand_has_sensors_of_its_own_joints(limb):
    """No difference of forces between its rows, whatever the hand's tendons have."""
    hand = hand_named(limb)
    rows = int(hand.model["n_tendons"][0])
    assert rows > int(limb_of(limb).hand.model["n_tendons"][0])
    assert (hand.model["difference_to"][0, :rows] == -1).all()


def test_names_of_a_limb_are_the_hands_then_the_carriers():
    names, hand = hand_named("hand_on_arm").names, limb_of("hand_on_arm").hand.names
    assert names.joints == (*hand.joints, *ARM_JOINTS) and names.fingers == (*hand.fingers, "prosthesis_arm")
    assert names.joint_roles[-5:] == (ROLE,) * 5 and names.axes == hand.axes
    assert len(set(names.motor_ids)) == len(names.motors) == 43
    assert hand_named("hand_on_carpal").names.axes == ()


def test_the_bus_of_a_limb_keeps_its_contract():
    bus = bus_of("hand_on_arm")
    assert isinstance(bus, Bus) and bus.capabilities.lockstep and bus.capabilities.n_motors == 43
    command, measurement = new(COMMAND), new(MEASUREMENT)
    command["motor_mode"], command["motor_current_a"][0, 38:] = int(MotorMode.CURRENT), 1.0
    for k in range(3):
        assert bus.exchange(command, measurement, k * PERIOD_NS) == 0
    assert (measurement["motor_current_a"][0, 38:43] == 0.0).all()  # not activated: no current
    braked = bus.truth["joint_angle_rad"][0, 19:24].copy()
    assert np.abs(braked).max() < 1e-4
    bus.configure((MotorSetup(index=38, name="m_shoulder_1", current_limit_a=0.4),))
    bus.activate()
    for k in range(3, 6):
        bus.exchange(command, measurement, k * PERIOD_NS)
    assert measurement["motor_current_a"][0, 38:43].tolist() == [0.4, 1.0, 1.0, 1.0, 1.0]
    assert np.abs(bus.truth["joint_angle_rad"][0, 19:24] - braked).min() > 1e-6
    with pytest.raises(ConfigureError):
        bus.configure((MotorSetup(index=43, name="none", current_limit_a=1.0),))
    bus.limb["qd"][0, 3] = np.nan
    assert bus.exchange(command, measurement, 6 * PERIOD_NS) == int(BusStatus.LOST)
    assert "joint elbow of what carries the hand" in bus.diagnosis
    assert (measurement["motor_status"] & int(ChannelStatus.MISSING)).all()
