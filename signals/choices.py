"""A choice that cannot be followed: its error, which a command line tells in one line; the nearest name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WrongChoice(ValueError):
    """An option, a name or a value of the user is wrong; the text says what was found and what is legal."""


def nearest(name: str, legal: Iterable[str]) -> str | None:
    """Nearest legal name, or None; letter case does not count as a difference."""
    by_lower = {n.lower(): n for n in legal}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[near[0]] if near else None


def did_you_mean(name: str, legal: Iterable[str]) -> str:
    """The nearest legal name as a question after what was found, or nothing."""
    near = nearest(name, legal)
    return f"; did you mean {near!r}?" if near is not None else ""


def advice(name: str, legal: Iterable[str]) -> str:
    """The nearest legal name as a question, or all that are legal."""
    legal = tuple(legal)
    near = nearest(name, legal)
    return f"did you mean {near!r}?" if near is not None else f"legal: {', '.join(legal)}"
