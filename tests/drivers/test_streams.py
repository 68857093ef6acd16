"""Parsers on damaged traffic (B08): no wrong value, one good frame lost per bad one at most, no growth."""

from __future__ import annotations

import random

import numpy as np
import pytest

from drivers.hallbridge import orca
from tests.rigs.streams import PACKETS, STREAMS, Orca, judged

FRAMES = 20_000
"""A million of each: ``python benchmarks/damage.py``."""


@pytest.mark.parametrize("name", [*STREAMS, *PACKETS])
def test_a_damaged_frame_costs_at_most_one_good_one_and_never_a_wrong_value(name: str) -> None:
    found = judged(name, FRAMES, seed=8)
    assert found.bad > FRAMES // 200
    assert found.wrong == 0
    assert found.lost <= (found.bad if name in STREAMS else 0)
    assert found.held <= (STREAMS | PACKETS)[name].limit
    assert found.slowest_s < 0.05  # CPU time of this thread; a decoder that hangs on a frame takes for ever


def test_orca_checksum_lets_heavy_damage_pass_as_rarely_as_its_bits_say() -> None:
    """8 bits of sum and one per damaged word: below 1 of 256 bursts; the driver's step bound is for those."""
    rng = random.Random(10)
    parser, passed, trials = orca.OrcaParser(), 0, 20_000
    for i in range(trials):
        hurt = bytearray(Orca().make(i, rng)[0])
        for k in range(6, 10):
            hurt[k] = rng.randrange(256)
        passed += sum(bool(r.parity_good.all()) for r in parser.feed(bytes(hurt), i * 10**9))
    assert passed <= trials / 256 * 1.2


def test_an_orca_value_that_jumps_is_not_believed_until_it_is_seen_twice() -> None:
    judge = orca.Plausible(step_max=100)
    values = np.full(17, 1000)
    assert judge.judge(values).all()
    jumped = values.copy()
    jumped[3] = 9000
    assert not judge.judge(jumped)[3]
    assert judge.judge(values)[3]
    assert not judge.judge(jumped)[3]
    assert judge.judge(jumped)[3]
    assert judge.judge(np.full(17, 1000 - 16384 % 16384))[0]
