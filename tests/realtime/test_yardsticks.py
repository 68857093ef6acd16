"""The C yardsticks: the loop's grid, the same work in every build, plain words where rights are missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks import native
from benchmarks.native import CompileFailed, NoCompiler, Reference, build
from benchmarks.yardsticks import Place, YardstickFailed, cyclictest, cyclictest_path, waiter
from runtime.realtime import control_cpu

pytestmark = pytest.mark.skipif(native.compiler() is None, reason="needs a C compiler")

WORDS, SLOTS = 100, 8


def run(*words: object, check: bool = True) -> dict:
    done = subprocess.run([str(build()), *map(str, words)], capture_output=True, text=True, check=check)
    return json.loads(done.stdout)


@pytest.fixture
def place() -> Place:
    return Place(cpu=control_cpu() or 0, rate_hz=3000.0, seconds=0.1, channels=40)


@pytest.mark.parametrize("channels", [1, 8, 40, 201])
def test_the_reference_tick_is_the_same_arithmetic_for_every_processor(channels):
    sums = {
        subprocess.run(
            [str(build(fast=fast)), "count", str(channels), "300", str(SLOTS), str(WORDS)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for fast in (True, False)
    }
    assert len(sums) == 1
    assert np.isfinite(json.loads(sums.pop())["sum"])


def test_the_reference_tick_really_depends_on_its_ticks_and_channels():
    seen = {(n, c): run("count", c, n, SLOTS, WORDS)["sum"] for n in (10, 11, 40) for c in (40, 48)}
    assert len(set(seen.values())) == len(seen)


def test_the_waiter_serves_or_skips_every_slot_and_never_wakes_early(place):
    for with_tick in (False, True):
        measured = waiter(place, with_tick)
        assert measured.cycles + measured.missed >= place.slots
        assert measured.wake_ns.min() >= 0
        assert measured.cycles <= place.slots
        if with_tick:
            assert (measured.response_ns > measured.wake_ns).all()


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root and setpriv")
def test_the_waiter_says_which_rights_it_did_not_get(tmp_path):
    out = tmp_path / "out"
    words = [build(), "wait", 0, 80, 1_000_000, 20, 0, 1, SLOTS, WORDS, out]
    drop = ["setpriv", "--bounding-set", "-sys_nice,-ipc_lock", "--inh-caps", "-all", "--"]
    limited = ["prlimit", "--rtprio=0:0", "--memlock=65536:65536"]
    done = subprocess.run(
        [*limited, *drop, *map(str, words)], capture_output=True, text=True, check=True, timeout=30
    )
    assert json.loads(done.stdout)["refused"] & 8
    assert len(np.fromfile(out, dtype=np.int64)) == 2 * json.loads(done.stdout)["cycles"]


@pytest.mark.parametrize(
    "words", [(), ("wait",), ("loop", 0, 0, 0, 10, 0, 1, 8, 8, "x"), ("loop",) + ("1",) * 3]
)
def test_the_waiter_refuses_a_wrong_call(words):
    done = subprocess.run([str(build()), *map(str, words)], capture_output=True, text=True, timeout=10)
    assert done.returncode in (1, 2)


@pytest.mark.skipif(cyclictest_path() is None or os.geteuid() != 0, reason="needs cyclictest and root")
def test_cyclictest_is_read_whole(place):
    measured = cyclictest(place)
    assert measured.cycles == place.slots
    assert 0 < measured.wake_us(0.5) <= measured.wake_us(0.99) <= measured.wake_us(1.0)


def test_a_cyclictest_that_is_missing_or_refused_is_an_error_with_its_words(place, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(YardstickFailed, match="cyclictest"):
        cyclictest(place)
    fake = tmp_path / "cyclictest"
    fake.write_text("#!/bin/sh\necho policy refused >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(YardstickFailed, match="policy refused"):
        cyclictest(place)


def test_durations_of_the_library_are_those_of_real_ticks():
    reference = Reference(SLOTS, WORDS)
    few, many = np.zeros(200, dtype=np.int64), np.zeros(200, dtype=np.int64)
    reference.durations(8, few)
    reference.durations(800, many)
    assert 0 < np.median(few) < np.median(many)


def test_without_a_compiler_or_with_a_broken_one_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(NoCompiler, match="sudo apt install gcc"):
        build()
    broken = Path(tmp_path / "cc")
    broken.write_text("#!/bin/sh\necho no such flag >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("FLEXOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(CompileFailed, match="no such flag"):
        build()
    assert not list((tmp_path / "cache").rglob("waiter"))
