"""How the palm is turned: a straight wrist is 0 deg, whatever angles its linkage has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from signals.layout import FloatArray


def published_geometry(meta: dict[str, Any]) -> Any:
    """Geometry that a hand publishes, fields as arrays."""
    fields = meta["geometry"].items()
    return SimpleNamespace(**{k: np.array(v) if isinstance(v, list) else v for k, v in fields})


class Palm:
    """Palm of a hand.

    Args:
        meta: of the hand: ``names``, ``geometry``.
    """

    def __init__(self, meta: dict[str, Any]) -> None:
        self._m, self._names = published_geometry(meta), meta["names"].get("axis", [])

    def pose(self, axes: dict[str, float]) -> tuple[FloatArray, FloatArray]:
        """Orientation, shape (3, 3), and origin [m] in the forearm frame.

        Args:
            axes: angles of the wrist's axes [rad].
        """
        if self._m.n_axes != 2:
            return np.eye(3), self._m.wrist_origin_m
        from mechanics.wrist_loop import palm_pose

        found = np.array(self._by(palm_pose, axes))
        return found[:9].reshape(3, 3), found[9:]

    def angles_rad(self, axes: dict[str, float]) -> tuple[float, float] | None:
        """Pitch and yaw; ``None`` for a hand without a wrist of linked axes. Arguments as of ``pose``."""
        if self._m.n_axes != 2:
            return None
        from mechanics.palm_angles import pitch_yaw

        pitch, yaw = self._by(pitch_yaw, axes)
        return float(pitch), float(yaw)

    def _by(self, law: Any, axes: dict[str, float]) -> Any:
        from tools.monitor.plain import plain

        neutral: dict[str, float] = dict(zip(self._names, self._m.wrist_neutral_rad.tolist(), strict=True))
        known = (
            a if np.isfinite(a := axes.get(name, straight)) else straight
            for name, straight in neutral.items()
        )
        return plain(law)(self._m, *known)
