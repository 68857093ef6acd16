"""The rooms of the house: its top packages that hold code, each answering one question."""

from __future__ import annotations

from typing import Final

ROOMS: Final = (
    "signals", "flexor", "mechanics", "drivers", "estimators", "guard", "telemetry", "controllers", "hand",
    "sim", "reports", "runtime", "trials", "benchmarks", "calibration", "tools",
)  # fmt: skip
