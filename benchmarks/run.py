"""What each bench does from start to end, as one JSON object; the commands only print it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import hot, kernel, lean, native, rounds, side_by_side, soak, stages
from benchmarks.canned import Canned, can
from benchmarks.facts import busy_notice, facts
from benchmarks.ratios import LEAST_ROUNDS
from benchmarks.same_commands import difference
from hand.file.text import read_once
from hand.options import RunOptions
from runtime.setup import read_hand
from runtime.warmup import warm_up
from signals.choices import WrongChoice

Tell = Callable[[str], None]
CALIBRATED_FOR = ("hasy", "open_close")
ENOUGH_ROUNDS = 30


@dataclass(frozen=True, slots=True)
class Equal:
    """How much work the reference tick does, and whether that is the hand's."""

    channels: int
    calibrated: bool
    sentence: str


def equal_work(options: RunOptions) -> Equal:
    """The reference tick for a hand and a motion; calibrated for those of the gate only.

    Raises:
        WrongChoice: no gate file says how many channels make the tick's work.
    """
    gate = kernel.load_gate()
    chosen = (options.hand, options.motion)
    if gate is None:
        raise WrongChoice(f"{kernel.gate_path()} is missing; flexor bench kernel --accept writes it anew")
    if chosen != (gate.hand, gate.motion):
        said = f"calibrated for {gate.hand} {gate.motion}, not for this: its ratios have no bound"
        return Equal(gate.reference_channels, False, said)
    ratio = gate.reference_instructions_per_tick / gate.instructions_per_tick
    return Equal(gate.reference_channels, True, f"{ratio:.3f} times the tick's instructions by callgrind")


def _few(count: int, tell: Tell) -> None:
    if count < LEAST_ROUNDS:
        tell(f"{count} rounds give no verdict; {LEAST_ROUNDS} give a rough one, {ENOUGH_ROUNDS} a good one")


def _warm(options: RunOptions, tell: Tell) -> float:
    hand = read_hand(options)
    seconds = warm_up(options, hand)
    tell(f"{hand.name}: everything compiled or loaded in {seconds:.1f} s")
    if notice := busy_notice():
        tell(notice)
    return hand.rate_hz


@read_once()
def loop(
    options: RunOptions,
    count: int,
    seconds: float,
    tell: Tell,
    *,
    company: bool = False,
    only: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Interleaved rounds: yardsticks and the runtime, plain and hybrid, alone and in company.

    Args:
        options: hand and motion.
        count: rounds.
        seconds: length of each turn [s].
        tell: where progress and notices go.
        company: the runtime also with everything that listens to it.
        only: names of ``rounds.NAMES`` in the place of the usual ones.
    """
    about = facts()
    rate_hz = _warm(options, tell)
    work = equal_work(options)
    place = rounds.default_place(rate_hz, seconds, work.channels)
    turns, notices = rounds.participants(place, options, only or rounds.usual(company=company))
    for notice in notices:
        tell(notice)
    _few(count, tell)
    measured = rounds.measure(turns, count, tell, notices)
    found = rounds.ratios(measured, equal_work=work.calibrated)
    together = rounds.in_company(found, measured)
    late = rounds.pooled_late(measured)
    return {
        "bench": "loop",
        "facts": about,
        "hand": options.hand,
        "motion": options.motion,
        "rounds": count,
        "seconds": seconds,
        "participants": {n: {**_medians(s), **late[n]} for n, s in measured.slices.items()},
        "by_round": {n: [s.summary() for s in all_] for n, all_ in measured.slices.items()},
        "ratios": [r.to_dict() for r in found],
        "company": together,
        "reference": asdict(work),
        "notices": measured.notices,
        "missed": [r.name for r in found if r.missed] + [c["name"] for c in together if c["missed"]],
    }


def _medians(slices: list[Any]) -> dict[str, Any]:
    rows = [s.summary() for s in slices]
    keys = [k for k, v in rows[0].items() if isinstance(v, float)]
    return {k: round(float(np.median([row[k] for row in rows])), 3) for k in keys}


def tick(options: RunOptions, count: int, ticks: int, tell: Tell) -> dict[str, Any]:
    """The tick beside the reference tick, hot and after a sleep."""
    about = facts()
    _warm(options, tell)
    work = equal_work(options)
    _few(count, tell)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "canned.npz"
        can(options).save(path)
        measured = hot.run(path, work.channels, count, ticks)
    found = hot.ratios(measured["medians_ns"], equal_work=work.calibrated)
    return {
        "bench": "tick",
        "facts": about,
        "hand": options.hand,
        "motion": options.motion,
        "rounds": count,
        "ticks": ticks,
        "reference": asdict(work),
        "medians_us": {k: round(float(np.median(v)) / 1e3, 3) for k, v in measured["medians_ns"].items()},
        "medians_ns_by_round": measured["medians_ns"],
        "realtime": measured["realtime"],
        "ratios": [r.to_dict() for r in found],
        "missed": [r.name for r in found if r.missed],
    }


def count(options: RunOptions, repeats: int, tell: Tell, *, accept: bool = False) -> dict[str, Any]:
    """Instructions per tick beside the gate; with ``accept`` the gate is written anew.

    Raises:
        CannotCount: without valgrind.
        ValueError: a count to accept is not of the hand and motion that the gate is for.
    """
    chosen = (options.hand, options.motion)
    if accept and chosen != CALIBRATED_FOR:
        raise WrongChoice(f"the gate is for {' '.join(CALIBRATED_FOR)}; --accept without --hand and --motion")
    gate = kernel.load_gate()
    channels = gate.reference_channels if gate else 0
    if gate is not None and chosen != (gate.hand, gate.motion):
        gate = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "canned.npz"
        canned = can(options)
        canned.save(path)
        counts = []
        for k in range(repeats):
            counts.append(kernel.count_tick(path))
            tell(f"count {k + 1}/{repeats}: {counts[-1].mean:.1f} instructions per tick")
        beside = _beside_lean(canned, path) if chosen == CALIBRATED_FOR and native.compiler() else None
    counts.sort(key=lambda c: c.mean)
    counted, means = counts[len(counts) // 2], [c.mean for c in counts]
    mine = counted.mean
    reference: float | None = None
    if native.compiler() is not None and (accept or channels):
        channels, reference = (
            kernel.calibrated_channels(mine) if accept else (channels, kernel.count_reference(channels))
        )
    if accept:
        gate = _new_gate(options, counted, channels, reference, beside)
        tell(f"gate written: {kernel.save_gate(gate)}")
    held, said = kernel.judge(gate, counted, reference)
    missed = ([] if held else ["instructions per tick"]) + _missed_beside(mine, beside)
    return {
        "bench": "kernel",
        "hand": options.hand,
        "motion": options.motion,
        "instructions_per_tick": mine,
        "counts": means,
        "spread_frac": (means[-1] - means[0]) / mine,
        "p99": counted.p99,
        "worst": counted.worst,
        "stages": dict(counted.costs.steps.most_common()),
        "laws": dict(counted.costs.laws.most_common()),
        "library": dict(counted.costs.library.most_common()),
        "reference_channels": channels,
        "reference_instructions_per_tick": reference,
        "versions": kernel.versions(),
        "held": held,
        "said": said,
        "lean": beside,
        "missed": missed,
    }


def _new_gate(
    options: RunOptions,
    counted: kernel.Count,
    channels: int,
    reference: float | None,
    beside: dict[str, Any] | None,
) -> kernel.Gate:
    return kernel.Gate(
        hand=options.hand,
        motion=str(options.motion),
        instructions_per_tick=round(counted.mean, 1),
        reference_channels=channels,
        reference_instructions_per_tick=round(reference or 0.0, 1),
        versions=kernel.versions(),
        p99=counted.p99,
        worst=counted.worst,
        stages=kernel.sorted_counts(counted.costs.steps),
        laws=kernel.sorted_counts(counted.costs.laws),
        lean_instructions_per_tick=round(beside["instructions_per_tick"], 1) if beside else 0.0,
    )


def _missed_beside(mine: float, beside: dict[str, Any] | None) -> list[str]:
    """Bounds beside the lean tick that are missed; its ratio into ``beside``."""
    if beside is None:
        return []
    beside["ratio"] = mine / beside["instructions_per_tick"]
    missed = ["instructions beside the lean tick"] if beside["ratio"] > lean.RATIO_BOUND else []
    if beside["instructions_per_tick"] > lean.MOST or not beside["commands_differ"] <= lean.SAME:
        missed.append("lean tick: too much work, or other commands")
    return missed + (["time beside the lean tick"] if beside["time"] and beside["time"]["missed"] else [])


def _beside_lean(canned: Canned, path: Path) -> dict[str, Any]:
    """Instructions and commands of the lean tick over a canned stretch, and the time of ours beside it."""
    stretch = path.with_suffix(".bytes")
    lean.write_stretch(canned, stretch)
    ticker = lean.Lean(canned)
    away = difference(canned.model[0], canned.commands, ticker.run(len(canned.commands)), 0)
    ratio = lean.time_beside(path)
    return {
        "instructions_per_tick": kernel.count_lean(stretch, len(canned.commands)),
        "commands_differ": away.share,
        "unhealthy": ticker.unhealthy,
        "time": ratio.to_dict() if ratio else None,
    }


def stage_table(options: RunOptions, count: int, cycles: int, tell: Tell) -> dict[str, Any]:
    """Where the lockstep time goes."""
    about = facts()
    _warm(replace(options, lockstep=True, seconds=1.0), tell)
    table = stages.measure(options, count, cycles, tell)
    head = {"bench": "stages", "facts": about, "hand": options.hand, "motion": options.motion}
    missed = ["real_time_factor"] if table.missed else []
    return {**head, "rounds": count, **table.to_dict(), "missed": missed}


def lockstep(options: RunOptions, count: int, cycles: int, hands: int, tell: Tell) -> dict[str, Any]:
    """One hand beside real time, and hands side by side."""
    about = facts()
    _warm(replace(options, lockstep=True, seconds=1.0), tell)
    found = side_by_side.measure(options, count, cycles, hands, tell)
    head = {"bench": "lockstep", "facts": about, "hand": options.hand, "motion": options.motion}
    return {**head, "rounds": count, **found}


def growing(count: int, cycles: int, out: Path | None, tell: Tell) -> dict[str, Any]:
    """Cost by tendons, rate and hands; a picture into ``out``."""
    from benchmarks import growth  # with MuJoCo

    about = facts()
    _warm(RunOptions(hand=growth.HAND, lockstep=True, seconds=1.0), tell)
    result = {"bench": "growth", "facts": about, "rounds": count, **growth.measure(count, cycles, tell)}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        growth.draw(result, out / "growth.png")
        result["picture"] = str(out / "growth.png")
    return result


@read_once()
def long_run(options: RunOptions, seconds: float, tell: Tell) -> dict[str, Any]:
    """The whole program under load for a long time."""
    about = facts()
    rate_hz = _warm(options, tell)
    result = soak.soak(options, rate_hz, seconds, tell)
    return {"bench": "soak", "facts": about, **result, "missed": result["broken"]}
