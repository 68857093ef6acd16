"""Interleaved rounds: everybody runs once a round, each round begins with another one, bounds at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from benchmarks import native
from benchmarks.ratios import Ratio, company_ratio, paired, share
from benchmarks.runtime_loop import run_slice
from benchmarks.slices import Slice
from benchmarks.yardsticks import Place, cyclictest, cyclictest_path, waiter
from hand.options import RunOptions
from runtime.realtime import control_cpu
from signals.names import UnknownName

WAKE_PLAIN: Final = 1.2
WAKE_HYBRID: Final = 0.25
LATE: Final = 2.0
RESPONSE: Final = 1.5
"""Bounds of the ratios; docs/real_time.md says what each means."""
RESOLUTION_US: Final = 1.0
"""Width of a bin of cyclictest."""
ALONE: Final = ("plain", "hybrid")
COMPANY: Final = ("plain_company", "hybrid_company")
NAMES: Final = ("cyclictest", "c_wait", "c_loop", *ALONE, *COMPANY)
"""Everybody who may take part."""

Turn = Callable[[], Slice]
Figure = Callable[[Slice], float]


@dataclass(slots=True)
class Rounds:
    """Slices by participant and round, and what was left out."""

    slices: dict[str, list[Slice]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def values(self, name: str, figure: Callable[[Slice], float]) -> list[float]:
        """A figure of one participant in every round."""
        return [figure(s) for s in self.slices[name]]


def usual(*, company: bool) -> tuple[str, ...]:
    """Who takes part if nobody is named; our C waiter only where there is no cyclictest."""
    yardstick = "cyclictest" if cyclictest_path() else "c_wait"
    return (yardstick, "c_loop", *ALONE, *(COMPANY if company else ()))


def participants(
    place: Place, options: RunOptions, names: tuple[str, ...]
) -> tuple[dict[str, Turn], list[str]]:
    """Who of ``names`` can take part on this machine, and notices about who cannot.

    Raises:
        signals.names.UnknownName: a name is none of ``NAMES``.
    """
    for name in names:
        if name not in NAMES:
            raise UnknownName("participant", name, NAMES)
    turns: dict[str, Turn] = {}
    notices = []
    if not cyclictest_path():
        notices.append(
            "no cyclictest: our C waiter is the yardstick; Debian and Ubuntu: sudo apt install rt-tests"
        )
    elif "cyclictest" in names:
        turns["cyclictest"] = lambda: cyclictest(place)
    try:
        if "c_wait" in names or "c_loop" in names:
            native.build()
        if "c_wait" in names:
            turns["c_wait"] = lambda: waiter(place, False)
        if "c_loop" in names:
            turns["c_loop"] = lambda: waiter(place, True)
    except (native.NoCompiler, native.CompileFailed) as error:
        notices.append(str(error))
    for name in (*ALONE, *COMPANY):
        if name in names:
            wait, _, company = name.partition("_")
            turns[name] = _turn(options, place, hybrid=wait == "hybrid", company=bool(company))
    return turns, notices


def _turn(options: RunOptions, place: Place, *, hybrid: bool, company: bool) -> Turn:
    chosen = replace(options, hybrid=hybrid)
    return lambda: run_slice(chosen, place.rate_hz, place.seconds, company=company)


def measure(
    turns: dict[str, Turn], rounds: int, tell: Callable[[str], None], notices: list[str] | None = None
) -> Rounds:
    """Run the rounds; the order turns by one each round, so that nobody always comes first."""
    result = Rounds({name: [] for name in turns}, list(notices or []))
    names, begun = list(turns), time.monotonic()
    for k in range(rounds):
        order = names[k % len(names) :] + names[: k % len(names)]
        seen = {}
        for name in order:
            seen[name] = turns[name]()
        for name in names:
            result.slices[name].append(seen[name])
        line = ", ".join(f"{n} {seen[n].wake_us(0.99):.1f}" for n in names)
        left_s = (time.monotonic() - begun) / (k + 1) * (rounds - k - 1)
        tell(f"round {k + 1}/{rounds} ({left_s / 60:.0f} min left): wake p99 [us] {line}")
    return result


def yardstick(rounds: Rounds) -> str | None:
    """Whose wake-ups the runtime's are compared with: cyclictest's, or our C waiter's."""
    return next((name for name in ("cyclictest", "c_wait") if rounds.slices.get(name)), None)


def _wake_p50(turn: Slice) -> float:
    return turn.wake_us(0.5)


def _wake_p99(turn: Slice) -> float:
    return turn.wake_us(0.99)


def _late(turn: Slice) -> float:
    # per slot, not per cycle: skipped slots must not make the share of late ones look better or worse
    return share(turn.late, turn.cycles + turn.missed)


def _response_p50(turn: Slice) -> float:
    return turn.response_us(0.5)


def _response_p99(turn: Slice) -> float:
    return turn.response_us(0.99)


def _compared(
    wait: str, base: str | None, equal_work: bool
) -> list[tuple[str, str | None, Figure, float | None]]:
    """(label, with whom, figure, bound) of everything that a plain or a hybrid loop is compared in."""
    plain = wait == "plain"
    return [
        ("wake p99", base, _wake_p99, WAKE_PLAIN if plain else WAKE_HYBRID),
        ("late", base, _late, LATE),
        ("response p50", "c_loop", _response_p50, RESPONSE if plain and equal_work else None),
        ("wake p50", base, _wake_p50, None),
        ("response p99", "c_loop", _response_p99, None),
    ]


def ratios(rounds: Rounds, *, equal_work: bool = True) -> list[Ratio]:
    """All paired ratios that these rounds allow, with their bounds.

    Args:
        rounds: what was measured.
        equal_work: the C loop's tick has as many instructions as the hand's; else its ratios have no bound.
    """
    found: list[Ratio | None] = []
    base = yardstick(rounds)
    for name in rounds.slices:
        wait = name.partition("_")[0]
        if wait not in ("plain", "hybrid"):
            continue
        for label, other, figure, bound in _compared(wait, base, equal_work):
            if other is not None and rounds.slices.get(other):
                ours, theirs = rounds.values(name, figure), rounds.values(other, figure)
                found.append(paired(f"{name} {label} / {other}", ours, theirs, bound))
    if base == "cyclictest" and rounds.slices.get("c_wait"):
        ours, theirs = rounds.values("c_wait", _wake_p99), rounds.values(base, _wake_p99)
        found.append(paired("c_wait wake p99 / cyclictest", ours, theirs))
    return [r for r in found if r is not None]


def in_company(found: list[Ratio], rounds: Rounds) -> list[dict[str, Any]]:
    """Every bounded ratio of the company beside the same one alone.

    The yardstick's resolution is the least width: a bin of cyclictest, and for rare events one event a round.
    """
    by_name = {r.name: r for r in found}
    base = yardstick(rounds)
    least = {"wake": 0.0, "late": 0.0, "response": 0.0}
    if base is not None:
        least["wake"] = RESOLUTION_US / min(rounds.values(base, _wake_p99))
        least["late"] = 1.0 / (float(np.median(rounds.values(base, lambda s: s.late))) + 0.5)
    out = []
    for ratio in found:
        alone = by_name.get(ratio.name.replace("_company", "", 1))
        if "_company" in ratio.name and alone is not None and alone.bound is not None:
            out.append(company_ratio(alone, ratio, least[ratio.name.split()[1]]))
    return out


def pooled_late(rounds: Rounds) -> dict[str, dict[str, int]]:
    """Late and missed cycles of all rounds together."""
    return {
        name: {
            "cycles": sum(s.cycles for s in all_),
            "late": sum(s.late for s in all_),
            "missed": sum(s.missed for s in all_),
        }
        for name, all_ in rounds.slices.items()
    }


def default_place(rate_hz: float, seconds: float, channels: int) -> Place:
    """Core of the loop, for everybody."""
    cpu = control_cpu()
    return Place(cpu=0 if cpu is None else cpu, rate_hz=rate_hz, seconds=seconds, channels=channels)
