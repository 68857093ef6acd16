r"""A taut belt over three round pulleys, all touched from the same side: tangents, length, its derivatives.

The belt runs left to right over the pulleys, which lie below it and are all turned clockwise. Between two
pulleys with centres c1, c2 and radii r1, r2 it follows their outer common tangent, of direction angle

.. math:: a = \arg(c_2 - c_1) + \arcsin((r_2 - r_1)/|c_2 - c_1|)

and touches both where the normal has the angle ``a + pi/2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signals.layout import FloatArray


@dataclass(frozen=True, slots=True)
class Tangent:
    """Straight piece of the belt between two pulleys; arrays over the poses, shape (n,)."""

    length_m: FloatArray
    direction_rad: FloatArray


def tangent(start_m: FloatArray, r1_m: float, end_m: FloatArray, r2_m: float) -> Tangent:
    """Outer common tangent of two circles; centres of shape (n, 2).

    NaN where one circle lies inside the other (no such tangent).
    """
    span = end_m - start_m
    distance = np.hypot(span[:, 0], span[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.sqrt(distance**2 - (r2_m - r1_m) ** 2)
        direction = np.arctan2(span[:, 1], span[:, 0]) + np.arcsin((r2_m - r1_m) / distance)
    return Tangent(length, direction)


@dataclass(frozen=True, slots=True)
class Belt:
    """The belt over a first, a moving middle and a last pulley; arrays over the poses, shape (n,)."""

    length_m: FloatArray
    """Length up to a constant: straight pieces and all three arcs."""
    length_gradient: FloatArray
    """d length / d centre of the middle pulley, shape (n, 2): the pull of unit tension, reversed."""
    gradient_slope: FloatArray
    """Its derivative along the middle centre's motion, shape (n, 2)."""
    wrap_rad: FloatArray
    """Angle over which the belt lies on the middle pulley; negative: it would have to run below it."""


def belt(
    first_m: FloatArray,
    middle_m: FloatArray,
    last_m: FloatArray,
    radii_m: tuple[float, float, float],
    middle_velocity: FloatArray,
) -> Belt:
    """Belt over three pulleys with centres ``first_m`` (2,), ``middle_m`` (n, 2), ``last_m`` (2,).

    Args:
        first_m: Centre of the pulley on which the belt begins [m].
        middle_m: Centres of the moving pulley [m], one per pose.
        last_m: Centre of the pulley on which the belt ends [m].
        radii_m: Radii of first, middle and last pulley [m].
        middle_velocity: d middle_m / d parameter, shape (n, 2), for ``gradient_slope``.
    """
    r1, r2, r3 = radii_m
    before = tangent(np.broadcast_to(first_m, middle_m.shape), r1, middle_m, r2)
    after = tangent(middle_m, r2, np.broadcast_to(last_m, middle_m.shape), r3)
    # Arcs from fixed angles on the outer pulleys: a clockwise arc shrinks on the first pulley and
    # grows on the last as the direction turns up.
    arcs = (r2 - r1) * before.direction_rad + (r3 - r2) * after.direction_rad
    u_in, u_out = _unit(before.direction_rad), _unit(after.direction_rad)
    # The pulley turns freely, so moving its centre pays out belt along the two straight pieces only.
    turn_in = np.sum(_left(u_in) * middle_velocity, axis=1) / before.length_m
    turn_out = -np.sum(_left(u_out) * middle_velocity, axis=1) / after.length_m
    slope = _left(u_in) * turn_in[:, None] - _left(u_out) * turn_out[:, None]
    return Belt(
        length_m=before.length_m + after.length_m + arcs,
        length_gradient=u_in - u_out,
        gradient_slope=slope,
        wrap_rad=before.direction_rad - after.direction_rad,
    )


def _unit(angle_rad: FloatArray) -> FloatArray:
    return np.stack([np.cos(angle_rad), np.sin(angle_rad)], axis=1)


def _left(vector: FloatArray) -> FloatArray:
    return np.stack([-vector[:, 1], vector[:, 0]], axis=1)
