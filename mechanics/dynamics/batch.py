"""The tree laws over many states in one compiled call, and single calls for people.

Rows of the arrays are states. Loads are per state, shape (ns, nf, 6), or none, shape (0, 0, 6).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mechanics.dynamics.aba import aba
from mechanics.dynamics.crba import crba
from mechanics.dynamics.records import TreeRecord, TreeWork
from mechanics.dynamics.rnea import rnea
from mechanics.dynamics.tree import Tree
from signals.compiled import law
from signals.layout import FloatArray, Records

NO_BATCH_LOADS: Final[FloatArray] = np.zeros((1, 0, 6))


@law
def aba_batch(
    tree: Records[TreeRecord],
    q: FloatArray,
    qd: FloatArray,
    tau: FloatArray,
    loads: FloatArray,
    step_s: float,
    work: Records[TreeWork],
    qdd: FloatArray,
) -> None:
    """``aba`` for every row; arrays (ns, nv), loads (ns or 1, nf or 0, 6)."""
    last = loads.shape[0] - 1
    for s in range(q.shape[0]):
        aba(tree, q[s], qd[s], tau[s], loads[min(s, last)], step_s, work, qdd[s])


@law
def rnea_batch(
    tree: Records[TreeRecord],
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    loads: FloatArray,
    work: Records[TreeWork],
    tau: FloatArray,
) -> None:
    """``rnea`` for every row; arrays (ns, nv), loads (ns or 1, nf or 0, 6)."""
    last = loads.shape[0] - 1
    for s in range(q.shape[0]):
        rnea(tree, q[s], qd[s], qdd[s], loads[min(s, last)], work, tau[s])


@law
def crba_batch(tree: Records[TreeRecord], q: FloatArray, work: Records[TreeWork], M: FloatArray) -> None:
    """``crba`` for every row; ``M`` (ns, nv, nv)."""
    for s in range(q.shape[0]):
        crba(tree, q[s], work, M[s])


def _rows(tree: Tree, name: str, values: FloatArray | None, n_states: int) -> FloatArray:
    shape = (n_states, tree.n_dofs)
    if values is None:
        return np.zeros(shape)
    rows = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
    if rows.shape != shape:
        raise ValueError(f"{name} has shape {rows.shape}, the tree and q want {shape}")
    return rows


def _loads(tree: Tree, loads: FloatArray | None) -> FloatArray:
    if loads is None:
        return NO_BATCH_LOADS
    rows = np.ascontiguousarray(loads if loads.ndim == 3 else loads[None], dtype=np.float64)
    if rows.shape[1:] != (len(tree.frames), 6):
        raise ValueError(f"loads have shape {rows.shape}, want (states, {len(tree.frames)}, 6)")
    return rows


def accelerations(
    tree: Tree,
    q: FloatArray,
    qd: FloatArray | None = None,
    tau: FloatArray | None = None,
    loads: FloatArray | None = None,
    step_s: float = 0.0,
) -> FloatArray:
    """Joint accelerations, shape (ns, nv), of one or many states (rows); missing arrays are 0.

    Raises:
        ValueError: a shape that does not fit the tree.
    """
    states = np.ascontiguousarray(np.atleast_2d(q), dtype=np.float64)
    n = states.shape[0]
    out = np.zeros((n, tree.n_dofs))
    rows = _rows(tree, "q", states, n), _rows(tree, "qd", qd, n), _rows(tree, "tau", tau, n)
    aba_batch(tree.record, *rows, _loads(tree, loads), float(step_s), tree.work(), out)
    return out


def torques(
    tree: Tree,
    q: FloatArray,
    qd: FloatArray | None = None,
    qdd: FloatArray | None = None,
    loads: FloatArray | None = None,
) -> FloatArray:
    """Joint torques, shape (ns, nv), that give ``qdd``; missing arrays are 0. Raises as ``accelerations``."""
    states = np.ascontiguousarray(np.atleast_2d(q), dtype=np.float64)
    n = states.shape[0]
    out = np.zeros((n, tree.n_dofs))
    rows = _rows(tree, "q", states, n), _rows(tree, "qd", qd, n), _rows(tree, "qdd", qdd, n)
    rnea_batch(tree.record, *rows, _loads(tree, loads), tree.work(), out)
    return out


def mass_matrices(tree: Tree, q: FloatArray) -> FloatArray:
    """Mass matrices, shape (ns, nv, nv), of one or many positions (rows)."""
    states = _rows(tree, "q", np.atleast_2d(q), np.atleast_2d(q).shape[0])
    out = np.zeros((states.shape[0], tree.n_dofs, tree.n_dofs))
    crba_batch(tree.record, states, tree.work(), out)
    return out
