r"""Small windings of one motor after the other, and what all Hall sensors make of them.

With tendon stiffnesses K a finger's elongations follow a winding R dtheta by

.. math:: de = (I - P (P^T K P)^{-1} P^T K) R d\theta

so the motor's own tendon stretches most, and with the sign of the winding. Friction holds back what the
joints make of it, never the own tendon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.motion_run import Means
from hand.assembly.fingers import springs_of
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from mechanics.springs import stiffness_of_force
from mechanics.start_tension import start_tension_n
from signals.layout import FloatArray

MOST_DEG: Final = 2.5
"""Largest turn of a joint by a winding."""
LEAD_S: Final = 0.4
"""Standing still before the first winding: what is seen here needs no motion."""
MOVE_S: Final = 0.15
REST_S: Final = 0.10
SLOT_S: Final = 4.0 * MOVE_S + 2.0 * REST_S
"""In, rest, out, rest, back: the way out takes two moves."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Windings: tendons in their order, and by how far their motors turn each way [rad]."""

    tendons: tuple[int, ...]
    turns_rad: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Length of the motion."""
        return LEAD_S + SLOT_S * len(self.tendons)

    def slot_s(self, k: int) -> float:
        """When the k-th winding begins."""
        return LEAD_S + k * SLOT_S


def responses(hand: Hand) -> tuple[FloatArray, FloatArray]:
    """(stretch of tendon t, turn of joint j) per path wound at tendon i, at start tension: (T, T), (J, T)."""
    m = hand.model[0]
    n, joints = int(m["n_tendons"]), int(m["n_joints"])
    P = straight_jacobian(hand.model)[:n, :joints]
    stiff = _start_stiffness(hand)
    springs = springs_of(m, np.arange(joints))
    turn = np.asarray(np.linalg.solve(P.T * stiff @ P + springs, P.T * stiff), dtype=np.float64)
    return np.eye(n) - P @ turn, turn


def _start_stiffness(hand: Hand) -> FloatArray:
    m = hand.model[0]
    force = start_tension_n(m, float(m["pretension_n"][0]))
    return np.array([stiffness_of_force(m, t, force) for t in range(int(m["n_tendons"]))])


def plan_of(hand: Hand, tendons: list[int], share: float) -> Plan:
    """Windings of these tendons, each way by a share of the residual that latches a fault of the finger."""
    m = hand.model[0]
    turn = np.abs(responses(hand)[1]).max(axis=0)
    ways = np.radians(MOST_DEG) / np.maximum(turn, 1e-9)
    most = m["residual_limit_m"][m["tendon_finger"]]
    turns = []
    for t in tendons:
        way = min(float(ways[t]), share * float(most[t]) if most[t] > 0.0 else np.inf)
        turns.append(way / abs(float(m["spool_radius_m"][t])))
    return Plan(tuple(tendons), tuple(turns))


def motion_of(hand: Hand, plan: Plan) -> str:
    """Text of the motion."""
    m, lines = hand.model[0], ['description = "Every motor winds a little."', 'mode = "motor_position"']
    lines += ["blend_s = 0.2"] if plan.tendons else ["tracks = []"]
    for k, (t, turn) in enumerate(zip(plan.tendons, plan.turns_rad, strict=True)):
        name, begin = hand.names.motors[int(m["tendon_motor"][t])], plan.slot_s(k)
        turn *= float(np.sign(m["spool_radius_m"][t]))
        steps = np.cumsum([0.0, MOVE_S, REST_S, 2.0 * MOVE_S, REST_S, MOVE_S])
        times = [0.0, *(round(float(begin + s), 6) for s in steps)]
        values = [0.0, 0.0, turn, turn, -turn, -turn, 0.0]
        lines += ["[[tracks]]", 'kind = "motor_rad"', f'names = ["{name}"]', "relative = true"]
        lines += [f"points = {{ times_s = {times}, values = {values} }}"]
    return "\n".join(lines) + "\n"


def answers(hand: Hand, plan: Plan, means: Means) -> tuple[FloatArray, FloatArray]:
    """(stretch of every tendon per winding, shape (T, windings); share of each winding that was turned)."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    found, turned = np.full((n, len(plan.tendons)), np.nan), np.zeros(len(plan.tendons))
    for k, (t, turn) in enumerate(zip(plan.tendons, plan.turns_rad, strict=True)):
        begin, i = plan.slot_s(k), int(m["tendon_motor"][t])
        first = begin + MOVE_S + 0.3 * REST_S, begin + MOVE_S + REST_S
        last = begin + 3.0 * MOVE_S + 1.3 * REST_S, begin + 3.0 * MOVE_S + 2.0 * REST_S
        change = [
            means.between(x, *first) - means.between(x, *last) for x in ("elongation_m", "motor_angle_rad")
        ]
        radius = float(m["spool_radius_m"][t])
        found[:, k] = change[0][:n] / (2.0 * turn * abs(radius))
        turned[k] = change[1][i] * np.sign(radius) / (2.0 * turn)
    return found, turned
