"""Tensions of all tendons in a substep: ``mechanics.leverloop`` for all of them side by side.

Almost every tendon takes the first Newton step from the lever before and is done. So that is made for all in
loops without a branch, which become vector code; only the table values are fetched one by one. A tendon for
which the step is not enough (slack, at a stop, snapped) is solved by ``loop_state`` itself.
"""

from __future__ import annotations

import math
from typing import Annotated, Protocol

from mechanics.interpolation import hermite
from mechanics.leverloop import SMALL_RAD, loop_state
from mechanics.spring_tables import SpringTables, fetch_nodes, lay_out_tables
from signals.compiled import law
from signals.layout import FloatArray, IntArray
from signals.sizes import TENDONS
from signals.typed import Model

SHORT = 0.05
"""Presliding lengths up to which the friction loop's series is as good as its exponential."""


class Tensions(SpringTables, Protocol):
    """Fields of the plant's record: what a period keeps of each tendon, and scratch of a substep."""

    travel_1_rad: Annotated[FloatArray, TENDONS]
    stiffness_n_m: Annotated[FloatArray, TENDONS]
    elongation_m: Annotated[FloatArray, TENDONS]
    next_lever_rad: Annotated[FloatArray, TENDONS]
    next_tension_n: Annotated[FloatArray, TENDONS]
    next_loop: Annotated[FloatArray, TENDONS]
    alone: Annotated[IntArray, TENDONS]
    tendon_off: Annotated[IntArray, TENDONS]
    lever_rad: Annotated[FloatArray, TENDONS]
    lever_before_rad: Annotated[FloatArray, TENDONS]
    loop_sign: Annotated[FloatArray, TENDONS]
    tension_n: Annotated[FloatArray, TENDONS]


@law
def lay_out_springs(m: Model, p: Tensions) -> None:
    """Ends and steps of each tendon's table, and inverses; once per period."""
    lay_out_tables(m, p)
    for t in range(m.n_tendons):
        presliding = m.lever_presliding_rad[t]
        p.travel_1_rad[t] = 1.0 / presliding if presliding > 0.0 else math.inf
        p.stiffness_n_m[t] = 1.0 / m.tendon_compliance_m_n[t]


@law
def _step(m: Model, p: Tensions) -> int:
    """One Newton step of every tendon; returns how many have to be solved alone."""
    table, place, node, low, high = p.table, p.place, p.node_rad, p.lever_low_rad, p.lever_high_rad
    lever, loop, e, alone = p.lever_rad, p.loop_sign, p.elongation_m, p.alone
    scale, compliance, frac = m.spring_scale, m.tendon_compliance_m_n, m.lever_friction_frac
    travel, stiffness, count = p.travel_1_rad, p.stiffness_n_m, 0
    for t in range(m.n_tendons):
        u = min(max(place[t], 0.0), 1.0)  # a lever beyond a stop begins at the stop, as its angle below does
        f, df = hermite(u, node[t], table[0, t], table[1, t], table[2, t], table[3, t])
        path, dpath = hermite(u, node[t], table[4, t], table[5, t], table[6, t], table[7, t])
        force, dforce = scale[t] * f, scale[t] * df
        gain, c = 1.0 + frac[t] * loop[t], compliance[t]
        excess = c * force * gain - path - e[t]
        side = 1.0 if excess < 0.0 else -1.0
        left = side - loop[t]
        slope = c * (dforce * gain - force * frac[t] * (side * left * travel[t])) - dpath
        step = -excess / slope
        x = min(max(lever[t], low[t]), high[t]) + step
        way = abs(step) * travel[t]
        p.next_lever_rad[t] = x
        p.next_tension_n[t] = (e[t] + path + dpath * step) * stiffness[t]
        p.next_loop[t] = loop[t] + left * way * (1.0 - way * (0.5 - way * (1.0 / 6.0 - way / 24.0)))
        taken = 1 if e[t] > 0.0 else 0
        taken &= 1 if abs(step) < SMALL_RAD else 0
        taken &= 1 if way <= SHORT else 0
        taken &= 1 if low[t] < x else 0
        taken &= 1 if x < high[t] else 0
        alone[t] = (1 - taken) | p.tendon_off[t]
        count += alone[t]
    return count


@law
def solve_tensions(m: Model, p: Tensions) -> None:
    """Lever, loop and tension of every tendon at its elongation, with the lever's friction.

    A tendon that is off lies at its slack stop.
    """
    fetch_nodes(m, p, p.lever_rad)
    if _step(m, p) != 0:
        for t in range(m.n_tendons):
            if p.alone[t] != 0:
                x, tension, loop = p.lever_high_rad[t], 0.0, 0.0
                if p.tendon_off[t] == 0:
                    x, tension, loop = loop_state(m, t, p.elongation_m[t], p.lever_rad[t], p.loop_sign[t])
                p.next_lever_rad[t], p.next_tension_n[t], p.next_loop[t] = x, tension, loop
    for t in range(m.n_tendons):
        p.lever_before_rad[t] = p.lever_rad[t]
        p.lever_rad[t] = p.next_lever_rad[t]
        p.tension_n[t] = p.next_tension_n[t]
        p.loop_sign[t] = p.next_loop[t]
