"""A whole run in one process: repeatable, without allocation, with the contract's report."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from hand.options import OptionError, RunOptions
from hand.stages import StageError
from runtime.realtime import quiet
from runtime.session import Session, run_lockstep
from signals.modes import MachineState

KEYS = {
    "hand": None,
    "backend": None,
    "rate_hz": None,
    "cycles": None,
    "missed": None,
    "wake_us": {"p50", "p99", "p999", "max"},
    "tick_us": {"p50", "p99", "p999", "max"},
    "estimate_error_deg": {"rms", "max", "by_joint"},
    "tracking_error_deg": {"rms", "by_joint"},
    "tension_n": {"min", "max"},
    "force_error_n": {"rms", "true_rms"},
    "fingertip_drift_mm": {"rms", "max"},
    "real_time_factor": None,
    "faults": None,
    "hand_sha256": None,
    "seed": None,
    "late": None,
    "elapsed_s": None,
    "residual_mm": {"rms", "max"},
}


@pytest.fixture(scope="module")
def moved():
    """One run of the finger in motion, every frame kept."""
    return run_lockstep("finger_bench", motion="open_close", seconds=1.5, every=1, seed=3)


def _yes():
    return True


def _differing(one, other):
    """Signals of two runs that are not the same bit by bit."""
    return [
        f"{record}.{name}"
        for record in one.dtype.names
        if record != "timing"
        for name in one.dtype[record].names
        if one[record][name].tobytes() != other[record][name].tobytes()
    ]


def test_the_report_has_the_keys_of_the_contract_and_is_json(moved):
    report = json.loads(json.dumps(moved.report, allow_nan=False))
    for key, inner in KEYS.items():
        assert key in report
        if inner is not None:
            assert inner <= set(report[key])
    assert report["cycles"] == 4500
    assert list(report["estimate_error_deg"]["by_joint"]) == list(moved.hand.names.joints)
    assert report["faults"] == []
    assert len(report["hand_sha256"]) == 64


def test_two_runs_with_one_seed_are_the_same_bit_by_bit(moved):
    again = run_lockstep("finger_bench", motion="open_close", seconds=1.5, every=1, seed=3)
    assert _differing(moved.frames, again.frames) == []


def test_another_seed_gives_other_noise(moved):
    other = run_lockstep("finger_bench", motion="open_close", seconds=0.2, every=1, seed=4)
    n = len(other.frames)
    assert (other.frames["measurement"]["hall_count"] != moved.frames["measurement"]["hall_count"][:n]).any()


def test_figures_of_the_report_are_those_of_the_frames(moved):
    frames = moved.frames[moved.seconds >= 1.0]
    error = np.degrees(frames["state"]["joint_angle_rad"] - frames["truth"]["joint_angle_rad"])
    assert moved.report["estimate_error_deg"]["rms"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-3)
    assert moved.report["tension_n"]["max"] == pytest.approx(frames["state"]["tension_n"].max(), rel=1e-6)


class StillBus:
    """A bus that answers with what is in the measurement already."""

    def exchange(self, _command, _measurement, _now_ns):
        return 0


def _allocations(call):
    before = rtsys.get_allocation_stats()
    call()
    after = rtsys.get_allocation_stats()
    return after.alloc - before.alloc, after.mi_alloc - before.mi_alloc


def test_a_tick_allocates_nothing():
    options = RunOptions(motion="open_close", seconds=1.0, lockstep=True)
    session = Session(options, buffer=lambda _hand: None)
    session.run(0.5)
    assert int(session.rig.views["state"]["machine"][0]) == MachineState.ACTIVE
    loop, pipeline, bus = session.loop, session.rig.pipeline, session.rig.bus
    _nrt_python.memsys_enable_stats()
    with quiet():
        with_bus = _allocations(lambda: loop.run_lockstep(300, _yes, 1))
        command, measurement = pipeline.command, pipeline.measurement
        now = int(session.rig.views["state"]["time_ns"][0])
        bus_alone = _allocations(
            lambda: [bus.exchange(command, measurement, now + k * 333_333) for k in range(1, 301)]
        )
        assert with_bus == bus_alone, "something besides the bus allocates"
        pipeline.bus = StillBus()
        assert _allocations(lambda: loop.run_lockstep(300, _yes, 1)) == (0, 0)
        tracemalloc.start()
        try:
            loop.run_lockstep(100, _yes)
            start = tracemalloc.take_snapshot()
            loop.run_lockstep(600, _yes)
            end = tracemalloc.take_snapshot()
        finally:
            tracemalloc.stop()
    grown = [s for s in end.compare_to(start, "lineno") if s.size_diff > 0 and "tracemalloc" not in str(s)]
    assert sum(s.size_diff for s in grown) < 600, f"600 cycles kept memory: {grown[:3]}"
    pipeline.bus = bus
    session.close()


def test_a_fault_ends_named_and_latched_and_the_run_goes_on():
    result = run_lockstep("finger_bench", motion="open_close", seconds=1.0, faults=["nan:m_index_2@0.5"])
    assert result.report["cycles"] == 3000
    first = result.report["faults"][0]
    assert first["cause"] == "NOT_FINITE_MEASUREMENT"
    assert "m_index_2" in first["text"]
    assert first["time_s"] == pytest.approx(0.5, abs=0.02)
    assert result.in_fault
    assert np.isfinite(result.frames["command"]["motor_current_a"]).all()


def test_overrides_and_switches_reach_the_model():
    result = run_lockstep(
        "finger_bench",
        seconds=0.01,
        overrides={"gains.ripple_gain": 1.0},
        without=["friction", "guides", "lever"],
        rate_hz=2000.0,
        pretension_n=30.0,
    )
    model = result.rig.hand.model
    assert model["ripple_gain"][0] == 1.0
    assert [model[f"use_{part}"][0] for part in ("friction", "guides", "lever", "ripple")] == [0, 0, 0, 1]
    assert model["dt_s"][0] == 1 / 2000.0
    assert model["pretension_n"][0, 0] == 30.0
    assert result.report["rate_hz"] == 2000.0


def test_a_foreign_controller_is_called_by_name_and_the_guard_has_the_last_word(tmp_path, monkeypatch):
    (tmp_path / "wild.py").write_text(
        "calls = []\n"
        "def control(model, goal, memory, state, command):\n"
        "    calls.append(1)\n"
        "    state['ref_motor_torque_nm'][0] = 1e6\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run_lockstep("finger_bench", seconds=0.1, overrides={"controller": "wild:control"}, every=1)
    import wild

    assert len(wild.calls) == 300
    limit = result.rig.hand.model["motor_current_limit_a"][0, :8]
    assert (np.abs(result.frames["command"]["motor_current_a"]) <= limit + 1e-9).all()


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere_to_be_found:f", "PYTHONPATH"), ("math:no_such_function", "no such function")],
)
def test_a_foreign_controller_that_does_not_exist_is_refused_in_words(name, words):
    with pytest.raises(StageError, match=words):
        run_lockstep("finger_bench", seconds=0.01, overrides={"controller": name})


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"sensors": "idal"}, "did you mean 'ideal'"),
        ({"guides": "none"}, "legal: ideal, friction"),
        ({"guides": False}, "guide law is False; legal: ideal, friction"),
        ({"seconds": "2"}, "seconds is '2'; legal is a number or None"),
        ({"seed": 1.5}, "seed is 1.5; legal is a whole number"),
        (
            {"faults": "tendon-break:index_4@2"},
            "faults is 'tendon-break:index_4@2'; legal is a tuple or list",
        ),
        ({"without": ["gravity"]}, "legal: friction, ripple, guides, lever, wrist"),
        ({"rate_hz": 1.0}, "50 to 20000"),
        ({"seconds": 0.0}, "above 0"),
        ({"motion": "opn_close"}, "open_close"),
        ({"faults": ["tendon-brake:index_4@1"]}, "tendon-break"),
        ({"overrides": ["gains.riple_gain=1"]}, "ripple_gain"),
        ({"overrides": ["gains"]}, "key=value"),
    ],
)
def test_a_wrong_choice_is_refused_with_what_is_legal(choice, words):
    with pytest.raises(ValueError, match=words):
        run_lockstep("finger_bench", **{"seconds": 0.01, **choice})


def test_options_survive_the_way_to_a_child_process():
    options = RunOptions(faults=("a:b@1",), without=("ripple",), seconds=2.0, settings=("a.b=1",))
    assert RunOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize("name", [f.name for f in fields(RunOptions)])
def test_an_option_of_a_wrong_type_is_named_with_what_is_legal(name: str) -> None:
    for wrong in (
        object(),
        b"2",
        {"a": 1},
        (1, 2),
        *((None,) if getattr(RunOptions(), name) is not None else ()),
    ):
        with pytest.raises(OptionError, match="legal"):
            RunOptions(**{name: wrong})


def test_numbers_of_numpy_are_numbers() -> None:
    options = RunOptions(seed=np.int64(3), seconds=np.float64(0.5), pretension_n=np.float32(30.0))
    assert (options.seed, options.seconds, options.pretension_n) == (3, 0.5, 30.0)
