"""What the bodies of a hand look like, by the meshes that its file names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hand.assembly.fingers import carried_first
from hand.file.fingers import Body, HingeFinger
from hand.file.hand import HandFile
from hand.file.locate import Path as KeyPath


def bodies_of(hand: HandFile) -> Iterator[tuple[KeyPath, Body]]:
    """Path in the file and table of every body, in the order of the model's."""
    yield ("palm",), hand.palm
    for name, finger in carried_first(hand):
        path: KeyPath = ("fingers", name)
        if isinstance(finger, HingeFinger):
            yield path, finger
        else:
            for k, bone in enumerate(finger.bones):
                yield (*path, "bones", k), bone


def mesh_file(hand: HandFile, name: str, *folders: Path) -> Path:
    """Where a mesh is: in the first of these folders that has it, else from the folder of the hand file."""
    own = Path(hand.path).parent
    return next((f / name for f in folders if (f / name).is_file()), own / name).absolute()


def meshes_of(hand: HandFile, *folders: Path) -> list[dict[str, Any]]:
    """Meshes of a hand as ``meta`` tells them.

    Args:
        hand: the hand.
        folders: where files are looked for before the folder of the hand file, as that of a log.

    Returns:
        For each: ``body`` (0: the palm), ``file``, ``scale`` [m], ``position_m`` and ``rpy_deg`` in the
        frame of the body, ``mirrored`` across y = 0.
    """
    return [
        body.mesh.model_dump()
        | {"body": b, "file": str(mesh_file(hand, body.mesh.file, *folders)), "mirrored": hand.side == "left"}
        for b, (_, body) in enumerate(bodies_of(hand))
        if body.mesh is not None
    ]
