"""Pseudo-inverse of a coupling and the checks of a model record's coupling, before anything runs on it.

Direction and units, once: P = dh/dq [m/rad], tendons x joints, maps joint speeds to path speeds; -P^T maps
tensions [N] to joint torques [N m]; P^+ = (P^T P)^-1 P^T [rad/m] maps measured lengths to joint angles and is
not an inverse: P P^+ projects on the lengths that some joint angle explains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.coupling import tendon_jacobian
from signals.modes import TendonKind
from signals.names import HandNames
from signals.records import RecordArray

FloatArray = NDArray[np.float64]

RANK_TOLERANCE = 1e-6
"""Share of the largest singular value below which a joint motion counts as unseen."""
INVERSE_TOLERANCE = 1e-6


class CouplingError(ValueError):
    """A coupling that cannot be right; ``rows`` names the tendons (rows of P) concerned."""

    def __init__(self, finger: str, rows: tuple[str, ...], fault: str) -> None:
        self.finger, self.rows = finger, rows
        super().__init__(f"finger {finger}, rows {', '.join(rows) or 'none'} of its coupling P: {fault}")


def pseudo_inverse(P_tj_m: FloatArray) -> FloatArray:
    """``(P^T P)^-1 P^T`` [rad/m], shape (nj, nt) (eq. 5.15, corrected).

    Raises:
        ValueError: P has not full column rank: some joint motion moves no tendon.
    """
    values = np.linalg.svd(P_tj_m, compute_uv=False)
    if len(values) < P_tj_m.shape[1] or not values[-1] > RANK_TOLERANCE * values[0]:
        raise ValueError(
            f"P of shape {P_tj_m.shape} has rank {int(np.sum(values > RANK_TOLERANCE * values[0]))}, its "
            f"{P_tj_m.shape[1]} joints need as much: rows (tendons) are missing or repeat each other"
        )
    return np.asarray(np.linalg.solve(P_tj_m.T @ P_tj_m, P_tj_m.T))


def check_coupling(model: RecordArray, names: HandNames) -> None:
    """Check every finger's coupling at the straight pose: rows, columns, signs, rank and pseudo-inverse.

    Raises:
        CouplingError: names the finger and the rows: a tendon that moves nothing, a joint that no tendon
            moves or that is pulled one way only, a joint motion that no tendon sees, or a stored
            pseudo-inverse that does not belong to P (transposed, stale).
    """
    m = model[0]
    P = np.zeros(m["P_tj_m"].shape)
    tendon_jacobian(m, np.zeros(P.shape[1]), P)
    for f in range(int(m["n_fingers"])):
        tendons = [int(t) for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
        joints = [int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]]]
        _check_finger(m, P, names, f, tendons, joints)
    _check_owners(m, names)


def _check_owners(m: Any, names: HandNames) -> None:
    for t in range(int(m["n_tendons"])):
        f = int(m["tendon_finger"][t])
        if t not in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            raise CouplingError(names.fingers[f], (names.tendons[t],), "the finger does not list this tendon")
        if m["tendon_kind"][t] == TendonKind.INSERTION_POINTS and m["P_tj_m"][t].any():
            raise CouplingError(
                names.fingers[f],
                (names.tendons[t],),
                "a tendon on insertion points has no constant row dh/dq",
            )


def _check_finger(
    m: Any, P: FloatArray, names: HandNames, f: int, tendons: list[int], joints: list[int]
) -> None:
    finger = names.fingers[f]
    rows = tuple(names.tendons[t] for t in tendons)
    block = P[np.ix_(tendons, joints)]
    if not np.isfinite(block).all():
        bad = tuple(r for r, ok in zip(rows, np.isfinite(block.sum(axis=1)), strict=True) if not ok)
        raise CouplingError(finger, bad, "entries that are no finite numbers")
    still = tuple(r for r, moved in zip(rows, np.abs(block).max(axis=1) > 0.0, strict=True) if not moved)
    if still:
        raise CouplingError(finger, still, "these tendons move no joint of their finger")
    if len(tendons) <= len(joints):
        raise CouplingError(
            finger,
            rows,
            f"{len(tendons)} tendons for {len(joints)} joints; tendons only pull: one more is needed",
        )
    for k, j in enumerate(joints):
        column = block[:, k]
        if not (np.any(column > 0.0) and np.any(column < 0.0)):
            touching = tuple(r for r, p in zip(rows, column, strict=True) if p != 0.0)
            raise CouplingError(
                finger,
                touching,
                f"joint {names.joints[j]} is not pulled both ways (needs entries of both signs)",
            )
    _, values, directions = np.linalg.svd(block)
    if not values[-1] > RANK_TOLERANCE * values[0]:
        unseen = directions[-1] / np.abs(directions[-1]).max()
        motion = " ".join(
            f"{a:+.2g} {names.joints[j]}" for a, j in zip(unseen, joints, strict=True) if abs(a) > 1e-3
        )
        rank = int(np.sum(values > RANK_TOLERANCE * values[0]))
        raise CouplingError(
            finger, rows, f"rank {rank} of {len(joints)}: no row sees the joint motion {motion}"
        )
    _check_stored_inverse(m, names, f, tendons, joints)


def _check_stored_inverse(m: Any, names: HandNames, f: int, tendons: list[int], joints: list[int]) -> None:
    """P^+ P = 1 on the joints that pulleys move; the base joints of a tensegrity thumb have no part in it."""
    pulleys = [t for t in tendons if m["tendon_kind"][t] == TendonKind.PULLEYS]
    block = m["P_tj_m"][np.ix_(pulleys, joints)]
    moved = [j for j, column in zip(joints, block.T, strict=True) if np.any(column)]
    if not moved:
        return
    identity = m["pinv_jt_1_m"][np.ix_(moved, pulleys)] @ m["P_tj_m"][np.ix_(pulleys, moved)]
    error = float(np.abs(identity - np.eye(len(moved))).max())
    if not error < INVERSE_TOLERANCE:
        raise CouplingError(
            names.fingers[f],
            tuple(names.tendons[t] for t in pulleys),
            f"the stored pseudo-inverse is not theirs, P^+ P is off by {error:.2g} (transposed or stale?)",
        )
