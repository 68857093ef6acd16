"""The coupling P = dh/dq of each finger: every joint moved, full rank, tendons that can all be taut at once.

A finger can be driven by pulling tendons only if P has full column rank and a tension pattern with every
tendon taut leaves the joints at rest: some f > 0 with P^T f = 0 (force closure). Springs at all its joints
may take the place of tendons that are not there (``hand.file.checks_sprung``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hand.file.balance import insertion_row, taut_pattern
from hand.file.checks_names import carried_joints
from hand.file.checks_sprung import all_sprung, are_independent, sprung_refusals, unsprung
from hand.file.locate import Path
from hand.file.passive import springs_at
from hand.file.raw import dict_at, dicts_at, number_of, point_of, text_of
from hand.file.refusals import Refusal
from signals.layout import FloatArray

RANK_TOLERANCE = 1e-6
"""Smallest singular value over the largest below which a direction counts as not driven."""


def coupling_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """Refusals of all fingers whose rows can be read."""
    for name, finger in dict_at(raw, "fingers").items():
        joints = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
        rows = [(k, t) for k, t in dicts_at(raw, "tendons") if text_of(t, "finger") == name]
        if all(joints) and len(set(joints)) == len(joints):
            carried = carried_joints(dict_at(raw, "fingers"), name)
            own = [(k, _without(t, carried)) for k, t in rows]
            yield from _finger(raw, name, joints, own)
            if number_of(dict_at(raw, "gains").get("tension_kp_nm_n")) != 0.0:
                sensors = [s for _, s in dicts_at(raw, "sensors") if text_of(s, "kind") == "force"]
                force = {text_of(s, "at") for s in sensors}
                pairs = [
                    (text_of(s, "at"), text_of(s, "against"))
                    for _, s in dicts_at(raw, "sensors")
                    if text_of(s, "kind") == "force_difference"
                ]
                yield from _seen(name, finger, joints, own, force, pairs)


def _without(tendon: dict[str, Any], joints: list[str]) -> dict[str, Any]:
    """A tendon without what the joints that carry its finger do to it."""
    row = tendon.get("dh_dq_m_rad")
    if not isinstance(row, dict) or not any(j in row for j in joints):
        return tendon
    return tendon | {"dh_dq_m_rad": {j: v for j, v in row.items() if j not in joints}}


def _finger(
    raw: dict[str, Any], name: str, joints: list[str], tendons: list[tuple[int, dict[str, Any]]]
) -> Iterator[Refusal]:
    at: Path = ("fingers", name)
    finger = dict_at(raw, "fingers")[name]
    if not tendons:
        yield Refusal(path=at, found="a finger without tendons", legal="tendons that name it as their finger")
        return
    rows = []
    for k, tendon in tendons:
        row = _row(tendon, finger, joints)
        if row is None:
            return
        if not row.any():
            path: Path = ("tendons", k, "insertion" if "insertion" in tendon else "dh_dq_m_rad")
            yield Refusal(
                path=path, found="a row of zeros", legal="a tendon that moves a joint of its finger"
            )
        rows.append(row)
    P_tj_m = np.array(rows)
    named = ", ".join(text_of(t, "name") for _, t in tendons)
    idle = [j for j, column in zip(joints, P_tj_m.T, strict=True) if not column.any()]
    for joint in idle:
        where: Path = (*at, "joints", joints.index(joint))
        yield Refusal(path=where, found=f"no tendon moves {joint}", legal=f"a row of {named} that names it")
    if idle:
        return
    if all_sprung(raw, name) and are_independent(P_tj_m):
        yield from sprung_refusals(raw, at, P_tj_m, tendons)
        return
    if len(tendons) < len(joints) + 1:
        legal = f"at least {len(joints) + 1}: tendons only pull; or fewer, and a spring at every joint"
        if 0 < len(bare := unsprung(raw, name)) < len(joints):
            legal += f" (there is none at {', '.join(bare)})"
        elif not bare:
            legal += f" (passive rows leave the motion {unseen_motion(springs_at(raw, name)[0], joints)})"
        yield Refusal(
            path=at, found=f"{len(tendons)} tendons ({named}) for {len(joints)} joints", legal=legal
        )
        return
    yield from list(_rank(at, P_tj_m, joints, named)) or _moved(at, P_tj_m, joints, tendons)


def _moved(
    at: Path, P_tj_m: FloatArray, joints: list[str], tendons: list[tuple[int, dict[str, Any]]]
) -> Iterator[Refusal]:
    """Motors that wind several tendons still have to move every joint: a pair by its difference alone."""
    motors = list(dict.fromkeys(text_of(t, "motor") for _, t in tendons))
    if len(motors) == len(tendons):
        return
    rows = np.zeros((len(motors), len(joints)))
    for (_, tendon), row in zip(tendons, P_tj_m, strict=True):
        radius = number_of(tendon.get("spool_radius_m")) or 1.0
        rows[motors.index(text_of(tendon, "motor"))] += radius * row
    motion = unseen_motion(rows, joints)
    if motion:
        legal = "at least as many motors as joints, and spool_radius_m of opposite sign for opposed tendons"
        yield Refusal(path=at, found=f"{', '.join(motors)} cannot make the motion {motion}", legal=legal)


def _seen(
    name: str,
    finger: Any,
    joints: list[str],
    tendons: list[tuple[int, dict[str, Any]]],
    force: set[str],
    differences: list[tuple[str, str]],
) -> Iterator[Refusal]:
    """Where sensors do not tell all joints apart, motors' currents do; those must not be fed back to them."""
    rows = {k: _row(t, finger, joints) for k, t in tendons}
    used = {
        k
        for k, t in tendons
        if t.get("hall_used") is not False and ("hall_channel" in t or text_of(t, "name") in force)
    }
    seen = [row for k, row in rows.items() if k in used and row is not None]
    of = {text_of(t, "name"): rows[k] for k, t in tendons}
    for one, other in differences:
        ours, theirs = of.get(one), of.get(other)
        if ours is not None and theirs is not None:
            seen.append(ours - theirs)
    every = [row for row in rows.values() if row is not None]
    motion = unseen_motion(np.array(seen), joints)
    if len(every) == len(rows) and motion and every and not unseen_motion(np.array(every), joints):
        blind = ", ".join(text_of(t, "name") for k, t in tendons if k not in used)
        found = f"without sensors of {blind} only their motors' currents tell the motion {motion}"
        legal = "sensors at them, or gains.tension_kp_nm_n = 0: no tension that a current tells is fed back"
        yield Refusal(path=("fingers", name), found=found, legal=legal)


def unseen_motion(P_tj_m: FloatArray, joints: list[str]) -> str:
    """A motion of the joints that changes no tendon's length, in words; empty if there is none."""
    if not len(P_tj_m):
        return " ".join(f"+1 {j}" for j in joints)
    _, values, directions = np.linalg.svd(P_tj_m)
    if int(np.sum(values > RANK_TOLERANCE * values[0])) == len(joints):
        return ""
    idle = directions[-1] / np.abs(directions[-1]).max()
    return " ".join(f"{a:+.2g} {j}" for a, j in zip(idle, joints, strict=True) if abs(a) > 0.01)


def _rank(at: Path, P_tj_m: FloatArray, joints: list[str], named: str) -> Iterator[Refusal]:
    motion = unseen_motion(P_tj_m, joints)
    if motion:
        rank = int(np.linalg.matrix_rank(P_tj_m, tol=RANK_TOLERANCE * np.linalg.norm(P_tj_m, 2)))
        found = f"rows of {named} with rank {rank}: nothing sees the motion {motion}"
        yield Refusal(path=at, found=found, legal=f"dh_dq_m_rad rows of rank {len(joints)}")
        return
    pattern = taut_pattern(P_tj_m)
    if pattern is None:
        found = f"rows of {named} that cannot all be taut with the joints at rest"
        yield Refusal(
            path=at, found=found, legal="tensions f > 0 with P^T f = 0 (an antagonist for every tendon)"
        )


def _row(tendon: dict[str, Any], finger: Any, joints: list[str]) -> FloatArray | None:
    """Row of P at the straight finger, or None if it cannot be read."""
    row = np.zeros(len(joints))
    values = tendon.get("dh_dq_m_rad")
    if isinstance(values, dict):
        for joint, value in values.items():
            number = number_of(value)
            if joint not in joints or number is None:
                return None
            row[joints.index(joint)] = number
        return row
    return _insertion_row(tendon, finger, joints)


def _insertion_row(tendon: dict[str, Any], finger: Any, joints: list[str]) -> FloatArray | None:
    """Row of a tensegrity base tendon at the straight thumb; zeros if its points fall together."""
    chosen = dict_at(dict_at(finger, "insertions"), text_of(finger, "insertion_set"))
    letter = text_of(tendon, "insertion")
    start = point_of(dict_at(chosen, "palm_m").get(letter))
    end = point_of(dict_at(chosen, "bone_m").get(letter))
    lengths = [number_of(b.get("length_m")) for _, b in dicts_at(finger, "bones")]
    if start is None or end is None or len(lengths) != 4 or lengths[0] is None or lengths[1] is None:
        return None
    if len(joints) < 2:
        return None
    row = np.zeros(len(joints))
    row[:2] = insertion_row(np.array(start), np.array(end), lengths[0], lengths[1], 0.0, 0.0)
    return row
