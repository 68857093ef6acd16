"""A look ahead at a lost tendon: when it begins and ends, what it starts from, what it tries and chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.lookahead import (
    AS_IT_IS,
    DONE,
    NOTHING,
    add_look,
    begin_look,
    brake_set,
    keep_moment,
    moment_before,
    motor_speed_at,
    needless_stops,
    place_of_tendon,
    suspected,
)
from guard.memory import LOOKS, MOMENTS
from guard.simulated_break import begin_throw
from guard.urgent import hurried
from mechanics.coupling import tendon_jacobian
from signals.modes import MachineState
from tests.rigs.ahead import MS, Ahead

UP, DOWN = 0, 1
POSE = (0.15, 0.2, 1.2, 0.9)
seeds = st.integers(0, 10_000)


def scatter(bench: Ahead, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A random state of the hand; what a moment of it is."""
    m, s, mem, n, j = bench.m, bench.s, bench.mem, bench.n, bench.joints
    for name, count in (("joint_angle_rad", j), ("joint_speed_rad_s", j), ("lever_angle_rad", n)):
        s[name][:count] = rng.uniform(-1.0, 1.0, count)
    s["elongation_m"][:n] = rng.uniform(0.0, 0.01, n)
    mem["last_torque_nm"][:n] = rng.uniform(-2.0, 2.0, n)
    return {
        "angle_rad": s["joint_angle_rad"][:j].copy(),
        "speed_rad_s": s["joint_speed_rad_s"][:j].copy(),
        "elongation_m": s["elongation_m"][:n].copy(),
        "lever_rad": s["lever_angle_rad"][:n].copy(),
        "torque_nm": mem["last_torque_nm"][m["tendon_motor"][:n]].copy(),
    }


# --- states before now --------------------------------------------------------------------------------


@given(seeds, st.lists(st.integers(1, 9 * MS), min_size=1, max_size=40))
def test_the_newest_six_states_five_milliseconds_apart_are_kept(seed: int, steps: list[int]) -> None:
    bench, rng = Ahead("hasy"), np.random.default_rng(seed)
    bench.m["tendon_motor"][: bench.n] = rng.permutation(bench.n)
    kept: list[tuple[int, dict[str, np.ndarray]]] = []
    now = 10 * MS
    for step in steps:
        now += step
        bench.s["time_ns"] = now
        state = scatter(bench, rng)
        keep_moment(bench.m, bench.mem, bench.s)
        if not kept or now - kept[-1][0] >= 5 * MS:
            kept.append((now, state))
    newest = kept[-MOMENTS:]
    mem = bench.mem
    assert sorted(mem["moment_ns"]) == [0] * (MOMENTS - len(newest)) + [time for time, _ in newest]
    assert mem["moment_ns"][mem["moment"]] == newest[-1][0]
    for time, state in newest:
        slot = list(mem["moment_ns"]).index(time)
        for name, values in state.items():
            assert np.array_equal(mem[f"moment_{name}"][slot, : len(values)], values), name


@given(
    st.lists(st.integers(1, 100), max_size=MOMENTS, unique=True),
    st.integers(0, MOMENTS - 1),
    st.integers(0, 110),
)
def test_the_newest_state_not_later_than_a_time_is_taken_or_else_the_oldest(
    times: list[int], moment: int, wanted: int
) -> None:
    bench = Ahead()
    by_age = sorted(times, reverse=True) + [0] * (MOMENTS - len(times))
    for back, time in enumerate(by_age):
        bench.mem["moment_ns"][(moment - back) % MOMENTS] = time
    bench.mem["moment"] = moment
    early = [time for time in by_age if time <= wanted]
    slot = moment_before(bench.mem, wanted)
    assert 0 <= slot < MOMENTS
    assert bench.mem["moment_ns"][slot] == (early[0] if early else by_age[-1])


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_where_all_states_are_later_the_oldest_is_taken(moment: int) -> None:
    bench = Ahead()
    for back in range(MOMENTS):
        bench.mem["moment_ns"][(moment - back) % MOMENTS] = 100 - back
    bench.mem["moment"] = moment
    for wanted, age in ((94, 5), (95, 5), (96, 4), (100, 0), (101, 0)):
        assert moment_before(bench.mem, wanted) == (moment - age) % MOMENTS


def test_states_before_the_hand_was_armed_are_forgotten_and_so_is_a_look() -> None:
    bench = Ahead().run(200).suspect(2).run(3)
    assert bench.mem["look_phase"] != NOTHING and bench.mem["moment_ns"].all()
    bench.mem["started"], bench.mem["slack_s"][2] = 0, 0.002
    bench.mem["taut"][2] = 0
    bench.cycle()
    assert bench.mem["look_phase"] == NOTHING
    assert sorted(bench.mem["moment_ns"]) == [0] * (MOMENTS - 1) + [bench.s["time_ns"]]


# --- beginning ----------------------------------------------------------------------------------------


def test_a_tendon_is_suspected_at_its_slack_stop_that_was_taut_is_wanted_so_and_was_not_thrown() -> None:
    def asked(change: Any = None) -> bool:
        bench = Ahead("hasy").suspect(7)
        if change is not None:
            change(bench)
        return bool(suspected(bench.m, bench.mem, bench.s, 7))

    assert asked()
    assert not asked(lambda b: b.mem["slack_s"].__setitem__(7, 0.0))
    assert not asked(lambda b: b.mem["taut"].__setitem__(7, 0))
    assert not asked(lambda b: b.mem["thrown"].__setitem__(7, 1))
    assert not asked(lambda b: b.s["ref_tension_n"].__setitem__(7, 3.99))
    assert asked(lambda b: b.s["ref_tension_n"].__setitem__(7, 4.01))
    # a motor that only holds its place: the least tension is wanted
    assert asked(lambda b: b.s["ref_tension_n"].__setitem__(7, 0.0))


@pytest.mark.parametrize("f", range(6))
def test_a_look_begins_from_the_newest_state_a_millisecond_before_the_fall(f: int) -> None:
    rng = np.random.default_rng(f)
    bench = Ahead("hasy", f)
    m, mem, s = bench.m, bench.mem, bench.s
    now = 1000 * MS
    states = []
    for k in range(MOMENTS):
        # 28.8, 23.8, 18.8, 13.8, 8.8 and 3.8 ms ago; the fall was 8 ms ago
        s["time_ns"] = now - 28_800_000 + 5 * k * MS
        states.append(scatter(bench, rng))
        keep_moment(m, mem, s)
    s["time_ns"] = now
    scatter(bench, rng)
    bench.pose(rng.uniform(-0.3, 0.3, len(bench.own)))
    n = len(bench.own)
    for place, t in enumerate(bench.tendons):
        for fallen_s, k in ((0.0079, 3), (0.0077, 4), (0.0029, 4), (0.0027, 5), (0.1, 0)):
            mem["look_stop_rad_s"], mem["look_choice"], mem["look_done"] = 9.0, 3, 2
            mem["slack_s"][t] = fallen_s
            begin_look(m, mem, s, f, t)
            state = states[k]
            assert (mem["look_finger"], mem["look_tendon"], mem["look_lost"]) == (f, t, place)
            assert np.array_equal(mem["look_angle_rad"][: bench.joints], state["angle_rad"])
            assert np.array_equal(mem["from_q_rad"][:n], state["angle_rad"][bench.own])
            assert np.array_equal(mem["from_qd_rad_s"][:n], state["speed_rad_s"][bench.own])
            for name, kept in (("e_m", "elongation_m"), ("lever_rad", "lever_rad"), ("torque_nm",) * 2):
                own = mem[f"from_{name}"][: len(bench.tendons)]
                assert np.array_equal(own, state[kept][bench.tendons]), name
            there = np.zeros_like(mem["P_tj_m"])
            tendon_jacobian(m, mem["look_angle_rad"], there)
            assert np.array_equal(
                mem["look_P_m"][: len(bench.tendons), :n], there[np.ix_(bench.tendons, bench.own)]
            )
            now_m = np.zeros_like(there)
            tendon_jacobian(m, s["joint_angle_rad"], now_m)
            assert np.array_equal(mem["P_tj_m"], now_m), "the others of this cycle go on with the pose now"
            assert mem["look_H"][:n, :n] == pytest.approx(bench.mass(mem["look_angle_rad"]))
            sets = hurried(m, there, mem["look_angle_rad"], f, t)
            assert (mem["look_throws"], mem["look_set"][0], mem["look_partners"]) == sets
            assert (mem["look_phase"], mem["look_count"], mem["look_done"]) == (AS_IT_IS, 1, 0)
            assert mem["look_choice"] == 0


@given(seeds, st.integers(0, 5), st.integers(0, MOMENTS - 1))
def test_motors_run_on_as_they_ran_before_the_fall(seed: int, f: int, slot: int) -> None:
    """What motors wind and joints turn between two states stretches the tendons: de = P dq + R w dt."""
    rng, dt_s = np.random.default_rng(seed), 0.005
    bench = Ahead("hasy", f)
    m, mem, own, tendons = bench.m, bench.mem, bench.own, bench.tendons
    bench.pose(rng.uniform(-0.3, 0.3, len(own)))
    w, turned = rng.uniform(-8.0, 8.0, len(tendons)), rng.uniform(-0.01, 0.01, len(own))
    mem["moment_ns"], mem["moment"] = 0, slot
    mem["moment_ns"][[slot - 1, slot]] = 90 * MS, 95 * MS
    mem["moment_angle_rad"][[slot - 1, slot]] = bench.s["joint_angle_rad"]
    mem["moment_angle_rad"][slot - 1][own] -= turned
    mem["moment_elongation_m"][slot][tendons] = rng.uniform(0.0, 0.01, len(tendons))
    stretched = bench.P @ turned + m["spool_radius_m"][tendons] * w * dt_s
    mem["moment_elongation_m"][slot - 1] = mem["moment_elongation_m"][slot]
    mem["moment_elongation_m"][slot - 1][tendons] -= stretched
    bench.s["time_ns"], mem["slack_s"][tendons[0]] = 100 * MS, 0.002
    begin_look(m, mem, bench.s, f, tendons[0])
    begin_throw(m, mem, f)
    assert mem["look_w_rad_s"][: len(tendons)] == pytest.approx(w, abs=1e-6)
    # of a state that none is kept before, or a later one in its place, nothing is known
    for before_ns in (0, 95 * MS, 99 * MS):
        mem["moment_ns"][slot - 1] = before_ns
        assert motor_speed_at(m, mem, slot, 1, tendons[1]) == 0.0


@pytest.mark.parametrize("late_ns", [-1, 0, 1])
def test_a_state_is_old_enough_a_millisecond_before_the_fall_to_the_nanosecond(late_ns: int) -> None:
    bench = Ahead()
    mem = bench.mem
    bench.s["time_ns"], mem["slack_s"][2] = 100 * MS, 0.004
    mem["moment_ns"][:2], mem["moment"] = (90 * MS, 95 * MS + late_ns), 1
    mem["moment_angle_rad"][:2] = [[0.1], [0.2]]
    begin_look(bench.m, mem, bench.s, 0, 2)
    assert np.all(mem["from_q_rad"][:4] == (0.1 if late_ns > 0 else 0.2))


def test_without_a_state_before_it_a_look_begins_from_the_one_now() -> None:
    bench = Ahead()
    state = scatter(bench, np.random.default_rng(0))
    bench.mem["moment_angle_rad"] = 7.0
    bench.begin(2)
    for name in ("angle_rad", "speed_rad_s"):
        assert np.array_equal(
            bench.mem[{"angle_rad": "from_q_rad"}.get(name, "from_qd_rad_s")][:4], state[name]
        )
    assert np.array_equal(bench.mem["from_torque_nm"][:8], state["torque_nm"])
    assert sorted(bench.mem["moment_ns"]) == [0] * (MOMENTS - 1) + [bench.s["time_ns"]]
    # one that is there is not written over
    again = Ahead()
    again.mem["moment_ns"], again.mem["moment_angle_rad"] = 1, 7.0
    begin_look(again.m, again.mem, again.s, 0, 2)
    assert np.all(again.mem["from_q_rad"][:4] == 7.0) and np.all(again.mem["moment_ns"] == 1)


def test_a_tendon_has_its_place_in_its_finger() -> None:
    bench = Ahead("hasy")
    for f in range(6):
        own = [int(t) for t in bench.m["finger_tendon"][f, : bench.m["finger_n_tendons"][f]]]
        assert [place_of_tendon(bench.m, f, t) for t in own] == list(range(len(own)))


def test_the_first_suspected_tendon_is_looked_at_and_no_second_one_meanwhile() -> None:
    bench = Ahead("hasy", 2).run(40)
    first, second = bench.tendons[1], max(bench.tendons)
    bench.suspect(second).suspect(first).cycle()
    mem = bench.mem
    assert (mem["look_tendon"], mem["look_finger"], mem["look_lost"]) == (first, 2, 1)
    for k in range(2, 60):
        done = mem["look_phase"] == DONE
        bench.cycle()
        assert mem["look_tendon"] == first
        assert mem["look_done"] == k or done
    assert mem["look_phase"] == DONE
    # the first one comes back: it was a dip, and the second one is looked at
    mem["slack_s"][first] = 0.0
    bench.cycle()
    assert (mem["look_tendon"], mem["look_done"]) == (second, 1)


def test_nothing_is_looked_at_where_nothing_is_suspected_or_the_finger_is_in_fault() -> None:
    bench = Ahead("hasy", 1).run(40)
    assert bench.mem["look_phase"] == NOTHING and bench.mem["look_done"] == 0
    bench.fall(1)
    other = int(bench.m["finger_tendon"][3, 0])
    bench.suspect(bench.tendons[0]).run(3)
    assert bench.mem["look_phase"] == NOTHING
    bench.suspect(other).cycle()
    assert (bench.mem["look_finger"], bench.mem["look_tendon"]) == (3, other)


# --- going on and ending ------------------------------------------------------------------------------


@pytest.mark.parametrize("cycles", [1, 2, 100])
def test_a_tendon_that_comes_back_ends_the_look(cycles: int) -> None:
    bench = Ahead().pose(POSE).pull(20.0).run(40).suspect(2).run(cycles)
    assert bench.mem["look_phase"] != NOTHING
    bench.mem["slack_s"][2] = 0.0
    bench.cycle()
    assert bench.mem["look_phase"] == NOTHING


@pytest.mark.parametrize(("age_s", "goes_on"), [(0.0, True), (0.0194, True), (0.0196, False)])
def test_once_its_finger_is_in_fault_a_look_goes_on_while_it_is_early(age_s: float, goes_on: bool) -> None:
    """The timers of the tendons begin anew with the fault; they say nothing then."""
    bench = Ahead().pose(POSE).pull(20.0).busy(3)
    bench.fall(0, age_s)
    bench.mem["slack_s"][3] = 0.0
    done = int(bench.mem["look_done"])
    bench.cycle()
    assert bool(bench.mem["look_phase"] != NOTHING) is goes_on
    assert bench.mem["look_done"] == done + goes_on


def test_a_fault_of_before_does_not_end_the_look_of_the_next_one() -> None:
    """The finger was in fault for a long time and was rearmed; now it falls, and its reaction is to begin."""
    bench = Ahead().pose(POSE).pull(20.0)
    bench.mem["fault_age_s"][0] = 5.0
    bench.mem["last_finger_state"][0] = int(MachineState.ACTIVE)
    bench.busy(3)
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.cycle()
    assert bench.mem["look_done"] == 3


@pytest.mark.parametrize("limit_nm", [1.4, 2.94])
@pytest.mark.parametrize("lost", range(8))
def test_a_set_is_thrown_with_the_figures_of_the_reaction(limit_nm: float, lost: int) -> None:
    """Motors that can hardly unwind show how long, how hard and how hard after it."""
    bench = Ahead().pose(POSE).pull(40.0)
    bench.m["motor_torque_limit_nm"][:8] = limit_nm
    bench.run(40).suspect(lost).cycle()
    names = ("look_e_m", "look_w_rad_s", "look_torque_nm", "look_q_rad")
    seen = [bench.mem[name].copy() for name in names]
    bench.throw(int(bench.mem["look_set"][0]))
    assert all(np.array_equal(a, bench.mem[name]) for a, name in zip(seen, names, strict=True))


@settings(max_examples=30)
@given(seeds, st.integers(0, 7))
def test_one_set_a_cycle_none_twice_and_each_as_the_throw_says(seed: int, lost: int) -> None:
    rng = np.random.default_rng(seed)
    bench = Ahead()
    low, high = bench.m["joint_min_rad"][:4], bench.m["joint_max_rad"][:4]
    bench.pose(rng.uniform(low + 0.05, high - 0.05)).pull(rng.uniform(10.0, 60.0, 8)).run(40).suspect(lost)
    mem = bench.mem
    for k in range(1, LOOKS + 1):
        bench.cycle()
        assert mem["look_done"] == k
        if mem["look_phase"] == DONE:
            break
    assert mem["look_phase"] == DONE
    done = int(mem["look_done"])
    assert done == mem["look_count"] <= LOOKS
    sets = [int(tendons) for tendons in mem["look_set"][:done]]
    assert len(set(sets)) == done and not any(tendons >> lost & 1 for tendons in sets)
    hits = mem["look_stop_rad_s"][:done, :4].copy()
    for k, tendons in enumerate(sets):
        assert np.array_equal(bench.throw(tendons), hits[k])
    needless = [needless_stops(bench.m, mem, k) for k in range(done)]
    if needless[0] < 0.1:
        assert mem["look_choice"] == 0
    else:
        assert {0, int(mem["look_partners"])} <= set(sets)
        assert mem["look_choice"] == int(np.argmin(needless))
    before = mem.copy()
    bench.run(5)
    for name in ("look_done", "look_count", "look_choice", "look_phase", "look_set", "look_stop_rad_s"):
        assert np.array_equal(before[name], mem[name])


@pytest.mark.parametrize("tried", [0, 1, 3])
def test_a_finger_whose_mass_matrix_is_none_keeps_what_the_reaction_does_without_looking(tried: int) -> None:
    bench = Ahead().pose(POSE).pull(20.0)
    if tried:
        bench.busy(3, tried).mem["look_H"][0, 0] = -1.0
    else:
        bench.run(40).suspect(3).m["body_mass_kg"] = -1.0
    bench.mem["look_choice"] = 1
    bench.cycle()
    assert (bench.mem["look_phase"], bench.mem["look_choice"]) == (DONE, 0)
    assert bench.mem["look_done"] == tried


# --- the list -----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 20)))
def test_a_set_is_put_on_the_list_once_and_the_list_has_an_end(sets: list[int]) -> None:
    bench = Ahead()
    bench.mem["look_stop_rad_s"] = 3.0
    for tendons in sets:
        add_look(bench.mem, tendons)
    wanted = list(dict.fromkeys(sets))[:LOOKS]
    assert bench.mem["look_count"] == len(wanted)
    assert list(bench.mem["look_set"][: len(wanted)]) == wanted
    assert np.all(bench.mem["look_stop_rad_s"] == 3.0)


def test_a_full_list_takes_no_more() -> None:
    bench = Ahead()
    bench.mem["look_stop_rad_s"] = 3.0
    for tendons in range(30, 30 + 2 * LOOKS):
        add_look(bench.mem, tendons)
    assert bench.mem["look_count"] == LOOKS
    assert list(bench.mem["look_set"]) == list(range(30, 30 + LOOKS))
    assert np.all(bench.mem["look_stop_rad_s"] == 3.0)


@pytest.mark.parametrize("f", range(6))
def test_the_brake_of_a_stop_is_what_pulls_the_joint_into_it_but_the_lost_one(f: int) -> None:
    bench = Ahead("hasy", f)
    bench.pose(np.random.default_rng(f).uniform(-0.3, 0.3, len(bench.own)))
    for lost, t in enumerate(bench.tendons):
        bench.begin(t)
        for x, j in enumerate(bench.own):
            rows = {k: bench.mem["P_tj_m"][o, j] for k, o in enumerate(bench.tendons) if k != lost}
            for side, sign in ((UP, -1.0), (DOWN, 1.0)):
                expected = sum(1 << k for k, row in rows.items() if sign * row > 0.0)
                assert brake_set(bench.m, bench.mem, f, lost, x, side) == expected
