"""Results of many trials: figures by kind, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trials.rules import KINDS, REACT_S
from trials.stops import EXCHANGE, WHIP
from trials.verdict import Verdict


@dataclass(slots=True)
class Tally:
    """Figures of one kind of fault."""

    kind: str
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def trials(self) -> int:
        """Trials."""
        return len(self.verdicts)

    @property
    def shown(self) -> list[Verdict]:
        """Trials whose fault could be observed."""
        return [v for v in self.verdicts if v.shown]

    @property
    def breached(self) -> list[Verdict]:
        """Trials that broke a rule."""
        return [v for v in self.verdicts if v.breaches]

    @property
    def safe_share(self) -> float | None:
        """Share of trials without a breach."""
        return None if not self.verdicts else 1.0 - len(self.breached) / self.trials

    @property
    def right_share(self) -> float | None:
        """Share of the trials with a judged name whose cause and part were right and in time."""
        named = [v.right for v in self.verdicts if v.right is not None]
        return sum(named) / len(named) if named else None

    @property
    def reacted_share(self) -> float | None:
        """Share of the observed faults that have to be reacted to and were, in time."""
        times = [v.react_s for v in self.shown if v.must_react]
        return sum(t is not None and t <= REACT_S for t in times) / len(times) if times else None

    def times_ms(self, which: str) -> tuple[float, float] | None:
        """(median, worst) of ``react_s`` or ``name_s`` [ms] over the observed faults that have one."""
        found = [1e3 * t for v in self.shown if (t := getattr(v, which)) is not None]
        return (float(np.median(found)), max(found)) if found else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        react, name = self.times_ms("react_s"), self.times_ms("name_s")
        return {
            "trials": self.trials,
            "shown": len(self.shown),
            "safe_share": self.safe_share,
            "reacted_in_time_share": self.reacted_share,
            "named_right_share": self.right_share,
            "react_ms": react and {"median": react[0], "worst": react[1], "limit": 1e3 * REACT_S},
            "name_ms": name and {"median": name[0], "worst": name[1], "limit": 1e3 * KINDS[self.kind].name_s},
            "breaches": len(self.breached),
            "breach_seeds": sorted(v.trial.seed for v in self.breached),
            "misnamed_seeds": sorted(v.trial.seed for v in self.verdicts if v.right is False),
            "unavoidable_stops": sum(bool(v.unavoidable) for v in self.verdicts),
            "unavoidable_hits": sum(len(v.unavoidable) for v in self.verdicts),
            "unavoidable_whips": sum(WHIP in text for v in self.verdicts for text in v.unavoidable),
            "unavoidable_exchanges": sum(EXCHANGE in text for v in self.verdicts for text in v.unavoidable),
            "tension_max_n": max((v.tension_n for v in self.verdicts), default=0.0),
        }


def tallies(verdicts: Iterable[Verdict]) -> list[Tally]:
    """Figures by kind, in the order of the rules."""
    by_kind = {kind: Tally(kind) for kind in KINDS}
    for v in sorted(verdicts, key=lambda v: v.trial.kind):
        by_kind.setdefault(v.trial.kind, Tally(v.trial.kind)).verdicts.append(v)
    return [t for t in by_kind.values() if t.verdicts]


def shares(verdicts: list[Verdict]) -> dict[str, float | None]:
    """Shares over all kinds: safe, reacted in time, named right in time, and both; for JSON."""
    asked = [v for v in verdicts if v.shown and v.must_react]
    in_time = [v.react_s is not None and v.react_s <= REACT_S for v in asked]
    named = [v.right for v in verdicts if v.right is not None]
    both = [ok and v.right is not False for ok, v in zip(in_time, asked, strict=True)]
    return {
        "safe": 1.0 - sum(bool(v.breaches) for v in verdicts) / len(verdicts) if verdicts else None,
        "reacted_in_time": sum(in_time) / len(in_time) if in_time else None,
        "named_right_in_time": sum(named) / len(named) if named else None,
        "reacted_and_named_in_time": sum(both) / len(both) if both else None,
    }


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100.0 * value:.1f}"


def _times(pair: tuple[float, float] | None) -> str:
    return "-" if pair is None else f"{pair[0]:.0f} / {pair[1]:.0f}"


HEAD = ("kind", "trials", "shown", "safe %", "named %", "react ms", "name ms", "breaches", "stops")


def table(verdicts: Iterable[Verdict]) -> list[str]:
    """Lines of a table: medians / worst times, breaches, hard stops that no command could have prevented."""
    rows = [HEAD]
    found = tallies(verdicts)
    for t in found:
        stops = sum(bool(v.unavoidable) for v in t.verdicts)
        rows.append(
            (
                t.kind,
                str(t.trials),
                str(len(t.shown)),
                _share(t.safe_share),
                _share(t.right_share),
                _times(t.times_ms("react_s")),
                _times(t.times_ms("name_s")),
                str(len(t.breached)),
                str(stops),
            )
        )
    widths = [max(len(r[c]) for r in rows) for c in range(len(HEAD))]
    lines = []
    for r in rows:
        cells = [r[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(r[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines


def cells(verdicts: Iterable[Verdict], motions: tuple[str, ...]) -> tuple[list[str], Any, Any]:
    """(kinds, share of good trials, trials) by kind and motion, arrays of shape (kinds, motions).

    A trial is good if it broke no rule and was not named wrong. Cells without a trial are NaN.
    """
    found = tallies(verdicts)
    good = np.zeros((len(found), len(motions)))
    count = np.zeros((len(found), len(motions)), dtype=int)
    for row, t in enumerate(found):
        for v in t.verdicts:
            column = motions.index(v.trial.motion)
            count[row, column] += 1
            good[row, column] += not v.breaches and v.right is not False
    with np.errstate(invalid="ignore"):
        share = np.where(count > 0, good / np.maximum(count, 1), np.nan)
    return [t.kind for t in found], share, count
