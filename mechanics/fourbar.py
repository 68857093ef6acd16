"""Planar four-bar linkage with its toggle: the metacarpal joint of the fifth finger (chapter 5.5).

    O = (0, 0), D = (ground, 0), A = crank (cos, sin)(crank angle), B = D + rocker (cos, sin)(rocker angle),
    |AB| = coupler, uncrossed branch.

Where coupler and rocker become collinear, |AD| = coupler + rocker, the rocker's speed per crank speed grows
without bound and the crank can go no further: the paper's "locking motion towards the palm centre".

The metacarpal is the crank: joint angle q is the crank past neutral. Where tendons wind on the rocker, a
tendon of the lever arm P_0 at q = 0 has

    h = P_0 (psi(q) - psi(0)) / rho(0),    P = P_0 rho(q) / rho(0),    rho = d psi / d q

so that its arm grows towards the toggle, and what pushes the metacarpal there hardly loads it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from signals.compiled import law
from signals.typed import Model

LEAST_SINE: Final = 0.2
"""Sine of the angle between coupler and rocker down to which a joint's range may reach: five times closer to
the toggle, lever arms are beyond what tendons that stretch can be computed with."""


@law
def four_bar(
    ground_m: float, crank_m: float, coupler_m: float, rocker_m: float, crank_rad: float
) -> tuple[float, float, float, float]:
    """Rocker and coupler of the uncrossed branch.

    Returns:
        (rocker angle [rad], coupler angle A -> B [rad], d rocker/d crank, margin): margin is the sine of the
        angle between coupler and rocker, 0 at the toggle, negative where the linkage cannot close (the angles
        are then held at the toggle). The ratio is infinite from the toggle on.
    """
    x, y = crank_m * math.cos(crank_rad) - ground_m, crank_m * math.sin(crank_rad)
    square = x * x + y * y
    distance = math.sqrt(square)
    cosine = (square + rocker_m * rocker_m - coupler_m * coupler_m) / (2.0 * distance * rocker_m)
    inside = math.acos(min(max(cosine, -1.0), 1.0))
    # uncrossed: B on the side of the line D -> A that faces away from O
    rocker = math.atan2(y, x) - inside
    coupler = math.atan2(rocker_m * math.sin(rocker) - y, rocker_m * math.cos(rocker) - x)
    if abs(cosine) >= 1.0:
        return rocker, coupler, math.inf, -math.sqrt(abs(cosine) - 1.0)
    across = math.sin(rocker - coupler)
    ratio = crank_m * math.sin(crank_rad - coupler) / (rocker_m * across)
    return rocker, coupler, ratio, abs(across)


@law
def rocker_turn(m: Model, j: int, q: float) -> tuple[float, float, float]:
    """Rocker's turn from angle 0 to ``q`` [rad] of joint ``j``, per its ratio at 0, and two derivatives.

    Beyond the joint's range it goes on with the ratio of its end, as the stops hold the joint there.
    """
    ground, crank, coupler, rocker = (
        m.four_bar_ground_m[j],
        m.four_bar_crank_m[j],
        m.four_bar_coupler_m[j],
        m.four_bar_rocker_m[j],
    )
    inside = min(max(q, m.joint_min_rad[j]), m.joint_max_rad[j])
    theta = m.four_bar_neutral_rad[j] + inside
    psi, phi, ratio, _ = four_bar(ground, crank, coupler, rocker, theta)
    neutral, _, neutral_ratio, _ = four_bar(ground, crank, coupler, rocker, m.four_bar_neutral_rad[j])
    scale = 1.0 / neutral_ratio
    turn = scale * (psi - neutral + ratio * (q - inside))
    if q != inside:
        return turn, scale * ratio, 0.0
    # derivative of crank sin(theta - phi) / (rocker sin(psi - phi)), with that of the coupler's angle
    turning = crank * math.sin(theta - psi) / (coupler * math.sin(psi - phi))
    above, below = math.sin(theta - phi), math.sin(psi - phi)
    rise = math.cos(theta - phi) * (1.0 - turning) * below - above * math.cos(psi - phi) * (ratio - turning)
    return turn, scale * ratio, scale * crank / rocker * rise / (below * below)


@dataclass(frozen=True, slots=True, kw_only=True)
class FourBar:
    """A four-bar linkage that can be assembled in its neutral pose and locks at its toggle.

    Raises:
        ValueError: on construction, for an impossible linkage, with what to change.
    """

    ground_m: float
    crank_m: float
    coupler_m: float
    rocker_m: float
    neutral_crank_rad: float

    def __post_init__(self) -> None:
        bars = {
            "ground": self.ground_m,
            "crank": self.crank_m,
            "coupler": self.coupler_m,
            "rocker": self.rocker_m,
        }
        for name, length in bars.items():
            if not (length > 0.0 and math.isfinite(length)):
                raise ValueError(f"four-bar {name} is {length} m; every bar needs a length > 0")
        longest = max(bars, key=lambda name: bars[name])
        excess = 2.0 * bars[longest] - sum(bars.values())
        if excess >= 0.0:
            raise ValueError(
                f"four-bar cannot be assembled: {longest} {bars[longest]} m is as long as the other three "
                f"together; shorten it by more than {excess:.6g} m or lengthen another"
            )
        if not 0.0 < self.neutral_crank_rad < math.pi:
            raise ValueError(
                f"four-bar neutral crank angle {math.degrees(self.neutral_crank_rad):.1f} deg; choose one "
                "between 0 and 180 deg (mirror the linkage instead)"
            )
        gap = self._gap_m(self.neutral_crank_rad)
        reach, least = self.coupler_m + self.rocker_m, abs(self.coupler_m - self.rocker_m)
        angle = math.degrees(self.neutral_crank_rad)
        if gap >= reach:
            raise ValueError(
                f"four-bar cannot be assembled at neutral crank {angle:.1f} deg: coupler and rocker "
                f"span {reach:.6g} m of {gap:.6g} m; lengthen them by more than {gap - reach:.6g} m together "
                f"or turn the neutral crank angle below {math.degrees(self.toggle_crank_rad):.1f} deg"
            )
        if gap <= least:
            raise ValueError(
                f"four-bar cannot be assembled at neutral crank {angle:.1f} deg: coupler and rocker "
                f"differ by {least:.6g} m, their ends are only {gap:.6g} m apart; make the two more equal or "
                "turn the neutral crank angle up"
            )

    def _gap_m(self, crank_rad: float) -> float:
        """Distance |AD| that coupler and rocker have to span [m]."""
        return math.hypot(
            self.crank_m * math.cos(crank_rad) - self.ground_m, self.crank_m * math.sin(crank_rad)
        )

    @property
    def toggle_crank_rad(self) -> float:
        """Crank angle [rad] at which coupler and rocker are collinear; pi where that never happens."""
        reach = self.coupler_m + self.rocker_m
        cosine = (self.ground_m**2 + self.crank_m**2 - reach**2) / (2.0 * self.ground_m * self.crank_m)
        return math.acos(cosine) if -1.0 < cosine < 1.0 else math.pi

    @property
    def travel_rad(self) -> float:
        """Crank travel from neutral to the toggle [rad]: the greatest possible joint angle."""
        return self.toggle_crank_rad - self.neutral_crank_rad

    def rocker_rad(self, joint_rad: float) -> float:
        """Rocker angle relative to neutral [rad] of a joint angle (crank past neutral) [rad].

        Raises:
            ValueError: the joint angle is beyond the toggle.
        """
        return self._solve(joint_rad)[0] - self._solve(0.0)[0]

    def ratio(self, joint_rad: float) -> float:
        """Rocker speed per joint speed; without bound at the toggle.

        Raises:
            ValueError: the joint angle is beyond the toggle.
        """
        return self._solve(joint_rad)[2]

    def _solve(self, joint_rad: float) -> tuple[float, float, float, float]:
        pose = four_bar(
            self.ground_m,
            self.crank_m,
            self.coupler_m,
            self.rocker_m,
            self.neutral_crank_rad + float(joint_rad),
        )
        if pose[3] < 0.0:
            raise ValueError(
                f"joint angle {math.degrees(joint_rad):.2f} deg: the four-bar cannot close there; its toggle "
                f"is {math.degrees(self.travel_rad):.2f} deg past neutral"
            )
        return pose
