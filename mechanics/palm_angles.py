"""Palm pitch and yaw against the wrist's axis angles, both ways.

Pitch and yaw are those of the palm's x axis in the forearm frame: pitch = atan2(x_z, |x_x|), yaw = asin(x_y).
The palm turns about twice as far as q71, and a pure yaw needs a small q71 as well: the inverse solves both.
"""

from __future__ import annotations

import math

import numpy as np

from mechanics.wrist_loop import palm_pose, wrist_margin
from mechanics.wrist_motion import palm_twists
from signals.compiled import law
from signals.layout import FloatArray
from signals.records import RecordArray
from signals.typed import Model

MARGIN_MIN = 0.02
"""Least ``wrist_margin`` of a usable pose: below it the palm turns without bound per axis angle."""
ITERATIONS = 8
"""Newton steps per 0.2 rad of palm angle; with the exact rates five reach rounding error."""


class WristOutOfRange(ValueError):
    """A wrist pose that the mechanism cannot take; ``margin`` says how far it is beyond the lock."""

    def __init__(self, what: str, margin: float) -> None:
        self.margin = margin
        super().__init__(
            f"wrist cannot reach {what}: loop margin {margin:.3f}, at least {MARGIN_MIN} is needed "
            "(1 neutral, 0 where the crossing bars lock); ask for a smaller pitch or yaw"
        )


@law
def pitch_yaw(m: Model, q71_rad: float, q73_rad: float) -> tuple[float, float]:
    """Palm pitch and yaw [rad]."""
    xx, _, _, xy, _, _, xz, _, _, _, _, _ = palm_pose(m, q71_rad, q73_rad)
    return math.atan2(xz, abs(xx)), math.asin(min(max(xy, -1.0), 1.0))


@law
def solve_axes(
    m: Model, pitch_rad: float, yaw_rad: float, q71_rad: float, q73_rad: float
) -> tuple[float, float, float]:
    """Axis angles of a palm pitch and yaw, and the error left [rad].

    Newton on the palm's x axis with its exact rates, steps of at most 0.2 rad, from the given start.
    """
    q71, q73, error = q71_rad, q73_rad, 0.0
    for _ in range(ITERATIONS):
        xx, yx, zx, xy, yy, zy, xz, yz, zz, _, _, _ = palm_pose(m, q71, q73)
        pitch = math.atan2(xz, abs(xx))
        yaw = math.asin(min(max(xy, -1.0), 1.0))
        ep, ey = pitch_rad - pitch, yaw_rad - yaw
        error = max(abs(ep), abs(ey))
        if error < 1e-13:
            break
        _, ay, az, _, _, _, _, by, bz, _, _, _ = palm_twists(m, q71, q73)
        # x' = w x x: in palm components (0, w_z, -w_y)
        square, side = xx * xx + xz * xz, math.sqrt(max(1.0 - xy * xy, 1e-12))
        sign = 1.0 if xx >= 0.0 else -1.0
        pa = sign * (xx * (az * yz - ay * zz) - xz * (az * yx - ay * zx)) / square
        pb = sign * (xx * (bz * yz - by * zz) - xz * (bz * yx - by * zx)) / square
        wa, wb = (az * yy - ay * zy) / side, (bz * yy - by * zy) / side
        det = pa * wb - pb * wa
        if abs(det) < 1e-12:
            break
        d71, d73 = (wb * ep - pb * ey) / det, (pa * ey - wa * ep) / det
        scale = min(1.0, 0.2 / max(abs(d71), abs(d73), 1e-30))
        q71 += scale * d71
        q73 += scale * d73
    return q71, q73, error


def palm_angles(model: RecordArray, q71_rad: float, q73_rad: float) -> tuple[float, float]:
    """Palm (pitch, yaw) [rad] of the axis angles.

    Raises:
        WristOutOfRange: the loop does not close there.
    """
    margin = wrist_margin(model[0], float(q71_rad), float(q73_rad))
    if not margin >= MARGIN_MIN:
        raise WristOutOfRange(
            f"q71 {math.degrees(q71_rad):.1f} deg, q73 {math.degrees(q73_rad):.1f} deg", margin
        )
    return pitch_yaw(model[0], float(q71_rad), float(q73_rad))


def axes_of_palm(model: RecordArray, pitch_rad: float, yaw_rad: float) -> tuple[float, float]:
    """Axis angles (q71, q73) [rad] that give the palm a pitch and a yaw.

    Raises:
        WristOutOfRange: no such pose on the branch of the neutral wrist.
    """
    m = model[0]
    q71, q73 = (float(q) for q in m["wrist_neutral_rad"])
    margin, error = 1.0, math.inf
    # in steps from neutral, so that Newton never leaves the branch
    steps = 1 + int(max(abs(pitch_rad), abs(yaw_rad)) / 0.2)
    for k in range(1, steps + 1):
        q71, q73, error = solve_axes(m, pitch_rad * k / steps, yaw_rad * k / steps, q71, q73)
        margin = wrist_margin(m, q71, q73)
        if not (error < 1e-10 and margin >= MARGIN_MIN):
            raise WristOutOfRange(
                f"pitch {math.degrees(pitch_rad):.1f} deg, yaw {math.degrees(yaw_rad):.1f} deg", margin
            )
    return q71, q73


def axis_range(
    model: RecordArray, pitch_range_rad: tuple[float, float], yaw_range_rad: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest axis angles (q71, q73) [rad], shape (2,) each, over a range of palm pitch and yaw.

    The box of axis angles that holds all poses of the pitch-yaw rectangle's edge.

    Raises:
        WristOutOfRange: a pose of the edge is out of reach.
    """
    corners = []
    for s in np.linspace(0.0, 1.0, 9):
        pitch = pitch_range_rad[0] + s * (pitch_range_rad[1] - pitch_range_rad[0])
        yaw = yaw_range_rad[0] + s * (yaw_range_rad[1] - yaw_range_rad[0])
        corners += [axes_of_palm(model, pitch, edge) for edge in yaw_range_rad]
        corners += [axes_of_palm(model, edge, yaw) for edge in pitch_range_rad]
    box = np.array(corners)
    return box.min(axis=0), box.max(axis=0)
