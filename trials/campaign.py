"""Many trials on all cores: worker processes keep their hands in motion, results come as they are done."""

from __future__ import annotations

import os
import signal
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import active_children, get_context
from typing import Any, Final

from hand.file.errors import MotionFileError
from hand.file.text import hold, texts_read
from hand.hand import Hand
from hand.motion.load import load_motion, shipped_motions
from hand.options import RunOptions
from runtime.realtime import die_with_parent, quiet
from runtime.setup import read_hand
from signals.layout import FloatArray
from telemetry.shm.channel import Channel
from trials.client import CommandedScene
from trials.fault_free import QuietRun, quiet_run
from trials.judge import Judge, Verdict
from trials.limits import Limits
from trials.record import Recording
from trials.scene import SLOTS, Scene
from trials.trial import CLIENT, OTHER_NOISE, Trial

BENCHES: Final = 16
"""Hands in motion that a worker keeps; each has a few MB of states."""
TWINS: Final = 8
"""Runs without the fault, with different noise, that a hit of a hard stop is compared with: a finger that
slips on an object does so at a moment that the least change shifts."""
HANDS_APART: Final = 10_000
"""Between the first drawn hands of two seeds of fault-free runs."""
CHUNK: Final = 12
"""Trials on the same hand and motion that a worker takes at a time."""
POLL_S: Final = 0.1
"""Between two looks whether to stop: a signal may come to a thread that does not wake this one."""


class WorkerDied(RuntimeError):
    """A worker process was killed from outside, and nobody asked the campaign to stop."""


def motions_of(hand: Hand) -> tuple[str, ...]:
    """Shipped motions that the hand can make with all its tendons on."""
    found = []
    for name in shipped_motions():
        try:
            motion = load_motion(name, hand.names, hand.model)
        except MotionFileError:
            continue
        if not motion.tendons_off:
            found.append(name)
    return tuple(found)


class Worker:
    """Does trials in this process.

    Args:
        hand: the hand, read.
    """

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.channel = Channel.local(SLOTS, window=round(hand.rate_hz))
        self._benches: OrderedDict[tuple[str, int], Scene] = OrderedDict()

    def scene(self, motion: str, mismatch: int) -> Scene:
        """The hand on a motion, from the store or made now."""
        key = (motion, mismatch)
        if key in self._benches:
            self._benches.move_to_end(key)
            return self._benches[key]
        if motion == CLIENT:
            made: Scene = CommandedScene(self.hand, mismatch=mismatch)
        else:
            made = Scene(self.hand, motion, mismatch=mismatch, channel=self.channel)
        made.keep_states()
        self._benches[key] = made
        if len(self._benches) > BENCHES:
            self._benches.popitem(last=False)
        return made

    def record(
        self,
        trial: Trial,
        *,
        with_fault: bool = True,
        brake: FloatArray | None = None,
        brake_after_s: float = 0.0,
        until_s: float | None = None,
        held: bool = False,
    ) -> Recording:
        """Recording of a trial, as ``Scene.run_trial``."""
        scene = self.scene(trial.motion, trial.mismatch)
        return scene.run_trial(
            trial, with_fault=with_fault, brake=brake, brake_after_s=brake_after_s, until_s=until_s, held=held
        )

    def twin(self, trial: Trial, until_s: float) -> Recording:
        """Recording of a trial without its fault, up to a time [s]."""
        return self.record(trial, with_fault=False, until_s=until_s)

    def judged(self, trial: Trial) -> Verdict:
        """Verdict on a trial."""
        if not trial.faults:
            limits = Limits(self.hand.names, self.hand.model)
            return limits.judge_whole(
                trial,
                self.record(trial),
                lambda: self.record(trial, held=True),
                lambda brake, after_s: self.record(trial, brake=brake, brake_after_s=after_s),
            )
        judge = Judge(self.hand.names, self.hand.model)
        return judge.judge(
            trial,
            self.record(trial),
            tuple(
                partial(self.twin, replace(trial, seed=trial.seed + k * OTHER_NOISE)) for k in range(TWINS)
            ),
            lambda brake, after_s, until_s: self.record(
                trial, brake=brake, brake_after_s=after_s, until_s=until_s
            ),
        )

    def quiet(self, motion: str, mismatch: int, seconds: float) -> QuietRun:
        """A fault-free run of a fresh hand."""
        scene = Scene(self.hand, motion, mismatch=mismatch, seed=mismatch, channel=self.channel)
        return quiet_run(scene, seconds, mismatch)


@dataclass(frozen=True, slots=True)
class QuietJob:
    """One fault-free run."""

    motion: str
    mismatch: int
    seconds: float


Job = list[Trial] | QuietJob
Result = Verdict | QuietRun
_worker: Worker | None = None


def _begin(hand: str, parent: int, texts: dict[str, str]) -> None:
    """Start of a worker process; it never outlives its parent."""
    global _worker
    if not die_with_parent(parent, signal.SIGKILL):
        os._exit(1)
    hold(texts)
    _worker = Worker(read_hand(RunOptions(hand=hand)))


@contextmanager
def _interrupts_for_parent() -> Iterator[None]:
    """Processes that begin inside never see the signals of a terminal: those are their parent's.

    Held back, not ignored: what comes meanwhile reaches the parent afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do(job: Job) -> list[Result]:
    assert _worker is not None  # _begin ran first
    with quiet():
        if isinstance(job, QuietJob):
            return [_worker.quiet(job.motion, job.mismatch, job.seconds)]
        return [_worker.judged(trial) for trial in job]


def chunks(trials: Iterable[Trial], size: int = CHUNK) -> list[Job]:
    """Trials grouped by what a worker has to set up for them.

    Jobs go by their first trial, so that those that are done when a run is stopped are spread over all
    motions, and near enough those that were drawn first.
    """
    groups: dict[tuple[str, int], list[Trial]] = {}
    jobs: list[Job] = []
    for trial in trials:
        group = groups.get((trial.motion, trial.mismatch))
        if group is None or len(group) == size:
            group = groups[trial.motion, trial.mismatch] = []
            jobs.append(group)
        group.append(trial)
    return jobs


def results(hand: str, jobs: list[Job], workers: int, stopped: Callable[[], bool]) -> Iterator[list[Result]]:
    """Results of every job as it is done, in no certain order.

    Once it is stopped the workers are killed in the midst of their jobs; what was done before has come.

    Args:
        hand: name or path of the hand file.
        jobs: what to do.
        workers: worker processes.
        stopped: asked every ``POLL_S``; the work ends once it says True.

    Raises:
        WorkerDied: a worker was killed, by the kernel for want of memory for one.
    """
    context = get_context("spawn")
    begin, others = (hand, os.getpid(), texts_read()), set(active_children())
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=begin) as pool:
        with _interrupts_for_parent():
            pending: set[Future[list[Result]]] = {pool.submit(_do, job) for job in jobs}
        try:
            while pending and not stopped():
                done, pending = wait(pending, POLL_S, FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            # a signal to the whole group, as a service's or a container's end sends it, may reach them first
            if not _soon(stopped):
                raise WorkerDied(
                    "a worker process was killed from outside, or by the kernel for want of memory; "
                    "fewer --workers need less. With --out, what was done is in results.jsonl"
                ) from None
        finally:
            if pending:
                for worker in set(active_children()) - others:
                    worker.kill()
                pool.shutdown(cancel_futures=True)


def _soon(stopped: Callable[[], bool]) -> bool:
    """Whether it says so within a few looks."""
    until = time.monotonic() + 5.0 * POLL_S
    while not stopped():
        if time.monotonic() > until:
            return False
        time.sleep(0.1 * POLL_S)
    return True


def quiet_jobs(motions: tuple[str, ...], hands: int, minutes: float, seed: int) -> list[QuietJob]:
    """Fault-free runs of every motion by every drawn hand that take ``minutes`` together.

    Hands and their noise are those from ``seed`` times ``HANDS_APART`` on.
    """
    seconds, first = 60.0 * minutes / (hands * len(motions)), seed * HANDS_APART + 1
    return [QuietJob(motion, drawn, seconds) for drawn in range(first, first + hands) for motion in motions]


def as_dicts(found: Iterable[Verdict]) -> list[dict[str, Any]]:
    """For JSON, by rising seed."""
    return [v.as_dict() for v in sorted(found, key=lambda v: v.trial.seed)]
