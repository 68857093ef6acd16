r"""How much of a joint torque a finger can give: the set of its torques is a zonotope, its facets are few.

The torques ``A^T f`` of tensions within bounds form a zonotope. A target ``s b`` lies inside as long as
``s (y . b) <= sum_i max(l_i y.A_i, u_i y.A_i)`` for the normal y of every facet, and a facet's normal is
orthogonal to n - 1 of the rows: with the rows of a finger on at most six different lines these are at most
twenty normals. The greatest s, exactly, without iteration.
"""

from __future__ import annotations

from typing import Final

from controllers.memory import ControllerMemory
from signals.compiled import law
from signals.layout import FloatArray

PARALLEL: Final = 1e-9
"""Rows (and pivots) closer to parallel (to zero) than this share of their size count as such."""
FACETS_MAX: Final = 512
"""Most subsets of rows that a cycle looks at; the reference hand has 20."""


@law
def parallel(A: FloatArray, a: int, b: int, n: int) -> bool:
    """True if rows ``a`` and ``b`` lie on one line."""
    aa = bb = ab = 0.0
    for j in range(n):
        aa += A[a, j] * A[a, j]
        bb += A[b, j] * A[b, j]
        ab += A[a, j] * A[b, j]
    return aa * bb - ab * ab <= PARALLEL * PARALLEL * aa * bb


@law
def collect_lines(w: ControllerMemory, n_tendons: int, n_joints: int) -> int:
    """One movable row of every line into ``w.line``; returns their number."""
    count = 0
    for i in range(n_tendons):
        size = 0.0
        for j in range(n_joints):
            size += abs(w.A[i, j])
        new = size > 0.0 and w.high[i] > w.low[i]
        for k in range(count):
            new = new and not parallel(w.A, i, w.line[k], n_joints)
        if new:
            w.line[count] = i
            count += 1
    return count


@law
def normal_of(w: ControllerMemory, n_joints: int) -> bool:
    """Unit vector orthogonal to the picked ``n - 1`` rows into ``w.normal``; False if they are dependent."""
    n, H = n_joints, w.H
    for r in range(n - 1):
        for c in range(n):
            H[r, c] = w.A[w.line[w.pick[r]], c]
    largest = 0.0
    for r in range(n - 1):
        for c in range(n):
            largest = max(largest, abs(H[r, c]))
    free = n - 1
    # Gauss-Jordan with column pivots; step[] keeps the pivot column of each row
    for r in range(n - 1):
        pivot_row, pivot_col = r, -1
        size = PARALLEL * largest
        for i in range(r, n - 1):
            for c in range(n):
                if abs(H[i, c]) > size:
                    size, pivot_row, pivot_col = abs(H[i, c]), i, c
        if pivot_col < 0:
            return False
        for c in range(n):
            H[r, c], H[pivot_row, c] = H[pivot_row, c], H[r, c]
        scale = 1.0 / H[r, pivot_col]
        for c in range(n):
            H[r, c] *= scale
        for i in range(n - 1):
            if i != r:
                factor = H[i, pivot_col]
                for c in range(n):
                    H[i, c] -= factor * H[r, c]
        w.step[r] = pivot_col
    total = n * (n - 1) // 2
    for r in range(n - 1):
        total -= int(w.step[r])
    free = total
    norm = 1.0
    w.normal[free] = 1.0
    for r in range(n - 1):
        value = -H[r, free]
        w.normal[int(w.step[r])] = value
        norm += value * value
    norm = norm**0.5
    for c in range(n):
        w.normal[c] /= norm
    return True


@law
def support(w: ControllerMemory, n_tendons: int, n_joints: int, sign: float) -> tuple[float, float]:
    """(greatest y . A^T f within the bounds, y . b) for y = sign * ``w.normal``."""
    reach = target = 0.0
    for j in range(n_joints):
        target += sign * w.normal[j] * w.target[j]
    for i in range(n_tendons):
        d = 0.0
        for j in range(n_joints):
            d += sign * w.normal[j] * w.A[i, j]
        reach += max(d * w.low[i], d * w.high[i])
    return reach, target


@law
def next_pick(w: ControllerMemory, size: int, count: int) -> bool:
    """Next subset of ``size`` out of ``count`` in ``w.pick``; False after the last one."""
    r = size - 1
    while r >= 0 and w.pick[r] == count - size + r:
        r -= 1
    if r < 0:
        return False
    w.pick[r] += 1
    for i in range(r + 1, size):
        w.pick[i] = w.pick[i - 1] + 1
    return True


@law
def feasible_share(w: ControllerMemory, n_tendons: int, n_joints: int) -> float:
    """Greatest s in [0, 1] with ``s b`` inside the torque set; the limiting normal into ``w.best_normal``.

    0 also where the set does not hold the zero torque.
    """
    count = collect_lines(w, n_tendons, n_joints)
    share = 1.0
    for j in range(n_joints):
        w.best_normal[j] = 0.0
    if count < n_joints - 1:
        return 0.0
    for r in range(n_joints - 1):
        w.pick[r] = r
    for _ in range(FACETS_MAX):
        if normal_of(w, n_joints):
            for sign in (1.0, -1.0):
                reach, target = support(w, n_tendons, n_joints, sign)
                if reach < 0.0:
                    return 0.0
                if target > 0.0 and reach < share * target:
                    share = max(reach / target, 0.0)
                    for j in range(n_joints):
                        w.best_normal[j] = sign * w.normal[j]
        if not next_pick(w, n_joints - 1, count):
            break
    return share


@law
def pin_to_facet(w: ControllerMemory, n_tendons: int, n_joints: int) -> None:
    """Bounds of every tendon that the limiting facet drives to one end are moved to that end."""
    largest = 0.0
    for i in range(n_tendons):
        d = 0.0
        for j in range(n_joints):
            d += w.best_normal[j] * w.A[i, j]
        w.along[i] = d
        largest = max(largest, abs(d))
    for i in range(n_tendons):
        if w.along[i] > PARALLEL * largest:
            w.low[i] = w.high[i]
        elif w.along[i] < -PARALLEL * largest:
            w.high[i] = w.low[i]
