"""The command desk: one request in, one answer out; keeps lease, goal and modes, posts them to control."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from runtime.goals import default_goal
from runtime.telemetry.commands import (
    ARGS,
    FREE,
    Refusal,
    Request,
    apply_goal,
    apply_mode,
    id_of,
    parse,
)
from runtime.telemetry.lease import TTL_NS, Lease
from runtime.telemetry.segment import Segment
from signals.modes import MachineState
from signals.modes import Request as Wish
from signals.names import HandNames
from signals.records import RecordArray

_WISHES: Final = {
    "arm": Wish.ARM,
    "activate": Wish.ACTIVATE,
    "stop": Wish.STOP,
    "rearm": Wish.REARM,
    "off": Wish.OFF,
}
_TAKE_S: Final = 0.02
"""Longest wait for the control process to take a request; cycles are much shorter."""
_MEASURED: Final = (("joint_angle_rad", "joint_angle_rad"), ("axis_angle_rad", "axis_angle_rad"))
Note = Callable[[str, str, str], None]
"""Reporter of events: kind, text, hint."""


class CommandDesk:
    """Handles requests.

    Args:
        names: names of the hand.
        model: the controller's model.
        segment: where goals are posted.
        note: reporter of events.
        motion: name of a motion that runs by itself, or ``None``.
        pretension_n: co-contraction of the first goal.
    """

    def __init__(
        self,
        names: HandNames,
        model: RecordArray,
        segment: Segment,
        note: Note,
        *,
        motion: str | None = None,
        pretension_n: float | None = None,
    ) -> None:
        self.lease = Lease()
        self.goal = default_goal(model, pretension_n)
        self.refused = 0
        self.view: dict[str, Any] = {}
        self._names, self._model, self._segment, self._note, self._motion = (
            names,
            model,
            segment,
            note,
            motion,
        )
        self._age_ns = int(float(model["command_age_s"][0]) * 1e9)
        self._frame: Any = None
        self._dirty = False

    def see(self, frame: Any) -> None:
        """Newest frame (a FRAME scalar): what answers carry, where motion starts."""
        self._frame = frame

    def handle(self, payload: bytes, now_ns: int) -> bytes:
        """Answer of one request."""
        request: Request | None = None
        try:
            request, args = parse(payload)
            if request.deadline and time.time() > request.deadline:
                raise Refusal("expired", f"deadline passed {time.time() - request.deadline:.3f} s ago")
            if request.op not in FREE:
                self.lease.keep(request.lease, now_ns)
            extra = self._do(request, args, now_ns)
        except Refusal as refusal:
            self.refused += 1
            identity = request.id if request is not None else id_of(payload)
            error = {"code": refusal.code, "msg": str(refusal), "hint": refusal.hint}
            return msgspec.msgpack.encode(
                {"id": identity, "ok": False, "error": error, "state": self._state()}
            )
        return msgspec.msgpack.encode(
            {"id": request.id, "ok": True, "error": None, "state": self._state(), **extra}
        )

    def _answer(self, identity: Any, error: dict[str, str] | None, extra: dict[str, Any]) -> bytes:
        ok = error is None
        return msgspec.msgpack.encode(
            {"id": identity, "ok": ok, "error": error, "state": self._state(), **extra}
        )

    def flush(self, now_ns: int) -> None:
        """Post what the requests since the last call changed, once; notice an expired lease."""
        lost = self.lease.expired(now_ns)
        if lost:
            self._note("lease", f"{lost} fell silent: its lease has expired", "acquire it again")
        if self._dirty:
            self._dirty = False
            self.goal["seq"][0] += 1
            self._segment.post_goal(self.goal)

    def stop(self) -> None:
        """Ask for the stop sequence on behalf of the io process itself."""
        self._wish(Wish.STOP)

    def _do(self, request: Request, args: Any, now_ns: int) -> dict[str, Any]:
        op = request.op
        if op == "lease":
            return self._do_lease(request, args, now_ns)
        if op == "get":
            unknown = [k for k in args.keys if k not in self.view]
            if unknown:
                raise Refusal("unknown_name", f"no key {unknown[0]!r}", f"legal: {', '.join(self.view)}")
            return {"view": {k: self.view[k] for k in args.keys or self.view}}
        if op == "ping":
            return {"monotonic_ns": now_ns}
        if op in ("goal", "mode"):
            return self._change(op, args, now_ns)
        if op == "activate":
            self._start_from_measured(now_ns)
        self._wish(_WISHES[op])
        if op in ("stop", "rearm", "off"):
            self._note("request", f"{op} by {self.lease.holder or 'a client without lease'}", "")
        return {}

    def _do_lease(self, request: Request, args: Any, now_ns: int) -> dict[str, Any]:
        lease = self.lease
        if args.do == "acquire":
            lease.acquire(args.holder, now_ns)
            self._note("lease", f"{args.holder} holds the hand", "")
        elif args.do == "take":
            before = lease.holder
            lease.take(args.holder, args.why, now_ns)
            self._note("lease", f"{args.holder} took the hand from {before or 'nobody'}: {args.why}", "")
        elif args.do == "keep":
            lease.keep(request.lease, now_ns)
        elif args.do == "return":
            lease.give_back(request.lease, now_ns)
        else:
            raise Refusal("bad_args", f"lease: do is {args.do!r}", "legal: acquire, keep, return, take")
        return {"lease": lease.epoch, "ttl_s": TTL_NS / 1e9}

    def _change(self, op: str, args: Any, now_ns: int) -> dict[str, Any]:
        if self._motion is not None:
            raise Refusal("busy", f"the motion {self._motion!r} runs", "start flexor run without --motion")
        scratch = self.goal.copy()
        if op == "goal":
            count = apply_goal(args, self._names, self._model, scratch)
        else:
            count = apply_mode(args, self._names, scratch)
        scratch["time_ns"][0] = now_ns
        self.goal[:] = scratch
        self._dirty = True
        return {"changed": count}

    def _wish(self, wish: Wish) -> None:
        self.goal["request"][0] = int(wish)
        self.goal["request_seq"][0] += 1
        self._dirty = True
        self._post_now()

    def _post_now(self) -> None:
        """Post and wait until it is taken: two requests in a row must not hide each other."""
        self.goal["seq"][0] += 1
        self._segment.post_goal(self.goal)
        self._dirty = False
        until = time.monotonic() + _TAKE_S
        while not self._segment.goal_arrived() and time.monotonic() < until:
            time.sleep(0.0003)

    def _start_from_measured(self, now_ns: int) -> None:
        """A goal that is too old to use is replaced by the measured pose."""
        if now_ns - int(self.goal["time_ns"][0]) > self._age_ns and self._frame is not None:
            for field, measured in _MEASURED:
                self.goal[field][0] = self._frame["state"][measured]
            self.goal["joint_speed_rad_s"][0] = 0.0
            self.goal["motor_angle_rad"][0] = self._frame["measurement"]["motor_angle_rad"]
            self.goal["tendon_force_n"][0] = self._frame["state"]["tension_n"]
        self.goal["time_ns"][0] = now_ns

    def _state(self) -> dict[str, Any]:
        holder = self.lease.holder
        if self._frame is None:
            return {"machine": "starting", "holder": holder}
        state = self._frame["state"]
        return {
            "machine": MachineState(int(state["machine"])).name.lower(),
            "tick": int(state["tick"]),
            "hand_cause": int(state["hand_cause"]),
            "finger_cause": [int(c) for c in state["finger_cause"][: len(self._names.fingers)]],
            "holder": holder,
        }


OPERATIONS: Final = tuple(ARGS)
