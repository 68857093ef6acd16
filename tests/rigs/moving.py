"""A finger in motion as the envelope sees it: records written by hand, joints and motors as told."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from guard.carried import note_carriers
from guard.envelope import joint_margins, note_near, tension_envelope
from guard.limits import envelope_bounds
from guard.paths import note_stands
from signals.modes import Clip
from tests.rigs.bare import Bare

JOINT_RANGE = int(Clip.JOINT_RANGE)
TENSION_MAX, TENSION_MIN = int(Clip.TENSION_MAX), int(Clip.TENSION_MIN)
FAR_NM = 50.0
"""More than any motor can give."""
TENDONS = st.integers(0, 7)


class Moving(Bare):
    """A finger with all joints in the middle of their ranges, tendons taut, motors as told.

    Args:
        careful: its joints are kept from their stops while it moves fast, as in any hand.
    """

    def __init__(self, careful: bool = False) -> None:
        super().__init__()
        if not careful:
            self.m["joint_care_rad"] = 0.0
        self.low, self.high = (self.m[f"joint_{end}_rad"][: self.joints].copy() for end in ("min", "max"))
        self.s["joint_angle_rad"][: self.joints] = 0.5 * (self.low + self.high)
        self.P = self.mem["P_tj_m"][: self.n, : self.joints]
        self.radius = self.m["spool_radius_m"][: self.n]
        self.least_m, self.most_m = (self.m[f"elongation_{end}_m"][: self.n] for end in ("min", "max"))
        self.mem["taut"][: self.n] = 1
        note_carriers(self.m, self.mem)
        note_stands(self.m, self.mem)
        note_near(self.m, self.mem)

    def turn(self, speed_rad_s: np.ndarray) -> None:
        """Joints and the motors that make it, without a change of tension."""
        self.s["joint_speed_rad_s"][: self.joints] = speed_rad_s
        self.s["motor_speed_rad_s"][: self.n] = -(self.P @ speed_rad_s) / self.radius
        self.look()

    def look(self) -> None:
        joint_margins(self.m, self.mem, self.s, 0)

    def margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Up and down, of every joint [rad/s]."""
        n = self.joints
        return self.mem["margin_up_rad_s"][:n].copy(), self.mem["margin_down_rad_s"][:n].copy()

    def mirrored(self) -> Moving:
        """Every joint as far from its other end, and moving the other way."""
        other, n = Moving(), self.joints
        other.s["joint_angle_rad"][:n] = self.low + self.high - self.s["joint_angle_rad"][:n]
        other.turn(-self.s["joint_speed_rad_s"][:n])
        return other

    def bounded(self, t: int, x: float) -> tuple[float, int]:
        y, bits = envelope_bounds(self.m, self.mem, self.s, 0, t, x, 0)
        return float(y), int(bits)


def towards_the_end(joint: int = 3) -> Moving:
    """A joint that its motors turn up faster than what is left of its range allows."""
    bench = Moving()
    bench.s["joint_angle_rad"][joint] = bench.high[joint] - 0.02
    bench.turn(2.0 * np.eye(bench.joints)[joint])
    return bench


def limit_nm(bench: Moving, t: int) -> float:
    return float(bench.m["motor_torque_limit_nm"][t])


def envelope(bench: Moving, t: int) -> tuple[float, float]:
    least, most = tension_envelope(bench.m, bench.mem, bench.s, 0, t)
    return float(least), float(most)


def alone(t: int, way_m: float, speed_m_s: float, tight: bool = True) -> Moving:
    """A tendon so far from its greatest (or least) elongation, its motor turning, no joint moving."""
    bench = Moving()
    bench.s["elongation_m"][t] = bench.most_m[t] - way_m if tight else bench.least_m[t] + way_m
    bench.s["motor_speed_rad_s"][t] = speed_m_s / bench.radius[t]
    bench.mem["pinv_fbk_1_m"][0, :, t] = 0.0  # it turns no joint: the tension alone
    bench.look()
    return bench
