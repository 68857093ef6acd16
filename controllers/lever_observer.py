r"""True tensions of a finger under tendon force: the lever's friction loop put back into what is read.

.. math:: \hat e = R\,\theta + \bar h(q) + h_{wrist} + e_0, \qquad
          \hat f = f\,(1 + \kappa\,\epsilon\,\hat s(\hat e))

The lever's friction leaves its angle true, but hides up to epsilon of the force. Which share s of it, the
loop's own law says of the elongation's course (``mechanics.leverloop``). The course is taken from the motor,
as the Hall sensor's noise and play are as large as the travel that turns the loop; the finger's paths h are
those of the estimated joint angles, slowed down. Only the loop's state comes from there: an error of it moves
the tension by epsilon at most. What is put back vanishes towards the bounds of the tensions, so that neither
the true nor the measured one is led beyond them.

Tensions that the joint feedback wants are not compared with these. There joints move as fast as the loop
turns, the slow paths lag, and a step is followed worse.
"""

from __future__ import annotations

from typing import Final

from controllers.feedforward import gain_of
from controllers.memory import ControllerMemory
from mechanics.blend import fading
from mechanics.leverloop import loop_state
from signals.compiled import law
from signals.typed import Model, State

SLOW_S: Final = 0.016
"""Time constant of the finger's paths: 10 Hz, between the noise of joint angles and the motion of joints."""


@law
def slow_path_m(s: State, t: int) -> float:
    """Path of tendon ``t`` in its finger [m] at the estimated joint angles."""
    return float(s.tendon_length_m[t] - s.residual_m[t])


@law
def begin_observer(mem: ControllerMemory, s: State, t: int) -> None:
    """Begin with the lever where it is and a loop that says nothing."""
    mem.slow_path_m[t] = slow_path_m(s, t)
    mem.loop_lever_rad[t], mem.loop_sign[t] = s.lever_angle_rad[t], 0.0
    s.observed_tension_n[t] = 0.0


@law
def within_bounds_n(observed: float, measured: float, least_n: float, most_n: float) -> float:
    """The observed tension [N], no further from the measured one than that is from the bound ahead."""
    observed = max(observed, measured - max(most_n - measured, 0.0))
    return min(observed, measured + max(measured - least_n, 0.0))


@law
def observe_tensions(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """Tensions of finger ``f`` with the loop's share put back into ``s.observed_tension_n`` [N]."""
    gain, left = gain_of(m.lever_gain, m.use_lever), fading(1.0, m.dt_s, SLOW_S)
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        measured, frac = s.tension_n[t], gain * m.lever_friction_frac[t]
        s.observed_tension_n[t] = measured
        if frac == 0.0:
            continue
        path = slow_path_m(s, t)
        mem.slow_path_m[t] = path + left * (mem.slow_path_m[t] - path)
        wound = m.spool_radius_m[t] * s.motor_angle_rad[m.tendon_motor[t]]
        elongation = wound + mem.slow_path_m[t] + s.wrist_length_m[t] + m.elongation_offset_m[t]
        lever, _, sign = loop_state(m, t, elongation, mem.loop_lever_rad[t], mem.loop_sign[t])
        mem.loop_lever_rad[t], mem.loop_sign[t] = lever, sign
        observed = measured * (1.0 + frac * sign)
        s.observed_tension_n[t] = within_bounds_n(observed, measured, m.tension_min_n[t], m.tension_max_n[t])
