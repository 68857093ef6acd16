"""What a procedure can measure of a hand, and why not the rest; asked before anything moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from calibration.part import OPEN, Part
from hand.file.springs import LEVER_SPRINGS
from hand.hand import Hand
from signals.choices import WrongChoice
from signals.modes import MotorMode, mode_of

_PAIRS: Final = "flexor identify pairs measures joints whose motor winds all their tendons"
NO_SENSOR: Final = f"no sensor of it is used, so nothing tells what its motor does to it; {_PAIRS}"
SHARED: Final = f"its motor winds other tendons too, so it is not told apart from them; {_PAIRS}"
ANGLES: Final = (
    'its drive takes angles, no tension can be asked of it; legal: a drive with command = "current"'
)
NO_LEVER: Final = "its spring has no lever: there is no loop and no angle to measure"
NOT_OFF: Final = (
    "none of its tendons has a sensor: with them off its turns would be taken for those of joints; flexor "
    "identify pairs measures its friction with the tendons on"
)
BY_SENSORS: Final = ("wiring", "tension", "travel", "zero")
WRIST: Final = "wrist"
BY_LEVERS: Final = ("springs", "levers", "hall", "geometry", "guides", WRIST)


def levers_of(hand: Hand, tendons: list[int]) -> tuple[list[int], list[Part]]:
    """(Tendons with a lever, its sensor and a motor of their own; a row for each of the others)."""
    return _sorted(hand, tendons, "lever", lambda t: why_untold(hand, t) or _no_lever(hand, t))


def tendons_for(kind: str, hand: Hand, tendons: list[int]) -> tuple[list[int], list[Part]]:
    """(Tendons that a kind of calibration measures; a row for each of the others).

    Args:
        kind: of ``calibrate.KINDS`` or ``calibrate.IDENTIFIED``.
        hand: the hand, read.
        tendons: their indices.
    """
    if kind not in BY_SENSORS + BY_LEVERS:
        return tendons, []
    m, n = hand.model[0], len(hand.names.tendons)

    def text(t: int) -> str:
        if kind == "wiring":
            return why_untold(hand, t)
        for k in (t, *(k for k in range(n) if m["tendon_finger"][k] == m["tendon_finger"][t])):
            why = why_untold(hand, k) or _takes_angles(hand, k)
            if why:
                return why if k == t else f"beside it {hand.names.tendons[k]}: {why}"
        return _no_lever(hand, t) if kind in BY_LEVERS else ""

    return _sorted(hand, tendons, kind, text)


def must_have_wrist(hand: Hand) -> None:
    """Refuse a hand without a wrist of two axes; says what measures a wrist of joints.

    Raises:
        WrongChoice: it has none.
    """
    if hand.names.axes:
        return
    carriers = {getattr(finger, "parent", "") for finger in hand.file.fingers.values()} & set(
        hand.names.fingers
    )
    if not carriers:
        raise WrongChoice(f"{hand.name} has no wrist; legal: a hand whose file has a [wrist] table")
    named = " ".join(sorted(carriers))
    m, fingers = hand.model[0], hand.names.fingers
    own = [t for t in range(len(hand.names.tendons)) if fingers[int(m["tendon_finger"][t])] in carriers]
    kind = "calibrate zero" if tendons_for("zero", hand, own)[0] else "identify pairs"
    raise WrongChoice(
        f"the wrist of {hand.name} is made of joints ({named}), whose zeros are found as those of any joint; "
        f"legal: flexor {kind} {named} --hand {hand.name}"
    )


def motors_for(kind: str, hand: Hand, motors: list[int]) -> tuple[list[int], list[Part]]:
    """(Motors whose drives can turn without their tendons; a row for each of the others)."""
    m, mine, rest = hand.model[0], list[int](), list[Part]()
    for i in motors:
        wound = [name for t, name in enumerate(hand.names.tendons) if int(m["tendon_motor"][t]) == i]
        if any(hand.file.sees(name) for name in wound):
            mine.append(i)
        else:
            rest.append(Part.bare(hand.names.motors[i], kind, "1", OPEN, NOT_OFF))
    return mine, rest


def why_untold(hand: Hand, t: int) -> str:
    """Why what a motor does to its tendon is not told; empty: it is."""
    of_motor = hand.model[0]["tendon_motor"][: len(hand.names.tendons)]
    if not hand.file.sees(hand.names.tendons[t]):
        return NO_SENSOR
    return SHARED if int((of_motor == of_motor[t]).sum()) > 1 else ""


def _no_lever(hand: Hand, t: int) -> str:
    row = hand.file.tendons[t]
    spring = hand.file.springs[row.spring or hand.file.tendon.spring]
    return "" if isinstance(spring, LEVER_SPRINGS) and hand.file.hysteresis is not None else NO_LEVER


def _takes_angles(hand: Hand, t: int) -> str:
    m = hand.model[0]
    return "" if mode_of(int(m["motor_command"][m["tendon_motor"][t]])) is MotorMode.CURRENT else ANGLES


def _sorted(
    hand: Hand, tendons: list[int], parameter: str, why: Callable[[int], str]
) -> tuple[list[int], list[Part]]:
    texts = {t: why(t) for t in tendons}
    rest = [Part.bare(hand.names.tendons[t], parameter, "1", OPEN, text) for t, text in texts.items() if text]
    return [t for t, text in texts.items() if not text], rest
