"""From a checked hand file to what the loop runs on: the model record, the names, the hash."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from hand.assembly.drives import store_drives, store_loop, store_zeros
from hand.assembly.figures import store_figures
from hand.assembly.fingers import store_condition, store_fingers
from hand.assembly.joints import store_joint_sensors
from hand.assembly.mismatch import draw_mismatch
from hand.assembly.pace import store_pace
from hand.assembly.straight import set_start
from hand.assembly.tendons import refresh_pseudo_inverse, store_tendons
from hand.assembly.wrist import store_object, store_wrist
from hand.file.hand import HandFile
from signals.choices import WrongChoice
from signals.names import ForeignCause, HandNames, Space
from signals.records import MODEL, RecordArray, new
from signals.tables import RATE_HZ

__all__ = ["draw_mismatch", "hand_sha256", "model_of", "names_of", "set_start", "set_switches"]


def names_of(hand: HandFile) -> HandNames:
    """Names in the order of the records: motors and tendons as in the file, joints finger by finger."""
    return HandNames(
        hand=hand.name,
        motors=tuple(hand.motors),
        tendons=tuple(t.name for t in hand.tendons),
        joints=tuple(j.name for j in hand.joints),
        fingers=tuple(hand.fingers),
        axes=hand.axes,
        motor_ids=hand.motor_ids,
        hall_channels=tuple(hand.channel_at(t.name) or 0 for t in hand.tendons),
        joint_channels=tuple(s.channel if (s := hand.joint_sensor_at(j.name)) else 0 for j in hand.joints),
        joint_roles=tuple(j.role for j in hand.joints),
        foreign=tuple(
            ForeignCause(
                function=d.function, name=d.cause, space=Space(d.space), sentence=d.sentence, hint=d.hint
            )
            for d in hand.detectors
        ),
    )


def model_of(
    hand: HandFile, *, rate_hz: float | None = None, pretension_n: float | None = None
) -> RecordArray:
    """Everything configurable, flattened once: ``signals.records.MODEL``, shape (1,).

    Args:
        hand: A checked hand file.
        rate_hz: Control rate in place of the file's [Hz].
        pretension_n: Default co-contraction in place of the file's [N].

    Raises:
        ValueError: a rate or a pretension outside of what the file would be allowed.
        HandFileError: a range of the wrist that its mechanism does not reach.
    """
    return _assembled(_Same(hand), rate_hz, pretension_n).copy()


class _Same:
    """A hand file as itself: another one is another hand, whatever is in it."""

    def __init__(self, hand: HandFile) -> None:
        self.hand = hand

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.hand is self.hand

    def __hash__(self) -> int:
        return id(self.hand)


@lru_cache(maxsize=8)
def _assembled(same: _Same, rate_hz: float | None, pretension_n: float | None) -> RecordArray:
    """The model; a campaign or a procedure that makes many runs of one hand assembles it once."""
    hand, model = same.hand, new(MODEL)
    names = names_of(hand)
    store_drives(hand, model)
    store_loop(hand, model)
    store_fingers(hand, names, model)
    store_tendons(hand, names, model)
    refresh_pseudo_inverse(model)
    store_condition(model)
    store_wrist(hand, model)
    store_object(hand, model)
    store_joint_sensors(hand, model)
    store_pace(hand, model)
    store_figures(model)
    if rate_hz is not None:
        _set_rate(hand, model, rate_hz)
    wanted = hand.tendon.pretension_n if pretension_n is None else pretension_n
    low, high = hand.tendon.force_min_n, hand.tendon.force_max_n
    if not low <= wanted <= high:
        raise WrongChoice(
            f"pretension: found {wanted} N; legal: {low:g} to {high:g} N (tendon.force_min_n, force_max_n)"
        )
    set_start(model, wanted)
    store_zeros(hand, model)
    return model


def _set_rate(hand: HandFile, model: RecordArray, rate_hz: float) -> None:
    if not RATE_HZ[0] <= rate_hz <= RATE_HZ[1]:
        raise WrongChoice(f"rate: found {rate_hz} Hz; legal: {RATE_HZ[0]:g} to {RATE_HZ[1]:g} Hz")
    model["dt_s"] = 1.0 / rate_hz
    model["delay_s"] = hand.control.command_delay_cycles / rate_hz


SWITCHES = ("friction", "ripple", "guides", "lever", "wrist")
"""What ``--without`` can leave out."""


def set_switches(model: RecordArray, without: tuple[str, ...]) -> None:
    """Switch compensations off by name.

    Raises:
        ValueError: for a name that is none of ``SWITCHES``.
    """
    for name in without:
        if name not in SWITCHES:
            raise WrongChoice(f"without: found {name!r}; legal: {', '.join(SWITCHES)}")
    for name in SWITCHES:
        model[f"use_{name}"] = int(name not in without)


def hand_sha256(hand: HandFile) -> str:
    """Hash of the effective hand: its values in a canonical text, without origins, comments and layout."""
    values = hand.model_dump(mode="json", exclude={"description"})
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
