"""Tables as Parquet files, for pandas, polars and DuckDB (extra ``parquet``)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reports.files import whole
from signals.choices import WrongChoice
from signals.extras import how_to_get

Table = dict[str, NDArray[Any]]
"""Title of a column -> values, shape (rows,)."""


def by_part(title: str, parts: list[str] | tuple[str, ...], values: NDArray[Any]) -> Table:
    """A column for each part of a signal: ``title/part``; values have shape (rows, parts)."""
    return {f"{title}/{part}": column for part, column in zip(parts, np.asarray(values).T, strict=True)}


def parquet_is_here() -> bool:
    """The extra is installed."""
    return find_spec("pyarrow") is not None


def write_parquet(path: Path, table: Table, facts: dict[str, str]) -> None:
    """Write a table; a file of that name is replaced when the new one is whole.

    Args:
        path: file to write.
        table: its columns.
        facts: about it, kept in the file's metadata.

    Raises:
        WrongChoice: pyarrow is not installed.
        OSError: the file cannot be written; none is left behind.
    """
    if not parquet_is_here():
        raise WrongChoice(f"{path.name} needs pyarrow: {how_to_get('pyarrow')}")
    import pyarrow
    import pyarrow.parquet

    kept = pyarrow.table({title: np.ascontiguousarray(values) for title, values in table.items()})
    kept = kept.replace_schema_metadata({f"flexor.{key}": text for key, text in facts.items()})
    with whole(path) as unfinished:
        pyarrow.parquet.write_table(kept, unfinished, compression="zstd")
