"""Whose goal it is: nobody's old goal moves a hand, a stop always acts, no answer promises too much."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from guard.machine import advance, take_request
from guard.memory import GUARD_MEMORY
from runtime.goals import GoalSource
from signals.faults import Cause
from signals.goal import default_goal
from signals.modes import MachineState, Mode, Request
from signals.records import FRAME, GOAL, STATE, new
from telemetry.command.lease import TTL_NS
from telemetry.command.server import CommandServer

MS = 1_000_000
START = 10**12


class Hand:
    """Desk, mailbox, goal desk and the real state machine, in one thread; time passes when it is told to."""

    def __init__(self, finger, segment, monkeypatch) -> None:
        monkeypatch.setattr("telemetry.command.server._TAKE_S", 0.0)
        self.finger, self.segment, self.now, self.tick = finger, segment, START, 0
        self.goal, self.state, self.memory = new(GOAL), new(STATE), np.zeros(1, GUARD_MEMORY)
        self.pose = np.zeros_like(self.state["joint_angle_rad"][0])
        first = default_goal(finger.model)
        self.goals = GoalSource(self.goal, self.state, first, segment=segment, start=False)
        self.restart_io()
        self.run(20)

    def restart_io(self) -> None:
        self.desk = CommandServer(self.finger.names, self.finger.model, self.segment, lambda *_: None)

    def run(self, ms: int) -> None:
        """Cycles of 1 ms."""
        for _ in range(ms):
            self.now += MS
            self.tick += 1
            self.state["tick"], self.state["time_ns"] = self.tick, self.now
            self.state["joint_angle_rad"][0] = self.pose
            self.goals.bring(self.now)
            m, goal, memory, state = self.finger.model[0], self.goal[0], self.memory[0], self.state[0]
            take_request(m, goal, memory, state)
            advance(m, goal, memory, state, True)
            frame = np.zeros(1, FRAME)
            frame["state"] = self.state
            self.desk.see(frame[0])
            self.desk.flush(self.now)

    def ask(self, op, lease=0, ms=3, **args):
        """Ask, then let a few cycles pass."""
        message = {"v": 1, "id": 7, "op": op, "lease": lease, "args": args}
        answer = msgspec.msgpack.decode(self.desk.handle(msgspec.msgpack.encode(message), self.now))
        self.run(ms)
        return answer

    def acquire(self, holder="a"):
        return self.ask("lease", do="acquire", holder=holder)["lease"]

    @property
    def machine(self) -> MachineState:
        return MachineState(int(self.state["machine"][0]))

    @property
    def pip(self) -> float:
        return float(self.goal["joint_angle_rad"][0, 2])


@pytest.fixture
def hand(finger, segment, monkeypatch):
    return Hand(finger, segment, monkeypatch)


def _active(hand, lease):
    assert hand.ask("arm", lease)["ok"]
    assert hand.ask("activate", lease)["ok"]
    assert hand.machine == MachineState.ACTIVE


def _abandoned(hand):
    """Client A sent one goal on the way and fell silent; the hand holds in between."""
    lease = hand.acquire("A")
    _active(hand, lease)
    assert hand.ask("goal", lease, joints={"index_pip": 1.4}, joint_torques={"index_pip": 0.1})["ok"]
    assert hand.pip == 1.4
    hand.pose[2] = 0.76
    hand.run(200)
    assert hand.machine == MachineState.HOLDING
    return lease


def test_an_abandoned_goal_is_not_revived_by_the_next_client(hand):
    _abandoned(hand)
    hand.run(TTL_NS // MS)
    lease = hand.acquire("B")
    assert hand.ask("mode", lease, fingers={"*": "joint_impedance"})["ok"]
    assert hand.ask("activate", lease)["ok"]
    assert hand.machine == MachineState.ACTIVE
    assert hand.pip == 0.76 and hand.goal["joint_torque_nm"][0, 2] == 0.0


def test_a_mode_keeps_no_goal_alive(hand):
    lease = hand.acquire()
    _active(hand, lease)
    assert hand.ask("goal", lease, joints={"index_pip": 1.4})["ok"]
    for _ in range(30):
        hand.ask("mode", lease, ms=10, fingers={"*": "joint_impedance"})
    assert hand.machine == MachineState.HOLDING


@pytest.mark.parametrize("way", ["holding", "lease", "take", "stop", "off", "arm"])
def test_what_is_not_named_again_starts_from_the_measured_pose(hand, way):
    """A partial goal after an interruption: the joint that it does not name stays where the hand is."""
    lease = hand.acquire("A")
    _active(hand, lease)
    assert hand.ask("goal", lease, joints={"index_pip": 1.4}, pretension={"index": 30.0})["ok"]
    hand.pose[2] = 0.76
    if way == "holding":
        hand.run(200)
    elif way == "lease":
        hand.ask("lease", lease, do="return")
        lease = hand.acquire("B")
    elif way == "take":
        lease = hand.ask("lease", do="take", holder="B", why="test")["lease"]
    else:
        assert hand.ask(way, lease)["ok"]
        if way == "stop":
            assert hand.machine == MachineState.FAULT
            assert hand.ask("rearm", lease)["ok"]
    assert hand.ask("goal", lease, joints={"index_dip": 0.2})["ok"]
    assert hand.ask("arm", lease)["ok"]
    assert hand.ask("activate", lease)["ok"]
    assert hand.pip == 0.76
    kept = float(hand.goal["pretension_n"][0, 0])
    assert kept == (hand.finger.model["pretension_n"][0, 0] if way in ("lease", "take") else 30.0)


def test_a_fresh_goal_is_kept_by_the_activation(hand):
    lease = hand.acquire()
    assert hand.ask("arm", lease)["ok"]
    assert hand.ask("goal", lease, joints={"index_pip": 0.5})["ok"]
    assert hand.ask("goal", lease, joints={"index_dip": 0.3})["ok"]
    assert hand.ask("activate", lease)["ok"]
    assert hand.pip == 0.5 and hand.goal["joint_angle_rad"][0, 3] == 0.3


def test_a_mode_set_before_the_activation_is_in_force(hand):
    lease = hand.acquire()
    assert hand.ask("mode", lease, fingers={"*": "tendon_force"})["ok"]
    _active(hand, lease)
    assert hand.goal["finger_mode"][0, 0] == Mode.TENDON_FORCE


@pytest.mark.parametrize("requests", [1, 2, 3])
def test_a_stop_acts_after_any_number_of_io_restarts(hand, requests):
    """However many requests the old process made, the new one's first stop has a number of its own."""
    hand.goals._starting = True
    hand.run(20)
    assert hand.machine == MachineState.ACTIVE
    lease = hand.acquire()
    for _ in range(requests):
        assert hand.ask("arm", lease)["ok"]
    for _ in range(3):
        hand.restart_io()
        assert hand.ask("stop")["ok"]
        assert hand.machine == MachineState.FAULT
        assert hand.state["hand_cause"][0] == Cause.OPERATOR_STOP
        hand.restart_io()
        assert hand.ask("rearm", hand.acquire())["ok"]
        assert hand.machine == MachineState.HOLDING


def test_a_stop_that_the_dead_io_process_left_in_the_mailbox_acts(hand):
    lease = hand.acquire()
    _active(hand, lease)
    hand.ask("stop", ms=0)
    hand.restart_io()
    hand.desk.handle(b"nonsense", hand.now)
    lease = hand.ask("lease", ms=0, do="acquire", holder="B")["lease"]
    hand.ask("goal", lease, ms=0, joints={"index_pip": 0.3})
    hand.desk.flush(hand.now)
    hand.run(3)
    assert hand.machine == MachineState.FAULT


def test_nothing_takes_the_place_of_a_stop_that_control_has_not_seen(hand):
    lease = hand.acquire()
    _active(hand, lease)
    assert hand.ask("stop", ms=0)["ok"]
    for op in ("arm", "activate", "rearm"):
        assert hand.ask(op, lease, ms=0)["error"]["code"] == "busy"
    hand.run(3)
    assert hand.machine == MachineState.FAULT


def test_activation_of_a_hand_that_is_not_armed_is_refused_with_its_state(hand):
    lease = hand.acquire()
    assert hand.machine == MachineState.READY
    answer = hand.ask("activate", lease)
    assert answer["error"]["code"] == "not_armed" and "ready" in answer["error"]["msg"]
    assert answer["state"]["machine"] == "ready"
    assert hand.ask("arm", lease, ms=0)["ok"]  # two in a row: the newest frame does not know of the first
    hand.goals.bring(hand.now)
    assert hand.ask("off", lease)["ok"]
    assert hand.ask("activate", lease)["error"]["code"] == "not_armed"
    _active(hand, lease)
    hand.ask("stop")
    for op in ("arm", "activate"):
        assert hand.ask(op, lease)["error"]["code"] == "in_fault"


def test_a_stop_of_a_ready_hand_leaves_it_ready_and_latches_nothing(hand):
    assert hand.ask("stop")["ok"]
    assert hand.machine == MachineState.READY and hand.state["hand_cause"][0] == 0


def test_a_request_alone_leaves_the_goal_of_control_as_it_is(hand):
    """A hand that started by itself holds its start pose, whatever else clients ask for."""
    hand.goals._starting = True
    hand.pose[2] = 0.4
    hand.run(20)
    assert hand.machine == MachineState.ACTIVE and hand.pip == 0.4
    lease = hand.acquire()
    assert hand.ask("rearm", lease)["ok"]
    hand.run(150)
    assert hand.machine == MachineState.ACTIVE and hand.pip == 0.4


def test_requests_have_numbers_of_their_own(hand):
    before = int(hand.goal["request_seq"][0])
    hand.goals.request(Request.ARM)
    assert int(hand.goal["request_seq"][0]) == before + 1
