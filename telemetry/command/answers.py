"""What every answer says about the hand."""

from __future__ import annotations

from typing import Any

from signals.faults import blamed
from signals.modes import MachineState
from signals.names import HandNames


def state_of(frame: Any, names: HandNames) -> dict[str, Any]:
    """The hand as a frame shows it.

    Args:
        frame: a FRAME scalar, or ``None`` before the first.
        names: names of the hand.
    """
    if frame is None:
        return {"machine": "starting"}
    state, n_fingers = frame["state"], len(names.fingers)
    codes = {key: state[key][:n_fingers].tolist() for key in ("finger_cause", "finger_state", "finger_mode")}
    hand_fault, finger_fault = blamed_of(state, names)
    return {
        "machine": MachineState(int(state["machine"])).name.lower(),
        "tick": int(state["tick"]),
        "hand_cause": int(state["hand_cause"]),
        **codes,
        "hand_fault": hand_fault,
        "finger_fault": finger_fault,
    }


def blamed_of(state: Any, names: HandNames) -> tuple[str, dict[str, str]]:
    """Latched cause and part in words: of the hand, and finger -> its own."""
    codes, parts = state["finger_cause"].tolist(), state["finger_cause_part"].tolist()
    each = zip(names.fingers, codes, parts, strict=False)
    fingers = {finger: blamed(code, names, part) for finger, code, part in each if code}
    return blamed(int(state["hand_cause"]), names, int(state["hand_cause_part"])), fingers
