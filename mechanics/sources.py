"""What tells angles of joints and tensions of tendons, by what the hand has: said once, for a whole run."""

from __future__ import annotations

from typing import Any

import numpy as np

from signals.modes import FingerKind


def joint_sources(m: Any, f: int) -> tuple[str, ...]:
    """What the joint angles of finger ``f`` follow from; ``m``: MODEL scalar. Empty without such tendons."""
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    sensed, counts = m["hall_weight"][tendons] > 0.0, m["length_weight"][tendons] > 0.0
    told = {
        "joint sensors": (m["joint_weight_m2"][m["finger_joint"][f, : m["finger_n_joints"][f]]] > 0.0).any(),
        "sensors": sensed.any(),
        "motor currents": (counts & ~sensed).any(),
        "springs": m["finger_kind"][f] == FingerKind.SPRUNG,
    }
    return tuple(word for word, there in told.items() if there)


def tension_source(m: Any, t: int) -> str:
    """What the tension of tendon ``t`` follows from: sensor, motor's current, or motor and joints."""
    if m["hall_weight"][t] > 0.0:
        return "sensor"
    return "motor current" if m["length_weight"][t] > 0.0 else "motor angle and joints"


def sources_of(m: Any, joints: tuple[str, ...], tendons: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Index space -> name -> what its value follows from.

    Args:
        m: MODEL scalar.
        joints: names in the order of the record.
        tendons: the same of tendons.
    """
    words = [" and ".join(joint_sources(m, f)) for f in range(int(m["n_fingers"]))]
    told = {
        j: words[f] for j, f in zip(joints, np.array(m["joint_finger"])[: len(joints)], strict=True) if f >= 0
    }
    return {
        "joint": {joint: word for joint, word in told.items() if word},
        "tendon": {name: tension_source(m, t) for t, name in enumerate(tendons) if any(words)},
    }
