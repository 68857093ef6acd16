"""Requests and answers as they cross a socket."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec
import zmq

from flexor.errors import HandError, Refused, SchemaMismatch
from flexor.keys import Key, fit

SCHEMA: Final = "hand/v1"


def connect(context: Any, kind: int, endpoint: str, key: Key | None = None) -> Any:
    """A connection that drops what it cannot deliver and tries again when nobody is there.

    Raises:
        HandError: the context is closed.
    """
    if context.closed:
        raise HandError("this connection is closed; make a new Hand")
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, 400)
    socket.setsockopt(zmq.RECONNECT_IVL, 100)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
    if endpoint.startswith("tcp://"):  # a socket file has no keys
        fit(socket, key)
    socket.connect(endpoint)
    return socket


def message_of(number: int, op: str, lease: int, args: dict[str, Any], deadline_s: float) -> dict[str, Any]:
    """A request; ``deadline_s``: worthless after this time [s], 0: never."""
    message: dict[str, Any] = {"v": 1, "id": number, "op": op, "lease": lease, "args": args}
    if deadline_s:
        message["deadline"] = time.time() + deadline_s
    return message


def poll(socket: Any, number: int, timeout_s: float) -> dict[str, Any] | None:
    """The answer to a request, if it comes in time; late ones of earlier requests are passed over."""
    until = time.monotonic() + timeout_s
    while (left := until - time.monotonic()) > 0 and socket.poll(int(1000 * left) + 1):
        answer: dict[str, Any] = msgspec.msgpack.decode(socket.recv())
        if answer.get("id") == number:
            return answer
    return None


MOST: Final = 100_000
"""Messages drained at most in one go: a fast publisher must not hold us for ever."""
FULL: Final = 50
"""So many that wait mean a pause of the reader: queues may have been full, and what is in them old."""
LIVE_S: Final = 0.005
"""A message that was waited for longer than this was not in a queue."""
AGAIN_MS: Final = 200
"""Where nothing more comes in this time, what has come is the newest."""


class Newest:
    """Tells when the newest message of a topic has been read.

    A queue that was full holds what came first, not what came last. So after a pause messages are read until
    two in a row had to be waited for.
    """

    def __init__(self) -> None:
        self.skipped, self._waits = 0, 0

    def patience_ms(self) -> int:
        """Longest wait for one more."""
        return AGAIN_MS if FULL < self.skipped and self._waits < 2 else 0

    def took(self, waited_s: float) -> None:
        """One more was read, after a wait."""
        self.skipped += 1
        self._waits = self._waits + 1 if waited_s > LIVE_S else 0


def checked(op: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, if it says yes.

    Raises:
        Refused: with code, text and hint.
    """
    if not answer["ok"]:
        error = answer["error"]
        raise Refused(op, error["code"], error["msg"], error["hint"])
    return answer


def checked_meta(found: dict[str, Any]) -> dict[str, Any]:
    """The hand's description, if this client speaks its version.

    Raises:
        SchemaMismatch: another version.
    """
    if found.get("schema") != SCHEMA:
        raise SchemaMismatch(f"the hand speaks {found.get('schema')!r}, this client {SCHEMA!r}: update")
    return found
