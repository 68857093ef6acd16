"""Stretches: what one compiled call makes of many cycles is what single cycles make of them, bit by bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hand.options import RunOptions
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.session import Session, run_hands, run_lockstep, run_options
from signals.modes import BusStatus, ChannelStatus, Request

WALL = ("exchange_ns", "estimate_ns", "control_ns", "guard_ns", "tick_ns")
"""Durations by the computer's own clock: the only thing that may differ."""
FAST = {"motion": "finger_wave", "seed": 7}


def session(stretched: bool, rows: list, **choices) -> Session:
    options = RunOptions(**{"hand": "finger_bench", "seconds": 10.0} | choices, lockstep=True)
    made = Session(options, buffer=lambda _: None, record=lambda frames: rows.append(frames.copy()))
    if stretched:
        ahead, made.made = made.loop._ahead, []

        def counted(place, cycles):
            made.made.append(ahead(place, cycles))
            return made.made[-1]

        made.loop._ahead = counted
    else:
        made.loop._ahead = None
    return made


def assert_same(one: list, other: list) -> None:
    one, other = np.concatenate(one), np.concatenate(other)
    assert len(one) == len(other)
    for record in one.dtype.names:
        for name in one.dtype[record].names:
            if (record, name) not in {("timing", wall) for wall in WALL}:
                assert one[record][name].tobytes() == other[record][name].tobytes(), f"{record}.{name}"


def both(act, **choices):
    """The same done to a stretched session and to one of single cycles; their frames are compared."""
    sessions, rows = [], ([], [])
    for k, stretched in enumerate((True, False)):
        made = session(stretched, rows[k], **choices)
        act(made)
        made.close()
        sessions.append(made)
    assert_same(*rows)
    assert sessions[0].rig.bus.plant.tobytes() == sessions[1].rig.bus.plant.tobytes()
    return sessions[0]


@pytest.mark.parametrize(
    "choices",
    [
        {"motion": "open_close"},
        {"motion": None},
        {"sensors": "ideal", "rate_hz": 1234.0},
        {"rate_hz": 2999.0, "mismatch": 3},
        {"faults": ("tendon-break:index_2@0.2", "hall-stuck:index_1@0.2004")},
    ],
    ids=lambda c: "-".join(c),
)
def test_frames_and_plant_are_those_of_single_cycles(choices) -> None:
    run = both(lambda made: made.run(0.4), **(FAST | choices))
    assert sum(run.made) > 0.8 * 0.4 * run.hand.rate_hz, "most of it was made in stretches"


def test_the_whole_hand_is_the_same_too() -> None:
    run = both(
        lambda made: made.run(0.2), hand="hasy", motion="open_close", faults=("motor-lost:index_2@0.15",)
    )
    assert run.made, "some of it was made in stretches"


def test_a_stop_between_two_stretches_acts_in_the_same_cycle() -> None:
    def act(made: Session) -> None:
        made.run(0.25)
        made.rig.goals.request(Request.STOP)
        made.run(0.1)
        made.let_go()

    assert both(act, **FAST).made, "some of it was made in stretches"


def test_what_is_done_to_the_plant_between_two_runs_is_the_same() -> None:
    def act(made: Session) -> None:
        made.run(0.2)
        made.rig.bus.apply_wrench(0, (0.0, 3.0, 0.0))
        made.run(0.0501)
        made.rig.bus.apply_wrench(0, (0.0, 0.0, 0.0))
        made.run(0.1)

    assert both(act, **FAST).made, "some of it was made in stretches"


def test_a_plant_that_diverges_is_found_in_its_cycle_and_answers_no_more() -> None:
    def act(made: Session) -> None:
        made.run(0.2)
        made.rig.bus.plant["w_rad_s"][0, 1] = np.inf
        made.run(0.05)

    run = both(act, **FAST)
    assert "motor 1" in run.rig.bus.diagnosis
    assert run.rig.frame["timing"]["bus_status"][0] == BusStatus.LOST
    assert run.rig.frame["measurement"]["motor_status"][0, 0] & ChannelStatus.MISSING


def test_times_stay_on_the_grid_however_long_the_run() -> None:
    """The grid's step in integers gives the times that whole numbers without a bound give."""
    for rate_hz in (1.0, 333.0, 2999.999, 12_000.001, 100_000.0):
        loop = Loop(lambda *_: 0, rate_hz)
        for cycle in (0, 1, 7, 10**9 + 7, 10**12 + 1):
            loop.progress.cycles = cycle
            at = loop._place()
            time_ns, rest = at["time_ns"], at["rest"]
            for _ in range(5):
                assert time_ns == LOCKSTEP_START_NS + cycle * 10**12 // round(1000 * rate_hz)
                cycle, time_ns, rest = cycle + 1, time_ns + at["step_ns"], rest + at["step_rest"]
                time_ns, rest = time_ns + rest // at["pace"], rest % at["pace"]


def test_hands_side_by_side_are_those_that_run_alone() -> None:
    """Three seeds in two threads, one with a fault; in order, bit by bit."""
    base = RunOptions(hand="finger_bench", motion="open_close", seconds=0.4, lockstep=True)
    runs = [replace(base, seed=k) for k in range(3)]
    runs[1] = replace(runs[1], faults=("tendon-break:index_3@0.2",))
    done: list[float] = []
    together = run_hands(runs, every=1, threads=2, watch=done.append)
    assert done == [1 / 3, 2 / 3, 1.0]
    for options, result in zip(runs, together, strict=True):
        alone = run_options(options, every=1)
        assert_same([result.frames], [alone.frames])
        assert [f["cause"] for f in result.report["faults"]] == [f["cause"] for f in alone.report["faults"]]
    assert together[1].report["faults"] and not together[0].report["faults"]
    assert together[0].frames["measurement"].tobytes() != together[2].frames["measurement"].tobytes()


def test_hands_by_number_have_the_seeds_from_the_first_one_up() -> None:
    results = run_lockstep("finger_bench", hands=2, seconds=0.02, seed=5)
    assert [r.report["seed"] for r in results] == [5, 6]
    with pytest.raises(ValueError, match="one or more"):
        run_lockstep("finger_bench", hands=0)
    with pytest.raises(ValueError, match="no record"):
        run_lockstep("finger_bench", hands=2, record="log.mcap")
