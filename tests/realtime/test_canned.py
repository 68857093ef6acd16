"""A canned stretch of a run: ticking through it again gives the same commands, bit by bit, in every way."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from benchmarks.canned import Canned, NotActive, Ticker, can
from hand.options import RunOptions

TICKS = 24


@pytest.fixture(scope="module")
def canned() -> Canned:
    return can(RunOptions(hand="finger_bench", motion="open_close"), ticks=TICKS, lead_s=0.4)


def commands(canned: Canned, ticks: list[int], compiled: bool) -> list[bytes]:
    out = []
    for n in ticks:
        ticker = Ticker(canned, slots=8)
        if compiled:
            ticker.compiled(n)
        else:
            ticker.called(np.zeros(n, dtype=np.int64))
        out.append(ticker.command.tobytes())
    return out


def test_a_replay_gives_the_commands_of_the_run_bit_by_bit(canned):
    numbers = list(range(1, TICKS + 1))
    assert commands(canned, numbers, False) == [canned.commands[n - 1 : n].tobytes() for n in numbers]
    assert len(set(commands(canned, numbers, False))) == TICKS


def test_the_stretch_begins_anew_where_it_ends(canned):
    once, twice = commands(canned, [5, TICKS + 5], False)
    assert once == twice


def test_the_compiled_loop_ticks_as_the_calls_do(canned):
    numbers = [1, 2, TICKS, TICKS + 3, 3 * TICKS]
    assert commands(canned, numbers, True) == commands(canned, numbers, False)


def test_a_stretch_survives_its_file_and_another_version_is_refused(canned, tmp_path):
    canned.save(tmp_path / "a.npz")
    again = Canned.load(tmp_path / "a.npz")
    assert commands(again, [1, TICKS], False) == commands(canned, [1, TICKS], False)
    dataclasses.replace(canned, before=canned.before[:-1]).save(tmp_path / "b.npz")
    with pytest.raises(ValueError, match="another version"):
        Canned.load(tmp_path / "b.npz")


def test_a_hand_in_fault_is_not_canned():
    options = RunOptions(hand="finger_bench", motion="open_close", faults=("motor-lost:index_1@0.05",))
    with pytest.raises(NotActive):
        can(options, ticks=4, lead_s=0.4)
