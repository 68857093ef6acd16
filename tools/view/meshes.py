"""Meshes of a hand's bodies: read from the files that the hand file names, posed and painted in the scene."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.frames import rotation_rpy
from signals.layout import FloatArray, IntArray
from tools.view.routes import Places

Colours = NDArray[np.uint8]
_LEAST_M, _MOST_M = 1e-3, 1.0
"""A body of a hand is no shorter and no longer: another size is a slip of units."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A mesh in the frame of ``body`` (0: the palm), of a finger (-1: none).

    Attributes:
        vertices: [m], shape (n, 3).
        faces: shape (k, 3).
    """

    body: int
    finger: int
    vertices: FloatArray
    faces: IntArray


class Meshes:
    """The meshes of one pose, each sent once.

    Args:
        scene: viser's.
        name: of the pose.
        shapes: what they look like.
        opacity: ``None``: solid.
    """

    def __init__(self, scene: Any, name: str, shapes: list[Shape], opacity: float | None) -> None:
        self._bodies = np.array([shape.body for shape in shapes], dtype=int)
        self._handles = [
            scene.add_mesh_simple(
                f"/{name}/mesh_{shape.body}", shape.vertices, shape.faces, opacity=opacity,
                cast_shadow=False, receive_shadow=False,
            )
            for shape in shapes
        ]  # fmt: skip

    def place(self, places: Places) -> None:
        """To where their bodies are."""
        for b, handle in zip(self._bodies, self._handles, strict=True):
            handle.wxyz = _quaternion(places.R[b + 1])
            handle.position = tuple(places.p[b + 1])

    def paint(self, colours: Colours) -> None:
        """Colour of each, shape (n, 3)."""
        for handle, colour in zip(self._handles, colours, strict=True):
            if handle.color != (wanted := tuple(colour.tolist())):
                handle.color = wanted

    def show(self, visible: bool) -> None:
        """Show or hide."""
        for handle in self._handles:
            handle.visible = visible


def _quaternion(R: FloatArray) -> FloatArray:
    from viser.transforms import SO3

    return np.asarray(SO3.from_matrix(R).wxyz)


def read_shapes(meshes: list[dict[str, Any]], finger_of_body: IntArray) -> tuple[list[Shape], list[str]]:
    """What ``meta`` says of meshes, read; and a sentence for each that could not be.

    Args:
        meshes: as ``hand.assembly.meshes.meshes_of`` makes them.
        finger_of_body: finger of each body, -1: none, shape (B,).
    """
    found, missing = [], []
    for mesh in meshes:
        try:
            vertices, faces = _read(Path(mesh["file"]))
        except Exception as error:  # readers of many formats raise what they like
            missing.append(f"{mesh['file']}: {_why(error)}")
            continue
        at, faces = placed(mesh, vertices, faces)
        size_m = float(np.ptp(at, axis=0).max())
        if not _LEAST_M < size_m < _MOST_M:
            missing.append(f"{mesh['file']}: {size_m:.3g} m long; its scale is {mesh['scale']:g} m a unit")
            continue
        found.append(Shape(mesh["body"], int(finger_of_body[mesh["body"]]), at, faces))
    return found, missing


def placed(mesh: dict[str, Any], vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Vertices [m] in the body's frame, and faces that still look outwards where a left hand mirrors them."""
    turn = rotation_rpy(np.radians(mesh["rpy_deg"]))
    at = np.array(mesh["position_m"]) + mesh["scale"] * vertices @ turn.T
    if not mesh["mirrored"]:
        return at, faces
    return at * (1.0, -1.0, 1.0), faces[:, ::-1]


def _read(path: Path) -> tuple[FloatArray, IntArray]:
    import trimesh

    if not path.is_file():
        raise FileNotFoundError(path)
    mesh = trimesh.load_mesh(path, process=False)
    if not len(mesh.faces):
        raise ValueError("no faces in it")
    return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return f"not a mesh that can be read ({str(error) or type(error).__name__})"
