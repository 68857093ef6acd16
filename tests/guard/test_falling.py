"""What leads a finger down while a joint of it still moves into a stop close by: held, or driven."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.falling import DRIVEN_RAD_S, DRIVES, FALLS_S, HOLDS, NOTHING, part_in_fall
from guard.letting_go import let_go_nm
from guard.reaction import begin_reaction
from guard.urgent import NEAR_STOP_RAD
from signals.faults import Cause
from signals.modes import MachineState
from tests.rigs.bare import Bare

ENDS = (1.0, -1.0)


class Falling(Bare):
    """A finger in fault at 20 N whose joints are in the middle of their ranges, at rest."""

    def __init__(self) -> None:
        super().__init__()
        self.detect()
        self.joints = int(self.m["finger_n_joints"][0])
        self.P = self.mem["P_tj_m"][:8, : self.joints]
        self.low, self.high = (self.m[f"joint_{end}_rad"][: self.joints].copy() for end in ("min", "max"))
        self.s["joint_angle_rad"][: self.joints] = 0.5 * (self.low + self.high)
        self.s["joint_speed_rad_s"][: self.joints] = 0.0
        self.s["finger_state"][0] = int(MachineState.FAULT)
        self.s["finger_cause"][0], self.s["finger_cause_part"][0] = int(Cause.MOTOR_BLOCKED), 0
        self.s["tendon_stiffness_n_m"][:8] = 7000.0
        begin_reaction(self.m, self.mem, self.z, self.s, 0)

    def move(self, joint: int, sign: float, speed: float, way: float) -> None:
        """Towards its upper (1) or lower (-1) stop, from a way before it."""
        self.s["joint_angle_rad"][joint] = self.high[joint] - way if sign > 0 else self.low[joint] + way
        self.s["joint_speed_rad_s"][joint] = sign * speed

    def parts(self) -> list[int]:
        return [part_in_fall(self.m, self.mem, self.s, 0, t) for t in range(8)]


@given(
    joint=st.integers(0, 3),
    sign=st.sampled_from(ENDS),
    speed=st.floats(-5.0, 5.0),
    way=st.floats(-0.1, 0.6),
)
def test_by_the_coupling_and_the_joint_one_holds_and_one_drives(
    joint: int, sign: float, speed: float, way: float
) -> None:
    """By virtual work: a pull f does -P f dq on a joint; what it does against the motion holds it back."""
    finger = Falling()
    finger.move(joint, sign, speed, way)
    towards = sign if speed > 0.0 else -sign
    room = finger.high[joint] - finger.low[joint]
    left = way if speed > 0.0 else room - way
    for t, part in enumerate(finger.parts()):
        work = -finger.P[t, joint] * towards
        near = left < NEAR_STOP_RAD
        if near and abs(speed) > float(finger.m["stop_speed_rad_s"]) and work < 0.0:
            assert part == HOLDS
        elif near and abs(speed) > DRIVEN_RAD_S and work > 0.0:
            assert part == DRIVES
        else:
            assert part == NOTHING


def test_what_drives_one_joint_and_holds_another_holds() -> None:
    finger = Falling()
    for t in range(8):
        joints = np.flatnonzero(finger.P[t])
        if len(joints) < 2:
            continue
        held, driven = joints[:2]
        finger.move(held, float(np.sign(finger.P[t, held])), 0.4, 0.05)
        finger.move(driven, -float(np.sign(finger.P[t, driven])), 5.0, 0.05)
        assert finger.parts()[t] == HOLDS
        finger.move(held, float(np.sign(finger.P[t, held])), 0.2, 0.05)
        assert finger.parts()[t] == DRIVES
        return
    pytest.fail("no tendon turns two joints")


@pytest.mark.parametrize("sign", ENDS)
@pytest.mark.parametrize("joint", range(4))
def test_what_drives_a_fall_is_let_go_with_all_that_a_release_has_for_a_moment(
    joint: int, sign: float
) -> None:
    finger = Falling()
    finger.move(joint, sign, 2.0, 0.05)
    most = -float(finger.m["release_torque_nm"])
    drives = [part == DRIVES for part in finger.parts()]
    assert any(drives) and not all(drives)
    for age_s, now in ((0.0, True), (0.99 * FALLS_S, True), (1.01 * FALLS_S, False)):
        finger.mem["fault_age_s"][0] = age_s
        torques = [let_go_nm(finger.m, finger.mem, finger.s, 0, t) for t in range(8)]
        assert all((torque == most) is (now and hard) for torque, hard in zip(torques, drives, strict=True))
    finger.mem["fault_age_s"][0], finger.mem["probe_phase"][0] = 0.1, 1
    assert most not in [let_go_nm(finger.m, finger.mem, finger.s, 0, t) for t in range(8)], "as chosen there"


def test_it_goes_on_by_the_same_time_table_afterwards() -> None:
    """What was let go too far is held until the others have come as far."""
    finger, other = Falling(), Falling()
    finger.move(3, 1.0, 2.0, 0.05)
    for _ in range(30):
        for bench in (finger, other):
            for t in range(8):
                let_go_nm(bench.m, bench.mem, bench.s, 0, t)
    assert finger.mem["release_n"][:8] == pytest.approx(other.mem["release_n"][:8])


def test_what_is_down_is_let_go_no_further() -> None:
    finger = Falling()
    finger.move(3, 1.0, 2.0, 0.05)
    finger.mem["released_s"][:8] = 1.0
    assert [let_go_nm(finger.m, finger.mem, finger.s, 0, t) for t in range(8)] == [0.0] * 8
