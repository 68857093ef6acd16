"""The gate of a hand with keys; apart from them, because what it is made of takes long to import."""

from __future__ import annotations

import logging
from typing import Any, Final

from zmq.auth.thread import ThreadAuthenticator
from zmq.utils import z85

from telemetry.keys import DOMAIN, Keyring

_QUIET: Final = logging.getLogger(__name__)
_QUIET.setLevel(logging.CRITICAL + 1)
"""A stranger who knocks a thousand times writes nothing."""


class Gate(ThreadAuthenticator):
    """Answers ZeroMQ's question whether a key may come in, and tells the server its role.

    Args:
        context: ZeroMQ context of the sockets.
        ring: whom the hand knows.
    """

    def __init__(self, context: Any, ring: Keyring) -> None:
        super().__init__(context, log=_QUIET)
        self._ring = ring
        self.start()
        self.configure_curve_callback(DOMAIN, self)

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether a key may come in; asked by the base class."""
        return bool(self._ring.role_of(key.decode()))

    def curve_user_id(self, client_public_key: bytes) -> str:
        """The role, as messages carry it in their ``User-Id``."""
        return self._ring.role_of(z85.encode(client_public_key).decode())
