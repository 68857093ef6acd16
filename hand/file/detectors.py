"""Tables of foreign detectors: what they look at, and how the cause reads that they may latch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from hand.file.values import Function
from signals.faults import Cause
from signals.tables import Table


def _own(name: str) -> str:
    if name in Cause.__members__:
        raise PydanticCustomError("own_cause", "a name that is none of flexor's own causes")
    return name


def _readable(sentence: str) -> str:
    try:
        sentence.format(name="part", value=1.0, limit=2.0)
    except (IndexError, KeyError, ValueError, AttributeError):
        legal = "a sentence with {name}, {value:.1f} and {limit:.1f} alone in braces"
        raise PydanticCustomError("sentence", legal) from None
    return sentence


class Detector(Table):
    """A detector of somebody else: it may latch its one cause and nothing else."""

    function: Function
    """Its function, as ``package.module:function``."""
    cause: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$", max_length=40), AfterValidator(_own)]
    """Name of the cause that it latches."""
    space: Literal["motor", "tendon", "joint", "finger", "axis", "hand"]
    """What its findings count; those of axes and of the hand stop the whole hand, the others one finger."""
    sentence: Annotated[str, AfterValidator(_readable)]
    """What has happened: ``{name}`` is the part, ``{value}`` and ``{limit}`` are its figures."""
    hint: str
    """What to do next."""
