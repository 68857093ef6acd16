"""The error of a choice that cannot be followed: the one that a command line answers in a line of its own."""

from __future__ import annotations


class WrongChoice(ValueError):
    """An option, a name or a value of the user is wrong; the text says what was found and what is legal."""
