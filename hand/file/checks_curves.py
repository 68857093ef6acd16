"""Curved paths of tendons: lever arms that depend on an angle, and keep their sign; linkages that close."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from hand.file.checks_names import reference
from hand.file.locate import Path
from hand.file.passive import rows_of
from hand.file.raw import dict_at, dicts_at, number_of, point_of, text_of
from hand.file.refusals import Refusal
from mechanics.fourbar import LEAST_SINE, FourBar, four_bar

BARS: Final = ("ground_m", "crank_m", "coupler_m", "rocker_m")
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


def linkage_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """Linkages with tendons on their rocker that cannot be assembled, or lock within the joint's range."""
    for name, finger in dict_at(raw, "fingers").items():
        table = dict_at(finger, "four_bar")
        if "tendons_on" not in table:
            continue
        at: Path = ("fingers", name, "four_bar")
        joint = next((j for _, j in dicts_at(finger, "joints")), {})
        yield from _on_other_tendons(raw, name, text_of(joint, "name"))
        opened = "spring" in joint or any(True for _ in rows_of(raw, name))
        if opened and sum(t.get("finger") == name for _, t in dicts_at(raw, "tendons")) < 2:
            legal = "two tendons: a joint that a spring opens has lever arms that stay"
            yield Refusal(path=at, found="a linkage in a finger opened by a spring", legal=legal)
        bars = [number_of(table.get(key)) for key in BARS]
        neutral, span = number_of(table.get("neutral_crank_deg")), joint.get("range_deg")
        ends = [number_of(v) for v in span] if isinstance(span, list) and len(span) == 2 else []
        if None in bars or neutral is None or len(ends) != 2 or None in ends:
            continue
        ground, crank, coupler, rocker = (float(b or 0.0) for b in bars)
        try:
            FourBar(
                ground_m=ground,
                crank_m=crank,
                coupler_m=coupler,
                rocker_m=rocker,
                neutral_crank_rad=math.radians(neutral),
            )
        except ValueError as error:
            found, _, legal = str(error).partition("; ")
            yield Refusal(path=at, found=found, legal=legal)
            continue
        for q in np.linspace(float(ends[0] or 0.0), float(ends[1] or 0.0), POSES):
            margin = four_bar(ground, crank, coupler, rocker, math.radians(neutral + float(q)))[3]
            if not margin >= LEAST_SINE:
                found = f"a linkage that is next to its toggle at {q:.1f} deg of {text_of(joint, 'name')}"
                legal = f"a sine of at least {LEAST_SINE:g} between coupler and rocker over range_deg"
                yield Refusal(path=at, found=found, legal=legal)
                break


def _on_other_tendons(raw: dict[str, Any], finger: str, joint: str) -> Iterator[Refusal]:
    """Tendons of other fingers cannot wind on this finger's rocker."""
    for k, tendon in dicts_at(raw, "tendons"):
        if joint in dict_at(tendon, "dh_dq_m_rad") and text_of(tendon, "finger") != finger:
            path: Path = ("tendons", k, "dh_dq_m_rad", joint)
            legal = f"a joint without tendons on a rocker; only tendons of {finger} run over it"
            yield Refusal(path=path, found=f"{joint} in a row of {text_of(tendon, 'finger')}", legal=legal)
