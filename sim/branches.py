"""The branches of the hand side by side: everything that hangs on one child of the palm, one lane for each.

A tendon or a joint has its place in its branch. What a substep sums over tendons and joints is a loop over
places whose innermost loop runs over the lanes: vector code without an index from a table (superwords, see
``signals.compiled``). Places that a branch does not have hold zeros; in the block of its joints a one on the
diagonal. Where no branch couples the tendon of a place to the joint of another, the pair is passed over.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

from signals.compiled import law
from signals.layout import FloatArray, IntArray
from signals.sizes import AXES, BRANCH_JOINTS, FINGERS, TENDONS
from signals.typed import Model

LANES: Final = FINGERS
BRANCH_TENDONS: Final = TENDONS
"""Most tendons of a branch: all of them, where a wrist of ordinary joints carries the fingers."""
LEAST_PIVOT: Final = 1e-300


class Branches(Protocol):
    """Fields of the plant's record by branch: ``x``, ``y`` joints, ``k`` tendons, ``b`` branches."""

    n_branches: int
    most_joints: int
    most_tendons: int
    branch_joints: Annotated[IntArray, LANES]
    branch_joint: Annotated[IntArray, LANES, BRANCH_JOINTS]
    branch_tendons: Annotated[IntArray, LANES]
    branch_tendon: Annotated[IntArray, LANES, BRANCH_TENDONS]
    tendon_branch: Annotated[IntArray, TENDONS]
    no_joint: Annotated[FloatArray, BRANCH_JOINTS, LANES]
    in_use_kx: Annotated[IntArray, BRANCH_TENDONS, BRANCH_JOINTS]
    fixed_P_kxb_m: Annotated[FloatArray, BRANCH_TENDONS, BRANCH_JOINTS, LANES]
    P_kxb_m: Annotated[FloatArray, BRANCH_TENDONS, BRANCH_JOINTS, LANES]
    Pw_akb_m: Annotated[FloatArray, AXES, BRANCH_TENDONS, LANES]
    joint_xb: Annotated[FloatArray, BRANCH_JOINTS, LANES]
    sum_kb: Annotated[FloatArray, BRANCH_TENDONS, LANES]
    tendon_kb: Annotated[FloatArray, BRANCH_TENDONS, LANES]
    slope_kb: Annotated[FloatArray, BRANCH_TENDONS, LANES]
    product_b: Annotated[FloatArray, LANES]
    tau_xb_nm: Annotated[FloatArray, BRANCH_JOINTS, LANES]
    damping_xyb: Annotated[FloatArray, BRANCH_JOINTS, BRANCH_JOINTS, LANES]
    axis_tau_ab_nm: Annotated[FloatArray, AXES, LANES]
    axis_damping_axb: Annotated[FloatArray, AXES, BRANCH_JOINTS, LANES]
    axis_damping_acb: Annotated[FloatArray, AXES, AXES, LANES]
    block_xyb: Annotated[FloatArray, BRANCH_JOINTS, BRANCH_JOINTS, LANES]
    coupling_axb: Annotated[FloatArray, AXES, BRANCH_JOINTS, LANES]
    right_rxb: Annotated[FloatArray, 3, BRANCH_JOINTS, LANES]


@law
def times(out: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """``out = a * b`` in every lane. All is read before anything is written: then it is vector code."""
    (out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]) = (
        a[0] * b[0],
        a[1] * b[1],
        a[2] * b[2],
        a[3] * b[3],
        a[4] * b[4],
        a[5] * b[5],
        a[6] * b[6],
        a[7] * b[7],
    )


@law
def gain(out: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """``out += a * b`` in every lane."""
    (out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]) = (
        out[0] + a[0] * b[0],
        out[1] + a[1] * b[1],
        out[2] + a[2] * b[2],
        out[3] + a[3] * b[3],
        out[4] + a[4] * b[4],
        out[5] + a[5] * b[5],
        out[6] + a[6] * b[6],
        out[7] + a[7] * b[7],
    )


@law
def lose(out: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """``out -= a * b`` in every lane."""
    (out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]) = (
        out[0] - a[0] * b[0],
        out[1] - a[1] * b[1],
        out[2] - a[2] * b[2],
        out[3] - a[3] * b[3],
        out[4] - a[4] * b[4],
        out[5] - a[5] * b[5],
        out[6] - a[6] * b[6],
        out[7] - a[7] * b[7],
    )


@law
def place_rows(m: Model, P: FloatArray, p: Branches) -> None:
    """Rows of P of all tendons, shape (T, J), and of the model's own part of it, which no pose changes."""
    for k in range(p.most_tendons):
        for x in range(p.most_joints):
            p.in_use_kx[k, x] = 0
    for b in range(p.n_branches):
        for k in range(p.branch_tendons[b]):
            t = p.branch_tendon[b, k]
            for x in range(p.branch_joints[b]):
                fixed = m.P_tj_m[t, p.branch_joint[b, x]]
                p.fixed_P_kxb_m[k, x, b] = fixed
                p.in_use_kx[k, x] |= 1 if fixed != 0.0 else 0
        move_rows(P, p, b)


@law
def move_rows(P: FloatArray, p: Branches, b: int) -> None:
    """Rows of P of the tendons of one branch."""
    for k in range(p.branch_tendons[b]):
        t = p.branch_tendon[b, k]
        for x in range(p.branch_joints[b]):
            entry = P[t, p.branch_joint[b, x]]
            p.P_kxb_m[k, x, b] = entry
            p.in_use_kx[k, x] |= 1 if entry != 0.0 else 0


@law
def place_wrist_rows(m: Model, Pw: FloatArray, p: Branches) -> None:
    """Rows of the wrist's part of P, shape (T, 2)."""
    for a in range(m.n_axes):
        for b in range(p.n_branches):
            for k in range(p.branch_tendons[b]):
                p.Pw_akb_m[a, k, b] = Pw[p.branch_tendon[b, k], a]


@law
def tendon_sums(p: Branches, P_kxb: FloatArray, joints: FloatArray, out: FloatArray) -> None:
    """P times a value of every joint, shape (J,), into a value of every tendon, shape (T,)."""
    v, sums = p.joint_xb, p.sum_kb
    for b in range(p.n_branches):
        for x in range(p.branch_joints[b]):
            v[x, b] = joints[p.branch_joint[b, x]]
    for k in range(p.most_tendons):
        times(sums[k], P_kxb[k, 0], v[0])
        for x in range(1, p.most_joints):
            if p.in_use_kx[k, x]:
                gain(sums[k], P_kxb[k, x], v[x])
    for b in range(p.n_branches):
        for k in range(p.branch_tendons[b]):
            out[p.branch_tendon[b, k]] = sums[k, b]


@law
def load_tendons(m: Model, tension_n: FloatArray, slope_ns_m: FloatArray, p: Branches) -> None:
    """Torques -P^T f of all tendons on joints and axes, and the damping P^T slope P of their guides."""
    f, slope, product = p.tendon_kb, p.slope_kb, p.product_b
    for b in range(p.n_branches):
        for k in range(p.branch_tendons[b]):
            t = p.branch_tendon[b, k]
            f[k, b], slope[k, b] = tension_n[t], slope_ns_m[t]
    for k in range(p.most_tendons):
        for x in range(p.most_joints):
            if not p.in_use_kx[k, x]:
                continue
            lose(p.tau_xb_nm[x], p.P_kxb_m[k, x], f[k])
            times(product, p.P_kxb_m[k, x], slope[k])
            for y in range(x + 1):
                if p.in_use_kx[k, y]:
                    gain(p.damping_xyb[x, y], product, p.P_kxb_m[k, y])
            for a in range(m.n_axes):
                gain(p.axis_damping_axb[a, x], product, p.Pw_akb_m[a, k])
        for a in range(m.n_axes):
            lose(p.axis_tau_ab_nm[a], p.Pw_akb_m[a, k], f[k])
            times(product, p.Pw_akb_m[a, k], slope[k])
            for c in range(m.n_axes):
                gain(p.axis_damping_acb[a, c], product, p.Pw_akb_m[c, k])


@law
def clear_loads(m: Model, p: Branches) -> None:
    """Torques and damping of joints and axes: none yet."""
    for x in range(p.most_joints):
        for b in range(LANES):
            p.tau_xb_nm[x, b] = 0.0
        for y in range(x + 1):
            for b in range(LANES):
                p.damping_xyb[x, y, b] = 0.0
    for a in range(m.n_axes):
        for b in range(LANES):
            p.axis_tau_ab_nm[a, b] = 0.0
        for x in range(p.most_joints):
            for b in range(LANES):
                p.axis_damping_axb[a, x, b] = 0.0
        for c in range(m.n_axes):
            for b in range(LANES):
                p.axis_damping_acb[a, c, b] = 0.0


@law
def sum_of(row: FloatArray, n: int) -> float:
    """Sum over the branches."""
    total = 0.0
    for b in range(LANES):
        total += row[b]
    return total


@law
def factorise_blocks(p: Branches) -> None:
    """The blocks' Cholesky factors in their place, with the inverse of each pivot's root on the diagonal."""
    L = p.block_xyb
    for x in range(p.most_joints):
        for y in range(x):
            for c in range(y):
                lose(L[x, y], L[x, c], L[y, c])
            times(L[x, y], L[x, y], L[y, y])
        for c in range(x):
            lose(L[x, x], L[x, c], L[x, c])
        for b in range(LANES):
            pivot = L[x, x, b]
            L[x, x, b] = 1.0 / math.sqrt(pivot if pivot > LEAST_PIVOT else LEAST_PIVOT)


@law
def solve_blocks(p: Branches) -> None:
    """Solutions of the three right-hand sides of every branch, in their place."""
    L, v, most = p.block_xyb, p.right_rxb, p.most_joints
    for x in range(most):
        for c in range(x):
            for r in range(3):
                lose(v[r, x], L[x, c], v[r, c])
        for r in range(3):
            times(v[r, x], v[r, x], L[x, x])
    for x in range(most - 1, -1, -1):
        for c in range(x + 1, most):
            for r in range(3):
                lose(v[r, x], L[c, x], v[r, c])
        for r in range(3):
            times(v[r, x], v[r, x], L[x, x])
