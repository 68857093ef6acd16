"""Touch: forces on a fingertip and objects in its way, which are no faults."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from signals.layout import FloatArray
from signals.records import RecordArray
from sim.backend import SimulatedBus
from trials import rules
from trials.trial import Touch

AFTER_TOUCH_S: Final = 0.4
"""Time that is watched after a touch."""
SHAPES: Final = ("push", "jab", "soft", "stiff")
RADII_M: Final = (0.04, 0.02, 0.01, 0.005)
"""Objects, the largest that fits between the fingertips."""
FAR_M: Final = 1.0
"""Where an object is that fits nowhere: out of reach."""
STIFFNESS_N_M: Final = {"soft": (100.0, 1000.0), "stiff": (3000.0, 20000.0)}
"""Objects: a sponge to a rubber ball, and wood on a rubber fingertip up to what a substep resolves."""
DAMPING_S: Final = 1e-3
"""Damping of an object over its stiffness."""
GAP_M: Final = 0.003
"""Farthest an object is put in front of a fingertip."""
MOVING_M_S: Final = 0.02
"""A fingertip faster than this meets its object head-on."""
_OBJECT: Final = ("object_center_m", "object_radius_m", "object_stiffness_n_m", "object_damping_ns_m")


class Touching:
    """Between the tick and the plant: the touch begins and ends by simulated time.

    A hand that holds an object meets no other one: the plant has one, so the other would take what is held
    out of the hand, and put it back where its fingertips are meanwhile.

    Args:
        bus: the plant.
        touch: the touch.
        begin_ns: when it begins.
    """

    def __init__(self, bus: SimulatedBus, touch: Touch, begin_ns: int) -> None:
        self._bus, self._touch, self._begin_ns = bus, touch, begin_ns
        self._end_ns = begin_ns + round(1e9 * touch.seconds)
        self._before: dict[str, object] = {}
        self._full = bool(bus.plant["contact_on"][0])
        self._on = False
        self._tip_m = np.zeros(3)

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the bus, under the touch."""
        on = self._begin_ns < now_ns <= self._end_ns
        if self._touch.shape in STIFFNESS_N_M:
            if on != self._on and not self._full:
                self._put() if on else self._take_away()
        elif on or self._on:
            size = self._touch.force_n * (self._share(now_ns) if on else 0.0)
            x, y, z = self._touch.direction
            self._bus.apply_wrench(self._touch.finger, (size * x, size * y, size * z))
        self._on = on
        tips = self._bus.truth["fingertip_m"][0, self._touch.finger]
        self._tip_m[:] = tips
        return self._bus.exchange(command, measurement, now_ns)

    def _share(self, now_ns: int) -> float:
        if self._touch.shape == "push":
            return 1.0
        return math.sin(math.pi * (now_ns - self._begin_ns) / (self._end_ns - self._begin_ns))

    def _put(self) -> None:
        """An object in the way of the fingertip."""
        m, p, touch = self._bus.model, self._bus.plant, self._touch
        self._before = {name: m[name].copy() for name in _OBJECT}
        tip = self._bus.truth["fingertip_m"][0, touch.finger]
        speed = (tip - self._tip_m) / float(m["dt_s"][0])
        fast = float(np.linalg.norm(speed))
        ahead = speed / fast if fast > MOVING_M_S else np.array(touch.direction)
        center_m, radius_m = self._place(tip, ahead)
        m["object_center_m"][0], m["object_radius_m"] = center_m, radius_m
        m["object_stiffness_n_m"] = touch.stiffness_n_m
        m["object_damping_ns_m"] = DAMPING_S * touch.stiffness_n_m
        p["contact_on"] = 1

    def _place(self, tip: FloatArray, ahead: FloatArray) -> tuple[FloatArray, float]:
        """Centre and radius of the largest object in front of the tip that no other tip is in already."""
        m = self._bus.model[0]
        tips = np.delete(self._bus.truth["fingertip_m"][0, : m["n_fingers"]], self._touch.finger, axis=0)
        for way in (ahead, -ahead):
            for radius_m in RADII_M:
                far_m = float(m["tip_radius_m"]) + radius_m + self._touch.gap_m
                center_m = tip + way * far_m
                if (np.linalg.norm(tips - center_m, axis=1) > far_m).all():
                    return center_m, radius_m
        return tip + ahead * FAR_M, RADII_M[-1]

    def _take_away(self) -> None:
        for name in _OBJECT:
            self._bus.model[name] = self._before[name]
        self._bus.plant["contact_on"] = 0
        self._bus.plant["contact_n"] = 0.0


def drawn_touch(rng: np.random.Generator, fingers: int) -> Touch:
    """A touch; forces and times log-uniform over ``rules.TOUCH_N`` and ``rules.TOUCH_S``."""
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    force_n, seconds = (float(np.exp(rng.uniform(*np.log(r)))) for r in (rules.TOUCH_N, rules.TOUCH_S))
    way = rng.normal(size=3)
    x, y, z = (float(v) for v in way / np.linalg.norm(way))
    low, high = np.log(STIFFNESS_N_M.get(shape, (1.0, 1.0)))
    stiffness_n_m, gap_m = float(np.exp(rng.uniform(low, high))), float(rng.uniform(0.0, GAP_M))
    solid = shape in STIFFNESS_N_M
    return Touch(
        finger=int(rng.integers(fingers)),
        shape=shape,
        force_n=0.0 if solid else force_n,
        seconds=seconds,
        direction=(x, y, z),
        before_s=float(rng.uniform(0.0, seconds)),
        stiffness_n_m=stiffness_n_m if solid else 0.0,
        gap_m=gap_m if solid else 0.0,
    )
