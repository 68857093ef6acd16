"""A log ticked again gives what was sent, bit for bit; whatever is changed shows with its first cycle."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import flexor
from guard.memory import GUARD_MEMORY
from hand.motion.load import shipped_motions
from hand.options import RunOptions
from runtime.keyframes import (
    BEFORE_FIRST,
    LAYOUT,
    PARTS,
    KeyframeError,
    attachment,
    cycle_of,
    name_of,
    now,
    unpacked,
)
from runtime.logs import open_log
from runtime.session import Session, run_lockstep
from sim.options import Fault
from telemetry.record.reader import read_log
from telemetry.shm.segment import KEYFRAME_BYTES
from tests.rigs.sensed import orca
from tools.commands.replay import app
from tools.view.source import LogSource
from trials.replay import ReplayError, replay


def recorded(path: Path, hand: str, motion: str, seconds: float, **more) -> Path:
    run_lockstep(hand, motion=motion, seconds=seconds, every=0, record=path, **more)
    return path


def _hands(motion: str) -> list[str]:
    """Hands that have the joints of a motion."""
    whole = any(word in motion for word in ("wrist", "thumb", "grasp"))
    return ["hasy"] if whole else ["finger_bench", "hasy"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("hand", "motion"), [(hand, motion) for motion in shipped_motions() for hand in _hands(motion)]
)
def test_every_motion_gives_the_same_bits_again(tmp_path, hand, motion):
    found = replay(recorded(tmp_path / "a.mcap", hand, motion, 0.35))
    assert found.identical and found.first is None and found.different == 0
    assert found.cycles == 1050 and found.passed_over == 0


STRUCK = {
    "tendon": ("finger_bench", "index_4"),
    "motor": ("finger_bench", "m_index_3"),
    "joint": ("sensed", "index_pip"),
    "axis": ("hasy", "wrist_flexion"),
}
"""Where a fault strikes -> hand and part."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", Fault.kinds())
def test_every_fault_gives_the_same_bits_again(tmp_path, kind):
    hand, part = STRUCK[Fault.space(kind)]
    if hand == "sensed":
        (tmp_path / "sensed.toml").write_text(orca())
        hand = str(tmp_path / "sensed.toml")
    seconds = 0.35 if hand == "hasy" else 0.6
    fault = f"{kind}:{part}@{seconds / 2}"
    path = recorded(tmp_path / "a.mcap", hand, "open_close", seconds, faults=(fault,))
    found = replay(path)
    assert found.identical and found.cycles == len(read_log(path).frames) > 100


def test_there_are_twenty_faults():
    assert len(Fault.kinds()) >= 20


def test_a_changed_gain_shows_with_its_first_cycle_and_the_table_names_the_part(tmp_path):
    path = recorded(tmp_path / "a.mcap", "finger_bench", "open_close", 0.3)
    found = CliRunner().invoke(
        app, [str(path), "--set", "gains.ripple_gain=0.5", "--out", str(tmp_path / "out"), "--json"]
    )
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert not told["identical"] and told["cycles"] == 900
    first = told["first_difference"]
    frames = read_log(path).frames
    ripple = frames["state"]["ripple_torque_nm"]
    row = int(np.flatnonzero((ripple != 0.0).any(axis=1))[0])  # nothing to change before that
    assert first["cycle"] == row and first["signal"].startswith("state.ripple_torque_nm/m_index_")
    assert first["replayed"] == pytest.approx(first["recorded"] * 0.5 / 0.8, rel=1e-6)
    greatest = {r["signal"]: r for r in told["signals"]}["command.motor_current_a"]
    assert greatest["greatest"] > greatest["rms"] > 0.0 and greatest["part"].startswith("m_index_")
    assert Path(told["picture"]).stat().st_size > 10_000
    plain = CliRunner().invoke(app, [str(path)])
    assert plain.exit_code == 0 and "identical: 900 cycles" in plain.stdout


def test_a_changed_log_is_different_from_its_first_changed_cycle_on(tmp_path, monkeypatch):
    path = recorded(tmp_path / "a.mcap", "finger_bench", "hold", 0.2)
    log = read_log(path)
    log.frames["measurement"]["motor_angle_rad"][400:, 2] += 1e-12
    monkeypatch.setattr("trials.replay.read_log", lambda _: log)
    found = replay(path)
    assert found.first is not None and found.first.cycle == 400


def test_a_log_that_begins_in_mid_run_or_has_a_gap_goes_on_at_a_keyframe(tmp_path):
    options = RunOptions(motion="open_close", seconds=2.0, lockstep=True)
    taken: list = []
    session = Session(options, lambda _: None, lambda frames: taken.append(frames.copy()))
    recorder = open_log(tmp_path / "a.mcap", session.hand, options)
    session.run(0.2)
    for written in (True, False, True):
        cycle = session.loop.progress.cycles - 1
        taken.clear()
        keyframe = now(session.rig.remembered, cycle)
        session.run(0.1)
        if written:
            recorder.attach(attachment(cycle, keyframe))
            for frames in taken:
                recorder.add(frames)
    recorder.close()
    session.close()
    found = replay(tmp_path / "a.mcap")
    assert found.identical and found.cycles == 600 and found.passed_over == 0


def test_frames_without_a_keyframe_before_them_are_passed_over_and_said(tmp_path):
    options = RunOptions(motion="open_close", seconds=1.0, lockstep=True)
    session = Session(options, lambda _: None, lambda frames: recorder.add(frames))
    recorder = open_log(tmp_path / "a.mcap", session.hand, options)
    session.run(0.1)
    recorder.attach(attachment(299, now(session.rig.remembered, 299)))
    session.run(0.1)
    recorder.close()
    session.close()
    found = replay(tmp_path / "a.mcap")
    assert found.identical and (found.cycles, found.passed_over) == (300, 300)


def test_of_a_log_that_is_cut_its_sound_part_is_replayed_and_the_rest_is_said(tmp_path):
    path = recorded(tmp_path / "a.mcap", "finger_bench", "open_close", 0.4)
    whole = replay(path)
    assert whole.damage == [] and whole.cycles == 1200
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])
    told = CliRunner().invoke(app, [str(path)])
    assert told.exit_code == 0 and "the log is not whole: bytes" in told.stdout
    assert "cut off, or its writer was killed" in told.stdout
    found = replay(path)
    assert found.identical and 0 < found.cycles < whole.cycles
    assert LogSource(path).lacks == found.damage


def test_a_log_of_another_version_is_refused_with_its_name_and_what_reads_it(tmp_path, monkeypatch):
    path = recorded(tmp_path / "a.mcap", "finger_bench", "hold", 0.02)
    monkeypatch.setitem(PARTS, "guard", np.dtype([*GUARD_MEMORY.descr, ("new", "f8")]))
    with pytest.raises(ReplayError, match=r"a\.mcap: its keyframe's guard is of another.*flexor view"):
        replay(path)


def test_what_cannot_be_replayed_says_why(tmp_path):
    options = RunOptions(lockstep=True, seconds=0.1)
    session = Session(options, lambda _: None)
    recorder = open_log(tmp_path / "none.mcap", session.hand, options)
    recorder.close()
    with pytest.raises(ReplayError, match="has no keyframe"):
        replay(tmp_path / "none.mcap")
    path = recorded(tmp_path / "a.mcap", "finger_bench", "hold", 0.05)
    with pytest.raises(ReplayError, match="recorded with other motors"):
        replay(path, hand="hasy")
    with pytest.raises(KeyframeError, match="damaged"):
        unpacked(b"nothing of the kind")
    assert LAYOUT.itemsize <= KEYFRAME_BYTES
    assert cycle_of(name_of(BEFORE_FIRST)) == BEFORE_FIRST and cycle_of("hasy.toml") is None


def test_another_controller_over_the_same_measurements(tmp_path, monkeypatch):
    path = recorded(tmp_path / "a.mcap", "finger_bench", "open_close", 0.2)
    (tmp_path / "gentle.py").write_text(
        "from controllers.memory import CONTROLLER_MEMORY as MEMORY\n"
        "from controllers.tick import control as ours\n"
        "def control(model, goal, memory, state, command):\n"
        "    ours(model, goal, memory, state, command)\n"
        "    state['ref_motor_torque_nm'] *= 0.5\n"
    )
    monkeypatch.chdir(tmp_path)
    found = replay(path, controller="gentle:control")
    assert found.first is not None and found.cycles == 600
    assert found.first.signal.split("/")[0] in ("command.motor_current_a", "state.ref_motor_torque_nm")


@pytest.mark.long
@pytest.mark.realtime
def test_a_run_in_real_time_and_what_its_black_box_kept_are_replayed_bit_for_bit(start, port_base, tmp_path):
    fault = "tendon-break:index_4@4"
    run = start("--motion", "open_close", "--for", "7", "--fault", fault, "--record", "--out", str(tmp_path))
    run.wait_until_running()
    with flexor.Hand(port_base=port_base, timeout_s=5.0) as hand:
        with hand.control("test") as control:
            with pytest.raises(flexor.Refused, match="is being recorded already"):
                control.record.start()
        code, report, _ = run.end(60.0)
    assert "TENDON_BROKEN" in [f["cause"] for f in report["faults"]] and len(report["snapshots"]) == 1
    for path in (report["log"], report["snapshots"][0]):
        found = replay(Path(path))
        assert found.identical, found.first
        assert found.cycles > 9_000, path


@pytest.mark.realtime
def test_a_client_records_and_keeps_a_moment(start, port_base, tmp_path):
    run = start("--for", "60", "--out", str(tmp_path))
    run.wait_until_running()
    with flexor.Hand(port_base=port_base, timeout_s=5.0) as hand:
        snapshot = hand.snapshot()
        with pytest.raises(flexor.Refused, match="is being written"):
            hand.snapshot()
        with hand.control("test") as control:
            path = control.record.start()
            assert hand.health()["recording"]
            control.sleep(0.5)
            assert control.record.stop() == path
            with pytest.raises(flexor.Refused, match="nothing is being recorded"):
                control.record.stop()
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130 and report["snapshots"] == [snapshot] and report["log"] == path
    assert 1000 < len(read_log(path).frames) < 6000
    assert replay(Path(path)).cycles >= 0 and len(read_log(snapshot).frames) > 1000
