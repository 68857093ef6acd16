"""The state machine against its page: every state, every request, every condition."""

from __future__ import annotations

from itertools import product

import pytest

from guard.machine import GOOD_CYCLES
from signals.faults import Cause
from signals.modes import Request
from tests.rigs.state_machine import ACTIVE, FAULT, HOLDING, NOW_NS, OFF, READY, Machine


def wanted(state: int, request: Request | None, complete: bool, expired: bool) -> int:
    """The page's table, one cycle."""
    if request is Request.OFF:
        return OFF
    if state == OFF:
        if not complete:
            return OFF
        return HOLDING if request is Request.ARM else READY
    if state == READY:
        if not complete:
            return OFF
        return HOLDING if request is Request.ARM else READY
    if state == FAULT:
        return HOLDING if request is Request.REARM else FAULT
    if request is Request.STOP:
        return FAULT
    if state == HOLDING:
        return ACTIVE if request is Request.ACTIVATE and not expired else HOLDING
    if request is Request.ARM or expired:
        return HOLDING
    return ACTIVE


CASES = list(product((OFF, READY, HOLDING, ACTIVE, FAULT), (None, *Request), (True, False), (True, False)))


@pytest.mark.parametrize(("state", "request_", "complete", "expired"), CASES)
def test_every_transition_is_the_one_of_the_page(
    state: int, request_: Request | None, complete: bool, expired: bool
) -> None:
    machine = Machine(state, expired=expired)
    reached = machine.step(request_, complete)
    assert reached == wanted(state, request_, complete, expired)
    assert set(machine.finger_states) == {reached}


def test_a_request_counts_once() -> None:
    machine = Machine(HOLDING)
    assert machine.step(Request.ACTIVATE) == ACTIVE
    machine.state["machine"] = HOLDING
    assert [machine.step() for _ in range(3)] == [HOLDING] * 3


def test_off_stays_off_until_it_is_armed() -> None:
    machine = Machine(ACTIVE)
    machine.step(Request.OFF)
    assert {machine.step() for _ in range(50)} == {OFF}
    assert machine.step(Request.ARM) == HOLDING


def test_ready_needs_ten_complete_measurements_in_a_row() -> None:
    machine = Machine(OFF)
    machine.memory["good_cycles"] = 0
    states = [machine.step() for _ in range(GOOD_CYCLES - 1)]
    machine.step(complete=False)
    states += [machine.step() for _ in range(GOOD_CYCLES - 1)]
    assert set(states) == {OFF}
    assert machine.step() == READY


def test_arm_and_activate_wait_for_complete_measurements() -> None:
    machine = Machine(OFF)
    machine.memory["good_cycles"] = 0
    machine.step(Request.ARM, complete=False)
    machine.step(Request.ACTIVATE, complete=False)
    states = [machine.step() for _ in range(GOOD_CYCLES)]
    assert states[:-1] == [OFF] * (GOOD_CYCLES - 1)
    assert states[-1] == ACTIVE


def test_stop_forgets_what_was_asked_before() -> None:
    machine = Machine(OFF)
    machine.memory["good_cycles"] = 0
    machine.step(Request.ARM, complete=False)
    machine.step(Request.STOP, complete=False)
    assert {machine.step() for _ in range(30)} == {OFF, READY}


def test_an_expired_goal_is_named_and_forgotten_on_activation() -> None:
    machine = Machine(ACTIVE, expired=True)
    assert machine.step() == HOLDING
    assert machine.state["hand_cause"][0] == Cause.COMMAND_TOO_OLD
    assert machine.state["hand_cause_value"][0] == pytest.approx(101.0)
    assert machine.state["hand_cause_limit"][0] == pytest.approx(100.0)
    assert machine.step(Request.ACTIVATE) == HOLDING
    machine.goal["time_ns"] = NOW_NS
    assert machine.step(Request.ACTIVATE) == ACTIVE
    assert machine.state["hand_cause"][0] == Cause.NONE


@pytest.mark.parametrize(("age_ns", "state"), [(10**8, ACTIVE), (10**8 + 1, HOLDING)])
def test_a_goal_may_be_exactly_as_old_as_the_limit(age_ns: int, state: int) -> None:
    machine = Machine(ACTIVE)
    machine.goal["time_ns"] = NOW_NS - age_ns
    assert machine.step() == state


def test_a_motions_goal_never_ages() -> None:
    machine = Machine(ACTIVE)
    machine.state["time_ns"] = 10**15
    assert machine.step() == ACTIVE


@pytest.mark.parametrize("state", [HOLDING, ACTIVE])
def test_one_finger_in_fault_leaves_the_others_alone(state: int) -> None:
    machine = Machine(state, faults=(1,))
    assert machine.step() == state
    assert machine.finger_states == [state, FAULT] + [state] * (machine.fingers - 2)
    assert machine.step(Request.ACTIVATE) == ACTIVE
    assert machine.finger_states == [ACTIVE, FAULT] + [ACTIVE] * (machine.fingers - 2)
    assert machine.step(Request.ARM) == HOLDING
    assert machine.finger_states == [HOLDING, FAULT] + [HOLDING] * (machine.fingers - 2)


def test_a_rearmed_finger_holds_until_the_next_activation() -> None:
    machine = Machine(ACTIVE, faults=(2,))
    assert machine.step(Request.REARM) == ACTIVE
    assert machine.finger_states[2] == HOLDING
    assert machine.state["finger_cause"][0, 2] == Cause.NONE
    assert {machine.step() for _ in range(20)} == {ACTIVE}
    assert machine.finger_states[2] == HOLDING
    machine.step(Request.ACTIVATE)
    assert set(machine.finger_states) == {ACTIVE}


def test_a_hand_whose_fingers_are_all_in_fault_is_in_fault() -> None:
    fingers = Machine(ACTIVE).fingers
    machine = Machine(ACTIVE, faults=tuple(range(fingers)))
    assert machine.step() == FAULT
    assert machine.step(Request.ACTIVATE) == FAULT
    assert machine.step(Request.REARM) == HOLDING
    assert not machine.state["finger_cause"].any()
    machine = Machine(ACTIVE, faults=tuple(range(fingers - 1)))
    assert machine.step() == ACTIVE


def test_stop_is_latched_with_its_name_and_holds_every_finger() -> None:
    machine = Machine(ACTIVE)
    machine.step(Request.STOP)
    assert machine.state["hand_cause"][0] == Cause.OPERATOR_STOP
    assert set(machine.finger_states) == {FAULT}
    assert not machine.state["finger_cause"].any()
