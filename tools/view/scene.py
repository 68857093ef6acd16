"""The hand in the browser's 3-D scene: measured, wanted and true pose, tendons coloured by tension."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import trimesh

from signals.layout import FloatArray
from tools.view.figure import Capsules, Drawn, Figure
from tools.view.loads import Loads
from tools.view.mechanism import MechanismFigure, has_mechanism
from tools.view.meshes import Colours, Meshes

FAULT: Final = (235, 40, 50)
GHOST: Final = (70, 150, 255)
TRUTH: Final = (60, 200, 120)
LOST: Final = (255, 30, 60)
_BANDS: Final = np.array(
    [(70, 120, 190), (40, 175, 160), (130, 190, 70), (240, 170, 40), (235, 50, 40)], dtype=float
)
"""Colour below the least tension, at it, half way, at the greatest, at the limit where the guard lets go."""
_Z_TO_X: Final = np.array([(0, 0, 1, 0), (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1)], dtype=float)
_AXES: Final = ("+x", "+y", "+z")
_FROM: Final = {"+x": (0.12, -0.55, 0.85), "+z": (0.75, -1.05, 0.45)}
"""Where the first look comes from, by what is up: for a hand from the side of its palm."""
_MOVED: Final = 2e-5
"""Metres by which something must have moved to be sent again."""


def tension_colours(tensions: FloatArray, bands: FloatArray) -> Colours:
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
    """The bones of one pose: a cylinder and two balls each, sent as two batches, or a mesh by itself."""

    def __init__(self, scene: Any, name: str, figure: Drawn, colour: Any, opacity: float | None) -> None:
        n = len(figure.radii_m)
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
        self._sent: FloatArray | None = None
        self._meshes = Meshes(scene, name, figure.shapes, opacity)
        fingers = figure.fingers.tolist()  # a mesh has the colour of the first bone of its finger
        self._bones = [fingers.index(s.finger) if s.finger in fingers else 0 for s in figure.shapes]
        self._meshes.paint(self.colours[self._bones])

    def place(self, capsules: Capsules, places: Any) -> None:
        """Move them, if they have moved."""
        ends = np.concatenate((capsules.start, capsules.end))
        if self._sent is not None and np.abs(ends - self._sent).max() < _MOVED:
            return
        self._sent = ends
        self._meshes.place(places)
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
            self._meshes.paint(colours[self._bones])

    def show(self, visible: bool) -> None:
        """Show or hide."""
        if self._tubes.visible != visible:
            self._tubes.visible = self._balls.visible = visible
            self._meshes.show(visible)


class Tendons:
    """The ways of a hand's tendons, coloured by their tension; what a fault blames is bright red."""

    def __init__(self, scene: Any, figure: Figure, meta: dict[str, Any]) -> None:
        m, self._figure, self._names = figure.m, figure, meta["names"]["tendon"]
        self._bands = np.column_stack((m.tension_min_n, m.tension_max_n, m.tension_limit_n))
        lines = figure.lines(figure.places({}, {}))
        self._colours = np.full((len(lines), 2, 3), 128, dtype=np.uint8)
        self._lines = scene.add_line_segments(
            "/tendons", lines, self._colours, thickness=3.0, thickness_units="screen"
        )
        self._sent = lines * np.nan

    def show(self, tension: dict[str, float], faults: list[dict[str, Any]], places: Any) -> None:
        """Bring them up to tensions [N] by name, faults and the hand's pose."""
        tensions = np.array([tension[name] for name in self._names], dtype=float)
        colours = tension_colours(tensions, self._bands)
        blamed = {part for f in faults for part in str(f["part"]).split(", ")}
        for t, name in enumerate(self._names):
            if name in blamed:
                colours[t] = LOST
        each = np.repeat(colours[self._figure.tendon_of_line][:, None], 2, axis=1)
        lines = self._figure.lines(places)
        if not np.abs(lines - self._sent).max() < _MOVED:
            self._lines.points = lines.astype(np.float32)
            self._sent = lines
        if not np.array_equal(each, self._colours):
            self._lines.colors = self._colours = each


class Scene:
    """The whole picture.

    Args:
        server: viser's server.
        meta: of the hand.
    """

    def __init__(self, server: Any, meta: dict[str, Any]) -> None:
        made = MechanismFigure if has_mechanism(meta) else Figure
        self.figure: Drawn = made(meta)
        scene = server.scene
        self.ghost_shown, self.truth_shown, self.loads_shown = True, False, True
        self._own = self.figure.colours
        scene.set_up_direction(self.figure.up)
        self._measured = Limbs(scene, "hand", self.figure, self._own, None)
        self._ghost = Limbs(scene, "goal", self.figure, GHOST, 0.28)
        self._truth = Limbs(scene, "truth", self.figure, TRUTH, 0.4)
        self._tendons = self._loads = None
        if isinstance(self.figure, Figure):
            self._loads = Loads(scene, self.figure)
            if self.figure.strands:
                self._tendons = Tendons(scene, self.figure, meta)
        self._labels: dict[str, Any] = {}
        self._scene = scene
        self._stage(server)

    def _stage(self, server: Any) -> None:
        """Ground, light and a first look at the palm from its side."""
        # a browser without a graphics card shows it too
        self._scene.configure_default_lights(cast_shadow=False)
        self._scene.add_light_ambient("/light", intensity=0.7)
        points = self.figure.reach()
        up, size = _AXES.index(self.figure.up), float(np.ptp(points, axis=0).max())
        low = float(min(points[:, up].min(), 0.0)) - 0.06 * size
        scale = 10.0 ** np.round(np.log10(max(size, 0.01) / 0.3))  # squares of 1 cm, 1 dm or 1 m
        upwards = np.eye(3)[up]
        self._scene.add_grid(
            "/ground", 0.6 * scale, 0.6 * scale, plane=("yz", "xz", "xy")[up], cell_size=0.02 * scale,
            section_size=0.1 * scale, position=tuple(low * upwards), cell_color=(70, 78, 90),
            section_color=(95, 105, 120), plane_opacity=0.0,
        )  # fmt: skip
        middle, top = 0.5 * (points.min(axis=0) + points.max(axis=0)), float(points[:, up].max())
        middle[up] = 0.5 * (top + low) + 0.08 * size  # the banner lies over the top
        far = 0.88 * max(size, top - low, 0.12)
        server.initial_camera.look_at = tuple(middle)
        server.initial_camera.position = tuple(middle + far * np.array(_FROM[self.figure.up]))
        server.initial_camera.up = tuple(upwards)

    def show(self, view: dict[str, Any], faults: list[dict[str, Any]]) -> None:
        """Bring the picture up to a view and its latched faults."""
        figure, axes = self.figure, view["axis"]
        places = figure.places(view["pos"], axes)
        self._measured.place(figure.capsules(places), places)
        wanted = self.ghost_shown and all(np.isfinite(list(view["cmd"].values())))
        self._ghost.show(wanted)
        if wanted:
            wanted_places = figure.places(view["cmd"], axes)
            self._ghost.place(figure.capsules(wanted_places), wanted_places)
        true = self.truth_shown and "true_pos" in view
        self._truth.show(true)
        if true:
            true_places = figure.places(view["true_pos"], axes)
            self._truth.place(figure.capsules(true_places), true_places)
        if self._loads is not None:
            self._loads.show(view["torque"], places, self.loads_shown)
        self._paint(view, faults, places)

    def _paint(self, view: dict[str, Any], faults: list[dict[str, Any]], places: Any) -> None:
        names = self.figure.names["finger"]
        hurt = [k for k, name in enumerate(names) if any(f["finger"] in ("", name) for f in faults)]
        bones = self._own.copy()
        bones[np.isin(self.figure.fingers, hurt)] = FAULT
        self._measured.paint(bones)
        if self._tendons is not None:
            self._tendons.show(view["tension"], faults, places)
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
