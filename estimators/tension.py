r"""Hall count to tension, stiffness, elastic elongation and measured path length of every tendon.

.. math:: e = -L(\vartheta) + f\,(1 + \epsilon s)\,l_0/EA, \qquad
          h_{meas} = e - R\theta - [h_{wrist}(q_w) - h_{wrist}(0)] - e_0

(mechanics: conventions). The tendon's own stretch is part of e: without it a DIP joint is 0.3 deg off. It is
that of the whole force, with the share that the lever's friction hides (``estimators.lever_loops``). The
tension that is told stays the one that the sensor shows.
"""

from __future__ import annotations

from estimators.lever_loops import begin_loops, follow_loops
from estimators.memory import EstimatorMemory
from mechanics.interpolation import hermite
from mechanics.spring_tables import fetch_nodes, lay_out_tables
from mechanics.springs import lever_of_count, stiffness_of_force
from signals.compiled import law
from signals.typed import Model, State


@law
def read_tensions(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Lever angles, tensions, stiffnesses and elongations of all tendons into ``s``."""
    count, lever = mem.hall_count, s.lever_angle_rad
    for t in range(m.n_tendons):
        lever[t] = lever_of_count(m, t, count[t])
    if mem.started == 0:
        lay_out_tables(m, mem)
        begin_loops(m, mem, s)
    fetch_nodes(m, mem, lever)
    if mem.loops != 0:
        follow_loops(m, mem, s)
    read_springs(m, mem, s)
    for t in range(m.n_tendons):
        s.tendon_stiffness_n_m[t] = stiffness_of_force(m, t, s.tension_n[t])


@law
def read_springs(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Tensions and elongations from the fetched nodes: a loop without a branch, vector code.

    Beyond the stops the cubics are continued by their tangents, as ``mechanics.springs.spring_at`` does.
    """
    place, node, table = mem.place, mem.node_rad, mem.table
    scale, compliance, frac, loop = m.spring_scale, m.tendon_compliance_m_n, mem.loop_frac, mem.loop_sign
    tension, elongation = s.tension_n, s.elongation_m
    for t in range(m.n_tendons):
        h, u = node[t], min(max(place[t], 0.0), 1.0)
        beyond, lower = place[t] - u, place[t] < 0.0
        force, _ = hermite(u, h, table[0, t], table[1, t], table[2, t], table[3, t])
        force += beyond * h * (table[2, t] if lower else table[3, t])
        path, _ = hermite(u, h, table[4, t], table[5, t], table[6, t], table[7, t])
        path += beyond * h * (table[6, t] if lower else table[7, t])
        measured = max(scale[t] * force, 0.0)
        tension[t] = measured
        elongation[t] = measured * (1.0 + frac[t] * loop[t]) * compliance[t] - path


@law
def measured_lengths(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Path lengths in the fingers [m] into ``s.tendon_length_m``: motor, wrist and homing removed."""
    angle, motor_of = mem.motor_angle_rad, m.tendon_motor
    for t in range(m.n_tendons):
        wound = m.spool_radius_m[t] * angle[motor_of[t]]
        s.tendon_length_m[t] = s.elongation_m[t] - wound - s.wrist_length_m[t] - m.elongation_offset_m[t]
