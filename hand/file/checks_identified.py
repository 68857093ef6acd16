"""Checks of ``[identified]``: what was measured names parts that have it, and fits into the records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hand.file.checks_names import reference
from hand.file.drive import AXIS_KEYS, JOINT_KEYS, MOTOR_KEYS, TENDON_KEYS, Identified
from hand.file.errors import shown
from hand.file.raw import dict_at, dicts_at, number_of, text_of
from hand.file.refusals import Refusal
from hand.file.wrist import AXES
from signals.sizes import RIPPLES

Raw = dict[str, Any]


def _rows(table: Any) -> list[tuple[str, str]]:
    return [(text_of(row, "shaft"), str(row.get("order"))) for _, row in dicts_at(table, "ripple")]


def _kinds(raw: Raw) -> tuple[tuple[str, list[str], tuple[str, ...]], ...]:
    """(kind, its names, what can be measured of it)."""
    tendons = [text_of(row, "name") for _, row in dicts_at(raw, "tendons")]
    fingers = dict_at(raw, "fingers").values()
    joints = [text_of(row, "name") for finger in fingers for _, row in dicts_at(finger, "joints")]
    motors = list(dict_at(raw, "motors"))
    axes = list(AXES) if isinstance(raw.get("wrist"), dict) else []
    return (
        ("motor", motors, MOTOR_KEYS),
        ("tendon", tendons, TENDON_KEYS),
        ("joint", joints, JOINT_KEYS),
        ("wrist axis", axes, AXIS_KEYS),
    )


def _geometry(raw: Raw, name: str, table: Any) -> Iterator[Refusal]:
    """Lever arms and a spool keep their joints and their signs."""
    rows = [row for _, row in dicts_at(raw, "tendons") if text_of(row, "name") == name]
    path, own = ("identified", name), dict_at(rows[0], "dh_dq_m_rad") if rows else {}
    for joint, found in dict_at(table, "dh_dq_m_rad").items():
        arm = number_of(own.get(joint))
        if arm is None:
            yield from reference(
                (*path, "dh_dq_m_rad", joint), joint, list(own), "a joint of the tendon's row"
            )
        elif (number_of(found) or 0.0) * arm <= 0.0:
            legal = f"a number with the sign of the tendon's own, {arm:g}"
            yield Refusal(path=(*path, "dh_dq_m_rad", joint), found=shown(found), legal=legal)
    radius = number_of(table.get("spool_radius_m")) if isinstance(table, dict) and rows else None
    side = (number_of(rows[0].get("spool_radius_m")) or 1.0) if rows else 1.0
    if radius is not None and radius * side <= 0.0:
        legal = "a number with the sign of the tendon's own spool_radius_m, or above 0"
        yield Refusal(path=(*path, "spool_radius_m"), found=shown(radius), legal=legal)


def identified_refusals(raw: Raw) -> Iterator[Refusal]:
    """Names of no part, keys of another kind, harmonics that come twice or find no room."""
    every, kinds = list(dict.fromkeys(_rows(raw))), _kinds(raw)
    names = [name for _, parts, _ in kinds for name in parts]
    for name, table in dict_at(raw, "identified").items():
        yield from reference(("identified", name), name, names, "a motor, a tendon, a joint or a wrist axis")
        mine = [(kind, keys) for kind, parts, keys in kinds if name in parts]
        keys_of_it = [key for _, keys in mine for key in keys]
        for key in table if isinstance(table, dict) and mine else ():
            if key in Identified.model_fields and key not in keys_of_it:
                what = " and ".join(kind for kind, _ in mine)
                yield Refusal(
                    path=("identified", name, key),
                    found=f"{key} of {what} {name}",
                    legal=", ".join(keys_of_it),
                )
        yield from _geometry(raw, name, table)
        rows = _rows(table)
        for k, row in enumerate(rows):
            if row in rows[:k]:
                found = f"{row[0]} shaft, order {row[1]}, a second time"
                yield Refusal(
                    path=("identified", name, "ripple", k), found=found, legal="every harmonic once"
                )
        every += [row for row in dict.fromkeys(rows) if row not in every]
    if len(every) > RIPPLES and "identified" in raw:
        legal = f"at most {RIPPLES} with those of the hand (signals/sizes.py)"
        yield Refusal(path=("identified",), found=f"{len(every)} different harmonics", legal=legal)
