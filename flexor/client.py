"""The hand at the other end of two sockets: state comes in, requests go out and are answered."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
import zmq

from flexor.control import Control
from flexor.errors import HandError, HandSilent
from flexor.keys import Key, chosen, why_silent
from flexor.places import find
from flexor.stopping import StopLine
from flexor.views import View, columns_of, rows_as_array
from flexor.wire import MOST, SCHEMA, Newest, checked, checked_meta, connect, message_of, poll

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PORT_BASE: Final = 5600
_ALONE_S: Final = 0.06
"""Time that a stop's datagrams have before it goes as a request too."""
_LOOK_S: Final = 0.005


class Hand:
    """A running hand.

    Args:
        host: machine on which ``flexor run`` runs.
        port_base: its ``--port-base``.
        timeout_s: longest wait for a message or an answer.
        key: file with your key, for a hand that asks for one; default: the one that ``FLEXOR_KEY`` names.

    Requests may come from several threads; topics are read by one thread at a time.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        *,
        port_base: int = PORT_BASE,
        timeout_s: float = 2.0,
        key: Key | str | PathLike[str] | None = None,
    ) -> None:
        self.host, self.port_base, self.timeout_s = host, port_base, timeout_s
        self.key = chosen(key)
        self.places = find(host, port_base)
        self._context = zmq.Context()
        self._sockets: dict[str, Any] = {}
        self._last_seq: dict[str, int] = {}
        self._ids = itertools.count(1)
        self._asking = threading.Lock()
        self._meta: dict[str, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; safe to call twice, and while a thread keeps a lease alive."""
        with self._asking:  # a request in between would open a socket anew, and the context waits for it
            for socket in self._sockets.values():
                socket.close()
            self._sockets.clear()
            self._context.term()

    @property
    def publish(self) -> str:
        """End point of the topics."""
        return self.places.publish

    @property
    def command(self) -> str:
        """End point of the requests."""
        return self.places.command

    @property
    def meta(self) -> dict[str, Any]:
        """Names, units, codes, hash, versions of the hand; waits for it once.

        Raises:
            HandSilent: nothing comes.
            SchemaMismatch: the hand speaks another version.
        """
        if self._meta is None:
            self._meta = checked_meta(msgspec.msgpack.decode(self._receive("meta", self.timeout_s)))
        return self._meta

    def names(self, space: str) -> list[str]:
        """Names of ``motor``, ``tendon``, ``joint``, ``finger`` or ``axis``."""
        found: list[str] = self.meta["names"][space]
        return found

    def view(self) -> View:
        """The newest view; older ones that wait in the socket are passed over.

        Raises:
            HandSilent: nothing comes.
        """
        payload, newest = self._receive("view", self.timeout_s), Newest()
        socket = self._subscriber("view")
        asked_s = time.monotonic()
        while newest.skipped < MOST and socket.poll(newest.patience_ms()):
            payload = socket.recv_multipart()[1]
            newest.took(time.monotonic() - asked_s)
            asked_s = time.monotonic()
        skipped = newest.skipped
        values: dict[str, Any] = msgspec.msgpack.decode(payload)
        seq = int(values["seq"])
        last = self._last_seq.get("view", seq - 1 - skipped)
        self._last_seq["view"] = seq
        return View(values, skipped, max(seq - last - 1 - skipped, 0))

    def watch(self, seconds: float | None = None) -> Iterator[View]:
        """Views as they come, newest first choice, for some time or for ever."""
        until = None if seconds is None else time.monotonic() + seconds
        while until is None or time.monotonic() < until:
            yield self.view()

    def raw(self) -> NDArray[np.void]:
        """The next batch of full-rate rows, shape (n,), fields ``timestamp``, ``seq``, ``tension``, ...

        Raises:
            HandSilent: nothing comes.
        """
        return rows_as_array(msgspec.msgpack.decode(self._receive("raw", self.timeout_s)))

    def to_table(self, seconds: float = 0.0) -> dict[str, NDArray[Any]]:
        """Full-rate rows as columns: ``timestamp``, ``tick``, ``tension/index_1``, ... each of shape (n,).

        ``pandas.DataFrame``, ``polars.DataFrame`` and ``pyarrow.table`` take it as it is. Call
        ``listen("raw")`` before what you want to see; about 4 s wait for you.

        Args:
            seconds: time to wait for more; 0: what has come already.

        Raises:
            HandSilent: nothing has come, and nothing comes.
        """
        until, batches = time.monotonic() + seconds, self._waiting("raw")
        while time.monotonic() < until or not batches:
            batches.append(self._receive("raw", self.timeout_s))
        rows = [rows_as_array(msgspec.msgpack.decode(payload)) for payload in batches]
        return columns_of(rows, self.meta)

    def health(self) -> dict[str, Any]:
        """The next health message (10 Hz)."""
        found: dict[str, Any] = msgspec.msgpack.decode(self._receive("health", self.timeout_s))
        return found

    def newest_health(self) -> dict[str, Any] | None:
        """The newest health message that has come already, or ``None``; does not wait."""
        waiting = self._waiting("health")
        return msgspec.msgpack.decode(waiting[-1]) if waiting else None

    def waiting_events(self) -> list[dict[str, Any]]:
        """Events that have come already; does not wait."""
        return [msgspec.msgpack.decode(payload) for payload in self._waiting("event")]

    def events(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Events as they come, for some time."""
        until = time.monotonic() + seconds
        socket = self._subscriber("event")
        while (left := until - time.monotonic()) > 0:
            if socket.poll(int(1000 * left) + 1):
                yield msgspec.msgpack.decode(socket.recv_multipart()[1])

    def listen(self, *topics: str) -> None:
        """Subscribe now, so that nothing is missed until the first read (``raw``, ``event``, ...)."""
        for topic in topics:
            self._subscriber(topic)

    def control(self, name: str, *, take: str | None = None) -> Control:
        """Become the one who commands; use as a context manager.

        Args:
            name: who you are, for others to see.
            take: reason to take the lease from whoever holds it.
        """
        return Control(self, name, take)

    def stop(self, by: str = "") -> dict[str, Any]:
        """Stop the hand now; needs no lease, and no room for another connection.

        It goes as a datagram; where none is answered (through a tunnel) it goes as a request too.

        Args:
            by: who stops it, for others to see.

        Raises:
            Refused: with code, text and hint.
            HandSilent: no answer.
        """
        message = message_of(
            next(self._ids), "stop", 0, {"by": by} if by else {}, 0.0
        )  # a stop is never late
        line, begun, sent = StopLine(self.places, message), time.monotonic(), None
        try:
            while (waited := time.monotonic() - begun) < self.timeout_s:
                line.send()
                answer = line.answer()
                if answer is None and sent is None and (waited > _ALONE_S or not line.reachable):
                    sent = connect(
                        self._context, zmq.DEALER, self.command, self.key
                    )  # its own: another thread may be asking
                    sent.send(msgspec.msgpack.encode(message))
                if answer is None and sent is not None:
                    answer = poll(sent, message["id"], _LOOK_S)
                elif answer is None:
                    line.wait(_LOOK_S)
                if answer is not None:
                    return checked("stop", answer)
        finally:
            line.close()
            if sent is not None:
                sent.close()
        with self._asking:
            raise self._silent("command", "answer to 'stop'")

    def snapshot(self) -> str:
        """Write down the last 20 s and the next 10 s, at full rate; needs no lease. Returns the file's path.

        Raises:
            Refused: ``busy``, with the reason.
        """
        return str(self.request("snapshot")["file"])

    def request(self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any) -> dict[str, Any]:
        """One request and its answer (docs/telemetry.md lists the operations).

        Raises:
            Refused: with code, text and hint.
            HandSilent: no answer.
        """
        message = message_of(next(self._ids), op, lease, args, deadline_s)
        with self._asking:
            socket = self._commander()
            socket.send(msgspec.msgpack.encode(message))
            answer = poll(socket, message["id"], self.timeout_s)
            if answer is None:
                raise self._silent("command", f"answer to {op!r}")
        return checked(op, answer)

    def _silent(self, name: str, what: str) -> HandSilent:
        """Forget a connection on which nothing comes, and look where the hand listens now."""
        place = self.command if name == "command" else self.publish
        error = HandSilent(place, self.timeout_s, what, why_silent(place, self.key))
        self._drop(name)
        places = find(self.host, self.port_base)
        if places != self.places:
            for other in list(self._sockets):
                self._drop(other)
            self.places = places
        return error

    def _commander(self) -> Any:
        if "command" not in self._sockets:
            self._sockets["command"] = connect(self._context, zmq.DEALER, self.command, self.key)
        return self._sockets["command"]

    def _subscriber(self, topic: str) -> Any:
        if topic not in self._sockets:
            if topic not in ("view", "raw", "health", "event", "meta"):
                raise HandError(f"no topic {topic!r}; there are view, raw, health, event, meta")
            socket = connect(self._context, zmq.SUB, self.publish, self.key)
            socket.setsockopt(zmq.SUBSCRIBE, f"{SCHEMA}/{topic}".encode())
            self._sockets[topic] = socket
        return self._sockets[topic]

    def _drop(self, name: str) -> None:
        socket = self._sockets.pop(name, None)
        if socket is not None:
            socket.close()

    def _waiting(self, topic: str) -> list[bytes]:
        socket = self._subscriber(topic)
        found: list[bytes] = []
        while len(found) < MOST and socket.poll(0):
            found.append(socket.recv_multipart()[1])
        return found

    def _receive(self, topic: str, timeout_s: float) -> bytes:
        socket = self._subscriber(topic)
        if not socket.poll(int(1000 * timeout_s)):
            raise self._silent(topic, f"{topic!r} message")
        payload: bytes = socket.recv_multipart()[1]
        return payload
