"""Servos on a line: who answers a ping, which ids are there twice, what packets say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from drivers.dynamixel.codec import Instruction, Packet, PacketParser
from drivers.dynamixel.models import model_name
from drivers.dynamixel.port import ServoPort
from drivers.errors import DuplicateId, ReplyTimeout
from drivers.family import Finding, Search
from drivers.places import SerialPlace

PING_NS: Final = 30_000_000
FINDS: Final = 5


class PacketListener:
    """Packets that pass; who they come from is not told by listening."""

    hello: Final = b""
    certain: Final = False

    def __init__(self) -> None:
        self._packets = PacketParser()

    def lines(self, data: bytes, now_ns: int) -> Iterable[str]:
        """A line for every packet."""
        return [_line(packet) for packet in self._packets.feed(data, now_ns)]

    def findings(self, place: str, seconds: float) -> Iterable[Finding]:
        """None."""
        return ()


def _line(p: Packet) -> str:
    known = p.instruction in Instruction._value2member_map_
    name = Instruction(p.instruction).name.lower() if known else f"{p.instruction:#04x}"
    return f"id {p.id} {name} {p.parameters.hex(' ')}"


def find(place: SerialPlace) -> Iterator[Finding]:
    """Every servo that answers, and ids that are there twice."""
    port = ServoPort(place.path, place.baud, "scan", PING_NS)
    try:
        counts = Counter(found_on(port))
        for (device_id, number, firmware), n in sorted(counts.items()):
            problem = f"{n} devices with id {device_id}" if n > 1 else ""
            if not problem:
                try:
                    port.ping(device_id, f"id {device_id}")
                except (DuplicateId, ReplyTimeout) as error:
                    problem = str(error)
            device = f"id {device_id}: {model_name(number)}"
            detail = f"firmware {firmware}"
            yield Finding(family="dynamixel", place=str(place), device=device, detail=detail, problem=problem)
        if not counts and port.counts.errors():
            text = "bytes without sense: two devices with one id, or another baud rate"
            yield Finding(family="dynamixel", place=str(place), device="", detail="", problem=text)
    finally:
        port.close()


def found_on(port: ServoPort) -> list[tuple[int, int, int]]:
    """What answers a broadcast ping; asked again until two answers agree (a busy computer loses some)."""
    before: list[tuple[int, int, int]] | None = None
    for _ in range(FINDS):
        found = sorted(port.find())
        if found and found == before:
            break
        before = found
    return found


SEARCH: Final = Search(place=SerialPlace, listener=PacketListener, find=find)
