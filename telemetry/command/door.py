"""The door of the sockets: how many may be connected, and how much a connection may send that nobody takes.

ZeroMQ bounds neither. An idle connection costs a descriptor, and a message of many parts is kept until its
last part comes. So the connections are looked at from outside: the kernel knows them and what came in. The
door has a thread of its own, because a flood can hold its owner within one call of ZeroMQ.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

MOST: Final = 128
"""Connections of one port; whoever comes later is turned away."""
OWED_MOST: Final = 256 * 1024
"""Bytes that a connection may have sent and nobody has taken: how far a client may be ahead."""
OWED_ALL: Final = 4 << 20
"""The same of all connections together; in empty parts they take 32 times as much memory."""
UNASKED_MOST: Final = 64 * 1024
"""Bytes that a subscriber may send: a topic takes some twenty."""
DRIP_PER_S: Final = 1000.0
"""Bytes a second that count as signs of life."""
LOOK_S: Final = 0.02
_AT_ONCE: Final = struct.pack("2i", 1, 0)
"""Closing resets the connection: its peer is told at once, and the kernel keeps nothing of it."""
_DROP_ALL: Final = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 0))
"""One instruction of a socket filter: return 0, nothing of a packet is taken."""
_FILTER: Final = struct.pack("HP", 1, ctypes.addressof(_DROP_ALL))
_SO_ATTACH_FILTER: Final = 26
_SO_DETACH_FILTER: Final = 27
_RECEIVED_AT: Final = 128
"""Place of ``tcpi_bytes_received`` in the kernel's ``struct tcp_info``."""


@dataclass(slots=True)
class Guest:
    """One connection.

    Attributes:
        peer: where it comes from: tells a descriptor's next owner from the one before.
        place: where it came in: our port, or our socket file.
        number: how many had come before it.
        taken: bytes of it that count as dealt with.
        received: bytes that have come in.
    """

    peer: Any
    place: Any
    number: int
    taken: float = 0.0
    received: int = 0

    @property
    def owed(self) -> float:
        """Bytes that came in and were not dealt with."""
        return self.received - self.taken


class Door:
    """Watches the connections of this process.

    Args:
        asked: ports, or socket files, on which requests are taken: what is taken is not owed.
        unasked: those on which connections only listen.

    Attributes:
        guests: descriptor -> connection, as of the last look.
        turned_away: connections that were closed here.
        left: bytes of connections that were closed here which may still wait to be read.
    """

    def __init__(self, asked: set[Any], unasked: set[Any]) -> None:
        self.guests: dict[int, Guest] = {}
        self.turned_away, self.left = 0, 0.0
        self._asked, self._places = asked, asked | unasked
        self._count = 0
        self._lock, self._end = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="door", daemon=True)

    def start(self) -> None:
        """Watch from now on."""
        self._thread.start()

    def close(self) -> None:
        """Watch no longer."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        last_s, pause_s = time.monotonic(), LOOK_S
        while not self._end.wait(pause_s):
            now_s, before = time.monotonic(), self.turned_away
            self.look(now_s - last_s)
            last_s = now_s
            pause_s = LOOK_S if self.turned_away == before else LOOK_S / 4.0  # a crowd comes back at once

    def take(self, descriptor: int, size: int) -> None:
        """Bytes of a connection have been dealt with."""
        with self._lock:
            guest = self.guests.get(descriptor)
            if guest is not None:
                guest.taken += size

    def turn_away(self, descriptor: int) -> None:
        """Close a connection now."""
        with self._lock:
            if descriptor in self.guests:
                self._close(descriptor)

    def emptied(self) -> None:
        """Nothing waits to be read: newcomers may knock again."""
        if self.left:
            with self._lock:
                self.left = 0.0
                self._let_in(True)

    def look(self, since_s: float) -> None:
        """Close what is too much; the last look was so long ago."""
        with self._lock:
            self._see()
            for guest in self.guests.values():
                guest.taken = min(guest.taken + DRIP_PER_S * since_s, guest.received)
            for descriptor in self._too_much():
                self._close(descriptor)

    def _too_much(self) -> list[int]:
        """Descriptors to close: the newest of too many, whoever owes too much, the greatest of all debts."""
        chosen: list[int] = []
        order = sorted(self.guests, key=lambda fd: self.guests[fd].number)
        room = dict.fromkeys(self._places, MOST)
        owed = 0.0
        for descriptor in order:
            guest = self.guests[descriptor]
            room[guest.place] -= 1
            most = OWED_MOST if guest.place in self._asked else UNASKED_MOST
            if room[guest.place] < 0 or guest.owed > most:
                chosen.append(descriptor)
            else:
                owed += guest.owed
        rest = sorted(set(order) - set(chosen), key=lambda fd: self.guests[fd].owed)
        while owed > OWED_ALL:
            chosen.append(rest.pop())
            owed -= self.guests[chosen[-1]].owed
        return chosen

    def _see(self) -> None:
        """Bring ``guests`` up to date."""
        found: dict[int, Guest] = {}
        for descriptor in _descriptors():
            seen = self._connection(descriptor)
            if seen is not None:
                peer, place, received = seen
                guest = self.guests.get(descriptor)
                if guest is None or guest.peer != peer:
                    self._count += 1
                    guest = Guest(peer, place, self._count)
                guest.received = received
                found[descriptor] = guest
        self.guests = found

    def _connection(self, descriptor: int) -> tuple[Any, Any, int] | None:
        """Peer, place and bytes received of a descriptor that is one of our connections."""
        try:
            with _borrowed(descriptor) as found:
                place = _place(found)
                if place not in self._places:
                    return None
                if isinstance(place, str):
                    return _peer_process(found), place, 0
                peer = found.getpeername()  # the listening socket has none
                info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED_AT + 8)
                return peer, place, struct.unpack_from("=Q", info, _RECEIVED_AT)[0]
        except (OSError, struct.error):
            return None

    def _let_in(self, newcomers: bool) -> None:
        """Take new connections again, or none: the kernel drops what comes to a port that is shut.

        A message that was complete when its connection was closed is still read, part by part. Without this
        pause its sender would be back with the next one long before that.
        """
        option, value = (_SO_DETACH_FILTER, 0) if newcomers else (_SO_ATTACH_FILTER, _FILTER)
        for descriptor in _descriptors():
            with suppress(OSError), _borrowed(descriptor) as found:
                listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if listens and _place(found) in self._asked:
                    found.setsockopt(socket.SOL_SOCKET, option, value)

    def _close(self, descriptor: int) -> None:
        """End a connection; ZeroMQ then sees its end and cleans up."""
        guest = self.guests.pop(descriptor)
        again = self._connection(descriptor)
        if again is None or again[0] != guest.peer:
            return
        self.turned_away += 1
        if guest.place in self._asked:
            shut = self.left > OWED_MOST
            self.left += guest.owed
            if self.left > OWED_MOST and not shut:
                self._let_in(False)
        with suppress(OSError), _borrowed(descriptor) as found:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            found.shutdown(socket.SHUT_RDWR)


def _descriptors() -> list[int]:
    """What this process has open."""
    try:
        return sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2)
    except OSError:  # all are taken, there is none for this look
        return list(range(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    """A socket that ZeroMQ owns; OSError if the descriptor is none."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    try:
        yield found
    finally:
        found.detach()


def _place(found: socket.socket) -> Any:
    """Our port, or our socket file."""
    name = found.getsockname()
    return name[1] if isinstance(name, tuple) else name


def _peer_process(found: socket.socket) -> Any:
    """Who is at the other end of a socket file; OSError on a listening socket.

    Peers of socket files have no names; a process that reconnects within a look keeps its place.
    """
    found.getpeername()
    return struct.unpack("3i", found.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
