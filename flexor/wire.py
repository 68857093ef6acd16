"""Requests and answers as they cross a socket."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import zmq

from flexor.errors import HandError, Refused


def connect(context: Any, kind: int, endpoint: str) -> Any:
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


def checked(op: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, if it says yes.

    Raises:
        Refused: with code, text and hint.
    """
    if not answer["ok"]:
        error = answer["error"]
        raise Refused(op, error["code"], error["msg"], error["hint"])
    return answer
