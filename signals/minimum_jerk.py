"""The minimum-jerk rise from 0 to 1: at rest with zero acceleration at both ends; for numbers and arrays.

Plain Python, because the light client moves a hand with it too; ``mechanics.blend`` compiles it.
"""

from __future__ import annotations

from typing import Any


def rise(x: Any) -> Any:
    """Share of the way at a share ``x`` of the time, 0 to 1."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def slope(x: Any) -> Any:
    """Derivative of ``rise``."""
    return 30.0 * x * x * (1.0 - x) * (1.0 - x)
