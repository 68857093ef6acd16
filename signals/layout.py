"""A record as a class: its fields' types for the type checker, and the dtype that is made from them.

A room declares what it remembers once, with the shape behind the type:

    class Memory(Protocol):
        started: int
        angle_rad: Annotated[FloatArray, MOTORS]

    MEMORY: Final = dtype_of(Memory)

Compiled code reads ``memory[0].angle_rad[i]``; a misspelt field is a type error. Nothing is ever an instance
of such a class. ``signals.typed`` holds the classes of the records in ``signals.table``.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol, TypeVar, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from signals.sizes import EXTENTS

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
UintArray = NDArray[np.uint64]
Int32Array = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
BitsArray = NDArray[np.uint32]

_SCALARS: Final = {float: "f8", int: "i8"}
R_co = TypeVar("R_co", covariant=True)


class Records(Protocol[R_co]):
    """Structured array of records of one class; almost all have shape ``(1,)``."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many there are, along each dimension."""

    @overload
    def __getitem__(self, k: int, /) -> R_co: ...

    @overload
    def __getitem__(self, k: slice, /) -> Records[R_co]: ...


def dtype_of(record: type) -> np.dtype[Any]:
    """Aligned dtype of a record's class, fields in the order of the class, those of its bases first.

    A field is ``float`` or ``int`` (64 bits, others as ``Annotated[int, "u2"]``), a numpy scalar, an array
    as ``Annotated[NDArray[...], size, ...]`` with sizes or names of index spaces in ``signals.sizes``, or
    another record's class.

    Raises:
        TypeError: a field of another type, or an array without a shape.
    """
    hints = get_type_hints(record, include_extras=True)
    return np.dtype([_field(record, name, hint) for name, hint in hints.items()], align=True)


def _field(record: type, name: str, hint: Any) -> tuple[Any, ...]:
    if hint in _SCALARS:
        return name, _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return name, hint
    if isinstance(hint, type) and getattr(hint, "_is_protocol", False):
        return name, dtype_of(hint)
    if get_origin(hint) is Annotated:
        base, *rest = get_args(hint)
        if base in _SCALARS and len(rest) == 1:
            return name, rest[0]
        if get_origin(base) is np.ndarray and all(isinstance(d, int) or d in EXTENTS for d in rest):
            (element,) = get_args(get_args(base)[1])
            return name, element, tuple(d if isinstance(d, int) else EXTENTS[d] for d in rest)
    raise TypeError(
        f"{record.__module__}.{record.__name__}.{name}: {hint!r} is no field; legal: float, int, a numpy "
        "scalar, Annotated[NDArray[...], size, ...], a record's class"
    )
