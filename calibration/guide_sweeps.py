"""Sweeps of joints at two tensions, by paths of the motors, after the sweeps of the levers.

Joints that share tendons move alone and together, in directions in which each tendon runs or stands. Joints
that share none move at the same time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration import lever_loops
from calibration.winding_plan import Path, stretch_to_m
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from signals.layout import FloatArray
from signals.modes import FingerKind

AMPLITUDE_DEG: Final = 20.0
ASIDE_DEG: Final = 5.0
"""Distance of a sweep from the ends of the range."""
MOVE_S: Final = 1.6
MOVES: Final = 4
LEVELS: Final = (0.25, 1.0)
"""Of the high tension of the levers' sweeps."""
STILL: Final = 0.09
"""Speed of a tendon, as a share of the greatest arm's, below which it stands. Measured arms that are meant to
be alike differ by three of a difference's standard deviations, 8.5 %."""
RUNS: Final = 0.4
"""And above which its guides lose all that they can."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep there and back.

    Attributes:
        begin_s: of its first move, since the motion began.
        direction: of every joint in the first move: 1, -1, or 0: it stands; shape (nj,).
    """

    begin_s: float
    direction: FloatArray


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole path; the levers' part ends at ``levers_s``."""

    path: Path
    levers_s: float
    sweeps: tuple[Sweep, ...]


def jacobian(hand: Hand) -> FloatArray:
    """P of the straight hand, shape (nt, nj)."""
    m = hand.model[0]
    return straight_jacobian(hand.model)[: int(m["n_tendons"]), : int(m["n_joints"])]


def sets_of(hand: Hand, tendons: list[int]) -> list[list[int]]:
    """Joints of these tendons' fingers that share tendons, set by set; none of tensegrity bases."""
    m, P = hand.model[0], jacobian(hand)
    fingers = {int(m["tendon_finger"][t]) for t in tendons}
    left = [
        j
        for j in range(P.shape[1])
        if int(m["joint_finger"][j]) in fingers
        and int(m["finger_kind"][m["joint_finger"][j]]) == FingerKind.LINEAR
        and P[:, j].any()
    ]
    sets: list[list[int]] = []
    while left:
        mine = [left[0]]
        for j in mine:
            touched = P[:, j] != 0.0
            mine += [k for k in left if k not in mine and P[touched, k].any()]
        sets.append(sorted(mine))
        left = [j for j in left if j not in mine]
    return sets


def ideal_rows(P: FloatArray, direction: tuple[int, ...]) -> FloatArray:
    """Equations of a sweep at even tensions: shape (joints that move, tendons + joints)."""
    v = P @ np.array(direction, dtype=np.float64)
    sign = np.where(np.abs(v) > STILL * np.abs(P).max(), np.sign(v), 0.0)
    moving = [j for j, way in enumerate(direction) if way != 0]
    own = np.eye(len(direction))[moving] * np.array(direction)
    return np.hstack([(P.T * sign)[moving] / np.abs(P).max(), own])


def directions_for(P: FloatArray) -> list[tuple[int, ...]]:
    """Directions of joints that share tendons, P of shape (tendons, joints): one sweep more than joints.

    A tendon that creeps has a loss of an unknown share; so each has to run or to stand in every sweep. Of
    those, the sweeps are taken one by one that tell most together (greatest determinant), at two tensions.
    """
    n, legal = P.shape[1], list[tuple[int, ...]]()
    for direction in itertools.product((1, 0, -1), repeat=n):
        if next((way for way in direction if way != 0), -1) < 0:
            continue  # stands, or is another one backwards
        v = np.abs(P @ np.array(direction, dtype=np.float64)) / np.abs(P).max()
        if np.all((v < STILL) | (v > RUNS)):
            legal.append(direction)
    weights = [np.concatenate([np.full(P.shape[0], share), np.ones(n)]) for share in LEVELS]
    chosen: list[tuple[int, ...]] = []
    known = 1e-3 * np.eye(P.shape[0] + n)
    for _ in range(min(n + 1, len(legal))):
        gains = []
        for direction in legal:
            rows = np.vstack([ideal_rows(P, direction) * weight for weight in weights])
            gains.append(float(np.linalg.slogdet(known + rows.T @ rows)[1]))
        best = legal.pop(int(np.argmax(gains)))
        rows = np.vstack([ideal_rows(P, best) * weight for weight in weights])
        known = known + rows.T @ rows
        chosen.append(best)
    return chosen


def directions_of(hand: Hand, tendons: list[int]) -> list[FloatArray]:
    """Directions of all joints, sweep by sweep; shape (nj,) each."""
    P, sets = jacobian(hand), sets_of(hand, tendons)
    each = [directions_for(P[P[:, joints].any(axis=1)][:, joints]) for joints in sets]
    found = []
    for k in range(max((len(ways) for ways in each), default=0)):
        direction = np.zeros(P.shape[1])
        for joints, ways in zip(sets, each, strict=True):
            if ways:
                direction[joints] = ways[k % len(ways)]
        found.append(direction)
    return found


def middles_rad(hand: Hand) -> tuple[FloatArray, FloatArray]:
    """(middle, amplitude) of every joint's sweep [rad], the middle as straight as its range allows."""
    m = hand.model[0]
    n = int(m["n_joints"])
    low, high = m["joint_min_rad"][:n], m["joint_max_rad"][:n]
    amplitude = np.minimum(np.radians(AMPLITUDE_DEG), 0.3 * (high - low))
    aside = np.minimum(np.radians(ASIDE_DEG), 0.1 * (high - low))
    return np.clip(0.0, low + amplitude + aside, high - amplitude - aside), amplitude


def plan_of(hand: Hand, tendons: list[int]) -> Plan:
    """Levers first, then every sweep at every level."""
    path = lever_loops.path_of(hand)
    levers_s, sweeps = path.seconds, list[Sweep]()
    middle, amplitude = middles_rad(hand)
    high = lever_loops.levels_n(hand)[2]
    for share in LEVELS:
        path.go(0.8, "", stretch_to_m(hand, share * high))
        for direction in directions_of(hand, tendons):
            start = middle - direction * amplitude
            end = middle + direction * amplitude
            path.go(0.8, "", None, start)
            sweeps.append(Sweep(path.seconds, direction))
            for k in range(MOVES):
                path.go(MOVE_S, "sweep", None, end if k % 2 == 0 else start)
    path.go(0.8, "", np.zeros_like(path.stretch_m[0]), np.zeros_like(middle))
    return Plan(path, levers_s, tuple(sweeps))
