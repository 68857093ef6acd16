"""Field report B21: a finger at its strength limit backs off, trips, and never pushes by itself again."""

from __future__ import annotations

import math

import numpy as np

from signals.faults import Cause
from signals.modes import FaultKind, MachineState, Request
from tests.rigs.driven import Driven

BLOCK_NM_RAD = 20.0
JOINT = 1  # flexion


def blocked(seconds: float) -> tuple[Driven, dict[str, float]]:
    """A finger against a block at zero while 20 deg further are wanted; worst figures of that time."""
    hand = Driven("finger_bench")
    hand.start(0.5)
    plant = hand.bus.model[0]
    plant["joint_max_rad"][JOINT] = 0.0
    plant["stop_stiffness_nm_rad"] = BLOCK_NM_RAD
    hand.goal("joint_angle_rad")[JOINT] = math.radians(20.0)
    worst = {"current_a": 0.0, "tension_n": 0.0, "winding_degc": 0.0}

    def watch(frames: np.ndarray) -> None:
        for key, column in (
            ("current_a", abs(frames["command"]["motor_current_a"])),
            ("tension_n", frames["truth"]["tension_n"]),
            ("winding_degc", frames["truth"]["winding_temperature_degc"]),
        ):
            worst[key] = max(worst[key], float(column.max()))

    hand.run(seconds, watch)
    return hand, worst


def test_a_blocked_finger_is_held_within_all_limits() -> None:
    hand, worst = blocked(15.0)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    m = hand.model[0]
    assert worst["current_a"] <= float(m["motor_current_limit_a"][0])
    assert worst["tension_n"] <= 135.0
    assert worst["winding_degc"] < float(m["winding_limit_degc"][0])
    # it does push: the block carries a torque
    assert hand.truth("joint_angle_rad")[JOINT] * BLOCK_NM_RAD > 0.2


def test_a_motor_that_trips_stays_off_until_an_explicit_rearm_and_nothing_slams_when_the_block_goes() -> None:
    hand, _ = blocked(1.0)
    motor = 1
    hand.inject(FaultKind.MOTOR_RESET, motor)
    hand.run(0.05)
    assert hand.causes == {"index": (Cause.MOTOR_RESET, motor)}
    hand.run(0.5)
    # the device comes back by itself: that alone moves nothing
    hand.rig.bus.recover()
    frames = hand.run(1.0)
    torque = frames["truth"]["motor_torque_nm"][1500:, : len(hand.names.motors)]
    assert abs(torque).max() < 0.02 and hand.machine is MachineState.FAULT
    hand.bus.model["joint_max_rad"][0, JOINT] = hand.model["joint_max_rad"][0, JOINT]
    freed = hand.run(0.5)
    # the tripped motor's gear still held its tendon; the joint comes to rest well before its own stop
    assert np.degrees(np.ptp(freed["truth"]["joint_angle_rad"][:, JOINT])) < 20.0
    assert abs(freed["truth"]["joint_speed_rad_s"][-300:, :4]).max() < 0.05
    # a re-arm holds the measured pose; the old goal, 20 deg away, is not taken up again
    hand.ask(Request.REARM)
    hand.run(0.05)
    assert hand.machine is MachineState.HOLDING and not hand.causes
    before = hand.truth("joint_angle_rad")[:4].copy()
    held = hand.run(0.5)
    assert np.degrees(abs(held["truth"]["joint_angle_rad"][:, :4] - before)).max() < 3.0


def test_what_a_block_takes_for_ever_is_less_than_the_winding_stands_for_ever() -> None:
    hand, worst = blocked(4.0)
    assert worst["current_a"] < hand.session.hand.file.motor.current_limit_continuous_a


def test_a_motor_that_trips_again_and_again_waits_for_the_operator_each_time_and_is_reported() -> None:
    hand, _ = blocked(0.5)
    n, motor, trips = len(hand.names.motors), 1, 3
    for _ in range(trips):
        hand.inject(FaultKind.MOTOR_RESET, motor)
        hand.run(0.3)
        assert hand.causes == {"index": (Cause.MOTOR_RESET, motor)}
        hand.rig.bus.recover()
        # answers again, and nothing is tried with it: no reboot-push cycle
        frames = hand.run(0.7)
        assert (frames["state"]["finger_state"][:, 0] == MachineState.FAULT).all()
        assert abs(frames["truth"]["motor_torque_nm"][-900:, :n]).max() < 0.02
        for wish in (Request.REARM, Request.ACTIVATE):
            hand.ask(wish)
            hand.run(0.1)
        assert hand.machine is MachineState.ACTIVE
    faults = hand.session.result().report["faults"]
    assert [(f["cause"], f["finger"], f["part"]) for f in faults] == [
        ("MOTOR_RESET", "index", hand.names.motors[motor])
    ] * trips
    assert all(hand.names.motors[motor] in f["text"] and f["hint"] for f in faults)


def test_a_motor_that_trips_in_motion_stops_its_finger_alone() -> None:
    hand = Driven("hasy", "open_close")
    hand.start(0.6)
    motor, finger = hand.names.motors.index("m_ring_4"), hand.names.fingers.index("ring")
    hand.inject(FaultKind.MOTOR_RESET, motor)
    frames = hand.run(1.0)
    assert hand.causes == {"ring": (Cause.MOTOR_RESET, motor)}
    state = frames["state"]["finger_state"][:, : len(hand.names.fingers)]
    assert (np.delete(state, finger, axis=1) == MachineState.ACTIVE).all()
    # they go on with the motion, not only in name
    q = frames["truth"]["joint_angle_rad"]
    for name in ("thumb", "index", "middle"):
        f = hand.names.fingers.index(name)
        joints = hand.model["finger_joint"][0, f, : hand.model["finger_n_joints"][0, f]]
        assert np.degrees(np.ptp(q[:, joints], axis=0)).max() > 5.0, name
    # and the tripped one has let go
    motors = hand.model["tendon_motor"][0, hand.model["finger_tendon"][0, finger][:8]]
    assert frames["truth"]["motor_torque_nm"][-300:, motors].max() < 0.02


def test_motion_after_a_rearm_starts_from_the_measured_pose_and_glides_to_its_goal() -> None:
    hand, _ = blocked(0.5)
    hand.inject(FaultKind.MOTOR_RESET, 1)
    hand.run(0.5)
    hand.rig.bus.recover()
    hand.bus.model["joint_max_rad"][0, JOINT] = hand.model["joint_max_rad"][0, JOINT]
    hand.run(0.1)
    hand.ask(Request.REARM)
    hand.run(0.1)
    start = hand.state("joint_angle_rad")[:4].copy()
    hand.ask(Request.ACTIVATE)
    frames = hand.run(1.5)
    ref = frames["state"]["ref_joint_angle_rad"][:, 1:4]
    active = frames["state"]["finger_state"][:, 0] == MachineState.ACTIVE
    first = int(active.argmax())
    assert active[first:].all()
    assert abs(ref[first] - start[1:]).max() < math.radians(1.0)
    # the reference glides: its speed stays below the 2 rad/s of a change-over
    assert abs(np.diff(ref[first + 1 :], axis=0)).max() * 3000.0 < 2.1
    assert hand.state("joint_angle_rad")[JOINT] > math.radians(17.0)
