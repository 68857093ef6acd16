"""Time (field report B02): control lives on the monotonic clock, wall time is a label."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signals.clock import NS_S, WallClock, new_timespec, now_ns, wait_until


@settings(max_examples=30, deadline=None)
@given(ahead=st.integers(-3_000_000, 3_000_000), spin=st.sampled_from([0, 100_000, 10_000_000]))
def test_a_wait_never_ends_before_its_deadline_and_not_later_than_it_returns(ahead, spin):
    timespec = new_timespec()
    asked = now_ns()
    woke = wait_until(asked + ahead, spin, timespec)
    assert woke >= asked + ahead
    assert asked <= woke <= now_ns()


class Clocks:
    """A wall clock that an operator steps, and a monotonic one that nobody can."""

    def __init__(self) -> None:
        self.monotonic, self.offset = 5 * NS_S, 1_700_000_000 * NS_S

    def wall(self) -> int:
        return self.monotonic + self.offset

    def steady(self) -> int:
        return self.monotonic


@pytest.mark.parametrize("steps_s", [[-3600.0], [3600.0], [-0.05] * 10, [-3600.0, 3600.0]])
def test_a_stepped_wall_clock_changes_no_time_stamp_and_is_noticed_once(steps_s):
    clocks = Clocks()
    wall = WallClock(clocks.wall, clocks.steady)
    before = wall.unix_s(clocks.monotonic)
    for step in steps_s:
        clocks.offset += round(step * NS_S)
        clocks.monotonic += NS_S
        assert wall.step_s() == pytest.approx(step, abs=1e-6)
        assert wall.step_s() == 0.0
    assert wall.unix_s(clocks.monotonic) == pytest.approx(before + len(steps_s))


def test_a_slow_drift_of_the_wall_clock_is_no_step():
    clocks = Clocks()
    wall = WallClock(clocks.wall, clocks.steady)
    clocks.offset += 1_000_000
    assert wall.step_s() == 0.0
