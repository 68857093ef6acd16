r"""True tensions of a finger under tendon force: the lever's friction loop put back into what is read.

.. math:: \hat e = R\,\theta + \overline{h(q) + h_{wrist}} + e_0, \qquad
          \hat f = f\,(1 + \kappa\,\epsilon\,\hat s(\hat e))

The lever's friction leaves its angle true, but hides up to epsilon of the force. Which share s of it, the
loop's own law says of the elongation's course (``mechanics.leverloop``). The course is taken from the motor,
as the Hall sensor's noise and play are as large as the travel that turns the loop; the paths h of finger and
wrist are those of the estimated joint angles and the wrist's sensors, slowed down: noise of a potentiometer
at the wrist would turn the loop too. Only the loop's state comes from there: an error of it moves
the tension by epsilon at most. What is put back vanishes towards the bounds of the tensions, so that neither
the true nor the measured one is led beyond them.

How far a motor turns for a wanted change of tension is that loop's to say too. Where a tension turns round,
it changes by twice the loop's half width while the motor hardly moves.

Tensions that the joint feedback wants are not compared with these. There joints move as fast as the loop
turns, the slow paths lag, and a step is followed worse.
"""

from __future__ import annotations

from typing import Final

from controllers.feedforward import gain_of
from controllers.memory import ControllerMemory
from mechanics.blend import fading
from mechanics.leverloop import loop_slope_1_rad, loop_state
from mechanics.springs import spring_at
from signals.compiled import law
from signals.typed import Model, State

SLOW_S: Final = 0.016
"""Time constant of the paths: 10 Hz, between the noise of joint and wrist angles and the motion of joints."""


@law
def slow_path_m(s: State, t: int) -> float:
    """Path of tendon ``t`` in finger and wrist [m] at the estimated joint angles and the wrist's sensors."""
    return float(s.tendon_length_m[t] - s.residual_m[t] + s.wrist_length_m[t])


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
        elongation = wound + mem.slow_path_m[t] + m.elongation_offset_m[t]
        lever, _, sign = loop_state(m, t, elongation, mem.loop_lever_rad[t], mem.loop_sign[t])
        mem.loop_lever_rad[t], mem.loop_sign[t] = lever, sign
        observed = measured * (1.0 + frac * sign)
        s.observed_tension_n[t] = within_bounds_n(observed, measured, m.tension_min_n[t], m.tension_max_n[t])


@law
def compliance_m_n(s: State, t: int) -> float:
    """Stretch of mechanism and tendon ``t`` per change of the tension [m/N] that its sensor shows."""
    return 1.0 / max(float(s.tendon_stiffness_n_m[t]), 1.0)


@law
def turned_compliance_m_n(m: Model, mem: ControllerMemory, s: State, t: int, rate_n_s: float) -> float:
    """The same per change of the true tension [m/N]: at its rate [N/s] it turns the lever's loop.

    Lever and loop are the observer's of this cycle.
    """
    frac = gain_of(m.lever_gain, m.use_lever) * m.lever_friction_frac[t]
    if frac == 0.0:
        return compliance_m_n(s, t)
    force, dforce, _, dpath = spring_at(m, t, mem.loop_lever_rad[t])
    side, sign = (1.0 if rate_n_s > 0.0 else -1.0), mem.loop_sign[t]
    slope = loop_slope_1_rad(sign, side, 0.0, 0.0, m.lever_presliding_rad[t])
    return float(m.tendon_compliance_m_n[t] - dpath / (dforce * (1.0 + frac * sign) + force * frac * slope))
