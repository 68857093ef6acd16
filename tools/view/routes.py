"""Ways of the tendons through the hand, as a picture of what the hand file says of them.

A hand file gives moment arms, not ways. A tendon is drawn where its arm is: at each joint that it turns,
beside the axis by dh/dq, on the side on which that joint's turn lengthens it. Insertion points are drawn as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from signals.layout import FloatArray, IntArray
from signals.modes import TendonKind

_ALONG: Final = np.array([1.0, 0.0, 0.0])
_LEAD_M: Final = 0.03
"""Piece before the first point of a hand without a wrist."""
_BEHIND_M: Final = 0.07
"""Piece in the forearm."""
_SAME_M: Final = 0.012
"""Two joints as near as this share a point."""
_LEAST_SINE: Final = 0.1
"""Of the angle between bone and axis; below it there is no place beside the axis."""
_END_M: Final = 0.012
"""How far along its last bone a tendon ends."""


@dataclass(frozen=True, slots=True)
class Via:
    """A point ``at`` [m] in the frame of ``body``; -1: forearm."""

    body: int
    at: FloatArray


@dataclass(frozen=True, slots=True)
class Places:
    """Poses in the forearm frame: of the forearm itself, then body by body.

    Attributes:
        R: orientations, shape (1 + B, 3, 3).
        p: origins [m], shape (1 + B, 3).
    """

    R: FloatArray
    p: FloatArray

    def points(self, body: IntArray, at: FloatArray) -> FloatArray:
        """Points [m] from the frames of their bodies (-1: forearm); ``at`` has shape body.shape + (3,)."""
        found: FloatArray = self.p[body + 1] + np.einsum("...ij,...j->...i", self.R[body + 1], at)
        return found


def routes(m: Any) -> list[tuple[int, list[Via]]]:
    """(tendon, points from the forearm to its end), at least two points; a tendon that branches has several.

    Args:
        m: geometry, fields as arrays.
    """
    return [(t, line) for t in range(m.n_tendons) for line in _lines(m, t)]


def _lines(m: Any, t: int) -> list[list[Via]]:
    through = _base(m, t) if m.tendon_kind[t] == TendonKind.INSERTION_POINTS else []
    branches = _branches(m, t)
    if not through and not branches:
        return [[Via(-1, m.forearm_point_m[t]), Via(0, m.palm_point_m[t])]]
    return [_lead(m, t, through + branch) + through + branch for branch in branches or [[]]]


def _lead(m: Any, t: int, line: list[Via]) -> list[Via]:
    """The way to a line's first point."""
    if m.n_axes == 2:
        behind = m.forearm_point_m[t] - _BEHIND_M * _ALONG
        return [Via(-1, behind), Via(-1, m.forearm_point_m[t]), Via(0, m.palm_point_m[t])]
    return [Via(line[0].body, line[0].at - _LEAD_M * _ALONG)]


def _branches(m: Any, t: int) -> list[list[Via]]:
    """Points beside the joint axes that the tendon has an arm about, bone by bone outwards, and its ends."""
    found: list[list[Via]] = []
    for b in range(1, m.n_bodies):
        joint = m.body_joint[b]
        arm = m.P_tj_m[t, joint] if joint >= 0 else 0.0
        if arm == 0.0:
            continue
        before = _before(m, b, found)
        beside = np.cross(_ALONG, m.body_axis[b])
        at = arm * beside / max(float(beside @ beside), _LEAST_SINE**2)
        if before and m.body_parent[b] == before[-1].body and np.linalg.norm(m.body_origin_m[b]) < _SAME_M:
            at = at + m.body_rotation[b].T @ before[-1].at  # two axes through one joint: one point
            found = [line for line in found if line != before]
            before = before[:-1]
        found = [line for line in found if line != before]
        found.append([*before, Via(b, at)])
    return [[*line, Via(line[-1].body, _END_M * _ALONG + 0.6 * line[-1].at)] for line in found]


def _before(m: Any, b: int, lines: list[list[Via]]) -> list[Via]:
    """The longest beginning of a line that lies on bones between body ``b`` and the palm."""
    inside, body = set(), int(m.body_parent[b])
    while body > 0:
        inside.add(body)
        body = int(m.body_parent[body])
    begins = ([via for via in line if via.body in inside] for line in lines)
    return max(begins, key=len, default=[])


def _base(m: Any, t: int) -> list[Via]:
    """The straight piece of a base tendon, between its insertion points (frames {10} and {12})."""
    finger = m.tendon_finger[t]
    moved = [b for b in range(1, m.n_bodies) if m.body_joint[b] >= 0]
    own = [b for b in moved if m.joint_finger[m.body_joint[b]] == finger]
    cross, bone = own[0], own[1]
    palm = m.body_origin_m[cross] + m.body_rotation[cross] @ m.insertion_palm_m[t]
    at = m.thumb_metacarpal_m[finger] * _ALONG + m.insertion_bone_m[t]
    return [Via(int(m.body_parent[cross]), palm), Via(bone, m.body_rotation[bone].T @ at)]
