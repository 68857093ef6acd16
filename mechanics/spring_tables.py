"""Nodes of every tendon's spring table around its lever, side by side: what vector code reads.

A cubic between two nodes is arithmetic without a branch, and so is made for four tendons at a time; only the
nodes are fetched one by one.
"""

from __future__ import annotations

from typing import Annotated, Protocol

from signals.compiled import law
from signals.layout import FloatArray
from signals.sizes import TENDONS
from signals.typed import Model


class SpringTables(Protocol):
    """Fields of a memory: ends and steps of each tendon's table, and the nodes around its lever."""

    lever_low_rad: Annotated[FloatArray, TENDONS]
    lever_high_rad: Annotated[FloatArray, TENDONS]
    node_rad: Annotated[FloatArray, TENDONS]
    nodes_rad: Annotated[FloatArray, TENDONS]
    place: Annotated[FloatArray, TENDONS]
    # forces at both nodes, their slopes, paths at both nodes, their slopes
    table: Annotated[FloatArray, 8, TENDONS]


@law
def lay_out_tables(m: Model, p: SpringTables) -> None:
    """Ends and steps of each tendon's table, and inverses."""
    nodes = m.spring_force_n.shape[1]
    for t in range(m.n_tendons):
        s = m.tendon_spring[t]
        low, high = m.lever_min_rad[s], m.lever_max_rad[s]
        p.lever_low_rad[t], p.lever_high_rad[t] = low, high
        p.node_rad[t], p.nodes_rad[t] = (high - low) / (nodes - 1), (nodes - 1) / (high - low)


@law
def fetch_nodes(m: Model, p: SpringTables, lever_rad: FloatArray) -> None:
    """Place of every lever between two nodes of its table, and their values; 0..1 between the stops."""
    last = m.spring_force_n.shape[1] - 2
    low, per_rad, place, table = p.lever_low_rad, p.nodes_rad, p.place, p.table
    for t in range(m.n_tendons):
        place[t] = (lever_rad[t] - low[t]) * per_rad[t]
    for t in range(m.n_tendons):
        s, at = m.tendon_spring[t], place[t]
        # compare before converting: the conversion of a NaN to an integer is undefined
        k = int(at) if 0.0 < at < last else (last if at >= last else 0)
        place[t] = at - k
        table[0, t], table[1, t] = m.spring_force_n[s, k], m.spring_force_n[s, k + 1]
        table[2, t], table[3, t] = m.spring_force_slope_n_rad[s, k], m.spring_force_slope_n_rad[s, k + 1]
        table[4, t], table[5, t] = m.spring_path_m[s, k], m.spring_path_m[s, k + 1]
        table[6, t], table[7, t] = m.spring_path_slope_m_rad[s, k], m.spring_path_slope_m_rad[s, k + 1]
