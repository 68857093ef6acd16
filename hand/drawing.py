"""What a program needs to draw a hand and to offer legal goals: part of ``meta``, in place of a hand file.

``geometry`` has fields of the model by their names in docs/signals.md, cut to what the hand uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hand.assembly.meshes import meshes_of
from hand.hand import Hand, Mechanism
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray
from signals.table import TABLE
from telemetry.columns import counts_of, used_shape

COUNTS: Final = ("n_tendons", "n_joints", "n_fingers", "n_axes", "n_bodies")
FIELDS: Final = (
    "body_parent", "body_joint", "body_ratio", "body_rotation", "body_origin_m", "body_axis",
    "finger_tip_body", "finger_tip_m", "joint_finger", "joint_impedance_nm_rad", "joint_min_rad",
    "joint_max_rad", "tendon_finger", "tendon_kind", "P_tj_m", "insertion_palm_m", "insertion_bone_m",
    "forearm_point_m", "palm_point_m", "tension_min_n", "tension_max_n", "tension_limit_n", "pretension_n",
    "thumb_metacarpal_m", "wrist_size_m", "wrist_neutral_rad", "wrist_origin_m", "winding_limit_degc",
)  # fmt: skip
"""Fields of the model from which a picture of the hand and its bands are made."""
SPACES: Final = {
    "joints": "joint", "joint_speeds": "joint", "joint_torques": "joint", "tensions": "tendon",
    "axes": "axis", "impedances": "joint", "dampings": "joint", "stiffnesses": "joint",
    "pretension": "finger",
}  # fmt: skip
"""Arguments of ``goal`` whose ranges are published -> index space."""


def geometry_of(model: RecordArray) -> dict[str, Any]:
    """Fields of a model, shape (1,), as numbers and nested lists."""
    counts = counts_of(model) | {"body": int(model["n_bodies"][0])}
    signals = {signal.name: signal for signal in TABLE["model"]}
    found: dict[str, Any] = {name: int(model[name][0]) for name in COUNTS}
    for name in FIELDS:
        used = tuple(slice(0, n) for n in used_shape(signals[name], counts))
        found[name] = _short(model[name][0][used].tolist())
    return found


def drawing_of(hand: Hand, *folders: Path) -> dict[str, Any]:
    """What ``meta`` says of a hand's picture.

    Args:
        hand: the hand.
        folders: where meshes are looked for before the folder of the hand file, as that of a log.

    Returns:
        ``geometry``; ``mechanism``: of a mechanism, else ``None``; ``meshes``; ``gears``: the lines of gears
        stand in the place of tendons and run nowhere.
    """
    tendons = hand.mechanism is None
    return {
        "geometry": geometry_of(hand.model),
        "mechanism": None if hand.mechanism is None else mechanism_of(hand.mechanism),
        "meshes": meshes_of(hand.file, *folders) if tendons else [],
        "gears": tendons and bool(hand.file.gears),
    }


def mechanism_of(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism's own file, its coordinates [rad] where joint and axis angles are 0, and at the start."""
    home, start = mechanism.home.tolist(), mechanism.start.tolist()
    return {"file": mechanism.file.mechanism, "home_rad": home, "poses_rad": [start]}


def _short(values: Any) -> Any:
    """Zeros as integers: most of the matrices are zeros, and those take one byte each."""
    return [_short(v) for v in values] if isinstance(values, list) else values or 0


def ranges_of(
    names: HandNames, ranges: dict[str, tuple[FloatArray, FloatArray]]
) -> dict[str, dict[str, list[float]]]:
    """Argument of ``goal`` -> name -> [least, greatest] in SI.

    Args:
        names: names of the hand.
        ranges: argument -> (least, greatest), as ``telemetry.command.bounds`` makes them.
    """
    return {
        argument: {
            name: [float(low), float(high)]
            for name, low, high in zip(names.of(space), *ranges[argument], strict=False)
        }
        for argument, space in SPACES.items()
    }
