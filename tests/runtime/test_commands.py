"""Commands (field reports B56, B59): whole or not at all, one commander, always an answer."""

from __future__ import annotations

import math
import time

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.telemetry.commands import _GOAL_FIELDS
from runtime.telemetry.desk import CommandDesk
from runtime.telemetry.lease import TTL_NS
from signals.modes import Mode

NOW = 10**12


def _ask(desk, op, lease=0, now=NOW, **args):
    message = {"v": 1, "id": 7, "op": op, "lease": lease, "args": args}
    return msgspec.msgpack.decode(desk.handle(msgspec.msgpack.encode(message), now))


@pytest.fixture
def notes():
    return []


@pytest.fixture
def desk(finger, segment, notes, monkeypatch):
    monkeypatch.setattr("runtime.telemetry.desk._TAKE_S", 0.0)  # no control process takes them here
    return CommandDesk(finger.names, finger.model, segment, lambda *note: notes.append(note))


@pytest.fixture
def lease(desk):
    return _ask(desk, "lease", do="acquire", holder="test")["lease"]


_SPACES = {key: space for key, (_, space, _, _) in _GOAL_FIELDS.items() if space != "axis"}
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
    assert answer["error"]["code"] in ("not_finite", "bad_args")
    assert answer["error"]["msg"]
    assert desk.goal.tobytes() == before
    assert desk.refused == 1


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
    desk = CommandDesk(finger.names, finger.model, segment, lambda *_: None, motion="open_close")
    lease = _ask(desk, "lease", do="acquire", holder="test")["lease"]
    assert _ask(desk, "goal", lease, joints={"index_pip": 0.1})["error"]["code"] == "busy"
