"""The compiled tick in one compiled loop: estimate, control, guard, ring write over a canned stretch.

What is counted by callgrind and timed without a call from Python. Only laws are imported here, so that this
loop's compile cache follows the laws alone.
"""

from __future__ import annotations

from controllers.memory import ControllerMemory
from controllers.tick import control
from estimators.memory import EstimatorMemory
from estimators.tick import estimate
from guard.guard import guard
from guard.memory import GuardMemory
from signals.compiled import law
from signals.layout import IntArray, Records, UintArray
from signals.typed import Command, Goal, Measurement, Model, State
from telemetry.shm.ring import CYCLE, leave

Inputs = tuple[Records[Model], Records[Measurement], Records[Goal], UintArray, IntArray, UintArray]
Memory = tuple[
    UintArray,
    Records[EstimatorMemory],
    Records[ControllerMemory],
    Records[GuardMemory],
    Records[State],
    Records[Command],
]
Left = tuple[IntArray, UintArray, UintArray, IntArray, IntArray]


@law
def run_ticks(inputs: Inputs, memory: Memory, left: Left, dt_s: float, ticks: int, first: int) -> None:
    """Tick ``ticks`` times through a canned stretch.

    Args:
        inputs: (model, measurements, goals, cycle numbers, times, words before the stretch).
        memory: (live words, estimator, controller and guard memory, state, command: views of them).
        left: (frame words, slots, head, stats, overruns) as ``telemetry.ring.leave`` takes them.
        dt_s: period.
        ticks: how many.
        first: number of the first in the stretch; before 0 the words before the stretch are put back.
    """
    model, measurements, goals, numbers, times_ns, before = inputs
    live, estimator, controller, guarding, state, command = memory
    frame, slots, head, stats, overruns = left
    length = measurements.shape[0]
    for i in range(first, first + ticks):
        k = i % length
        if k == 0:
            live[:] = before
        measurement, goal, s = measurements[k : k + 1], goals[k : k + 1], state[0]
        s.tick, s.time_ns, s.dt_s = numbers[k], times_ns[k], dt_s
        estimate(model, measurement, estimator, state)
        control(model, goal, controller, state, command)
        guard(model, goal, measurement, guarding, state, command)
        frame[CYCLE] = i
        leave(frame, slots, head, stats, overruns)
