"""The state machine alone, asked cycle by cycle."""

from __future__ import annotations

from guard.machine import GOOD_CYCLES, advance, fall_with_fingers, take_request
from guard.memory import new_guard_memory
from signals.compiled import law
from signals.faults import Cause
from signals.modes import MachineState, Request
from signals.records import GOAL, STATE, RecordArray, new
from tests.rigs.desk import model_record

OFF, READY, HOLDING, ACTIVE, FAULT = (int(s) for s in MachineState)


NOW_NS = 10**9


@law
def _step(
    model: RecordArray, goal: RecordArray, memory: RecordArray, state: RecordArray, complete: bool
) -> None:
    take_request(model[0], goal[0], memory[0], state[0])
    advance(model[0], goal[0], memory[0], state[0], complete)
    fall_with_fingers(model[0], state[0])


class Machine:
    def __init__(self, state: int, *, expired: bool = False, faults: tuple[int, ...] = ()) -> None:
        self.model, self.goal, self.memory, self.state = (
            model_record("hasy"),
            new(GOAL),
            new_guard_memory(),
            new(STATE),
        )
        self.fingers = int(self.model["n_fingers"][0])
        self.state["machine"] = state
        self.state["finger_state"][0, : self.fingers] = state
        for f in faults:
            self.state["finger_state"][0, f] = FAULT
            self.state["finger_cause"][0, f] = int(Cause.MOTOR_LOST)
        self.state["time_ns"] = NOW_NS
        self.memory["good_cycles"] = GOOD_CYCLES - 1
        if expired:
            self.goal["time_ns"] = NOW_NS - 10**8 - 10**6

    def step(self, request: Request | None = None, complete: bool = True) -> int:
        if request is not None:
            self.goal["request"] = int(request)
            self.goal["request_seq"] += 1
        _step(self.model, self.goal, self.memory, self.state, complete)
        return int(self.state["machine"][0])

    @property
    def finger_states(self) -> list[int]:
        return [int(s) for s in self.state["finger_state"][0, : self.fingers]]
