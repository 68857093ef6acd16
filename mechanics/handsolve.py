"""Sparse factorisation A = L^T D L of matrices with the hand tree's pattern, and solution in place.

Eliminating from the tips to the root fills nothing in: row k touches only the coordinates on its way to the
root. The pattern covers H, damping and stiffness P^T C P of tendons along one branch, and the wrist's
coupling to all.
"""

from __future__ import annotations

from mechanics.handlayout import HandtreeWork
from signals.compiled import law
from signals.layout import FloatArray


@law
def factor(w: HandtreeWork, A: FloatArray) -> bool:
    """Factor a symmetric positive matrix in place.

    Args:
        w: ``HANDTREE_WORK`` record, for the tree of coordinates.
        A: matrix, shape (COORDINATES, COORDINATES). Only A[k, i] with i = k or on k's way to the root is
            read; these become L[k, i] and, on the diagonal, 1/D[k].

    Returns:
        False if a pivot is not positive (then A is not positive definite and must not be used).
    """
    parent, order = w.coord_parent, w.coord_order
    for n in range(w.n_coords - 1, -1, -1):
        k = order[n]
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        A[k, k] = inverse
        i = parent[k]
        while i >= 0:
            share = A[k, i] * inverse
            j = i
            while j >= 0:
                A[i, j] -= share * A[k, j]
                j = parent[j]
            A[k, i] = share
            i = parent[i]
    return True


@law
def eliminate(w: HandtreeWork, A: FloatArray, x: FloatArray, first: int) -> None:
    """Right-hand side ``x`` once all coordinates from place ``first`` of the order on are eliminated.

    Args:
        w: as for ``factor``.
        A: from ``factor``.
        x: enters as b, shape (COORDINATES,).
        first: 0: all of them.
    """
    parent, order = w.coord_parent, w.coord_order
    for n in range(w.n_coords - 1, first - 1, -1):
        k = order[n]
        y = x[k]
        i = parent[k]
        while i >= 0:
            x[i] -= A[k, i] * y
            i = parent[i]


@law
def substitute(w: HandtreeWork, A: FloatArray, x: FloatArray, first: int) -> None:
    """Solution after ``eliminate``, in place; coordinates before place ``first`` hold theirs already."""
    parent, order = w.coord_parent, w.coord_order
    for n in range(first, w.n_coords):
        k = order[n]
        y = x[k] * A[k, k]
        i = parent[k]
        while i >= 0:
            y -= A[k, i] * x[i]
            i = parent[i]
        x[k] = y


@law
def solve(w: HandtreeWork, A: FloatArray, x: FloatArray) -> None:
    """Solve A x = b in place with ``A`` from ``factor``: ``x``, shape (COORDINATES,), enters as b."""
    eliminate(w, A, x, 0)
    substitute(w, A, x, 0)


@law
def product(w: HandtreeWork, A: FloatArray, x: FloatArray, y_out: FloatArray) -> None:
    """``y = A x`` of an unfactored matrix with the tree's pattern, shape (COORDINATES,) each."""
    parent = w.coord_parent
    for k in range(w.n_coords):
        y_out[k] = A[k, k] * x[k]
    for k in range(w.n_coords):
        i = parent[k]
        while i >= 0:
            y_out[k] += A[k, i] * x[i]
            y_out[i] += A[k, i] * x[k]
            i = parent[i]
