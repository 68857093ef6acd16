"""A start is judged by the work that its process does, whatever the pace of the machine."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.options import RunOptions
from runtime.effort import BUSY_S, IDLE_S, WORK_S, Effort, used_of
from runtime.processes.phases import CONTROL_SILENT_S, Phase
from runtime.processes.supervisor import Supervisor
from signals.clock import now_ns
from telemetry.shm.segment import Segment

PID = 4711


class Machine:
    """A clock and a process that gets a share of a processor."""

    def __init__(self) -> None:
        self.now_s, self.used_s = 1000.0, 0.0
        self.effort = Effort(IDLE_S, clock=lambda: self.now_s, used=lambda _: self.used_s)

    def passes(self, seconds: float, share: float) -> None:
        self.now_s += seconds
        self.used_s += seconds * share


@given(st.floats(2.0 * BUSY_S / IDLE_S, 1.0), st.floats(0.01, 0.49))
def test_any_pace_is_waited_for_until_the_work_itself_is_endless(share: float, look: float) -> None:
    machine = Machine()
    step_s = look * IDLE_S
    while machine.used_s + step_s * share < WORK_S and machine.now_s < 1000.0 + 400 * step_s:
        machine.passes(step_s, share)
        assert machine.effort.look(PID), machine.effort.sentence()
    machine.used_s += WORK_S
    assert not machine.effort.look(PID)
    assert f"worked for {machine.effort.used_s:.0f} s" in machine.effort.sentence()


def test_a_process_that_does_nothing_is_given_up_and_a_new_one_counts_as_work() -> None:
    machine = Machine()
    machine.passes(1.0, 0.5)
    assert machine.effort.look(PID)
    machine.passes(0.9 * IDLE_S, 0.0)
    machine.used_s = 0.1  # another process in its place
    assert machine.effort.look(PID) and machine.effort.used_s == pytest.approx(0.6)
    machine.passes(1.1 * IDLE_S, 0.0)
    assert not machine.effort.look(PID)
    assert machine.effort.sentence().endswith(f"did nothing for {1.1 * IDLE_S:.0f} s")


def test_processor_time_of_this_process_is_counted() -> None:
    before, until = used_of(os.getpid()), time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert used_of(os.getpid()) - before == pytest.approx(0.1, abs=0.05)
    assert used_of(2**22 + 1) == 0.0


class Control:
    """Stands in for the control process."""

    pid = PID

    def __init__(self) -> None:
        self.killed = False

    def running(self) -> bool:
        return not self.killed

    def kill(self) -> None:
        self.killed = True


@pytest.mark.parametrize("phase", list(Phase)[: Phase.PREPARING], ids=lambda p: p.name)
def test_a_step_of_an_hour_without_a_heartbeat_is_no_death_while_it_works(phase: Phase) -> None:
    segment, machine, control = Segment.local(64), Machine(), Control()
    supervisor = Supervisor(RunOptions(hand="finger_bench"), 3000.0, lambda _: None)
    supervisor._effort = machine.effort
    segment.field("control_beat_ns")[0] = supervisor._begun_ns = now_ns() - 3_600_000_000_000
    for _ in range(300):
        machine.passes(12.0, 0.01)
        supervisor._end_silent(segment, phase, control)  # type: ignore[arg-type]
    assert not control.killed
    machine.passes(1.1 * IDLE_S, 0.0)
    supervisor._end_silent(segment, phase, control)  # type: ignore[arg-type]
    assert control.killed and f"{phase.name.lower()}, it is not ready after" in supervisor._killed


def test_work_is_no_sign_of_life_of_a_loop() -> None:
    segment, machine, control = Segment.local(64), Machine(), Control()
    supervisor = Supervisor(RunOptions(hand="finger_bench"), 3000.0, lambda _: None)
    supervisor._effort = machine.effort
    supervisor._begun_ns = now_ns() - round(1.1e9 * CONTROL_SILENT_S)
    machine.passes(1.0, 1.0)
    supervisor._end_silent(segment, Phase.RUNNING, control)  # type: ignore[arg-type]
    assert control.killed and "running, it gave no sign of life" in supervisor._killed
