"""Messages of a hand as Python values."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from signals.faults import Cause
from signals.modes import MachineState, Mode

_NAMES: Final[dict[str, type[IntEnum]]] = {
    "machine": MachineState,
    "mode": Mode,
    "fault": Cause,
    "finger": MachineState,
    "finger_mode": Mode,
    "cause": Cause,
}
"""Keys of a view whose numbers are codes -> their names."""


class Code(int):
    """A code that knows its name: ``view.machine == "active"``, ``view.machine.name``, ``view.machine == 3``.

    Attributes:
        name: as ``meta["codes"]`` has it; states and modes in lower case, causes in upper case.
    """

    name: str

    def __new__(cls, value: int, kind: type[IntEnum]) -> Code:
        """A code of a kind; one that this version does not know has its number as name."""
        code = super().__new__(cls, value)
        known = kind(value).name if value in kind._value2member_map_ else str(value)
        code.name = known if kind is Cause else known.lower()
        return code

    def __eq__(self, other: object) -> bool:
        """Equal to its number and, in any letter case, to its name."""
        return other.lower() == self.name.lower() if isinstance(other, str) else int(self) == other

    def __hash__(self) -> int:
        """As its number."""
        return int(self)

    def __str__(self) -> str:
        """Its name."""
        return self.name


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
        for key, kind in _NAMES.items():
            found = values.get(key)
            if isinstance(found, dict):
                self[key] = {name: Code(code, kind) for name, code in found.items()}
            elif found is not None:
                self[key] = Code(found, kind)
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


def columns_of(batches: list[NDArray[Any]], meta: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Batches of ``raw`` as columns with names: ``tension/index_1`` and so on.

    Args:
        batches: as ``rows_as_array`` makes them, in order.
        meta: of the hand, for the names.
    """
    found: dict[str, NDArray[Any]] = {}
    for key in batches[0].dtype.names or ():
        values = np.concatenate([batch[key] for batch in batches])
        if values.ndim == 1:
            found[key] = values
            continue
        parts = meta["names"][meta["keys"][key]["space"]]
        found |= {f"{key}/{name}": np.ascontiguousarray(values[:, k]) for k, name in enumerate(parts)}
    return found
