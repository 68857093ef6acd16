"""MessagePack rows written as one numpy array: the full-rate batches without an encoder.

A row is a map with constant keys whose values are a float64 time, a counter and fixed arrays of float32.
Such a map has the same bytes every time but for the numbers, so it is a packed numpy dtype with the constant
bytes filled in once: thirty rows of 38 motors take microseconds instead of milliseconds.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

_FLOAT32: Final = 0xCA
_FLOAT64: Final = 0xCB
_UINT64: Final = 0xCF
_ARRAY16: Final = b"\xdc"
_ELEMENT: Final = np.dtype([("tag", "u1"), ("value", ">f4")])


class Rows:
    """Encoder of ``[{key: number or float32 array, ...}, ...]`` with fixed keys.

    Args:
        scalars: keys of numbers -> ``f8`` or ``u8``.
        arrays: keys of float32 arrays -> their length.
        capacity: most rows of a batch.
    """

    def __init__(self, scalars: dict[str, str], arrays: dict[str, int], capacity: int) -> None:
        fields: list[Any] = [("map", "V3")]
        constants: dict[str, Any] = {"map": struct.pack(">BH", 0xDE, len(scalars) + len(arrays))}
        for key, kind in scalars.items():
            packed = msgspec.msgpack.encode(key)
            fields += [(f"{key}.key", f"V{len(packed)}"), (f"{key}.tag", "u1"), (key, f">{kind}")]
            constants[f"{key}.key"] = packed
            constants[f"{key}.tag"] = {"f8": _FLOAT64, "u8": _UINT64}[kind]
        for key, length in arrays.items():
            packed = msgspec.msgpack.encode(key) + _ARRAY16 + struct.pack(">H", length)
            fields.append((f"{key}.key", f"V{len(packed)}"))
            constants[f"{key}.key"] = packed
            if length:
                fields.append((key, _ELEMENT, (length,)))
        self._rows = np.zeros(capacity, dtype=np.dtype(fields))
        for name, value in constants.items():
            self._rows[name] = np.void(value) if isinstance(value, bytes) else value
        for key, length in arrays.items():
            if length:
                self._rows[key]["tag"] = _FLOAT32
        self._scalars = set(scalars)
        self._arrays = {key for key, length in arrays.items() if length}

    def encode(self, values: dict[str, NDArray[Any]]) -> bytes:
        """One batch; every value has the rows along its first axis."""
        count = len(next(iter(values.values())))
        rows = self._rows[:count]
        for key, value in values.items():
            if key in self._arrays:
                rows[key]["value"] = value
            elif key in self._scalars:
                rows[key] = value
        return _ARRAY16 + struct.pack(">H", count) + rows.tobytes()
