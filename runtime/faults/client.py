"""A client of a hand in lockstep: its bytes go through the same desk and mailbox as those of a real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self

import msgspec

from runtime.faults.bench import SLOTS, Bench
from runtime.setup import Hand
from runtime.telemetry.channel import Channel
from runtime.telemetry.commands import VERSION
from runtime.telemetry.desk import CommandDesk
from runtime.telemetry.segment import Segment

NAME: Final = "trial"
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class Mailbox(Segment):
    """A block of this process's own whose control side runs on while the desk waits for it.

    Attributes:
        step: makes one cycle.
    """

    step: Callable[[], None]

    def goal_arrived(self) -> bool:
        """The loop has taken the newest goal; it gets one cycle for it."""
        if not super().goal_arrived():
            self.step()
        return super().goal_arrived()


class Client:
    """Holds the hand and commands it.

    Args:
        bench: a bench that ``for_clients`` made.
        mailbox: its mailbox.

    Attributes:
        refused: codes and texts of what was refused, in order.
    """

    def __init__(self, bench: Bench, mailbox: Mailbox) -> None:
        self.bench, self._lease = bench, 0
        self.desk = CommandDesk(bench.hand.names, bench.hand.model, mailbox, lambda *_: None)
        self.refused: list[str] = []

    @classmethod
    def for_clients(cls, hand: Hand, *, mismatch: int = 0) -> tuple[Bench, Mailbox]:
        """A bench without a motion, and the mailbox that commands it.

        Args:
            hand: the hand, read.
            mismatch: seed of the drawn plant; 0: as the file says.
        """
        mailbox = Mailbox.local(SLOTS)
        window = round(hand.rate_hz)
        channel = Channel(mailbox.slots, mailbox.field("head"), mailbox.field("stats"), window)
        bench = Bench(hand, None, mismatch=mismatch, channel=channel, segment=mailbox)
        mailbox.step = lambda: bench.run(1)
        return bench, mailbox

    def __enter__(self) -> Self:
        self._lease = int(self.ask("lease", do="acquire", holder=NAME)["lease"])
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("lease", do="return")

    def ask(self, op: str, *, deadline: float = 0.0, lease: int | None = None, **args: Any) -> Any:
        """One request now; returns the answer, and notes a refusal.

        Args:
            op: operation of docs/telemetry.md.
            deadline: Unix time [s] after which it is refused; 0: none.
            lease: lease to send in place of its own.
            args: the operation's arguments.
        """
        now_ns = int(self.bench.rig.views["state"]["time_ns"][0])
        own = self._lease if lease is None else lease
        request = {"v": VERSION, "id": 1, "op": op, "args": args, "lease": own, "deadline": deadline}
        answer = msgspec.msgpack.decode(self.desk.handle(_ENCODE(request), now_ns, b"one"))
        self.desk.flush(now_ns)
        if not answer["ok"]:
            self.refused.append(f"{answer['error']['code']}: {answer['error']['msg']}")
        return answer
