r"""Cubic Hermite interpolation on an even grid: value and slope from the two nodes around a place.

.. math:: y(u) = h_{00} y_0 + h_{10} h d_0 + h_{01} y_1 + h_{11} h d_1, \quad u = (x - x_0)/h
"""

from __future__ import annotations

from signals.compiled import law


@law
def interval_of(x: float, low: float, high: float, nodes: int) -> tuple[int, float]:
    """Interval ``k`` (0..nodes-2) and place ``u`` in it, of ``x`` on an even grid over low..high.

    ``u`` is 0..1 inside the grid; below the first node it is negative, beyond the last above 1.
    """
    place = (x - low) / (high - low) * (nodes - 1)
    # compare before converting: the conversion of a NaN to an integer is undefined
    k = 0
    if place >= nodes - 1:
        k = nodes - 2
    elif place > 0.0:
        k = int(place)
    return k, place - k


@law
def hermite(u: float, h: float, y0: float, y1: float, d0: float, d1: float) -> tuple[float, float]:
    """Value and slope at ``u`` of the cubic with values y0, y1 and slopes d0, d1 at the ends of a step h."""
    rise = y1 - y0
    c2 = 3.0 * rise - h * (2.0 * d0 + d1)
    c3 = h * (d0 + d1) - 2.0 * rise
    value = y0 + u * (h * d0 + u * (c2 + u * c3))
    slope = d0 + u * (2.0 * c2 + 3.0 * u * c3) / h
    return value, slope


@law
def value_or_line(u: float, h: float, y0: float, y1: float, d0: float, d1: float) -> float:
    """The value of ``hermite_or_line`` alone."""
    if u < 0.0:
        return y0 + u * h * d0
    if u > 1.0:
        return y1 + (u - 1.0) * h * d1
    rise = y1 - y0
    c2 = 3.0 * rise - h * (2.0 * d0 + d1)
    c3 = h * (d0 + d1) - 2.0 * rise
    return y0 + u * (h * d0 + u * (c2 + u * c3))


@law
def hermite_or_line(u: float, h: float, y0: float, y1: float, d0: float, d1: float) -> tuple[float, float]:
    """As ``hermite``, continued by its tangents for u < 0 and u > 1."""
    if u < 0.0:
        return y0 + u * h * d0, d0
    if u > 1.0:
        return y1 + (u - 1.0) * h * d1, d1
    return hermite(u, h, y0, y1, d0, d1)
