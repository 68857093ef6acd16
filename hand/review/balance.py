"""Joints at rest: equal tensions in the start pose, and what springs across joints add to them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hand.assembly.assemble import model_of
from hand.assembly.tendons import sprung_fingers
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
            spring = joint.spring
            own = 0.0 if spring is None else spring.stiffness_nm_rad * math.radians(spring.rest_deg)
            start = force * torque.get(joint.name, 0.0) + own
            if abs(start) > 0.01 * force * size.get(joint.name, 0.0):
                with_spring = "" if spring is None else " and its spring"
                text = f"equal tensions of {force:g} N{with_spring} turn {joint.name} with {start:.3f} N m"
                yield ("fingers", name, "joints", k), text


def joint_springs(hand: HandFile) -> Found:
    """Tendons have to hold a joint's spring all over the range, each side with half of what it has.

    Not where springs take the place of tendons: there joints end where spring and tendon balance.
    """
    pull = hand.tendon.force_max_n - hand.tendon.force_min_n
    sprung = sprung_fingers(model_of(hand)) if any(j.spring for j in hand.joints) else ()
    for f, (name, finger) in enumerate(hand.fingers.items()):
        for k, joint in enumerate(finger.joints):
            if joint.spring is None or f in sprung:
                continue
            arms = [(t.dh_dq_m_rad or {}).get(joint.name, 0.0) for t in hand.tendons]
            for end in joint.range_deg:
                way = math.radians(end - joint.spring.rest_deg)
                spring = joint.spring.stiffness_nm_rad * way
                most = pull * sum(abs(a) for a in arms if a * way < 0.0)
                if abs(spring) > 0.5 * most:
                    text = f"{abs(spring):.3g} N m at {end:g} deg, and its tendons give {most:.3g} N m"
                    yield ("fingers", name, "joints", k, "spring"), text
                    break
