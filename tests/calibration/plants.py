"""Simulated hands that differ from their file in how they are put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomlkit

from hand.file.loader import load_hand

Change = Callable[[Any], None]


def written(folder: Path, change: Change, hand: str = "finger_bench") -> str:
    """Path of a copy of a shipped hand with a change."""
    document = tomlkit.parse(Path(load_hand(hand).path).read_text())
    change(document)
    path = folder / "plant.toml"
    path.write_text(tomlkit.dumps(document))
    return str(path)


def reversed_motor(t: int) -> Change:
    """Tendon ``t`` is wound on the other side of its spool."""

    def change(document: Any) -> None:
        document["tendons"][t]["spool_radius_m"] = -float(document["spool"]["radius_m"])
        document["origin"]["tendons"]["spool_radius_m"] = "assumed: a mistake"

    return change


def exchanged(a: int, b: int, *keys: str) -> Change:
    """Two tendons have each other's keys.

    Motor and row of P: whatever the sensor of ``a`` sees belongs to ``b``, as if their Hall cables were
    swapped. The motor alone: the cables of the motors. The row alone: they run to each other's place.
    """

    def change(document: Any) -> None:
        one, two = document["tendons"][a], document["tendons"][b]
        for key in keys:
            one[key], two[key] = two.unwrap()[key], one.unwrap()[key]

    return change


HALLS = ("motor", "dh_dq_m_rad")
MOTORS = ("motor",)
PLACES = ("dh_dq_m_rad",)
