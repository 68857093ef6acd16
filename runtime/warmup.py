"""Every compiled function is called once before a loop starts: nothing compiles, loads or faults in a cycle.

The calls run on a hand of their own (scratch records, own plant), so that the real one is untouched. Cold,
they compile for most of a minute and a line on stderr says how far they are; warm, they take a second.
Numba compiles one function at a time, so a cold start shares its parts among processes, one a core: they meet
in the cache. Estimator, controller and guard are compiled for the whole tick alone, which is optimised once.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from select import select
from types import ModuleType
from typing import IO, Any, Final, cast

import numpy as np
from numba import typeof

import runtime.entries
import sim.cycle
from controllers.tick import CONTROLLER_MEMORY, control
from estimators.tick import ESTIMATOR_MEMORY, estimate
from guard.detectors import detect
from guard.guard import GUARD_MEMORY, guard
from hand.hand import Hand
from hand.mechanism_file import is_mechanism_hand
from hand.options import RunOptions
from runtime.effort import IDLE_S, Effort
from runtime.entries import address_of, take_at, tick_at
from runtime.realtime import die_with_parent
from runtime.setup import Rig, build, prepare, read_hand
from runtime.stretch import load
from signals.clock import new_timespec, now_ns, wait_until
from signals.faults import Cause
from signals.records import COMMAND, GOAL, MEASUREMENT, MODEL, STATE, new
from telemetry.shm.channel import Channel
from telemetry.shm.segment import post

CYCLES = 100
"""Cycles of the scratch hand, so that branch predictors, caches and the stack are warm too."""
_SHOW_AFTER_S = 2.0
_PLANT, _ESTIMATOR, _CONTROLLER = "plant and homing", "estimator", "controller"
_DETECTORS, _GUARD = "detectors", "guard"
_STAGES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    _ESTIMATOR: (estimate, (MODEL, MEASUREMENT, ESTIMATOR_MEMORY, STATE)),
    _CONTROLLER: (control, (MODEL, GOAL, CONTROLLER_MEMORY, STATE, COMMAND)),
    _DETECTORS: (detect, (MODEL, GUARD_MEMORY, MEASUREMENT, STATE)),
    _GUARD: (guard, (MODEL, GOAL, MEASUREMENT, GUARD_MEMORY, STATE, COMMAND)),
}
"""Law and records of each stage; the guard's greatest part, which takes records and no arrays, before it."""
_SHARES = {2: ((_DETECTORS, _CONTROLLER, _PLANT),), 3: ((_DETECTORS, _CONTROLLER), (_PLANT,))}
"""Cores -> what other processes compile, balanced by measured times; four and more: each its own."""
_MOST_SHARES = ((_PLANT,), (_DETECTORS,), (_CONTROLLER,))
_BEGUN: Final[dict[str, subprocess.Popen[bytes]]] = {}
"""Part -> process that compiles it; forks of the process that began them know them too."""
_LOOK_S: Final = 0.05


class Progress:
    """``compiling n of m ...`` on stderr, only when it takes long enough to wonder."""

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._begun, self._shown, self._drawn = total, time.monotonic(), shown, False

    def step(self, index: int, name: str) -> None:
        """Say what comes next."""
        if self._shown and time.monotonic() - self._begun > _SHOW_AFTER_S:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"compiling {index} of {self._total}: {name:<24}", end=end, file=sys.stderr, flush=True)
            self._drawn = True

    def close(self) -> None:
        """Remove the line."""
        if self._drawn and sys.stderr.isatty():
            print(" " * 60, end="\r", file=sys.stderr, flush=True)


def _mailbox() -> None:
    lock, words, target = np.zeros(1, np.uint64), np.zeros(GOAL.itemsize // 8, np.uint64), new(GOAL)
    post(lock, words, target.view(np.uint64))
    take_at(address_of(lock), address_of(words), address_of(target), 0)


def _compile_stage(name: str) -> None:
    """A stage of ours for the tick that calls it: for every hand the same."""
    law, records = _STAGES[name]
    arrays = [new(record) for record in records]
    law.inner.compile(tuple(map(typeof, arrays if name != _DETECTORS else [a[0] for a in arrays])))


def _foreign(rig: Rig) -> Iterator[tuple[str, Callable[[], object]]]:
    """Stages that are called one by one."""
    stages, v, model = rig.stages, rig.views, rig.hand.model
    goal, measurement, state, command = v["goal"], v["measurement"], v["state"], v["command"]
    memories = stages.estimator_memory, stages.controller_memory, stages.guard_memory
    yield _ESTIMATOR, lambda: stages.estimate(model, measurement, memories[0], state)
    yield _CONTROLLER, lambda: stages.control(model, goal, memories[1], state, command)
    yield _GUARD, lambda: stages.guard(model, goal, measurement, memories[2], state, command)


def _rest(rig: Rig) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a loop calls besides: small, or made of the parts."""
    pipeline, now = rig.pipeline, now_ns()
    period = round(1e9 / rig.hand.rate_hz)
    yield "ring", lambda: pipeline.channel.leave(pipeline.words)
    yield "mailbox", _mailbox
    yield "clock", lambda: wait_until(now_ns() + 1000, 0, new_timespec())
    if not rig.stages.foreign:
        parts = pipeline.parts_at
        yield "whole tick", lambda: tick_at(parts, 0, now, now, period / 1e9, now, now, 0, 0, 0)


def _cycles(rig: Rig) -> Iterator[tuple[str, Callable[[], object]]]:
    """The loop's own calls."""
    pipeline, now, period = rig.pipeline, now_ns(), round(1e9 / rig.hand.rate_hz)

    def cycles() -> None:
        for k in range(CYCLES):
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
    begin_beside(options)
    if rig.stages.foreign:
        steps = [*_foreign(rig)]
    else:
        cold = [name for name in _cold() if name != _PLANT and name not in _BEGUN]
        steps = [(name, partial(_compile_stage, name)) for name in cold]
    steps += _rest(rig)
    if _PLANT in _BEGUN:
        steps.append((_PLANT, lambda: _join(_BEGUN[_PLANT], beat)))
    steps += [(_PLANT, lambda: prepare(rig, now_ns())), *_cycles(rig)]
    progress = Progress(len(steps), shown)
    for k, (name, call) in enumerate(steps, start=1):
        progress.step(k, name)
        call()
        beat()
    progress.close()
    rig.bus.close()
    return time.perf_counter() - begun


def _cold() -> list[str]:
    """Parts that are in no cache yet."""
    from signals.compiled import cache_root, closure_hash

    def lacks(module: ModuleType, law: str) -> bool:
        source = Path(str(module.__file__))
        return not any((cache_root() / closure_hash(source)).glob(f"{source.stem}.{law}-*.nbi"))

    plant = [_PLANT] if lacks(sim.cycle, "advance_at") else []
    return plant + ([*_STAGES] if lacks(runtime.entries, "tick_at") else [])


def _keeps_files() -> bool:
    """Whether the compile cache takes files: else nobody gets what another process compiles."""
    from signals.compiled import cache_root

    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def begin_beside(options: RunOptions) -> bool:
    """Start the processes that compile cold parts into the cache: at once, before the hand is read.

    Without a second core, or a cache, there are none, and ``warm_up`` compiles all by itself.

    Returns:
        Whether there is something to compile.
    """
    cores = os.cpu_count() or 1
    cold = [] if is_mechanism_hand(options.hand) else _cold()
    if _BEGUN or cores < 2 or options.bus is not None or not _keeps_files():
        return bool(cold)
    for share in _SHARES.get(cores, _MOST_SHARES):
        names = [name for name in share if name in cold]
        if names:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "runtime.warmup", str(os.getpid()), *names],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # its end is the end of the process, for forks too
                stderr=subprocess.DEVNULL,
            )
            _BEGUN.update(dict.fromkeys(names, process))
    return bool(cold)


def _join(process: subprocess.Popen[bytes], beat: Callable[[], None]) -> None:
    """Wait for a process beside as long as it works; if it fails the next step compiles what is missing."""
    effort, pipe = Effort(IDLE_S), cast(IO[bytes], process.stdout)
    while not select([pipe], [], [], _LOOK_S)[0]:
        beat()
        if not effort.look(process.pid):
            process.kill()
            break


def main() -> None:
    """Compile parts beside a cold start, and end with it; the code is the same for every hand."""
    if not die_with_parent(int(sys.argv[1]), signal.SIGTERM):
        return
    gc.set_threshold(100_000, 20, 100)  # as ``tools.cli``: what a compiler makes stays
    for name in sys.argv[2:]:
        if name != _PLANT:
            _compile_stage(name)
            continue
        options = RunOptions(hand="finger_bench", lockstep=True, seconds=1.0)
        rig = build(options, read_hand(options), Channel.local(CYCLES))
        prepare(rig, now_ns())
        rig.bus.close()


if __name__ == "__main__":
    main()
