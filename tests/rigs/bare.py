"""A finger at rest as the guard's parts see it: records written by hand, one law at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from guard.detectors import detect
from guard.guard import guard
from guard.hall_checks import elongation_of_count_m
from guard.memory import new_guard_memory
from mechanics.finger_rows import place_rows
from mechanics.springs import lever_of_count
from signals.compiled import law
from signals.faults import Cause
from signals.modes import MachineState, Request
from signals.records import COMMAND, GOAL, MEASUREMENT, STATE, new
from tests.rigs.desk import model_record

COUNT = 1999


@law
def sample(m: Any, z: Any, s: Any) -> None:
    """Samples of what is in use, all of this cycle; what is no number stays none."""
    z.time_ns = s.time_ns
    for i in range(m.n_motors):
        z.motor_time_ns[i] = s.time_ns
        if math.isfinite(z.motor_angle_rad[i]):
            z.motor_angle_rad[i] = s.motor_angle_rad[i]
    for t in range(m.n_tendons):
        z.hall_time_ns[t] = s.time_ns
        if math.isfinite(z.hall_fine_count[t]):
            z.hall_fine_count[t] = z.hall_count[t]
    for a in range(m.n_axes):
        z.axis_time_ns[a] = s.time_ns
        if math.isfinite(z.axis_angle_rad[a]):
            z.axis_angle_rad[a] = s.axis_angle_rad[a]


@law
def _watched(model: Any, memory: Any, measurement: Any, state: Any, most: int, step_ns: int) -> int:
    """Cycles until a finger or the hand has a cause; ``most`` + 1 if none gets one."""
    m, mem, z, s = model[0], memory[0], measurement[0], state[0]
    for k in range(1, most + 1):
        s.tick += 1
        s.time_ns += step_ns
        sample(m, z, s)
        detect(m, mem, z, s)
        bad = s.hand_cause != 0
        for f in range(m.n_fingers):
            bad = bad or s.finger_cause[f] != 0
        if bad:
            return k
    return most + 1


TENSION_N, STIFFNESS_N_M, LEVER_RAD = 20.0, 7176.0, -0.01875
LOST_M = 0.004
"""Elongation at that tension: what is missing of a path, seen by the other tendons, when it is lost."""


class Bare:
    """Records of a hand at rest, all fingers active, every tendon at 20 N; ``detect`` looks at them once."""

    def __init__(self, hand: str = "finger_bench") -> None:
        self.model = self.made(hand)
        self.records = [new_guard_memory(), new(MEASUREMENT), new(STATE), new(GOAL), new(COMMAND)]
        self.m = self.model[0]
        self.mem, self.z, self.s, self.g, self.c = (r[0] for r in self.records)
        self.n, self.joints = int(self.m["n_tendons"]), int(self.m["n_joints"])
        self.dt_s = float(self.m["dt_s"])
        self.mem["P_tj_m"] = self.m["P_tj_m"]
        place_rows(self.m, self.mem["P_tj_m"], self.mem)
        s, z, n = self.s, self.z, self.n
        s["machine"] = int(MachineState.ACTIVE)
        s["finger_state"][: self.m["n_fingers"]] = int(MachineState.ACTIVE)
        s["tension_n"][:n], s["ref_tension_n"][:n] = TENSION_N, TENSION_N
        s["tendon_stiffness_n_m"][:n], s["lever_angle_rad"][:n] = STIFFNESS_N_M, LEVER_RAD
        s["elongation_m"][:n] = LOST_M
        s["tendon_length_m"][:n] = -LOST_M
        s["motor_torque_nm"][:n] = self.m["spool_radius_m"][:n] * TENSION_N
        self.mem["last_torque_nm"] = s["motor_torque_nm"]
        s["axis_angle_rad"] = self.m["wrist_neutral_rad"]
        z["axis_angle_rad"] = s["axis_angle_rad"]
        z["hall_count"][:n] = z["hall_fine_count"][:n] = COUNT
        s["dt_s"] = self.dt_s
        self.tick = 0
        self.detect()
        self.mem["started"] = 1
        assert not self.found

    def made(self, hand: str) -> Any:
        """The model record."""
        return model_record(hand)

    def stamp(self) -> None:
        """Every sample is of this cycle."""
        self.tick += 1
        now = int(self.s["time_ns"]) + round(self.dt_s * 1e9)
        self.s["tick"], self.s["time_ns"] = self.tick, now
        sample(self.m, self.z, self.s)

    def detect(self) -> None:
        """One cycle of all detectors."""
        self.stamp()
        detect(self.m, self.mem, self.z, self.s)

    @property
    def found(self) -> tuple[Cause, int, float, float] | None:
        """(cause, part, value, limit) of the first finger in fault, or of the hand."""
        s = self.s
        for f in range(int(self.m["n_fingers"])):
            if s["finger_cause"][f] != Cause.NONE:
                assert s["finger_state"][f] == MachineState.FAULT
                assert s["finger_cause_tick"][f] == self.tick
                names = ("finger_cause_part", "finger_cause_value", "finger_cause_limit")
                part, value, limit = (s[name][f] for name in names)
                return Cause(int(s["finger_cause"][f])), int(part), float(value), float(limit)
        if s["hand_cause"] != Cause.NONE:
            part, value, limit = (s[f"hand_cause_{name}"] for name in ("part", "value", "limit"))
            return Cause(int(s["hand_cause"])), int(part), float(value), float(limit)
        return None

    def strike(self, t: int, counts: int, left_share: float) -> None:
        """Tendon ``t``'s count goes on; a share of its change of length stays unexplained."""
        before = int(self.z["hall_count"][t])
        now = before + counts
        self.z["hall_count"][t] = now
        self.s["lever_angle_rad"][t] = lever_of_count(self.m, t, float(now))
        change = elongation_of_count_m(self.m, t, now) - elongation_of_count_m(self.m, t, before)
        self.s["residual_m"][t] += left_share * change
        self.detect()

    def slower(self, factor: int) -> None:
        """A longer period."""
        self.m["dt_s"] *= factor
        self.dt_s *= factor
        self.s["dt_s"] = self.dt_s

    def until(self, step: Callable[[], Any] | None, most: int) -> int:
        """Cycles until something is found, each after ``step``; ``most`` + 1 if nothing is."""
        if step is None:
            memory, measurement, state = self.records[:3]
            used = _watched(self.model, memory, measurement, state, most, round(self.dt_s * 1e9))
            self.tick = int(self.s["tick"])
            return used
        for k in range(1, most + 1):
            step()
            self.detect()
            if self.found:
                return k
        return most + 1

    def cycles(self, seconds: float) -> int:
        """The first cycle by whose end more than a time has passed."""
        return math.floor(seconds / self.dt_s + 1e-6) + 1


class Paired(Bare):
    """The bench's finger with a motor for each two tendons that undo each other, wound in opposite senses."""

    PARTNERS = ((0, 3), (1, 2), (4, 5), (6, 7))

    def made(self, hand: str) -> Any:
        """The bench's record; its pairs of motors become one."""
        model = model_record(hand)
        m = model[0]
        for i, (first, second) in enumerate(self.PARTNERS):
            m["tendon_motor"][[first, second]] = i
            m["tendon_follows"][[first, second]] = 0, 1
            m["spool_radius_m"][second] *= -1.0
        m["n_motors"], m["finger_shares"][0] = len(self.PARTNERS), 1
        return model


class Guarded(Bare):
    """Records at rest under the whole guard; every motor is wanted at the torque of its tendon."""

    def __init__(self, hand: str = "finger_bench", state: int = int(MachineState.ACTIVE)) -> None:
        super().__init__(hand)
        fingers = int(self.m["n_fingers"])
        self.s["machine"] = self.s["finger_state"][:fingers] = state
        self.mem["last_finger_state"][:fingers] = state
        self.mem["good_cycles"], self.mem["started"] = 100, int(state >= int(MachineState.HOLDING))
        self.s["ref_motor_torque_nm"][: self.n] = 0.2

    def cycle(self, request: Request | None = None) -> None:
        if request is not None:
            self.g["request"] = int(request)
            self.g["request_seq"] += 1
        self.stamp()
        memory, measurement, state, goal, command = self.records
        guard(self.model, goal, measurement, memory, state, command)
