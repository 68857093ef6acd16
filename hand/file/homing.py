"""Table of a hand file's homing: the pose at which a run begins, and how a hand gets there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from hand.file.checks_names import joint_entries, reference
from hand.file.errors import shown
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import Refusal
from hand.file.values import Name, Positive, left_empty
from signals.tables import Table

Group = Annotated[tuple[Name, ...], Field(min_length=1)]


class Homing(Table):
    """How joint angles are known when a run begins; without this table the hand is straight."""

    pose: Literal["straight", "jig", "absolute", "joint_sensors", "stops"]
    """``straight``: somebody brought it there; ``jig``: a jig holds it straight; ``absolute``: straight at
    motor angle 0; ``joint_sensors``: they tell; ``stops``: every joint is driven against its end."""
    sequence: Annotated[
        tuple[Annotated[tuple[Name, ...], Field(min_length=1)], ...], Field(exclude_if=left_empty)
    ] = ()
    """Joints in the order in which ``calibrate travel``, ``calibrate zero`` and ``identify pairs`` lead them
    into their stops, group by group; what is left out comes last. Left out: all fingers at once."""
    current_a: Annotated[Positive | None, Field(exclude_if=left_empty)] = None
    """Greatest current of a motor with which they press there, beyond pretension and friction; left out: as
    hard as these commands need."""


POSES = ("straight", "jig", "absolute", "joint_sensors", "stops")
NOT_ON_A_BUS = {
    "stops": "no run begins by driving joints against their ends: flexor calibrate zero, or identify pairs, "
    'does it once and writes the zeros of motors into the file, for pose = "absolute"',
}
"""Pose -> why a run with a bus is refused."""


def homing_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """Sequences of unknown joints or of one joint twice; sensors that are missing."""
    homing = dict_at(raw, "homing")
    joints = [name for _, name, _ in joint_entries(raw)]
    sensed = {text_of(row, "at") for _, row in dicts_at(raw, "sensors") if text_of(row, "kind") == "joint"}
    bare = [name for name in joints if name not in sensed]
    if text_of(homing, "pose") == "joint_sensors" and bare:
        found = f'"joint_sensors" without a sensor at {", ".join(bare)}'
        yield Refusal(
            path=("homing", "pose"), found=found, legal="a row of sensors of kind joint for every joint"
        )
    seen: set[str] = set()
    groups = homing.get("sequence")
    for g, group in enumerate(groups if isinstance(groups, list) else ()):
        for k, name in enumerate(group if isinstance(group, list) else ()):
            if not isinstance(name, str):
                continue
            path = ("homing", "sequence", g, k)
            yield from reference(path, name, joints, "a joint of the hand")
            if name in seen:
                yield Refusal(path=path, found=f"{shown(name)} a second time", legal="every joint once")
            seen.add(name)
