r"""Tension loop: ``tau_m = R f_d + k_p (f_d - f) - k_d (w - w_d)``, the proportional gain scheduled.

The loop's frequency is ``sqrt(k_p k_t R / B)``: with a fixed gain it rises with the root of the tendon's
stiffness, which grows tenfold from 5 to 100 N, and noise with it. The gain falls with that root.
"""

from __future__ import annotations

import math
from typing import Final

from signals.compiled import law
from signals.typed import Model

LEAST_SHARE: Final = 0.6
GREATEST_SHARE: Final = 1.25


@law
def scheduled_kp(m: Model, stiffness_n_m: float) -> float:
    """Proportional gain [N m/N] at a tendon stiffness [N/m]."""
    share = math.sqrt(m.tension_kp_stiffness_n_m / max(stiffness_n_m, 0.1 * m.tension_kp_stiffness_n_m))
    return float(m.tension_kp_nm_n) * min(max(share, LEAST_SHARE), GREATEST_SHARE)


@law
def tension_torque_nm(
    m: Model,
    t: int,
    wanted_n: float,
    tension_n: float,
    stiffness_n_m: float,
    speed_error_rad_s: float,
    weight: float,
) -> float:
    """Motor torque [N m] of tendon ``t``'s loop; the speed error is measured minus wanted motor speed.

    ``weight`` is that of its error: 1 of a tendon with a motor of its own (``mechanics.lines``).
    """
    load = m.spool_radius_m[t] * wanted_n
    damping = m.tension_kd_nms_rad * speed_error_rad_s
    return float(load + weight * scheduled_kp(m, stiffness_n_m) * (wanted_n - tension_n) - damping)
