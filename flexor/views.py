"""Messages of a hand as Python values."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray


class View(dict[str, Any]):
    """One ``hand/v1/view`` message; keys are attributes too: ``view.tension["index_1"]``.

    Attributes:
        skipped: older messages that were passed over to get to this one.
        lost: messages that never arrived since the last one (gaps in ``seq``).
    """

    skipped: int
    lost: int

    def __init__(self, values: dict[str, Any], skipped: int = 0, lost: int = 0) -> None:
        super().__init__(values)
        object.__setattr__(self, "skipped", skipped)
        object.__setattr__(self, "lost", lost)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no key {name!r} in the view; it has {', '.join(self)}") from None

    @property
    def age_s(self) -> float:
        """Time since the control tick by the wall clocks of both machines [s]."""
        return time.time() - float(self["timestamp"])


_SCALARS = {"timestamp": "f8", "seq": "u8", "tick": "u8"}


def rows_as_array(rows: list[dict[str, Any]]) -> NDArray[Any]:
    """A ``hand/v1/raw`` batch as one structured array, shape (n,), float32 fields of shape (parts,)."""
    fields: list[Any] = []
    for key, value in rows[0].items():
        fields.append(
            (key, "f4", (len(value),)) if isinstance(value, list) else (key, _SCALARS.get(key, "f8"))
        )
    out = np.zeros(len(rows), dtype=fields)
    for key in rows[0]:
        out[key] = [row[key] for row in rows]
    return out
