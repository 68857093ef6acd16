"""What one participant delivers in one round: its wake-ups and its responses, after the deadline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from signals.layout import IntArray

Int64s = IntArray


@dataclass(slots=True)
class Slice:
    """One participant's turn.

    Attributes:
        wake_ns: wake-up after the deadline, shape (cycles,) [ns]; with ``weights`` one entry a bin.
        response_ns: end of the tick after the deadline [ns]; ``None`` for participants without a tick.
        period_ns: period of the grid.
        missed: slots skipped.
        weights: how often each entry was seen; ``None``: once.
        notes: what went wrong or was refused.
        extra: figures that only this participant has.
    """

    wake_ns: NDArray[Any]
    response_ns: NDArray[Any] | None
    period_ns: float
    missed: int = 0
    weights: Int64s | None = None
    notes: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """Cycles served."""
        return len(self.wake_ns) if self.weights is None else int(self.weights.sum())

    @property
    def late(self) -> int:
        """Wake-ups a period or more late."""
        late = self.wake_ns >= self.period_ns
        return int(late.sum() if self.weights is None else self.weights[late].sum())

    def wake_us(self, fraction: float) -> float:
        """Percentile of the wake-up [us]."""
        return percentile(self.wake_ns, fraction, self.weights) / 1e3

    def response_us(self, fraction: float) -> float:
        """Percentile of the response [us]; not a number where there is no tick."""
        if self.response_ns is None:
            return float("nan")
        return percentile(self.response_ns, fraction, None) / 1e3

    def summary(self) -> dict[str, Any]:
        """Figures for the report."""
        out: dict[str, Any] = {"cycles": self.cycles, "missed": self.missed, "late": self.late}
        for name, fraction in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)):
            out[f"wake_{name}_us"] = round(self.wake_us(fraction), 3)
            if self.response_ns is not None:
                out[f"response_{name}_us"] = round(self.response_us(fraction), 3)
        return {**out, **self.extra, "notes": self.notes}


def percentile(values: NDArray[Any], fraction: float, weights: Int64s | None) -> float:
    """Percentile by the nearest rank, so that it is a value that was seen.

    Raises:
        ValueError: nothing was measured.
    """
    if not len(values):
        raise ValueError("nothing was measured")
    order = np.argsort(values)
    counts = np.ones(len(values), dtype=np.int64) if weights is None else weights[order]
    cumulated = np.cumsum(counts)
    rank = max(1, int(np.ceil(fraction * cumulated[-1])))
    return float(values[order][int(np.searchsorted(cumulated, rank))])
