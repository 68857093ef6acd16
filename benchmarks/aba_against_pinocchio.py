"""Forward dynamics of a 24-DoF tree: ours against Pinocchio called from Python, interleaved in one run.

    python benchmarks/aba_against_pinocchio.py [rounds]

One by one means one Python call per state in both engines; batch means one Python call for all states in ours
and one per state in Pinocchio, which has no batch of its own in Python. Only the ratios mean anything on a
shared machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from benchmarks.shadow_tree import both
from mechanics.dynamics.aba import aba
from mechanics.dynamics.batch import NO_BATCH_LOADS, aba_batch
from mechanics.dynamics.tree import NO_LOADS

STATES = 100


def measure(rounds: int = 40) -> dict[str, float]:
    """Median times per state [us], median ratios of the rounds, and the greatest relative difference."""
    tree, model = both()
    data, work, record = model.createData(), tree.work(), tree.record
    rng = np.random.default_rng(1)
    n = tree.n_dofs
    q, qd = rng.uniform(-1.0, 1.0, (STATES, n)), rng.uniform(-2.0, 2.0, (STATES, n))
    tau = rng.uniform(-0.1, 0.1, (STATES, n))
    rows = list(zip(q, qd, tau, strict=True))
    one, all_rows = np.zeros(n), np.zeros((STATES, n))

    def ours() -> None:
        for a, b, c in rows:
            aba(record, a, b, c, NO_LOADS, 0.0, work, one)

    def theirs() -> None:
        for a, b, c in rows:
            pin.aba(model, data, a, b, c)

    def batch() -> None:
        aba_batch(record, q, qd, tau, NO_BATCH_LOADS, 0.0, work, all_rows)

    for run in (ours, theirs, batch):
        run()
    expected = np.array([pin.aba(model, data, a, b, c) for a, b, c in rows])
    times = np.array([[_timed(run) for run in (ours, theirs, batch)] for _ in range(rounds)])
    return {
        "states": float(STATES),
        "dofs": float(n),
        "ours_one_us": float(np.median(times[:, 0])),
        "pinocchio_us": float(np.median(times[:, 1])),
        "ours_batch_us": float(np.median(times[:, 2])),
        "ratio_one": float(np.median(times[:, 0] / times[:, 1])),
        "ratio_batch": float(np.median(times[:, 2] / times[:, 1])),
        "difference": float((np.abs(all_rows - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()),
    }


def _timed(run: Callable[[], None]) -> float:
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) / STATES * 1e6


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 40), indent=2))
