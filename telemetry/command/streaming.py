"""A stream of poses as a client opens, feeds and ends it; played into the goal in every turn of io.

What the control loop sees are goals like any others, so that it has nothing to do with streams: the reference
governor glides between two of them, and a stream that falls silent ends as any goal that is too old.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Final

import numpy as np

from signals.modes import MachineState
from signals.names import HandNames, UnknownName
from signals.records import RecordArray
from telemetry.command.client_goal import ClientGoal
from telemetry.command.playout import Playout
from telemetry.command.requests import GoalArgs, Refusal, StreamArgs

_LIMITS: Final = {"rate_hz": (10.0, 500.0), "ramp_s": (0.2, 30.0), "jump_rad": (0.05, math.pi)}
_PER_LIFE: Final = 2.0
"""Samples in the time that a goal lives: with fewer, the first one that is late ends the stream."""


def limits(oldest_s: float) -> dict[str, tuple[float, float]]:
    """Argument of ``begin`` -> least and greatest value, where a goal lives for ``oldest_s``."""
    slowest, fastest = _LIMITS["rate_hz"]
    return {**_LIMITS, "rate_hz": (max(slowest, min(_PER_LIFE / oldest_s, fastest)), fastest)}


_FARTHEST_RAD: Final = 2.0 * math.pi
"""Beyond a turn is a mistake of units; beyond the joint's range is where a person's hand may be."""
_FARTHEST_S: Final = 1e11
"""A time beyond it is no number of seconds: whole microseconds are lost in it."""
_BEGIN: Final = 'begin one: {do: "begin", rate_hz}'


class Streaming:
    """At most one stream of the lease's holder.

    Args:
        names: names of the hand.
        model: the controller's model.
        client_goal: what is played into.
    """

    def __init__(self, names: HandNames, model: RecordArray, client_goal: ClientGoal) -> None:
        m = model[0]
        self._names, self._goal = names, client_goal
        self._all, self._n_joints = (*names.joints, *names.axes), len(names.joints)
        self._oldest_s = float(m["command_age_s"])
        n, k = self._n_joints, len(names.axes)
        ranges = client_goal.bounds.ranges
        speed = np.minimum(m["joint_speed_max_rad_s"], ranges["joint_speeds"][1])
        self._low = np.concatenate([m["joint_min_rad"][:n], m["axis_min_rad"][:k]])
        self._high = np.concatenate([m["joint_max_rad"][:n], m["axis_max_rad"][:k]])
        self._fastest = np.concatenate([speed[:n], m["axis_speed_limit_rad_s"][:k]])
        self._playout: Playout | None = None
        self._named = np.zeros(n + k, dtype=np.bool_)
        self._clamped: list[str] = []
        self._why = ""
        self._breaks = 0

    def do(self, args: StreamArgs, now_ns: int) -> dict[str, Any]:
        """Begin, feed or end; returns what the answer says about the stream.

        Raises:
            Refusal: something is wrong; nothing was changed.
        """
        if args.do == "begin":
            self._begin(args, now_ns)
        elif args.do == "send":
            self._put(args, now_ns)
        elif args.do == "end":
            return self._ended(now_ns)
        else:
            raise Refusal("bad_args", f"stream: do is {args.do!r}", "legal: begin, send, end")
        return self._told(now_ns)

    def play(self, now_ns: int) -> None:
        """Bring the goal to where the stream is now."""
        if self._playout is None:
            return
        silent_s = now_ns * 1e-9 - self._playout.fresh_s
        if self._broken or silent_s > self._oldest_s:
            self._end(f"the last good sample came {silent_s:.2f} s before the hand gave up", now_ns)
        elif self._named.any():
            pose, speed = self._playout.read(now_ns * 1e-9)
            self._write({"angle_rad": pose, "speed_rad_s": speed}, self._named, now_ns)

    def goal_sent(self, args: GoalArgs, now_ns: int) -> None:
        """A goal that names a streamed joint or axis ends the stream: two would pull at it."""
        if {*args.joints, *args.joint_speeds, *args.axes, *args.axis_speeds} & set(self._streamed()):
            self._end(
                "a goal named one of its joints or axes", now_ns, {*args.joint_speeds, *args.axis_speeds}
            )

    @property
    def _broken(self) -> bool:
        """Lease, stop, fault or holding came since it began, even where a goal came after that."""
        return self._goal.breaks != self._breaks

    def _begin(self, args: StreamArgs, now_ns: int) -> None:
        for name, (low, high) in limits(self._oldest_s).items():
            value = getattr(args, name)
            if not low <= value <= high:
                raise Refusal(
                    "out_of_range", f"stream.{name} is {value:.4g}; legal are {low:g} to {high:.4g}"
                )
        if not 0.0 < args.speed_rad_s:
            raise Refusal(
                "out_of_range", f"stream.speed_rad_s is {args.speed_rad_s:.4g}; legal are positive ones"
            )
        frame = self._goal.frame
        if frame is None or frame["state"]["machine"] != MachineState.ACTIVE:
            raise Refusal("not_active", "only an active hand follows a stream", "activate it first")
        start, n, k = self._goal.where(now_ns), self._n_joints, len(self._names.axes)
        self._named[:] = False
        self._clamped, self._why = [], ""
        self._playout = Playout(
            np.concatenate([start["joint_angle_rad"][0, :n], start["axis_angle_rad"][0, :k]]),
            self._low,
            self._high,
            np.minimum(self._fastest, args.speed_rad_s),
            now_ns * 1e-9,
            period_s=1.0 / args.rate_hz,
            ramp_s=args.ramp_s,
            jump_rad=args.jump_rad,
            oldest_s=self._oldest_s,
        )
        self._goal.steer({}, now_ns, now_ns)
        self._breaks = self._goal.breaks

    def _put(self, args: StreamArgs, now_ns: int) -> None:
        playout = self._playout
        if playout is None or self._broken:
            why = f": {self._why}" if self._why else ""
            raise Refusal("no_stream", f"no stream is open{why}", _BEGIN)
        if args.t is None or not math.isfinite(args.t) or abs(args.t) > _FARTHEST_S:
            raise Refusal("not_finite", f"stream.t is {args.t}; legal is a time in seconds, of any clock")
        pose, found = playout.wanted_rad.copy(), {}
        for space, values, first in (("joint", args.joints, 0), ("axis", args.axes, self._n_joints)):
            for name, value in values.items():
                found[first + self._index(space, name, value)] = name
                pose[first + self._index(space, name, value)] = value
        if not found:
            raise Refusal("bad_args", "a sample without joints and axes", "name at least one")
        if playout.put(args.t, pose, now_ns * 1e-9):
            self._named[list(found)] = True
            outside = (pose < self._low) | (pose > self._high)
            self._clamped = [name for k, name in found.items() if outside[k]]

    def _index(self, space: str, name: str, value: float) -> int:
        try:
            index: int = self._names.index(space, name)
        except UnknownName as error:
            raise Refusal("unknown_name", str(error), "nothing was changed") from None
        if not math.isfinite(value):
            raise Refusal("not_finite", f"{name} is {value}", "nothing was changed; send finite numbers")
        if abs(value) > _FARTHEST_RAD:
            raise Refusal("out_of_range", f"{name} is {value:.4g} rad; degrees?", "nothing was changed")
        return index

    def _write(self, fields: dict[str, Any], named: Any, now_ns: int) -> None:
        """Set fields of joints and axes, each of shape (joints + axes,), where ``named``."""
        assert self._playout is not None
        n, found = self._n_joints, {}
        for space, part in (("joint", slice(0, n)), ("axis", slice(n, None))):
            index = np.flatnonzero(named[part])
            for field, values in fields.items():
                found[f"{space}_{field}"] = (index, values[part][index])
        self._goal.steer(found, now_ns, round(self._playout.fresh_s * 1e9))

    def _end(self, why: str, now_ns: int, moving: Collection[str] = ()) -> None:
        """The goal stays where it is, at rest but for those that are ``moving`` by another's will."""
        if self._playout is not None and not self._broken and self._goal.usable(now_ns):
            resting = self._named & [name not in moving for name in self._all]
            self._write({"speed_rad_s": np.zeros(len(self._all))}, resting, now_ns)
        self._playout, self._why = None, why

    def _streamed(self) -> list[str]:
        if self._playout is None:
            return []
        return [self._all[k] for k in np.flatnonzero(self._named)]

    def _ended(self, now_ns: int) -> dict[str, Any]:
        """End, and where the goal is left."""
        if self._playout is None:
            return {"joints": {}, "axes": {}, "why": self._why}
        left = dict(
            zip([*self._names.joints, *self._names.axes], self._playout.pose_rad.tolist(), strict=True)
        )
        named, joints = self._streamed(), set(self._names.joints)
        self._end("it was ended", now_ns)
        return {
            "joints": {name: left[name] for name in named if name in joints},
            "axes": {name: left[name] for name in named if name not in joints},
            "why": self._why,
        }

    def _told(self, now_ns: int) -> dict[str, Any]:
        assert self._playout is not None
        playout = self._playout
        return {
            "delay_s": playout.delay_s,
            "share": playout.share(now_ns * 1e-9),
            "late": playout.late,
            "jumps": playout.jumps,
            "clamped": self._clamped,
        }
