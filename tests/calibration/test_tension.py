"""Tendons into their band: slack within its interval, what is slack named, a repaired one alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from calibration import tension
from hand.file.loader import load_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.calibration.plants import reversed_motor, written
from tools.commands.calibrate import app
from tools.commands.tension_bars import TensionBars

SLACK_MM = 3.0


def _run(folder, *words):
    done = CliRunner().invoke(app, ["tension", "--lockstep", "--json", "--out", str(folder), *words])
    assert done.exit_code in (0, 1), done.exception
    result = json.loads(done.stdout)
    return done.exit_code, {(part["name"], part["parameter"]): part for part in result["parts"]}, result


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [5, 11])
def test_a_loose_tendon_is_taken_into_the_band_and_its_slack_is_told(tmp_path, seed, monkeypatch):
    """And its tension was seen on its way: slack at first, in the band at the end."""
    seen = []
    monkeypatch.setattr(TensionBars, "see", lambda _, time_s, tension_n: seen.append((time_s, tension_n[5])))
    fault = f"tendon-slack:index_6={1e-3 * SLACK_MM}@0"
    code, rows, result = _run(tmp_path / "out", "--fault", fault, "--mismatch", str(seed))
    wanted = read_hand(RunOptions(hand="finger_bench")).model[0]["pretension_n"][0]
    assert code == 0 and len(rows) == 16
    for k in range(1, 9):
        part = rows[f"index_{k}", "tension_n"]
        assert part["low"] <= part["value"] <= part["high"] and abs(part["value"] / wanted - 1.0) < 0.1
        slack = rows[f"index_{k}", "slack_mm"]
        assert slack["low"] <= (SLACK_MM if k == 6 else 0.0) <= slack["high"], slack
    times, tensions = np.array(seen).T
    assert len(seen) > 20 and np.all(np.diff(times) > 0.0) and 2.0 < np.ptp(times) < 4.0
    assert tensions.min() < 0.9 * wanted and abs(tensions[-1] / wanted - 1.0) < 0.1
    assert "Into the band" in (tmp_path / "out" / "report.html").read_text()
    assert not Path(result["patch"]).read_text().strip()


def _with_zero(folder, slack_mm):
    """A hand file whose ``zero_rad`` of the sixth motor is from when its tendon was shorter by this."""
    document = tomlkit.parse(Path(load_hand("finger_bench").path).read_text())
    radius = read_hand(RunOptions(hand="finger_bench")).model[0]["spool_radius_m"][5]
    zero = float(-1e-3 * slack_mm / radius)
    document["identified"] = {"m_index_6": {"zero_rad": zero, "origin": "identified: 2026-11-01 run a"}}
    path = folder / "mine.toml"
    path.write_text(tomlkit.dumps(document))
    return path, zero


@pytest.mark.parametrize(("slack_mm", "good"), [(0.4, True), (8.0, False)])
def test_the_trend_against_the_hand_file_is_told_and_a_repaired_tendon_alone_gets_a_zero(
    tmp_path, slack_mm, good
):
    mine, _ = _with_zero(tmp_path, slack_mm)
    code, rows, result = _run(tmp_path / "out", "index_6", "--hand", str(mine), "--plant", "finger_bench")
    slack = rows["index_6", "slack_mm"]
    assert {name for name, _ in rows} == {"index_6"} and rows["index_6", "tension_n"]["verdict"] == "good"
    assert slack["low"] <= slack_mm <= slack["high"] and code == int(not good)
    patch = tomlkit.parse(Path(result["patch"]).read_text()).unwrap()
    if good:
        assert not patch
        return
    radius = read_hand(RunOptions(hand="finger_bench")).model[0]["spool_radius_m"][5]
    zero = patch["identified"]["m_index_6"]["zero_rad"]
    assert list(patch["identified"]) == ["m_index_6"] and abs(zero * radius) <= 0.5e-3 * (
        slack["high"] - slack["low"]
    )
    assert "apply the run" in slack["text"]


def test_the_whole_hand_gets_no_zeros_and_hears_of_a_lost_turn(tmp_path):
    mine, _ = _with_zero(tmp_path, 8.0)
    code, rows, result = _run(tmp_path / "out", "--hand", str(mine), "--plant", "finger_bench")
    assert code == 1 and rows["index_6", "slack_mm"]["verdict"] == "not good"
    assert not Path(result["patch"]).read_text().strip()


@pytest.mark.parametrize(
    ("fault", "what", "words"),
    [
        ("tendon-slack:index_6=0.008@0", "wiring.slack", "by hand"),
        ("tendon-break:index_6@0.0", "wiring.slack", "by hand"),
    ],
)
def test_a_tendon_that_cannot_be_taken_in_is_named_with_what_to_do(tmp_path, fault, what, words):
    code, rows, _ = _run(tmp_path / "out", "--fault", fault)
    assert code == 1 and words in rows["index_6", what]["text"]
    assert {part["verdict"] for (name, _), part in rows.items() if name != "index_6"} == {"open"}


def test_nothing_is_tensioned_by_a_motor_that_would_loosen_it(tmp_path):
    code, rows, _ = _run(tmp_path / "out", "--plant", written(tmp_path, reversed_motor(2)))
    assert code == 1 and ("index_3", "wiring.reversed") in rows
    assert not [key for _, key in rows if key.endswith("tension_n")]


@given(
    start=st.floats(0.0, 40.0),
    rate=st.floats(2.0, 30.0),
    end=st.floats(12.0, 28.0),
)
def test_settled_is_where_the_band_is_held_to_the_end(start, rate, end):
    time = 0.25 * np.arange(16) + 0.125
    course = end + (start - end) * np.exp(-rate * time)
    at = tension.settled_s(time, course, 18.0, 22.0)
    if math.isfinite(at):
        after = course[time >= at]
        assert ((after >= 18.0) & (after <= 22.0)).all() and np.abs(np.diff(after)).max(initial=0.0) <= 0.4
        before = np.flatnonzero(time < at)[1:]
        k = int(before[-1]) if len(before) else 0
        moved = abs(course[k] - course[k - 1]) if k else math.inf
        assert moved > 0.4 or not 18.0 <= course[k] <= 22.0
    else:
        assert not 18.0 <= course[-1] <= 22.0 or abs(course[-1] - course[-2]) > 0.4


def test_fingers_of_other_tendons_are_off():
    hand = read_hand(RunOptions(hand="hasy"))
    motion = tomlkit.parse(tension.motion_of(hand, [0])).unwrap()
    mine = hand.names.fingers[int(hand.model[0]["tendon_finger"][0])]
    assert set(motion["modes"]) == set(hand.names.fingers) - {mine}
    assert set(motion["modes"].values()) == {"off"}


def test_one_tendon_of_a_whole_hand_is_tensioned_alone(tmp_path):
    code, rows, result = _run(tmp_path / "out", "thumb_1", "--hand", "hasy")
    assert code == 0 and {name for name, _ in rows} == {"thumb_1"}
    assert result["simulated_s"] < 10.0  # one tendon's windings, not those of all
