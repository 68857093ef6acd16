"""What the schema alone cannot see: duplicates, references, shapes, capacities, coupling, consistency.

Every check reads the raw file and steps over what is missing or of the wrong type (the schema reports that),
so that one run finds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from hand.file import (
    checks_coupling,
    checks_curves,
    checks_drives,
    checks_identified,
    checks_names,
    checks_physics,
    checks_shape,
    checks_size,
    checks_trees,
    homing,
    passive,
    sensors,
)
from hand.file.hand import HandFile
from hand.file.refusals import Refusal

Raw = dict[str, Any]

_RAW_CHECKS: Final[tuple[Callable[[Raw], Iterator[Refusal]], ...]] = (
    checks_names.duplicates,
    checks_names.references,
    checks_names.parents,
    checks_names.base_tendons,
    checks_drives.drive_refusals,
    checks_shape.bones_of_chains,
    checks_trees.tree_refusals,
    checks_shape.insertions,
    checks_shape.wrist_points,
    checks_shape.left_hands,
    homing.homing_refusals,
    checks_shape.capacities,
    checks_identified.identified_refusals,
    checks_coupling.coupling_refusals,
    checks_curves.curve_refusals,
    checks_curves.linkage_refusals,
    checks_physics.spring_refusals,
    passive.passive_refusals,
    sensors.sensor_refusals,
    checks_size.size_refusals,
)


def check_all(raw: Raw, hand: HandFile | None) -> list[Refusal]:
    """All checks; ``hand`` is the validated file, or None while the schema refuses it."""
    found = [r for check in _RAW_CHECKS for r in check(raw)]
    if hand is not None and not found:
        found += checks_physics.order_refusals(hand)
    return found
