"""Motors that have lost turns against the hand file's ``zero_rad``, whatever the pose of the hand is."""

from __future__ import annotations

from typing import Final

import numpy as np

from calibration.finding import Finding
from calibration.motion_run import Means
from calibration.travel import OFFSET_GOOD_DEG
from hand.assembly.straight import elongation_of_tension_m, straight_jacobian
from hand.hand import Hand
from mechanics.start_tension import start_tension_n
from signals.layout import BoolArray, FloatArray, IntArray

POSE_ROUNDS: Final = 30
TURN_SHARE: Final = 0.25
"""Of a motor's turn, by which a lost turn may be off from a whole one."""


def lost_turns(hand: Hand, means: Means, still: BoolArray) -> list[Finding]:
    """Motors whose angle of the straight hand is not the one in the hand file, whatever the pose is."""
    m, found = hand.model[0], []
    motors = m["tendon_motor"][: len(hand.names.tendons)]
    stored = [hand.file.measured(hand.names.motors[i]).zero_rad for i in motors]
    known = np.array([t for t, zero in enumerate(stored) if zero is not None], dtype=np.int64)
    turns = 2.0 * np.pi / m["gear_ratio"][motors[known]]
    away = zeros_rad(hand, means, still)[known] - np.array([stored[t] for t in known], dtype=np.float64)
    if len(known) and np.any(np.round(away / turns)):
        away = away - _by_pose_rad(hand, known, away, turns)
    for t, off, turn in zip(known, away, turns, strict=True):
        name, i, count = hand.names.tendons[t], int(motors[t]), round(off / turn)
        if count == 0:
            continue
        way_mm = 1e3 * abs(off * float(m["spool_radius_m"][t]))
        whole = abs(off - count * turn) < TURN_SHARE * turn
        said = f"{abs(count)} turns of the motor" if whole else f"{np.degrees(off):.1f} deg at the spool"
        text = (
            f"{hand.names.motors[i]} has lost {said} ({way_mm:.1f} mm of tendon) against the hand file's "
            f"zero_rad: reference it anew (flexor calibrate zero) or look for a tendon that jumped"
        )
        found.append(Finding(name, "lost_turn", text, float(count), "turn"))
    return found


def _by_pose_rad(hand: Hand, tendons: IntArray, away_rad: FloatArray, turns_rad: FloatArray) -> FloatArray:
    """What a pose that is straight to ``OFFSET_GOOD_DEG`` explains of the motors' angles, shape (tendons,).

    A turn of a motor may be less tendon than a few degrees of a joint. A pose shows at all tendons of the
    joint, a lost turn at its own; so from the straight one on the pose is led to the least sum of turns.
    """
    m = hand.model[0]
    P = straight_jacobian(hand.model)[tendons][:, : int(m["n_joints"])]
    P = P[:, (P != 0.0).sum(axis=0) > 1]
    moved, wanted = -P / (m["spool_radius_m"][tendons] * turns_rad)[:, np.newaxis], away_rad / turns_rad
    pose = np.zeros(P.shape[1])
    if np.linalg.matrix_rank(moved) == len(tendons):
        return np.zeros(len(tendons))  # any angles would be a pose
    for _ in range(POSE_ROUNDS):
        weight = 1.0 / np.sqrt(np.maximum(np.abs(wanted - moved @ pose), 1e-3))
        pose = np.linalg.lstsq(moved * weight[:, np.newaxis], wanted * weight, rcond=None)[0]
        pose = np.clip(pose, -np.radians(OFFSET_GOOD_DEG), np.radians(OFFSET_GOOD_DEG))
    return np.asarray(moved @ pose * turns_rad)


def zeros_rad(hand: Hand, means: Means, still: BoolArray) -> FloatArray:
    """Angle of each tendon's motor at which the straight hand has its start tension, shape (nt,)."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    straight = hand_at_zero(hand)
    e = means.of("elongation_m")[still].mean(axis=0)[:n]
    theta = means.of("motor_angle_rad")[still].mean(axis=0)[m["tendon_motor"][:n]]
    return np.asarray(theta - (e - straight) / m["spool_radius_m"][:n])


def hand_at_zero(hand: Hand) -> FloatArray:
    """Elongation of each tendon of the straight hand at its start tension, shape (nt,)."""
    start = start_tension_n(hand.model[0], float(hand.model[0]["pretension_n"][0]))
    return elongation_of_tension_m(hand.model, start)[: len(hand.names.tendons)]
