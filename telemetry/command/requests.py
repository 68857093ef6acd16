"""Commands from clients: decoded by schema, checked whole, then applied - or refused with the reason.

Message ``{v, id, op, lease?, args?, deadline?}``, reply ``{id, ok, error: {code, msg, hint}, state}``. A
request with one bad part changes nothing. Nothing on the wire can carry code: MessagePack maps only.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import msgspec

from signals.choices import advice
from signals.modes import Mode
from signals.names import HandNames, UnknownName
from signals.records import RecordArray
from telemetry.command.bounds import Bounds, goal_bounds
from telemetry.command.servos import unfulfillable, unfulfillable_mode

VERSION: Final = 1
SIZE_LIMIT: Final = 64 * 1024
"""Bytes of a request; a goal for 64 motors with everything is below 8 kB."""


class Refusal(Exception):
    """Why a request was not carried out.

    Attributes:
        code: word for programs.
        hint: what to do next.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class Message(msgspec.Struct, forbid_unknown_fields=True):
    """One request as it comes from the wire."""

    v: int
    id: int | str
    op: str
    lease: int = 0
    args: msgspec.Raw = msgspec.Raw(b"\x80")
    deadline: float = 0.0


class GoalArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``goal``: name -> value in SI, only what is to change."""

    joints: dict[str, float] = {}
    joint_speeds: dict[str, float] = {}
    joint_torques: dict[str, float] = {}
    tensions: dict[str, float] = {}
    tension_rates: dict[str, float] = {}
    motors: dict[str, float] = {}
    motor_speeds: dict[str, float] = {}
    motor_torques: dict[str, float] = {}
    axes: dict[str, float] = {}
    axis_speeds: dict[str, float] = {}
    impedances: dict[str, float] = {}
    dampings: dict[str, float] = {}
    stiffnesses: dict[str, float] = {}
    pretension: dict[str, float] = {}


class StreamArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``stream``: begin, send or end; ``t`` in seconds of the sender's clock."""

    do: str
    t: float | None = None
    joints: dict[str, float] = {}
    axes: dict[str, float] = {}
    rate_hz: float = 60.0
    ramp_s: float = 1.0
    jump_rad: float = 0.6
    speed_rad_s: float = math.inf


class ModeArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``mode``: finger name (or ``*``) -> mode name."""

    fingers: dict[str, str]


class LeaseArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``lease``."""

    do: str
    holder: str = ""
    why: str = ""


class GetArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``get``: which key of the view."""

    keys: list[str] = []


class RecordArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``record``: start or stop."""

    do: str


class StopArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of ``stop``: who stops the hand."""

    by: str = ""


class NoArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Operations without arguments."""


ARGS: Final[dict[str, Any]] = {
    "goal": GoalArgs,
    "stream": StreamArgs,
    "mode": ModeArgs,
    "lease": LeaseArgs,
    "get": GetArgs,
    "stop": StopArgs,
    "record": RecordArgs,
    **{op: NoArgs for op in ("arm", "activate", "rearm", "off", "ping", "hand", "snapshot")},
}
FREE: Final = frozenset({"stop", "ping", "get", "hand", "lease", "snapshot"})
"""Operations that need no lease."""
LOOKS: Final = FREE - {"lease"}
"""Operations that a viewer's key is good for."""
_REQUEST: Final = msgspec.msgpack.Decoder(Message)
_DECODERS: Final = {op: msgspec.msgpack.Decoder(kind) for op, kind in ARGS.items()}

GOAL_FIELDS: Final = {
    "joints": ("joint_angle_rad", "joint"),
    "joint_speeds": ("joint_speed_rad_s", "joint"),
    "joint_torques": ("joint_torque_nm", "joint"),
    "tensions": ("tendon_force_n", "tendon"),
    "tension_rates": ("tendon_force_rate_n_s", "tendon"),
    "motors": ("motor_angle_rad", "motor"),
    "motor_speeds": ("motor_speed_rad_s", "motor"),
    "motor_torques": ("motor_torque_nm", "motor"),
    "axes": ("axis_angle_rad", "axis"),
    "axis_speeds": ("axis_speed_rad_s", "axis"),
    "impedances": ("joint_impedance_nm_rad", "joint"),
    "dampings": ("joint_damping_nms_rad", "joint"),
    "stiffnesses": ("joint_stiffness_nm_rad", "joint"),
    "pretension": ("pretension_n", "finger"),
}
"""Argument -> field of the goal record and index space; ``bounds.goal_bounds`` has the ranges."""
_SLACK: Final = {"joints": 0.05, "axes": 0.05}
"""How far outside its range a goal may be [rad]: a pose measured at a stop must be sendable again."""
UNREADABLE: Final = (msgspec.MsgspecError, RecursionError, ValueError, TypeError, MemoryError)
"""What decoding foreign bytes may raise: UnicodeDecodeError is a ValueError, a list as key a TypeError."""


def parse(payload: bytes) -> tuple[Message, Any]:
    """Message and its typed arguments.

    Raises:
        Refusal: it is no such map, of another version, or an operation or argument is unknown.
    """
    if len(payload) > SIZE_LIMIT:
        raise Refusal("too_large", f"{len(payload)} bytes; legal are {SIZE_LIMIT}")
    try:
        request = _REQUEST.decode(payload)
    except UNREADABLE as error:
        raise Refusal("malformed", f"not a request: {error}", "docs/telemetry.md shows one") from None
    if request.v != VERSION:
        raise Refusal("version", f"version {request.v}; this side speaks {VERSION}", "update the client")
    decoder = _DECODERS.get(request.op)
    if decoder is None:
        raise Refusal("unknown_op", f"no operation {request.op!r}", advice(request.op, ARGS))
    try:
        return request, decoder.decode(request.args)
    except UNREADABLE as error:
        hint = _which(str(error), ARGS[request.op]) or "nothing was changed"
        raise Refusal("bad_args", f"{request.op}: {error}", hint) from None


def _which(error: str, kind: Any) -> str:
    """The nearest argument, where an error is about one that does not exist."""
    found = re.search(r"unknown field `(.*)`", error)
    return advice(found[1], kind.__struct_fields__) if found and kind.__struct_fields__ else ""


def id_of(payload: bytes) -> Any:
    """Id of a request that could not be parsed, for the reply; ``None`` if it has none."""
    try:
        found = msgspec.msgpack.decode(payload[:SIZE_LIMIT])
    except UNREADABLE:
        return None
    identity = found.get("id") if isinstance(found, dict) else None
    return identity if isinstance(identity, int | str) else None


def _check_value(argument: str, name: str, value: float, low: float, high: float) -> None:
    if not math.isfinite(value):
        raise Refusal(
            "not_finite", f"{argument}.{name} is {value}", "nothing was changed; send finite numbers"
        )
    slack = _SLACK.get(argument, 1e-9)
    if value < low - slack or value > high + slack:
        raise Refusal(
            "out_of_range",
            f"{argument}.{name} is {value:.4g}; legal are {low:.4g} to {high:.4g}",
            "nothing was changed",
        )


def apply_goal(
    args: GoalArgs,
    names: HandNames,
    model: RecordArray,
    goal: RecordArray,
    bounds: Bounds | None = None,
    motor_now_rad: Any = None,
) -> int:
    """Write checked values into ``goal`` (a scratch copy of the caller's); returns how many.

    Args:
        args: what the client sent.
        names: names of the hand.
        model: model record, for the bounds where none are given.
        goal: record to write into, shape (1,).
        bounds: ``goal_bounds`` of the model, made once.
        motor_now_rad: measured motor angles, shape (I,): motor goals are bounded around them.

    Raises:
        Refusal: a name, a number or a bound is wrong; ``goal`` may be half written then: drop it.
    """
    count = 0
    bounds = bounds or goal_bounds(model)
    for argument, (field, space) in GOAL_FIELDS.items():
        for name, value in getattr(args, argument).items():
            try:
                index = names.index(space, name)
            except UnknownName as error:
                raise Refusal("unknown_name", str(error), "nothing was changed") from None
            reason = unfulfillable(model[0], argument, space, index, value)
            if reason:
                raise Refusal("not_offered", f"{argument}.{name}: {reason}", "nothing was changed")
            _check_value(argument, name, value, *bounds.of(argument, index, motor_now_rad))
            goal[field][0, index] = value
            count += 1
    return count


def apply_mode(args: ModeArgs, names: HandNames, model: RecordArray, goal: RecordArray) -> int:
    """Write finger modes into ``goal``; returns how many.

    Raises:
        Refusal: a finger or a mode is unknown, or the finger's drives cannot be in it.
    """
    legal = [m.name.lower() for m in Mode]
    count = 0
    for finger, word in args.fingers.items():
        if word not in legal:
            raise Refusal("unknown_mode", f"no mode {word!r}", advice(word, legal))
        try:
            indices = range(len(names.fingers)) if finger == "*" else [names.index("finger", finger)]
        except UnknownName as error:
            raise Refusal("unknown_name", str(error), "nothing was changed") from None
        mode = Mode[word.upper()]
        for index in indices:
            reason = unfulfillable_mode(model[0], index, mode)
            if reason:
                hint = "joint_impedance and motor_position take angles; nothing was changed"
                raise Refusal("not_offered", f"fingers.{names.fingers[index]}: {reason}", hint)
            goal["finger_mode"][0, index] = int(mode)
            count += 1
    return count
