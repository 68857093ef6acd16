"""Commands (field reports B56, B59): whole or not at all, one commander, always an answer."""

from __future__ import annotations

import math
import time
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.options import RunOptions
from runtime.setup import read_hand
from signals.modes import Mode
from signals.records import FRAME
from telemetry.command.bounds import goal_bounds
from telemetry.command.lease import TTL_NS
from telemetry.command.requests import GOAL_FIELDS
from telemetry.command.server import CommandServer, hand_file_of
from telemetry.publish.messages import ViewMessage

NOW = 10**12


def _ask(desk, op, lease=0, now=NOW, **args):
    message = {"v": 1, "id": 7, "op": op, "lease": lease, "args": args}
    return msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), now))


@pytest.fixture
def notes():
    return []


@pytest.fixture
def desk(finger, segment, notes, monkeypatch):
    monkeypatch.setattr("telemetry.command.server._TAKE_S", 0.0)  # no control process takes them here
    return CommandServer(finger.names, finger.model, segment, lambda *note: notes.append(note))


@pytest.fixture
def lease(desk):
    return _ask(desk, "lease", do="acquire", holder="test")["lease"]


_SPACES = {key: space for key, (_, space) in GOAL_FIELDS.items() if space != "axis"}
_BAD = [math.nan, math.inf, -math.inf, 1e308, "text", None, True, [[1.0]], {"a": 1.0}]


@pytest.mark.parametrize("bad", _BAD, ids=repr)
@pytest.mark.parametrize("key", _SPACES)
def test_one_bad_value_among_good_ones_changes_nothing(desk, lease, finger, key, bad):
    names = finger.names.of(_SPACES[key])
    before = desk.goal.tobytes()
    good_value = 10.0 if key in ("tensions", "pretension") else 1e-3
    values = dict.fromkeys(names[:-1], good_value) | {names[-1]: bad}
    good = {"joints": {finger.names.joints[0]: 0.1}} if key != "joints" else {}
    answer = _ask(desk, "goal", lease, **{key: values}, **good)
    assert not answer["ok"]
    number = isinstance(bad, float)
    code = ("out_of_range" if math.isfinite(bad) else "not_finite") if number else "bad_args"
    assert answer["error"]["code"] == code and answer["error"]["msg"]
    assert desk.goal.tobytes() == before
    assert desk.refused == 1


@pytest.mark.parametrize(
    ("op", "wrong", "right"),
    [("goal", "joint", "joints"), ("goal", "tension", "tensions"), ("mode", "finger", "fingers")],
)
def test_an_argument_that_does_not_exist_is_refused_with_the_nearest(desk, lease, op, wrong, right):
    answer = _ask(desk, op, lease, **{wrong: {}})
    assert answer["error"]["code"] == "bad_args"
    assert wrong in answer["error"]["msg"] and f"did you mean '{right}'" in answer["error"]["hint"]


def test_minus_zero_and_a_good_goal_are_taken(desk, lease, finger, segment):
    joints = dict.fromkeys(finger.names.joints, 0.05) | {finger.names.joints[0]: -0.0}
    answer = _ask(desk, "goal", lease, joints=joints)
    assert answer["ok"] and answer["changed"] == len(joints)
    desk.flush(NOW)
    posted = segment.field("goal_words").view(desk.goal.dtype)
    assert posted.tobytes() == desk.goal.tobytes()
    assert posted["joint_angle_rad"][0, 1] == 0.05
    assert posted["time_ns"][0] == NOW


def test_a_value_out_of_range_is_refused_with_the_range(desk, lease, finger):
    joint = finger.names.joints[1]
    answer = _ask(desk, "goal", lease, joints={joint: 9.0})
    assert answer["error"]["code"] == "out_of_range"
    assert f"{finger.model['joint_max_rad'][0, 1]:.4g}" in answer["error"]["msg"]


def test_an_unknown_name_gets_the_nearest(desk, lease):
    answer = _ask(desk, "goal", lease, joints={"index_pipp": 0.1})
    assert "did you mean 'index_pip'" in answer["error"]["msg"]
    answer = _ask(desk, "mode", lease, fingers={"index": "joint_impedanz"})
    assert "joint_impedance" in answer["error"]["hint"]
    answer = _ask(desk, "gaol", lease)
    assert "'goal'" in answer["error"]["hint"]


@given(st.binary(max_size=300))
def test_any_bytes_get_a_refusal_and_change_nothing(desk, payload):
    before = desk.goal.tobytes()
    answer = msgspec.msgpack.decode(desk.handle(payload, NOW))
    assert not answer["ok"] and answer["error"]["code"]
    assert desk.goal.tobytes() == before


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**63), 2**63) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    op=st.sampled_from(["goal", "mode", "lease", "get", "arm", "nonsense"]),
    args=_json,
    extra=st.dictionaries(st.text(max_size=4), _json, max_size=2),
)
def test_any_request_is_answered_and_no_refused_one_changes_anything(desk, lease, op, args, extra):
    before = desk.goal.tobytes()
    message = {"v": 1, "id": 1, "op": op, "lease": lease, "args": args, **extra}
    answer = msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW))
    assert set(answer) >= {"id", "ok", "error", "state"}
    if not answer["ok"]:
        assert desk.goal.tobytes() == before
    for name in desk.goal.dtype.names:
        assert np.isfinite(desk.goal[name].astype(float)).all()


def test_the_second_client_is_refused_and_told_who_holds(desk, lease):
    answer = _ask(desk, "lease", do="acquire", holder="other")
    assert answer["error"]["code"] == "lease_held" and "test" in answer["error"]["msg"]
    for op in ("goal", "arm", "activate", "rearm", "off"):
        assert _ask(desk, op, lease + 1)["error"]["code"] == "no_lease"
        assert _ask(desk, op)["error"]["code"] == "no_lease"


def test_stop_needs_no_lease(desk, lease, segment):
    before = int(desk.goal["request_seq"][0])
    assert _ask(desk, "stop")["ok"]
    assert int(desk.goal["request_seq"][0]) == before + 1


def test_a_silent_holder_loses_the_hand_and_old_messages_are_worth_nothing(desk, lease, notes):
    late = NOW + TTL_NS
    assert _ask(desk, "goal", lease, now=late)["error"]["code"] == "no_lease"
    desk.flush(late)
    assert any("fell silent" in text for _, text, _ in notes)
    second = _ask(desk, "lease", now=late, do="acquire", holder="other")["lease"]
    assert second != lease
    assert _ask(desk, "arm", lease, now=late)["error"]["code"] == "no_lease"
    assert _ask(desk, "arm", second, now=late)["ok"]


def test_taking_by_force_needs_a_reason_and_leaves_a_trace(desk, lease, notes):
    assert _ask(desk, "lease", do="take", holder="boss")["error"]["code"] == "bad_args"
    taken = _ask(desk, "lease", do="take", holder="boss", why="the hand is on fire")
    assert taken["ok"] and taken["lease"] != lease
    assert any("boss took the hand from test: the hand is on fire" in text for _, text, _ in notes)
    assert _ask(desk, "arm", lease)["error"]["code"] == "no_lease"


def test_commands_keep_the_lease_alive(desk, lease):
    for k in range(1, 6):
        assert _ask(desk, "lease", lease, now=NOW + k * TTL_NS * 9 // 10, do="keep")["ok"]


def test_a_request_past_its_deadline_is_refused(desk, lease):
    message = {"v": 1, "id": 1, "op": "arm", "lease": lease, "deadline": time.time() - 1.0}
    answer = msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW))
    assert answer["error"]["code"] == "expired"


def test_another_version_and_a_giant_are_refused(desk):
    message = {"v": 2, "id": 1, "op": "ping"}
    assert (
        msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW))["error"]["code"]
        == "version"
    )
    giant = msgspec.msgpack.encode({"v": 1, "id": 1, "op": "ping", "args": {"x": "y" * 100_000}})
    assert msgspec.msgpack.decode(desk.handle(giant, NOW))["error"]["code"] == "too_large"


def test_modes_are_set_for_one_finger_or_for_all(desk, lease):
    assert _ask(desk, "mode", lease, fingers={"*": "tendon_force"})["ok"]
    assert desk.goal["finger_mode"][0, 0] == Mode.TENDON_FORCE


def test_goals_are_refused_while_a_motion_runs(finger, segment):
    desk = CommandServer(finger.names, finger.model, segment, lambda *_: None, motion="open_close")
    lease = _ask(desk, "lease", do="acquire", holder="test")["lease"]
    assert _ask(desk, "goal", lease, joints={"index_pip": 0.1})["error"]["code"] == "busy"


# Bytes of anybody.


_INVALID_UTF8 = b"\x83\xa1v\x01\xa2id\x01\xa2op\xa4\xff\xfe\xfd\xfc"


def _foreign(good: bytes):
    """Random bytes, and good requests with random bytes in the place of some of theirs."""
    place = st.integers(0, len(good) - 1)
    dirt = st.binary(min_size=1, max_size=8) | st.sampled_from(
        [b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xc1"]
    )
    spoilt = st.lists(st.tuples(place, dirt), min_size=1, max_size=4).map(
        lambda spots: _spoil(good, spots),
    )
    return st.binary(max_size=80) | spoilt


def _spoil(good, spots):
    for place, dirt in spots:
        good = good[:place] + dirt + good[place + len(dirt) :]
    return good


_GOOD = msgspec.msgpack.encode(
    {"v": 1, "id": "abc", "op": "goal", "lease": 0, "args": {"joints": {"index_pip": 0.1}}, "deadline": 0.0}
)


@pytest.mark.parametrize(
    "payload",
    [
        _INVALID_UTF8,
        b"\x84\xa1v\x01\xa2id\xa2\xff\xfe\xa2op\xa4ping\xa4args\x80",
        b"\x84\xa1v\x01\xa2id\x01\xa2op\xa4goal\xa4args\x81\xa6joints\x81\xa2\xff\xfe\x01",
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\x81\x91\x01\x02",
        b"\x91" * 5000,
        b"\xd6\xff\xff\xff\xff\xff",
    ],
    ids=lambda p: p[:8].hex(),
)
def test_bytes_that_once_stopped_io_get_a_refusal(desk, payload):
    answer = msgspec.msgpack.decode(desk.handle(payload, NOW))
    assert answer["error"]["code"] in ("malformed", "bad_args")
    assert desk.broken == 0


@given(payload=_foreign(_GOOD))
def test_no_bytes_get_past_the_decoder_as_an_exception(desk, payload):
    answer = msgspec.msgpack.decode(desk.handle(payload, NOW))
    assert not answer["ok"]
    assert desk.broken == 0, "the last resort is for what nobody thought of"


def test_what_nobody_thought_of_is_answered_counted_and_logged(desk, monkeypatch, caplog):
    def breaks(*_):
        raise KeyError("a bug")

    monkeypatch.setattr(desk, "_do", breaks)
    for _ in range(5):
        assert _ask(desk, "ping")["error"]["code"] == "internal"
    assert desk.broken == desk.refused == 5
    assert len(caplog.records) == 1 and "a bug" in caplog.text


def test_anybody_gets_the_hand_file_of_the_run_in_no_more_bytes_than_a_view(desk, finger):
    desk.hand_file = hand_file_of("finger_bench", finger.text, ("gains.friction_gain=0.5",))
    answer = _ask(desk, "hand")
    found = answer["hand_file"]
    assert zlib.decompress(found["text_zlib"]).decode() == finger.text
    assert (found["name"], found["settings"]) == ("finger_bench", ["gains.friction_gain=0.5"])
    whole = read_hand(RunOptions(hand="hasy"))
    view = ViewMessage(whole.names, True).build(np.zeros(1, dtype=FRAME)[0], 0.0, {}, {})
    packed = msgspec.msgpack.encode(hand_file_of("hasy", whole.text, ()))
    assert len(packed) < len(msgspec.msgpack.encode(view))


# Bounds of the model.


@pytest.mark.parametrize("key", GOAL_FIELDS)
def test_no_goal_field_takes_an_absurd_number(desk, lease, finger, key):
    names = finger.names.of(GOAL_FIELDS[key][1])
    for name in names:
        for value in (1e5, -1e5):
            before = desk.goal.tobytes()
            answer = _ask(desk, "goal", lease, **{key: {name: value}})
            assert answer["error"]["code"] == "out_of_range"
            assert f"{key}.{name}" in answer["error"]["msg"] and "legal are" in answer["error"]["msg"]
            assert desk.goal.tobytes() == before


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_the_bounds_are_what_the_hand_can_do(hand):
    model = read_hand(RunOptions(hand=hand)).model
    m, bounds = model[0], goal_bounds(model)
    n_tendons, n_joints, n_fingers = int(m["n_tendons"]), int(m["n_joints"]), int(m["n_fingers"])
    rng = np.random.default_rng(1)
    for _ in range(100):
        force = rng.uniform(m["tension_min_n"], m["tension_max_n"])
        winding = rng.uniform(-1, 1, n_tendons) * (
            m["motor_speed_limit_rad_s"][0] * m["spool_radius_m"][:n_tendons]
        )
        for j in range(n_joints):
            arm = m["P_tj_m"][:n_tendons, j]
            low, high = bounds.of("joint_torques", j)
            assert low <= -arm @ force[:n_tendons] <= high
            if arm.any():
                slowest = np.abs(winding[arm != 0.0] / arm[arm != 0.0]).min()
                assert slowest <= bounds.of("joint_speeds", j)[1] * (1 + 1e-9)
    for j in range(n_joints):
        assert bounds.of("impedances", j) == (0.0, 4.0 * m["joint_impedance_nm_rad"][j])
        assert bounds.of("dampings", j) == (0.0, 4.0 * m["joint_damping_nms_rad"][j])
        assert 0.1 < bounds.of("stiffnesses", j)[1] < 500.0
    for f in range(n_fingers):
        assert bounds.of("pretension", f) == (m["tension_min_n"][0], m["tension_max_n"][0])


def test_the_hands_own_gains_and_rests_are_within_the_bounds(desk, lease, finger):
    m, joints = finger.model[0], finger.names.joints
    own = {
        "impedances": dict(zip(joints, m["joint_impedance_nm_rad"].tolist(), strict=False)),
        "dampings": dict(zip(joints, m["joint_damping_nms_rad"].tolist(), strict=False)),
        "joint_torques": dict.fromkeys(joints, 0.0),
        "stiffnesses": dict.fromkeys(joints, 0.0),
        "pretension": dict(zip(finger.names.fingers, m["pretension_n"].tolist(), strict=False)),
    }
    assert _ask(desk, "goal", lease, **own)["ok"]


# The lease: nobody guesses it, nobody else's connection uses it.


def test_the_lease_is_no_guess_and_every_language_holds_it(finger, segment):
    numbers = []
    for _ in range(40):
        fresh = CommandServer(finger.names, finger.model, segment, lambda *_: None)
        numbers.append(_ask(fresh, "lease", do="acquire", holder="x")["lease"])
    assert len(set(numbers)) == 40 and all(0 < n < 2**53 for n in numbers)
    assert max(numbers) > 2**48, "drawn from the whole range"


def test_a_lease_is_good_on_its_own_connection_alone(desk):
    def ask(client, op, lease=0, **args):
        message = {"v": 1, "id": 7, "op": op, "lease": lease, "args": args}
        return msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW, client))

    lease = ask(b"one", "lease", do="acquire", holder="x")["lease"]
    assert ask(b"one", "goal", lease, joints={"index_pip": 0.1})["ok"]
    for do in ("keep", "return"):
        assert ask(b"two", "lease", lease, do=do)["error"]["code"] == "no_lease"
    assert ask(b"two", "goal", lease, joints={"index_pip": 0.1})["error"]["code"] == "no_lease"
    assert ask(b"two", "stop")["ok"]


def test_a_lease_of_an_earlier_io_process_is_refused(desk, lease, finger, segment):
    again = CommandServer(finger.names, finger.model, segment, lambda *_: None)
    assert _ask(again, "arm", lease)["error"]["code"] == "no_lease"
    _ask(again, "lease", do="acquire", holder="other")
    assert _ask(again, "arm", lease)["error"]["code"] == "no_lease"


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[2Jb", "\x00", "x" * 81, "a\u202eb", "\u2028"])
def test_a_name_that_cannot_be_shown_is_refused(desk, name):
    assert _ask(desk, "lease", do="acquire", holder=name)["error"]["code"] == "bad_args"
    assert _ask(desk, "lease", do="take", holder=name, why="because")["error"]["code"] == "bad_args"
    assert _ask(desk, "lease", do="take", holder="x", why="be\x1bcause")["error"]["code"] == "bad_args"
    assert desk.lease.holder == ""


# Deadlines.


@pytest.mark.parametrize("deadline", [math.nan, math.inf, -math.inf, 1e308, 4e12])
def test_a_deadline_that_is_no_time_is_refused(desk, lease, deadline):
    message = {"v": 1, "id": 1, "op": "ping", "deadline": deadline}
    answer = msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW))
    assert answer["error"]["code"] == "bad_args" and "deadline" in answer["error"]["msg"]


def test_a_stepped_clock_expires_nothing(desk, monkeypatch):
    deadline = time.time() + 1.0
    monkeypatch.setattr(time, "time", lambda: deadline + 3600.0)
    monkeypatch.setattr(time, "time_ns", lambda: int((deadline + 3600.0) * 1e9))
    message = {"v": 1, "id": 1, "op": "ping", "deadline": deadline}
    assert msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), NOW))["ok"]
