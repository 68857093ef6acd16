r"""Play of gears: how far a motor turns before its joints do.

A gear is two opposed lines on one spool (decision 025). With a play b the motor takes that spool along by
teeth that have room: within it the spool stands where its lines balance, beyond it the motor holds it:

.. math:: x_i = \frac{\sum_t R_t e_t / c_t}{\sum_t R_t^2 / c_t}, \qquad
          e_t \leftarrow e_t - R_t\,\mathrm{clip}(x_i, \pm b_i / 2)

x is how far a motor is ahead of that place, e and c are elongation and compliance of its taut lines, whose
springs are straight. So the gear's torque is its stiffness times dead(x): it is continuous, has an energy,
and no step sees a stiffness greater than that of a gear without play.
"""

from __future__ import annotations

from typing import Annotated, Protocol

from signals.compiled import law
from signals.layout import FloatArray, IntArray
from signals.sizes import MOTORS, TENDONS
from signals.typed import Model
from sim.tensions import Tensions


class Backlash(Tensions, Protocol):
    """Fields of the plant's record: scratch of a substep."""

    motor_ahead_rad: Annotated[FloatArray, MOTORS]
    lines_nm_rad: Annotated[FloatArray, MOTORS]
    taut: Annotated[IntArray, TENDONS]


@law
def _look_ahead(m: Model, p: Backlash) -> None:
    """How far each motor with play is ahead [rad], by its taut lines; without any it stays as it was."""
    ahead, stiffness = p.motor_ahead_rad, p.lines_nm_rad
    for i in range(m.n_motors):
        stiffness[i] = 0.0
    for t in range(m.n_tendons):
        i, s = m.tendon_motor[t], m.tendon_spring[t]
        if m.backlash_rad[i] == 0.0 or p.taut[t] == 0:
            continue
        spring_m_n = -m.spring_path_m[s, 0] / (m.spring_scale[t] * m.force_max_n[s])
        arm = m.spool_radius_m[t]
        turn = arm / (m.tendon_compliance_m_n[t] + spring_m_n)
        ahead[i] = turn * p.elongation_m[t] + (ahead[i] if stiffness[i] > 0.0 else 0.0)
        stiffness[i] += turn * arm
    for i in range(m.n_motors):
        if stiffness[i] > 0.0:
            ahead[i] /= stiffness[i]


@law
def give_play(m: Model, p: Backlash) -> None:
    """Take out of the elongations [m] what the motors turn within their gears' play."""
    for t in range(m.n_tendons):
        p.taut[t] = 1 - p.tendon_off[t]
    _look_ahead(m, p)
    slack = 0
    for t in range(m.n_tendons):
        at_balance = p.elongation_m[t] - m.spool_radius_m[t] * p.motor_ahead_rad[m.tendon_motor[t]]
        if p.taut[t] != 0 and m.backlash_rad[m.tendon_motor[t]] > 0.0 and at_balance < 0.0:
            p.taut[t] = 0
            slack += 1
    if slack != 0:
        _look_ahead(m, p)
    for t in range(m.n_tendons):
        i = m.tendon_motor[t]
        half = 0.5 * m.backlash_rad[i]
        p.elongation_m[t] -= m.spool_radius_m[t] * min(max(p.motor_ahead_rad[i], -half), half)
