"""Hand files with sensors at joints: rows behind the text of a hand that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rigs.mutations import TEXTS

ENCODERS = Path(__file__).parents[2] / "examples" / "orca_encoders"
SENSOR: dict[str, Any] = {
    "bits": 14,
    "span_deg": 360.0,
    "zero_count": 8192,
    "direction": 1,
    "noise_counts_rms": 1.5,
    "accuracy_deg": 0.3,
    "filter_hz": 1000.0,
}


def joint_sensor(joint: str, channel: int, **other: Any) -> str:
    """A row of ``sensors`` for a joint."""
    keys = "".join(f"{key} = {value}\n" for key, value in (SENSOR | other).items())
    return f'\n[[sensors]]\nkind = "joint"\nat = "{joint}"\nchannel = {channel}\n{keys}origin = "assumed"\n'


def orca(hand: str = "orca_v2") -> str:
    """The text of an ORCA with encoders at its joints."""
    return TEXTS[hand] + (ENCODERS / "sensors.toml").read_text()
