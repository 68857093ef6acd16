"""Where goals come from: a motion that runs by itself, or the mailbox that clients fill through io.

In both cases requests (arm, activate, stop, ...) of clients and of the runtime go through the same two
fields of the goal record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hand.motion.load import Motion
from runtime.entries import address_of, motion_at, take_at
from signals.modes import MachineState, Request
from signals.records import GOAL, RecordArray, new
from telemetry.shm.segment import Segment

PATIENCE_NS = 200_000_000
"""A request that had no effect for this long is made again."""
_OFF, _READY, _HOLDING = int(MachineState.OFF), int(MachineState.READY), int(MachineState.HOLDING)
_NEXT = {_OFF: Request.ARM, _READY: Request.ARM, _HOLDING: Request.ACTIVATE}


class GoalSource:
    """Keeps one goal record up to date; ``bring`` is called every cycle.

    Args:
        goal: the frame's goal view, shape (1,); filled with the default first.
        state: the frame's state view.
        first: goal to begin with (``default_goal``).
        motion: a motion, or ``None``: goals come from the mailbox.
        segment: shared memory with the mailbox, or ``None``: no clients.
        start: arm and activate by itself.
    """

    def __init__(
        self,
        goal: RecordArray,
        state: RecordArray,
        first: RecordArray,
        *,
        motion: Motion | None = None,
        segment: Segment | None = None,
        start: bool = True,
    ) -> None:
        self._goal_words = goal.view(np.uint64)
        self._goal_words[:] = first.view(np.uint64)
        self._goal, self._machine, self._motion = goal, state["machine"], motion
        if motion is not None:
            self._tables = [np.ascontiguousarray(t) for t in (motion.head, motion.values, motion.slopes)]
            head, values, slopes = map(address_of, self._tables)
            channels, nodes = self._tables[1].shape
            self._motion_at = (head, values, slopes, channels, nodes, address_of(motion.model))
            self._goal_at = address_of(goal)
        self._joints, self._measured = goal["joint_angle_rad"][0], state["joint_angle_rad"][0]
        self._request, self._request_seq = goal["request"], goal["request_seq"]
        self._starting, self._asked_ns, self._asked_in = start, 0, -1
        self._started_ns: int | None = None
        self._inbox, self._seen = new(GOAL), 0
        self._lock: Any = None
        if segment is not None:
            self._lock = segment.field("goal_lock")
            self._lock_at, self._words_at = address_of(self._lock), address_of(segment.field("goal_words"))
            self._taken = segment.field("goal_taken")
            self._inbox_words = self._inbox.view(np.uint64)
            self._inbox_at = address_of(self._inbox_words)
            self._client_seq = self._client_goal = 0  # a new mailbox; another io process goes on counting

    @property
    def started_ns(self) -> int | None:
        """Monotonic time at which the hand became active; ``None`` before."""
        return self._started_ns

    def request(self, request: Request) -> None:
        """Make a request of the runtime's own."""
        self._request[0] = int(request)
        self._request_seq[0] += 1
        if request in (Request.STOP, Request.OFF):
            self._starting = False

    def motion_parts(self) -> dict[str, int] | None:
        """What ``motion_at`` gets beside the time, by name (``stretch.Plan``); ``None``: no motion."""
        if self._motion is None:
            return None
        names = ("head", "values", "slopes", "channels", "nodes", "model", "goal")
        return dict(zip(names, (*self._motion_at, self._goal_at), strict=True))

    def by_itself(self) -> dict[str, int] | None:
        """What ``bring`` goes by until a client posts something; ``None``: the hand is being started."""
        if self._starting or (self._motion is not None and self._started_ns is None):
            return None
        lock = 0 if self._lock is None else self._lock_at
        return {"lock": lock, "seen": self._seen, "started_ns": self._started_ns or 0}

    def bring(self, time_ns: int) -> None:
        """Bring the goal record up to date; real-time safe."""
        if self._lock is not None:
            seen = self._seen
            if self._lock[0] != seen:  # a look costs less than a call
                seen = take_at(self._lock_at, self._words_at, self._inbox_at, self._seen)
            if seen > 0 and seen != self._seen:
                self._seen = self._taken[0] = seen
                self._accept()
        if self._starting:
            self._start(time_ns)
        if self._motion is not None:
            if self._started_ns is None:
                self._motion.write(0.0, self._goal)
            else:
                motion_at(*self._motion_at, (time_ns - self._started_ns) * 1e-9, self._goal_at)

    def _accept(self) -> None:
        """Take a client's request, and its goal if that is new; while a motion runs only requests."""
        asked = int(self._inbox["request_seq"][0])
        request = Request(int(self._inbox["request"][0]))
        number = int(self._inbox["seq"][0])
        if self._motion is None and number != self._client_goal:
            self._client_goal = number
            kept, kept_seq = int(self._request[0]), int(self._request_seq[0])
            self._goal_words[:] = self._inbox_words
            self._request[0], self._request_seq[0] = kept, kept_seq
        if asked != self._client_seq:
            self._client_seq = asked
            self.request(request)

    def _start(self, time_ns: int) -> None:
        machine = int(self._machine[0])
        if machine == MachineState.ACTIVE:
            self._starting, self._started_ns = False, time_ns
        elif machine == MachineState.FAULT:
            self._starting = False
        elif machine != self._asked_in or time_ns - self._asked_ns > PATIENCE_NS:
            self._asked_in, self._asked_ns = machine, time_ns
            if machine == _HOLDING and self._motion is None:
                self._joints[:] = self._measured
            self.request(_NEXT[machine])
