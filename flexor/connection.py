"""What commanding needs of a hand's connection."""

from __future__ import annotations

from typing import Any, Protocol

from flexor.views import View


class Connection(Protocol):
    """``flexor.Hand``, as ``flexor.Control`` sees it."""

    @property
    def meta(self) -> dict[str, Any]:
        """Names, units, codes of the hand."""

    def view(self) -> View:
        """The newest view."""

    def listen(self, *topics: str) -> None:
        """Subscribe now."""

    def request(self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any) -> dict[str, Any]:
        """One request and its answer."""

    def stop(self, by: str = "") -> dict[str, Any]:
        """Stop the hand now."""

    def snapshot(self) -> str:
        """Write down the last seconds."""
