"""Findings of foreign detectors: each part stops the finger that it belongs to, and only an armed hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guard.latch import FINDING, SPACES, latch_findings
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.modes import MachineState
from signals.records import STATE, new

FOUND, OTHER = int(Cause.FOREIGN_2), int(Cause.FOREIGN_1)
WHOLE = ("axis", "hand")


@pytest.fixture(scope="module")
def hasy() -> Hand:
    return read_hand(RunOptions(hand="hasy"))


def finger_named(hand: Hand, part: str) -> int:
    """Finger of a part by the shipped hand's names: ``m_index_3``, ``index_3``, ``index_pip``, ``index``."""
    words = part.removeprefix("m_").split("_")
    return hand.names.fingers.index("_".join(words[:2]) if words[0] == "metacarpal" else words[0])


def latched(hand: Hand, space: str, parts: list[int], machine: MachineState = MachineState.ACTIVE) -> Any:
    """State after some parts of a space were found at once."""
    state = new(STATE)
    state["machine"], state["tick"] = machine, 5
    state["finger_state"] = machine
    findings = np.zeros(len(hand.names.of(space)), dtype=FINDING)
    for part in parts:
        findings[part] = (1, 10.0 + part, 3.0)
    latch_findings(hand.model, state, findings, SPACES.index(space), FOUND)
    return state[0]


@pytest.mark.parametrize("space", [s for s in SPACES if s not in WHOLE])
def test_every_part_stops_its_own_finger_and_is_named(space: str, hasy: Hand) -> None:
    for part, name in enumerate(hasy.names.of(space)):
        s = latched(hasy, space, [part])
        f = finger_named(hasy, name)
        assert s["finger_cause"].nonzero()[0].tolist() == [f], name
        figures = (s["finger_cause"][f], s["finger_cause_part"][f], s["finger_cause_value"][f])
        assert figures == (FOUND, part, 10.0 + part) and s["finger_cause_limit"][f] == 3.0
        assert s["finger_cause_tick"][f] == 5 and s["finger_state"][f] == MachineState.FAULT
        assert s["machine"] == MachineState.ACTIVE and s["hand_cause"] == Cause.NONE


@pytest.mark.parametrize("space", WHOLE)
def test_an_axis_or_the_hand_stops_all(space: str, hasy: Hand) -> None:
    last = len(hasy.names.of(space)) - 1
    s = latched(hasy, space, [last])
    assert (s["machine"], s["hand_cause"], s["hand_cause_part"]) == (MachineState.FAULT, FOUND, last)
    assert (s["hand_cause_value"], s["hand_cause_limit"]) == (10.0 + last, 3.0)
    assert (s["finger_state"][: len(hasy.names.fingers)] == MachineState.FAULT).all()
    assert not s["finger_cause"].any()


def test_several_parts_stop_several_fingers_and_of_one_finger_the_first_is_told(hasy: Hand) -> None:
    s = latched(hasy, "tendon", [3, 12, 13])
    fingers = [finger_named(hasy, hasy.names.tendons[t]) for t in (3, 12, 13)]
    assert fingers[0] != fingers[1] == fingers[2]
    assert s["finger_cause"].nonzero()[0].tolist() == sorted(set(fingers))
    assert [s["finger_cause_part"][f] for f in fingers] == [3, 12, 12]


@pytest.mark.parametrize("machine", MachineState)
def test_only_an_armed_hand_latches(machine: MachineState, hasy: Hand) -> None:
    armed = machine in (MachineState.HOLDING, MachineState.ACTIVE)
    for space in ("joint", "hand"):
        s = latched(hasy, space, [0], machine)
        assert bool(s["finger_cause"].any() or s["hand_cause"]) == armed


def test_a_finger_in_fault_keeps_its_cause_and_nothing_found_is_nothing(hasy: Hand) -> None:
    assert not latched(hasy, "motor", [])["finger_cause"].any()
    state = new(STATE)
    state["machine"] = MachineState.ACTIVE
    state["finger_state"][0, 0], state["finger_cause"][0, 0] = MachineState.FAULT, OTHER
    findings = np.ones(len(hasy.names.fingers), dtype=FINDING)
    latch_findings(hasy.model, state, findings, SPACES.index("finger"), FOUND)
    assert state["finger_cause"][0, : len(hasy.names.fingers)].tolist() == [OTHER] + [FOUND] * 5


def test_a_motor_of_no_tendon_stops_the_hand(hasy: Hand) -> None:
    state = new(STATE)
    state["machine"] = MachineState.HOLDING
    findings = np.zeros(len(hasy.names.motors) + 1, dtype=FINDING)
    findings["found"][-1] = 1
    latch_findings(hasy.model, state, findings, SPACES.index("motor"), FOUND)
    assert state["machine"][0] == MachineState.FAULT and state["hand_cause"][0] == FOUND
