"""``flexor bench``: what it prints and the exit code it ends with, on results that are known."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks import kernel, run
from benchmarks.kernel import CannotCount, Gate
from tools.commands.bench import app

GATE = Gate(
    hand="hasy",
    motion="open_close",
    instructions_per_tick=1000.0,
    reference_channels=3,
    reference_instructions_per_tick=990.0,
    versions={},
)
FACTS = {
    "machine": {
        "processor": "p", "cores": [0, 1], "isolated": [], "virtual": True, "kernel": "k",
        "preemption": "rt (kernel build)", "clock": "tsc", "load": 0.1,
    },
    "versions": {"python": "3"},
}  # fmt: skip


def ratio(name: str, median: float, bound: float | None) -> dict[str, Any]:
    missed = bound is not None and median > bound
    return {
        "name": name,
        "median": median,
        "low": median,
        "high": median,
        "bound": bound,
        "judged": True,
        "missed": missed,
    }


def loop_result(missed: bool) -> dict[str, Any]:
    row = {"wake_p50_us": 1.0, "wake_p99_us": 2.0, "wake_p999_us": 3.0, "late": 0, "missed": 0}
    return {
        "bench": "loop", "facts": FACTS, "hand": "hasy", "motion": "open_close", "rounds": 1, "seconds": 0.1,
        "participants": {"cyclictest": row, "plain": {**row, "response_p50_us": 20.0}},
        "ratios": [ratio("plain wake", 1.3 if missed else 1.1, 1.2), ratio("free", 9.0, None)],
        "company": [], "notices": [], "missed": ["plain wake"] if missed else [],
    }  # fmt: skip


def counted(held: bool) -> dict[str, Any]:
    return {
        "hand": "hasy", "motion": "open_close", "instructions_per_tick": 1000.0, "counts": [1000.0, 1001.0],
        "spread_frac": 0.001, "reference_channels": 3, "reference_instructions_per_tick": 990.0,
        "said": ["a sentence"], "held": held, "missed": [] if held else ["instructions per tick"],
    }  # fmt: skip


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(("missed", "held", "code"), [(False, True, 0), (True, True, 1), (False, False, 1)])
def test_a_missed_bound_or_a_gate_that_is_not_held_is_exit_code_one(missed, held, code, monkeypatch):
    monkeypatch.setattr(kernel, "load_gate", lambda: GATE)
    monkeypatch.setattr(run, "loop", lambda *_, **__: loop_result(missed))
    monkeypatch.setattr(run, "count", lambda *_, **__: counted(held))
    done = call()
    assert done.exit_code == code, done.output
    assert ("MISSED" in done.output) == missed
    assert ("NOT HELD" in done.output) == (not held)
    told = json.loads(call("--json").stdout)
    assert told["kernel"]["held"] == held and bool(told["missed"]) == bool(code)


@pytest.mark.parametrize("words", [("--no-kernel",), ("--hand", "finger_bench"), ("--motion", "hold")])
def test_the_gate_belongs_to_its_hand_and_motion(words, monkeypatch):
    monkeypatch.setattr(kernel, "load_gate", lambda: GATE)
    monkeypatch.setattr(run, "loop", lambda *_, **__: loop_result(False))
    monkeypatch.setattr(run, "count", lambda *_, **__: pytest.fail("counted for nothing"))
    assert call(*words).exit_code == 0


def test_without_valgrind_the_loop_is_measured_all_the_same(monkeypatch):
    def refuse(*_: Any, **__: Any) -> Any:
        raise CannotCount("no valgrind")

    monkeypatch.setattr(kernel, "load_gate", lambda: GATE)
    monkeypatch.setattr(run, "loop", lambda *_, **__: loop_result(False))
    monkeypatch.setattr(run, "count", refuse)
    done = call()
    assert done.exit_code == 0 and "no valgrind" in done.output


def test_the_long_run_tells_what_broke(monkeypatch):
    memory = {"first_bytes": 1, "last_bytes": 2, "growth_bytes": 3, "samples": 4}
    result = {
        "seconds": 2.0, "under_load": False, "cycles": 6, "missed_cycles": 1, "late": 0, "slots": 7,
        "elapsed_times_rate": 7.0, "frames_checked": 5, "frames_off_grid": 0, "frames_not_seen": 0,
        "memory": {"io": memory}, "broken": ["io grew"],
    }  # fmt: skip
    monkeypatch.setattr(run, "long_run", lambda *_: {**result, "missed": result["broken"]})
    done = call("soak", "--for", "2")
    assert done.exit_code == 1 and "6 cycles + 1 missed" in done.output and "BROKEN: io grew" in done.output


def test_wrong_numbers_are_usage_errors():
    for words in (("--rounds", "0"), ("--seconds", "0"), ("tick", "--ticks", "1"), ("soak", "--for", "0.1")):
        assert call(*words).exit_code == 2
