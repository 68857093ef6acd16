"""Where requests come in: the server's sockets, each with a budget, and a path of its own for a stop.

A stop may also come as a datagram. It needs no connection, so no descriptor, and it is looked at first in
every turn: idle connections and floods on the other sockets do not reach it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import zmq

from flexor.places import Places
from telemetry.command.door import Door
from telemetry.command.requests import Refusal, parse
from telemetry.command.server import CommandServer
from telemetry.keys import COMMANDER, Keyring, role_of
from telemetry.sockets import PLOTJUGGLER_PORT, bind, bind_datagrams

if TYPE_CHECKING:
    from telemetry.gate import Gate

REQUESTS_S: Final = 0.005
"""Time for requests in one turn; one that has begun is finished."""
DATAGRAMS_S: Final = 0.002
"""Time for datagrams in one turn."""
DATAGRAM_MOST: Final = 1024
"""Bytes of a datagram that is looked at."""
STOPPERS_MOST: Final = 64
"""Senders of a stop that are answered in one turn."""
PARTS_MOST: Final = 64
"""Parts of a message that are looked at; whoever sends more is cut off."""
FRAMING: Final = 48
"""Bytes on the wire beside a part's own, at most: 9 in plain, 42 with keys."""


def _gate(context: Any, ring: Keyring) -> Gate:
    from telemetry.gate import Gate

    return Gate(context, ring)


class Reception:
    """Owner of the sockets on which requests come in.

    Args:
        context: ZeroMQ context.
        places: where the hand listens.
        ring: whom to let in; ``None``: everybody who gets there, with every right.

    Raises:
        PortBusy: a place is taken.
    """

    def __init__(self, context: Any, places: Places, ring: Keyring | None = None) -> None:
        self._gate = _gate(context, ring) if ring is not None else None
        self.router = bind(context, zmq.ROUTER, places.command, ring)
        try:
            self.datagrams = bind_datagrams(places.stop)
        except OSError:
            self.router.close()
            raise
        self.places, self._skipping = places, False
        self.door = Door({_name(places.command)}, {_name(places.publish), PLOTJUGGLER_PORT})
        self.door.start()

    def register(self, poller: Any) -> None:
        """Wake a poller when something comes in."""
        poller.register(self.router, zmq.POLLIN)
        poller.register(self.datagrams, zmq.POLLIN)

    def serve(self, server: CommandServer, now_ns: int) -> None:
        """One turn: stops, then requests as long as there is time.

        Args:
            server: who answers.
            now_ns: monotonic time.
        """
        self._stops(server, now_ns)
        until = time.monotonic() + REQUESTS_S
        while time.monotonic() < until:
            if self._skipping and not self._skip(until):
                return
            try:
                identity = self.router.recv(zmq.NOBLOCK)
            except zmq.Again:
                self.door.emptied()
                return
            answer = self._answer(server, now_ns, identity)
            with suppress(zmq.ZMQError):  # the client is gone
                self.router.send_multipart([identity, *answer], zmq.NOBLOCK)

    def _answer(self, server: CommandServer, now_ns: int, identity: bytes) -> list[bytes]:
        """Answer of the message whose sender has just been read, in the shape of the message."""
        parts: list[bytes] = []
        size, descriptor, role = 0, -1, ""
        while self.router.getsockopt(zmq.RCVMORE):
            if len(parts) == PARTS_MOST:
                self.door.turn_away(descriptor)
                self._skipping = True
                return [server.refuse("malformed", f"a message of more than {PARTS_MOST} parts", "")]
            part = self.router.recv(copy=False)
            size += len(part.buffer) + FRAMING
            descriptor, role = _descriptor(part), role_of(part)
            parts.append(part.bytes)
        self.door.take(descriptor, size)
        envelope = parts[:1] if len(parts) > 1 and not parts[0] else []  # a REQ socket's empty delimiter
        if len(parts) - len(envelope) > 1:
            return [
                *envelope,
                server.refuse("malformed", f"a message of {len(parts)} parts; a request is one", ""),
            ]
        looks_only = role != COMMANDER and self._gate is not None
        return [*envelope, server.handle(parts[-1] if parts else b"", now_ns, identity, looks_only)]

    def _skip(self, until_s: float) -> bool:
        """Pass over the rest of a message of too many parts, turn by turn; True at its end."""
        while self._skipping and time.monotonic() < until_s:
            for _ in range(200):
                if not self.router.getsockopt(zmq.RCVMORE):
                    self._skipping = False
                    break
                self.router.recv()
        return not self._skipping

    def _stops(self, server: CommandServer, now_ns: int) -> None:
        """Stops that came as datagrams; all that came since the last turn are one stop."""
        asked: dict[Any, tuple[int | str, bytes]] = {}
        until = time.monotonic() + DATAGRAMS_S
        while time.monotonic() < until and len(asked) < STOPPERS_MOST:
            try:
                payload, sender = self.datagrams.recvfrom(DATAGRAM_MOST)
                request, _ = parse(payload if b"stop" in payload else b"")
            except OSError:  # nothing more, or an earlier answer that could not be delivered
                break
            except Refusal:
                continue  # never answered: two that answer each other's errors would not end
            if request.op == "stop":
                asked[sender] = (request.id, payload)
        answer: dict[str, Any] = {"ok": False}
        for sender, (identity, payload) in asked.items():
            if not answer["ok"]:
                answer = msgspec.msgpack.decode(server.handle(payload, now_ns))
            with suppress(OSError):  # the sender is gone
                self.datagrams.sendto(msgspec.msgpack.encode(answer | {"id": identity}), sender)

    def close(self) -> None:
        """Close the sockets, remove the stop's file."""
        self.door.close()
        self.router.close()
        self.datagrams.close()
        if self._gate is not None:
            self._gate.stop()
        if isinstance(self.places.stop, str):
            Path(self.places.stop).unlink(missing_ok=True)


def _name(endpoint: str) -> int | str:
    """Port or path of an end point, as the kernel names it."""
    kind, _, rest = endpoint.partition("://")
    return int(rest.rpartition(":")[2]) if kind == "tcp" else rest


def _descriptor(part: Any) -> int:
    """Descriptor of the connection that a part came on."""
    try:
        return int(part.get(zmq.SRCFD))
    except zmq.ZMQError:
        return -1
