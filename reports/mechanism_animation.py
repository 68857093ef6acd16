"""A run as a moving picture: GIF, or MP4 where ffmpeg is installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np

from mechanics.dynamics.simulate import Run
from reports.files import pyplot
from reports.mechanism_picture import STYLE, colours_of, draw, extents, is_flat, new_scene
from sim.mechanisms.load import LoadedMechanism

FRAMES_HZ: Final = 20
MOST_FRAMES: Final = 200


class AnimationError(ValueError):
    """A moving picture that cannot be written; says what would be legal."""


def check_format(path: Path) -> None:
    """Refuse a format before anything is computed.

    Raises:
        AnimationError: an unknown ending, or MP4 without ffmpeg.
    """
    if path.suffix not in (".gif", ".mp4"):
        raise AnimationError(f"--animate {path.name}: unknown ending {path.suffix!r}; use .gif or .mp4")
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise AnimationError("--animate: ffmpeg is not installed, which .mp4 needs; install it or use .gif")


def animate(loaded: LoadedMechanism, run: Run, path: Path) -> int:
    """Write the moving picture and return its number of frames.

    Long runs are shown faster: at most ``MOST_FRAMES`` frames at ``FRAMES_HZ`` pictures a second.

    Raises:
        AnimationError: as ``check_format``.
    """
    check_format(path)
    plt = pyplot()
    from matplotlib.animation import FFMpegWriter, PillowWriter

    count = int(min(MOST_FRAMES, max(2.0, FRAMES_HZ * max(float(run.time_s[-1]), 2.0))))
    rows = np.unique(np.linspace(0, len(run.q) - 1, min(count, len(run.q))).astype(int))
    mechanism = loaded.mechanism
    centre, half = extents(mechanism, run.q[rows])
    flat = is_flat(mechanism, run.q[rows])
    writer: Any = PillowWriter(fps=FRAMES_HZ) if path.suffix == ".gif" else FFMpegWriter(fps=FRAMES_HZ)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(5.0, 5.0), layout="constrained")
        scene = new_scene(figure, 111, centre, half, flat)
        colours = colours_of(mechanism, run.q[0])
        with writer.saving(figure, str(path), dpi=80):
            artists: list[Any] = []
            for row in rows:
                for artist in artists:
                    artist.remove()
                artists = draw(scene, flat, mechanism.segments(run.q[row]), colours, 1.0)
                scene.set_title(f"{mechanism.name}, t = {run.time_s[row]:.3f} s")
                writer.grab_frame()
        plt.close(figure)
    return len(rows)
