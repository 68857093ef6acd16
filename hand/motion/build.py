"""Tracks of a motion file on a certain hand -> channels, checked against the hand's limits."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from controllers.motion import ChannelKind
from hand.file.errors import shown
from hand.file.locate import Path
from hand.file.refusals import Refusal
from hand.motion.channels import Table, points_table, ramp_table, rest, sine_table, steps_table
from hand.motion.palm import DifferentPeriods, OutOfReach, axis_tables
from hand.motion.schema import CUSTOMARY_ROLES, JointTrack, MotionFile, PalmTrack, PartTrack, Track
from mechanics.drives import FORCE_MODES, angles_taken
from signals.choices import nearest
from signals.modes import Mode
from signals.names import HandNames
from signals.records import RecordArray

_KINDS: Final[dict[str, tuple[ChannelKind, str, tuple[Mode, ...], float]]] = {
    "joint_deg": (ChannelKind.JOINT_ANGLE, "joint", (Mode.JOINT_IMPEDANCE,), math.pi / 180.0),
    "joint_torque_nm": (ChannelKind.JOINT_TORQUE, "joint", (Mode.JOINT_TORQUE, Mode.JOINT_IMPEDANCE), 1.0),
    "tendon_n": (ChannelKind.TENDON_FORCE, "tendon", (Mode.TENDON_FORCE,), 1.0),
    "motor_rad": (ChannelKind.MOTOR_ANGLE, "motor", (Mode.MOTOR_POSITION,), 1.0),
    "motor_torque_nm": (ChannelKind.MOTOR_TORQUE, "motor", (Mode.MOTOR_TORQUE,), 1.0),
}
"""Kind of track -> channel, index space, modes that the finger may have, factor to SI."""

Key = tuple[ChannelKind, int]


@dataclass(slots=True)
class Built:
    """Channels of a motion on a hand, and what is wrong with them."""

    modes: list[Mode]
    channels: dict[Key, Table] = field(default_factory=dict)
    source: dict[Key, Path] = field(default_factory=dict)
    """Track that a channel comes from; a channel at rest has none."""
    refusals: list[Refusal] = field(default_factory=list)


def build(motion: MotionFile, names: HandNames, model: RecordArray, mode: Mode | None) -> Built:
    """Channels of a motion on a hand.

    Args:
        motion: the checked file.
        names: names of the hand.
        model: its model record.
        mode: mode of all fingers in place of the file's; tracks of another mode are then left out.
    """
    built = Built(modes=_modes(motion, names, mode))
    for name in motion.modes:
        if name not in names.fingers:
            built.refusals.append(_unknown(("modes", name), name, names.fingers, "a finger"))
    for tendon in motion.tendons_off:
        if tendon not in names.tendons:
            built.refusals.append(_unknown(("tendons_off",), tendon, names.tendons, "a tendon"))
    if motion.object and not model["object_radius_m"][0] > 0.0:
        built.refusals.append(Refusal(path=("object",), found="true", legal="a hand with an [object]"))
    _refuse_forces(built, names, model)
    _rest_channels(built, names, model)
    palm: dict[str, tuple[Path, Table]] = {}
    for k, track in enumerate(motion.tracks):
        at: Path = ("tracks", k)
        if isinstance(track, PalmTrack):
            palm[track.kind] = (at, _table_of(track, 0).scaled(math.pi / 180.0))
        else:
            _add(built, at, track, names, model, forced=mode is not None)
    if palm:
        _add_palm(built, palm, model)
    return built


def _refuse_forces(built: Built, names: HandNames, model: RecordArray) -> None:
    """A mode that asks a finger for forces whose drives take angles."""
    m = model[0]
    for f, mode in enumerate(built.modes):
        if mode in FORCE_MODES and angles_taken(m, f):
            found = f"{names.fingers[f]} in mode {mode.name.lower()}, its drives take angles"
            built.refusals.append(Refusal(path=("mode",), found=found, legal="a mode of angles"))


def _unknown(path: Path, name: str, legal: tuple[str, ...], what: str) -> Refusal:
    return Refusal(
        path=path,
        found=shown(name),
        legal=f"{what} of the hand: {', '.join(legal) or 'it has none'}",
        nearest=nearest(name, legal),
    )


def _modes(motion: MotionFile, names: HandNames, mode: Mode | None) -> list[Mode]:
    if mode is not None:
        return [mode] * len(names.fingers)
    return [Mode[motion.modes.get(finger, motion.mode).upper()] for finger in names.fingers]


def _rest_channels(built: Built, names: HandNames, model: RecordArray) -> None:
    """What stands still unless a track moves it: straight joints, pretension, motors where they are."""
    m = model[0]
    for f, mode in enumerate(built.modes):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        if mode == Mode.JOINT_IMPEDANCE:
            built.channels |= {(ChannelKind.JOINT_ANGLE, int(j)): rest(0.0) for j in joints}
        elif mode == Mode.JOINT_TORQUE:
            built.channels |= {(ChannelKind.JOINT_TORQUE, int(j)): rest(0.0) for j in joints}
        elif mode == Mode.TENDON_FORCE:
            force = float(m["pretension_n"][f])
            built.channels |= {(ChannelKind.TENDON_FORCE, int(t)): rest(force) for t in tendons}
        elif mode == Mode.MOTOR_POSITION:
            motors = [int(m["tendon_motor"][t]) for t in tendons]
            built.channels |= {(ChannelKind.MOTOR_ANGLE, i): rest(0.0, relative=True) for i in motors}
        elif mode == Mode.MOTOR_TORQUE:
            motors = [int(m["tendon_motor"][t]) for t in tendons]
            built.channels |= {(ChannelKind.MOTOR_TORQUE, i): rest(0.0) for i in motors}
    for axis in range(len(names.axes)):
        built.channels[ChannelKind.AXIS_ANGLE, axis] = rest(float(m["wrist_neutral_rad"][axis]))


def _table_of(track: Track, finger_rank: int) -> Table:
    if track.sine is not None:
        return sine_table(track.sine, finger_rank)
    if track.points is not None:
        return points_table(track.points)
    if track.steps is not None:
        return steps_table(track.steps)
    assert track.ramp is not None  # the schema wants exactly one
    return ramp_table(track.ramp)


def _add(
    built: Built,
    at: Path,
    track: JointTrack | PartTrack,
    names: HandNames,
    model: RecordArray,
    *,
    forced: bool,
) -> None:
    kind, space, modes, factor = _KINDS[track.kind]
    chosen, refusals = _selected(track, at, space, names)
    built.refusals += refusals
    for index in chosen:
        finger = finger_of(model, space, index)
        if built.modes[finger] not in modes:
            if not forced:
                found = f"{names.of(space)[index]} in mode {built.modes[finger].name.lower()}"
                wanted = " or ".join(mode.name.lower() for mode in modes)
                legal = f"mode {wanted} for a track of {track.kind}"
                built.refusals.append(Refusal(path=at, found=found, legal=legal))
            continue
        key = (kind, index)
        relative = isinstance(track, PartTrack) and track.relative
        table = _table_of(track, finger).scaled(factor)
        built.channels[key] = replace(table, relative=True) if relative else table
        built.source[key] = at


def finger_of(model: RecordArray, space: str, index: int) -> int:
    """Finger of a joint, a tendon or a motor."""
    m = model[0]
    if space == "joint":
        return int(m["joint_finger"][index])
    if space == "motor":
        index = int((m["tendon_motor"][: m["n_tendons"]] == index).argmax())
    return int(m["tendon_finger"][index])


def _selected(
    track: JointTrack | PartTrack, at: Path, space: str, names: HandNames
) -> tuple[list[int], list[Refusal]]:
    legal = names.of(space)
    if isinstance(track, JointTrack) and track.roles is not None:
        return _with_roles(track, at, names)
    chosen, refusals = [], []
    for k, pattern in enumerate(track.names or ()):
        hits = [i for i, name in enumerate(legal) if fnmatch.fnmatchcase(name, pattern)]
        chosen += [i for i in hits if i not in chosen]
        if not hits and not track.optional:
            refusals.append(_unknown((*at, "names", k), pattern, legal, f"a {space}"))
    return chosen, refusals


def _with_roles(track: JointTrack, at: Path, names: HandNames) -> tuple[list[int], list[Refusal]]:
    """Joints with one of the track's roles; a role that is neither the hand's nor customary is refused."""
    wanted, had = track.roles or (), tuple(dict.fromkeys(names.joint_roles))
    chosen = [j for j, role in enumerate(names.joint_roles) if role in wanted]
    legal = f"roles that {names.hand} has: {', '.join(had) or 'none'}"
    foreign = [(k, r) for k, r in enumerate(wanted) if r not in had and r not in CUSTOMARY_ROLES]
    if track.optional:
        return chosen, []
    if foreign:
        return [], [
            Refusal(
                path=(*at, "roles", k),
                found=shown(r),
                legal=legal,
                nearest=nearest(r, (*had, *CUSTOMARY_ROLES)),
            )
            for k, r in foreign
        ]
    if not chosen:
        return [], [
            Refusal(path=(*at, "roles"), found="no joint with the role " + " or ".join(wanted), legal=legal)
        ]
    return chosen, []


def _add_palm(built: Built, palm: dict[str, tuple[Path, Table]], model: RecordArray) -> None:
    at = next(iter(palm.values()))[0]
    if int(model["n_axes"][0]) == 0:
        built.refusals.append(Refusal(path=at, found="a track of the palm", legal="a hand with a wrist"))
        return
    pitch, yaw = palm.get("palm_pitch_deg"), palm.get("palm_yaw_deg")
    try:
        tables = axis_tables(model, pitch and pitch[1], yaw and yaw[1])
    except OutOfReach as error:
        built.refusals.append(Refusal(path=at, found=str(error), legal="a pose that the wrist reaches"))
    except DifferentPeriods:
        legal = "pitch and yaw with the same times or period"
        built.refusals.append(Refusal(path=at, found="pitch and yaw that repeat apart", legal=legal))
    else:
        for axis, table in enumerate(tables):
            built.channels[ChannelKind.AXIS_ANGLE, axis] = table
            built.source[ChannelKind.AXIS_ANGLE, axis] = at


@dataclass(frozen=True, slots=True)
class _Limit:
    space: str
    low: str | None
    high: str
    unit: str
    factor: float


_DEG = 180.0 / math.pi
_LIMITS: Final[dict[ChannelKind, _Limit]] = {
    ChannelKind.JOINT_ANGLE: _Limit("joint", "joint_min_rad", "joint_max_rad", "deg", _DEG),
    ChannelKind.TENDON_FORCE: _Limit("tendon", "tension_min_n", "tension_max_n", "N", 1.0),
    ChannelKind.MOTOR_TORQUE: _Limit("motor", None, "motor_torque_limit_nm", "N m", 1.0),
    ChannelKind.AXIS_ANGLE: _Limit("axis", "axis_min_rad", "axis_max_rad", "deg", _DEG),
}
_ROUNDING: Final = 1e-9


def limit_refusals(built: Built, names: HandNames, model: RecordArray) -> Iterator[Refusal]:
    """Channels that leave a range: the first time of each, with its value and the range."""
    m = model[0]
    for (kind, index), table in built.channels.items():
        at = built.source.get((kind, index), ())
        if kind == ChannelKind.MOTOR_ANGLE:
            yield from _speed_refusals(at, index, table, names, model)
            continue
        if kind not in _LIMITS:
            continue
        limit = _LIMITS[kind]
        high = float(m[limit.high][index])
        low = -high if limit.low is None else float(m[limit.low][index])
        outside = (table.values < low - _ROUNDING) | (table.values > high + _ROUNDING)
        if outside.any():
            node = int(outside.argmax())
            name = names.of(limit.space)[index]
            value = table.values[node] * limit.factor
            found = f"{name} at {value:.1f} {limit.unit} after {node * table.step_s:.2f} s"
            legal = f"{low * limit.factor:.1f} to {high * limit.factor:.1f} {limit.unit}"
            yield Refusal(path=at, found=found, legal=legal)


def _speed_refusals(
    at: Path, index: int, table: Table, names: HandNames, model: RecordArray
) -> Iterator[Refusal]:
    limit = float(model["motor_speed_limit_rad_s"][0, index])
    fastest = float(abs(table.slopes).max())
    if fastest > limit:
        found = f"{names.motors[index]} at {fastest:.1f} rad/s"
        yield Refusal(path=at, found=found, legal=f"up to {limit:.1f} rad/s")
