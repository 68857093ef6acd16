"""The tension with which a hand at rest can begin."""

from __future__ import annotations

import numpy as np

SHARE = 6.0
"""Greatest tension over that of the start.

At rest a hand keeps its tension by the friction of its gears alone: that of the reference hand holds 80 N
of its 120, and less where a motor runs smoothly.
"""


def start_tension_n(m: np.void, pretension_n: float) -> float:
    """Equal tension of all tendons in the start pose: the pretension, as far as it stays without current.

    Tendons that balance each other on their motors stay at any tension.

    Args:
        m: one row of ``signals.records.MODEL``.
        pretension_n: what is wanted.
    """
    n = int(m["n_tendons"])
    radius, pull_m = m["spool_radius_m"][:n], np.zeros(int(m["n_motors"]))
    np.add.at(pull_m, m["tendon_motor"][:n], radius)
    if (np.abs(pull_m) <= 1e-9 * np.abs(radius).max()).all():
        return pretension_n
    return min(pretension_n, float(m["tension_max_n"][:n].max()) / SHARE)
