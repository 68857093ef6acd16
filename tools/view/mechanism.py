"""A mechanism in the place of a hand: its parts as capsules, posed by its own law; a run of it that plays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mechanics.dynamics.simulate import Run
from reports.mechanism_picture import extents
from reports.picture import COLOURS
from signals.layout import FloatArray
from sim.mechanisms.load import LoadedMechanism, load_mechanism
from sim.mechanisms.mechanism import Mechanism
from tools.view.banner import Told
from tools.view.figure import Capsules
from tools.view.meshes import Shape
from tools.view.tape import Tape

THICK: Final = 0.018
"""Radius of a part, by half the width of the whole."""
POSES: Final = 12
"""Poses of a run by which its size is judged."""
TOGETHER: Final = 6
"""Coordinates whose curves are shown together."""
SIGNALS: Final = {"pos": "", "vel": "/s", "acc": "/s2", "torque": "N m"}


def has_mechanism(meta: dict[str, Any]) -> bool:
    """The picture is a mechanism's."""
    return bool(meta.get("mechanism"))


class MechanismFigure:
    """A mechanism that can be posed; what ``tools.view.figure.Figure`` is to a hand.

    Args:
        meta: of the hand: ``names``, ``mechanism`` (``file``: its name or path, ``home_rad``: coordinates
            where joint angles are 0, ``poses_rad``: coordinates that it will go through, if they are known).

    Raises:
        sim.mechanisms.load.MechanismFileError: the mechanism's file is not here.
    """

    up = "+z"

    def __init__(self, meta: dict[str, Any]) -> None:
        self.names: dict[str, list[str]] = meta["names"]
        self.shapes: list[Shape] = []
        self.missing: list[str] = []
        self._mechanism: Mechanism = load_mechanism(meta["mechanism"]["file"]).mechanism
        self._home = np.array(meta["mechanism"]["home_rad"], dtype=float)
        poses = self._possible(meta["mechanism"].get("poses_rad", [])) or [self._home]
        self._points = self._of(poses[0])
        self._reach = np.concatenate([self._of(q).reshape(-1, 3) for q in poses])
        named = [name for name, line in self._mechanism.segments(poses[0]) for _ in line[1:]]
        parts = list(dict.fromkeys(named))
        self.fingers = np.zeros(len(named), dtype=int)
        self.colours = np.array([_rgb(COLOURS[parts.index(name) % len(COLOURS)]) for name in named], np.uint8)
        _, half = extents(self._mechanism, np.array(poses))
        self.radii_m = np.full(len(named), THICK * half)

    def _of(self, q: FloatArray) -> FloatArray:
        lines = [line for _, line in self._mechanism.segments(q)]
        return np.concatenate([np.stack((line[:-1], line[1:]), axis=1) for line in lines])

    def _possible(self, poses: Any) -> list[FloatArray]:
        """Those that exist: measured ones are a sensor's error away from where it was."""
        found = []
        for q in np.array(poses, dtype=float):
            try:
                self._of(q)
            except ValueError:
                continue
            found.append(q)
        return found

    def reach(self) -> FloatArray:
        """Points [m] between which it will move, shape (n, 3)."""
        return self._reach

    def places(self, joints: dict[str, float], axes: dict[str, float]) -> FloatArray:
        """Ends of all pieces [m], shape (n, 2, 3), of joint angles; the last ones where no pose exists."""
        dofs = self._mechanism.system.dofs
        q = self._home + np.nan_to_num([joints.get(name, axes.get(name, 0.0)) for name in dofs])
        try:
            self._points = self._of(q)
        except ValueError:  # no such pose, or a singular one: a sensor's error can lead there
            pass
        return self._points

    def capsules(self, places: FloatArray) -> Capsules:
        """The parts of a pose."""
        return Capsules(places[:, 0], places[:, 1])

    def palm_angles_rad(self, axes: dict[str, float]) -> tuple[float, float] | None:
        """It has no palm."""
        return None


class MechanismSource(Tape):
    """A simulated run of a mechanism that plays again and again.

    Args:
        loaded: the mechanism.
        scenario: name of what was run.
        run: the run.
    """

    def __init__(self, loaded: LoadedMechanism, scenario: str, run: Run) -> None:
        super().__init__(f"{loaded.mechanism.name} {scenario}", float(run.time_s[-1]), repeat=True)
        mechanism, dofs = loaded.mechanism, list(run.system.dofs)
        groups = [dofs[k : k + TOGETHER] for k in range(0, len(dofs), TOGETHER)]
        titles = [g[0] if len(g) == 1 else f"{g[0]} to {g[-1]}" for g in groups]
        unit = "rad, m" if any(run.system.sliders) else "rad"
        self.meta: dict[str, Any] = {
            "hand": mechanism.name,
            "names": {"finger": titles, "joint": dofs, "tendon": [], "axis": []},
            "finger_of_joint": {name: t for t, group in zip(titles, groups, strict=True) for name in group},
            "mechanism": {"file": loaded.path, "home_rad": [0.0] * len(dofs), "poses_rad": some(run.q)},
            "signals": list(SIGNALS), "group": "Coordinates",
            "keys": {k: {"unit": more if k == "torque" else unit + more} for k, more in SIGNALS.items()},
        }  # fmt: skip
        self._run, self.faults = run, list[dict[str, Any]]()
        ended = None if run.divergence is None else str(run.divergence)
        text = mechanism.scenarios[scenario].description or mechanism.description
        kind, head = ("log", scenario) if ended is None else ("fault", "diverged")
        self._told = Told(kind, head, ended or f"{text.rstrip('.')}.", holder="simulated")

    def take(self) -> None:
        """Go on."""
        self.advance()

    @property
    def view(self) -> dict[str, Any]:
        """The moment, as a hand tells it; between two recorded rows in proportion."""
        run, names = self._run, self.meta["names"]["joint"]
        rows = zip(SIGNALS, (run.q, run.qd, run.qdd, run.tau), strict=True)
        found: dict[str, Any] = {
            key: {n: float(np.interp(self.at_s, run.time_s, values[:, j])) for j, n in enumerate(names)}
            for key, values in rows
        }
        return found | {
            "timestamp": self.at_s,
            "axis": {},
            "tension": {},
            "cmd": dict.fromkeys(names, np.nan),
        }

    @property
    def told(self) -> Told:
        """What is played."""
        return self._told


def some(rows: FloatArray) -> list[list[float]]:
    """As many of the rows of coordinates as the size of a run is judged by."""
    chosen = np.unique(np.linspace(0, len(rows) - 1, POSES).astype(int))
    found: list[list[float]] = rows[chosen].tolist()
    return found


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))
