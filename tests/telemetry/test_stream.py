"""Poses of a moving person: smooth, bounded, on a clock of their own; whatever comes, the goal stays sane."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals.modes import MachineState
from signals.records import FRAME
from telemetry.command.playout import STRETCH, TURN_S, Playout
from telemetry.command.server import CommandServer

AGE_S = 0.1
LOW, HIGH, FASTEST = np.array([-0.5, 0.0]), np.array([1.5, 1.7]), np.array([6.0, 9.0])
RAMP_S = 0.5


def _playout(start=(0.0, 0.5), period_s=1 / 60, **more):
    options = {"period_s": period_s, "ramp_s": RAMP_S, "jump_rad": 0.6, "oldest_s": AGE_S} | more
    return Playout(np.array(start), LOW, HIGH, FASTEST, 0.0, **options)


def _wave(t):
    """What the person does; its greatest speeds stay below FASTEST."""
    return np.array([0.5 + 0.8 * math.sin(4.0 * t), 0.8 + 0.6 * math.cos(3.0 * t)])


def _play(playout, arrivals, until_s, read_every_s=TURN_S):
    """Reads of a stream whose samples (sender's time, pose) come at given times; time, pose, speed by row."""
    arrivals, rows = sorted(arrivals, key=lambda a: a[0]), []
    for k in range(1, round(until_s / read_every_s)):
        now = k * read_every_s
        while arrivals and arrivals[0][0] <= now:
            _, t, pose = arrivals.pop(0)
            playout.put(t, np.array(pose), now)
        pose, speed = playout.read(now)
        rows.append((now, pose.copy(), speed.copy()))
    return rows


@pytest.mark.parametrize("rate_hz", [30.0, 60.0, 120.0, 200.0])
@pytest.mark.parametrize("offset_s", [0.0, -1.7e9, 12_345.6])
def test_a_steady_sender_is_followed_smoothly_and_late_by_what_is_told(rate_hz, offset_s):
    rng = np.random.default_rng(1)
    playout = _playout(period_s=1 / rate_hz)
    sent = [(t := k / rate_hz, t + 0.003 + 0.004 * rng.random()) for k in range(int(4 * rate_hz))]
    rows = _play(playout, [(arrived, t + offset_s, _wave(t)) for t, arrived in sent], 4.0)
    settled = [row for row in rows if row[0] > 2.5]
    way_s = 0.003  # the shortest way of a sample: nobody can tell it from an offset
    assert 1 / rate_hz <= playout.delay_s <= 1 / rate_hz + 0.004 + 2 * TURN_S + 0.002
    for now, pose, _ in settled:
        t = now - playout.delay_s - way_s
        # a cubic with backward slopes errs by a quarter of h^2 times the acceleration; a turn of the clock
        h = 1 / rate_hz
        error = 0.26 * h**2 * np.array([12.8, 5.4]) + np.array([3.2, 1.8]) * (TURN_S + 0.001)
        assert (np.abs(pose - _wave(t)) <= error).all()
    steps = np.diff([pose for _, pose, _ in settled], axis=0) / TURN_S
    speeds = np.array([speed for _, _, speed in settled])[:-1]
    assert np.abs(np.diff(steps, axis=0)).max() < 12.8 * h * (1 + STRETCH) + 0.6  # no stairs
    assert np.abs(speeds - steps).max() < 12.8 * (h + TURN_S) + 0.6  # the speed leads where the pose goes
    assert playout.late == playout.jumps == 0


def test_the_hand_is_taken_from_where_it_is_by_a_ramp():
    playout = _playout(start=(-0.4, 1.6))
    rows = _play(playout, [(k / 60, k / 60, (1.2, 0.1)) for k in range(90)], 1.4)
    pose = np.array([p for _, p, _ in rows])
    assert np.abs(pose[0] - [-0.4, 1.6]).max() < 1e-3
    fastest = np.abs(np.diff(pose, axis=0)).max() / TURN_S
    assert fastest <= 1.875 * 1.6 / RAMP_S + 1e-6 < FASTEST[0] + 1.0  # minimum jerk's own greatest speed
    assert np.allclose(pose[-1], [1.2, 0.1])
    early = pose[: round(0.4 * RAMP_S / TURN_S)]
    assert np.abs(early[:, 0] + 0.4).max() < 0.35 * 1.6


def test_one_mad_sample_is_passed_over_and_a_new_pose_is_reached_by_a_new_ramp():
    playout = _playout(start=(0.0, 0.5))
    still = [(k / 60, k / 60, (0.0, 0.5)) for k in range(1, 240)]
    still[60] = (*still[60][:2], (1.4, 0.5))
    rows = _play(playout, still, 2.0)
    assert playout.jumps == 1 and np.abs([p[0] for _, p, _ in rows]).max() < 1e-9
    there = [(k / 60, k / 60, (1.2, 0.5)) for k in range(121, 240)]
    playout = _playout(start=(0.0, 0.5))
    rows = _play(playout, still[:30] + still[70:119] + there, 3.5)
    angle = np.array([p[0] for _, p, _ in rows])
    assert playout.jumps == 2  # the first, and the one that confirms it
    assert abs(angle[-1] - 1.2) < 1e-9
    assert np.diff(angle).max() / TURN_S <= 1.875 * 1.2 / RAMP_S + 1e-6


def test_late_and_doubled_samples_count_for_nothing():
    playout = _playout()
    assert playout.put(5.0, _wave(0.0), 0.010)
    assert not playout.put(5.0, _wave(0.3), 0.020)  # the same again
    assert not playout.put(4.9, _wave(0.3), 0.030)  # an older one
    assert playout.put(5.05, _wave(0.05), 0.060)
    assert not playout.put(5.1, _wave(0.1), 0.3)  # on its way for longer than a goal lives
    assert playout.late == 3 and playout.fresh_s == 0.060
    assert playout.put(5.28, _wave(0.28), 0.31)


def test_a_sender_that_slows_down_gets_a_longer_delay_and_loses_it_again():
    playout = _playout(period_s=1 / 100)
    fast = [(k / 100, k / 100) for k in range(1, 200)]
    slow = [(2.0 + k / 20, 2.0 + k / 20) for k in range(40)]
    again = [(4.0 + k / 100, 4.0 + k / 100) for k in range(400)]
    seen = {}
    arrivals = [(a, t, _wave(0.2 * t)) for a, t in fast + slow + again]
    for end in (1.9, 3.9, 7.9):
        probe = _playout(period_s=1 / 100)
        _play(probe, arrivals, end)
        seen[end] = probe.delay_s
    assert seen[1.9] < 0.03 and 0.05 <= seen[3.9] <= 0.07 and seen[7.9] < 0.03
    assert playout.jumps == 0


_samples = st.lists(
    st.tuples(
        st.floats(0.0, 1.0),
        st.floats(-1e11, 1e11) | st.floats(0.0, 1.0),
        st.tuples(st.floats(-6.3, 6.3), st.floats(-6.3, 6.3)),
    ),
    max_size=60,
)


@given(_samples, st.tuples(st.floats(-0.6, 1.6), st.floats(-0.1, 1.8)))
def test_whatever_comes_the_goal_moves_within_its_speeds_and_range(samples, start):
    playout = _playout(start=start)
    before = playout.pose_rad
    for now, pose, speed in _play(playout, samples, 1.5):
        assert (np.abs(pose - before) <= FASTEST * TURN_S * (1 + 1e-9) + 1e-12).all(), now
        assert (pose >= LOW - 1e-12).all() and (pose <= HIGH + 1e-12).all()
        assert (np.abs(speed) <= FASTEST).all()
        assert 0.0 <= playout.delay_s <= AGE_S
        assert len(playout._samples) <= len(samples)
        before = pose


# ------------------------------------------------------------------ through the server, as a client asks


class Desk:
    """A command server with a lease and a hand that is active."""

    def __init__(self, finger, segment) -> None:
        self.server = CommandServer(finger.names, finger.model, segment, lambda *note: None)
        self.now_ns, self.tick, self.finger = 10**12, 0, finger
        self.lease = self.ask("lease", do="acquire", holder="test")["lease"]
        self.machine(MachineState.ACTIVE)
        self.server.client_goal.start(self.now_ns)

    def machine(self, state, angle=0.2) -> None:
        frame = np.zeros(1, FRAME)[0]
        self.tick += 1
        frame["state"]["tick"], frame["state"]["machine"] = self.tick, int(state)
        frame["state"]["joint_angle_rad"] = angle
        self.server.see(frame)

    def ask(self, op, **args):
        message = {"v": 1, "id": 1, "op": op, "lease": getattr(self, "lease", 0), "args": args}
        return msgspec.msgpack.decode(self.server.handle(msgspec.msgpack.encode(message), self.now_ns))

    def send(self, seconds, angle, rate_hz=60.0, **more):
        """Poses for some time; returns the last answer."""
        joint, answer = self.finger.names.joints[2], {}
        for _ in range(round(seconds * rate_hz)):
            self.pass_s(1 / rate_hz)
            answer = self.ask("stream", do="send", t=self.now_ns * 1e-9, joints={joint: angle}, **more)
        self.server.flush(self.now_ns)
        return answer

    def pass_s(self, seconds) -> None:
        end_ns = self.now_ns + round(seconds * 1e9)
        while self.now_ns < end_ns:
            self.now_ns = min(self.now_ns + 4_000_000, end_ns)
            self.server.flush(self.now_ns)

    @property
    def goal(self):
        return self.server.goal[0]


@pytest.fixture
def desk(finger, segment, monkeypatch):
    monkeypatch.setattr("telemetry.command.server._TAKE_S", 0.0)
    return Desk(finger, segment)


def test_a_stream_begins_at_the_measured_pose_and_ends_where_it_is(desk, finger):
    desk.pass_s(0.2)  # the activation's own goal is too old by now
    begun = desk.ask("stream", do="begin", rate_hz=60, ramp_s=0.5)
    assert begun["ok"] and begun["stream"]["share"] == 0.0
    told = desk.send(0.1, 0.9)["stream"]
    assert 0.2 < desk.goal["joint_angle_rad"][2] < 0.4 and 0.0 < told["share"] < 0.4
    assert desk.goal["joint_angle_rad"][0] == pytest.approx(0.2)  # nobody named it
    told = desk.send(0.9, 0.9)["stream"]
    assert desk.goal["joint_angle_rad"][2] == pytest.approx(0.9) and told["share"] == 1.0
    assert desk.goal["time_ns"] == desk.now_ns
    joint = finger.names.joints[2]
    ended = desk.ask("stream", do="end")
    assert ended["stream"]["joints"] == {joint: pytest.approx(0.9)}
    assert desk.goal["joint_speed_rad_s"][2] == 0.0
    assert desk.ask("stream", do="send", t=1.0, joints={joint: 0.1})["error"]["code"] == "no_stream"


def test_a_sender_that_falls_silent_loses_the_hand_as_with_any_goal(desk):
    desk.ask("stream", do="begin")
    desk.send(0.8, 0.6)
    last_ns = desk.now_ns
    desk.pass_s(0.5)
    assert desk.goal["time_ns"] == last_ns  # nothing keeps it young: the guard holds the hand
    desk.machine(MachineState.HOLDING)
    answer = desk.send(0.02, 0.6)
    assert answer["error"]["code"] == "no_stream" and "came 0.10 s before" in answer["error"]["msg"]
    assert desk.ask("stream", do="begin")["error"]["code"] == "not_active"


@pytest.mark.parametrize("ends", ["stop", "off", "rearm"])
def test_what_takes_the_hand_away_ends_the_stream(desk, ends):
    desk.ask("stream", do="begin")
    desk.send(0.2, 0.6)
    desk.ask(ends)
    before = desk.goal["joint_angle_rad"].copy()
    assert desk.send(0.1, 1.2)["error"]["code"] == "no_stream"
    assert (desk.goal["joint_angle_rad"] == before).all()


@pytest.mark.parametrize("between", ["stop", "take"])
def test_a_stream_does_not_outlive_a_break_by_the_goal_that_comes_after_it_in_the_same_turn(
    desk, finger, between
):
    desk.ask("stream", do="begin")
    desk.send(0.2, 0.6)
    if between == "take":
        desk.lease = desk.ask("lease", do="take", holder="another", why="test")["lease"]
    else:
        desk.ask("stop")
        desk.server.client_goal.start(desk.now_ns)
    assert desk.ask("goal", joints={finger.names.joints[0]: 0.3})["ok"]
    before = desk.goal["joint_angle_rad"].copy()
    desk.now_ns += 4_000_000
    desk.server.flush(desk.now_ns)
    assert (desk.goal["joint_angle_rad"] == before).all()
    assert desk.send(0.02, 0.6)["error"]["code"] == "no_stream"


def test_a_goal_for_a_streamed_joint_ends_the_stream_and_one_for_gains_does_not(desk, finger):
    joint = finger.names.joints[2]
    desk.ask("stream", do="begin")
    desk.send(0.2, 0.6)
    assert desk.ask("goal", impedances={joint: 0.01})["ok"]
    assert desk.send(0.1, 0.6)["ok"]
    assert desk.ask("goal", joints={joint: 0.3})["ok"]
    answer = desk.send(0.1, 0.6)
    assert answer["error"]["code"] == "no_stream" and "a goal named" in answer["error"]["msg"]
    assert desk.goal["joint_angle_rad"][2] == 0.3


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"do": "send", "t": math.nan, "joints": {"index_pip": 0.1}}, "not_finite"),
        ({"do": "send", "t": 1.7e18, "joints": {"index_pip": 0.1}}, "not_finite"),
        ({"do": "send", "joints": {"index_pip": 0.1}}, "not_finite"),
        ({"do": "send", "t": 1e3, "joints": {"index_pip": math.nan}}, "not_finite"),
        ({"do": "send", "t": 1e3, "joints": {"index_pip": 57.3}}, "out_of_range"),
        ({"do": "send", "t": 1e3, "joints": {"index_pipp": 0.1}}, "unknown_name"),
        ({"do": "send", "t": 1e3}, "bad_args"),
        ({"do": "send", "t": 1e3, "tensions": {}}, "bad_args"),
        ({"do": "begin", "rate_hz": math.nan}, "out_of_range"),
        ({"do": "begin", "rate_hz": 1.0}, "out_of_range"),
        ({"do": "begin", "ramp_s": 0.0}, "out_of_range"),
        ({"do": "begin", "speed_rad_s": -1.0}, "out_of_range"),
        ({"do": "begin", "speed_rad_s": math.nan}, "out_of_range"),
        ({"do": "bogin"}, "bad_args"),
    ],
)
def test_a_wrong_request_is_refused_and_changes_nothing(desk, args, code):
    desk.ask("stream", do="begin")
    desk.send(0.6, 0.5)
    before, playout = desk.goal["joint_angle_rad"].copy(), desk.server.streaming._playout
    wanted = playout.wanted_rad.copy()
    assert desk.ask("stream", **args)["error"]["code"] == code
    assert desk.server.streaming._playout is playout and (playout.wanted_rad == wanted).all()
    assert (desk.goal["joint_angle_rad"] == before).all()
    assert desk.send(0.1, 0.5)["ok"]


def test_a_sender_so_slow_that_its_first_delay_ends_the_stream_is_refused_at_its_begin(desk, finger):
    slowest_hz = 2.0 / float(finger.model["command_age_s"][0])
    refused = desk.ask("stream", do="begin", rate_hz=0.99 * slowest_hz)
    assert refused["error"]["code"] == "out_of_range" and f"{slowest_hz:.4g}" in str(refused["error"])
    assert desk.ask("stream", do="begin", rate_hz=slowest_hz)["ok"]
    rng = np.random.default_rng(1)
    for _ in range(60):  # as late as a whole period, again and again
        desk.pass_s((1.0 + 0.95 * rng.choice([-1, 1])) / slowest_hz)
        assert desk.ask("stream", do="send", t=desk.now_ns * 1e-9, joints={"index_pip": 0.5})["ok"]


def test_a_pose_beyond_the_range_is_held_at_its_end_and_told(desk, finger):
    desk.ask("stream", do="begin", ramp_s=0.3)
    highest = finger.model["joint_max_rad"][0, 2]
    answer = desk.send(1.5, float(highest) + 0.4)
    assert answer["stream"]["clamped"] == [finger.names.joints[2]]
    assert desk.goal["joint_angle_rad"][2] == pytest.approx(highest)


def test_a_stream_keeps_to_the_slower_of_the_hands_speed_and_its_own(desk, finger):
    for wanted, limit in ((0.5, 0.5), (1e3, float(finger.model["joint_speed_max_rad_s"][0, 2]))):
        desk.ask("stream", do="begin", ramp_s=0.2, speed_rad_s=wanted)
        steps, before = [], float(desk.goal["joint_angle_rad"][2])
        for k in range(60):
            desk.send(0.02, 0.2 if k % 20 < 10 else 0.7, rate_hz=50.0)
            steps.append(abs(float(desk.goal["joint_angle_rad"][2]) - before) / 0.02)
            before = float(desk.goal["joint_angle_rad"][2])
        assert max(steps) <= limit * (1 + 1e-6)
        assert max(steps) > 0.5 * min(limit, 5.0) * 0.9
