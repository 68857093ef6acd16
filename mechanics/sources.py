"""What tells angles of joints and tensions of tendons, by what the hand has: said once, for a whole run."""

from __future__ import annotations

from typing import Any

import numpy as np

from signals.layout import BoolArray
from signals.modes import FingerKind


def joint_sources(m: Any, f: int) -> tuple[str, ...]:
    """What the joint angles of finger ``f`` follow from; ``m``: MODEL scalar. Empty without such tendons."""
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    sensed, counts = m["hall_weight"][tendons] > 0.0, m["length_weight"][tendons] > 0.0
    differ = differing(m, tendons)
    told = {
        "joint sensors": (m["joint_weight_m2"][m["finger_joint"][f, : m["finger_n_joints"][f]]] > 0.0).any(),
        "sensors": sensed.any(),
        "force differences": (counts & ~sensed & differ).any(),
        "motor currents": (counts & ~sensed & ~differ).any(),
        "springs": m["finger_kind"][f] == FingerKind.SPRUNG,
    }
    return tuple(word for word, there in told.items() if there)


def tension_source(m: Any, t: int) -> str:
    """What the tension of tendon ``t`` follows from: sensor, motor's current, or motor and joints."""
    if m["hall_weight"][t] > 0.0:
        return "sensor"
    if differing(m, np.array([t]))[0]:
        return "force difference"
    return "motor current" if m["length_weight"][t] > 0.0 else "motor angle and joints"


def differing(m: Any, tendons: Any) -> BoolArray:
    """For each of some tendons whether a sensor tells the difference of its force to another's."""
    if not m["n_differences"]:
        return np.zeros(len(tendons), dtype=bool)
    first = np.flatnonzero(m["difference_to"][: int(m["n_tendons"])] >= 0)
    return np.asarray(np.isin(tendons, np.concatenate((first, m["difference_to"][first]))))


def channels_used(m: Any, tendons: Any) -> BoolArray:
    """For each of some tendons whether a sensor in its channel is used: its own, or that of a difference."""
    first = (m["difference_to"][tendons] >= 0) & (m["n_differences"] > 0)
    return np.asarray((m["hall_weight"][tendons] > 0.0) | first)


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
