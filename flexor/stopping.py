"""The stop's own way to a hand: datagrams need no connection and pass by what blocks the others."""

from __future__ import annotations

import select
import socket
import time
from typing import Any, Final

import msgspec

from flexor.places import Places

AGAIN_S: Final = 0.03
"""A datagram without an answer is sent again after this time."""


class StopLine:
    """Sends one stop until it is answered.

    Args:
        places: where the hand listens.
        message: the request; its ``id`` tells its answer.
    """

    def __init__(self, places: Places, message: dict[str, Any]) -> None:
        self._id, self._payload = message["id"], msgspec.msgpack.encode(message)
        self.reachable = True
        file = isinstance(places.stop, str)
        self.socket = socket.socket(socket.AF_UNIX if file else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self._sent_s = -AGAIN_S
        try:
            if file:
                self.socket.bind("")  # a name to answer to, given by the kernel
            self.socket.connect(places.stop)
        except OSError:
            self.reachable = False

    def send(self) -> None:
        """Send it, if the last time is long enough ago."""
        now_s = time.monotonic()
        if self.reachable and now_s - self._sent_s >= AGAIN_S:
            self._sent_s = now_s
            try:
                self.socket.send(self._payload)
            except BlockingIOError:
                pass  # a full queue at the other end: again later
            except OSError:
                self.reachable = False  # nobody is there

    def answer(self) -> dict[str, Any] | None:
        """The answer if it has come."""
        while self.reachable:
            try:
                found = msgspec.msgpack.decode(self.socket.recv(65_536))
            except BlockingIOError:
                return None
            except OSError:
                self.reachable = False
                return None
            except msgspec.MsgspecError:
                continue
            if isinstance(found, dict) and found.get("id") == self._id:
                return found
        return None

    def wait(self, seconds: float) -> None:
        """Until something comes, or some time."""
        poller = select.poll()  # unlike select it takes descriptors above 1023
        poller.register(self.socket, select.POLLIN)
        poller.poll(1000.0 * seconds)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()
