r"""Two memories of the force sensor: the lever's friction loop (Dahl) and the magnet's play.

The loop of paper Fig. 4.8b is friction at the lever: the angle stays true, the tendon force differs by
``f (1 + frac s)``. Its state s turns with the lever's travel over a presliding length,

.. math:: \frac{ds}{dx} = \frac{1 - s\,\mathrm{sgn}\,\dot x}{x_0}, \qquad x = -\vartheta

(P. R. Dahl, 1968, exponent 1), positive while the force rises, that is while the lever angle falls.
"""

from __future__ import annotations

import math

from signals.compiled import law


@law
def dahl(s: float, dlever_rad: float, presliding_rad: float) -> float:
    """State of the loop, -1..1, after a lever travel; exact, so independent of how the travel is cut.

    From one branch the state passes zero after 0.7 and reaches 95 % of the other branch after 3.7
    presliding lengths. A presliding of zero turns it at once.
    """
    if dlever_rad == 0.0:
        return s
    side = 1.0 if dlever_rad < 0.0 else -1.0
    if presliding_rad <= 0.0:
        return side
    # expm1 keeps the change exact for travels far below the presliding length
    return s - (side - s) * math.expm1(-abs(dlever_rad) / presliding_rad)


@law
def play(state: float, x: float, width: float) -> float:
    """Play (backlash) operator: what follows x with a full width of hysteresis."""
    half = 0.5 * width
    return min(max(state, x - half), x + half)
