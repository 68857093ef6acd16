"""A tendon that breaks in a finger that stands in fault for another cause: what throws with it goes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from guard.guard import begin_states
from guard.letting_go import let_go_nm
from guard.reaction import begin_reaction
from guard.second_break import note_second_break
from guard.tension_checks import SNAPPED_S, TORN_S
from guard.urgent import URGENT_S, hurried
from signals.faults import Cause
from signals.modes import MachineState
from tests.rigs.bare import Bare

T = 2


class Standing(Bare):
    """A finger in fault at 20 N, at rest beside a stop, with one tendon that broke in it."""

    def __init__(self) -> None:
        super().__init__()
        self.detect()
        self.s["joint_angle_rad"][:4] = self.m["joint_max_rad"][:4] - 0.1
        self.s["finger_state"][0] = int(MachineState.FAULT)
        self.s["finger_cause"][0], self.s["finger_cause_part"][0] = int(Cause.HALL_GLITCH), 5
        self.s["tendon_stiffness_n_m"][:8] = 7000.0
        begin_reaction(self.m, self.mem, self.z, self.s, 0)
        self.mem["snapped"][T], self.mem["taut"][T], self.mem["thrown"][T] = 1, 1, 0
        self.mem["slack_s"][T], self.mem["lacks_s"][T] = SNAPPED_S + self.dt_s, TORN_S + self.dt_s

    def sets(self) -> tuple[int, int]:
        """What throws with the broken one, and all that is let go, as sets of places."""
        throws, urgent, _ = hurried(self.m, self.mem["P_tj_m"], self.s["joint_angle_rad"], 0, T)
        return throws, urgent

    def note(self) -> None:
        note_second_break(self.m, self.mem, self.s, 0)

    def torques(self) -> list[float]:
        return [let_go_nm(self.m, self.mem, self.s, 0, t) for t in range(8)]


def test_what_throws_with_it_is_let_go_at_once_and_nothing_else_for_as_long_as_a_throw_takes() -> None:
    finger = Standing()
    throws, urgent = finger.sets()
    assert throws != 0 and urgent != 0b11111111
    before = [abs(torque) for torque in finger.torques()]
    assert max(before) < float(finger.m["release_torque_nm"]), "led down slowly until then"
    finger.note()
    for _ in range(math.floor(URGENT_S / finger.dt_s)):
        expected = [-finger.m["release_torque_nm"] * (urgent >> k & 1) for k in range(8)]
        assert finger.torques() == pytest.approx(expected)
        finger.note()
    finger.note()
    assert max(abs(torque) for torque in finger.torques()) < float(finger.m["release_torque_nm"])
    led = [k for k in range(8) if throws >> k & 1]
    assert np.all(finger.mem["release_to_n"][led] == 0.0), "what throws is led on until it is slack"
    assert finger.mem["release_to_n"][[k for k in range(8) if k not in led]].min() > 0.0


def test_it_is_looked_for_in_every_cycle_of_a_fault() -> None:
    finger = Standing()
    finger.mem["last_finger_state"][0] = int(MachineState.FAULT)
    begin_states(finger.m, finger.mem, finger.z, finger.s)
    assert finger.mem["break_age_s"][0] == 0.0


def test_what_was_down_already_is_let_go_on() -> None:
    finger = Standing()
    finger.mem["released_s"][:8] = 1.0
    finger.note()
    _, urgent = finger.sets()
    assert [torque < 0.0 for torque in finger.torques()] == [bool(urgent >> k & 1) for k in range(8)]


def test_it_is_led_on_from_what_the_hurry_left() -> None:
    finger = Standing()
    finger.note()
    finger.s["tension_n"][:8] = 11.0
    finger.torques()
    assert finger.mem["release_n"][:8] == pytest.approx(11.0)


def test_a_second_break_of_two_is_not_waited_for() -> None:
    """Its hurry runs once: another one that falls in the throw prolongs nothing."""
    finger = Standing()
    for _ in range(math.ceil(URGENT_S / finger.dt_s) + 2):
        finger.note()
    assert URGENT_S < finger.mem["break_age_s"][0] < 2.0 * URGENT_S
    begin_reaction(finger.m, finger.mem, finger.z, finger.s, 0)
    assert finger.mem["break_age_s"][0] == math.inf, "the next fault begins anew"


def put(name: str, place: int, value: float) -> Callable[[Standing], None]:
    def change(finger: Standing) -> None:
        finger.mem[name][place] = value

    return change


def shares(finger: Standing) -> None:
    finger.m["finger_shares"][0] = 1


@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param(put("snapped", T, 0), id="it glided there"),
        pytest.param(put("thrown", T, 1), id="another one threw it"),
        pytest.param(put("taut", T, 0), id="it was never taut"),
        pytest.param(put("blind", T, 1), id="its sensor is what failed"),
        pytest.param(put("slack_s", T, 0.9 * SNAPPED_S), id="for a moment"),
        pytest.param(put("lacks_s", T, 0.9 * TORN_S), id="its path is not longer than it is"),
        pytest.param(put("probe_phase", 0, 1), id="a probe is under way"),
        pytest.param(shares, id="tendons share motors"),
    ],
)
def test_what_may_be_whole_or_is_looked_after_otherwise_begins_nothing(
    harmless: Callable[[Standing], None],
) -> None:
    finger = Standing()
    harmless(finger)
    before = finger.mem["urgent"][:8].copy()
    finger.note()
    assert finger.mem["break_age_s"][0] == math.inf
    assert np.array_equal(finger.mem["urgent"][:8], before)
