"""``flexor log sensors``: what a recorded run tells of each Hall sensor (B17)."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.finding import Level
from reports.sensor_curves import Curve, take_homing
from reports.sensor_slopes import (
    SLOPE_HIGH,
    SLOPE_LOW,
    SPAN,
    knots_of,
    slope_errors,
    slopes_of,
    usable_range,
)
from reports.sensors import Sensor, judge
from signals.modes import ChannelStatus
from telemetry.columns import Columns, counts_of
from tests.rigs.driven import Driven
from tools.cli import main

SWEEP = str(Path(__file__).parents[2] / "examples" / "sensor_sweep.toml")
FULL_SCALE = 4095


@cache
def swept() -> tuple[Driven, np.ndarray, np.ndarray]:
    """A sound finger whose tensions went from 8 to 45 N and back: the hand, its model, its frames."""
    hand = Driven("finger_bench", SWEEP)
    columns = Columns(counts_of(hand.model), records=("measurement", "state"))
    parts: list[np.ndarray] = []
    hand.run(6.5, lambda batch: parts.append(columns.take(batch)))
    frames = np.concatenate(parts)
    assert not hand.causes
    model = hand.model.copy()
    take_homing(model, frames)
    return hand, model, frames


def read_otherwise(frames: np.ndarray, tendon: int, change) -> None:
    """The channel's counts are others, as a sensor with another curve would have given them."""
    z = frames["measurement"]
    changed = np.clip(np.rint(change(z["hall_fine_count"][:, tendon])), 0, FULL_SCALE)
    z["hall_count"][:, tendon] = z["hall_fine_count"][:, tendon] = changed


def judged(frames: np.ndarray) -> list[Sensor]:
    hand, model, _ = swept()
    return judge(model, hand.names, frames)[0]


def travel(tendon: int) -> tuple[float, float]:
    count = swept()[2]["measurement"]["hall_count"][:, tendon]
    return float(count.min()), float(count.max())


def test_sound_sensors_pass_with_their_true_noise_and_calibrated_slope() -> None:
    hand, model, frames = swept()
    for sensor in judged(frames):
        assert sensor.finding.level is Level.PASS, sensor.finding
        # 1 count of the hand file and the rounding to counts
        assert sensor.noise_counts_rms == pytest.approx((1.0 + 1.0 / 12.0) ** 0.5, rel=0.06)
        low, high = travel(hand.names.tendons.index(sensor.tendon))
        assert sensor.usable_counts is not None and sensor.usable_deg is not None
        assert sensor.usable_counts == pytest.approx((low, high), abs=15.0)
        assert sensor.usable_deg[1] - sensor.usable_deg[0] == pytest.approx(
            (high - low) * 90.0 / 4096, abs=0.7
        )
        assert sensor.slope_min_counts_deg is not None and sensor.slope_max_counts_deg is not None
        assert sensor.slope_min_counts_deg < 4096 / 90.0 < sensor.slope_max_counts_deg
        assert sensor.saturated_frac == sensor.lost_frac == 0.0


@settings(max_examples=5, deadline=None)
@given(tendon=st.integers(0, 7), share=st.floats(0.1, 0.8), tight=st.booleans())
def test_a_clipped_curve_is_flagged_alone_with_the_range_that_is_left(
    tendon: int, share: float, tight: bool
) -> None:
    frames = swept()[2].copy()
    low, high = travel(tendon)
    level = low + share * (high - low) if tight else high - share * (high - low)
    read_otherwise(frames, tendon, lambda c: np.maximum(c, level) if tight else np.minimum(c, level))
    sensors = judged(frames)
    bad = sensors[tendon]
    assert bad.finding.level is (Level.FAIL if share > 0.3 else Level.WARN) or 0.2 < share < 0.3
    assert bad.usable_frac == pytest.approx(1.0 - share, abs=0.08)
    assert bad.usable_counts is not None and bad.slope_min_counts_deg is not None
    # the flat end is outside of what is called usable, the sound end is all of it
    wanted = (level, high) if tight else (low, level)
    assert bad.usable_counts == pytest.approx(wanted, abs=40.0)
    assert bad.slope_min_counts_deg < SLOPE_LOW * bad.slope_calibrated_counts_deg
    others = [s for t, s in enumerate(sensors) if t != tendon]
    assert all(s.finding.level is Level.PASS for s in others), [s.finding for s in others]


@settings(max_examples=5, deadline=None)
@given(tendon=st.integers(0, 7), rail=st.sampled_from((0, FULL_SCALE)))
def test_a_sensor_at_a_rail_fails_and_says_for_how_long(tendon: int, rail: int) -> None:
    frames = swept()[2].copy()
    read_otherwise(frames, tendon, lambda c: np.full_like(c, rail))
    sensors = judged(frames)
    bad = sensors[tendon]
    assert bad.finding.level is Level.FAIL and bad.saturated_frac == 1.0
    assert bad.usable_counts is None and bad.usable_frac == 0.0
    assert bad.noise_counts_rms is None
    assert "hall_used = false" in bad.finding.fix
    assert all(s.finding.level is Level.PASS for t, s in enumerate(sensors) if t != tendon)


@settings(max_examples=5, deadline=None)
@given(tendon=st.integers(0, 7), noise=st.floats(5.0, 25.0), seed=st.integers(0, 99))
def test_noise_is_listed_per_channel_and_warned_of(tendon: int, noise: float, seed: int) -> None:
    frames = swept()[2].copy()
    rng = np.random.default_rng(seed)
    read_otherwise(frames, tendon, lambda c: c + rng.normal(0.0, noise, len(c)))
    sensors = judged(frames)
    bad = sensors[tendon]
    assert bad.noise_counts_rms == pytest.approx((noise**2 + 1.0) ** 0.5, rel=0.1)
    assert bad.finding.level is Level.WARN
    assert f"hall_noise_counts_rms = {bad.noise_counts_rms:.1f}" in bad.finding.fix
    quiet = [s.noise_counts_rms for t, s in enumerate(sensors) if t != tendon]
    assert max(n for n in quiet if n is not None) < 1.2


@settings(max_examples=3, deadline=None)
@given(tendon=st.integers(0, 7), share=st.floats(0.3, 0.9))
def test_a_wire_that_falls_silent_is_told_as_that_not_as_a_flat_sensor(tendon: int, share: float) -> None:
    """A driver keeps the last value of a channel that no longer answers, and its time; no bit says lost."""
    frames = swept()[2].copy()
    z, last = frames["measurement"], int(share * len(frames))
    z["hall_status"][last + 1 :, tendon] = ChannelStatus.STALE
    for name in ("hall_time_ns", "hall_count", "hall_fine_count"):
        z[name][last + 1 :, tendon] = z[name][last, tendon]
    sensors = judged(frames)
    bad = sensors[tendon]
    assert bad.lost_frac == pytest.approx(1.0 - share, abs=0.02)
    assert bad.finding.level is Level.FAIL and "silent" in bad.finding.fact and "wire" in bad.finding.fix
    assert all(s.lost_frac == 0.0 for t, s in enumerate(sensors) if t != tendon)


def test_three_bad_sensors_of_one_finger_are_told_apart() -> None:
    """The field report: clipped over 40 % of its travel, at full scale, ten times the noise."""
    frames = swept()[2].copy()
    low, high = travel(2)
    read_otherwise(frames, 2, lambda c: np.maximum(c, low + 0.4 * (high - low)))
    read_otherwise(frames, 4, lambda c: np.full_like(c, FULL_SCALE))
    rng = np.random.default_rng(0)
    read_otherwise(frames, 6, lambda c: c + rng.normal(0.0, 10.0, len(c)))
    levels = [s.finding.level for s in judged(frames)]
    wanted = [Level.PASS] * 8
    wanted[2] = wanted[4] = Level.FAIL
    wanted[6] = Level.WARN
    assert levels == wanted


@given(
    slope=st.floats(0.05, 3.0),
    offset=st.floats(-300.0, 300.0),
    loop=st.floats(0.0, 20.0),
    travel_counts=st.floats(150.0, 2000.0),
)
def test_the_slope_of_a_straight_curve_is_found_whatever_its_offset_and_loop(
    slope: float, offset: float, loop: float, travel_counts: float
) -> None:
    up = np.linspace(500.0, 500.0 + travel_counts, 600)
    x = np.concatenate((up, up[::-1]))
    side = np.repeat((1.0, -1.0), 600)
    curve = Curve(x + side * loop, offset + slope * x, None, 0.0, 0.0)
    knots = knots_of(curve)
    assert len(knots) >= SPAN
    found = slopes_of(knots)
    # the first and the last bins of the two ways hold different parts of the loop
    inner = found[5:-5] if len(found) > 12 else found[len(found) // 2 : len(found) // 2 + 1]
    assert inner == pytest.approx(slope, rel=0.15, abs=0.02)
    assert SLOPE_LOW < 1.0 < SLOPE_HIGH


def test_a_run_without_a_sweep_or_without_rest_says_what_is_missing() -> None:
    _, _, frames = swept()
    still = judged(frames[600:5400])
    assert all(s.finding.level is Level.WARN and s.usable_frac is None for s in still)
    assert all("sensor_sweep" in s.finding.fix and s.noise_counts_rms is not None for s in still)
    moving = judged(frames[8600:11800])
    assert all(s.noise_counts_rms is None and s.usable_frac is not None for s in moving)
    assert all("holds still" in s.finding.fix for s in moving)


def run_cli(capsys, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as done:
        main(list(words))
    return int(done.value.code or 0), capsys.readouterr().out


def test_the_command_judges_a_log_by_the_hand_inside_it(tmp_path, capsys) -> None:
    """A sensor saturates in the run itself; the sweep ends there, and the report says why."""
    from runtime.session import run_lockstep

    log = tmp_path / "run.mcap"
    run_lockstep(
        "finger_bench", motion="hold", seconds=1.2, record=log, faults=("hall-saturated:index_6@0.8",)
    )
    code, out = run_cli(capsys, "log", "sensors", str(log), "--json", "--out", str(tmp_path / "out"))
    report = json.loads(out)
    assert code == 1 and report["counts"]["fail"] == 1
    bad = next(s for s in report["sensors"] if s["level"] == "fail")
    assert bad["tendon"] == "index_6" and bad["saturated_frac"] == pytest.approx(1.0 / 3.0, abs=0.02)
    assert report["fingers"]["index"]["not_usable"] == ["index_6"]
    assert report["fingers"]["index"]["motor_only_possible"] is True
    assert json.loads((tmp_path / "out" / "sensors.json").read_text()) == report
    assert (tmp_path / "out" / "sensors.png").stat().st_size > 5000
    code, out = run_cli(capsys, "log", "sensors", str(log))
    assert code == 1 and "[Fail] index_6" in out and ", 1 fail\n" in out


def test_too_many_bad_sensors_are_not_called_motor_only(tmp_path, capsys) -> None:
    from runtime.session import run_lockstep

    log = tmp_path / "run.mcap"
    bad = ("index_5", "index_6", "index_7", "index_8")
    faults = tuple(f"hall-saturated:{name}@0" for name in bad)
    run_lockstep("finger_bench", motion="hold", seconds=0.5, record=log, faults=faults)
    code, out = run_cli(capsys, "log", "sensors", str(log), "--json")
    finger = json.loads(out)["fingers"]["index"]
    assert code == 1 and finger["not_usable"] == list(bad)
    assert finger["motor_only_possible"] is False
    assert "index_pip" in finger["unseen_motion"] or "index_dip" in finger["unseen_motion"]


def test_what_is_no_log_is_refused(tmp_path, capsys) -> None:
    """With 2, for 1 says that a sensor fails."""
    (tmp_path / "x.mcap").write_bytes(b"no log at all")
    (tmp_path / "empty.mcap").write_bytes(b"")
    for name in ("x.mcap", "empty.mcap", "missing.mcap", "."):
        with pytest.raises(SystemExit) as done:
            main(["log", "sensors", str(tmp_path / name)])
        text = capsys.readouterr().err
        assert done.value.code == 2 and str(tmp_path / name) in text and "()" not in text


def test_a_folder_that_is_none_is_refused_before_any_work(tmp_path, capsys) -> None:
    (tmp_path / "file").write_text("mine")
    for words in (("log", "sensors", str(tmp_path / "missing.mcap")), ("faults", "hasy", "--trials", "1")):
        with pytest.raises(SystemExit) as done:
            main([*words, "--out", str(tmp_path / "file")])
        text = capsys.readouterr().err
        assert done.value.code == 2 and f"--out {tmp_path / 'file'}" in text and "legal" in text
    assert (tmp_path / "file").read_text() == "mine"


def test_the_log_of_a_mechanism_is_refused_by_the_logs_name(tmp_path, capsys) -> None:
    from runtime.session import run_lockstep

    log = tmp_path / "run.mcap"
    run_lockstep("muscle_finger", motion="hold", seconds=0.1, record=log)
    with pytest.raises(SystemExit) as done:
        main(["log", "sensors", str(log)])
    text = capsys.readouterr().err
    assert done.value.code == 2 and str(log) in text and "no tendons" in text
    assert "/tmp" not in text.replace(str(tmp_path), "")


@given(noise=st.floats(0.0, 300.0), slope=st.sampled_from([0.0, 1.0]), seed=st.integers(0, 999))
def test_noise_neither_makes_a_flat_curve_sound_nor_a_quiet_one_doubtful(
    noise: float, slope: float, seed: int
) -> None:
    """Standard errors are those of a line; a sound sensor's are forgiven, a dead one's stay."""
    x = 100.0 + 12.0 * np.arange(60.0)
    y = 800.0 + slope * x + noise * np.random.default_rng(seed).standard_normal(60)
    knots = np.column_stack((x, y))
    slopes = slopes_of(knots)
    errors = slope_errors(knots, slopes)
    line, cov = np.polyfit(x[10 : 10 + SPAN], y[10 : 10 + SPAN], 1, cov="unscaled")
    left = y[10 : 10 + SPAN] - np.polyval(line, x[10 : 10 + SPAN])
    assert errors[10 + SPAN // 2] == pytest.approx(
        math.sqrt(float(left @ left) / (SPAN - 2) * cov[0, 0]), rel=1e-6, abs=1e-9
    )
    stretch = usable_range(knots, slopes, 4095)
    if slope == 1.0 and noise < 1.0:
        assert stretch == (0, 59)
    if slope == 0.0:
        doubtful = slopes >= 0.5 * SLOPE_LOW  # only where its own noise looks like half a sound slope
        assert stretch is None or doubtful[stretch[0] : stretch[1] + 1].all()
