"""One finger through every kind of fault, moving and at rest: safe by the judge's rules, named right."""

from __future__ import annotations

from functools import cache

import pytest

from hand.options import RunOptions
from runtime.setup import read_hand
from trials.campaign import Worker
from trials.draw import first_trials
from trials.judge import Verdict
from trials.rules import KINDS

MOTIONS = ("force_sine", "hold", "open_close")
PER_KIND = 3


@cache
def worker() -> Worker:
    return Worker(read_hand(RunOptions(hand="finger_bench")))


def judged(kind: str) -> list[Verdict]:
    trials = first_trials(PER_KIND, 5, worker().hand.names, MOTIONS, kinds=(kind,))
    return [worker().judged(trial) for trial in trials]


@pytest.mark.parametrize("kind", [k for k, rule in KINDS.items() if rule.space != "axis"])
def test_a_fault_is_made_safe_and_named_right(kind: str) -> None:
    for verdict in judged(kind):
        trial = verdict.trial
        assert verdict.breaches == [], f"flexor faults finger_bench --trial {trial.seed}"
        assert verdict.right is not False, (verdict.cause, verdict.part, trial)
