"""A hand whose drives take angles: it moves, holds, is blocked, lets go; what it cannot do is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hand.file.errors import MotionFileError
from hand.motion.load import parse_motion
from signals.faults import Cause
from signals.goal import default_goal
from signals.modes import MachineState, Mode, MotorMode, Reaction, Request
from telemetry.command.requests import GoalArgs, ModeArgs, Refusal, apply_goal, apply_mode
from tests.rigs.driven import Driven
from tests.rigs.servo_hands import SERVO, with_servos

FLEXION = 1
STUCK = 1
"""A motor that winds for the flexion."""
BLOCK_NM_RAD = 200.0
ONLY_ANGLES = SERVO.replace('"current_position"', '"position"').replace('"speed", "current", ', "")


@pytest.fixture
def hand(tmp_path: Path) -> Driven:
    return servo_hand(tmp_path)


def servo_hand(tmp_path: Path, drive: str = SERVO, rate_hz: float = 200.0) -> Driven:
    path = tmp_path / "servo_bench.toml"
    path.write_text(with_servos(drive, rate_hz))
    return Driven(str(path))


@pytest.mark.parametrize("rate_hz", [50.0, 200.0, 1000.0])
@pytest.mark.parametrize("drive", [SERVO, ONLY_ANGLES], ids=["angle and current", "angle alone"])
def test_joints_go_where_they_are_asked_to(tmp_path: Path, drive: str, rate_hz: float) -> None:
    hand = servo_hand(tmp_path, drive, rate_hz)
    hand.start(1.0)
    wanted = np.radians([5.0, 40.0, 30.0, 20.0])
    hand.goal("joint_angle_rad")[:4] = wanted
    frames = hand.run(1.5)
    assert not hand.causes
    assert np.degrees(abs(hand.truth("joint_angle_rad")[:4] - wanted)).max() < 3.0
    c, m = frames["command"], hand.model[0]
    assert (c["motor_mode"][-1, :8] == MotorMode.POSITION).all()
    step = abs(np.diff(c["motor_angle_rad"][:, :8], axis=0)).max()
    assert step <= m["motor_speed_limit_rad_s"][0] / rate_hz * (1.0 + 1e-9), "a set-point has a rate"


def test_the_greatest_current_follows_from_the_tension_bounds(hand: Driven) -> None:
    hand.start(0.5)
    m = hand.model[0]
    friction = 0.5 * math.pi * m["friction_gamma_2_nm"][0]
    torque = min(m["spool_radius_m"][0] * m["tension_max_n"][0] + friction, m["motor_torque_limit_nm"][0])
    frames = hand.run(0.2)
    sent = frames["command"]["motor_current_a"][-1, :8] * m["motor_torque_constant_nm_a"][0]
    assert sent == pytest.approx(torque, rel=1e-12) and torque < m["motor_torque_limit_nm"][0]


def test_a_finger_against_a_stop_pushes_within_all_bounds_and_is_at_no_fault(hand: Driven) -> None:
    hand.start(0.5)
    hand.bus.model["joint_max_rad"][0, FLEXION] = 0.0
    hand.bus.model["stop_stiffness_nm_rad"] = BLOCK_NM_RAD
    hand.goal("joint_angle_rad")[FLEXION] = math.radians(60.0)
    frames = hand.run(4.0)
    assert hand.machine == MachineState.ACTIVE and not hand.causes
    m, truth = hand.model[0], frames["truth"]
    most = abs(frames["command"]["motor_current_a"][:, :8]) * m["motor_torque_constant_nm_a"][:8]
    assert (abs(truth["motor_torque_nm"][1:, :8]) <= most[:-1] * (1.0 + 1e-9) + 1e-9).all()
    balance_n = most.max() / m["spool_radius_m"][0]
    assert truth["tension_n"][-1, :8].max() <= balance_n * (1.0 + 1e-3), "but for the last creeping"
    assert truth["tension_n"][:, :8].max() < m["tension_limit_n"][0]
    assert truth["tension_n"][-1, :8].max() > 0.9 * m["tension_max_n"][0], "it does push"
    assert abs(truth["joint_speed_rad_s"][-1, FLEXION]) < 0.05


@pytest.mark.parametrize("drive", [SERVO, ONLY_ANGLES], ids=["angle and current", "angle alone"])
def test_a_stuck_gear_is_named_and_the_finger_let_go_in_an_act(tmp_path: Path, drive: str) -> None:
    hand = servo_hand(tmp_path, drive)
    hand.start(0.5)
    hand.model["finger_reaction"][0, 0] = Reaction.RELEASE
    hand.bus.model["friction_gamma_2_nm"][0, STUCK] = 1e6
    hand.goal("joint_angle_rad")[FLEXION] = math.radians(60.0)
    frames = hand.run(2.5)
    assert hand.state_of() == MachineState.FAULT and hand.causes == {"index": (Cause.MOTOR_BLOCKED, STUCK)}
    fault = int(np.argmax(frames["state"]["finger_state"][:, 0] == MachineState.FAULT))
    assert fault / 200.0 < 1.2, "half a second after it could be seen"
    frames = frames[fault:]
    current, tension = abs(frames["command"]["motor_current_a"][:, :8]), frames["truth"]["tension_n"][:, :8]
    assert (np.diff(current, axis=0) <= 0.0).all() and np.diff(current, axis=0).min() > -0.1 * current[
        0
    ].max()
    assert (frames["command"]["motor_mode"][-1, :8] == MotorMode.OFF).all() and not current[-1].any()
    assert tension[-1].max() < 0.5 * tension[0].max()
    assert (
        abs(frames["truth"]["joint_speed_rad_s"][:, :4]).max() < hand.model["motor_speed_limit_rad_s"][0, 0]
    )


def test_a_stop_holds_what_is_and_a_rearm_moves_nothing(hand: Driven) -> None:
    hand.start(0.5)
    hand.goal("joint_angle_rad")[FLEXION] = math.radians(40.0)
    hand.run(1.5)
    hand.ask(Request.STOP)
    hand.run(0.3)
    before = hand.truth("joint_angle_rad")[:4].copy()
    hand.goal("joint_angle_rad")[FLEXION] = 0.0
    frames = hand.run(1.0)
    goals = frames["command"]["motor_angle_rad"][:, :8]
    assert np.ptp(goals, axis=0).max() < 1e-6, "a held goal is frozen"
    assert np.degrees(abs(hand.truth("joint_angle_rad")[:4] - before)).max() < 1.0
    hand.ask(Request.REARM)
    hand.run(0.5)
    assert hand.machine == MachineState.HOLDING
    assert np.degrees(abs(hand.truth("joint_angle_rad")[:4] - before)).max() < 1.5


WISHES = {
    "joint_torques": {"index_flexion": 0.1},
    "tensions": {"index_1": 20.0},
    "tension_rates": {"index_1": 1.0},
    "motor_torques": {"m_index_1": 0.1},
    "impedances": {"index_flexion": 1.0},
    "dampings": {"index_flexion": 0.01},
    "stiffnesses": {"index_flexion": 0.5},
}


@pytest.mark.parametrize("argument", sorted(WISHES))
def test_a_wish_for_forces_is_refused_with_the_reason(hand: Driven, argument: str) -> None:
    goal = default_goal(hand.model)
    with pytest.raises(Refusal, match="take angles") as refusal:
        apply_goal(GoalArgs(**{argument: WISHES[argument]}), hand.names, hand.model, goal)
    assert refusal.value.code == "not_offered"
    bench = Driven("finger_bench")
    assert apply_goal(GoalArgs(**{argument: WISHES[argument]}), bench.names, bench.model, goal) == 1


def test_modes_of_forces_are_refused_by_the_server_and_in_motions(tmp_path: Path, hand: Driven) -> None:
    goal = default_goal(hand.model)
    for mode in Mode:
        args = ModeArgs(fingers={"index": mode.name.lower()})
        if mode in (Mode.MOTOR_TORQUE, Mode.TENDON_FORCE, Mode.JOINT_TORQUE):
            with pytest.raises(Refusal, match="needs drives that take currents"):
                apply_mode(args, hand.names, hand.model, goal)
            text = f'description = "x"\nmode = "{mode.name.lower()}"\n'
            with pytest.raises(MotionFileError, match="drives take angles"):
                parse_motion(text + "tracks = []\n", "m.toml", "m", hand.names, hand.model)
        else:
            assert apply_mode(args, hand.names, hand.model, goal) == 1
