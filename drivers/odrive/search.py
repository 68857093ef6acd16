"""Axes on a CAN bus, heard by their heartbeats; nothing is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from drivers.family import Finding, Search
from drivers.odrive.codec import Command, Frame, Heartbeat, heartbeat_of, pair_of
from drivers.places import CanPlace

HEARTBEAT_MAX: Final = 1.5 / 0.1
"""Heartbeats per second above which a node must be two (the default period is 100 ms)."""


class AxisListener:
    """Frames of CANSimple."""

    hello: Final = b""
    certain: Final = False

    def __init__(self) -> None:
        self._beats: Counter[int] = Counter()
        self._states: dict[int, Heartbeat] = {}

    def lines(self, data: Any, now_ns: int) -> Iterable[str]:
        """A line for a frame with an 11-bit id."""
        if data.is_error_frame or data.is_extended_id:
            return ()
        frame = Frame(data.arbitration_id, bytes(data.data))
        beat = heartbeat_of(frame) if frame.command == Command.HEARTBEAT else None
        if beat is not None:
            self._beats[frame.node] += 1
            self._states[frame.node] = beat
        return (_line(frame),)

    def findings(self, place: str, seconds: float) -> Iterable[Finding]:
        """Every node that had a heartbeat."""
        for node, n in sorted(self._beats.items()):
            twice = n / seconds > HEARTBEAT_MAX
            text = f"{n} heartbeats in {seconds:.1f} s: another period than 100 ms, or two nodes"
            state = self._states[node]
            yield Finding(
                family="odrive",
                place=place,
                device=f"node {node}",
                detail=f"state {state.state}, error {state.error:#x}",
                problem=text if twice else "",
            )


def _line(frame: Frame) -> str:
    command = frame.command
    name = Command(command).name.lower() if command in Command._value2member_map_ else f"{command:#04x}"
    values = ""
    if command == Command.HEARTBEAT:
        values = f" {heartbeat_of(frame)}"
    elif command in (Command.ENCODER, Command.IQ, Command.TEMPERATURE, Command.INPUT_VEL):
        values = f" {pair_of(frame)}"
    return f"{frame.id:03X} {frame.data.hex(' ')}  node {frame.node} {name}{values}"


SEARCH: Final = Search(place=CanPlace, listener=AxisListener)
