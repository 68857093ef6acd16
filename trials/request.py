"""What ``flexor faults`` is asked for, and its answers: report, lines for people, exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from hand.hand import Hand, read_tendon_hand
from hand.options import RunOptions
from signals.choices import WrongChoice
from signals.extras import no_picture
from signals.names import UnknownName
from trials import rules
from trials.campaign import Job, Worker, as_dicts, chunks, motions_of, quiet_jobs, results
from trials.campaigns import SINGLE, draws_of, kinds_of
from trials.draw import check_kinds, first_trials
from trials.fault_free import QuietRun, by_motion
from trials.judge import Judge, Verdict
from trials.notes import laws, notebook, noted
from trials.tally import shares, table, tallies
from trials.trial import CLIENT, Trial

STOPPED = 130
DRAWN_HANDS = 20
"""Hands of a fault-free run where none are asked for,"""
QUIET_MINUTES = 30.0
"""and simulated time in all."""


class Watch(Protocol):
    """Who looks on while a campaign runs."""

    def stopped(self) -> bool:
        """True once the campaign is to end."""
        ...

    def progress(self, title: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Shows how many of a total are done, as it is told."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRequest:
    """Arguments of the command."""

    hand: str
    trials: int = 100
    kinds: tuple[str, ...] = ()
    motions: tuple[str, ...] = ()
    seed: int = 0
    campaign: str = SINGLE
    hands: int | None = None
    minutes: float | None = None
    workers: int | None = None
    out: Path | None = None

    @property
    def cores(self) -> int:
        """Worker processes."""
        return self.workers or len(os.sched_getaffinity(0))


@dataclass(slots=True, kw_only=True)
class CampaignResult:
    """What the command says."""

    report: dict[str, Any]
    lines: list[str]
    code: int
    file: str = "faults.json"


def _hand_and_motions(request: CampaignRequest) -> tuple[Hand, tuple[str, ...]]:
    """The hand, and motions that are asked for or possible.

    Raises:
        UnknownName: a motion that the hand cannot make.
    """
    hand = read_tendon_hand(RunOptions(hand=request.hand))
    legal = motions_of(hand)
    for name in request.motions:
        if name not in legal:
            raise UnknownName("motion of this hand", name, legal)
    return hand, request.motions or legal


def _numbers_of_rules() -> dict[str, float]:
    names = [n for n in vars(rules) if n.isupper() and isinstance(getattr(rules, n), float)]
    return {n.lower(): getattr(rules, n) for n in names}


def _head(request: CampaignRequest, hand: Hand, motions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "hand": hand.name,
        "hand_sha256": hand.sha256,
        "motions": list(motions),
        "seed": request.seed,
        "campaign": request.campaign,
        "hands": request.hands or 1,
        "rules": _numbers_of_rules(),
    }


def _left(
    request: CampaignRequest, head: dict[str, Any], wanted: list[Trial]
) -> tuple[list[Verdict], list[Trial]]:
    """Verdicts that an earlier run left, and the trials that are left to do."""
    kept = noted(request.out, head | {"laws": laws()})
    done = {v.trial: v for v in kept if isinstance(v, Verdict)}
    return [done[t] for t in wanted if t in done], [t for t in wanted if t not in done]


def _gather(
    request: CampaignRequest, jobs: list[Job], title: str, before: list[Any], watch: Watch
) -> list[Any]:
    """Results of all jobs, or of those that were done before it was stopped; each is noted as it comes.

    Args:
        request: the arguments.
        jobs: what is left to do.
        title: what is counted.
        before: results that an earlier run left.
        watch: who looks on.
    """
    found = list(before)
    total = len(before) + sum(len(job) if isinstance(job, list) else 1 for job in jobs)
    with watch.progress(title, total) as told, notebook(request.out) as note:
        for some in results(request.hand, jobs, request.cores, watch.stopped):
            found += some
            note(some)
            told(len(found))
    return found


def run_trials(request: CampaignRequest, watch: Watch) -> CampaignResult:
    """Trials on all cores.

    Args:
        request: the arguments.
        watch: who looks on.
    """
    check_kinds(request.kinds, kinds_of(request.campaign))
    hand, motions = _hand_and_motions(request)
    wanted = first_trials(
        request.trials,
        request.seed,
        hand.names,
        motions,
        kinds=request.kinds,
        hands=request.hands or 1,
        draws=draws_of(request.campaign, hand, motions, request.hands or 1),
    )
    before, left = _left(request, _head(request, hand, motions), wanted)
    begun = time.perf_counter()
    verdicts = _gather(request, chunks(left), "trials", before, watch)
    elapsed_s = time.perf_counter() - begun
    stopped = len(verdicts) < len(wanted)
    report = _head(request, hand, motions) | {
        "trials_wanted": len(wanted),
        "trials": len(verdicts),
        "stopped": stopped,
        "elapsed_s": round(elapsed_s, 3),
        "workers": request.cores,
        "shares": shares(verdicts),
        "kinds": {t.kind: t.as_dict() for t in tallies(verdicts)},
        "breaches": [d for d in as_dicts(verdicts) if d["breaches"]],
        "misnamed": [d for d in as_dicts(verdicts) if d["right"] is False],
        "verdicts": as_dicts(verdicts),
    }
    lines = [f"{hand.name}: {len(verdicts)} of {len(wanted)} trials in {elapsed_s:.0f} s", *table(verdicts)]
    lines += _failures(verdicts)
    if request.out is not None and verdicts:
        lines += _draw_map(verdicts, (*motions, CLIENT), hand.name, request.out / "faults.png")
    broken = any(v.breaches for v in verdicts)
    if stopped:
        lines.append("stopped: results so far")
    return CampaignResult(report=report, lines=lines, code=STOPPED if stopped else int(broken))


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
    from trials.picture import heat_map

    try:
        heat_map(verdicts, motions, hand, path)
    except ImportError:
        return [no_picture()]
    return [f"map: {path}"]


def one_trial(request: CampaignRequest, seed: int) -> CampaignResult:
    """One trial again, with its picture.

    Raises:
        ValueError: the seed is of a kind that the hand has no part for.
    """
    hand, motions = _hand_and_motions(request)
    trial = draws_of(request.campaign, hand, motions, request.hands or 1)(seed)
    if trial is None:
        raise WrongChoice(f"seed {seed} draws a fault of a part that {hand.name} does not have")
    worker = Worker(hand)
    verdict = worker.judged(trial)
    report = _head(request, hand, motions) | {"verdict": verdict.as_dict()}
    lines = [
        f"seed {seed}: {trial.text(hand.names)} in {trial.motion}, {trial.moment:.3f} of its period, "
        f"hand {trial.mismatch or 'of the file'}",
        f"  named     {verdict.cause} {verdict.part} ({'right' if verdict.right else 'not right'})",
        f"  reaction  {_ms(verdict.react_s)}   name {_ms(verdict.name_s)}",
        f"  tension   {verdict.tension_n:.0f} N at most",
        *(f"  BREACH    {b}" for b in verdict.breaches),
        *(f"  stop      {b}" for b in verdict.unavoidable),
    ]
    if request.out is not None:
        lines += _draw_trial(worker, verdict, hand, request.out / f"trial_{seed}.png")
    return CampaignResult(
        report=report, lines=lines, code=int(bool(verdict.breaches)), file=f"trial_{seed}.json"
    )


def _ms(seconds: float | None) -> str:
    return "never" if seconds is None else f"{1e3 * seconds:.1f} ms"


def _draw_trial(worker: Worker, verdict: Verdict, hand: Hand, path: Path) -> list[str]:
    from trials.picture import trial_picture

    try:
        trial_picture(verdict, worker.record(verdict.trial), Judge(hand.names, hand.model), path)
    except ImportError:
        return [no_picture()]
    return [f"  picture   {path}"]


def fault_free(request: CampaignRequest, watch: Watch) -> CampaignResult:
    """Fault-free motion of drawn hands on all cores; every latched cause is a false alarm.

    Args:
        request: the arguments.
        watch: who looks on.
    """
    request = replace(request, hands=request.hands or DRAWN_HANDS, campaign="none")
    hand, motions = _hand_and_motions(request)
    wanted = request.minutes or QUIET_MINUTES
    jobs = quiet_jobs(motions, request.hands or DRAWN_HANDS, wanted, request.seed)
    kept = noted(request.out, _head(request, hand, motions) | {"laws": laws(), "minutes": wanted})
    before = [r for r in kept if isinstance(r, QuietRun)]
    done = {(r.motion, r.mismatch) for r in before}
    left: list[Job] = [j for j in jobs if (j.motion, j.mismatch) not in done]
    begun = time.perf_counter()
    runs: list[QuietRun] = _gather(request, left, "fault-free", before, watch)
    elapsed_s = time.perf_counter() - begun
    stopped = len(runs) < len(jobs)
    runs.sort(key=lambda r: (r.mismatch, motions.index(r.motion)))
    alarmed = [r for r in runs if r.alarms]
    minutes = sum(r.seconds for r in runs) / 60.0
    report = _head(request, hand, motions) | {
        "minutes": round(minutes, 3),
        "stopped": stopped,
        "elapsed_s": round(elapsed_s, 3),
        "workers": request.cores,
        "false_alarms": sum(len(r.alarms) for r in runs),
        "shares": {"alarm_free": 1.0 - len(alarmed) / len(runs) if runs else None},
        "runs": [asdict(r) for r in runs],
    }
    lines = [
        f"{hand.name}: {minutes:.1f} min of fault-free motion, {request.hands} hands, {len(runs)} runs "
        f"in {elapsed_s:.0f} s",
        *by_motion(runs, motions),
        f"  false alarms: {report['false_alarms']} in {len(alarmed)} runs",
        *(
            f"    {r.motion}, hand {r.mismatch}: {a['text']}"
            for r in alarmed[:SHOWN_FAILURES]
            for a in r.alarms[:1]
        ),
    ]
    if stopped:
        lines.append("stopped: results so far")
    return CampaignResult(report=report, lines=lines, code=STOPPED if stopped else int(bool(alarmed)))
