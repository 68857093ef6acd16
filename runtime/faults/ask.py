"""What ``flexor faults`` is asked for, and its answers: report, lines for people, exit code."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from runtime.faults import rules
from runtime.faults.campaign import Job, Worker, as_dicts, chunks, motions_of, quiet_jobs, results
from runtime.faults.draw import check_kinds, draw, first_trials
from runtime.faults.fault_free import QuietRun
from runtime.faults.judge import Judge, Verdict
from runtime.faults.tally import shares, table, tallies
from runtime.options import RunOptions
from runtime.setup import Hand, read_tendon_hand
from signals.choices import WrongChoice
from signals.names import UnknownName

STOPPED = 130
DRAWN_HANDS = 20
"""Hands of a fault-free run where none are asked for."""


NOTES: Final = "results.jsonl"
"""File in the folder asked for: every result as it comes, so that a campaign that is killed leaves them."""


class Watch(Protocol):
    """Who looks on while a campaign runs."""

    def stopped(self) -> bool:
        """True once the campaign is to end."""
        ...

    def progress(self, title: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Shows how many of a total are done, as it is told."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Arguments of the command."""

    hand: str
    trials: int = 100
    kinds: tuple[str, ...] = ()
    motions: tuple[str, ...] = ()
    seed: int = 0
    hands: int | None = None
    minutes: float = 30.0
    workers: int | None = None
    out: Path | None = None

    @property
    def cores(self) -> int:
        """Worker processes."""
        return self.workers or len(os.sched_getaffinity(0))


@dataclass(slots=True, kw_only=True)
class Answer:
    """What the command says."""

    report: dict[str, Any]
    lines: list[str]
    code: int
    file: str = "faults.json"


def _hand_and_motions(ask: Ask) -> tuple[Hand, tuple[str, ...]]:
    """The hand, and motions that are asked for or possible.

    Raises:
        UnknownName: a motion that the hand cannot make.
    """
    hand = read_tendon_hand(RunOptions(hand=ask.hand))
    legal = motions_of(hand)
    for name in ask.motions:
        if name not in legal:
            raise UnknownName("motion of this hand", name, legal)
    return hand, ask.motions or legal


def _numbers_of_rules() -> dict[str, float]:
    names = [n for n in vars(rules) if n.isupper() and isinstance(getattr(rules, n), float)]
    return {n.lower(): getattr(rules, n) for n in names}


def _head(ask: Ask, hand: Hand, motions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "hand": hand.name,
        "hand_sha256": hand.sha256,
        "motions": list(motions),
        "seed": ask.seed,
        "hands": ask.hands or 1,
        "rules": _numbers_of_rules(),
    }


def _gather(ask: Ask, jobs: list[Job], title: str, total: int, watch: Watch) -> list[Any]:
    """Results of all jobs, or of those that were done before it was stopped; each is noted as it comes."""
    found: list[Any] = []
    with watch.progress(title, total) as told, _notebook(ask.out) as note:
        for some in results(ask.hand, jobs, ask.cores, watch.stopped):
            found += some
            note(some)
            told(len(found))
    return found


@contextmanager
def _notebook(out: Path | None) -> Iterator[Callable[[list[Any]], None]]:
    """Writes results into ``NOTES`` as they come, a line of JSON each; nothing without a folder."""
    if out is None:
        yield lambda _: None
        return
    with (out / NOTES).open("w", encoding="utf-8") as file:

        def note(some: list[Any]) -> None:
            for result in some:
                own = result.as_dict() if isinstance(result, Verdict) else asdict(result)
                file.write(json.dumps(own) + "\n")
            file.flush()

        yield note


def run_trials(ask: Ask, watch: Watch) -> Answer:
    """Trials on all cores.

    Args:
        ask: the arguments.
        watch: who looks on.
    """
    check_kinds(ask.kinds)
    hand, motions = _hand_and_motions(ask)
    wanted = first_trials(ask.trials, ask.seed, hand.names, motions, kinds=ask.kinds, hands=ask.hands or 1)
    begun = time.perf_counter()
    verdicts = _gather(ask, chunks(wanted), "trials", len(wanted), watch)
    elapsed_s = time.perf_counter() - begun
    stopped = len(verdicts) < len(wanted)
    report = _head(ask, hand, motions) | {
        "trials_wanted": len(wanted),
        "trials": len(verdicts),
        "stopped": stopped,
        "elapsed_s": round(elapsed_s, 3),
        "workers": ask.cores,
        "shares": shares(verdicts),
        "kinds": {t.kind: t.as_dict() for t in tallies(verdicts)},
        "breaches": [d for d in as_dicts(verdicts) if d["breaches"]],
        "misnamed": [d for d in as_dicts(verdicts) if d["right"] is False],
        "verdicts": as_dicts(verdicts),
    }
    lines = [f"{hand.name}: {len(verdicts)} of {len(wanted)} trials in {elapsed_s:.0f} s", *table(verdicts)]
    lines += _failures(verdicts)
    if ask.out is not None and verdicts:
        lines += _draw_map(verdicts, motions, hand.name, ask.out / "faults.png")
    broken = any(v.breaches for v in verdicts)
    if stopped:
        lines.append("stopped: results so far")
    return Answer(report=report, lines=lines, code=STOPPED if stopped else int(broken))


SHOWN_FAILURES = 12


def _failures(verdicts: list[Verdict]) -> list[str]:
    """A line per failing trial, the first ones."""
    failing = sorted((v for v in verdicts if v.breaches or v.right is False), key=lambda v: v.trial.seed)
    lines = []
    for v in failing[:SHOWN_FAILURES]:
        what = "; ".join(v.breaches) or f"named {v.cause} {v.part}".rstrip()
        late = f" after {1e3 * v.name_s:.0f} ms" if not v.breaches and v.name_s is not None else ""
        lines.append(f"  --trial {v.trial.seed}  {v.trial.kind} in {v.trial.motion}: {what}{late}")
    if len(failing) > SHOWN_FAILURES:
        lines.append(f"  and {len(failing) - SHOWN_FAILURES} more (--json)")
    return lines


def _draw_map(verdicts: list[Verdict], motions: tuple[str, ...], hand: str, path: Path) -> list[str]:
    from runtime.faults.picture import heat_map

    try:
        heat_map(verdicts, motions, hand, path)
    except ImportError:
        return ["no picture: matplotlib is not installed (pip install 'flexor[report]')"]
    return [f"map: {path}"]


def one_trial(ask: Ask, seed: int) -> Answer:
    """One trial again, with its picture.

    Raises:
        ValueError: the seed is of a kind that the hand has no part for.
    """
    hand, motions = _hand_and_motions(ask)
    trial = draw(seed, hand.names, motions, ask.hands or 1)
    if trial is None:
        raise WrongChoice(f"seed {seed} draws a fault of a part that {hand.name} does not have")
    worker = Worker(hand)
    verdict = worker.judged(trial)
    report = _head(ask, hand, motions) | {"verdict": verdict.as_dict()}
    part = hand.names.of(rules.KINDS[trial.kind].space)[trial.part]
    lines = [
        f"seed {seed}: {trial.kind} of {part} in {trial.motion}, {trial.moment:.3f} of its period, "
        f"size {trial.size:.4g}, hand {trial.mismatch or 'of the file'}",
        f"  named     {verdict.cause} {verdict.part} ({'right' if verdict.right else 'not right'})",
        f"  reaction  {_ms(verdict.react_s)}   name {_ms(verdict.name_s)}",
        f"  tension   {verdict.tension_n:.0f} N at most",
        *(f"  BREACH    {b}" for b in verdict.breaches),
        *(f"  stop      {b}" for b in verdict.unavoidable),
    ]
    if ask.out is not None:
        lines += _draw_trial(worker, verdict, hand, ask.out / f"trial_{seed}.png")
    return Answer(report=report, lines=lines, code=int(bool(verdict.breaches)), file=f"trial_{seed}.json")


def _ms(seconds: float | None) -> str:
    return "never" if seconds is None else f"{1e3 * seconds:.1f} ms"


def _draw_trial(worker: Worker, verdict: Verdict, hand: Hand, path: Path) -> list[str]:
    from runtime.faults.picture import trial_picture

    try:
        trial_picture(verdict, worker.record(verdict.trial), Judge(hand.names, hand.model), path)
    except ImportError:
        return ["no picture: matplotlib is not installed (pip install 'flexor[report]')"]
    return [f"  picture   {path}"]


def fault_free(ask: Ask, watch: Watch) -> Answer:
    """Fault-free motion of drawn hands on all cores; every latched cause is a false alarm.

    Args:
        ask: the arguments.
        watch: who looks on.
    """
    ask = replace(ask, hands=ask.hands or DRAWN_HANDS)
    hand, motions = _hand_and_motions(ask)
    jobs = quiet_jobs(motions, ask.hands or DRAWN_HANDS, ask.minutes)
    begun = time.perf_counter()
    runs: list[QuietRun] = _gather(ask, jobs, "fault-free", len(jobs), watch)
    elapsed_s = time.perf_counter() - begun
    stopped = len(runs) < len(jobs)
    runs.sort(key=lambda r: (r.mismatch, motions.index(r.motion)))
    alarmed = [r for r in runs if r.alarms]
    minutes = sum(r.seconds for r in runs) / 60.0
    report = _head(ask, hand, motions) | {
        "minutes": round(minutes, 3),
        "stopped": stopped,
        "elapsed_s": round(elapsed_s, 3),
        "workers": ask.cores,
        "false_alarms": sum(len(r.alarms) for r in runs),
        "shares": {"alarm_free": 1.0 - len(alarmed) / len(runs) if runs else None},
        "runs": [asdict(r) for r in runs],
    }
    lines = [
        f"{hand.name}: {minutes:.1f} min of fault-free motion, {ask.hands} hands, {len(runs)} runs "
        f"in {elapsed_s:.0f} s",
        *_by_motion(runs, motions),
        f"  false alarms: {report['false_alarms']} in {len(alarmed)} runs",
        *(
            f"    {r.motion}, hand {r.mismatch}: {a['text']}"
            for r in alarmed[:SHOWN_FAILURES]
            for a in r.alarms[:1]
        ),
    ]
    if stopped:
        lines.append("stopped: results so far")
    return Answer(report=report, lines=lines, code=STOPPED if stopped else int(bool(alarmed)))


def _by_motion(runs: list[QuietRun], motions: tuple[str, ...]) -> list[str]:
    width = max(len(m) for m in motions)
    lines = [f"  {'motion':<{width}}  runs  alarms  tension N        residual mm  contact N"]
    for motion in motions:
        own = [r for r in runs if r.motion == motion]
        if own:
            low, high = min(r.tension_n[0] for r in own), max(r.tension_n[1] for r in own)
            residual = 1e3 * max(max(r.residual_m) for r in own)
            alarms = sum(bool(r.alarms) for r in own)
            contact = max(r.contact_n for r in own)
            lines.append(
                f"  {motion:<{width}}  {len(own):4d}  {alarms:6d}  {low:6.1f} to {high:6.1f}"
                f"  {residual:11.2f}  {contact:9.1f}"
            )
    return lines
