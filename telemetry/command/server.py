"""The command server: one request in, one answer out; keeps lease and goal, posts requests to control.

Whatever arrives, ``handle`` returns an answer: this is the border at which the hand meets foreign bytes.
"""

from __future__ import annotations

import logging
import math
import os
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from signals.clock import WallClock
from signals.clock import now_ns as clock_now_ns
from signals.modes import MachineState, Request
from signals.names import HandNames
from signals.records import RecordArray
from telemetry.command.answers import blamed_of, state_of
from telemetry.command.client_goal import ClientGoal
from telemetry.command.lease import NAME_LENGTH, TTL_NS, Lease, plain
from telemetry.command.recording import Recordings, record
from telemetry.command.requests import FREE, LOOKS, Message, Refusal, id_of, parse
from telemetry.command.streaming import Streaming
from telemetry.shm.segment import Segment

_LOG: Final = logging.getLogger(__name__)
_REQUESTS: Final = {
    "arm": Request.ARM,
    "activate": Request.ACTIVATE,
    "stop": Request.STOP,
    "rearm": Request.REARM,
    "off": Request.OFF,
}
_LETS_GO: Final = (Request.STOP, Request.OFF)
_TAKE_S: Final = 0.02
"""Longest wait for the control process to take a request; cycles are much shorter."""
_FARTHEST_S: Final = 86_400.0
"""A deadline further ahead than a day is a mistake of units or of a clock."""
_TELL_NS: Final = 1_000_000_000
"""At most one event and one traceback a second about requests that broke the server."""
Note = Callable[[str, str, str], None]
"""Reporter of events: kind, text, hint."""


def hand_file_of(name: str, text: str, settings: Sequence[str]) -> dict[str, Any]:
    """What ``hand`` answers: a hand file, packed to the size of a view, as anybody may ask and not read."""
    return {"name": name, "text_zlib": zlib.compress(text.encode()), "settings": list(settings)}


class CommandServer:
    """Handles requests.

    Args:
        names: names of the hand.
        model: the controller's model.
        segment: where goals are posted.
        note: reporter of events.
        motion: name of a motion that runs by itself, or ``None``.
        pretension_n: co-contraction of the first goal.

    Attributes:
        refused: requests that were refused, broken ones too.
        broken: requests that raised something nobody had thought of.
        view: newest view, for ``get``.
        recordings: who writes logs, or ``None``.
        hand_file: the hand file of the run, for ``hand``.
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
        self.client_goal = ClientGoal(names, model, segment, pretension_n)
        self.streaming = Streaming(names, model, self.client_goal)
        self.refused = self.broken = 0
        self.view: dict[str, Any] = {}
        self.recordings: Recordings | None = None
        self.hand_file: dict[str, Any] = {}
        self._names, self._segment, self._note, self._motion = names, segment, note, motion
        self._reader = segment.reader(1)
        self._wall = WallClock()
        self._armed, self._stop_post, self._told_ns = False, 0, -_TELL_NS

    @property
    def goal(self) -> RecordArray:
        """The clients' goal record, shape (1,)."""
        return self.client_goal.goal

    def see(self, frame: Any) -> None:
        """Newest frame (a FRAME scalar): what answers carry, where motion starts."""
        self.client_goal.see(frame)

    def handle(self, payload: bytes, now_ns: int, client: bytes = b"", looks_only: bool = False) -> bytes:
        """Answer of one request; raises nothing.

        Args:
            payload: the request as it came.
            now_ns: monotonic time.
            client: connection it came on (ZeroMQ identity): a lease is good on the holder's alone.
            looks_only: it came with a key that gives no right to command.
        """
        try:
            return self._handle(payload, now_ns, client, looks_only)
        except Exception as error:  # process border: one client's bytes must not stop the hand for all
            return self._broke(payload, error, now_ns)

    def refuse(self, code: str, text: str, hint: str) -> bytes:
        """Answer of something that is not even a request."""
        self.refused += 1
        error = {"code": code, "msg": text, "hint": hint}
        return msgspec.msgpack.encode({"id": None, "ok": False, "error": error, "state": self._state()})

    def flush(self, now_ns: int) -> None:
        """Post what the requests since the last call changed, once; notice an expired lease."""
        lost = self.lease.expired(now_ns)
        if lost:
            self.client_goal.renew()
            self._note("lease", f"{lost} fell silent: its lease has expired", "acquire it again")
        self.streaming.play(now_ns)
        self.client_goal.flush()

    def stop(self) -> None:
        """Ask for the stop sequence on behalf of the io process itself."""
        self._post(Request.STOP)

    def _handle(self, payload: bytes, now_ns: int, client: bytes, looks_only: bool) -> bytes:
        request: Message | None = None
        error: dict[str, str] | None = None
        extra: dict[str, Any] = {}
        self._look()
        found = self._state()
        try:
            request, args = parse(payload)
            self._check_deadline(request.deadline)
            if looks_only and request.op not in LOOKS:
                hint = "a commander's key does: flexor keys add"
                raise Refusal("no_right", f"a viewer's key does not command ({request.op})", hint)
            if request.op not in FREE:
                self.lease.keep(request.lease, now_ns, client)
            extra = self._do(request, args, now_ns, client)
        except Refusal as refusal:
            self.refused += 1
            error = {"code": refusal.code, "msg": str(refusal), "hint": refusal.hint}
        identity = request.id if request is not None else id_of(payload)
        state = found | {"holder": self.lease.holder}
        return msgspec.msgpack.encode(
            {"id": identity, "ok": error is None, "error": error, "state": state, **extra}
        )

    def _broke(self, payload: bytes, error: Exception, now_ns: int) -> bytes:
        self.refused += 1
        self.broken += 1
        if now_ns - self._told_ns >= _TELL_NS:
            self._told_ns = now_ns
            _LOG.error("request of %d bytes broke the server", len(payload), exc_info=error)
        text = f"{type(error).__name__} in the io process; {self.broken} so far"
        answer = {"code": "internal", "msg": text, "hint": "the hand runs on; report this with its log"}
        return msgspec.msgpack.encode({"id": None, "ok": False, "error": answer, "state": {}})

    def _check_deadline(self, deadline: float) -> None:
        """Refuse what comes too late, by a wall clock that no step reaches."""
        if deadline == 0.0:
            return
        left_s = deadline - self._wall.unix_s(clock_now_ns())
        if not math.isfinite(deadline) or left_s > _FARTHEST_S:
            raise Refusal(
                "bad_args",
                f"deadline is {deadline:.6g}; legal are Unix seconds, at most a day from now",
                "leave it out, or send 0, for none",
            )
        if left_s < 0.0:
            raise Refusal("expired", f"deadline passed {-left_s:.3f} s ago")

    def _do(self, request: Message, args: Any, now_ns: int, client: bytes) -> dict[str, Any]:
        op = request.op
        if op == "lease":
            return self._do_lease(request, args, now_ns, client)
        if op == "get":
            unknown = [k for k in args.keys if k not in self.view]
            if unknown:
                raise Refusal("unknown_name", f"no key {unknown[0]!r}", f"legal: {', '.join(self.view)}")
            return {"view": {k: self.view[k] for k in args.keys or self.view}}
        if op == "hand":
            return {"hand_file": self.hand_file}
        if op == "ping":
            return {"monotonic_ns": now_ns}
        if op in ("record", "snapshot"):
            path = record(self.recordings, op, args)
            who = self._who(request, args, client)
            self._note("recording", f"{op} {getattr(args, 'do', '')} by {who}".replace("  ", " "), path)
            return {"file": path}
        if op in ("goal", "mode", "stream"):
            if self._motion is not None:
                hint = "start flexor run without --motion"
                raise Refusal("busy", f"the motion {self._motion!r} runs", hint)
            if op == "stream":
                return {"stream": self.streaming.do(args, now_ns)}
            changed = self.client_goal.change(args, now_ns)
            if op == "goal":
                self.streaming.goal_sent(args, now_ns)
            return {"changed": changed}
        who = self._who(request, args, client)
        self._check_request(_REQUESTS[op])
        if op == "activate":
            self.client_goal.start(now_ns)
        self._post(_REQUESTS[op])
        if op in ("stop", "rearm", "off"):
            self._note("request", f"{op} by {who}", "")
        return {"hand": self._names.hand, "pid": os.getpid()} if op == "stop" else {}

    def _who(self, request: Message, args: Any, client: bytes) -> str:
        """Who asks: the holder by his connection, anybody else by what he calls himself."""
        said = getattr(args, "by", "")
        if said:
            plain("by", said, NAME_LENGTH)
        if request.op not in FREE or (self.lease.holder and client == self.lease.client):
            return self.lease.holder
        return f"{said or 'a client'} without lease"

    def _do_lease(self, request: Message, args: Any, now_ns: int, client: bytes) -> dict[str, Any]:
        lease = self.lease
        if args.do == "acquire":
            lease.acquire(args.holder, now_ns, client)
            self.client_goal.renew()
            self._note("lease", f"{args.holder} holds the hand", "")
        elif args.do == "take":
            before = lease.holder
            lease.take(args.holder, args.why, now_ns, client)
            self.client_goal.renew()
            self._note("lease", f"{args.holder} took the hand from {before or 'nobody'}: {args.why}", "")
        elif args.do == "keep":
            lease.keep(request.lease, now_ns, client)
        elif args.do == "return":
            lease.give_back(request.lease, now_ns, client)
            self.client_goal.renew()
        else:
            raise Refusal("bad_args", f"lease: do is {args.do!r}", "legal: acquire, keep, return, take")
        return {"lease": lease.number, "ttl_s": TTL_NS / 1e9}

    def _check_request(self, request: Request) -> None:
        """Refuse what would be acknowledged and then not happen."""
        if request in _LETS_GO:
            return
        if int(self._segment.field("goal_taken")[0]) < self._stop_post:
            raise Refusal("busy", "control has not taken the stop before this yet", "ask again")
        machine = self._machine()
        if machine == MachineState.FAULT and request != Request.REARM:
            hand, fingers = blamed_of(self.client_goal.frame["state"], self._names)
            why = hand or ", ".join(fingers.values())
            raise Refusal("in_fault", f"the hand is in fault ({why})", "look at its faults, then rearm")
        standing = machine in (MachineState.HOLDING, MachineState.ACTIVE)
        if request == Request.ACTIVATE and not standing and not self._armed:
            name = "starting" if machine is None else machine.name.lower()
            raise Refusal(
                "not_armed", f"the hand is {name}; only an armed one can be activated", "arm it first"
            )

    def _post(self, request: Request) -> None:
        """Post a request and wait until it is taken: two in a row must not hide each other."""
        if request in (Request.STOP, Request.OFF, Request.REARM):
            self.client_goal.forget()
        self._armed = request == Request.ARM or (self._armed and request not in _LETS_GO)
        post = self.client_goal.request(request)
        if request in _LETS_GO:
            self._stop_post = post
        until = time.monotonic() + _TAKE_S
        head = self._segment.field("head")
        while not self._segment.goal_arrived() and time.monotonic() < until:
            time.sleep(0.0003)
        done = int(head[0]) + 1  # the frame of the cycle that took it tells what came of it
        while self._segment.goal_arrived() and int(head[0]) < done and time.monotonic() < until:
            time.sleep(0.0003)
        self._look()

    def _look(self) -> None:
        """See the newest frame of the ring: the io process reads it only a few hundred times a second."""
        head = int(self._segment.field("head")[0])
        if head:
            self._reader.next = head - 1
            for frame in self._reader.read():
                self.client_goal.see(frame.copy())

    def _machine(self) -> MachineState | None:
        frame = self.client_goal.frame
        return None if frame is None else MachineState(int(frame["state"]["machine"]))

    def _state(self) -> dict[str, Any]:
        return state_of(self.client_goal.frame, self._names) | {"holder": self.lease.holder}
