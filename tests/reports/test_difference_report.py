"""``flexor log sensors`` of hands with sensors of differences of forces, and of tendons without any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.finding import Level
from reports.sensor_curves import take_homing
from reports.sensors import Sensor, judge
from runtime.session import RunResult, run_lockstep
from signals.modes import ChannelStatus
from tests.rigs.differing import beside_a_sensor, pairs_of, with_differences
from tests.rigs.mutations import TEXTS
from tools.cli import main

HAND = "orca_v2"
SWEEP = str(Path(__file__).parents[2] / "examples" / "sensor_sweep.toml")


def judged(run: RunResult, frames: Any) -> dict[str, Sensor]:
    """Sensors of frames by what they are at."""
    model = run.hand.model.copy()
    take_homing(model, frames)
    return {s.tendon: s for s in judge(model, run.hand.names, frames)[0]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """The finger of four tendons, its tensions from 8 to 45 N and back."""
    file = tmp_path_factory.mktemp("swept") / "hand.toml"
    file.write_text(beside_a_sensor())
    return run_lockstep(str(file), motion=SWEEP, seconds=6.5, every=1)


def rail(z: Any, noise: Any) -> None:
    z["hall_count"][:, 3] = z["hall_fine_count"][:, 3] = 4095


def shake(z: Any, noise: Any) -> None:
    z["hall_fine_count"][:, 3] += 8.0 * noise


def silence(z: Any, noise: Any) -> None:
    z["hall_status"][:, 3] = ChannelStatus.MISSING


@pytest.mark.parametrize(
    ("change", "level", "fact", "fix"),
    [
        (None, Level.PASS, "force against that of t1, noise 1.0", ""),
        (rail, Level.FAIL, "saturated 100.0 %", "take its row out of sensors"),
        (silence, Level.FAIL, "silent 100.0 %", "take its row out of sensors"),
        (shake, Level.WARN, "noise 8.", "set noise_counts_rms = 8."),
    ],
)
def test_a_log_judges_one_by_noise_rail_and_silence(
    swept: RunResult, change: Any, level: Level, fact: str, fix: str
) -> None:
    frames = swept.frames.copy()
    if change is not None:
        change(frames["measurement"], np.random.default_rng(1).normal(0.0, 1.0, len(frames)))
    sensors = judged(swept, frames)
    found = sensors.pop("t4")
    assert (found.against, found.motor_only, found.usable_frac) == ("t1", False, None)
    assert found.finding.level is level and fact in found.finding.fact and fix in found.finding.fix
    assert "hall_used" not in found.finding.fix and "slope" not in found.finding.fact
    assert [s.finding.level for s in sensors.values()] == [Level.PASS] * 3


def test_sound_sensors_that_alone_tell_the_joints_are_not_called_flat(tmp_path: Path) -> None:
    """Three for three joints: without one of them nothing tells what it should read while they move."""
    file = tmp_path / "hand.toml"
    file.write_text(beside_a_sensor())
    run = run_lockstep(str(file), motion="open_close", seconds=3.0, every=1)
    assert run.report["faults"] == []
    levels = {name: s.finding.level for name, s in judged(run, run.frames).items()}
    assert Level.FAIL not in levels.values(), levels


def record(folder: Path, text: str, log: Path) -> None:
    file = folder / "hand.toml"
    file.write_text(text)
    run_lockstep(str(file), motion="hold", seconds=0.5, record=log)


def told_of_log(log: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as done:
        main(["log", "sensors", str(log), "--json", *words])
    printed = capsys.readouterr()
    return int(done.value.code or 0), printed.out or printed.err


def test_a_log_lists_the_sensors_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the tendons without; a hand without any is told so."""
    log = tmp_path / "some.mcap"
    record(tmp_path, with_differences(HAND), log)
    capsys.readouterr()
    code, out = told_of_log(log, capsys, "--out", str(tmp_path / "out"))
    report = json.loads(out)
    assert code == 0 and "hall_used" not in out and (tmp_path / "out" / "sensors.json").is_file()
    assert [(s["tendon"], s["against"]) for s in report["sensors"]] == pairs_of(HAND)
    assert all(not f["not_usable"] and f["motor_only_possible"] for f in report["fingers"].values())
    none = tmp_path / "none.mcap"
    record(tmp_path, TEXTS[HAND], none)
    capsys.readouterr()
    code, out = told_of_log(none, capsys)
    assert code == 2 and f"{none}: {HAND} has no sensor at a tendon" in out
