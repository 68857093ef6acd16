"""The report of a run of which there is little to say; light to import, as a run may end at any moment."""

from __future__ import annotations

from typing import Any

from hand.options import RunOptions


def ended(why: str, text: str = "") -> dict[str, str]:
    """The report's ``ended``: a word of ``docs/running.md`` and a sentence."""
    return {"why": why, "text": text}


def bare_report(options: RunOptions, rate_hz: float | None, **run: Any) -> dict[str, Any]:
    """What can be said of a run whose frames nobody counted: io died, or the hand was never started.

    Args:
        options: options of the run.
        rate_hz: rate of the hand, where it is known.
        run: ``cycles``, ``missed``, ``late``, ``elapsed_s`` and more, as far as known.
    """
    return {
        "hand": options.hand,
        "motion": options.motion,
        "rate_hz": rate_hz,
        "lockstep": options.lockstep,
        "seed": options.seed,
        "cycles": 0,
        "missed": 0,
        "late": 0,
        "elapsed_s": 0.0,
        **run,
        "faults": [],
        "notices": [],
        "incomplete": True,
    }
