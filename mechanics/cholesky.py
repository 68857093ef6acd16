r"""Symmetric positive definite systems: ``A = L L^T`` in the place of A, then ``A x = b`` in the place of b.

Only the lower half of A is read and written.
"""

from __future__ import annotations

import math

from signals.compiled import law
from signals.layout import FloatArray


@law
def factorise(A: FloatArray, n: int, least: float) -> bool:
    """Factor of a matrix, shape (n, n), in its lower half.

    Args:
        A: the matrix.
        n: its size.
        least: > 0, smallest pivot; one that is smaller, or no number, becomes this.

    Returns:
        True if every pivot was larger: A is positive definite.
    """
    sound = True
    for i in range(n):
        for j in range(i + 1):
            v = A[i, j]
            for c in range(j):
                v -= A[i, c] * A[j, c]
            if i != j:
                A[i, j] = v / A[j, j]
            else:
                if not v > least:
                    v, sound = least, False
                A[i, i] = math.sqrt(v)
    return sound


@law
def forward(L: FloatArray, b: FloatArray, n: int) -> None:
    """Solve ``L y = b`` with the factor of ``factorise``, in the place of ``b``, shape (n,)."""
    for i in range(n):
        v = b[i]
        for c in range(i):
            v -= L[i, c] * b[c]
        b[i] = v / L[i, i]


@law
def solve_factored(L: FloatArray, b: FloatArray, n: int) -> None:
    """Solve ``A x = b`` with the factor of ``factorise``, in the place of ``b``, shape (n,)."""
    forward(L, b, n)
    for i in range(n - 1, -1, -1):
        v = b[i]
        for c in range(i + 1, n):
            v -= L[c, i] * b[c]
        b[i] = v / L[i, i]
