"""A finger in fault as its reaction sees it: a cause latched, records written by hand."""

from __future__ import annotations

from typing import Any

from guard.hold import begin_hold
from guard.letting_go import is_released
from guard.probe import judge_probe
from guard.reaction import begin_reaction, fault_torque_nm, note_lost_sight
from guard.urgent import pulls_into_stop
from signals.compiled import law
from signals.faults import Cause
from signals.modes import MachineState, Reaction
from tests.rigs.bare import Bare

LIMIT_NM = 2.94
PAIRS = {0: 3, 3: 0, 1: 2, 2: 1, 4: 5, 5: 4, 6: 7, 7: 6}
"""Tendons that undo each other on the bench's finger."""

HALLS = (
    Cause.HALL_STUCK,
    Cause.HALL_SATURATED,
    Cause.HALL_GLITCH,
    Cause.HALL_LOST,
    Cause.HALL_NOT_FINITE,
    Cause.HALL_TOO_OLD,
)
"""Causes with which the tension of the part's tendon is not known."""
MOTORS = (
    Cause.NOT_FINITE_MEASUREMENT,
    Cause.MEASUREMENT_TOO_OLD,
    Cause.MOTOR_LOST,
    Cause.MOTOR_TOO_FAST,
    Cause.MOTOR_TOO_HOT,
    Cause.MOTOR_RESET,
    Cause.MOTOR_HELD,
    Cause.ENCODER_FAULT,
    Cause.FRICTION_GROWN,
    Cause.ENCODER_STUCK,
)
"""Causes with which the motor that is the part is not driven."""


@law
def _begin(model: Any, memory: Any, measurement: Any, state: Any) -> None:
    begin_reaction(model[0], memory[0], measurement[0], state[0], 0)
    begin_hold(model[0], memory[0], state[0], 0)


@law
def _torque(model: Any, memory: Any, state: Any, t: int, reaction: int) -> float:
    return fault_torque_nm(model[0], memory[0], state[0], 0, t, reaction)


@law
def _released(model: Any, memory: Any, state: Any, t: int) -> bool:
    return is_released(model[0], memory[0], state[0], 0, t)


@law
def _look(model: Any, memory: Any, measurement: Any, state: Any) -> None:
    note_lost_sight(model[0], memory[0], measurement[0], state[0], 0)


@law
def _judge(model: Any, memory: Any, state: Any) -> None:
    judge_probe(model[0], memory[0], state[0], 0)


@law
def _into_stop(model: Any, memory: Any, state: Any, t: int) -> bool:
    return pulls_into_stop(model[0], memory[0].P_tj_m, state[0].joint_angle_rad, 0, t)


class Faulted:
    """A finger in mid-range with a cause latched and its reaction begun."""

    def __init__(self, cause: Cause, part: int = 2, pose: tuple[float, ...] = (0.0, 0.6, 0.6, 0.6)) -> None:
        self.bench = Bare()
        self.m, self.mem, self.s, self.z = self.bench.m, self.bench.mem, self.bench.s, self.bench.z
        self.s["joint_angle_rad"][:4] = pose
        self.s["finger_state"][0] = int(MachineState.FAULT)
        self.s["finger_cause"][0], self.s["finger_cause_part"][0] = int(cause), part

    def begin(self) -> Faulted:
        memory, measurement, state = self.bench.records[:3]
        _begin(self.bench.model, memory, measurement, state)
        return self

    def torque(self, t: int, reaction: Reaction = Reaction.RELEASE) -> float:
        memory, _, state = self.bench.records[:3]
        return float(_torque(self.bench.model, memory, state, t, int(reaction)))

    def released(self, t: int) -> bool:
        memory, _, state = self.bench.records[:3]
        return bool(_released(self.bench.model, memory, state, t))

    def look(self) -> None:
        """A cycle's look at what can still be seen."""
        memory, measurement, state = self.bench.records[:3]
        _look(self.bench.model, memory, measurement, state)

    def judge(self) -> Cause:
        memory, _, state = self.bench.records[:3]
        _judge(self.bench.model, memory, state)
        return Cause(int(self.s["finger_cause"][0]))

    def into_stop(self) -> set[int]:
        memory, _, state = self.bench.records[:3]
        return {t for t in range(8) if _into_stop(self.bench.model, memory, state, t)}

    def marked(self, name: str) -> set[int]:
        return {t for t in range(8) if self.mem[name][t]}
