"""The kinds of value that files use: strict, finite, in range."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from signals.tables import RATE_HZ

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
RateHz = Annotated[float, Field(ge=RATE_HZ[0], le=RATE_HZ[1])]
Vec3 = tuple[float, float, float]
Vec2 = tuple[float, float]
Vec6 = tuple[float, float, float, float, float, float]
PositiveVec3 = tuple[Positive, Positive, Positive]

NAME = r"^[a-z][a-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME, max_length=40)]
"""Name of a part: small letters, digits, underscores."""
Point = Annotated[str, Field(pattern=r"^[A-Za-z]\w*$", max_length=40)]
"""Name of a point on a bone, as the paper's letters."""
Stage = Annotated[str, Field(pattern=r"^(flexor|[A-Za-z_][\w.]*:[A-Za-z_]\w*)$")]
"""``flexor`` for ours, or a foreign function as ``package.module:function``."""
Function = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
"""A foreign function as ``package.module:function``."""


def _rising(pair: tuple[float, float]) -> tuple[float, float]:
    if pair[0] >= pair[1]:
        raise PydanticCustomError("rising", "the lower end first: [low, high] with low < high")
    return pair


def _unit(axis: Vec3) -> Vec3:
    norm = sum(a * a for a in axis) ** 0.5
    if abs(norm - 1.0) > 1e-3:
        raise PydanticCustomError("unit_vector", "a direction of length 1, within 0.001")
    return axis


def _inertia(diagonal: Vec3) -> Vec3:
    a, b, c = sorted(diagonal)
    if a + b < c * (1.0 - 1e-9):
        raise PydanticCustomError(
            "inertia", "principal inertias of a real body: the two smaller add up to the largest or more"
        )
    return diagonal


def _ratio(value: float) -> float:
    if value == 0.0:
        raise PydanticCustomError("ratio", "a number other than 0")
    return value


def _tensor(values: Vec6) -> Vec6:
    xx, yy, zz, xy, xz, yz = values
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not 0.0 < moments[0] <= moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-9):
        raise PydanticCustomError(
            "inertia",
            "the inertia of a real body: principal inertias > 0, the two smaller add up to the largest",
        )
    return values


def _sign(value: int) -> int:
    if value not in (1, -1):
        raise PydanticCustomError("sign", "1 or -1")
    return value


Sign = Annotated[int, AfterValidator(_sign)]


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise PydanticCustomError("not_zero", "a number other than 0")
    return value


NonZero = Annotated[float, AfterValidator(_not_zero)]
Interval = Annotated[Vec2, AfterValidator(_rising)]
UnitVec3 = Annotated[Vec3, AfterValidator(_unit)]
InertiaDiagonal = Annotated[PositiveVec3, AfterValidator(_inertia)]
InertiaTensor = Annotated[Vec6, AfterValidator(_tensor)]
Ratio = Annotated[float, AfterValidator(_ratio)]


def left_out(value: object) -> bool:
    """True for a key that a file leaves out: it stays out of the file's hash."""
    return value is None


def left_empty(value: object) -> bool:
    """The same for a key that is empty, or 0, where a file leaves it out."""
    return not value
