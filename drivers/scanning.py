"""What is connected: ports and their holders, devices that answer or talk, ids that are there twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

import can

from drivers.canline import hint_for, opened
from drivers.collector import codec as collector
from drivers.collector.codec import Header, Kind
from drivers.collector.port import UdpPort
from drivers.dynamixel.models import model_name
from drivers.dynamixel.port import ServoPort
from drivers.errors import BusBusy, DriverError, DuplicateId, ReplyTimeout
from drivers.family import Finding
from drivers.hallbridge import codec as hall
from drivers.hallbridge.codec import HallParser, Info, Type
from drivers.hallbridge.orca import OrcaParser
from drivers.locks import BusLock, holder_of
from drivers.odrive import codec as odrive
from drivers.odrive.codec import Command, Frame
from drivers.places import CanPlace, Place, SerialPlace, UdpPlace
from drivers.serialport import SerialPort

BAUDS: Final = (57_600, 1_000_000, 2_000_000, 3_000_000, 4_000_000)
LISTEN_S: Final = 0.6
FINDS: Final = 5
HEARTBEAT_MAX: Final = 1.5 / 0.1
"""Heartbeats per second above which a node must be two (the default period is 100 ms)."""


def scan(place: Place, listen: bool) -> Iterator[Finding]:
    """Devices at one place.

    Args:
        place: where to look; a serial line without a chosen baud rate is tried at several.
        listen: never write a byte.
    """
    holder = holder_of(place.identity)
    if holder is not None:
        yield Finding(family="", place=str(place), device="", detail=f"in use by process {holder}")
        return
    try:
        if isinstance(place, CanPlace):
            yield from _axes(place)
        elif isinstance(place, UdpPlace):
            if not listen:
                yield from _board(place)
        else:
            yield from _streams(place, listen)
            if not listen:
                yield from _servos(place)
    except BusBusy as error:
        yield Finding(family="", place=str(place), device="", detail="", problem=str(error))
    except (OSError, can.CanError) as error:
        hint = f"; {hint_for(error, place.interface, place.channel)}" if isinstance(place, CanPlace) else ""
        yield Finding(family="", place=str(place), device="", detail="", problem=f"{error}{hint}")
    except DriverError as error:
        yield Finding(family="", place=str(place), device="", detail="", problem=str(error))


def _servos(place: SerialPlace) -> Iterator[Finding]:
    port = ServoPort(place.path, place.baud, "scan", 30_000_000)
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


def _streams(place: SerialPlace, listen: bool) -> Iterator[Finding]:
    """A Hall bridge or an ORCA stream talks by itself."""
    port = SerialPort(place.path, place.baud, "scan", readonly=listen)
    try:
        bridge, encoders = HallParser(), OrcaParser()
        if not listen:
            port.write(hall.ask(Type.ASK_INFO))
        until_ns = port.clock() + int(LISTEN_S * 1e9 * (3.0 if listen else 1.0))
        info: Info | None = None
        while port.clock() < until_ns and info is None:
            data = port.read(until_ns)
            messages = bridge.feed(data, port.clock()) if data else []
            info = next((m for m in messages if isinstance(m, Info)), None)
            encoders.feed(data, port.clock())
        if info is not None:
            detail = f"{info.channels} channels, {1e6 / max(info.period_us, 1):.0f} Hz, serial {info.serial}"
            yield Finding(family="hall-bridge", place=str(place), device="Hall bridge", detail=detail)
        elif encoders.counts.frames > 3:
            detail = f"{encoders.counts.frames} frames in {LISTEN_S:.1f} s"
            yield Finding(family="orca-encoders", place=str(place), device="ORCA encoders", detail=detail)
    finally:
        port.close()


def _axes(place: CanPlace) -> Iterator[Finding]:
    """Axes are heard by their heartbeats; nothing is sent."""
    beats: Counter[int] = Counter()
    states: dict[int, odrive.Heartbeat] = {}
    with BusLock(place.identity, str(place)), opened("scan", str(place), place.arguments()) as bus:
        begun = time.monotonic()
        while time.monotonic() - begun < LISTEN_S:
            message = bus.recv(0.1)
            if message is None or message.is_error_frame or message.is_extended_id:
                continue
            frame = Frame(message.arbitration_id, bytes(message.data))
            beat = odrive.heartbeat_of(frame) if frame.command == Command.HEARTBEAT else None
            if beat is not None:
                beats[frame.node] += 1
                states[frame.node] = beat
    for node, n in sorted(beats.items()):
        twice = n / LISTEN_S > HEARTBEAT_MAX
        text = f"{n} heartbeats in {LISTEN_S:.1f} s: another period than 100 ms, or two nodes"
        detail = f"state {states[node].state}, error {states[node].error:#x}"
        yield Finding(
            family="odrive",
            place=str(place),
            device=f"node {node}",
            detail=detail,
            problem=text if twice else "",
        )


def _board(place: UdpPlace) -> Iterator[Finding]:
    port = UdpPort(place.host, place.port, "scan", locked=False)
    try:
        _, body = port.ask(collector.plain(Header(kind=Kind.HELLO)), Kind.DESCRIBE, LISTEN_S)
        about = collector.described(body)
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
