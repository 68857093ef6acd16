"""Names that keys used to have, or have in the reference parameter set: accepted, with a notice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hand.file.locate import Path, dotted
from hand.file.refusals import Refusal

OLD_NAMES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("control", "rate"): ("control", "rate_hz"),
    ("controller", "tension_kp"): ("gains", "tension_kp_nm_n"),
    ("controller", "tension_kd"): ("gains", "tension_kd_nms_rad"),
    ("controller", "position_kp"): ("gains", "position_kp_nm_rad"),
    ("controller", "position_kd"): ("gains", "position_kd_nms_rad"),
    ("controller", "velocity_filter_hz"): ("gains", "velocity_filter_hz"),
    ("controller", "friction_gain"): ("gains", "friction_gain"),
    ("controller", "ripple_gain"): ("gains", "ripple_gain"),
    ("limits", "device_current"): ("limits", "device_current_a"),
    ("limits", "torque_rate"): ("limits", "torque_rate_nm_s"),
    ("limits", "tension_rate"): ("limits", "tension_rate_n_s"),
    ("spool", "radius"): ("spool", "radius_m"),
    ("friction", "gamma_1"): ("friction", "gamma_1_s_rad"),
    ("friction", "gamma_2"): ("friction", "gamma_2_nm"),
    ("friction", "gamma_3"): ("friction", "gamma_3_nms_rad"),
}
"""Old path -> new path; only where the unit is the same."""


@dataclass(frozen=True, slots=True)
class Notice:
    """An old name that was accepted."""

    path: Path
    new: Path
    text: str


def renamed(raw: dict[str, Any]) -> tuple[dict[str, Any], list[Notice], list[Refusal]]:
    """The file with new names: (file, notices, keys given under both names)."""
    result = {k: dict(v) if isinstance(v, dict) else v for k, v in raw.items()}
    notices: list[Notice] = []
    clashes: list[Refusal] = []
    for old, new in OLD_NAMES.items():
        table = result.get(old[0])
        if not isinstance(table, dict) or old[1] not in table:
            continue
        target = result.setdefault(new[0], {})
        if not isinstance(target, dict):
            continue
        if new[1] in target:
            clashes.append(
                Refusal(
                    path=old, found=f"the old name of {dotted(new)}, which is there too", legal="one of them"
                )
            )
            continue
        target[new[1]] = table.pop(old[1])
        notices.append(Notice(old, new, f"{dotted(old)} is an old name; write {dotted(new)}"))
        if not table:
            del result[old[0]]
    return result, notices, clashes
