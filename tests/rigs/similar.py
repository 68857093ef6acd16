"""Hands that are alike: every quantity of one, times powers of a few factors, is that of the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import tomlkit

from controllers.motion import ChannelKind
from hand.hand import Hand
from hand.motion.load import load_motion
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.records import RecordArray
from signals.table import TABLE
from sim.options import FAULT_EFFECTS, Fault
from telemetry.shm.channel import Channel
from tests.rigs.units import dimension, dimension_of_name
from trials.draw import draw
from trials.record import Recording
from trials.rules import KindRule
from trials.scene import SLOTS, Scene
from trials.trial import Struck, Trial

Factors = np.ndarray[Any, Any]
CHANNEL_UNITS: Final = {
    ChannelKind.JOINT_TORQUE: "N m",
    ChannelKind.TENDON_FORCE: "N",
    ChannelKind.MOTOR_TORQUE: "N m",
}
"""Unit of a motion's channel; those of the others are angles."""


def scale(unit: str, factors: Factors) -> float:
    """By what a quantity of this unit grows."""
    return float(np.prod(factors ** dimension(unit)))


def scaled(model: RecordArray, factors: Factors, but: str = "") -> RecordArray:
    """The hand with every quantity times its factor, but for one; nothing else of it changes."""
    other = model.copy()
    for signal in TABLE["model"]:
        if signal.kind == "f8" and signal.name != but:
            other[signal.name] *= scale(signal.unit, factors)
    return other


class SimilarScene(Scene):
    """A scene of the hand that is alike, on the motion that is alike, struck by faults that are.

    Args:
        hand: the hand that both are measured by.
        motion: name of a motion.
        factors: of force, length, time, sensor resolution and current.
        but: a quantity that stays as it is.
    """

    def __init__(self, hand: Hand, motion: str, factors: Factors, but: str = "") -> None:
        self.factors = factors
        model = scaled(hand.model, factors, but)
        alike = replace(hand, model=model, rate_hz=hand.rate_hz * scale("Hz", factors))
        super().__init__(alike, motion, channel=Channel.local(SLOTS))
        m, plain = self.rig.motion, load_motion(motion, hand.names, hand.model)
        assert m is not None and m.values.shape == plain.values.shape
        second = scale("s", factors)
        m.head[:] = plain.head
        for times in ("blend_s", "step_s"):
            m.head[times] *= second
        for c in range(int(m.head["n_channels"][0])):
            by = scale(CHANNEL_UNITS.get(ChannelKind(int(m.head["kind"][0, c])), "rad"), factors)
            m.head["advance"][0, c] *= by
            m.values[c], m.slopes[c] = by * plain.values[c], by / second * plain.slopes[c]
        self.period_s = plain.duration_s * second

    def fault_of(self, trial: Trial | Struck, rule: KindRule) -> Fault:
        """The fault in this hand's own scale."""
        unit = "m" if FAULT_EFFECTS[rule.fault].field.endswith("_m") else "1"
        return super().fault_of(replace(trial, size=trial.size * scale(unit, self.factors)), rule)

    def _see_it_rest(self, recorder: Any) -> None:
        """Nothing: both scenes are watched for the same time."""


def slow_hand(name: str, rate_hz: float) -> Hand:
    """A hand at another rate."""
    return read_hand(RunOptions(hand=name, lockstep=True, seconds=1.0, rate_hz=rate_hz))


def one_of_each(hand: Hand, motion: str) -> list[Trial]:
    """The first drawn trial of every kind that this hand has parts for."""
    found: dict[str, Trial] = {}
    for seed in range(400):
        trial = draw(7_000_000 + seed, hand.names, (motion,))
        if trial is not None:
            found.setdefault(trial.kind, trial)
    return list(found.values())


def away(first: Recording, second: Recording, factors: Factors) -> dict[tuple[str, str], float]:
    """Signals of the second that are not the first's, scaled; by how much, of the greatest value."""
    units = {(r, s.name): s.unit for r, signals in TABLE.items() for s in signals}
    found = {}
    for key, column in first.columns.items():
        by = scale(units[key], factors) if column.dtype.kind == "f" else 1.0
        ours, theirs = column.astype(float), second.columns[key].astype(float) / by
        gap = np.abs(ours - theirs)
        gap[np.isnan(ours) & np.isnan(theirs)] = 0.0
        if (gap != 0.0).any():
            found[key] = float(gap.max() / max(np.nanmax(np.abs(ours)), 1e-300))
    return found


def scale_of_key(key: str, factors: Factors) -> float | None:
    """By what the value of a key of a hand file grows; ``None``: its name has no unit."""
    exponents = dimension_of_name(key)
    return None if exponents is None else float(np.prod(factors**exponents))


def scaled_file(text: str, factors: Factors) -> str:
    """The hand file of the hand that is alike: every number times the factor of its key's unit."""
    raw = tomlkit.parse(text).unwrap()
    for name, table in raw.items():
        if name not in ("motors", "origins"):
            raw[name] = _scaled_value(table, 1.0, factors)
    return tomlkit.dumps(raw)


def _scaled_value(value: Any, by: float, factors: Factors) -> Any:
    if isinstance(value, dict):
        scales = {k: scale_of_key(k, factors) for k in value}
        return {k: _scaled_value(v, by if (s := scales[k]) is None else s, factors) for k, v in value.items()}
    if isinstance(value, list):
        return [_scaled_value(each, by, factors) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value * by if is_number and by != 1.0 else value
