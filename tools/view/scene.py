"""The hand in the browser's 3-D scene: measured, wanted and true pose, tendons coloured by tension."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import trimesh
from numpy.typing import NDArray

from tools.view.figure import Capsules, Figure

Floats = NDArray[np.float64]
Colours = NDArray[np.uint8]
BONE: Final = (168, 178, 194)
PALM: Final = (104, 114, 130)
FAULT: Final = (235, 40, 50)
GHOST: Final = (70, 150, 255)
TRUTH: Final = (60, 200, 120)
LOST: Final = (255, 30, 60)
_BANDS: Final = np.array(
    [(70, 120, 190), (40, 175, 160), (130, 190, 70), (240, 170, 40), (235, 50, 40)], dtype=float
)
"""Colour below the least tension, at it, half way, at the greatest, at the limit where the guard lets go."""
_Z_TO_X: Final = np.array([(0, 0, 1, 0), (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1)], dtype=float)
_MOVED: Final = 2e-5
"""Metres by which something must have moved to be sent again."""


def tension_colours(tensions: Floats, bands: Floats) -> Colours:
    """Colour of each tendon, shape (T, 3); grey where the tension is no number.

    Args:
        tensions: [N], shape (T,).
        bands: least, greatest and limit [N], shape (T, 3).
    """
    out = np.full((len(tensions), 3), 128, dtype=np.uint8)
    for t in np.flatnonzero(np.isfinite(tensions)):
        least, most, limit = bands[t]
        steps = [0.5 * least, least, 0.5 * (least + most), most, max(limit, most + 1e-3)]
        out[t] = [np.interp(tensions[t], steps, _BANDS[:, c]) for c in range(3)]
    return out


class Limbs:
    """The bones of one pose: a cylinder and two balls each, sent as two batches."""

    def __init__(self, scene: Any, name: str, figure: Figure, colour: Any, opacity: float | None) -> None:
        n = len(figure.bones)
        self._radii = figure.radii_m if opacity is None else figure.radii_m * 1.04
        still = np.tile((1.0, 0.0, 0.0, 0.0), (2 * n, 1))
        tube = trimesh.creation.cylinder(radius=1.0, height=1.0, sections=20, cap=False)
        tube.apply_transform(_Z_TO_X)
        tube.apply_translation((0.5, 0, 0))
        ball = trimesh.creation.icosphere(subdivisions=2)
        common = {"lod": "off", "opacity": opacity, "cast_shadow": False, "receive_shadow": False}
        self.colours = np.tile(np.array(colour, dtype=np.uint8), (n, 1)) if np.ndim(colour) == 1 else colour
        scales = np.column_stack((np.ones(n), self._radii, self._radii))
        self._tubes = scene.add_batched_meshes_simple(
            f"/{name}/tubes", tube.vertices, tube.faces, still[:n], np.zeros((n, 3)),
            batched_scales=scales, batched_colors=self.colours, **common,
        )  # fmt: skip
        self._balls = scene.add_batched_meshes_simple(
            f"/{name}/balls", ball.vertices, ball.faces, still, np.zeros((2 * n, 3)),
            batched_scales=np.tile(self._radii, 2), batched_colors=np.tile(self.colours, (2, 1)), **common,
        )  # fmt: skip
        self._sent: Floats | None = None

    def place(self, capsules: Capsules) -> None:
        """Move them, if they have moved."""
        ends = np.concatenate((capsules.start, capsules.end))
        if self._sent is not None and np.abs(ends - self._sent).max() < _MOVED:
            return
        self._sent = ends
        self._balls.batched_positions = ends
        self._tubes.batched_positions = capsules.start
        self._tubes.batched_wxyzs = capsules.turns
        self._tubes.batched_scales = np.column_stack((capsules.lengths, self._radii, self._radii))

    def paint(self, colours: Colours) -> None:
        """Colour of each bone, shape (n, 3)."""
        if not np.array_equal(colours, self.colours):
            self.colours = colours
            self._tubes.batched_colors = colours
            self._balls.batched_colors = np.tile(colours, (2, 1))

    def show(self, visible: bool) -> None:
        """Show or hide."""
        for handle in (self._tubes, self._balls):
            if handle.visible != visible:
                handle.visible = visible


class Scene:
    """The whole picture.

    Args:
        server: viser's server.
        meta: of the hand.
    """

    def __init__(self, server: Any, meta: dict[str, Any]) -> None:
        self.figure, scene = Figure(meta), server.scene
        self.ghost_shown, self.truth_shown = True, False
        m, self._tendons = self.figure.m, meta["names"]["tendon"]
        self._bands = np.column_stack((m.tension_min_n, m.tension_max_n, m.tension_limit_n))
        fingers = self.figure.fingers
        self._own = np.where(fingers[:, None] >= 0, np.array(BONE), np.array(PALM)).astype(np.uint8)
        scene.set_up_direction("+x")
        self._measured = Limbs(scene, "hand", self.figure, self._own, None)
        self._ghost = Limbs(scene, "goal", self.figure, GHOST, 0.28)
        self._truth = Limbs(scene, "truth", self.figure, TRUTH, 0.4)
        lines = self.figure.lines(self.figure.places({}, {}))
        grey = np.full((len(lines), 2, 3), 128, dtype=np.uint8)
        self._lines = scene.add_line_segments(
            "/tendons", lines, grey, thickness=3.0, thickness_units="screen"
        )
        self._sent: tuple[Floats, Any] = (lines * np.nan, grey)
        self._labels: dict[str, Any] = {}
        self._scene = scene
        self._stage(server)

    def _stage(self, server: Any) -> None:
        """Ground, light and a first look at the palm from its side."""
        # a browser without a graphics card shows it too
        self._scene.configure_default_lights(cast_shadow=False)
        self._scene.add_light_ambient("/light", intensity=0.7)
        ends = self.figure.capsules(self.figure.places({}, {}))
        low = float(min(ends.start[:, 0].min(), 0.0)) - 0.02
        self._scene.add_grid(
            "/ground", 0.6, 0.6, plane="yz", cell_size=0.02, section_size=0.1, position=(low, 0, 0),
            cell_color=(70, 78, 90), section_color=(95, 105, 120), plane_opacity=0.0,
        )  # fmt: skip
        top = float(ends.end[:, 0].max())
        middle = np.array([0.5 * (top + low) + 0.015, *ends.end[:, 1:].mean(axis=0)])
        far = 0.82 * max(top - low, 0.12)
        server.initial_camera.look_at = tuple(middle)
        server.initial_camera.position = tuple(middle + far * np.array([0.12, -0.55, 0.85]))
        server.initial_camera.up = (1.0, 0.0, 0.0)

    def show(self, view: dict[str, Any], faults: list[dict[str, Any]]) -> None:
        """Bring the picture up to a view and its latched faults."""
        figure, axes = self.figure, view["axis"]
        places = figure.places(view["pos"], axes)
        self._measured.place(figure.capsules(places))
        wanted = self.ghost_shown and all(np.isfinite(list(view["cmd"].values())))
        self._ghost.show(wanted)
        if wanted:
            self._ghost.place(figure.capsules(figure.places(view["cmd"], axes)))
        true = self.truth_shown and "true_pos" in view
        self._truth.show(true)
        if true:
            self._truth.place(figure.capsules(figure.places(view["true_pos"], axes)))
        self._paint(view, faults, places)

    def _paint(self, view: dict[str, Any], faults: list[dict[str, Any]], places: Any) -> None:
        names = self.figure.names["finger"]
        hurt = [k for k, name in enumerate(names) if any(f["finger"] in ("", name) for f in faults)]
        bones = self._own.copy()
        bones[np.isin(self.figure.fingers, hurt)] = FAULT
        self._measured.paint(bones)
        tensions = np.array([view["tension"][name] for name in self._tendons], dtype=float)
        colours = tension_colours(tensions, self._bands)
        blamed = {part for f in faults for part in str(f["part"]).split(", ")}
        for t, name in enumerate(self._tendons):
            if name in blamed:
                colours[t] = LOST
        each = np.repeat(colours[self.figure.tendon_of_line][:, None], 2, axis=1)
        lines = self.figure.lines(places)
        if not np.abs(lines - self._sent[0]).max() < _MOVED:
            self._lines.points = lines.astype(np.float32)
            self._sent = (lines, self._sent[1])
        if not np.array_equal(each, self._sent[1]):
            self._lines.colors = each
            self._sent = (self._sent[0], each)
        self._label(faults, places)

    def _label(self, faults: list[dict[str, Any]], places: Any) -> None:
        """The cause beside the finger that it stopped."""
        wanted = {f["finger"]: f"{f['cause']}: {f['part']}" for f in faults if f["finger"]}
        for finger in set(self._labels) - set(wanted):
            self._labels.pop(finger).remove()
        for finger, text in wanted.items():
            bones = np.flatnonzero(self.figure.fingers == self.figure.names["finger"].index(finger))
            at = (
                self.figure.capsules(places).end[bones[-1]] + (0.015, 0.0, 0.0) if len(bones) else np.zeros(3)
            )
            if finger not in self._labels:
                self._labels[finger] = self._scene.add_label(f"/faults/{finger}", text, position=tuple(at))
            label = self._labels[finger]
            if label.text != text:
                label.text = text
            if np.abs(np.asarray(label.position) - at).max() > 1e-3:
                label.position = tuple(at)
