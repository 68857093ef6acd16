"""Poses of a motion at which a tensegrity base cannot be held are refused like a joint beyond its range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from controllers.motion import ChannelKind
from hand.file.balance import taut_pattern
from hand.file.refusals import Refusal
from hand.motion.build import Built
from hand.motion.channels import Table
from mechanics.coupling import tendon_jacobian
from signals.layout import FloatArray
from signals.modes import FingerKind, Mode, TendonKind
from signals.names import HandNames
from signals.records import RecordArray
from signals.sizes import JOINTS, TENDONS

LOOK_S: Final = 0.05
"""Time between the poses that are looked at."""
LONGEST_S: Final = 60.0
"""Channels with different periods are looked at for this long."""
ALIKE_DECIMALS: Final = 9
"""Of an angle [rad]: a pose that comes again, as it does in every period, is looked at once."""


def balance_refusals(built: Built, names: HandNames, model: RecordArray) -> Iterator[Refusal]:
    """The first pose of each tensegrity base without balanced tensions between least and greatest."""
    m = model[0]
    for f, mode in enumerate(built.modes):
        if m["finger_kind"][f] != FingerKind.TENSEGRITY_BASE or mode != Mode.JOINT_IMPEDANCE:
            continue
        joints = [int(j) for j in m["finger_joint"][f, :2]]
        keys = [(ChannelKind.JOINT_ANGLE, j) for j in joints]
        at = next((built.source[k] for k in keys if k in built.source), None)
        if at is None:
            continue
        tables = [built.channels[k] for k in keys]
        times = np.arange(0.0, _length_s(tables), LOOK_S)
        poses = np.stack([table.at(times) for table in tables], axis=1)
        _, first = np.unique(np.round(poses, ALIKE_DECIMALS), axis=0, return_index=True)
        for k in np.sort(first):
            time_s, pose = times[k], poses[k]
            if not _held(model, f, joints, pose):
                shown = ", ".join(
                    f"{names.joints[j]} {math.degrees(q):.0f}" for j, q in zip(joints, pose, strict=True)
                )
                found = f"{shown} deg after {time_s:.2f} s, where no tensions hold the base"
                yield Refusal(path=at, found=found, legal="poses that its straight tendons can hold")
                break


def _length_s(tables: list[Table]) -> float:
    first, second = (t.duration_s for t in tables)
    alike = not (first and second) or first == second or not all(t.periodic for t in tables)
    return max(first, second) + LOOK_S if alike else LONGEST_S


def _held(model: RecordArray, f: int, joints: list[int], pose: FloatArray) -> bool:
    m = model[0]
    q_rad, P_tj_m = np.zeros(JOINTS), np.zeros((TENDONS, JOINTS))
    q_rad[joints] = pose
    tendon_jacobian(m, q_rad, P_tj_m)
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    base = tendons[m["tendon_kind"][tendons] == TendonKind.INSERTION_POINTS]
    pattern = taut_pattern(P_tj_m[np.ix_(base, joints)])
    return pattern is not None and bool(
        (pattern * m["tension_min_n"][base] <= m["tension_max_n"][base]).all()
    )
