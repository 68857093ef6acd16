"""What the long run and a turn of the runtime conclude from the frames they saw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.runtime_loop import RunFailed, Timings, slice_of
from benchmarks.soak import GROWTH_BYTES, Grid, Memory, Observer, verdict
from runtime.loop import Loop
from signals.modes import MachineState
from signals.records import FRAME, TIMING


def timings(slots: list[int], rate_hz: float = 3000.0) -> np.ndarray:
    """Frames of an active hand on these slots of the grid, as the loop numbers and times them."""
    frames = np.zeros(len(slots), dtype=FRAME)
    for k, slot in enumerate(slots):
        timing = frames["timing"][k]
        timing["cycle"], timing["missed"] = k, slot - k
        frames["timing"]["deadline_ns"][k] = 5_000_000_000 + slot * 10**12 // round(rate_hz * 1000)
    frames["state"]["machine"] = int(MachineState.ACTIVE)
    return frames


growing = st.lists(st.integers(1, 40), min_size=2, max_size=80).map(lambda steps: list(np.cumsum(steps)))


@given(growing, st.integers(0, 79), st.sampled_from([-1, 1, 333_333]))
def test_one_deadline_a_nanosecond_off_its_slot_is_seen(slots, index, error_ns):
    frames = timings(slots)
    grid = Grid(3000.0)
    for part in np.array_split(frames, 3):
        grid.add(part)
    assert (grid.wrong, grid.gaps, grid.frames) == (0, 0, len(slots))
    assert grid.slots == slots[-1] - slots[0] + 1
    frames["timing"]["deadline_ns"][1 + index % (len(slots) - 1)] += error_ns
    other = Grid(3000.0)
    other.add(frames)
    assert other.wrong == 1


@given(growing)
def test_cycles_that_were_not_seen_are_counted(slots):
    frames = timings(slots)
    keep = np.ones(len(slots), dtype=bool)
    keep[1:-1:2] = False
    grid = Grid(3000.0)
    grid.add(frames[keep])
    assert (grid.wrong, grid.gaps) == (0, int((~keep).sum()))


def test_the_grid_of_the_long_run_is_the_grid_of_the_loop():
    now, seen = [10**9], []

    def tick(cycle, deadline, _woke, _dt, missed, _late):
        seen.append((cycle, missed, deadline))
        now[0] += 900_000 if cycle % 7 == 3 else 20_000
        return 0

    def wait(deadline, _spin, _timespec):
        now[0] = max(now[0], deadline) + 5000
        return now[0]

    Loop(tick, 3000.0, clock=lambda: now[0], wait=wait).run(4000, lambda: True)
    frames = np.zeros(len(seen), dtype=FRAME)
    for name, column in zip(("cycle", "missed", "deadline_ns"), zip(*seen, strict=True), strict=True):
        frames["timing"][name] = column
    grid = Grid(3000.0)
    grid.add(frames)
    assert (grid.wrong, grid.gaps) == (0, 0) and grid.frames == len(seen)


def observed(growth: int, wrong: int = 0) -> Observer:
    observer = Observer(3000.0)
    observer.grid.add(timings(list(range(30))))
    observer.grid.wrong = wrong
    memory = Memory("control", [(0.0, 10**7), (1.0, 10**8), (2.0, 10**8), (9.0, 10**8 + growth)])
    observer.memory[1] = memory
    return observer


@pytest.mark.parametrize(
    ("growth", "wrong", "account", "word"),
    [
        (0, 0, {}, None),
        (GROWTH_BYTES, 0, {}, None),
        (GROWTH_BYTES + 1, 0, {}, "control grew"),
        (0, 1, {}, "off the grid"),
        (0, 0, {"missed": 2002}, "elapsed x rate"),
        (0, 0, {"elapsed_s": 9.99}, "elapsed x rate"),
        (0, 0, {"cycles": 27_000, "elapsed_s": 29_000 / 3000}, "elapsed x rate"),
    ],
)
def test_a_long_run_names_what_it_did_not_keep(growth, wrong, account, word):
    whole = {"cycles": 28_000, "missed": 2000, "elapsed_s": 10.0, **account}
    result = verdict(observed(growth, wrong), whole, 10.0, 3000.0, "", loaded=True)
    assert [word in text for text in result["broken"]] == ([True] if word else [])


def test_a_slice_counts_the_end_of_a_run_in_which_the_hand_was_active():
    frames = timings(list(range(3000)))
    frames["state"]["machine"][:500] = int(MachineState.HOLDING)
    frames["timing"]["wake_ns"], frames["timing"]["tick_ns"] = 7000, 20_000
    frames["timing"]["exchange_ns"] = 999_000
    taken = Timings()
    taken.add(frames[:1000])
    taken.add(frames[1000:])
    assert len(taken.table()) == 2500 and taken.table().dtype == TIMING
    measured = slice_of(taken.table(), 1e9 / 3000, seconds=0.5)
    assert measured.cycles == 1500
    assert (measured.wake_us(0.5), measured.response_us(0.5)) == (7.0, 27.0)
    with pytest.raises(RunFailed, match="never active"):
        Timings().table()
