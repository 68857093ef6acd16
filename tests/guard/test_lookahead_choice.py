"""What a look ahead tries next and chooses, on tables written by hand, and what the reaction makes of it.

The bench's finger with its first tendon lost. A stop's brake are the tendons that pull the joint into it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.lookahead import (
    AS_IT_IS,
    BRAKES,
    DONE,
    NOTHING,
    OTHERS,
    THEIR_BRAKES,
    add_brakes,
    avoidable_share,
    choose,
    hit_share,
    look_further,
    needless_stops,
)
from guard.reaction import change_choice
from hand.assembly.figures import FIGURES
from signals.faults import Cause
from signals.modes import MachineState, Request
from tests.rigs.ahead import Ahead
from tests.rigs.bare import Guarded
from tests.rigs.desk import model_record
from tests.rigs.faulted import Faulted

M = model_record("finger_bench")[0]
SPARED_RAD_S = FIGURES["spared_speed_rad_s"].reference
SURE_RAD_S = FIGURES["sure_speed_rad_s"].reference

UP, DOWN = 0, 1
Stop = tuple[int, int]
BRAKE: dict[Stop, int] = {
    (0, UP): 0b1100,
    (0, DOWN): 0b0010,
    (1, UP): 0b1010,
    (1, DOWN): 0b0100,
    (2, UP): 0b1010_0000,
    (2, DOWN): 0b0101_0000,
    (3, UP): 0b0100_0000,
    (3, DOWN): 0b1000_0000,
}
"""Of every stop with tendon 0 lost: eq. 5.5 and 5.18, P > 0 pulls down."""
PARTNER = 0b1000
LEVER_MAX = math.radians(15.0)


class Table(Ahead):
    """A list with the hits [rad/s] of every set, all done; the first is what the reaction does anyway."""

    def __init__(self, *rows: tuple[int, dict[Stop, float]]) -> None:
        super().__init__()
        self.begin(0)
        self.mem["look_count"], self.mem["look_stop_rad_s"] = 0, 0.0
        for row in rows:
            self.add(*row)

    def add(self, tendons: int, hits: dict[Stop, float]) -> None:
        k = int(self.mem["look_count"])
        self.mem["look_set"][k], self.mem["look_count"], self.mem["look_done"] = tendons, k + 1, k + 1
        for (x, side), speed in hits.items():
            self.mem["look_stop_rad_s"][k, x, side] = speed

    def needless(self, k: int) -> float:
        return float(needless_stops(self.m, self.mem, k))

    @property
    def choice(self) -> int:
        """What is chosen."""
        self.mem["look_choice"], self.mem["look_phase"] = 7, THEIR_BRAKES
        choose(self.m, self.mem)
        assert self.mem["look_phase"] == DONE
        return int(self.mem["look_choice"])

    @property
    def sets(self) -> list[int]:
        return [int(tendons) for tendons in self.mem["look_set"][: self.mem["look_count"]]]

    def further(self) -> int:
        look_further(self.m, self.mem)
        return int(self.mem["look_phase"])


# --- how bad a set is -----------------------------------------------------------------------------------


def likely(share: float) -> float:
    """Speed [rad/s] of a hit that is as likely as that."""
    return SPARED_RAD_S + share * (SURE_RAD_S - SPARED_RAD_S)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_hit_is_the_more_likely_the_faster_it_is_forecast(share: float) -> None:
    assert hit_share(M, likely(share)) == pytest.approx(share)
    assert hit_share(M, likely(share) - 3.0 * SURE_RAD_S) == 0.0
    assert hit_share(M, likely(share) + 3.0 * SURE_RAD_S) == 1.0


@pytest.mark.parametrize("stop", list(BRAKE))
@pytest.mark.parametrize("share", [1.1, 1.0, 0.75, 0.25, 0.0, -0.1])
def test_a_stop_is_avoidable_as_far_as_its_own_brake_keeps_the_joint_from_it(
    stop: Stop, share: float
) -> None:
    others = {other: 9.0 for other in BRAKE if other != stop}
    table = Table((0b1, {stop: 9.0}), (BRAKE[stop], others | {stop: likely(1.0 - share)}))
    assert avoidable_share(table.m, table.mem, *stop) == pytest.approx(min(max(share, 0.0), 1.0))
    table.mem["look_done"] = 1
    assert avoidable_share(table.m, table.mem, *stop) == 0.0, "its brake was not looked at yet"


def test_needless_stops_are_counted_each_as_likely_as_it_is() -> None:
    half, eighth = likely(0.5), likely(0.125)
    table = Table(
        (PARTNER, {(0, UP): 9.0, (1, UP): half, (2, DOWN): 8.0, (3, UP): likely(-0.01)}),
        (BRAKE[0, UP], {(0, UP): half}),
        (BRAKE[1, UP], {(3, UP): likely(-0.01)}),
        (BRAKE[2, DOWN], {(2, DOWN): 7.0}),
    )
    softer = 1e-4
    # half avoidable and sure; avoidable and half sure; unavoidable; too slow to count
    assert table.needless(0) == pytest.approx(0.5 + 0.5 + 0.0 + softer * (9.0 + half + 8.0), abs=1e-9)
    assert table.needless(1) == pytest.approx(0.5 * 0.5 + softer * half, abs=1e-9)
    assert table.needless(2) == 0.0
    assert table.needless(3) == pytest.approx(softer * 7.0, abs=1e-9)
    table.mem["look_stop_rad_s"][3, 1, DOWN] = eighth
    table.add(BRAKE[1, DOWN], {})
    assert table.needless(3) == pytest.approx(0.125 + softer * (7.0 + eighth), abs=1e-9)


@given(st.lists(st.dictionaries(st.sampled_from(list(BRAKE)), st.floats(0.0, 20.0)), min_size=1, max_size=6))
def test_no_set_is_better_than_the_chosen_one_and_the_first_of_equals_is_taken(
    hits: list[dict[Stop, float]],
) -> None:
    sets = [PARTNER, *BRAKE.values()]
    table = Table(*zip(sets, hits, strict=False))
    needless = [table.needless(k) for k in range(len(hits))]
    assert table.choice == needless.index(min(needless))


def test_a_needless_stop_is_avoided() -> None:
    saves = BRAKE[0, UP]
    assert Table((PARTNER, {(0, UP): 9.0}), (saves, {})).choice == 1
    assert Table((PARTNER, {(0, UP): 9.0}), (0, {(0, UP): 9.0}), (saves, {})).choice == 2


def test_a_stop_that_nobody_can_spare_is_accepted_and_no_needless_one_taken_for_it() -> None:
    rows = (
        (PARTNER, {(0, UP): 12.0}),
        (BRAKE[0, UP], {(0, UP): 9.0, (2, UP): 8.0}),
        (BRAKE[2, UP], {(0, UP): 12.5}),
    )
    table = Table(*rows)
    assert table.choice == 0
    assert table.needless(1) > 0.9 > table.needless(0)


def test_sets_that_are_as_good_are_told_apart_by_how_soft_they_hit() -> None:
    brake = BRAKE[0, UP]
    assert Table((PARTNER, {(0, UP): 12.0}), (brake, {(0, UP): 11.0})).choice == 1
    assert Table((PARTNER, {(0, UP): 11.0}), (brake, {(0, UP): 12.0})).choice == 0
    assert Table((PARTNER, {(0, UP): 11.0}), (brake, {(0, UP): 11.0})).choice == 0
    # a needless stop outweighs any softness
    table = Table((PARTNER, {(0, UP): 25.0}), (brake, {(0, UP): 20.0, (3, UP): 5.0}), (BRAKE[3, UP], {}))
    table.mem["look_stop_rad_s"][2, 0, UP] = 26.0
    assert table.choice == 0


# --- what is tried ----------------------------------------------------------------------------------------


def test_first_the_brakes_of_the_hard_hits_of_what_the_reaction_does_anyway() -> None:
    table = Table((PARTNER, {(0, UP): 2.1, (2, DOWN): 20.0, (3, UP): 1.9}))
    table.mem["look_phase"] = AS_IT_IS
    assert table.further() == BRAKES
    assert table.sets == [PARTNER, BRAKE[0, UP], BRAKE[2, DOWN]]
    assert table.mem["look_done"] == 1


@pytest.mark.parametrize("stop", list(BRAKE))
def test_each_stop_has_its_own_brake(stop: Stop) -> None:
    table = Table((0b1, {}), (0b11, {stop: 2.5}))
    add_brakes(table.m, table.mem, 0)
    assert table.sets == [0b1, 0b11]
    add_brakes(table.m, table.mem, 1)
    assert table.sets == [0b1, 0b11, BRAKE[stop]]


@pytest.mark.parametrize(
    ("needless", "ends"), [(1.0, False), (0.25, False), (0.12, False), (0.09, True), (0.0, True)]
)
def test_where_nothing_is_needless_the_reaction_stands_as_it_is(needless: float, ends: bool) -> None:
    """Even if another set would hit the same stop softer."""
    table = Table((PARTNER, {(0, UP): 9.0}), (BRAKE[0, UP], {(0, UP): likely(1.0 - needless)}))
    table.mem["look_phase"] = BRAKES
    assert table.further() == (DONE if ends else OTHERS)
    assert table.mem["look_choice"] == 0
    if ends:
        assert table.sets == [PARTNER, BRAKE[0, UP]]


def test_else_nothing_the_partner_and_the_brakes_of_what_the_missing_pull_drives() -> None:
    table = Table((0b11, {(2, UP): 9.0}), (BRAKE[2, UP], {}))
    table.mem["look_phase"] = BRAKES
    assert table.further() == OTHERS
    # tendon 0 (P > 0 on joints 0 and 1) held both down: they go up
    assert table.sets == [0b11, BRAKE[2, UP], 0, PARTNER, BRAKE[0, UP], BRAKE[1, UP]]
    table = Table((0b11, {(2, UP): 9.0}), (BRAKE[2, UP], {}))
    table.mem["look_P_m"][0, :4] = (-0.0065, 0.0, 0.0, 0.0055)
    table.mem["look_phase"] = BRAKES
    assert table.further() == OTHERS
    assert table.sets == [0b11, BRAKE[2, UP], 0, PARTNER, BRAKE[0, DOWN], BRAKE[3, UP]]


def test_then_the_brakes_of_all_that_those_hit_and_then_it_is_chosen() -> None:
    table = Table(
        (0b11, {(2, UP): 9.0}), (BRAKE[2, UP], {(3, DOWN): 4.0}), (0, {(1, DOWN): 3.0, (2, UP): 9.0})
    )
    table.mem["look_phase"] = OTHERS
    assert table.further() == THEIR_BRAKES
    assert table.sets == [0b11, BRAKE[2, UP], 0, BRAKE[3, DOWN], BRAKE[1, DOWN]]
    assert table.mem["look_done"] == 3
    table.mem["look_done"] = 5
    assert table.further() == DONE
    assert table.mem["look_choice"] == 3, "it hits nothing"


# --- what the reaction makes of it --------------------------------------------------------------------


def to_slack(fault: Faulted) -> set[int]:
    return {t for t in range(8) if fault.mem["release_to_n"][t] == 0.0}


def looked(lost: int, choice: int, phase: int = DONE, tendon: int | None = None) -> Faulted:
    """A finger that lost a tendon, looked ahead at, with three sets on the list."""
    fault = Faulted(Cause.TENSION_LOST, lost)
    mem = fault.mem
    mem["look_phase"], mem["look_tendon"] = phase, lost if tendon is None else tendon
    mem["look_choice"], mem["look_taken"] = choice, 9
    mem["look_throws"] = 0b0000_1000
    mem["look_set"][:3] = 0b1000_1000, 0b0110_0000, 0
    return fault


@pytest.mark.parametrize("phase", [AS_IT_IS, BRAKES, DONE])
@pytest.mark.parametrize(
    ("choice", "urgent", "slack"), [(0, {3, 7}, {3}), (1, {5, 6}, {5, 6}), (2, set(), set())]
)
def test_the_reaction_lets_go_what_was_chosen(
    phase: int, choice: int, urgent: set[int], slack: set[int]
) -> None:
    """As it is: what throws with the lost one to slack, what only hurries to the least tension."""
    fault = looked(0, choice, phase).begin()
    assert fault.marked("urgent") == urgent
    assert to_slack(fault) == slack
    assert fault.mem["look_taken"] == choice and fault.mem["look_phase"] == phase


@pytest.mark.parametrize(("phase", "tendon"), [(NOTHING, 0), (DONE, 1), (AS_IT_IS, 3)])
def test_a_tendon_that_nobody_looked_at_is_let_go_as_without_looking(phase: int, tendon: int) -> None:
    fault = looked(0, 1, phase, tendon).begin()
    fresh = Faulted(Cause.TENSION_LOST, 0).begin()
    assert fault.marked("urgent") == fresh.marked("urgent") >= {3}
    assert to_slack(fault) == to_slack(fresh)
    mem = fault.mem
    assert (mem["look_phase"], mem["look_tendon"], mem["look_choice"]) == (AS_IT_IS, 0, 0)


def changed(change: dict[str, Any] | None = None, **state: Any) -> bool:
    """Whether a choice of the second set, made after the reaction began, is taken."""
    fault = looked(0, 0).begin()
    fault.mem["look_choice"] = 1
    fault.mem["fault_age_s"][0] = 0.0194
    for name, value in (change or {}).items():
        fault.mem[name] = value
    for name, value in state.items():
        fault.s[name][0] = value
    change_choice(fault.m, fault.mem, fault.s)
    assert fault.marked("urgent") in ({3, 7}, {5, 6})
    taken = fault.marked("urgent") == {5, 6}
    assert to_slack(fault) == ({5, 6} if taken else {3})
    assert taken is False or fault.mem["look_taken"] == 1
    return taken


def test_a_choice_may_change_what_is_let_go_while_it_is_early() -> None:
    assert changed()
    assert not changed({"fault_age_s": 0.0196})
    assert not changed({"look_phase": THEIR_BRAKES})
    assert not changed({"look_phase": NOTHING})
    assert not changed({"probe_phase": 0})
    assert not changed({"probe_tendon": 3})
    assert not changed({"look_tendon": 3})
    assert not changed(finger_cause=int(Cause.TENDON_BROKEN))
    assert not changed({"look_taken": 1})


def test_a_choice_that_was_taken_is_not_taken_again() -> None:
    """What is let go may have ended since."""
    fault = looked(0, 1).begin()
    fault.mem["urgent"][5] = 0
    change_choice(fault.m, fault.mem, fault.s)
    assert fault.marked("urgent") == {6}


# --- in the guard ---------------------------------------------------------------------------------------


def slack(bench: Guarded, t: int, at_stop: bool = True) -> None:
    bench.s["lever_angle_rad"][t] = LEVER_MAX if at_stop else -0.01875


def fallen(bench: Guarded, t: int, most: int = 60) -> int:
    """Cycles with tendon ``t`` at its slack stop until its loss is confirmed."""
    slack(bench, t)
    f = int(bench.m["tendon_finger"][t])
    for k in range(1, most + 1):
        bench.cycle()
        if bench.s["finger_cause"][f] != Cause.NONE:
            assert bench.s["finger_cause"][f] == Cause.TENSION_LOST
            assert bench.s["finger_cause_part"][f] == t
            return k
    raise AssertionError("not confirmed")


def calm(hand: str = "finger_bench") -> Guarded:
    """A hand in mid-range whose states are kept for a while, every tendon taut."""
    bench = Guarded(hand)
    bench.s["joint_angle_rad"][: bench.joints] = 0.2
    for _ in range(200):
        bench.cycle()
    return bench


def test_while_its_loss_is_confirmed_a_tendon_is_looked_at_and_the_reaction_goes_by_it() -> None:
    bench = calm()
    cycles = fallen(bench, 2)
    mem = bench.mem
    assert mem["look_tendon"] == 2
    assert mem["look_done"] == cycles or mem["look_phase"] == DONE
    chosen = int(mem["look_set"][mem["look_choice"]])
    assert {t for t in range(8) if mem["urgent"][t]} == {t for t in range(8) if chosen >> t & 1}
    other = 1 if mem["look_choice"] != 1 else 2
    mem["look_phase"], mem["look_choice"], mem["look_set"][other] = DONE, other, 0b0101_0000
    bench.cycle()
    assert {t for t in range(8) if mem["urgent"][t]} == {4, 6}


def test_a_rearmed_finger_that_loses_a_tendon_again_is_looked_at_as_the_first_time() -> None:
    bench = calm()
    first = fallen(bench, 2)
    for _ in range(100):
        bench.cycle()
    slack(bench, 2, at_stop=False)
    bench.cycle(Request.REARM)
    assert bench.s["finger_state"][0] == int(MachineState.HOLDING)
    for _ in range(200):
        bench.cycle()
    assert fallen(bench, 2) == first
    assert bench.mem["look_done"] == first or bench.mem["look_phase"] == DONE


def test_a_tendon_that_was_not_looked_at_in_time_is_judged_from_before_its_fall() -> None:
    """Another finger's tendon is looked at: it dips, and so little is wanted of it that it may."""
    bench = calm("hasy")
    dips, breaks = int(bench.m["finger_tendon"][1, 0]), int(bench.m["finger_tendon"][2, 0])
    bench.s["ref_tension_n"][dips] = 6.0
    slack(bench, dips)
    bench.cycle()
    assert bench.mem["look_tendon"] == dips
    own = bench.m["finger_joint"][2, : bench.m["finger_n_joints"][2]]
    # the next state is kept 4 cycles after the fall
    while bench.s["time_ns"] - bench.mem["moment_ns"].max() < 3_900_000:
        bench.cycle()
    bench.s["joint_angle_rad"][own] += 0.1
    fallen(bench, breaks)
    assert bench.mem["look_tendon"] == breaks
    assert np.all(bench.mem["from_q_rad"][: len(own)] == 0.2)
