"""What every tendon and joint of a hand does, counted from the frames: way, reversals, load, heat.

A hundred samples a second are enough for what a drive can do. A way goes through a play: noise within it
wears nothing. What no motor can do between two samples (a zero that was set, a turn that was lost) is no way.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mechanics.plausible import MOTOR_RAD, MOTOR_SHARE
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray

Counts = dict[str, Any]
"""``{seconds, tendons: {name: {travel_m, reversals, load_s, hot_s}}, joints: {name: {travel_rad, ...}}}``."""

STEP_NS: Final = 10_000_000
GAP_S: Final = 0.1
"""Of a longer gap between two samples (lost frames, a pause) this much counts as time."""
TENDON_PLAY_M: Final = 1e-4
JOINT_PLAY_RAD: Final = 0.004
"""Half the width of the plays: some ten times the noise of an encoder, and of a joint angle."""
JOINT_RAD_S: Final = 200.0
"""No joint is thrown faster."""
TENDON_LOADS_N: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
JOINT_LOADS_NM: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Edges of the histograms of load: one class more than edges."""


class Ways:
    """Ways of ``n`` parts and how often each turned round.

    Args:
        n: parts.
        play: half the width of the play that a way goes through.
    """

    def __init__(self, n: int, play: float) -> None:
        self.way, self.reversals = np.zeros(n), np.zeros(n, dtype=np.int64)
        self._play, self._sign = play, np.zeros(n)
        self._place = self._last = np.full(n, np.nan)

    def see(self, now: FloatArray, most: FloatArray | float) -> None:
        """Places now, shape (n,); a change above ``most`` since the last ones is no way."""
        known = np.isfinite(now)
        goes_on = known & (np.abs(now - self._last) <= most)
        place = np.clip(self._place, now - self._play, now + self._play)
        moved = np.where(goes_on, place - self._place, 0.0)
        sign = np.sign(moved)
        self.way += np.abs(moved)
        self.reversals += sign * self._sign < 0.0
        self._sign = np.where(sign != 0.0, sign, self._sign)
        self._place = np.where(goes_on, place, np.where(known, now, self._place))
        self._last = np.where(known, now, self._last)

    def forget(self) -> None:
        """Count from nothing, from where the parts are."""
        self.way[:], self.reversals[:] = 0.0, 0


class Odometer:
    """Counts what the parts of a hand do until it is asked.

    Args:
        names: names of the hand.
        model: its model record, shape (1,).
        hot_degc: temperature from which a winding is hot.
    """

    def __init__(self, names: HandNames, model: RecordArray, hot_degc: float) -> None:
        m = model[0]
        self._tendons, self._joints, self._hot_degc = names.tendons, names.joints, hot_degc
        n, joints = len(names.tendons), len(names.joints)
        self._motor = np.array(m["tendon_motor"][:n])
        self._radius = np.array(m["spool_radius_m"][:n])
        self._speed = MOTOR_SHARE * np.array(m["motor_speed_limit_rad_s"][self._motor])
        self._wound, self._turned = Ways(n, TENDON_PLAY_M), Ways(joints, JOINT_PLAY_RAD)
        self._pulled_s = np.zeros((n, len(TENDON_LOADS_N) + 1))
        self._loaded_s = np.zeros((joints, len(JOINT_LOADS_NM) + 1))
        self._hot_s = np.zeros(n)
        self._seconds, self._last_ns = 0.0, -1

    def see(self, frames: RecordArray) -> None:
        """Frames in their order, shape (k,) of FRAME."""
        states = frames["state"]
        steps = states["time_ns"] // STEP_NS
        for k in np.flatnonzero(np.diff(steps, prepend=self._last_ns // STEP_NS) > 0):
            self._see(states[k])

    def _see(self, s: Any) -> None:
        n, joints, now_ns = len(self._tendons), len(self._joints), int(s["time_ns"])
        since_s = 1e-9 * (now_ns - self._last_ns) if self._last_ns >= 0 else 0.0
        self._last_ns = now_ns
        most = np.abs(self._radius) * (self._speed * since_s + MOTOR_RAD)
        self._wound.see(self._radius * s["motor_angle_rad"][self._motor], most)
        self._turned.see(s["joint_angle_rad"][:joints], JOINT_RAD_S * since_s)
        dt_s = min(since_s, GAP_S)
        self._seconds += dt_s
        load = np.searchsorted(TENDON_LOADS_N, np.nan_to_num(s["tension_n"][:n]), side="right")
        self._pulled_s[np.arange(n), load] += dt_s
        torque = np.abs(np.nan_to_num(s["joint_torque_nm"][:joints]))
        self._loaded_s[np.arange(joints), np.searchsorted(JOINT_LOADS_NM, torque, side="right")] += dt_s
        self._hot_s += dt_s * (s["winding_temperature_degc"][self._motor] >= self._hot_degc)

    def take(self) -> Counts:
        """What was counted since the last time that somebody asked."""
        counts: Counts = {
            "seconds": self._seconds,
            "tendons": {
                name: {
                    "travel_m": float(self._wound.way[t]),
                    "reversals": int(self._wound.reversals[t]),
                    "load_s": self._pulled_s[t].tolist(),
                    "hot_s": float(self._hot_s[t]),
                }
                for t, name in enumerate(self._tendons)
            },
            "joints": {
                name: {
                    "travel_rad": float(self._turned.way[j]),
                    "reversals": int(self._turned.reversals[j]),
                    "load_s": self._loaded_s[j].tolist(),
                }
                for j, name in enumerate(self._joints)
            },
        }
        for ways in (self._wound, self._turned):
            ways.forget()
        for array in (self._pulled_s, self._loaded_s, self._hot_s):
            array[:] = 0.0
        self._seconds = 0.0
        return counts
