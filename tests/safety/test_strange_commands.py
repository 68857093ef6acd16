"""A sample of fuzzed commands: no motion, no growth. A million: ``python benchmarks/strange_commands.py``."""

from __future__ import annotations

import pytest

from hand.options import RunOptions
from runtime.setup import read_hand
from signals.modes import Request
from telemetry.command import server as server_module
from tests.rigs.strange_commands import Draw, Target, _moves, allocated


@pytest.fixture
def target(segment, monkeypatch):
    monkeypatch.setattr(server_module, "_TAKE_S", 0.0)  # no control process takes the stops here
    return Target(read_hand(RunOptions(hand="hasy")), segment)


def test_no_fuzzed_command_moves_the_hand_or_leaves_something_behind(target):
    target.block(99, 2000)
    before = allocated()
    blocks = [target.block(seed, 5000) for seed in range(4)]
    assert [text for found in blocks for text in found.moved] == []
    assert target.server.broken == 0
    assert allocated() - before < 500, "twenty thousand commands"
    codes = set().union(*(found.codes for found in blocks))
    met = {"malformed", "bad_args", "unknown_op", "no_lease", "lease_held", "unknown_name", "not_finite"}
    assert met | {"out_of_range", "too_large", "version", "expired", "ok"} <= codes
    assert sum(found.stops for found in blocks) > 0


def test_the_sample_would_see_a_lease_that_is_not_asked_for(target, monkeypatch):
    """A server that takes any lease is found out, by many of the commands."""
    monkeypatch.setattr("telemetry.command.lease.Lease.keep", lambda *_: None)
    assert len(target.block(0, 2000).moved) > 20


def test_a_post_counts_as_motion_unless_it_is_a_stop_alone(target):
    before = target.posted()
    after = before.copy()
    after["request"] = int(Request.STOP)
    assert _moves(before, after) == ""
    after["joint_angle_rad"][0, 3] += 1e-9
    assert _moves(before, after) == "joint_angle_rad"
    after["request"] = int(Request.ACTIVATE)
    assert _moves(before, after)


def test_the_same_seed_draws_the_same_commands(target):
    first, again = Draw(target, 3), Draw(target, 3)
    assert [first.command() for _ in range(200)] == [again.command() for _ in range(200)]
