"""Curved paths of tendons: lever arms that depend on an angle, and keep their sign."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from hand.file.checks_names import reference
from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, number_of, point_of, text_of
from hand.file.refusals import Refusal

POSES: Final = 181


def curve_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """A curve at a joint without a lever arm, or one that turns the arm's sign within the joint's range."""
    fingers = dict_at(raw, "fingers")
    for k, tendon in dicts_at(raw, "tendons"):
        finger = fingers.get(text_of(tendon, "finger"))
        ranges = {text_of(j, "name"): j.get("range_deg") for _, j in dicts_at(finger, "joints")}
        row = dict_at(tendon, "dh_dq_m_rad")
        legal = [joint for joint in row if joint in ranges]
        if text_of(finger, "kind") == "tensegrity_base" and "dh_dq_curve_m" in tendon:
            legal_kind = "no curves in a finger of kind tensegrity_base"
            yield Refusal(path=("tendons", k, "dh_dq_curve_m"), found="a table of curves", legal=legal_kind)
        for joint, value in dict_at(tendon, "dh_dq_curve_m").items():
            at: Path = ("tendons", k, "dh_dq_curve_m", joint)
            what = "a joint of the tendon's finger that dh_dq_m_rad has"
            yield from reference(at, joint, legal, what)
            curve, arm, span = point_of(value), number_of(row.get(joint)), ranges.get(joint)
            ends = [number_of(v) for v in span] if isinstance(span, list) and len(span) == 2 else []
            if curve is None or arm is None or joint not in legal or len(ends) != 2 or None in ends:
                continue
            low, high = (math.radians(e or 0.0) for e in ends)
            q = np.linspace(low, high, POSES)
            arms = arm + q * (curve[0] + q * (curve[1] + q * curve[2]))
            wrong = q[arms * arm <= 0.0]
            if wrong.size:
                turns = math.degrees(float(wrong[np.abs(wrong).argmin()]))
                found = f"a lever arm of {joint} that is gone at {turns:.0f} deg"
                yield Refusal(
                    path=at, found=found, legal="a dh/dq that keeps its sign over the joint's range"
                )
