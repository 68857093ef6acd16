"""The hand as a figure: bones as capsules, tendons as lines, posed by joint and axis angles.

Everything is in the forearm frame. The poses are those of ``mechanics``, from the geometry in ``meta``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mechanics.kinematics import body_poses
from signals.layout import FloatArray, IntArray
from tools.monitor.palm import Palm, published_geometry
from tools.monitor.plain import plain
from tools.view.meshes import Shape, read_shapes
from tools.view.routes import Places, routes

BONE: Final = (168, 178, 194)
PALM: Final = (104, 114, 130)
PALM_RADIUS_M: Final = 0.0056
_TAPER: Final = (0.0050, 0.0047, 0.0043, 0.0039, 0.0036)
"""Radius of a bone [m] by how many are between it and the palm; thin, so that its tendons are seen."""
_SHORT_M: Final = 0.002
_FOREARM_M: Final = 0.11


@dataclass(frozen=True, slots=True, kw_only=True)
class Bone:
    """A capsule: from ``start`` to ``end`` in the frame of ``body`` (-1: forearm), of a finger (-1: none)."""

    body: int
    start: FloatArray
    end: FloatArray
    radius_m: float
    finger: int


@dataclass(frozen=True, slots=True)
class Capsules:
    """Capsules of a pose: ``start``, ``end`` shape (n, 3) [m]."""

    start: FloatArray
    end: FloatArray

    @property
    def turns(self) -> FloatArray:
        """Quaternions (w, x, y, z) that turn x into each capsule's direction, shape (n, 4)."""
        way = self.end - self.start
        way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
        q = np.column_stack((1.0 + way[:, 0], np.zeros(len(way)), -way[:, 2], way[:, 1]))
        back = q[:, 0] < 1e-9
        q[back] = (0.0, 0.0, 0.0, 1.0)
        return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))

    @property
    def lengths(self) -> FloatArray:
        """Lengths [m], shape (n,)."""
        return np.asarray(np.linalg.norm(self.end - self.start, axis=1))


class Drawn(Protocol):
    """What can be posed and drawn: a hand, or a mechanism.

    Attributes:
        up: axis of the picture that points up.
        names: index space -> names.
        radii_m, fingers, colours: of each capsule, shape (n,), (n,), (n, 3).
        shapes: meshes of bodies, whose capsules have no radius.
        missing: sentences about meshes that could not be read.
    """

    up: str
    names: dict[str, list[str]]
    radii_m: FloatArray
    fingers: IntArray
    colours: NDArray[np.uint8]
    shapes: list[Shape]
    missing: list[str]

    def places(self, joints: dict[str, float], axes: dict[str, float]) -> Any:
        """Where everything is, of angles by name [rad]."""

    def capsules(self, places: Any) -> Capsules:
        """The bones of a pose."""

    def reach(self) -> FloatArray:
        """Points [m] that the first look must hold, shape (n, 3)."""

    def palm_angles_rad(self, axes: dict[str, float]) -> tuple[float, float] | None:
        """Palm pitch and yaw; ``None``: it has none."""


class Figure:
    """A hand that can be posed.

    Args:
        meta: of the hand: ``names``, ``geometry``, ``meshes``, ``gears``.
    """

    up = "+x"

    def __init__(self, meta: dict[str, Any]) -> None:
        self.names: dict[str, list[str]] = meta["names"]
        self.m, self._palm = published_geometry(meta), Palm(meta)
        self.shapes, self.missing = read_shapes(meta.get("meshes", []), self._finger_of_body())
        self.bones = self._bones()
        self._body = np.array([bone.body for bone in self.bones])
        self._ends = np.array([(bone.start, bone.end) for bone in self.bones])
        meshed = {shape.body for shape in self.shapes}
        self.radii_m = np.array([0.0 if bone.body in meshed else bone.radius_m for bone in self.bones])
        self.fingers = np.array([bone.finger for bone in self.bones])
        self.colours = np.where(self.fingers[:, None] >= 0, np.array(BONE), np.array(PALM)).astype(np.uint8)
        self.strands = [] if meta.get("gears") else routes(self.m)
        vias = [line for _, line in self.strands]
        self._via_body = np.array([via.body for line in vias for via in line], dtype=int)
        self._via_at = np.array([via.at for line in vias for via in line]).reshape(-1, 3)
        ends = np.cumsum([len(line) for line in vias], dtype=int)
        last = np.zeros(len(self._via_body), dtype=bool)
        last[ends - 1] = True
        self._from = np.flatnonzero(~last)
        tendons = [t for t, _ in self.strands]
        self.tendon_of_line = np.repeat(tendons, [len(line) - 1 for line in vias])

    def places(self, joints: dict[str, float], axes: dict[str, float]) -> Places:
        """Poses of forearm (first row) and bodies, of angles by name [rad]; what is no number counts as 0."""
        m = self.m
        q = np.nan_to_num([joints.get(name, 0.0) for name in self.names["joint"]])
        R, p = np.zeros((m.n_bodies, 3, 3)), np.zeros((m.n_bodies, 3))
        plain(body_poses)(m, q, R, p)
        turn, origin = self._palm.pose(axes)
        return Places(
            np.concatenate((np.eye(3)[None], turn @ R)),
            np.concatenate((np.zeros((1, 3)), origin + p @ turn.T)),
        )

    def palm_angles_rad(self, axes: dict[str, float]) -> tuple[float, float] | None:
        """Palm pitch and yaw; ``None`` for a hand without a wrist of linked axes."""
        return self._palm.angles_rad(axes)

    def capsules(self, places: Places) -> Capsules:
        """The bones of a pose."""
        ends = places.points(self._body[:, None], self._ends)
        return Capsules(ends[:, 0], ends[:, 1])

    def reach(self) -> FloatArray:
        """Ends of the bones [m] of the straight hand, shape (n, 3)."""
        ends = self.capsules(self.places({}, {}))
        return np.concatenate((ends.start, ends.end))

    def lines(self, places: Places) -> FloatArray:
        """Pieces of the tendons' ways [m], shape (pieces, 2, 3); ``tendon_of_line`` says whose."""
        points = places.points(self._via_body, self._via_at)
        return np.stack((points[self._from], points[self._from + 1]), axis=1)

    def _bones(self) -> list[Bone]:
        m, found = self.m, []
        finger = self._finger_of_body()
        depth = np.zeros(m.n_bodies, dtype=int)
        for b in range(1, m.n_bodies):
            depth[b] = depth[m.body_parent[b]] + (m.body_parent[b] > 0)
        ends: dict[int, list[tuple[FloatArray, int]]] = {}
        for b in range(1, m.n_bodies):
            ends.setdefault(int(m.body_parent[b]), []).append((m.body_origin_m[b], int(finger[b])))
        for f, b in enumerate(m.finger_tip_body.tolist()):
            if b >= 0:
                ends.setdefault(b, []).append((m.finger_tip_m[f], f))
        for body, tips in ends.items():
            for tip, f in tips:
                start = np.zeros(3) if body else np.array([0.1, 0.55, 0.5]) * tip
                if np.linalg.norm(tip - start) > _SHORT_M:
                    radius = _TAPER[min(int(depth[body]), 4)] if body else PALM_RADIUS_M
                    whose = f if body else -1
                    found.append(Bone(body=body, start=start, end=tip, radius_m=radius, finger=whose))
        if m.n_axes == 2:
            middle = m.forearm_point_m.mean(axis=0)
            back = middle - np.array([_FOREARM_M, 0.0, 0.0])
            found.append(Bone(body=-1, start=back, end=middle - [0.02, 0, 0], radius_m=0.019, finger=-1))
        return found

    def _finger_of_body(self) -> IntArray:
        m = self.m
        finger = np.full(m.n_bodies, -1)
        for b in range(1, m.n_bodies):
            joint = m.body_joint[b]
            finger[b] = m.joint_finger[joint] if joint >= 0 else finger[m.body_parent[b]]
        return finger
