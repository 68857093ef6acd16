"""200 random trees, made once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.rigs.random_trees import Twin, depth_first, random_bodies, twin_of


@pytest.fixture(scope="session")
def twins() -> list[Twin]:
    """200 random trees of 1 to 24 bodies, branched, with fixed bodies, hinges, sliders and armatures.

    The first half is numbered depth first, the second half anyhow (parents before children).
    """
    rng = np.random.default_rng(20070611)
    found: list[Twin] = []
    while len(found) < 200:
        bodies = random_bodies(rng, int(rng.integers(1, 25)))
        twin = twin_of(depth_first(bodies) if len(found) < 100 else bodies, rng.normal(size=3) * 5.0)
        if twin.tree.n_dofs:
            found.append(twin)
    return found
