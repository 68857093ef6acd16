"""The lease: one client commands at a time; who, since when, and what if it falls silent."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.telemetry.commands import Refusal

TTL_NS = 1_000_000_000
"""A holder that sends nothing for this long has lost the lease."""


@dataclass(slots=True)
class Lease:
    """Owner of the hand; ``epoch`` is the number that commands must carry."""

    epoch: int = 0
    holder: str = ""
    expires_ns: int = 0
    refused: int = 0

    def held(self, now_ns: int) -> bool:
        """Somebody holds it."""
        return bool(self.holder) and now_ns < self.expires_ns

    def acquire(self, holder: str, now_ns: int) -> int:
        """Take a free lease; returns its epoch.

        Raises:
            Refusal: somebody else holds it.
        """
        if self.held(now_ns):
            raise Refusal(
                "lease_held",
                f"{self.holder} holds the hand",
                "wait until it is returned (it expires 1 s after the last message), or take it with a reason",
            )
        return self._give(holder, now_ns)

    def take(self, holder: str, why: str, now_ns: int) -> int:
        """Take the lease from whoever holds it; the caller logs who and why.

        Raises:
            Refusal: no reason given.
        """
        if not why.strip():
            raise Refusal("bad_args", "taking the lease needs a reason (args.why)", "it is logged")
        return self._give(holder, now_ns)

    def _give(self, holder: str, now_ns: int) -> int:
        if not holder.strip() or len(holder) > 80:
            raise Refusal("bad_args", "args.holder must name you in 1 to 80 characters")
        self.epoch += 1
        self.holder, self.expires_ns = holder, now_ns + TTL_NS
        return self.epoch

    def keep(self, epoch: int, now_ns: int) -> None:
        """Prove that the holder lives; every command with the right epoch does.

        Raises:
            Refusal: not the holder, or too late.
        """
        if epoch == 0 or epoch != self.epoch or not self.held(now_ns):
            self.refused += 1
            holder = f"{self.holder} holds it" if self.held(now_ns) else "nobody holds it"
            raise Refusal("no_lease", f"lease {epoch} is not valid: {holder}", "acquire the lease first")
        self.expires_ns = now_ns + TTL_NS

    def give_back(self, epoch: int, now_ns: int) -> None:
        """Return the lease.

        Raises:
            Refusal: not the holder.
        """
        self.keep(epoch, now_ns)
        self.holder, self.expires_ns = "", 0

    def expired(self, now_ns: int) -> str:
        """Name of a holder that fell silent, once; empty otherwise."""
        if self.holder and now_ns >= self.expires_ns:
            name, self.holder = self.holder, ""
            return name
        return ""
