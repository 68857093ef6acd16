"""kill -9 of control, io or supervisor at random moments: ``kill_anything.py [--moments N] [--seed K]``.

Drives and plant live in a process of their own (the emulated board with its own watchdog, as in ``flexor
emulate``); every trial starts ``flexor run --bus`` against it and kills one of its processes, somewhere from
its birth to mid-motion. Judged by plant and board, on the board's own clock: the motors' true torque is zero
within the watchdog's time of the last command, and that command comes in the time that the death of this
process may take to be noticed. No process stays, no shared memory stays, the next start is clean. Exit code
1 if a rule is broken; ``--json`` gives every trial.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.watched_board import Board
from runtime.processes.phases import STOP_BUDGET_S, Exit
from signals.faults import Cause
from sim.emulators.collector import IDLE_STEP_NS
from telemetry.shm.segment import Segment, SegmentError
from tests.rigs.runs import Run, alive, blocks

HAND = "finger_bench"
VICTIMS = ("control", "io", "supervisor")
WATCHDOG_MS = 20.0
GRID_MS = 3 * IDLE_STEP_NS / 1e6
"""The emulated board looks once per step, and a command acts from the next step to the one after it."""
LAST_COMMAND_MS = {"control": 5.0, "io": 1000.0 * STOP_BUDGET_S, "supervisor": 1000.0 * STOP_BUDGET_S}
"""Longest time from the kill to the last command: a datagram in flight, or the stop sequence."""
CODE = {"control": Exit.CONTROL_LOST, "io": Exit.IO_LOST, "supervisor": -signal.SIGKILL}
GONE_S = 10.0
START_S = 300.0
"""A cold start compiles."""
END_S = 60.0
TRIES = 3
"""A computer that stands still for some ms makes a fault of a sound run; not three times in a row."""
MOTION_S = 2.0
"""Moments in mid-motion: up to this long after the loop has begun."""
START_SHARE = 0.4
"""Share of the moments that lie between the birth of the process and the first cycle."""
UNCLEAN = "the start was not clean: the hand is not under torque"
TAG = "KILL_ANYTHING_TRIAL"
"""Variable in the environment of every process of a run: finds those too that lost their parent."""


# --- one trial -----------------------------------------------------------------------------------------


@dataclass
class Trial:
    """What one kill did."""

    number: int
    victim: str
    after: str
    """The moment counts from here: ``birth`` of the victim, or the beginning of the ``motion``."""
    moment_s: float
    phase: str = ""
    """Where control stood."""
    was_on: bool = False
    off_ms: float = 0.0
    """Kill to the last true torque; 0: there was none any more."""
    last_command_ms: float = 0.0
    """Kill to the last command at the board; 0: none came any more."""
    silent_ms: float = 0.0
    """Last command to the last true torque, stalls of the board's own process taken off."""
    stalled_ms: float = 0.0
    gone_s: float = 0.0
    faults: list[str] = field(default_factory=list)
    """What the hand itself had latched before the kill."""
    voids: list[str] = field(default_factory=list)
    """Tries in which the hand had a fault before the kill and was not in motion, as on a busy computer."""
    broken: list[str] = field(default_factory=list)


def tagged(tag: str) -> list[int]:
    """Processes of a run that have not ended, whoever their parent is now."""
    wanted, found = f"{TAG}={tag}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0") and alive(int(folder.name)):
                found.append(int(folder.name))
    return found


def phase_of(run: Run) -> str:
    """Where control stands; empty before and after the shared memory."""
    with suppress(ValueError):  # the block is just being made
        return run.phase()
    return ""


def latched(run: Run) -> list[str]:
    """Causes that the running hand shows in its newest frame."""
    for name in blocks(run.pid):
        with suppress(SegmentError, ValueError):
            segment = Segment.attach(name)
            head = int(segment.field("head")[0])
            frames: Any = segment.reader(start=max(head - 1, 0)).read() if head else []
            for frame in frames[-1:]:
                state = frame["state"]
                codes = {int(c) for c in (*state["finger_cause"].ravel(), *state["hand_cause"].ravel())}
                return [Cause(c).name for c in sorted(codes) if c]
    return []


def wait_for(what: Any, within_s: float, run: Run) -> Any:
    """First true value of ``what()`` while the run lives."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and run.process.poll() is None:
        found = what()
        if found:
            return found
        time.sleep(0.01)
    return None


def victim_of(run: Run, name: str) -> int:
    """Process id of a part of the run; waits for its birth."""
    if name == "supervisor":
        return run.pid

    def born() -> int | None:
        try:
            return run.children().get(name)
        except OSError:
            return None

    pid = wait_for(born, START_S, run)
    if pid is None:
        raise AssertionError(f"{name} was never born")
    return int(pid)


def begin(port_base: int, bus_file: str, tag: str, *words: str) -> Run:
    """Start a run whose processes can be told from all others."""
    os.environ[TAG] = tag
    try:
        return Run(port_base, "--bus", bus_file, *words)
    finally:
        del os.environ[TAG]


def one(trial: Trial, board: Board, port_base: int, orphans: list[str]) -> None:
    """Start, kill, judge. ``orphans``: shared memory that the next start has to remove; is renewed."""
    tag = uuid.uuid4().hex
    board.ask("renew")
    run = begin(port_base, board.bus_file, tag, "--motion", "open_close", "--for", "60")
    try:
        pid = victim_of(run, trial.victim)
        if trial.after == "motion":
            if not wait_for(lambda: phase_of(run) == "RUNNING", START_S, run):
                trial.broken.append("it did not start")
        time.sleep(trial.moment_s)
        before = board.ask("look")
        trial.phase, trial.was_on = phase_of(run) or "NONE", bool(before["torque_nm"] > 0.0)
        trial.faults = latched(run)
        if trial.after == "motion" and trial.moment_s > 0.5 and not trial.was_on:
            trial.broken.append(UNCLEAN)
        killed_ns = time.monotonic_ns()
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            trial.broken.append(f"it ended by itself before it was killed: {trial.faults or 'no fault'}")
        _wait_until_gone(trial, run, tag, killed_ns)
        _judge_torque(trial, board, killed_ns)
        _judge_end(trial, run, orphans)
    finally:
        for left in tagged(tag):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
        run.process.kill()
        run.process.wait()


def _wait_until_gone(trial: Trial, run: Run, tag: str, killed_ns: int) -> None:
    until = time.monotonic() + GONE_S
    while True:
        run.process.poll()
        left = tagged(tag)
        trial.gone_s = (time.monotonic_ns() - killed_ns) / 1e9
        if not left:
            return
        if time.monotonic() > until:
            names = [Path(f"/proc/{p}/cmdline").read_text().replace("\0", " ")[:60] for p in left]
            trial.broken.append(f"orphans after {GONE_S:g} s: {names}")
            return
        time.sleep(0.05)


def _judge_torque(trial: Trial, board: Board, killed_ns: int) -> None:
    time.sleep((WATCHDOG_MS + GRID_MS) / 1e3)
    seen = board.ask("look")
    fed_ns, pulled_ns = seen["fed_ns"], seen["pulled_ns"]

    def stalled_ns(begin_ns: int, end_ns: int) -> int:
        return sum(max(min(e, end_ns) - max(b, begin_ns), 0) for b, e in seen["stalls"])

    trial.stalled_ms = stalled_ns(killed_ns, max(fed_ns, pulled_ns)) / 1e6
    trial.off_ms = max(pulled_ns - killed_ns, 0) / 1e6
    trial.last_command_ms = max(fed_ns - killed_ns - stalled_ns(killed_ns, fed_ns), 0) / 1e6
    trial.silent_ms = max(pulled_ns - fed_ns - stalled_ns(fed_ns, pulled_ns), 0) / 1e6
    if seen["torque_nm"] > 0.0 or seen["armed"]:
        trial.broken.append(f"still {seen['torque_nm']:.3f} N m when all was over")
    if trial.silent_ms > WATCHDOG_MS + GRID_MS:
        trial.broken.append(f"torque for {trial.silent_ms:.1f} ms without a command")
    if trial.last_command_ms > LAST_COMMAND_MS[trial.victim]:
        trial.broken.append(f"commands for {trial.last_command_ms:.0f} ms after the kill")


def _judge_end(trial: Trial, run: Run, orphans: list[str]) -> None:
    code, report, err = run.end(END_S)
    if code != CODE[trial.victim]:
        trial.broken.append(f"exit code {code} in place of {int(CODE[trial.victim])}: {err[-300:]}")
    if trial.victim != "supervisor" and not report.get("ended", {}).get("why", "").endswith(" lost"):
        trial.broken.append(f"the report does not name it: {report.get('ended')}")
    removed = [w for w in err.split() if w in orphans]
    if removed != orphans and trial.phase != "NONE":
        trial.broken.append(f"not removed by this start: {orphans}")
    left = blocks(run.pid)
    nobody_left = trial.victim == "supervisor" and trial.phase in ("NONE", "STARTING")
    if left and not nobody_left:
        trial.broken.append(f"shared memory stays: {left}")
    orphans[:] = left


# --- all of them ------------------------------------------------------------------------------------------


def drawn(moments: int, seed: int, start_s: float) -> list[Trial]:
    """Victims and moments of a seed; a start takes ``start_s``."""
    rng, trials = random.Random(seed), []
    victims = [VICTIMS[k % len(VICTIMS)] for k in range(moments)]
    rng.shuffle(victims)
    for k, victim in enumerate(victims):
        starting, share = rng.random() < START_SHARE, rng.random()
        after, whole_s = ("birth", start_s) if starting else ("motion", MOTION_S)
        trials.append(Trial(k, victim, after, round(share * whole_s, 3)))
    return trials


def whole_run(board: Board, port_base: int) -> tuple[list[str], float]:
    """A run that nobody kills: what is wrong with it, and how long it took to start [s]."""
    board.ask("renew")
    begun = time.monotonic()
    run = begin(port_base, board.bus_file, "whole", "--motion", "open_close", "--for", "1")
    try:
        started = wait_for(lambda: phase_of(run) == "RUNNING", START_S, run)
        start_s = time.monotonic() - begun
        code, report, err = run.end(END_S)
    finally:
        run.process.kill()
        run.process.wait()
    good = started and code == Exit.GOOD and not blocks(run.pid)
    return ([] if good else [f"exit code {code}: {report.get('ended')} {err[-300:]}"]), start_s


def table(trials: list[Trial]) -> str:
    """Victim by stage: worst figures."""
    head = ("victim", "killed", "moments", "under torque", "off ms", "silent ms", "gone s", "broken")
    lines = ["{:<11}{:<9}{:>8}{:>14}{:>16}{:>11}{:>14}{:>8}".format(*head)]
    for victim in VICTIMS:
        for after in ("birth", "motion"):
            some = [t for t in trials if (t.victim, t.after) == (victim, after)]
            if not some:
                continue
            off, gone = [t.off_ms for t in some], [t.gone_s for t in some]
            lines.append(
                f"{victim:<11}{'starting' if after == 'birth' else 'moving':<9}{len(some):>8}"
                f"{sum(t.was_on for t in some):>14}{np.median(off):>9.1f} /{max(off):>5.0f}"
                f"{max(t.silent_ms for t in some):>11.1f}{np.median(gone):>8.2f} /{max(gone):>4.1f}"
                f"{sum(bool(t.broken) for t in some):>8}"
            )
    lines += [
        f"{t.number}: {t.victim} {t.moment_s} s after {t.after}: {w} {t.faults or ''}"
        for t in trials
        for w in t.broken
    ]
    lines += [f"{t.number}: void, tried again: {w}" for t in trials for w in t.voids]
    return "\n".join([*lines, f"torque may last {WATCHDOG_MS + GRID_MS:g} ms after the last command"])


def killed(
    moments: int, seed: int, port_base: int, tell: Any = lambda _: None, start_s: float = 0.0
) -> tuple[list[Trial], list[str]]:
    """All trials, and what was wrong with the whole runs before and after them.

    Args:
        moments: how many.
        seed: of victims and moments.
        port_base: for the runs.
        tell: called with a line after each.
        start_s: how long a start takes; 0: a whole run is made first, which shows it.
    """
    with tempfile.TemporaryDirectory(prefix="kill-anything-") as folder:
        board = Board(HAND, folder, WATCHDOG_MS)
        try:
            wrong: list[str] = []
            if not start_s:
                whole_run(board, port_base)  # on a fresh tree it compiles, for a minute that is no start
                wrong, start_s = whole_run(board, port_base)
            trials, orphans = drawn(moments, seed, start_s), list[str]()
            for k, trial in enumerate(trials):
                for _ in range(TRIES):
                    one(trial, board, port_base, orphans)
                    if trial.broken != [UNCLEAN] or not trial.faults:
                        break
                    voids = [*trial.voids, f"{', '.join(trial.faults)}: {'; '.join(trial.broken)}"]
                    if len(voids) < TRIES:
                        trial = trials[k] = replace(drawn(moments, seed, start_s)[k], voids=voids)
                done = f"{trial.number + 1}/{moments}  {sum(bool(t.broken) for t in trials)} broken"
                tell(f"{done}  {trial.victim} while {trial.phase.lower()} {' '.join(trial.broken)}")
            ends = [whole_run(board, port_base)[0]]
            while ends[-1] and len(ends) < TRIES:
                ends.append(whole_run(board, port_base)[0])
            wrong += ends[-1]
            wrong += [f"shared memory stays: {o}" for o in orphans if Path("/dev/shm", o).exists()]
        finally:
            board.close()
    return trials, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port-base", type=int, default=24_680)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()

    def tell(text: str) -> None:
        end = "   \r" if sys.stderr.isatty() else "\n"
        print(f"{time.monotonic() - begun:5.0f} s  {text}", end=end, file=sys.stderr, flush=True)

    begun = time.monotonic()
    trials, wrong = killed(given.moments, given.seed, given.port_base, tell)
    broken = sum(bool(t.broken) for t in trials) + len(wrong)
    if given.json:
        found = {"moments": len(trials), "broken": broken, "whole_runs": wrong}
        print(json.dumps(found | {"trials": [asdict(t) for t in trials]}, indent=1))
    else:
        print(table(trials), *wrong, f"{len(trials)} moments, {broken} broken", sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
