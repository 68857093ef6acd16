"""Procedures of calibration over emulated devices: real processes, real wires, real pauses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.motion_run import Faulted, Means, NotKept, must_be_sound, run_motion
from calibration.tendon_means import FIELDS, course_of
from calibration.winding_plan import Path as Winding
from calibration.winding_plan import stretch_to_m
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.emulators.test_emulate import FLEXOR, ROOT, emulation

HAND = "finger_bench"


def _before_others(process: subprocess.Popen[str]) -> None:
    if os.geteuid() == 0:
        subprocess.run(["chrt", "-a", "-f", "-p", "60", str(process.pid)], check=True, capture_output=True)
        subprocess.run(["taskset", "-a", "-c", "-p", "0", str(process.pid)], check=True, capture_output=True)


def _motion(hand: Hand) -> Winding:
    """Tensions rise and fall once."""
    path = Winding.at_rest(hand, 0.2)
    path.go(0.5, "", stretch_to_m(hand, 30.0))
    path.go(0.5, "", np.zeros(8))
    return path


@pytest.mark.long
def test_a_run_over_a_wire_is_kept_with_its_times(tmp_path: Path, port_base: int) -> None:
    with emulation(tmp_path, HAND) as (process, bus_file):
        _before_others(process)
        options = RunOptions(hand=HAND, bus=str(bus_file), port_base=port_base)
        hand, means = read_hand(options), Means(*FIELDS)
        path = _motion(hand)
        text = path.text(hand, list(range(8)))
        assert run_motion(hand, options, text, path.seconds + 0.3, means) == []
        course = course_of(hand, means, 0)
        assert (np.diff(course.time_s) > 0.0).all() and np.ptp(course.time_s) > 0.8 * path.seconds
        wound = float(stretch_to_m(hand, 30.0)[0] / abs(hand.model[0]["spool_radius_m"][0]))
        assert np.ptp(course.angle_rad) == pytest.approx(wound, rel=0.1)


@pytest.mark.long
def test_a_cut_cable_is_named(tmp_path: Path, port_base: int) -> None:
    """The devices go in the middle of a motion, and do not come back."""
    with emulation(tmp_path, HAND) as (process, bus_file):
        _before_others(process)
        options = RunOptions(hand=HAND, bus=str(bus_file), port_base=port_base)
        hand = read_hand(options)
        path = _motion(hand)

        def cut(share: float) -> None:
            if share > 0.3 and process.poll() is None:
                process.send_signal(signal.SIGKILL)

        with pytest.raises(Faulted):
            text = path.text(hand, list(range(8)))
            must_be_sound(run_motion(hand, options, text, path.seconds + 0.3, Means(*FIELDS), cut))


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_commissioning_on_a_wire_that_is_stopped_goes_on(
    tmp_path: Path, port_base: int, how: signal.Signals
) -> None:
    """Stopped in the second step by Ctrl-C, or killed: the first is kept, the hand has no torque."""
    folder = tmp_path / "c"
    with emulation(tmp_path, HAND) as (process, bus_file):
        _before_others(process)
        words = [
            "commission",
            HAND,
            "--bus",
            str(bus_file),
            "--out",
            str(folder),
            "--port-base",
            str(port_base),
        ]
        running = subprocess.Popen([*FLEXOR, *words], stderr=subprocess.PIPE, text=True, cwd=ROOT)
        end = time.monotonic() + 240.0
        while not (folder / "wiring" / "result.json").exists() and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(6.0)
        running.send_signal(how)
        _, said = running.communicate(timeout=30.0)
        result = json.loads((folder / "wiring" / "result.json").read_text())
        assert result["parts"] and not (folder / "zero").exists()
        if how is signal.SIGINT:
            assert running.returncode == 130 and "new in" in said and "wiring" in said
        assert read_hand(RunOptions(hand=str(folder / "hand.toml"))).names.hand == HAND


@pytest.mark.parametrize(
    ("causes", "runs"), [((), 1), (("BUS_LOST",), 3), (("TENDON_BROKEN",), 1), (("IO_LOST", "BUS_LOST"), 3)]
)
def test_what_a_pause_ended_is_made_again_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, causes: tuple[str, ...], runs: int
) -> None:
    """Without processes: a supervisor whose runs end as told."""
    from calibration import motion_run

    made: list[RunOptions] = []

    class Ended:
        code, message = 0, ""

        def __init__(self) -> None:
            texts = {"part": "", "text": "paused", "hint": ""}
            self.report = {
                "faults": [{"cause": cause} | texts for cause in causes],
                "cycles": 10,
                "notices": [],
            }

    class Runs:
        def __init__(self, options: RunOptions, *_: object) -> None:
            made.append(options)

        def run(self) -> Ended:
            return Ended()

    monkeypatch.setattr(motion_run, "Supervisor", Runs)
    options = replace(RunOptions(hand=HAND), lockstep=False)
    with pytest.raises(Faulted if causes else NotKept, match="paused" if causes else "0 of 10 cycles"):
        run_motion(read_hand(options), options, "", 1.0, lambda _: None)
    assert len(made) == runs and len({each.out for each in made}) == runs
    assert not any(each.picture for each in made)
