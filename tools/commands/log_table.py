"""Signals of a log as one table: a column for each part, with its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from reports.parquet import Table
from signals.names import UnknownName
from signals.table import TABLE


def table_of(
    log: Any, signals: list[str] | None, begin_s: float = 0.0, end_s: float | None = None, every: int = 1
) -> Table:
    """Title -> values of shape (rows,); the first is ``time_s``, from the log's first frame.

    Args:
        log: as ``read_log`` gives it.
        signals: ``record.signal`` or ``record.signal/name``; ``None``: all.
        begin_s: first time.
        end_s: last time; ``None``: the log's end.
        every: every n-th frame.

    Raises:
        UnknownName: there is no such signal, or no such part.
    """
    times = log.frames["state"]["time_ns"]
    seconds = (times - (times[0] if len(times) else 0)) / 1e9
    inside = (seconds >= begin_s) & (seconds <= (np.inf if end_s is None else end_s))
    chosen = np.flatnonzero(inside)[::every]
    legal = [f"{r}.{n}" for r in log.frames.dtype.names for n in log.frames.dtype[r].names]
    table = {"time_s": seconds[chosen]}
    for wanted in legal if signals is None else signals:
        if wanted.partition("/")[0] not in legal:
            raise UnknownName("signal", wanted.partition("/")[0], tuple(legal))
        table |= {title: values[chosen] for title, values in _parts(log, wanted).items()}
    return table


def _parts(log: Any, wanted: str) -> Table:
    """Columns of one signal, all frames."""
    signal, _, part = wanted.partition("/")
    record, _, name = signal.partition(".")
    data = log.frames[record][name]
    if data.ndim == 1:
        return {signal: data}
    flat = data.reshape(len(data), int(np.prod(data.shape[1:])))
    dims = next((s.dims for s in TABLE.get(record, ()) if s.name == name), ())
    names = log.run.get(f"names.{dims[0]}", "").split() if len(dims) == 1 else []
    names = names if len(names) == flat.shape[1] else [str(k) for k in range(flat.shape[1])]
    if part and part not in names:
        raise UnknownName(dims[0] if dims else "part", part, tuple(names))
    return {f"{signal}/{label}": flat[:, k] for k, label in enumerate(names) if part in ("", label)}
