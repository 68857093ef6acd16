"""Seeded random numbers inside compiled code: xoshiro256++ with its state in a record.

A generator of our own because numba's is global per thread: two plants in one process would share it, and
a run could not be repeated by its seed.
"""

from __future__ import annotations

import math

import numpy as np

from signals.compiled import law
from signals.layout import UintArray


@law
def _rotl(x: np.uint64, k: int) -> np.uint64:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@law
def next_uniform(state: UintArray) -> float:
    """Uniform number in [0, 1); advances ``state``, shape (4,), uint64."""
    result = _rotl(state[0] + state[3], 23) + state[0]
    t = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = _rotl(state[3], 45)
    return float(result >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@law
def next_normals(state: UintArray) -> tuple[float, float]:
    """Two independent standard normal numbers by Box and Muller; advances ``state`` by two draws."""
    u = next_uniform(state)
    v = next_uniform(state)
    radius = math.sqrt(-2.0 * math.log(1.0 - u))
    return radius * math.cos(2.0 * math.pi * v), radius * math.sin(2.0 * math.pi * v)


@law
def next_normal(state: UintArray) -> float:
    """One standard normal number; advances ``state`` by two draws."""
    x, _ = next_normals(state)
    return x


def seed_state(seed: int) -> UintArray:
    """State of the generator for a seed, shape (4,), spread by numpy's SeedSequence."""
    return np.asarray(np.random.SeedSequence(seed).generate_state(4, np.uint64), dtype=np.uint64)
