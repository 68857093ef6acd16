"""The loop's grid (field report B01): slots are served or skipped, never made up for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.loop import DT_MAX_S, Loop
from signals.records import new_frame
from telemetry.shm.channel import Channel
from telemetry.shm.ring import CYCLE, LATE, MISSED


class FakeTime:
    """A clock that only waiting and working move; wake-ups may be late."""

    def __init__(self, delays_ns: list[int] | None = None) -> None:
        self.now = 1_000_000_000
        self._delays, self._k = delays_ns or [0], 0

    def clock(self) -> int:
        return self.now

    def wait(self, deadline_ns: int, _spin_ns: int, _timespec: object) -> int:
        delay = self._delays[self._k % len(self._delays)]
        self._k += 1
        self.now = max(self.now, deadline_ns) + delay
        return self.now


class Work:
    """A tick that takes the given times in turn and remembers how it was called."""

    def __init__(self, time: FakeTime, durations_ns: list[int], window: int = 100) -> None:
        self.calls: list[tuple[int, int, int, float, int, int]] = []
        self._time, self._durations = time, durations_ns
        self._channel = Channel.local(4, window)
        self._words = new_frame()[0].view("i8")

    def __call__(self, cycle: int, deadline: int, woke: int, dt_s: float, missed: int, late: int) -> int:
        self.calls.append((cycle, deadline, woke, dt_s, missed, late))
        self._time.now += self._durations[cycle % len(self._durations)]
        self._words[CYCLE], self._words[MISSED], self._words[LATE] = cycle, missed, late
        return self._channel.leave(self._words)


def _yes() -> bool:
    return True


@settings(max_examples=80, deadline=None)
@given(
    rate=st.sampled_from([100.0, 333.3, 1000.0, 3000.0]),
    work=st.lists(st.floats(0.0, 12.0), min_size=1, max_size=12),
    delays=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=7),
    slots=st.integers(1, 200),
)
def test_every_slot_is_served_or_skipped_and_no_cycle_follows_too_soon(rate, work, delays, slots):
    period = 1e9 / rate
    time = FakeTime([round(d * period) for d in delays])
    tick = Work(time, [round(w * period) for w in work])
    loop = Loop(tick, rate, clock=time.clock, wait=time.wait)
    progress = loop.run(slots, _yes)
    start = progress.started_ns
    assert progress.cycles == len(tick.calls)
    assert slots <= progress.slots <= slots + max(work) + max(delays) + 2
    before = None
    for cycle, deadline, woke, dt_s, missed, late in tick.calls:
        slot = cycle + missed
        assert abs((deadline - start) - slot * period) <= 1.0, "a deadline off the grid"
        assert woke >= deadline
        assert late <= cycle + 1
        assert 0.5 * period / 1e9 - 1e-9 <= dt_s <= max(DT_MAX_S, period / 1e9)
        if before is not None:
            assert woke - before >= 0.5 * period - 2, "a burst to catch up"
            assert abs(dt_s - min(max((woke - before) / 1e9, 0.5 * period / 1e9), DT_MAX_S)) < 2e-9
        before = woke
    late_wakes = sum(woke - deadline >= round(period) for _, deadline, woke, *_ in tick.calls)
    assert progress.late == late_wakes


def test_one_stall_skips_its_slots_and_the_next_cycle_is_on_the_grid():
    time = FakeTime()
    tick = Work(time, [100_000] * 5 + [3_333_000] + [100_000] * 44)
    progress = Loop(tick, 3000.0, clock=time.clock, wait=time.wait).run(50, _yes)
    assert progress.missed == 9
    assert progress.cycles == 41
    assert progress.late == 0
    assert tick.calls[6][3] > 9 / 3000.0


def test_a_load_of_a_third_of_the_period_keeps_the_rate_exactly():
    time = FakeTime()
    progress = Loop(Work(time, [100_000]), 3000.0, clock=time.clock, wait=time.wait).run(30_000, _yes)
    assert (progress.cycles, progress.missed, progress.late) == (30_000, 0, 0)
    assert abs(progress.elapsed_s * 3000.0 - progress.slots) <= 1.0
    assert not progress.sustained


def test_a_load_of_more_than_the_period_is_a_sustained_overrun():
    time = FakeTime()
    loop = Loop(Work(time, [400_000], window=300), 3000.0, window=300, clock=time.clock, wait=time.wait)
    progress = loop.run(400, _yes)
    assert progress.sustained
    assert progress.missed >= 0.4 * progress.slots


def test_lockstep_time_is_the_grid_and_nothing_else():
    calls = []

    def tick(*values: float) -> int:
        calls.append(values)
        return 0

    loop = Loop(tick, 3000.0, clock=lambda: 1 / 0, wait=lambda *_: 1 / 0)  # type: ignore[arg-type, return-value]
    loop.run_lockstep(3000, _yes)
    loop.run_lockstep(1, _yes)
    assert calls[3000][1] - calls[0][1] == 1_000_000_000
    assert {c[3] for c in calls} == {1 / 3000.0}
    assert all(c[1] == c[2] for c in calls)
