"""What the whole hand promises: estimates in every motion, a wrist that the fingers do not feel."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from hand.options import RunOptions
from runtime.session import RunResult, Session, run_lockstep

MOTIONS = (
    "open_close",
    "finger_wave",
    "thumb_opposition",
    "wrist_pitch",
    "wrist_yaw",
    "wrist_sweep",
    "grasp",
)


@cache
def run(motion: str, seconds: float = 4.0, **choices: Any) -> RunResult:
    return run_lockstep("hasy", motion=motion, seconds=seconds, every=3, **choices)


def report(motion: str, **choices: Any) -> dict[str, Any]:
    result = run(motion, **choices).report
    assert result["faults"] == []
    return result


@pytest.mark.sample(1)
@pytest.mark.parametrize("motion", MOTIONS)
def test_every_motion_is_estimated_with_ideal_sensors(motion: str) -> None:
    assert report(motion, sensors="ideal")["estimate_error_deg"]["max"] <= 0.02


@pytest.mark.sample(1)
@pytest.mark.parametrize("motion", MOTIONS)
def test_every_motion_is_estimated_with_quantised_sensors(motion: str) -> None:
    result = report(motion, sensors="quantised", guides="ideal")
    assert result["estimate_error_deg"]["rms"] <= 0.06


@pytest.mark.sample(1)
@pytest.mark.parametrize("motion", MOTIONS)
def test_every_motion_is_estimated_with_full_sensors(motion: str) -> None:
    assert report(motion)["estimate_error_deg"]["rms"] <= 0.6


def test_gradient_search_finds_the_thumb_as_well() -> None:
    settings = ("estimation.thumb_solver=gradient_search",)
    result = report("thumb_opposition", sensors="ideal", overrides=settings)
    assert result["estimate_error_deg"]["max"] <= 0.02


def test_wrist_compensation_leaves_a_twentieth_of_the_drift() -> None:
    choices = {"sensors": "quantised", "guides": "ideal", "seconds": 5.0}
    with_it = report("wrist_yaw", **choices)
    without = report("wrist_yaw", without=("wrist",), **choices)
    assert with_it["estimate_error_deg"]["rms"] <= 0.05 * without["estimate_error_deg"]["rms"]
    assert with_it["fingertip_drift_mm"]["rms"] <= 0.05 * without["fingertip_drift_mm"]["rms"]


def test_wrist_pitch_changes_tensions_less_with_the_feedforward() -> None:
    """Motors in position mode: all tendons change alike, so no joint moves but every tension does."""

    def change(**choices: Any) -> float:
        result = run("wrist_pitch_position", sensors="quantised", guides="ideal", seconds=5.0, **choices)
        assert result.report["faults"] == []
        tension = result.frames["truth"]["tension_n"][result.seconds > 1.0]
        return float(np.sqrt(((tension - tension[0]) ** 2).mean()))

    assert change() <= 0.2 * change(without=("wrist",))


def test_a_wrist_sensor_that_jumps_is_seen_at_once_and_its_angle_reaches_no_length() -> None:
    """What is not believed stays out of the lengths; the residuals' own estimate of the error says so."""
    result = run("wrist_yaw", faults=("wrist-offset:wrist_abduction@2",))
    first = result.report["faults"][0]
    assert first["cause"] in ("WRIST_JUMP", "WRIST_SENSOR")
    assert "wrist_abduction" in first["text"]
    assert 2.0 <= first["time_s"] <= 3.0
    error_deg = np.degrees(result.frames["state"]["wrist_error_rad"][:, 1])
    for begin, end in ((1.0, 1.95), (2.0, first["time_s"])):
        seen = error_deg[(result.seconds >= begin) & (result.seconds <= end)]
        assert np.abs(seen).max(initial=0.0) < 0.5
    used_deg = np.degrees(result.frames["state"]["axis_angle_rad"][:, 1])
    true_deg = np.degrees(result.frames["truth"]["axis_angle_rad"][:, 1])
    before = (result.seconds > 1.0) & (result.seconds <= first["time_s"])
    assert np.abs(used_deg - true_deg)[before].max() < 0.5


def test_a_wrist_sensor_that_creeps_is_named_by_the_residuals_alone() -> None:
    options = RunOptions(hand="hasy", motion="wrist_yaw", seconds=4.0, lockstep=True)
    session = Session(options)
    try:
        session.run(1.5)
        offset_rad = 0.0
        while offset_rad < np.radians(3.0):
            offset_rad += np.radians(0.05)
            session.rig.bus.plant["axis_offset_rad"][0, 1] = offset_rad  # type: ignore[attr-defined]
            session.run(1 / 60)
        session.run(1.0)
        faults = session.result().report["faults"]
    finally:
        session.close()
    assert [f["cause"] for f in faults[:1]] == ["WRIST_SENSOR"]
    assert "wrist_abduction" in faults[0]["text"]
