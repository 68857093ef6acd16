r"""Sine of a large phase, fast: reduced by whole half turns in two parts, then a polynomial of degree 15.

.. math:: \sin x = (-1)^k \sin(x - k\pi), \qquad k = \mathrm{round}(x / \pi)

The plant and the feedforward take five sines per motor and substep: at 38 motors a tenth of a cycle. The
library's sine costs 1.7 times as much because it is right to the last bit; this one to 1e-11 for phases up
to 1e6 rad, far below what a ripple's amplitude is known to. Plain arithmetic, which becomes vector code.
"""

from __future__ import annotations

from signals.compiled import law

INVERSE_PI = 0.3183098861837907
PI_HIGH = 3.141592653589793
PI_LOW = 1.2246467991473532e-16
ROUND = 6755399441055744.0
"""1.5 * 2^52: added and taken away again it leaves the nearest whole number, without a call."""


HALF_PI = 1.5707963267948966
"""What turns a cosine into a sine."""


@law
def near_sine(x: float) -> float:
    """Sine of an angle [rad], |x| <= 100; absolute error below 1e-15 (1e-14 at 100 rad), two terms more."""
    k = (x * INVERSE_PI + ROUND) - ROUND
    r = (x - k * PI_HIGH) - k * PI_LOW
    q = r * r
    odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND)
    series = 2.8114572543455206e-15 + q * (-8.22063524662433e-18 + q * 1.9572941063391263e-20)
    series = 1.605904383682161e-10 + q * (-7.647163731819816e-13 + q * series)
    series = -1.984126984126984e-4 + q * (2.755731922398589e-6 + q * (-2.505210838544172e-8 + q * series))
    series = 1.0 + q * (-1.6666666666666666e-1 + q * (8.333333333333333e-3 + q * series))
    return float(r * series * (1.0 - 2.0 * odd * odd))


@law
def sine(x: float) -> float:
    """Sine of a phase [rad], |x| <= 1e6; absolute error below 1e-11 (at 1e6 rad below 2e-10)."""
    k = (x * INVERSE_PI + ROUND) - ROUND
    r = (x - k * PI_HIGH) - k * PI_LOW
    q = r * r
    odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND)  # -1, 0 or 1: halves go to the even neighbour
    series = -1.984126984126984e-4 + q * (
        2.755731922398589e-6
        + q * (-2.505210838544172e-8 + q * (1.605904383682161e-10 - 7.647163731819816e-13 * q))
    )
    series = 1.0 + q * (-1.6666666666666666e-1 + q * (8.333333333333333e-3 + q * series))
    return float(r * series * (1.0 - 2.0 * odd * odd))


@law
def sine_cosine(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle [rad], |x| <= 1e6, reduced once for both; absolute error as of ``sine``."""
    k = (x * INVERSE_PI + ROUND) - ROUND
    r = (x - k * PI_HIGH) - k * PI_LOW
    q = r * r
    odd = k - 2.0 * ((0.5 * k + ROUND) - ROUND)
    sign = 1.0 - 2.0 * odd * odd
    high = -1.984126984126984e-4 + q * (
        2.755731922398589e-6
        + q * (-2.505210838544172e-8 + q * (1.605904383682161e-10 - 7.647163731819816e-13 * q))
    )
    even = 2.48015873015873e-5 + q * (
        -2.755731922398589e-7
        + q * (2.08767569878681e-9 + q * (-1.1470745597729725e-11 + 4.779477332387385e-14 * q))
    )
    high = 1.0 + q * (-1.6666666666666666e-1 + q * (8.333333333333333e-3 + q * high))
    even = 1.0 + q * (-0.5 + q * (4.1666666666666664e-2 + q * (-1.388888888888889e-3 + q * even)))
    return float(sign * r * high), float(sign * even)
