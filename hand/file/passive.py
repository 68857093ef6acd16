"""Rows without a motor: return tendons, bands and springs over one or several joints of a finger.

A row is a spring along its path: tension ``preload_n`` with all joints at 0, and ``stiffness_n_m`` times what
its moment arms lengthen it by. Where it would be slack it is no spring, so that is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field

from hand.file.checks_names import joint_entries, reference
from hand.file.errors import shown
from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, number_of, positive_of, text_of
from hand.file.refusals import Refusal
from hand.file.values import Name, NonZero, Positive
from signals.layout import FloatArray
from signals.tables import Table

Raw = dict[str, Any]
SOFTEST: Final = 1e-6
"""Stiffness of the softest motion of a finger over that of the stiffest below which nothing holds it."""


class PassiveRow(Table):
    """``passive``: a return tendon, band or spring that no motor winds."""

    name: Name
    """Name, unique among passive rows and tendons."""
    finger: Name
    """Finger that it moves."""
    dh_dq_m_rad: Annotated[dict[Name, NonZero], Field(min_length=1)]
    """Its moment arms as a tendon's row of P: path length change per joint angle; positive extends."""
    stiffness_n_m: Positive
    """Stiffness along its path, of spring and cord in series."""
    preload_n: Positive
    """Tension with all joints at 0."""


def rows_of(raw: Raw, finger: str) -> list[tuple[int, Raw]]:
    """Passive rows of a finger with their places."""
    return [(k, row) for k, row in dicts_at(raw, "passive") if text_of(row, "finger") == finger]


def springs_at(raw: Raw, finger: str) -> tuple[FloatArray, FloatArray]:
    """Stiffness matrix [N m/rad] of a finger's joints and torque [N m] of its springs at 0, of a raw file.

    Returns:
        K, shape (n, n), and the torque with which springs and passive rows turn the joints at 0, shape (n,).
    """
    joints = [j for _, j in dicts_at(dict_at(raw, "fingers").get(finger), "joints")]
    names = [text_of(j, "name") for j in joints]
    K_nm_rad, start_nm = np.zeros((len(names), len(names))), np.zeros(len(names))
    for k, joint in enumerate(joints):
        spring = dict_at(joint, "spring")
        K_nm_rad[k, k] = positive_of(spring.get("stiffness_nm_rad")) if "spring" in joint else 0.0
        start_nm[k] = K_nm_rad[k, k] * math.radians(number_of(spring.get("rest_deg")) or 0.0)
    for _, row in rows_of(raw, finger):
        table = dict_at(row, "dh_dq_m_rad")
        arms = np.array([number_of(table.get(name)) or 0.0 for name in names])
        K_nm_rad += positive_of(row.get("stiffness_n_m")) * np.outer(arms, arms)
        start_nm -= arms * (number_of(row.get("preload_n")) or 0.0)
    return K_nm_rad, start_nm


def holds_all(K_nm_rad: FloatArray) -> bool:
    """True if springs of this matrix, shape (n, n), hold every motion of their joints."""
    if np.count_nonzero(K_nm_rad - np.diag(np.diag(K_nm_rad))) == 0:
        return bool((np.diag(K_nm_rad) > 0.0).all())
    values = np.linalg.eigvalsh(K_nm_rad)
    return bool(values[0] > SOFTEST * values[-1])


def passive_refusals(raw: Raw) -> Iterator[Refusal]:
    """Names that are not there or twice, joints of other fingers, rows that would be slack."""
    fingers = dict_at(raw, "fingers")
    taken: dict[str, Path] = {text_of(t, "name"): ("tendons", k, "name") for k, t in dicts_at(raw, "tendons")}
    for k, row in dicts_at(raw, "passive"):
        at: Path = ("passive", k)
        name, finger = text_of(row, "name"), text_of(row, "finger")
        if name and name in taken:
            legal = "a name that no tendon and no other passive row has"
            path: Path = (*at, "name")
            yield Refusal(path=path, found=f"{shown(name)} a second time", legal=legal, also=taken[name])
        taken.setdefault(name, (*at, "name"))
        yield from reference((*at, "finger"), finger, list(fingers), "a finger")
        own = [joint for _, joint, of in joint_entries(raw) if of == finger]
        for joint in dict_at(row, "dh_dq_m_rad") if own else ():
            yield from reference((*at, "dh_dq_m_rad", joint), joint, own, "a joint of the row's finger")
        yield from _slack(at, row, fingers.get(finger))


def _slack(at: Path, row: Raw, finger: Any) -> Iterator[Refusal]:
    """A preload that leaves the row slack somewhere in the ranges of its joints."""
    stiffness, preload = number_of(row.get("stiffness_n_m")), number_of(row.get("preload_n"))
    if stiffness is None or preload is None or stiffness <= 0.0 or preload <= 0.0:
        return
    ranges = {text_of(j, "name"): j.get("range_deg") for _, j in dicts_at(finger, "joints")}
    shorter_m, where = 0.0, []
    for joint, value in dict_at(row, "dh_dq_m_rad").items():
        arm, ends = number_of(value), ranges.get(joint)
        low, high = map(number_of, ends) if isinstance(ends, list) and len(ends) == 2 else (None, None)
        if arm is None or low is None or high is None:
            return
        end = low if arm > 0.0 else high
        shorter_m += arm * math.radians(end)
        where.append(f"{joint} at {end:g}")
    least_n = -stiffness * shorter_m
    if preload < least_n:
        found = f"{preload:g}: slack with {', '.join(where)} deg"
        yield Refusal(
            path=(*at, "preload_n"), found=found, legal=f"at least {least_n:.3g} N, taut over all ranges"
        )
