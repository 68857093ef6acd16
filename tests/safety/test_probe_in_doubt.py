"""The motor of a lost tendon fails while it is probed: what winds by an angle that is not believed ends."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from trials.campaign import Worker, motions_of
from trials.campaigns import draws_of
from trials.draw import first_trials
from trials.rules import KINDS
from trials.trial import EVERY, Struck

SIZES = {"encoder-jump": (-0.39, 0.05)}
MOTOR_KINDS = ("encoder-jump", "encoder-stuck", "motor-lost", "motor-reset", "not-a-number")
MOMENTS_S = (0.006, 0.03, 0.11)
"""After the break: the probe begins, has begun to turn, has wound almost all that it may."""


@cache
def worker(hand: str) -> Worker:
    return Worker(read_hand(RunOptions(hand=hand)))


@pytest.mark.sample(3)
@pytest.mark.parametrize("at_s", MOMENTS_S)
@pytest.mark.parametrize("kind", MOTOR_KINDS)
def test_a_probe_ends_within_its_bounds_and_is_named_whatever_its_motor_does(kind: str, at_s: float) -> None:
    bench = worker("finger_bench")
    breaks = first_trials(3, 3, bench.hand.names, ("hold", "open_close"), kinds=("tendon-break",))
    for k, trial in enumerate(breaks):
        sizes = SIZES.get(kind, (0.0,))
        motor = int(bench.hand.model["tendon_motor"][0, trial.part])
        second = Struck(kind=kind, part=motor, size=sizes[k % len(sizes)], at_s=at_s)
        verdict = bench.judged(replace(trial, second=second))
        assert verdict.breaches == [], (trial, second)
        assert Cause[verdict.cause] in KINDS[kind].causes, (trial, second)
        assert verdict.right, (verdict.cause, verdict.part)


@pytest.mark.parametrize(
    ("seed", "kind", "part"), [(212, "encoder-jump", 18), (5000020, "not-a-number", EVERY)]
)
def test_a_known_double_fault_winds_no_further_than_a_probe_may(seed: int, kind: str, part: int) -> None:
    bench = worker("hasy")
    trial = draws_of("double", bench.hand, motions_of(bench.hand))(seed)
    assert trial is not None and trial.second is not None
    assert (trial.kind, trial.second.kind, trial.second.part) == ("tendon-break", kind, part)
    verdict = bench.judged(trial)
    assert verdict.breaches == []
    assert verdict.right is not False
