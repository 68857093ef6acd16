"""Kinds of ``calibrate``, and what else is measured with the tendons on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from calibration import (
    geometry,
    guides,
    levers,
    pair_plan,
    pairs,
    tension,
    tension_page,
    travel,
    travel_page,
    wiring,
    wiring_page,
    wrist,
)
from calibration.eligible import WRIST, tendons_for
from calibration.found import Found
from calibration.listening import See
from calibration.motion_run import Watch
from hand.hand import Hand
from hand.options import RunOptions
from reports.parquet import Table, by_part
from signals.layout import FloatArray

Procedure = Callable[[Hand, RunOptions, list[int], Watch], Found]


def _wiring(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    found = wiring.look(hand, options, tendons, watch)
    wound = [hand.names.tendons[t] for t in found.tendons][: found.answers.shape[1]]
    table = _zeros_of(hand, found.zeros_rad) | by_part("answer", wound, found.answers)
    rows, pages = wiring_page.parts_of(hand, found), wiring_page.sections(hand, found)
    return Found(rows, found.seconds, pages, {"tendons": table})


def _zeros_of(hand: Hand, zeros_rad: FloatArray) -> Table:
    """Angle of each tendon's motor of the straight hand, shape (tendons,)."""
    return {"tendon": np.array(hand.names.tendons), "zero_rad": zeros_rad}


def tensioned(
    hand: Hand, options: RunOptions, tendons: list[int], watch: Watch, see: See | None = None
) -> Found:
    """Into their band, once the connections are known to be right; tendons named alone get new zeros."""
    found = tension.tension(hand, options, tendons, watch, see)
    if found.wiring.findings:
        rows, pages = wiring_page.parts_of(hand, found.wiring), wiring_page.sections(hand, found.wiring)
        return Found(rows, found.seconds, pages, {})
    mine = [hand.names.tendons[t] for t in tendons]
    raw: dict[str, Table] = {
        "windows": {"time_s": found.time_s} | by_part("tension_n", mine, found.tension_n),
        "tendons": {
            "tendon": np.array(mine),
            "wound_m": found.wound_m,
            "zero_rad": found.wiring.zeros_rad[tendons],
        },
    }
    rows, pages = tension_page.parts_of(hand, found), tension_page.sections(hand, found)
    if len(tendons) == len(hand.names.tendons):
        return Found(rows, found.seconds, pages, raw)
    return Found(rows, found.seconds, pages, raw, lambda origin: tension_page.zeros_of(hand, found, origin))


def _travel(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """From stop to stop, once the connections are known to be right."""
    wired = wiring.look(hand, options, tendons, lambda x: watch(0.4 * x))
    if wired.findings:
        return Found(wiring_page.parts_of(hand, wired), wired.seconds, wiring_page.sections(hand, wired), {})
    joints = travel.joints_of(hand, tendons)
    found, seconds = (
        travel.travel_joints(hand, options, joints, lambda x: watch(0.4 + 0.6 * x)) if joints else ([], 0.0)
    )
    stops = np.array([t.stops_rad for t in found], dtype=float).reshape(-1, 2)
    raw: dict[str, Table] = {
        "joints": {"joint": np.array([hand.names.joints[t.joint] for t in found], dtype=str)}
        | by_part("stop_rad", ("low", "high"), stops),
        "tendons": _zeros_of(hand, wired.zeros_rad),
    }
    left = [j for j in range(len(hand.names.joints)) if j not in joints and _moved(hand, j, tendons)]
    notices = [
        f"{hand.names.joints[j]} is not travelled, its motors get no zero_rad: {travel.why_not(hand, j)}"
        for j in left
    ]
    rows = travel_page.joint_parts(hand, found)
    return Found(rows, wired.seconds + seconds, travel_page.sections(hand, found), raw, notices=notices)


def _moved(hand: Hand, j: int, tendons: list[int]) -> bool:
    """Joint of a finger of these tendons."""
    m = hand.model[0]
    return int(m["joint_finger"][j]) in {int(m["tendon_finger"][t]) for t in tendons}


def _zero(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """As travel, and each motor's angle of the straight hand for the hand file."""
    found = _travel(hand, options, tendons, watch)
    if not found.raw:
        return found
    joints, zeros_rad = found.raw["joints"]["joint"].tolist(), found.raw["tendons"]["zero_rad"]
    zeros = travel_page.motor_parts(hand, tendons, joints, zeros_rad, found.parts)
    return replace(found, parts=found.parts + zeros, patch=lambda origin: travel_page.patch_of(zeros, origin))


def _once_wired(procedure: Procedure) -> Procedure:
    """A procedure behind a look at the connections: what is reversed would be loosened on and on."""

    def find(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
        wired = wiring.look(hand, options, tendons, lambda x: watch(0.3 * x))
        if wired.findings:
            rows, pages = wiring_page.parts_of(hand, wired), wiring_page.sections(hand, wired)
            return Found(rows, wired.seconds, pages, {})
        found = procedure(hand, options, tendons, lambda x: watch(0.3 + 0.7 * x))
        return replace(found, seconds=wired.seconds + found.seconds)

    return find


KINDS: Final[dict[str, Procedure]] = {
    "wiring": _wiring,
    "tension": tensioned,
    "travel": _travel,
    "zero": _zero,
    "hall": _once_wired(partial(levers.found_levers, levers.HALL)),
    WRIST: _once_wired(wrist.found_wrist),
}
IDENTIFIED: Final[dict[str, Procedure]] = {
    "springs": _once_wired(partial(levers.found_levers, levers.SPRINGS)),
    levers.LEVERS: _once_wired(partial(levers.found_levers, levers.LEVERS)),
    "geometry": _once_wired(geometry.found_geometry),
    "guides": _once_wired(guides.found_guides),
    pair_plan.PAIRS: pairs.found_pairs,
}
"""What ``identify`` measures with the tendons on."""


def calibrated(
    kind: str, hand: Hand, options: RunOptions, tendons: list[int], watch: Watch, see: See | None = None
) -> Found:
    """Run the procedure of a kind on these tendons; nothing moves for those that it cannot measure.

    Args:
        kind: of ``KINDS`` or ``IDENTIFIED``.
        hand: the hand, read.
        options: hand, bus, seed, ... of the runs.
        tendons: their indices.
        watch: told the share done.
        see: is shown the tensions on their way into their band.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    mine, rest = tendons_for(kind, hand, tendons)
    if not mine:
        return Found(rest, 0.0, [], {})
    if kind == "tension":
        found = tensioned(hand, options, mine, watch, see)
    else:
        found = (KINDS | IDENTIFIED)[kind](hand, options, mine, watch)
    return replace(found, notices=[*(f"{part.name}: {part.text}" for part in rest), *found.notices])
