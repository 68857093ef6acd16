"""Tools for one bus: decode what passes, send raw bytes, give a servo its id; each under the lock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

import can

from drivers.canline import opened
from drivers.collector.port import UdpPort
from drivers.dynamixel.codec import ID_MAX
from drivers.dynamixel.models import models
from drivers.dynamixel.port import ServoPort
from drivers.dynamixel.search import found_on as _found
from drivers.errors import DriverError, DuplicateId
from drivers.locks import BusLock
from drivers.places import CanPlace, Place, SerialPlace, UdpPlace
from drivers.scanning import listeners, searches
from drivers.serialport import SerialPort

WAIT_NS: Final = 100_000_000


class IdRefused(DriverError):
    """An id was not given; says why."""


def log(place: Place, going: Callable[[], bool]) -> Iterator[tuple[float, str]]:
    """(seconds, line) of everything that passes; on serial lines and CAN nothing is written.

    Args:
        place: where to listen; a board is asked for samples without touching its session.
        going: False ends it.
    """
    if isinstance(place, SerialPlace):
        yield from _serial_log(place, going)
    elif isinstance(place, CanPlace):
        yield from _can_log(place, going)
    else:
        able = [search for search in searches(place) if search.log is not None]
        here = able[:1] if len(able) == 1 else [s for s in able if s.find is not None and any(s.find(place))]
        for search in here[:1]:
            assert search.log is not None
            yield from search.log(place, going)


def _serial_log(place: SerialPlace, going: Callable[[], bool]) -> Iterator[tuple[float, str]]:
    hear = listeners(place)
    port = SerialPort(place.path, place.baud, "log", readonly=True)
    begun_ns = port.clock()
    try:
        while going():
            data = port.read(port.clock() + WAIT_NS)
            now_ns = port.clock()
            for one in hear if data else ():
                for line in one.lines(data, now_ns):
                    yield (now_ns - begun_ns) * 1e-9, line
    finally:
        port.close()


def _can_log(place: CanPlace, going: Callable[[], bool]) -> Iterator[tuple[float, str]]:
    hear = listeners(place)
    with BusLock(place.identity, str(place)), opened("log", str(place), place.arguments()) as bus:
        begun = time.monotonic()
        while going():
            message = bus.recv(0.1)
            if message is None:
                continue
            told = [line for one in hear for line in one.lines(message, time.monotonic_ns())]
            for line in told or [_frame_line(message)]:
                yield time.monotonic() - begun, line


def _frame_line(message: can.Message) -> str:
    """A frame that no family knows."""
    if message.is_error_frame:
        return f"error frame {message.arbitration_id:#x}"
    return f"{message.arbitration_id:03X} {bytes(message.data).hex(' ')}"


def inject(place: Place, payload: str) -> str:
    """Send raw bytes once, return what came back within 0.1 s as hex.

    Args:
        place: where.
        payload: hex bytes; on CAN ``ID#DATA`` as candump writes it.
    """
    if isinstance(place, CanPlace):
        number, _, data = payload.partition("#")
        with BusLock(place.identity, str(place)), opened("inject", str(place), place.arguments()) as bus:
            frame_id = int(number, 16)
            bus.send(can.Message(arbitration_id=frame_id, data=bytes.fromhex(data), is_extended_id=False))
            answer = bus.recv(0.1)
            return "" if answer is None else f"{answer.arbitration_id:03X}#{bytes(answer.data).hex()}"
    data_out = bytes.fromhex(payload)
    if isinstance(place, UdpPlace):
        udp = UdpPort(place.host, place.port, "inject")
        buffer = memoryview(bytearray(2048))
        udp.send(data_out)
        length = udp.receive(buffer, udp.clock() + WAIT_NS)
        udp.close()
        return bytes(buffer[: max(length, 0)]).hex(" ")
    port = SerialPort(place.path, place.baud, "inject")
    try:
        port.drain()
        port.write(data_out)
        return port.read(port.clock() + WAIT_NS).hex(" ")
    finally:
        port.close()


def give_id(place: SerialPlace, new_id: int) -> str:
    """Give the one servo on a line another id (B43): exactly one before, exactly one after.

    Raises:
        IdRefused: none or several servos are connected, or the id is out of range.
        DuplicateId: two with one id.
    """
    if not 0 <= new_id <= ID_MAX:
        raise IdRefused(f"id {new_id} is not possible (legal: 0 to {ID_MAX})")
    port = ServoPort(place.path, place.baud, "id", 30_000_000)
    try:
        before = _found(port)
        if len(before) != 1 or port.counts.errors():
            noise = ", and bytes without sense" if port.counts.errors() else ""
            found = f"{len(before)} servos answer{noise}"
            raise IdRefused(f"{place}: {found}; connect exactly one")
        (old_id, number, _) = before[0]
        label = f"id {old_id}"
        model = next((m for m in models().values() if m.model_number == number), None)
        if model is None:
            text = f"{label} is model {number}, whose registers are not known (known: {', '.join(models())})"
            raise IdRefused(f"{place}: {text}; nothing was written")
        port.ping(old_id, label)
        port.have_it_answer(old_id, model.registers["status_return_level"], label)
        port.set(old_id, model.registers["torque_enable"], 0, label, "torque_enable")
        port.write(old_id, model.registers["id"], new_id, label, "id")
        after = [a[0] for a in _found(port)]
        if after == [old_id] != [new_id]:
            raise IdRefused(f"{place}: {label} still answers as {label}: writing {new_id} had no effect")
        if after != [new_id]:
            raise DuplicateId("id", new_id, f"after the change {after} answer")
        return f"{label} is now id {new_id} ({model.name})"
    finally:
        port.close()
