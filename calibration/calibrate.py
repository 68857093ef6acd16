"""``calibrate wiring``: the procedures by kind, and what each leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from calibration import wiring, wiring_page
from calibration.motion_run import Watch
from calibration.part import Part
from hand.hand import Hand
from hand.options import RunOptions


def _no_patch(_origin: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a procedure has found.

    Attributes:
        parts: rows with verdicts.
        seconds: of motion.
        sections: of the page.
        raw: arrays to keep.
        patch: an origin -> lines for the hand file.
        notices: sentences for people.
    """

    parts: list[Part]
    seconds: float
    sections: list[str]
    raw: dict[str, Any]
    patch: Callable[[str], str] = _no_patch
    notices: list[str] = field(default_factory=list)


def _wiring(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    found = wiring.look(hand, options, tendons, watch)
    raw = {"tendons": list(hand.names.tendons), "answers": found.answers, "zeros_rad": found.zeros_rad}
    return Found(wiring_page.parts_of(hand, found), found.seconds, wiring_page.sections(hand, found), raw)


KINDS: Final[dict[str, Callable[[Hand, RunOptions, list[int], Watch], Found]]] = {"wiring": _wiring}


def calibrated(kind: str, hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Run the procedure of a kind on these tendons.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    return KINDS[kind](hand, options, tendons, watch)
