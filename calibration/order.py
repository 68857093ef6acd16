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
    """Torque [N m] with which joint ``j`` may be pressed to either side: that of the weaker of its sides."""
    m = hand.model[0]
    sides = {-1.0: 0.0, 1.0: 0.0}
    for t in range(int(m["n_tendons"])):
        arm = float(m["P_tj_m"][t, j])
        if arm != 0.0:
            pull_n = most_nm(hand, int(m["tendon_motor"][t])) / abs(float(m["spool_radius_m"][t]))
            sides[1.0 if arm > 0.0 else -1.0] += abs(arm) * pull_n
    return min(sides.values())
