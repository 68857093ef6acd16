"""Bytes of the box: pure functions, no port, no clock.

Request: ``LBX?``, seq, then for every motor current and current limit [A].
Reply: ``LBX!``, the request's seq, boot number, 1 if the box's watchdog has tripped, then for every motor
angle [rad], speed [rad/s] and current [A], then the Hall counts. Both end with a CRC-32.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

PORT: Final = 4711
WATCHDOG_S: Final = 0.1
"""Fixed in the box: so long after the last request it lets go of all motors."""
LONGEST: Final = 1400
_REQUEST: Final = struct.Struct("<4sI")
_REPLY: Final = struct.Struct("<4sIII")
_CRC: Final = struct.Struct("<I")
_MOTOR: Final = np.dtype([("angle_rad", "<f8"), ("speed_rad_s", "<f4"), ("current_a", "<f4")])
_GOAL: Final = np.dtype([("current_a", "<f4"), ("limit_a", "<f4")])


@dataclass(frozen=True, slots=True)
class Reply:
    """What the box answers; ``motors`` has the fields of ``_MOTOR``, shape (n,)."""

    seq: int
    boot: int
    tripped: bool
    motors: NDArray[Any]
    halls: NDArray[np.uint16]


def request(seq: int, current_a: NDArray[Any], limit_a: NDArray[Any]) -> bytes:
    """A request; both arrays have the shape (n,). A current that is no number asks for nothing."""
    goals = np.zeros(current_a.shape[0], dtype=_GOAL)
    finite = np.nan_to_num(current_a, nan=0.0, posinf=1e30, neginf=-1e30)
    goals["current_a"], goals["limit_a"] = np.clip(finite, -limit_a, limit_a), limit_a
    return _sealed(_REQUEST.pack(b"LBX?", seq) + goals.tobytes())


def requested(datagram: bytes) -> tuple[int, NDArray[Any]] | None:
    """(seq, goals) of a request, or None: damaged, or no request."""
    body = _opened(datagram, _REQUEST.size, _GOAL.itemsize)
    if body is None or body[:4] != b"LBX?":
        return None
    return _REQUEST.unpack_from(body)[1], np.frombuffer(body, _GOAL, offset=_REQUEST.size)


def reply(seq: int, boot: int, tripped: bool, motors: NDArray[Any], halls: NDArray[Any]) -> bytes:
    """A reply."""
    return _sealed(_REPLY.pack(b"LBX!", seq, boot, tripped) + motors.tobytes() + halls.tobytes())


def replied(datagram: bytes, n_motors: int, n_halls: int) -> Reply | None:
    """A reply of a box with so many channels, or None."""
    body = _opened(datagram, _REPLY.size, 1)
    if body is None or body[:4] != b"LBX!":
        return None
    if len(body) != _REPLY.size + n_motors * _MOTOR.itemsize + 2 * n_halls:
        return None
    _, seq, boot, tripped = _REPLY.unpack_from(body)
    motors = np.frombuffer(body, _MOTOR, n_motors, _REPLY.size)
    halls = np.frombuffer(body, "<u2", n_halls, _REPLY.size + n_motors * _MOTOR.itemsize)
    return Reply(seq, boot, bool(tripped), motors, halls)


def empty(n_motors: int) -> NDArray[Any]:
    """Room for the motors of a reply."""
    return np.zeros(n_motors, dtype=_MOTOR)


def _sealed(body: bytes) -> bytes:
    return body + _CRC.pack(zlib.crc32(body))


def _opened(datagram: bytes, head: int, step: int) -> bytes | None:
    body, seal = datagram[: -_CRC.size], datagram[-_CRC.size :]
    if len(body) < head or (len(body) - head) % step or seal != _CRC.pack(zlib.crc32(body)):
        return None
    return body
