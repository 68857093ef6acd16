"""What is connected: ports and their holders, devices that answer or talk, ids that are there twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import can

from drivers.canline import hint_for, opened
from drivers.errors import BusBusy, DriverError
from drivers.family import Finding, Listener, Search
from drivers.locks import BusLock, holder_of
from drivers.places import CanPlace, Place, SerialPlace
from drivers.registry import ForeignDriver, family, family_names
from drivers.serialport import SerialPort

BAUDS: Final = (57_600, 1_000_000, 2_000_000, 3_000_000, 4_000_000)
LISTEN_S: Final = 0.6


def searches(place: Place) -> list[Search]:
    """How every family that can be at such a place is found; packages that are broken are left out."""
    found = []
    for name in family_names():
        try:
            search = family(name).search
        except ForeignDriver:
            continue
        if search is not None and isinstance(place, search.place):
            found.append(search)
    return found


def listeners(place: Place) -> list[Listener]:
    """A fresh listener of every family that can be heard at such a place."""
    return [search.listener() for search in searches(place) if search.listener is not None]


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
        if isinstance(place, SerialPlace):
            yield from _heard_on_line(place, listen)
        elif isinstance(place, CanPlace):
            yield from _heard_on_can(place)
        for search in searches(place):
            if search.find is not None and not listen:
                yield from search.find(place)
    except BusBusy as error:
        yield Finding(family="", place=str(place), device="", detail="", problem=str(error))
    except (OSError, can.CanError) as error:
        hint = f"; {hint_for(error, place.interface, place.channel)}" if isinstance(place, CanPlace) else ""
        yield Finding(family="", place=str(place), device="", detail="", problem=f"{error}{hint}")
    except DriverError as error:
        yield Finding(family="", place=str(place), device="", detail="", problem=str(error))


def _heard_on_line(place: SerialPlace, listen: bool) -> Iterator[Finding]:
    """Devices that talk by themselves on a serial line, or once they are greeted."""
    hear = listeners(place)
    port = SerialPort(place.path, place.baud, "scan", readonly=listen)
    try:
        for one in hear:
            if one.hello and not listen:
                port.write(one.hello)
        until_ns = port.clock() + int(LISTEN_S * 1e9 * (3.0 if listen else 1.0))
        while port.clock() < until_ns and not any(one.certain for one in hear):
            data = port.read(until_ns)
            for one in hear if data else ():
                list(one.lines(data, port.clock()))
    finally:
        port.close()
    sure = [one for one in hear if one.certain]
    for one in sure or hear:
        yield from one.findings(str(place), LISTEN_S)


def _heard_on_can(place: CanPlace) -> Iterator[Finding]:
    hear = listeners(place)
    with BusLock(place.identity, str(place)), opened("scan", str(place), place.arguments()) as bus:
        begun = time.monotonic()
        while time.monotonic() - begun < LISTEN_S:
            message = bus.recv(0.1)
            for one in hear if message is not None else ():
                list(one.lines(message, time.monotonic_ns()))
    for one in hear:
        yield from one.findings(str(place), LISTEN_S)
