"""A collector board, asked without touching its session: who it is, what it samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from drivers.collector import codec
from drivers.collector.codec import Header, Kind, plain
from drivers.collector.port import UdpPort
from drivers.collector.wire import SampleWire
from drivers.errors import ReplyTimeout
from drivers.family import Finding, Search
from drivers.places import UdpPlace

HELLO_S: Final = 0.6
SAMPLE_NS: Final = 100_000_000
PAUSE_S: Final = 0.01


def find(place: UdpPlace) -> Iterator[Finding]:
    """The board at an address."""
    port = UdpPort(place.host, place.port, "scan", locked=False)
    try:
        _, body = port.ask(plain(Header(kind=Kind.HELLO)), Kind.DESCRIBE, HELLO_S)
        about = codec.described(body)
    except ReplyTimeout:
        return
    finally:
        port.close()
    if about is None:
        return
    held = f", held by {about.holder[0]}:{about.holder[1]}" if about.holder_session else ""
    detail = (
        f"serial {about.serial}, {about.n_motors} motors, {about.n_halls} Hall channels, "
        f"{about.n_axes} axes, boot {about.boot}{held}"
    )
    yield Finding(family="collector", place=str(place), device=about.name, detail=detail)


def log(place: UdpPlace, going: Callable[[], bool]) -> Iterator[tuple[float, str]]:
    """(seconds, line) of its samples, which are asked for."""
    port = UdpPort(place.host, place.port, "log", locked=False)
    begun_ns, seq = port.clock(), 0
    wires = {n: SampleWire(n) for n in range(1, codec.MAX_SLOTS + 1)}
    try:
        while going():
            seq += 1
            port.send(plain(Header(kind=Kind.OBSERVE, seq=seq)))
            buffer = wires[codec.MAX_SLOTS].buffer
            length = port.receive(buffer, port.clock() + SAMPLE_NS)
            wire = wires.get(buffer[5]) if length > 56 else None
            if wire is not None:
                wire.buffer[:length] = buffer[:length]
                if wire.opened(length) is not None:
                    head = wire.head[0]
                    text = f"flags {int(head['flags']):#06x} angles {wire.slots['angle'][:8].tolist()}"
                    yield (port.clock() - begun_ns) * 1e-9, f"sample {int(head['seq'])} {text}"
            time.sleep(PAUSE_S)
    finally:
        port.close()


SEARCH: Final = Search(place=UdpPlace, find=find, log=log)
