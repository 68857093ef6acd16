"""Emulated CAN bus: one frame at a time, lowest id first, every frame takes its bits, all others hear it.

Time is the caller's: ``run(now_ns)`` plays everything that happened on the wire until then. Every sender
queues its frames in order; the first frames of all queues take part in the next arbitration. A cyclic message
that still waits when its time comes again is overwritten: a drive has one mailbox for each, so on a full bus
its feedback comes seldom, but never old.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from drivers.odrive.codec import Frame
from sim.emulators.loop import NEVER
from sim.emulators.wire import can_ns

LAG_MAX_NS = 20_000_000
"""Time that is played back after a pause of the emulator; what lies before is skipped, not made up for."""


class Node(Protocol):
    """A device on the bus."""

    def received(self, frame: Frame, now_ns: int) -> list[Frame]:
        """A frame ended at ``now_ns``; frames to send in answer."""

    def cyclic(self, now_ns: int) -> list[Frame]:
        """Frames whose time has come."""

    def due_ns(self) -> int:
        """When ``cyclic`` has something next."""


@dataclass(slots=True)
class CanFaults:
    """Fault hooks of a bus."""

    bus_off: bool = False
    """Nothing gets through; guests see an error frame once."""
    flip: Callable[[Frame], Frame] | None = None
    """Changes frames on their way (a node that talks nonsense: CAN's own CRC is not to be beaten)."""


@dataclass(slots=True)
class CanBus:
    """One bus.

    Args:
        bitrate: bits per second.
        nodes: its devices.
        queue_max: frames that may wait per sender before the newest are refused.
    """

    bitrate: int = 1_000_000
    nodes: list[Node] = field(default_factory=list)
    queue_max: int = 256
    faults: CanFaults = field(default_factory=CanFaults)
    frames: int = 0
    refused: int = 0
    _queues: dict[int, tuple[object, deque[Frame]]] = field(default_factory=dict)
    _now: tuple[int, Frame, object] | None = None
    _free_ns: int = 0
    _cyclic_ns: int = 0
    """Next cyclic message of any node; 0: to be found."""

    def put(self, frame: Frame, sender: object, now_ns: int, overwrite: bool = False) -> None:
        """Ask to send a frame; ``overwrite``: in the place of one with the same id that still waits."""
        _, queue = self._queues.setdefault(id(sender), (sender, deque()))
        if overwrite:
            for k, waiting in enumerate(queue):
                if waiting.id == frame.id:
                    queue[k] = frame
                    return
        if len(queue) >= self.queue_max:
            self.refused += 1
            return
        queue.append(frame)
        self._free_ns = max(self._free_ns, now_ns) if self._now is None else self._free_ns

    def due_ns(self) -> int:
        """When something happens next."""
        if self.faults.bus_off:
            return NEVER
        cyclic = self._cyclic_ns
        if not cyclic:
            cyclic = self._cyclic_ns = min((n.due_ns() for n in self.nodes), default=NEVER)
        if self._now is not None:
            end_ns = self._now[0]
            return end_ns if end_ns < cyclic else cyclic
        return self._free_ns if self._queues and self._free_ns < cyclic else cyclic

    def run(self, now_ns: int) -> list[tuple[Frame, object]]:
        """Play until ``now_ns``; frames that ended, with their senders, for the guests."""
        ended: list[tuple[Frame, object]] = []
        while not self.faults.bus_off:
            at_ns = self.due_ns()
            if at_ns > now_ns:
                break
            at_ns = max(at_ns, now_ns - LAG_MAX_NS)
            if self._cyclic_ns <= at_ns:
                self._talk(at_ns)
            if self._now is not None and self._now[0] <= at_ns:
                self._end(at_ns, ended)
            if self._now is None and self._queues:
                self._begin(max(at_ns, self._free_ns))
        return ended

    def _talk(self, at_ns: int) -> None:
        """Cyclic messages whose time has come."""
        next_ns = NEVER
        for node in self.nodes:
            due_ns = node.due_ns()
            if due_ns <= at_ns:
                for frame in node.cyclic(at_ns):
                    self.put(frame, node, at_ns, overwrite=True)
                due_ns = node.due_ns()
            next_ns = min(next_ns, due_ns)
        self._cyclic_ns = next_ns

    def _begin(self, at_ns: int) -> None:
        queues = self._queues
        key, first = -1, 1 << 11
        for k, (_, waiting) in queues.items():
            if waiting[0].id < first:
                key, first = k, waiting[0].id
        sender, queue = queues[key]
        frame = queue.popleft()
        if not queue:
            del queues[key]
        took_ns = can_ns(len(frame.data), self.bitrate)
        self._now = (at_ns + took_ns, frame, sender)

    def _end(self, at_ns: int, ended: list[tuple[Frame, object]]) -> None:
        assert self._now is not None
        end_ns, frame, sender = self._now
        self._now, self._free_ns = None, max(end_ns, at_ns)
        self.frames += 1
        if self.faults.flip is not None:
            frame = self.faults.flip(frame)
        ended.append((frame, sender))
        for node in self.nodes:
            if node is not sender:
                for answer in node.received(frame, end_ns):
                    self.put(answer, node, end_ns)

    def clear(self) -> None:
        """Forget what waits (bus-off)."""
        self._queues.clear()
        self._now = None
