"""Whether what was asked for can come about, from the state that every answer carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

_STATES: Final = ("off", "ready", "holding", "active", "fault")
_FOLLOWS_JOINTS: Final = "joint_impedance"


def situation(state: dict[str, Any]) -> str:
    """What the hand is doing and, if a cause is latched, why, from the state of an answer."""
    machine, why = state.get("machine", ""), state.get("hand_fault", "")
    why = why or ", ".join(state.get("finger_fault", {}).values())
    return f"the hand is {'in fault' if machine == 'fault' else machine}" + (f" ({why})" if why else "")


def what_holds(state: dict[str, Any]) -> str:
    """What keeps the whole hand from following a goal; empty if nothing does."""
    return "" if state.get("machine", "active") == "active" else situation(state)


def what_holds_fingers(state: dict[str, Any], meta: dict[str, Any], joints: Iterable[str]) -> str:
    """What keeps the fingers of some joints from following joint angles; empty if nothing does.

    Args:
        state: of an answer.
        meta: names and codes of the hand.
        joints: names of the joints that should move.
    """
    names, of_joint = meta.get("names", {}).get("finger", []), meta.get("finger_of_joint", {})
    modes = {number: name for name, number in meta.get("codes", {}).get("mode", {}).items()}
    for finger in sorted({of_joint[j] for j in joints if j in of_joint}):
        k = names.index(finger)
        found = _STATES[state["finger_state"][k]] if "finger_state" in state else "active"
        if found != "active":
            cause = state.get("finger_fault", {}).get(finger, "")
            return f"finger {finger} is {found if found != 'fault' else 'in fault'}" + (
                f" ({cause})" if cause else ""
            )
        mode = modes.get(state["finger_mode"][k], "") if "finger_mode" in state else ""
        if mode not in ("", _FOLLOWS_JOINTS):
            return f"finger {finger} is in {mode}, which follows no joint angles"
    return ""


def numbers(argument: str, values: Any) -> dict[str, float]:
    """Name -> plain number, from whatever numbers a program has (numpy's, too).

    Raises:
        TypeError: something is no number; names it.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{argument} is {values!r}; legal is a map of names to numbers, {{name: number}}")
    plain = {}
    for name, value in dict(values).items():
        try:
            plain[str(name)] = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{argument}: {name!r} is {value!r}; legal is a number") from None
    return plain
