r"""Hall count to tension, stiffness, elastic elongation and measured path length of every tendon.

.. math:: e = -L(\vartheta) + f\,l_0/EA, \qquad
          h_{meas} = e - R\theta - [h_{wrist}(q_w) - h_{wrist}(0)] - e_0

(mechanics: conventions). The tendon's own stretch is part of e: without it a DIP joint is 0.3 deg off.
"""

from __future__ import annotations

from estimators.memory import EstimatorMemory
from mechanics.springs import elongation_of_lever, lever_of_count, stiffness_of_force
from signals.compiled import law
from signals.typed import Model, State


@law
def read_tensions(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Lever angles, tensions, stiffnesses and elongations of all tendons into ``s``."""
    count = mem.hall_count
    for t in range(m.n_tendons):
        lever = lever_of_count(m, t, count[t])
        s.lever_angle_rad[t] = lever
        s.tension_n[t], s.elongation_m[t] = elongation_of_lever(m, t, lever)
        s.tendon_stiffness_n_m[t] = stiffness_of_force(m, t, s.tension_n[t])


@law
def measured_lengths(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Path lengths in the fingers [m] into ``s.tendon_length_m``: motor, wrist and homing removed."""
    angle, motor_of = mem.motor_angle_rad, m.tendon_motor
    for t in range(m.n_tendons):
        wound = m.spool_radius_m[t] * angle[motor_of[t]]
        s.tendon_length_m[t] = s.elongation_m[t] - wound - s.wrist_length_m[t] - m.elongation_offset_m[t]
