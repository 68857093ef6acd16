r"""Arctangent in plain arithmetic, so that loops over motors become vector code.

.. math:: \arctan x = \mathrm{base} + \arctan z, \qquad
          z = x,\ \frac{x - 1}{x + 1},\ -\frac{1}{x} \quad\text{for}\quad
          x \le \tan\tfrac\pi8,\ \le \tan\tfrac{3\pi}8,\ \text{beyond}

and for |z| <= tan(pi/8) a polynomial of degree 21 through the Chebyshev nodes of z^2. A call of the library's
would keep the compiler from taking several motors at once.
"""

from __future__ import annotations

from typing import Final

from signals.compiled import law

QUARTER: Final = 0.7853981633974483
HALF: Final = 1.5707963267948966
LOW: Final = 0.41421356237309503
HIGH: Final = 2.414213562373095


@law
def arctan(x: float) -> float:
    """Arctangent [rad] of any number; absolute error below 1e-15, NaN for NaN."""
    t = abs(x)
    top, bottom, base = t, 1.0, 0.0
    if t > LOW:
        top, bottom, base = t - 1.0, t + 1.0, QUARTER
    if t > HIGH:
        top, bottom, base = -1.0, t, HALF
    z = top / bottom
    q = z * z
    series = 0.07691055157849669 + q * (
        -0.06649613689550408
        + q * (0.05736332130703195 + q * (-0.044833345062807464 + 0.022750525406052224 * q))
    )
    series = -0.14285714266096602 + q * (0.11111109636533431 + q * (-0.09090852557145968 + q * series))
    series = q * (-0.3333333333333325 + q * (0.19999999999898407 + q * series))
    y = base + (z + z * series)
    return -y if x < 0.0 else y
