"""Every compiled function is called once before a loop starts: nothing compiles, loads or faults in a cycle.

The calls run on a hand of their own (scratch records, own plant), so that the real one is untouched. Cold,
they compile for most of a minute and a line on stderr says how far they are; warm, they take a second.
Numba compiles one function at a time, so a cold start gives the plant to a second process: the two meet in
the cache.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hand.hand import Hand
from hand.options import RunOptions
from runtime.entries import address_of, take_at
from runtime.realtime import die_with_parent
from runtime.setup import Rig, build, prepare, read_hand
from runtime.stretch import load
from signals.clock import new_timespec, now_ns, wait_until
from signals.faults import Cause
from signals.records import GOAL, new
from telemetry.shm.channel import Channel
from telemetry.shm.segment import post

CYCLES = 100
"""Cycles of the scratch hand, so that branch predictors, caches and the stack are warm too."""
_SHOW_AFTER_S = 2.0
_PLANT = "plant and homing"
_PLANT_BUDGET_S = 300.0


class Progress:
    """``compiling n/m ...`` on stderr, only when it takes long enough to wonder."""

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._begun, self._shown, self._drawn = total, time.monotonic(), shown, False

    def step(self, index: int, name: str) -> None:
        """Say what comes next."""
        if self._shown and time.monotonic() - self._begun > _SHOW_AFTER_S:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"compiling {index}/{self._total}: {name:<24}", end=end, file=sys.stderr, flush=True)
            self._drawn = True

    def close(self) -> None:
        """Remove the line."""
        if self._drawn and sys.stderr.isatty():
            print(" " * 60, end="\r", file=sys.stderr, flush=True)


def _mailbox() -> None:
    lock, words, target = np.zeros(1, np.uint64), np.zeros(GOAL.itemsize // 8, np.uint64), new(GOAL)
    post(lock, words, target.view(np.uint64))
    take_at(address_of(lock), address_of(words), address_of(target), 0)


def _steps(rig: Rig) -> Iterator[tuple[str, Callable[[], object]]]:
    pipeline, stages, views, now = rig.pipeline, rig.stages, rig.views, now_ns()
    period, model, state = round(1e9 / rig.hand.rate_hz), rig.hand.model, views["state"]
    memories = stages.estimator_memory, stages.controller_memory, stages.guard_memory
    yield _PLANT, lambda: prepare(rig, now)
    yield "estimator", lambda: stages.estimate(model, views["measurement"], memories[0], state)
    yield "controller", lambda: stages.control(model, views["goal"], memories[1], state, views["command"])
    yield (
        "guard",
        lambda: stages.guard(
            model, views["goal"], views["measurement"], memories[2], state, views["command"]
        ),
    )
    yield "ring", lambda: pipeline.channel.leave(pipeline.words)
    yield "mailbox", _mailbox
    yield "clock", lambda: wait_until(now_ns() + 1000, 0, new_timespec())
    yield "whole tick", lambda: pipeline.tick(0, now, now, period / 1e9, 0, 0)

    def cycles() -> None:
        for k in range(1, CYCLES):
            pipeline.tick(k, now + k * period, now + k * period, period / 1e9, 0, 0)
        pipeline.blame(Cause.SUSTAINED_OVERRUN, 1.0, 1.0)

    yield "a hundred cycles", cycles
    if rig.options.lockstep:
        yield "stretch", load


def warm_up(
    options: RunOptions, hand: Hand, *, beat: Callable[[], None] = lambda: None, shown: bool = True
) -> float:
    """Compile or load everything that a loop will call; returns the seconds it took.

    Args:
        options: options of the run.
        hand: the hand; not changed.
        beat: called between the steps (heartbeat).
        shown: show progress on stderr.
    """
    begun = time.perf_counter()
    scratch = replace(hand, model=hand.model.copy())
    rig = build(replace(options.without_bus(), faults=()), scratch, Channel.local(CYCLES))
    steps = list(_steps(rig))
    beside = _compile_plant_beside(hand) if options.bus is None and plant_is_cold() else None
    if beside is not None:  # all but the plant and what needs it first, meanwhile
        steps = [*steps[1:6], (_PLANT, lambda: _join(beside, beat)), steps[0], *steps[6:]]
    progress = Progress(len(steps), shown)
    for k, (name, call) in enumerate(steps, start=1):
        progress.step(k, name)
        call()
        beat()
    progress.close()
    rig.bus.close()
    return time.perf_counter() - begun


def plant_is_cold() -> bool:
    """Whether the plant's step is in no cache yet."""
    import sim.cycle
    from signals.compiled import cache_root, closure_hash

    folder = cache_root() / closure_hash(Path(sim.cycle.__file__))
    return not any(folder.rglob("cycle.advance_at-*.nbi"))


def _keeps_files() -> bool:
    """Whether the compile cache takes files: else nobody gets what another process compiles."""
    from signals.compiled import cache_root

    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _compile_plant_beside(hand: Hand) -> subprocess.Popen[bytes] | None:
    """A process that compiles the plant of a hand into the cache; ``None``: one core, or no cache."""
    if (os.cpu_count() or 1) < 2 or hand.mechanism is not None or not _keeps_files():
        return None
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "runtime.warmup", str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _join(process: subprocess.Popen[bytes], beat: Callable[[], None]) -> None:
    """Wait for the plant's process; if it fails the next step compiles what is missing."""
    end = time.monotonic() + _PLANT_BUDGET_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
        beat()
    if process.poll() is None:
        process.kill()
        process.wait()


def main() -> None:
    """Compile the plant beside a cold start, and end with it; the code is the same for every hand."""
    if not die_with_parent(int(sys.argv[1]), signal.SIGTERM):
        return
    options = RunOptions(hand="finger_bench", lockstep=True, seconds=1.0)
    rig = build(options, read_hand(options), Channel.local(CYCLES))
    next(_steps(rig))[1]()
    rig.bus.close()


if __name__ == "__main__":
    main()
