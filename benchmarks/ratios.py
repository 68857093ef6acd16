"""Paired ratios: on a shared machine a microsecond means nothing, a ratio of neighbours in time does.

In every round all participants run one after the other; a ratio is taken within its round, so that the
machine's slow changes cancel. The result is the median over the rounds with a bootstrap interval; a bound
counts as missed only if the whole interval lies above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from signals.layout import FloatArray

RESAMPLES: Final = 4000
SEED: Final = 20240229
LEVEL: Final = 0.95
LEAST_ROUNDS: Final = 6
"""With fewer values no interval of their median reaches 95 %: all lie on one side in 2 of 2^n cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Median of per-round ratios with its 95 % interval, beside a bound."""

    name: str
    median: float
    low: float
    high: float
    rounds: int
    bound: float | None = None

    @property
    def missed(self) -> bool:
        """The bound is missed: the whole interval lies above it, and there are rounds enough to say so."""
        return self.judged and self.bound is not None and self.low > self.bound

    @property
    def judged(self) -> bool:
        """There are rounds enough for a verdict."""
        return self.rounds >= LEAST_ROUNDS

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "judged": self.judged, "missed": self.missed}


def median_interval(values: Sequence[float] | FloatArray) -> tuple[float, float, float]:
    """(median, low, high): percentile bootstrap of the median at 95 %.

    Raises:
        ValueError: without values, or with one that is not finite.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size == 0 or not np.isfinite(sample).all():
        raise ValueError(f"{sample.size} values, all must be finite and at least one there")
    rng = np.random.default_rng(SEED)
    drawn = sample[rng.integers(0, sample.size, size=(RESAMPLES, sample.size))]
    low, high = np.quantile(np.median(drawn, axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.median(sample)), float(low), float(high)


def paired(
    name: str, ours: Sequence[float], theirs: Sequence[float], bound: float | None = None
) -> Ratio | None:
    """Ratio of two participants; rounds in which either has no positive value are left out.

    Returns:
        ``None`` if no round is left.
    """
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a >= 0.0 and b > 0.0]
    if not pairs:
        return None
    median, low, high = median_interval([a / b for a, b in pairs])
    return Ratio(name=name, median=median, low=low, high=high, rounds=len(pairs), bound=bound)


def share(count: int, of: int) -> float:
    """Share of rare events, with half an event added so that a round without any still has a ratio."""
    return (count + 0.5) / max(of, 1)


def company_ratio(alone: Ratio, together: Ratio, resolution: float = 0.0) -> dict[str, Any]:
    """Is a ratio worse in company by more than the width of its own interval?

    Args:
        alone: the ratio without company.
        together: the same in company.
        resolution: smallest difference that the yardstick can tell apart, as a ratio; a width below it
            is taken as this.
    """
    shift, width = together.median - alone.median, max(together.width, resolution)
    return {
        "name": together.name,
        "alone": alone.median,
        "together": together.median,
        "shift": shift,
        "width": width,
        "judged": together.judged,
        "missed": together.judged and shift > width * (1.0 + 1e-9),
    }
