"""How joints are led into their stops as the hand file's ``homing`` wants it: in which order, how hard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from hand.hand import Hand

T = TypeVar("T")


def in_order(hand: Hand, items: Iterable[T], joint_of: Callable[[T], int]) -> Iterator[tuple[bool, T]]:
    """Items group by group as ``homing.sequence`` has their joints, then those that it leaves out.

    In a group a finger that carries others comes before them.

    Yields:
        Whether it is the first one of its group, and the item.
    """
    homing, names = hand.file.homing, hand.names.joints
    sequence = homing.sequence if homing is not None else ()
    rank = {name: g for g, group in enumerate(sequence) for name in group}
    place = {name: k for k, name in enumerate(name for group in sequence for name in group)}

    def key(item: T) -> tuple[int, int, int]:
        j = joint_of(item)
        return rank.get(names[j], len(sequence)), _carriers(hand, j), place.get(names[j], 0)

    before = -1
    for item in sorted(items, key=key):
        group = key(item)[0]
        yield group != before, item
        before = group


def _carriers(hand: Hand, j: int) -> int:
    """How many fingers carry that of joint ``j``, one on the other."""
    fingers, count = hand.file.fingers, 0
    name = hand.names.fingers[int(hand.model[0]["joint_finger"][j])]
    while (name := getattr(fingers[name], "parent", "")) in fingers:
        count += 1
    return count


def most_nm(hand: Hand, i: int) -> float:
    """Torque [N m] with which motor ``i`` may press: that of ``homing.current_a``, or its limit."""
    m, homing = hand.model[0], hand.file.homing
    limit = float(m["motor_torque_limit_nm"][i])
    if homing is None or homing.current_a is None:
        return limit
    return min(limit, homing.current_a * float(m["motor_torque_constant_nm_a"][i]))


def most_at_joint_nm(hand: Hand, j: int) -> float:
    """Torque [N m] with which joint ``j`` may be pressed to either side: that of the weaker of its sides.

    The tendons of one motor share its torque, so the one with the longest arm for its spool counts for all.
    """
    m = hand.model[0]
    most: dict[tuple[bool, int], float] = {}
    for t in range(int(m["n_tendons"])):
        arm, i = float(m["P_tj_m"][t, j]), int(m["tendon_motor"][t])
        if arm != 0.0:
            nm = most_nm(hand, i) * abs(arm) / abs(float(m["spool_radius_m"][t]))
            most[arm > 0.0, i] = max(nm, most.get((arm > 0.0, i), 0.0))
    return min(sum(nm for (closes, _), nm in most.items() if closes is side) for side in (False, True))
