"""Joints at rest: equal tensions in the start pose, and what springs across joints add to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from hand.assembly.assemble import model_of
from hand.assembly.tendons import sprung_fingers
from hand.file.fingers import Joint
from hand.file.hand import HandFile
from hand.file.locate import Path

Found = Iterator[tuple[Path, str]]


def balance(hand: HandFile) -> Found:
    """Equal tensions should leave the straight fingers at rest: only then is the start pose one."""
    torque: dict[str, float] = {}
    size: dict[str, float] = {}
    for tendon in hand.tendons:
        for named, value in (tendon.dh_dq_m_rad or {}).items():
            torque[named] = torque.get(named, 0.0) - value
            size[named] = size.get(named, 0.0) + abs(value)
    force = hand.tendon.pretension_n
    for name, finger in hand.fingers.items():
        for k, joint in enumerate(finger.joints):
            own = _springs_nm(hand, name, joint, {})
            start = force * torque.get(joint.name, 0.0) - own
            if abs(start) > 0.01 * force * size.get(joint.name, 0.0):
                sprung = joint.spring is not None or own != 0.0
                with_spring = " and its spring" if sprung else ""
                text = f"equal tensions of {force:g} N{with_spring} turn {joint.name} with {start:.3f} N m"
                yield ("fingers", name, "joints", k), text


def _springs_nm(hand: HandFile, finger: str, joint: Joint, at_deg: dict[str, float]) -> float:
    """Torque [N m] that holds a joint against its spring and passive rows at angles by name; others at 0."""
    spring, torque = joint.spring, 0.0
    if spring is not None:
        torque = spring.stiffness_nm_rad * math.radians(at_deg.get(joint.name, 0.0) - spring.rest_deg)
    for row in hand.passive:
        way = sum(arm * math.radians(at_deg.get(j, 0.0)) for j, arm in row.dh_dq_m_rad.items())
        arm = row.dh_dq_m_rad.get(joint.name, 0.0) if row.finger == finger else 0.0
        torque += arm * max(row.preload_n + row.stiffness_n_m * way, 0.0)
    return torque


def _ends(hand: HandFile, finger: str, joint: Joint) -> Iterator[tuple[float, float]]:
    """Both ends of a joint's range [deg], and the greatest torque of its springs [N m] at any pose."""
    others = [j for j in hand.fingers[finger].joints if j.name != joint.name]
    crossing = [r.dh_dq_m_rad for r in hand.passive if joint.name in r.dh_dq_m_rad]
    for end in joint.range_deg:
        coupled = [j for j in others if any(j.name in row for row in crossing)]
        poses = itertools.product(*(j.range_deg for j in coupled))
        held = [
            _springs_nm(
                hand,
                finger,
                joint,
                {j.name: q for j, q in zip(coupled, pose, strict=True)} | {joint.name: end},
            )
            for pose in poses
        ]
        yield end, max(held, key=abs)


def joint_springs(hand: HandFile) -> Found:
    """Tendons have to hold a joint's springs all over the range, each side with half of what it has.

    Not where springs take the place of tendons: there joints end where spring and tendon balance.
    """
    pull = hand.tendon.force_max_n - hand.tendon.force_min_n
    any_spring = bool(hand.passive) or any(j.spring for j in hand.joints)
    sprung = sprung_fingers(model_of(hand)) if any_spring else ()
    for f, (name, finger) in enumerate(hand.fingers.items()):
        for k, joint in enumerate(finger.joints):
            row = next((r for r, p in enumerate(hand.passive) if joint.name in p.dh_dq_m_rad), None)
            if f in sprung or (joint.spring is None and row is None):
                continue
            arms = [(t.dh_dq_m_rad or {}).get(joint.name, 0.0) for t in hand.tendons]
            for end, spring in _ends(hand, name, joint):
                most = pull * sum(abs(a) for a in arms if a * spring < 0.0)
                if abs(spring) > 0.5 * most:
                    text = f"{abs(spring):.3g} N m at {end:g} deg, and its tendons give {most:.3g} N m"
                    own = ("fingers", name, "joints", k, "spring")
                    yield own if row is None or joint.spring is not None else ("passive", row), text
                    break
