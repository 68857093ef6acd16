"""The goal that clients build up, request by request, and whether it still means anything.

A goal counts while the client that sent it keeps on sending. Once it is older than the hand's
``command_age_s``, or lease, stop, fault or holding came between, nobody stands behind it any more: whatever
comes next starts from the measured pose, never from what was left.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.goal import default_goal
from signals.modes import MachineState, Request
from signals.names import HandNames
from signals.records import GOAL, RecordArray
from telemetry.command.bounds import goal_bounds
from telemetry.command.requests import GoalArgs, ModeArgs, apply_goal, apply_mode
from telemetry.shm.segment import Segment

ANCIENT_NS: Final = 1
"""Time of a goal nobody stands behind: older than any limit. (0 would be a motion's, which never ages.)"""
_MEASURED: Final = (
    ("joint_angle_rad", "state", "joint_angle_rad"),
    ("axis_angle_rad", "state", "axis_angle_rad"),
    ("motor_angle_rad", "measurement", "motor_angle_rad"),
    ("tendon_force_n", "state", "tension_n"),
)
_AT_REST: Final = (
    "joint_speed_rad_s",
    "joint_torque_nm",
    "motor_speed_rad_s",
    "motor_torque_nm",
    "tendon_force_rate_n_s",
    "axis_speed_rad_s",
)


class ClientGoal:
    """Keeps the goal record of the clients and posts it.

    Args:
        names: names of the hand.
        model: the controller's model.
        segment: mailbox; numbers go on from what stands in it, also if an earlier process wrote it.
        pretension_n: co-contraction of a new client's goal.

    Attributes:
        goal: the record, shape (1,).
        frame: newest frame (a FRAME scalar), or ``None``.
        bounds: of every number that a client may send.
        breaks: how often something came between the goal and the hand: lease, stop, fault, holding.
    """

    def __init__(
        self, names: HandNames, model: RecordArray, segment: Segment, pretension_n: float | None
    ) -> None:
        self.frame: Any = None
        self._names, self._model, self._segment = names, model, segment
        self.bounds = goal_bounds(model)
        self._age_ns = int(float(model["command_age_s"][0]) * 1e9)
        self._first = default_goal(model, pretension_n)
        self._first["time_ns"] = ANCIENT_NS
        self.goal = self._first.copy()
        before = segment.field("goal_words").view(GOAL)
        for field in ("seq", "request_seq", "request"):
            self.goal[field] = before[field]
        self._live = self._dirty = False
        self.breaks = 0

    def see(self, frame: Any) -> None:
        """A frame (a FRAME scalar); one that is older than the newest is passed over."""
        before = self.frame
        if before is not None:
            if frame["state"]["tick"] < before["state"]["tick"]:
                return
            active = int(MachineState.ACTIVE)
            if before["state"]["machine"] == active and frame["state"]["machine"] != active:
                self.forget()
        self.frame = frame

    def usable(self, now_ns: int) -> bool:
        """A client stands behind the goal now."""
        return self._live and now_ns - int(self.goal["time_ns"][0]) <= self._age_ns

    def forget(self) -> None:
        """Nobody stands behind the goal any more; gains and modes stay."""
        self._live = False
        self.breaks += 1

    def renew(self) -> None:
        """Another client: it inherits nothing, neither goal nor gains nor modes."""
        self.forget()
        kept = {field: int(self.goal[field][0]) for field in ("seq", "request_seq", "request")}
        self.goal[:] = self._first
        for field, value in kept.items():
            self.goal[field] = value

    def change(self, args: GoalArgs | ModeArgs, now_ns: int) -> int:
        """Apply a ``goal`` or a ``mode``, whole or not at all; returns how many values it set.

        Only a goal says that somebody stands behind it: a mode leaves its age as it is.

        Raises:
            Refusal: something in it is wrong.
        """
        scratch = self.where(now_ns)
        if isinstance(args, GoalArgs):
            frame = self.frame
            motor_now = None if frame is None else frame["measurement"]["motor_angle_rad"]
            count = apply_goal(args, self._names, self._model, scratch, self.bounds, motor_now)
            scratch["time_ns"] = now_ns
        else:
            count = apply_mode(args, self._names, self._model, scratch)
        self._live = isinstance(args, GoalArgs) or self.usable(now_ns)
        self.goal[:] = scratch
        self._dirty = True
        return count

    def start(self, now_ns: int) -> None:
        """The goal of an activation: the client's if it is fresh, else the measured pose."""
        self.goal[:] = self.where(now_ns)
        self.goal["time_ns"] = now_ns
        self._live = self._dirty = True

    def where(self, now_ns: int) -> RecordArray:
        """Copy of the goal to build on: as it stands while usable, else at rest in the measured pose."""
        base = self.goal.copy()
        if self.usable(now_ns):
            return base
        base["time_ns"] = ANCIENT_NS
        for field in _AT_REST:
            base[field] = 0.0
        if self.frame is not None:
            for field, record, signal in _MEASURED:
                found = self.frame[record][signal]
                base[field][0] = np.where(np.isfinite(found), found, base[field][0])
        return base

    def steer(self, fields: dict[str, tuple[Any, Any]], now_ns: int, sent_ns: int) -> None:
        """Set parts of the goal's fields on behalf of the client that sent something at ``sent_ns``.

        Args:
            fields: field of the goal -> indices and values.
            now_ns: monotonic time.
            sent_ns: time of what the values come from.
        """
        if not self.usable(now_ns):
            self.goal[:] = self.where(now_ns)
        for field, (index, values) in fields.items():
            self.goal[field][0, index] = values
        self.goal["time_ns"] = max(int(self.goal["time_ns"][0]), sent_ns)
        self._live = self._dirty = True

    def request(self, request: Request) -> int:
        """Post a request at once; returns the mailbox's number of it."""
        self.goal["request"] = int(request)
        self.goal["request_seq"] += np.uint64(1)
        self._post()
        return int(self._segment.field("goal_lock")[0])

    def flush(self) -> None:
        """Post what changed since the last post."""
        if self._dirty:
            self._post()

    def _post(self) -> None:
        if self._dirty:  # the number says that the goal is new; a request alone leaves it
            self._dirty = False
            self.goal["seq"] += np.uint64(1)
        self._segment.post_goal(self.goal)
