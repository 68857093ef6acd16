"""Commands of strangers against a command server whose hand is active under somebody's lease.

A hand moves by what is posted into the goal mailbox and by nothing else. So after every command the mailbox
has to be what it was; a stop alone may post, and what it posts is a stop. ``benchmarks/strange_commands.py``
runs a million.
"""

from __future__ import annotations

import gc
import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import numpy as np

from signals.modes import MachineState, Request
from signals.records import FRAME, GOAL, RecordArray
from telemetry.command.requests import ARGS, GOAL_FIELDS, SIZE_LIMIT
from telemetry.command.server import CommandServer
from telemetry.shm.segment import Segment

NOW = 10**12
HOLDER, STRANGER = b"holder", b"stranger"
_STOPS = 2000
"""One command in so many is a stop: each waits 20 ms for a control process that is not there."""
_ODD: Final[tuple[Any, ...]] = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, 2**63, -1, 0, None, True, "text", "\0", [], {}, [[1.0]],
    {"a": 1.0}, b"\xff" * 40, "x" * 300,
)  # fmt: skip
_OPS = tuple(op for op in ARGS if op != "stop")


@dataclass
class Found:
    """What a block of commands came to.

    Attributes:
        codes: why commands were refused -> how many; ``ok``: answered yes.
        stops: stops that were posted.
        moved: what got through although it must not, as text.
    """

    codes: Counter[str] = field(default_factory=Counter)
    stops: int = 0
    moved: list[str] = field(default_factory=list)


class Target:
    """A command server with a holder who has sent a goal; the hand is active in its measured pose."""

    def __init__(self, hand: Any, segment: Segment) -> None:
        self.hand, self.segment, self.events = hand, segment, 0
        self.server = CommandServer(hand.names, hand.model, segment, self._note)
        frame = np.zeros(1, FRAME)
        frame["state"]["machine"] = int(MachineState.ACTIVE)
        frame["state"]["finger_state"] = int(MachineState.ACTIVE)
        self.server.see(frame[0])
        self.lease = self._ask("lease", do="acquire", holder="holder")["lease"]
        joints = {hand.names.joints[0]: 0.1}
        assert self._ask("goal", joints=joints)["ok"]
        self.server.flush(NOW)

    def _note(self, kind: str, text: str, hint: str) -> None:
        self.events += 1

    def _ask(self, op: str, **args: Any) -> dict[str, Any]:
        message = {"v": 1, "id": 1, "op": op, "lease": getattr(self, "lease", 0), "args": args}
        answer: dict[str, Any] = msgspec.msgpack.decode(
            self.server.handle(msgspec.msgpack.encode(message), NOW, HOLDER)
        )
        return answer

    def posted(self) -> RecordArray:
        """What stands in the mailbox, shape (1,) of GOAL."""
        found: RecordArray = self.segment.field("goal_words").view(GOAL).copy()
        return found

    def block(self, seed: int, count: int) -> Found:
        """Commands of one seed, one after the other."""
        draw, found = Draw(self, seed), Found()
        before, lock = self.posted(), int(self.segment.field("goal_lock")[0])
        for k in range(count):
            payload, client = draw.command()
            answer = msgspec.msgpack.decode(self.server.handle(payload, NOW, client))
            self.server.flush(NOW)
            found.codes["ok" if answer["ok"] else answer["error"]["code"]] += 1
            if int(self.segment.field("goal_lock")[0]) != lock:
                lock, after = int(self.segment.field("goal_lock")[0]), self.posted()
                found.stops += 1
                if wrong := _moves(before, after):
                    found.moved.append(f"{seed}/{k}: {wrong}: {payload[:200].hex()}")
                before = after
        holder = self.server.lease
        if (holder.number, holder.client) != (self.lease, HOLDER):
            found.moved.append(f"{seed}: the lease went to {holder.holder!r}")
        return found


def _moves(before: RecordArray, after: RecordArray) -> str:
    """What a post changed beside the request, which has to be a stop; empty: nothing."""
    if int(after["request"][0]) != Request.STOP:
        return f"request {int(after['request'][0])}"
    names = [n for n in GOAL.names or () if n not in ("request", "request_seq")]
    return ", ".join(n for n in names if before[n].tobytes() != after[n].tobytes())


class Draw:
    """Commands of every kind that may not move the hand, drawn from a seed."""

    def __init__(self, target: Target, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._lease, self._names = target.lease, target.hand.names
        self._kinds = (self._noise, self._damaged, self._stranger, self._stranger, self._odd, self._holder)

    def command(self) -> tuple[bytes, bytes]:
        """A payload and the connection that it comes on."""
        if not self._rng.integers(_STOPS):
            return self._packed("stop", self._wrong_lease(), {"by": "a stranger"}), STRANGER
        kind = self._kinds[self._rng.integers(len(self._kinds))]
        return kind(), HOLDER if kind == self._holder else STRANGER

    def _one(self, of: Any) -> Any:
        return of[int(self._rng.integers(len(of)))]

    def _noise(self) -> bytes:
        size = self._one((0, 1, 8, 40, 300, SIZE_LIMIT + 1)) if not self._rng.integers(50) else 24
        return self._rng.bytes(int(size))

    def _good_args(self, op: str) -> dict[str, Any]:
        """Arguments that the holder could send; of a lease all but taking it: everybody may."""
        if op == "goal":
            argument = self._one(tuple(GOAL_FIELDS))
            names = self._names.of(GOAL_FIELDS[argument][1])
            return {argument: {self._one(names): 0.01}} if names else {}
        if op == "mode":
            return {"fingers": {self._one(("*", *self._names.fingers)): "joint_impedance"}}
        if op == "lease":
            return {"do": self._one(("acquire", "keep", "return")), "holder": "a stranger"}
        if op == "stream":
            send = {"do": "send", "t": 1.0, "joints": {self._one(self._names.joints): 0.1}}
            return dict(self._one(({"do": "begin"}, send, {"do": "end"})))
        others: dict[str, dict[str, Any]] = {"record": {"do": "start"}, "get": {"keys": []}}
        return others.get(op, {})

    def _wrong_lease(self) -> Any:
        drawn = int(self._rng.integers(2**53))
        return self._one((0, self._lease, self._lease + 1, -self._lease, drawn))

    def _packed(self, op: Any, lease: Any, args: Any, **more: Any) -> bytes:
        return msgspec.msgpack.encode({"v": 1, "id": 5, "op": op, "lease": lease, "args": args, **more})

    def _stranger(self) -> bytes:
        """A request without a fault, with a lease that is wrong on this connection."""
        op = self._one(_OPS)
        return self._packed(op, self._wrong_lease(), self._good_args(op))

    def _damaged(self) -> bytes:
        """The same with bytes changed, lost, doubled or cut off."""
        data = bytearray(self._stranger())
        for _ in range(int(self._rng.integers(1, 4))):
            at = int(self._rng.integers(len(data))) if data else 0
            match int(self._rng.integers(4)):
                case 0 if data:
                    data[at] = int(self._rng.integers(256))
                case 1:
                    del data[at : at + 2]
                case 2:
                    data[at:at] = data[at : at + 5]
                case _:
                    del data[max(at, 1) :]
        return bytes(data)

    def _odd(self) -> bytes:
        """A request with a value that no client means."""
        op, args = self._one(_OPS), self._good_args(self._one(_OPS))
        where = int(self._rng.integers(4))
        if where == 0:
            return self._packed(op, self._one(_ODD), args)
        if where == 1:
            return self._packed(self._one(_ODD), self._wrong_lease(), args)
        if where == 2:
            return self._packed(op, self._wrong_lease(), self._one(_ODD))
        return self._packed(op, self._wrong_lease(), args, deadline=self._one(_ODD))

    def _holder(self) -> bytes:
        """The holder himself, with a number that no hand takes, or a name that it has not."""
        argument = self._one(tuple(GOAL_FIELDS))
        names = self._names.of(GOAL_FIELDS[argument][1]) or ("none",)
        name = self._one((self._one(names), "nothing", "", "x" * 200))
        value = self._one((math.nan, math.inf, -math.inf, 1e9, -1e9, "1.0", None, [0.1]))
        return self._packed("goal", self._lease, {argument: {name: value}})


def allocated() -> int:
    """Blocks of memory that Python holds and still needs."""
    gc.collect()
    return sys.getallocatedblocks()
