"""Seeded numbers of the plant: the published xoshiro256++ recurrence, and honest moments."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.randomness import next_normal, next_uniform, seed_state

MASK = (1 << 64) - 1


def _rotl(x: int, k: int) -> int:
    return ((x << k) | (x >> (64 - k))) & MASK


def reference(state: list[int]) -> int:
    """xoshiro256++ in Python integers."""
    result = (_rotl((state[0] + state[3]) & MASK, 23) + state[0]) & MASK
    t = (state[1] << 17) & MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = _rotl(state[3], 45)
    return result


@given(st.integers(0, 2**32 - 1))
def test_uniform_follows_the_published_recurrence(seed: int) -> None:
    state = seed_state(seed)
    mirror = [int(s) for s in state]
    for _ in range(20):
        assert next_uniform(state) == (reference(mirror) >> 11) / 2**53
        assert [int(s) for s in state] == mirror


def test_normal_has_unit_moments() -> None:
    state = seed_state(7)
    x = np.array([next_normal(state) for _ in range(40_000)])
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / x.size)
    assert abs((x**3).mean()) < 5 * np.sqrt(15 / x.size)


def test_two_seeds_differ_and_one_seed_repeats() -> None:
    def draws(seed: int) -> list[float]:
        state = seed_state(seed)
        return [next_uniform(state) for _ in range(8)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
