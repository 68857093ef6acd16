"""A hand on the desk: exact measurements of a chosen pose, and the three stages of the tick over them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from controllers.memory import new_controller_memory
from controllers.tick import control
from estimators.memory import new_memory
from estimators.tick import estimate
from guard.guard import guard
from guard.memory import new_guard_memory
from hand.assembly.assemble import model_of, names_of
from hand.file.loader import load_hand
from mechanics.coupling import tendon_lengths
from mechanics.springs import count_of_lever, spring_at
from mechanics.wrist import wrist_lengths
from signals.compiled import law
from signals.goal import default_goal
from signals.layout import FloatArray
from signals.modes import MachineState, Request
from signals.records import COMMAND, MEASUREMENT, STATE, RecordArray, new


@cache
def loaded(hand: str) -> Any:
    return load_hand(hand)


def model_record(hand: str) -> RecordArray:
    return model_of(loaded(hand))


@law
def _levers(model: RecordArray, tension_n: FloatArray, lever_out: FloatArray) -> None:
    """Lever angles at which the mechanisms make the tensions, by bisection."""
    m = model[0]
    for t in range(m.n_tendons):
        k = m.tendon_spring[t]
        low, high = m.lever_min_rad[k], m.lever_max_rad[k]
        for _ in range(60):
            middle = 0.5 * (low + high)
            if spring_at(m, t, middle)[0] > tension_n[t]:
                low = middle
            else:
                high = middle
        lever_out[t] = 0.5 * (low + high)


@law
def _sense(model: RecordArray, lever: FloatArray, count: FloatArray, elongation: FloatArray) -> None:
    """Hall counts and elongations of lever angles."""
    m = model[0]
    for t in range(m.n_tendons):
        force, _, path, _ = spring_at(m, t, lever[t])
        elongation[t] = -path + force * m.tendon_compliance_m_n[t]
        count[t] = count_of_lever(m, t, lever[t])


@law
def _lengths(model: RecordArray, q: FloatArray, axes: FloatArray, h: FloatArray, wrist: FloatArray) -> None:
    """Path lengths in the fingers, and through the wrist minus neutral."""
    m = model[0]
    tendon_lengths(m, q, h)
    if m.n_axes > 0:
        wrist_lengths(m, axes[0], axes[1], wrist)
        for t in range(m.n_tendons):
            wrist[t] -= m.wrist_neutral_length_m[t]


class Desk:
    """Records and memories of one hand; ``place`` sets what the sensors say."""

    def __init__(self, hand: str = "finger_bench") -> None:
        self.model = model_record(hand)
        self.m = self.model[0]
        self.names = names_of(loaded(hand))
        self.n_motors, self.n_tendons = int(self.m["n_motors"]), int(self.m["n_tendons"])
        self.n_joints, self.n_fingers = int(self.m["n_joints"]), int(self.m["n_fingers"])
        self.measurement, self.command, self.state = new(MEASUREMENT), new(COMMAND), new(STATE)
        self.goal = default_goal(self.model)
        self.estimator, self.controller, self.keeper = (
            new_memory(),
            new_controller_memory(),
            new_guard_memory(),
        )
        self.tick = 0
        self.dt_s = float(self.m["dt_s"])
        self.place(np.zeros(self.n_joints), 20.0)

    def place(self, q_rad: FloatArray, tension_n: FloatArray | float, axes_rad: Any = None) -> None:
        """Measurement of joint angles and tensions, exact and all at one instant."""
        m, z, n = self.m, self.measurement[0], self.n_tendons
        q, axes = np.zeros(m["P_tj_m"].shape[1]), m["wrist_neutral_rad"].copy()
        h, wrist, lever, count, elongation, tension = np.zeros((6, m["P_tj_m"].shape[0]))
        q[: self.n_joints] = q_rad
        tension[:n] = tension_n
        if axes_rad is not None:
            axes[:] = axes_rad
        _lengths(self.model, q, axes, h, wrist)
        _levers(self.model, tension, lever)
        _sense(self.model, lever, count, elongation)
        if m["n_axes"]:
            z["axis_angle_rad"][:2] = axes
        z["hall_fine_count"][:n] = count[:n]
        z["hall_count"][:n] = np.rint(count[:n])
        wound = elongation - h - wrist - m["elongation_offset_m"]
        z["motor_angle_rad"][m["tendon_motor"][:n]] = wound[:n] / m["spool_radius_m"][:n]

    def stamp(self) -> None:
        """Time of the next cycle into measurement and state."""
        self.tick += 1
        now = round(self.tick * self.dt_s * 1e9)
        z, s = self.measurement[0], self.state[0]
        for name in ("motor_time_ns", "hall_time_ns", "axis_time_ns"):
            z[name][:] = now
        z["time_ns"] = now
        s["tick"], s["time_ns"], s["dt_s"] = self.tick, now, self.dt_s

    def look(self) -> None:
        self.stamp()
        estimate(self.model, self.measurement, self.estimator, self.state)

    def steer(self) -> None:
        control(self.model, self.goal, self.controller, self.state, self.command)

    def watch(self) -> None:
        guard(self.model, self.goal, self.measurement, self.keeper, self.state, self.command)

    def cycle(self, count: int = 1) -> None:
        for _ in range(count):
            self.look()
            self.steer()
            self.watch()

    def ask(self, request: Request) -> None:
        self.goal["request"] = int(request)
        self.goal["request_seq"] += 1

    def to_holding(self) -> None:
        self.ask(Request.ARM)
        self.cycle(12)
        assert self.state["machine"][0] == MachineState.HOLDING

    def to_active(self) -> None:
        self.to_holding()
        self.ask(Request.ACTIVATE)
        self.cycle()
        assert self.state["machine"][0] == MachineState.ACTIVE

    def causes(self) -> list[int]:
        return [int(c) for c in self.state["finger_cause"][0, : self.n_fingers]]

    def motors_of(self, finger: int) -> list[int]:
        m = self.m
        tendons = m["finger_tendon"][finger][: m["finger_n_tendons"][finger]]
        return [int(m["tendon_motor"][t]) for t in tendons]


def shift(desk: Desk, t: int, counts: int) -> None:
    desk.measurement["hall_count"][0, t] += counts
    desk.measurement["hall_fine_count"][0, t] += counts


def slacken(desk: Desk, t: int) -> None:
    m = desk.m
    k = m["tendon_spring"][t]
    count = m["hall_zero_count"][t] + m["lever_max_rad"][k] * m["hall_counts_rad"][t]
    desk.measurement["hall_fine_count"][0, t] = count
    desk.measurement["hall_count"][0, t] = round(count)
