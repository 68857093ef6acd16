"""The hand at the other end of two sockets, for asyncio."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from math import inf
from os import PathLike
from types import TracebackType
from typing import Any, Self

import msgspec
import zmq
import zmq.asyncio

from flexor.aio.control import AsyncControl
from flexor.client import PORT_BASE, Hand
from flexor.errors import HandSilent
from flexor.keys import chosen, why_silent
from flexor.places import find
from flexor.views import View
from flexor.wire import MOST, SCHEMA, Newest, checked, checked_meta, connect, message_of


class AsyncHand:
    """A running hand, as ``flexor.Hand`` sees it.

    Args:
        host: machine on which ``flexor run`` runs.
        port_base: its ``--port-base``.
        timeout_s: longest wait for a message or an answer.
        key: file with your key; default: the one that ``FLEXOR_KEY`` names.

    Topics and requests may be used by several tasks.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        *,
        port_base: int = PORT_BASE,
        timeout_s: float = 2.0,
        key: str | PathLike[str] | None = None,
    ) -> None:
        self.host, self.port_base, self.timeout_s = host, port_base, timeout_s
        self.key_file, self.key = key, chosen(key)
        self.places = find(host, port_base)
        self._context = zmq.asyncio.Context()
        self._sockets: dict[str, Any] = {}
        self._ids = itertools.count(1)
        self._asking = asyncio.Lock()
        # one task at a time reads a topic: closing a socket that is silent cancels whoever else waits on it
        self._listening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._meta: dict[str, Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        for socket in self._sockets.values():
            socket.close()
        self._sockets.clear()
        self._context.term()

    async def meta(self) -> dict[str, Any]:
        """Names, units, codes, hash, versions of the hand; waits for it once.

        Raises:
            HandSilent: nothing comes.
            SchemaMismatch: the hand speaks another version.
        """
        if self._meta is None:
            self._meta = checked_meta(await self._receive("meta"))
        return self._meta

    async def view(self) -> View:
        """The newest view; older ones that wait in the socket are passed over.

        Raises:
            HandSilent: nothing comes.
        """
        async with self._listening["view"]:
            payload, newest = await self._next("view"), Newest()
            socket = self._subscriber("view")
            asked_s = time.monotonic()
            while newest.skipped < MOST and await socket.poll(newest.patience_ms()):
                payload = (await socket.recv_multipart())[1]
                newest.took(time.monotonic() - asked_s)
                asked_s = time.monotonic()
        return View(msgspec.msgpack.decode(payload), newest.skipped)

    async def watch(self, seconds: float = inf) -> AsyncIterator[View]:
        """Views as they come, newest first choice, for some time or for ever."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            yield await self.view()

    async def health(self) -> dict[str, Any]:
        """The next health message (10 Hz)."""
        return await self._receive("health")

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """Events as they come."""
        socket = self._subscriber("event")
        while True:
            event: dict[str, Any] = msgspec.msgpack.decode((await socket.recv_multipart())[1])
            yield event

    def listen(self, *topics: str) -> None:
        """Subscribe now, so that nothing is missed until the first read."""
        for topic in topics:
            self._subscriber(topic)

    def control(self, name: str, *, take: str | None = None) -> AsyncControl:
        """Become the one who commands; use with ``async with``.

        Args:
            name: who you are, for others to see.
            take: reason to take the lease from whoever holds it.
        """
        return AsyncControl(self, name, take)

    async def stop(self, by: str = "") -> dict[str, Any]:
        """Stop the hand now; needs no lease, and nothing that another task holds up.

        Raises:
            Refused: with code, text and hint.
            HandSilent: no answer.
        """
        return await asyncio.to_thread(self._stop, by)

    def _stop(self, by: str) -> dict[str, Any]:
        with Hand(self.host, port_base=self.port_base, timeout_s=self.timeout_s, key=self.key_file) as hand:
            return hand.stop(by)

    async def snapshot(self) -> str:
        """Write down the last 20 s and the next 10 s, at full rate; needs no lease. Returns the file's path.

        Raises:
            Refused: ``busy``, with the reason.
        """
        return str((await self.request("snapshot"))["file"])

    async def request(
        self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any
    ) -> dict[str, Any]:
        """One request and its answer (docs/telemetry.md lists the operations).

        Raises:
            Refused: with code, text and hint.
            HandSilent: no answer.
        """
        message = message_of(next(self._ids), op, lease, args, deadline_s)
        async with self._asking:
            if "command" not in self._sockets:
                self._sockets["command"] = connect(self._context, zmq.DEALER, self.places.command, self.key)
            socket = self._sockets["command"]
            await socket.send(msgspec.msgpack.encode(message))
            until = time.monotonic() + self.timeout_s
            while (left := until - time.monotonic()) > 0 and await socket.poll(int(1000 * left) + 1):
                answer: dict[str, Any] = msgspec.msgpack.decode(await socket.recv())
                if answer.get("id") == message["id"]:  # late ones of earlier requests are passed over
                    return checked(op, answer)
            raise await self._silent("command", self.places.command, f"answer to {op!r}")

    async def _silent(self, name: str, place: str, what: str) -> HandSilent:
        """Forget a connection on which nothing comes; the next try looks where the hand listens now."""
        self._sockets.pop(name).close()
        self.places = find(self.host, self.port_base)
        why = await asyncio.to_thread(why_silent, place, self.key)
        return HandSilent(place, self.timeout_s, what, why)

    def _subscriber(self, topic: str) -> Any:
        if topic not in self._sockets:
            socket = connect(self._context, zmq.SUB, self.places.publish, self.key)
            socket.setsockopt(zmq.SUBSCRIBE, f"{SCHEMA}/{topic}".encode())
            self._sockets[topic] = socket
        return self._sockets[topic]

    async def _receive(self, topic: str) -> dict[str, Any]:
        async with self._listening[topic]:
            found: dict[str, Any] = msgspec.msgpack.decode(await self._next(topic))
            return found

    async def _next(self, topic: str) -> bytes:
        """Payload of the next message, for who holds the topic's lock."""
        socket = self._subscriber(topic)
        if not await socket.poll(int(1000 * self.timeout_s)):
            raise await self._silent(topic, self.places.publish, f"{topic!r} message")
        payload: bytes = (await socket.recv_multipart())[1]
        return payload
