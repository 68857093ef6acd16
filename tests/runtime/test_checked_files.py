"""What a command has checked is what runs: a file that is changed in between changes nothing of that run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.runtime_loop import free_port_base, run_slice
from hand.file.busfile import load_bus_file
from hand.file.errors import FileError
from hand.file.text import read_once, texts_read
from hand.motion.load import load_motion
from hand.options import RunOptions
from runtime.processes.phases import Exit
from runtime.processes.supervisor import Supervisor
from runtime.session import run_options
from runtime.setup import check, read_hand
from sim.mechanisms.load import load_mechanism
from trials.campaign import QuietJob, results

CONFIGS = Path(__file__).parents[2] / "configs"
BENCH = read_hand(RunOptions(hand="finger_bench"))
FILES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "hand": ("hands/finger_bench.toml", lambda path: read_hand(RunOptions(hand=path)).sha256),
    "mechanism hand": (
        "mechanism_hands/carpal_wrist.toml",
        lambda path: read_hand(RunOptions(hand=path)).sha256,
    ),
    "mechanism": ("mechanisms/y_tree.toml", lambda path: load_mechanism(path).file),
    "motion": (
        "motions/open_close.toml",
        lambda path: load_motion(path, BENCH.names, BENCH.model).duration_s,
    ),
    "bus": ("buses/finger_bench_servos.toml", lambda path: load_bus_file(path).entries),
}
BROKEN = "this is = = no file\n"


def copied(name: str, folder: Path) -> Path:
    """A copy of a shipped file that may be changed."""
    path = folder / Path(name).name
    path.write_text((CONFIGS / name).read_text())
    return path


@pytest.mark.parametrize("kind", FILES)
def test_inside_one_run_a_file_is_read_once(kind: str, tmp_path: Path) -> None:
    name, read = FILES[kind]
    path = copied(name, tmp_path)
    with read_once():
        first = read(str(path))
        path.write_text(BROKEN)
        assert read(str(path)) == first
        assert str(path) in texts_read()
    assert not texts_read()
    with pytest.raises(FileError):
        read(str(path))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("hand", "motion"),
    [
        ("hands/finger_bench.toml", "motions/open_close.toml"),
        ("mechanism_hands/carpal_wrist.toml", "mechanism_hands/motions/carpal_circle.toml"),
    ],
)
@pytest.mark.realtime
def test_processes_run_what_was_checked(hand: str, motion: str, tmp_path: Path) -> None:
    """Hand and motion file are broken after the check; control and io run the hand that was checked."""
    files = [copied(hand, tmp_path), copied(motion, tmp_path)]
    options = RunOptions(
        hand=str(files[0]), motion=str(files[1]), seconds=0.3, lockstep=True, port_base=free_port_base()
    )
    with read_once():
        checked = read_hand(options)
        check(options, checked)
        for path in files:
            path.write_text(BROKEN)
        outcome = Supervisor(options, checked.rate_hz, lambda _: None).run()
    assert outcome.code == Exit.GOOD, outcome.message
    assert outcome.report is not None and outcome.report["hand_sha256"] == checked.sha256
    assert outcome.report["cycles"] == round(0.3 * checked.rate_hz)


@pytest.mark.realtime
def test_a_measured_loop_runs_what_was_checked(tmp_path: Path) -> None:
    path = copied("hands/finger_bench.toml", tmp_path)
    options = RunOptions(hand=str(path), motion="open_close")
    with read_once():
        checked = read_hand(options)
        path.write_text(BROKEN)
        measured = run_slice(options, checked.rate_hz, 0.2)
    assert measured.summary()


def test_a_lockstep_run_runs_what_was_checked(tmp_path: Path) -> None:
    path = copied("hands/finger_bench.toml", tmp_path)
    options = RunOptions(hand=str(path), seconds=0.01, lockstep=True)
    with read_once():
        checked = read_hand(options)
        path.unlink()
        assert run_options(options, every=0).report["hand_sha256"] == checked.sha256


def test_workers_of_a_campaign_run_what_was_checked(tmp_path: Path) -> None:
    path = copied("hands/finger_bench.toml", tmp_path)
    jobs: list[Any] = [QuietJob(motion="hold", mismatch=0, seconds=0.05)]
    with read_once():
        read_hand(RunOptions(hand=str(path)))
        path.write_text(BROKEN)
        ((quiet,),) = results(str(path), jobs, 1, lambda: False)
    assert quiet.seconds > 0.0 and not quiet.alarms
