r"""Sine of a large phase, fast: reduced by whole turns in two parts, then a polynomial between its zeros.

.. math:: \sin x = r (\pi^2 - r^2) p(r^2), \qquad r = x - 2\pi k, \quad k = \mathrm{round}(x / 2\pi)

The plant and the feedforward take five sines per motor and substep: at 38 motors a tenth of a cycle. The
library's sine costs more because it is right to the last bit; this one to 1e-13 in the first turns, far
below what a ripple's amplitude is known to. With the zeros of a whole turn taken out, what is left
needs eight coefficients (of the least greatest error, by exchange) and no sign of a half turn. Plain
arithmetic, which becomes vector code.
"""

from __future__ import annotations

from signals.compiled import law

INVERSE_PI = 0.3183098861837907
PI_HIGH = 3.141592653589793
PI_LOW = 1.2246467991473532e-16
ROUND = 6755399441055744.0
"""1.5 * 2^52: added and taken away again it leaves the nearest whole number, without a call."""


PI_SQUARED = 9.869604401089358
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
    """Sine of a phase [rad], |x| <= 1e6; absolute error below 1e-12 to 1000 rad, at 1e6 rad below 2e-10."""
    k = (x * (0.5 * INVERSE_PI) + ROUND) - ROUND
    r = (x - k * (2.0 * PI_HIGH)) - k * (2.0 * PI_LOW)
    q = r * r
    series = -1.5327525014747376e-10 + q * (7.334909782795544e-13 - q * 2.447873297356687e-15)
    series = -2.5234108402818174e-06 + q * (2.3538855366637162e-08 + q * series)
    series = -0.006620881685405078 + q * (0.00017350762735613546 + q * series)
    return float(r * (PI_SQUARED - q) * (0.10132118364228733 + q * series))


@law
def sine_cosine(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle [rad], reduced once for both; absolute error below 4e-16 for |x| <= 4.

    Reduced to a quarter turn, then polynomials of degree 13 and 14 [FreeBSD's msun, k_sin.c and k_cos.c]. Of
    larger angles the error is that of their own last bit.
    """
    k = (x * (2.0 * INVERSE_PI) + ROUND) - ROUND
    r = (x - k * (0.5 * PI_HIGH)) - k * (0.5 * PI_LOW)
    q = r * r
    s = -1.98412698298579493134e-04 + q * (
        2.75573137070700676789e-06 + q * (-2.50507602534068634195e-08 + q * 1.58969099521155010221e-10)
    )
    s = r + r * q * (-1.66666666666666324348e-01 + q * (8.33333333332248946124e-03 + q * s))
    c = 2.48015872894767294178e-05 + q * (
        -2.75573143513906633035e-07 + q * (2.08757232129817482790e-09 - q * 1.13596475577881948265e-11)
    )
    c = 1.0 - 0.5 * q + q * q * (4.16666666666666019037e-02 + q * (-1.38888888888741095749e-03 + q * c))
    # x = h pi + odd pi/2 + r
    h = (0.5 * k + ROUND) - ROUND
    odd = k - 2.0 * h
    part = h - 2.0 * ((0.5 * h + ROUND) - ROUND)
    sign = 1.0 - 2.0 * part * part
    up, over = (s, c) if odd == 0.0 else (odd * c, -odd * s)
    return float(sign * up), float(sign * over)
