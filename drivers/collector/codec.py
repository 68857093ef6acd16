"""Collector protocol 1: the bytes of every datagram; docs/collector_protocol.md is its specification.

All words are little-endian and naturally aligned, so the records below are the wire. Physical values are
integers with a fixed binary point in SI units: no scale to agree on, no value that is not a number.
A datagram ends with the CRC-32 of Ethernet over everything before it.
"""

from __future__ import annotations

import socket
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Annotated, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from drivers.places import UDP_PORT
from signals.layout import dtype_of

MAGIC: Final = 0x31584C46
"""Reads ``FLX1`` on the wire."""
VERSION: Final = 1
PORT: Final = UDP_PORT
MAX_DATAGRAM: Final = 1472
"""Largest payload of an unfragmented Ethernet frame with IPv4 and UDP."""
MAX_SLOTS: Final = 64

ANGLE_LSB_RAD: Final = 2.0**-20
SPEED_LSB_RAD_S: Final = 2.0**-16
CURRENT_LSB_A: Final = 2.0**-11
TEMPERATURE_LSB_DEGC: Final = 2.0**-7
CURRENT_MAX_A: Final = 32767 * CURRENT_LSB_A


class Kind(IntEnum):
    """Kind of a datagram; odd host -> device, even device -> host."""

    COMMAND = 1
    SAMPLE = 2
    HELLO = 3
    DESCRIBE = 4
    SETUP = 5
    SETUP_ACK = 6
    RELEASE = 7
    RELEASED = 8
    OBSERVE = 9
    REFUSED = 10


class CommandFlag(IntFlag):
    """Flags of a command."""

    ARM = 1


class SampleFlag(IntFlag):
    """Flags of a sample."""

    ARMED = 1
    WATCHDOG = 2
    SUPPLY = 4
    MUST_DISARM = 8
    COMMAND_GAP = 16


class SetupResult(IntEnum):
    """Answer to a set-up."""

    OK = 0
    HELD = 1
    OUT_OF_RANGE = 2
    SLOTS = 3


U1 = Annotated[int, "u1"]
U2 = Annotated[int, "<u2"]
I2 = Annotated[int, "<i2"]
U4 = Annotated[int, "<u4"]
I4 = Annotated[int, "<i4"]
U8 = Annotated[int, "<u8"]


class _Header(Protocol):
    magic: U4
    kind: U1
    slots: U1
    flags: U2
    session: U4
    seq: U4


class CommandHead(_Header, Protocol):
    """First bytes of a command."""

    host_time_ns: U8
    axis_angle: Annotated[NDArray[np.int32], 2]
    axis_enable: Annotated[NDArray[np.uint8], 2]
    spare: Annotated[NDArray[np.uint8], 6]


class CommandSlot(Protocol):
    """A motor of a command."""

    angle: I4
    current: I2
    mode: U1
    spare: U1


class SampleHead(_Header, Protocol):
    """First bytes of a sample."""

    device_time_ns: U8
    host_time_ns: U8
    echo_seq: U4
    command_age_us: U4
    axis_angle: Annotated[NDArray[np.int32], 2]
    axis_status: Annotated[NDArray[np.uint16], 2]
    bus_voltage: U2
    boot: U2


class SampleSlot(Protocol):
    """A motor and a Hall channel of a sample."""

    angle: I4
    speed: I4
    current: I2
    temperature: I2
    hall: U2
    motor_status: U2
    hall_status: U2
    age_us: U2


COMMAND_HEAD: Final = dtype_of(CommandHead)
COMMAND_SLOT: Final = dtype_of(CommandSlot)
SAMPLE_HEAD: Final = dtype_of(SampleHead)
SAMPLE_SLOT: Final = dtype_of(SampleSlot)
LIMIT_SLOT: Final = np.dtype([("current", "<i2"), ("temperature", "<i2"), ("speed", "<i4")], align=True)

HEAD: Final = struct.Struct("<IBBHII")
COMMAND_START: Final = struct.Struct("<IBBHIIQ")
"""Header and host time of a command."""
SAMPLE_START: Final = struct.Struct("<IBBHIIQQII")
"""Header, device time, host time, answered command and its age of a sample."""
CRC: Final = struct.Struct("<I")
_DESCRIBE: Final = struct.Struct("<HBBBBHIIIIIHH4s16s32s")
_SETUP: Final = struct.Struct("<II")
_SETUP_ACK: Final = struct.Struct("<IBBHI4sHH")
_REFUSED: Final = struct.Struct("<4sHH")
CRC_BYTES: Final = 4
NO_LIMIT: Final = 0x7FFF
"""Temperature limit that means none."""


def command_bytes(slots: int) -> int:
    """Length of a command datagram for ``slots`` motors."""
    return COMMAND_HEAD.itemsize + slots * COMMAND_SLOT.itemsize + CRC_BYTES


def sample_bytes(slots: int) -> int:
    """Length of a sample datagram for ``slots`` motors."""
    return SAMPLE_HEAD.itemsize + slots * SAMPLE_SLOT.itemsize + CRC_BYTES


assert sample_bytes(MAX_SLOTS) <= MAX_DATAGRAM
assert COMMAND_HEAD.itemsize == 40 and SAMPLE_HEAD.itemsize == 56


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First 16 bytes of every datagram."""

    kind: Kind
    slots: int = 0
    flags: int = 0
    session: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a board says about itself."""

    n_motors: int
    n_halls: int
    n_axes: int
    hall_fraction_bits: int
    watchdog_min_us: int
    watchdog_max_us: int
    boot: int
    sample_period_ns: int
    firmware: int
    holder_session: int = 0
    holder: tuple[str, int] = ("0.0.0.0", 0)
    serial: str = ""
    name: str = ""
    version: int = VERSION

    @property
    def slots(self) -> int:
        """Slots of its samples."""
        return max(self.n_motors, self.n_halls)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupAnswer:
    """What a board took of a set-up."""

    result: SetupResult
    watchdog_us: int
    boot: int
    holder: tuple[str, int]
    limits: np.ndarray[Any, np.dtype[Any]]


def seal(body: bytes) -> bytes:
    """Body with its CRC-32."""
    return body + zlib.crc32(body).to_bytes(4, "little")


def header_bytes(header: Header) -> bytes:
    """First 16 bytes of a datagram."""
    return HEAD.pack(MAGIC, header.kind, header.slots, header.flags, header.session, header.seq)


def opened(datagram: bytes) -> tuple[Header, bytes] | None:
    """Header and body between header and CRC; None for everything that is not a sound datagram."""
    if not HEAD.size + CRC_BYTES <= len(datagram) <= MAX_DATAGRAM:
        return None
    if zlib.crc32(datagram[:-4]) != int.from_bytes(datagram[-4:], "little"):
        return None
    magic, kind, slots, flags, session, seq = HEAD.unpack_from(datagram)
    if magic != MAGIC or slots > MAX_SLOTS or kind not in Kind._value2member_map_:
        return None
    return Header(kind=Kind(kind), slots=slots, flags=flags, session=session, seq=seq), datagram[16:-4]


def plain(header: Header) -> bytes:
    """A datagram without a body: hello, release, released, observe."""
    return seal(header_bytes(header))


def _packed_ip(address: tuple[str, int]) -> bytes:
    return socket.inet_aton(address[0])


def describe(header: Header, about: Description) -> bytes:
    """DESCRIBE datagram."""
    body = _DESCRIBE.pack(
        about.version,
        about.n_motors,
        about.n_halls,
        about.n_axes,
        about.hall_fraction_bits,
        about.firmware,
        about.boot,
        about.watchdog_min_us,
        about.watchdog_max_us,
        about.sample_period_ns,
        about.holder_session,
        about.holder[1],
        0,
        _packed_ip(about.holder),
        about.serial.encode("ascii")[:16],
        about.name.encode("ascii")[:32],
    )
    return seal(header_bytes(header) + body)


def described(body: bytes) -> Description | None:
    """Description from the body of DESCRIBE; None if its length or a count is impossible."""
    if len(body) != _DESCRIBE.size:
        return None
    words = _DESCRIBE.unpack(body)
    if words[1] > MAX_SLOTS or words[2] > MAX_SLOTS or words[3] > 2 or words[4] > 8:
        return None
    return Description(
        version=words[0],
        n_motors=words[1],
        n_halls=words[2],
        n_axes=words[3],
        hall_fraction_bits=words[4],
        firmware=words[5],
        boot=words[6],
        watchdog_min_us=words[7],
        watchdog_max_us=words[8],
        sample_period_ns=words[9],
        holder_session=words[10],
        holder=(socket.inet_ntoa(words[13]), words[11]),
        serial=words[14].rstrip(b"\0").decode("ascii", "replace"),
        name=words[15].rstrip(b"\0").decode("ascii", "replace"),
    )


def setup(header: Header, watchdog_us: int, limits: np.ndarray[Any, np.dtype[Any]]) -> bytes:
    """SETUP datagram; ``limits`` is LIMIT_SLOT, shape (header.slots,)."""
    return seal(header_bytes(header) + _SETUP.pack(watchdog_us, 0) + limits.tobytes())


def setup_of(header: Header, body: bytes) -> tuple[int, np.ndarray[Any, np.dtype[Any]]] | None:
    """Watchdog [us] and limits from the body of SETUP; None if the length contradicts the header."""
    if len(body) != _SETUP.size + header.slots * LIMIT_SLOT.itemsize:
        return None
    watchdog_us, _ = _SETUP.unpack_from(body)
    return watchdog_us, np.frombuffer(body, LIMIT_SLOT, offset=_SETUP.size).copy()


def setup_ack(header: Header, answer: SetupAnswer) -> bytes:
    """SETUP_ACK datagram; ``answer.limits`` is LIMIT_SLOT, shape (header.slots,)."""
    body = _SETUP_ACK.pack(
        answer.watchdog_us, answer.result, 0, 0, answer.boot, _packed_ip(answer.holder), answer.holder[1], 0
    )
    return seal(header_bytes(header) + body + answer.limits.tobytes())


def setup_answer(header: Header, body: bytes) -> SetupAnswer | None:
    """Answer from the body of SETUP_ACK; None if the length contradicts the header."""
    if len(body) != _SETUP_ACK.size + header.slots * LIMIT_SLOT.itemsize:
        return None
    watchdog_us, result, _, _, boot, ip, port, _ = _SETUP_ACK.unpack_from(body)
    if result not in SetupResult._value2member_map_:
        return None
    return SetupAnswer(
        result=SetupResult(result),
        watchdog_us=watchdog_us,
        boot=boot,
        holder=(socket.inet_ntoa(ip), port),
        limits=np.frombuffer(body, LIMIT_SLOT, offset=_SETUP_ACK.size).copy(),
    )


def refused(header: Header, holder: tuple[str, int]) -> bytes:
    """REFUSED datagram naming who holds the board."""
    return seal(header_bytes(header) + _REFUSED.pack(_packed_ip(holder), holder[1], 0))


def refused_by(body: bytes) -> tuple[str, int] | None:
    """Holder from the body of REFUSED."""
    if len(body) != _REFUSED.size:
        return None
    ip, port, _ = _REFUSED.unpack(body)
    return socket.inet_ntoa(ip), port
