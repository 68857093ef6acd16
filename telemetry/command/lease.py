"""The lease: one client commands at a time; who, since when, and what if it falls silent."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from telemetry.command.requests import Refusal

TTL_NS = 1_000_000_000
"""A holder that sends nothing for this long has lost the lease."""
_NUMBERS: Final = 2**53 - 1
"""Every integer up to here is exact in a double, so clients in any language hold the number."""
NAME_LENGTH: Final = 80
_WHY_LENGTH: Final = 200


def plain(key: str, text: str, most: int) -> None:
    """Refuse a text of a client that cannot be shown."""
    if not text.strip() or len(text) > most or not text.isprintable():
        raise Refusal(
            "bad_args",
            f"args.{key} is {text[:most]!r}, {len(text)} characters; legal are 1 to {most} printable ones",
            "it is shown and logged",
        )


@dataclass(slots=True)
class Lease:
    """Owner of the hand.

    Attributes:
        number: what commands must carry; drawn at random, so that neither a guess nor a lease of an earlier
            io process fits. For the holder alone: never published.
        client: connection (ZeroMQ identity) of the holder; nobody else's messages count.
        epoch: how often the lease was given, for everybody to see.
        holder: name of the holder; empty: free.
        expires_ns: monotonic time at which a silent holder loses it.
        refused: commands without a valid lease.
    """

    number: int = 0
    client: bytes = b""
    epoch: int = 0
    holder: str = ""
    expires_ns: int = 0
    refused: int = 0

    def held(self, now_ns: int) -> bool:
        """Somebody holds it."""
        return bool(self.holder) and now_ns < self.expires_ns

    def acquire(self, holder: str, now_ns: int, client: bytes = b"") -> int:
        """Take a free lease; returns its number.

        Raises:
            Refusal: somebody else holds it, or the name is none.
        """
        if self.held(now_ns):
            raise Refusal(
                "lease_held",
                f"{self.holder} holds the hand",
                "wait until it is returned (it expires 1 s after the last message), or take it with a reason",
            )
        return self._give(holder, now_ns, client)

    def take(self, holder: str, why: str, now_ns: int, client: bytes = b"") -> int:
        """Take the lease from whoever holds it; the caller logs who and why.

        Raises:
            Refusal: no reason given, or the name is none.
        """
        if not why.strip():
            raise Refusal("bad_args", "taking the lease needs a reason (args.why)", "it is logged")
        plain("why", why, _WHY_LENGTH)
        return self._give(holder, now_ns, client)

    def _give(self, holder: str, now_ns: int, client: bytes) -> int:
        plain("holder", holder, NAME_LENGTH)
        self.epoch += 1
        self.number, self.client = 1 + secrets.randbelow(_NUMBERS), client
        self.holder, self.expires_ns = holder, now_ns + TTL_NS
        return self.number

    def keep(self, number: int, now_ns: int, client: bytes = b"") -> None:
        """Prove that the holder lives; every command with the right number on its connection does.

        Raises:
            Refusal: not the holder, or too late.
        """
        valid = number > 0 and number == self.number and client == self.client
        if not valid or not self.held(now_ns):
            self.refused += 1
            holder = f"{self.holder} holds it" if self.held(now_ns) else "nobody holds it"
            raise Refusal(
                "no_lease",
                f"lease {number} is not valid on this connection: {holder}",
                "acquire the lease first",
            )
        self.expires_ns = now_ns + TTL_NS

    def give_back(self, number: int, now_ns: int, client: bytes = b"") -> None:
        """Return the lease.

        Raises:
            Refusal: not the holder.
        """
        self.keep(number, now_ns, client)
        self._free()

    def expired(self, now_ns: int) -> str:
        """Name of a holder that fell silent, once; empty otherwise."""
        if self.holder and now_ns >= self.expires_ns:
            name = self.holder
            self._free()
            return name
        return ""

    def _free(self) -> None:
        self.holder, self.number, self.client, self.expires_ns = "", 0, b"", 0
