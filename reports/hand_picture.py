"""The hand in one pose, drawn in two views: bones, joints, and tendons coloured by their tension."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mechanics.kinematics import body_poses
from mechanics.wrist import wrist_pose
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.names import HandNames
from signals.records import RecordArray
from signals.typed import Model

BONE: Final = "#c9d1db"
JOINT: Final = "#8a94a3"
PALM: Final = "#eef1f5"
SIDE_M: Final = 0.0045
"""Distance at which a tendon is drawn beside its bone, towards palm or back of the hand."""
VIEWS: Final = (("from the palm", 1, 1.0), ("from the thumb's side", 2, -1.0))
"""Title, palm coordinate that goes across, and the sign that looks natural."""


@law
def _poses(model: Records[Model], q_rad: FloatArray, R: FloatArray, p: FloatArray) -> None:
    body_poses(model[0], q_rad, R, p)


@law
def _palm(model: Records[Model], axis_rad: FloatArray, R: FloatArray, o: FloatArray) -> None:
    wrist_pose(model[0], axis_rad[0], axis_rad[1], R, o)


class HandPose:
    """World positions of one pose: x distal, y ulnar, z palmar, forearm frame (palm frame without a wrist).

    Args:
        model: MODEL record, shape (1,).
        q_rad: joint angles, shape (J,).
        axis_rad: wrist axes, shape (2,).
    """

    def __init__(self, model: RecordArray, q_rad: FloatArray, axis_rad: FloatArray) -> None:
        m = model[0]
        self.model = m
        n = m["body_parent"].shape[0]
        self.R, self.p = np.zeros((n, 3, 3)), np.zeros((n, 3))
        angles = np.zeros(m["joint_min_rad"].shape[0])
        angles[: q_rad.size] = q_rad
        _poses(model, angles, self.R, self.p)
        self.palm_R, self.palm_o = np.eye(3), np.zeros(3)
        if int(m["n_axes"]):
            _palm(model, np.ascontiguousarray(axis_rad, dtype=float), self.palm_R, self.palm_o)

    def world(self, point_m: Any) -> FloatArray:
        """A point of the palm frame in the drawing's frame."""
        return np.asarray(self.palm_o + self.palm_R @ np.asarray(point_m))

    def chain(self, finger: int) -> list[int]:
        """Bodies of a finger from the palm outwards; empty for a finger without a tip."""
        body = int(self.model["finger_tip_body"][finger])
        bodies = []
        while body > 0:
            bodies.append(body)
            body = int(self.model["body_parent"][body])
        return bodies[::-1]

    def tip(self, finger: int) -> FloatArray:
        """Fingertip in the drawing's frame."""
        body = int(self.model["finger_tip_body"][finger])
        return self.world(self.p[body] + self.R[body] @ self.model["finger_tip_m"][finger])

    def bones(self, finger: int) -> FloatArray:
        """Corner points of a finger, shape (n, 3)."""
        bodies = self.chain(finger)
        return np.array([self.world(self.p[b]) for b in bodies] + [self.tip(finger)])

    def tendon(self, t: int) -> FloatArray:
        """Drawn route of a tendon: forearm, palm, then beside the bones to the last joint it moves."""
        m = self.model
        finger = int(m["tendon_finger"][t])
        points = []
        if int(m["n_axes"]):
            points += [m["forearm_point_m"][t], self.world(m["palm_point_m"][t])]
        bodies = [b for b in self.chain(finger) if int(m["body_joint"][b]) >= 0]
        if not bodies:
            bodies = [b for b in range(1, int(m["n_bodies"])) if self._moves(finger, b)]
        if not bodies:  # a joint sensor of what carries the hand
            return np.zeros((0, 3))
        arms = m["P_tj_m"][t]
        last = max((k for k, b in enumerate(bodies) if arms[int(m["body_joint"][b])] != 0.0), default=0)
        if int(m["tendon_kind"][t]) == 1:
            last = min(1, len(bodies) - 1)
        side = self._side(t)
        for k, b in enumerate(bodies[: last + 2] if last + 1 < len(bodies) else bodies):
            share = 0.35 if k == last + 1 else 1.0
            base = self.world(self.p[b] + side * SIDE_M * self._bending(bodies, k, finger))
            if share < 1.0:
                base = points[-1] + share * (base - points[-1])
            points.append(base)
        if last + 1 >= len(bodies) and int(m["finger_tip_body"][finger]) > 0:
            points.append(points[-1] + 0.5 * (self.tip(finger) - points[-1]))
        return np.array(points)

    def _bending(self, bodies: list[int], k: int, finger: int) -> FloatArray:
        """Where a bone's end goes when its joint turns in the positive sense: the palmar side."""
        b = bodies[k]
        has_tip = int(self.model["finger_tip_body"][finger]) > 0
        end = self.p[bodies[k + 1]] if k + 1 < len(bodies) else self.p[b]
        if k + 1 == len(bodies) and has_tip:
            end = self.p[b] + self.R[b] @ self.model["finger_tip_m"][finger]
        way = np.cross(self.R[b] @ self.model["body_axis"][b], end - self.p[b])
        length = float(np.linalg.norm(way))
        side: FloatArray = way / length if length > 1e-6 else self.R[b][:, 1]
        return side

    def _moves(self, finger: int, body: int) -> bool:
        joints = self.model["finger_joint"][finger][: int(self.model["finger_n_joints"][finger])]
        return int(self.model["body_joint"][body]) in {int(j) for j in joints}

    def _side(self, t: int) -> float:
        """+1 for a flexor, drawn on the palmar side, -1 for an extensor."""
        m = self.model
        if int(m["n_axes"]):
            return 1.0 if m["palm_point_m"][t][2] > 0.0 else -1.0
        arms = m["P_tj_m"][t]
        moved = np.flatnonzero(arms)
        return 1.0 if moved.size and arms[moved[-1]] < 0.0 else -1.0


def draw_hand(
    axes: tuple[Any, Any],
    model: RecordArray,
    names: HandNames,
    q_rad: FloatArray,
    axis_rad: FloatArray,
    tension_n: FloatArray,
    limit_n: float | None = None,
) -> Any:
    """Draw the hand into two matplotlib axes; returns the colour map of the tensions for a colour bar."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    m = model[0]
    pose = HandPose(model, q_rad, axis_rad)
    top = limit_n or max(40.0, float(np.max(tension_n, initial=0.0)))
    colours = ScalarMappable(Normalize(0.0, top), colormaps["turbo"])
    n_fingers, n_tendons = int(m["n_fingers"]), int(m["n_tendons"])
    for axis, (title, across, sign) in zip(axes, VIEWS, strict=True):
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.grid(False)
        axis.set_xticks([])
        axis.set_yticks([])
        for spine in axis.spines.values():
            spine.set_visible(False)
        _draw_palm(axis, pose, across, sign)
        for t in range(n_tendons):
            route = pose.tendon(t)
            if len(route) > 1:
                axis.plot(
                    sign * route[:, across],
                    route[:, 0],
                    color=colours.to_rgba(tension_n[t]),
                    linewidth=1.1,
                    zorder=3,
                )
        for g in range(n_fingers):
            bones = pose.bones(g) if pose.chain(g) else np.zeros((0, 3))
            if len(bones):
                axis.plot(
                    sign * bones[:, across], bones[:, 0],
                    color=BONE, linewidth=7.0, solid_capstyle="round", zorder=1,
                )  # fmt: skip
                axis.plot(
                    sign * bones[:-1, across], bones[:-1, 0], "o", color=JOINT, markersize=3.0, zorder=2
                )
                tip = bones[-1]
                axis.annotate(
                    names.fingers[g], (sign * tip[across], tip[0]),
                    textcoords="offset points", xytext=(0, 7), ha="center", fontsize=7.5,
                )  # fmt: skip
        axis.margins(0.08)
    return colours


def _draw_palm(axis: Any, pose: HandPose, across: int, sign: float) -> None:
    """The palm as the hull of its finger bases and its origin, the wrist as a short line."""
    m = pose.model
    corners = [pose.world([0.0, 0.0, 0.0])]
    for body in range(1, int(m["n_bodies"])):
        if int(m["body_parent"][body]) == 0:
            corners.append(pose.world(pose.p[body]))
    if len(corners) < 3:
        return
    points = np.array(corners)[:, [across, 0]] * [sign, 1.0]
    centre = points.mean(axis=0)
    order = np.argsort(np.arctan2(*(points - centre).T[::-1]))
    axis.fill(*points[order].T, color=PALM, zorder=0)
