"""A finger of a hand, its tendons at chosen tensions in a chosen pose, as a look ahead sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from guard.lookahead import OTHERS, begin_look, look_ahead
from guard.simulated_break import throw
from hand.assembly.figures import FIGURES
from mechanics.coupling import tendon_jacobian
from mechanics.finger_rows import place_rows
from mechanics.fingermass import finger_mass
from mechanics.springs import spring_state
from signals.layout import FloatArray
from signals.modes import MachineState
from tests.rigs.bare import Bare

REACT_S, URGENT_S, RAMP_S = 0.0045, 0.0195, 0.1
REST_NM = FIGURES["release_torque_nm"].reference
"""From a break to the reaction; at full torque; until that would be gone; what goes on unwinding."""
MS = 1_000_000


def elongation_of(m: Any, t: int, tension_n: float) -> float:
    """Elongation [m] at which tendon ``t`` has a tension, by bisection; without one a millimetre of slack."""
    if tension_n <= 0.0:
        return -0.001
    low, high = 0.0, 0.05
    for _ in range(60):
        middle = 0.5 * (low + high)
        if spring_state(m, t, middle, 0.0, 0.0)[1] < tension_n:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


class Ahead(Bare):
    """Records of a hand; ``pose`` and ``pull`` say its state, ``throw`` looks ahead at one finger of it."""

    def __init__(self, hand: str = "finger_bench", f: int = 0) -> None:
        super().__init__(hand)
        self.f = f
        self.tendons = [int(t) for t in self.m["finger_tendon"][f, : self.m["finger_n_tendons"][f]]]
        self.own = [int(j) for j in self.m["finger_joint"][f, : self.m["finger_n_joints"][f]]]

    # --- the hand now ---

    def pose(self, q_rad: Any) -> Ahead:
        """The finger's joint angles, and the coupling there."""
        self.s["joint_angle_rad"][self.own] = q_rad
        tendon_jacobian(self.m, self.s["joint_angle_rad"], self.mem["P_tj_m"])
        place_rows(self.m, self.mem["P_tj_m"], self.mem)
        return self

    def pull(self, tension_n: Any) -> Ahead:
        """Tensions of the finger's tendons, and motors that balance them."""
        for t, tension in zip(self.tendons, np.broadcast_to(tension_n, len(self.tendons)), strict=True):
            e = elongation_of(self.m, t, float(tension))
            lever, _ = spring_state(self.m, t, e, 0.0, 0.0)
            self.s["tension_n"][t], self.s["elongation_m"][t] = tension, e
            self.s["lever_angle_rad"][t] = lever
            torque = self.m["spool_radius_m"][t] * tension
            self.mem["last_torque_nm"][self.m["tendon_motor"][t]] = torque
        return self

    @property
    def P(self) -> FloatArray:
        """Coupling of the finger [m], its tendons by its joints."""
        return np.array(self.mem["P_tj_m"][np.ix_(self.tendons, self.own)])

    # --- the law itself ---

    def begin(self, t: int) -> Ahead:
        """A look ahead at the loss of tendon ``t`` begins from the state as it is now."""
        self.mem["moment_ns"] = 0
        begin_look(self.m, self.mem, self.s, self.f, t)
        return self

    def throw(self, unwound: int) -> FloatArray:
        """Speeds at which the upper and lower stops are hit, shape (n, 2), if a set is let go."""
        lost = int(self.mem["look_lost"])
        args = (self.m, self.mem, self.f, lost, unwound, REACT_S, URGENT_S, RAMP_S, REST_NM)
        assert throw(*args)
        return np.array(self.mem["look_hit_rad_s"][: len(self.own)])

    def mass(self, q_rad: FloatArray) -> FloatArray:
        """Mass matrix of the finger at joint angles of the hand, shape (n, n)."""
        B, n = self.mem["look_R"].shape[0], len(self.own)
        H = np.zeros(self.mem["look_H"].shape)
        finger_mass(
            self.m, self.f, q_rad, np.zeros((B, 3, 3)), np.zeros((B, 3)), np.zeros((B, 6)), np.zeros(10), H
        )
        return np.array(H[:n, :n])

    # --- from cycle to cycle ---

    def suspect(self, t: int, slack_s: float = 0.002) -> Ahead:
        """Tendon ``t``, taut before and wanted so, has been at its slack stop for a time."""
        self.mem["slack_s"][t], self.mem["taut"][t], self.mem["thrown"][t] = slack_s, 1, 0
        self.s["ref_tension_n"][t] = 20.0
        return self

    def busy(self, t: int, done: int = 2) -> Ahead:
        """A look at tendon ``t`` is under way: some of ten sets are done."""
        self.run(40).suspect(t).cycle()
        others = [k for k in range(1, 64) if not k >> int(self.mem["look_lost"]) & 1]
        self.mem["look_set"][:10], self.mem["look_count"] = others[:10], 10
        self.mem["look_done"], self.mem["look_phase"] = done, OTHERS
        return self

    def cycle(self) -> None:
        """One cycle of the look ahead."""
        self.stamp()
        look_ahead(self.m, self.mem, self.s)

    def run(self, cycles: int) -> Ahead:
        for _ in range(cycles):
            self.cycle()
        return self

    def fall(self, f: int, age_s: float = 0.0) -> None:
        """Finger ``f`` is in fault since a time."""
        self.s["finger_state"][f] = self.mem["last_finger_state"][f] = int(MachineState.FAULT)
        self.mem["fault_age_s"][f], self.mem["urgent_s"][f] = age_s, URGENT_S
