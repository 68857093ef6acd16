"""What stands first on the page: how the hand is, in a sentence, and who commands it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from signals.modes import MachineState

COLOURS: Final = {
    "fault": "#d3202f", "gone": "#8a4b00", "active": "#12813f", "holding": "#9a6a00", "ready": "#1d63b8",
    "off": "#4a5260", "log": "#5b3fa8", "waiting": "#3d5a78",
}  # fmt: skip
MOST: Final = 3
"""Further faults that are said in words."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a hand is.

    Attributes:
        kind: key of ``COLOURS``.
        head: state in a word or two.
        text: one sentence.
        hint: what to do next; may be empty.
        more: further faults.
        holder: who commands; empty: nobody. Of what is played: what it is; empty: a log.
    """

    kind: str
    head: str
    text: str
    hint: str = ""
    more: tuple[str, ...] = ()
    holder: str = ""


_SAYS: Final = {
    "off": ("The motors are off.", "take command, then activate"),
    "ready": ("The hand is ready; the motors are off.", "take command, then activate"),
    "holding": ("The hand holds the pose where it is.", ""),
    "active": ("The hand follows its goal.", ""),
    "fault": ("The hand is in fault.", "look at its events, then re-arm"),
}


def told(view: dict[str, Any] | None, health: dict[str, Any], age_s: float, stale_s: float) -> Told:
    """How the hand is, from what it publishes: silence first, then faults, then its state."""
    holder = str(health.get("lease", {}).get("holder", ""))
    if view is None:
        return Told("gone", "no hand", "Nothing comes from the hand.", "start one: flexor run HAND")
    if age_s > stale_s:
        hint = "the run has ended, or its computer is overloaded"
        return Told(
            "gone", "silent", f"Nothing has come for {age_s:.0f} s; this is the past.", hint, (), holder
        )
    faults = health.get("latched", [])
    machine = MachineState(int(view["machine"])).name.lower()
    if faults:
        first, rest = faults[0], tuple(f["text"] for f in faults[1:])
        head = f"fault: {first['finger']}" if first["finger"] else "fault"
        return Told("fault", head, first["text"], first["hint"], rest, holder)
    text, hint = _SAYS[machine]
    return Told(machine, machine, text, "" if holder else hint, (), holder)


def waiting(place: str, starting: str) -> Told:
    """A hand that has not spoken yet.

    Args:
        place: where it is expected.
        starting: name of the hand that starts there; empty: none is known.
    """
    if starting:
        return Told("waiting", "starting", f"{starting} starts; it appears here as soon as it speaks.")
    text = f"No hand speaks at {place} yet; it appears here as soon as one does."
    return Told("waiting", "no hand yet", text, "start one: flexor run HAND")


def between_runs(state: Told) -> Told:
    """Silence while a command beside makes the next run of its step ready: no fault, and said as such."""
    text = f"{state.text} The next run of this step is being made ready."
    return replace(state, kind="waiting", head="between runs", text=text, hint="")


def as_message(state: Told, hand: str, stoppable: bool) -> dict[str, Any]:
    """What the script of the bar is sent: texts, a colour, whether there is a hand to stop."""
    more = [*state.more[:MOST], *([f"and {len(state.more) - MOST} more"] if len(state.more) > MOST else [])]
    who = f"commanded by {state.holder}" if state.holder else "nobody commands"
    return {
        "kind": state.kind, "colour": COLOURS[state.kind], "head": state.head, "hand": hand,
        "who": who if stoppable else state.holder or "a log", "text": state.text, "hint": state.hint,
        "more": more, "stop": stoppable,
    }  # fmt: skip
