"""Where a lost tendon throws its finger: balance, energy, direction, motors, and the simulated hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from guard.lookahead import brake_set
from guard.simulated_break import (
    AWAY_RAD,
    STEP_S,
    advance,
    begin_throw,
    coasting_m,
    move,
    wanted_nm,
)
from guard.urgent import first_at_stop
from hand.options import RunOptions
from mechanics.springs import spring_energy_j, spring_state
from runtime.setup import read_hand
from telemetry.shm.channel import Channel
from tests.rigs.ahead import Ahead
from trials.campaign import Worker
from trials.draw import Trial
from trials.scene import SLOTS, Scene
from trials.stops import Stops

FloatArray = NDArray[np.float64]
PAIRS = ((0, 3), (1, 2), (4, 5), (6, 7))
"""Tendons of the bench's finger that undo each other."""
POSES = ((0.0, 0.6, 0.6, 0.6), (0.15, 0.2, 1.2, 0.9), (-0.2, 1.3, 0.3, 0.2), (0.1, -0.1, 0.9, 1.1))
seeds = st.integers(0, 10_000)


def free_ms(finger: Ahead, lost: int, ms: float) -> None:
    """A time of a throw in which nobody drives."""
    for _ in range(round(ms * 1e-3 / STEP_S)):
        assert advance(finger.m, finger.mem, 0, lost, 0, False, 1.0, 0.0)


def randomly(seed: int) -> tuple[Ahead, np.random.Generator]:
    """The bench's finger in a random pose, each pair of tendons balanced at 10 to 60 N."""
    rng = np.random.default_rng(seed)
    finger = Ahead()
    low, high = finger.m["joint_min_rad"][:4], finger.m["joint_max_rad"][:4]
    tension = np.zeros(8)
    for pair in PAIRS:
        tension[list(pair)] = rng.uniform(10.0, 60.0)
    return finger.pose(rng.uniform(low + 0.05, high - 0.05)).pull(tension), rng


def elastic_j(finger: Ahead, lost: int) -> float:
    """Energy [J] in springs and tendons of the finger but for the lost one, from the scratch."""
    m, mem, total = finger.m, finger.mem, 0.0
    for k, t in enumerate(finger.tendons):
        if k != lost:
            lever, tension = spring_state(m, t, float(mem["look_e_m"][k]), 0.0, 0.0)
            total += spring_energy_j(m, t, lever) + 0.5 * tension**2 * float(m["tendon_compliance_m_n"][t])
    return total


def kinetic_j(finger: Ahead) -> float:
    """Energy [J] in the motion of joints and motors, from the scratch."""
    m, mem, n = finger.m, finger.mem, len(finger.own)
    H, qd = mem["look_H"][:n, :n], mem["look_qd_rad_s"][:n]
    inertia = m["motor_inertia_kg_m2"][m["tendon_motor"][finger.tendons]]
    w = mem["look_w_rad_s"][: len(finger.tendons)]
    return float(0.5 * qd @ H @ qd + 0.5 * inertia @ w**2)


# --- balance and energy -----------------------------------------------------------------------------------


@given(seeds, st.sampled_from(PAIRS))
def test_a_finger_in_balance_of_which_nothing_is_lost_stays_where_it_is(seed, pair):
    """The lost tendon was slack, and so was its partner."""
    finger, _ = randomly(seed)
    tension = finger.s["tension_n"][:8].copy()
    tension[list(pair)] = 0.0
    finger.pull(tension).begin(pair[0])
    assert not finger.throw(0).any()
    q = finger.mem["look_q_rad"][:4]
    assert q == pytest.approx(finger.s["joint_angle_rad"][:4], abs=1e-9)
    assert abs(finger.mem["look_qd_rad_s"][:4]).max() < 1e-7


@given(seeds, st.integers(0, 7))
def test_energy_never_grows_where_nothing_drives(seed, lost):
    """Motors without torque: springs give to joints and motors, friction, guides and stops take."""
    finger, _ = randomly(seed)
    finger.mem["last_torque_nm"] = 0.0
    finger.begin(lost)
    begin_throw(finger.m, finger.mem, 0)
    least = begun = elastic_j(finger, lost)
    for _ in range(40):
        free_ms(finger, lost, 2.0)
        now = elastic_j(finger, lost) + kinetic_j(finger)
        # the springs are taken explicitly: a light joint's energy swings by a share of its own
        assert now <= least + 0.03 * begun
        least = min(least, now)
    assert now < 0.98 * begun


@given(seeds, st.integers(0, 7), st.sampled_from((0, 0xFF)))
def test_no_stop_is_hit_with_more_energy_than_there_was(seed, lost, unwound):
    """A hit of one joint at v has v^2 / (2 (H^-1)_xx) at least, whatever the others do."""
    finger, _ = randomly(seed)
    finger.begin(lost)
    begin_throw(finger.m, finger.mem, 0)
    begun = elastic_j(finger, lost)
    inverse = np.linalg.inv(finger.mem["look_H"][:4, :4])
    hits = finger.throw(unwound)
    assert np.all(0.5 * hits**2 / np.diag(inverse)[:, None] <= begun)


# --- direction --------------------------------------------------------------------------------------------


@given(seeds, st.integers(0, 7))
def test_the_joint_that_is_first_goes_where_the_lost_tendon_does_not_hold_it_any_more(seed, lost):
    """Towards +P, and before any whip: it never hits its other stop before."""
    finger, _ = randomly(seed)
    finger.begin(lost)
    j = first_at_stop(finger.m, finger.mem["P_tj_m"], finger.s["joint_angle_rad"], 0, lost)
    begin_throw(finger.m, finger.mem, 0)
    sign = np.sign(finger.P[lost])
    free_ms(finger, lost, 2.0)
    went = finger.mem["look_q_rad"][:4] - finger.s["joint_angle_rad"][:4]
    torque = finger.P[lost] * finger.s["tension_n"][lost]
    assert went @ torque > 0.0, "the missing pull does work on what moves"
    if j >= 0 and lost < 4:
        assert went[j] * sign[j] > 0.0


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("lost", range(4))
def test_the_base_hits_its_stops_only_on_the_side_of_the_missing_pull(pose, lost):
    finger = Ahead().pose(pose).pull(20.0).begin(lost)
    hits = finger.throw(0)
    for x in range(2):
        away = 0 if finger.P[lost, x] > 0.0 else 1
        assert hits[x, 1 - away] == 0.0
    assert hits[:2].max() > 2.0


# --- stops ------------------------------------------------------------------------------------------------


def test_a_joint_at_rest_beside_its_stop_does_not_hit_it():
    """Only one that comes from further away does, and only inwards to outwards."""
    finger = Ahead()
    top = float(finger.m["joint_max_rad"][2])
    near, far = 0.9 * AWAY_RAD, 1.1 * AWAY_RAD
    for way, speed, hit in ((far, 5.0, 5.0), (near, 5.0, 0.0), (-0.001, 5.0, 0.0), (0.04, 0.0, 0.0)):
        finger.pose((0.0, 0.6, top - way, 0.6)).pull(0.0).begin(0)
        begin_throw(finger.m, finger.mem, 0)
        for _ in range(round(0.010 / STEP_S)):
            finger.mem["look_qd_rad_s"][:4] = (0.0, 0.0, speed, 0.0)
            move(finger.m, finger.mem, 0)
        assert finger.mem["look_hit_rad_s"][2, 0] == hit
        assert not np.delete(finger.mem["look_hit_rad_s"][:4].ravel(), 4).any()


def test_the_hardest_hit_of_a_stop_counts_and_a_second_one_needs_its_way_again():
    finger = Ahead()
    bottom = float(finger.m["joint_min_rad"][1])
    finger.pose((0.0, bottom + 0.05, 0.6, 0.6)).pull(0.0).begin(0)
    begin_throw(finger.m, finger.mem, 0)
    mem, seen = finger.mem, []
    # in at 3 rad/s, a tremble at 9, all the way back, in at 7, again back, in at 4: speed and way
    for speed, way in (
        (-3.0, 0.06),
        (1.0, 0.011),
        (-9.0, 0.027),
        (3.0, 0.075),
        (-7.0, 0.07),
        (6.0, 0.06),
        (-4.0, 0.06),
    ):
        for _ in range(round(way / abs(speed) / STEP_S)):
            mem["look_qd_rad_s"][1] = speed
            move(finger.m, mem, 0)
        seen.append(float(mem["look_hit_rad_s"][1, 1]))
    assert seen == [3.0, 3.0, 3.0, 3.0, 7.0, 7.0, 7.0]
    assert mem["look_hit_rad_s"][1, 0] == 0.0


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("lost", range(8))
def test_the_brake_of_a_stop_never_makes_its_hit_harder_than_leaving_all_alone(pose, lost):
    """Of a joint that the lost tendon turned: what brakes a whip beyond may free the joint that whips."""
    finger = Ahead().pose(pose).pull(20.0).begin(lost)
    alone = finger.throw(0)
    for x, side in np.argwhere((alone > 2.0) & (finger.P[lost] != 0.0)[:, None]):
        brake = brake_set(finger.m, finger.mem, 0, lost, int(x), int(side))
        assert finger.throw(brake)[x, side] <= alone[x, side] + 0.2


# --- motors -----------------------------------------------------------------------------------------------


@given(e=st.floats(-0.005, 0.02), w=st.floats(-14.0, 14.0), share=st.floats(0.1, 1.0), unwound=st.booleans())
def test_a_motor_is_never_wound_and_is_left_alone_once_it_will_coast_into_slack(e, w, share, unwound):
    finger = Ahead().begin(0)
    m, mem = finger.m, finger.mem
    begin_throw(m, mem, 0)
    mem["look_torque_nm"][5] = 0.2
    assert wanted_nm(m, mem, 5, 5, unwound, False, share, 0.0) == 0.2, "nobody has noticed"
    assert mem["look_slack"][5] == 0
    mem["look_e_m"][5], mem["look_w_rad_s"][5] = e, w
    slack = e <= coasting_m(m, 5, 0.01, w)
    wanted = wanted_nm(m, mem, 5, 5, unwound, True, share, 0.0)
    assert wanted <= 0.0
    assert wanted == pytest.approx(-share * 2.94 if unwound and not slack else 0.0)
    assert bool(mem["look_slack"][5]) is slack
    # it stays so, as it does in the reaction
    mem["look_e_m"][5] = 0.02
    again = wanted_nm(m, mem, 5, 5, unwound, True, share, 0.0)
    assert again == (0.0 if slack else wanted)


def test_a_set_that_is_let_go_comes_to_slack_and_not_much_further_the_others_hold():
    finger = Ahead().pose(POSES[0]).pull(20.0).begin(2)
    e = finger.mem["from_e_m"][:8].copy()
    finger.throw(0b10)
    after = finger.mem["look_e_m"][:8]
    wound = after - e - finger.P @ (finger.mem["look_q_rad"][:4] - finger.s["joint_angle_rad"][:4])
    assert wound[1] < -0.0005, "unwound by its motor"
    assert finger.mem["look_slack"][1] and after[1] < 0.0
    others = [0, 3, 4, 5, 6, 7]
    assert abs(wound[others]).max() < 0.0005, "the gears hold"
    assert wound[2] == pytest.approx(0.0, abs=1e-12), "nobody moves the lost one"


# --- the simulated hand -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench() -> Iterator[Scene]:
    yield Scene(read_hand(RunOptions(hand="finger_bench")), "hold", channel=Channel.local(SLOTS))


@pytest.mark.parametrize("part", [1, 3])
def test_the_simulated_hand_hits_the_stops_of_its_base_as_forecast(bench, part):
    """Its motors off, and with the brake of the stop that is hit: other integrator, noise and all."""
    trial = Trial(seed=part, kind="tendon-break", motion="hold", mismatch=0, part=part, moment=0.4, size=0.0)
    bench.run_trial(trial, until_s=0.05)
    finger = Ahead()
    finger.records[0][...] = bench.rig.stages.guard_memory
    assert finger.mem["look_tendon"] == part
    stops = Stops(bench.hand.names, bench.hand.model)
    alone = finger.throw(0)
    x, side = np.unravel_index(alone[:2].argmax(), (2, 2))
    brake = brake_set(finger.m, finger.mem, 0, part, int(x), int(side))
    sign = 1 - 2 * int(side)
    q = finger.mem["look_angle_rad"][:4]
    for forecast, current in (
        (alone, stops.nothing_a(trial)),
        (finger.throw(brake), stops.brake_a(trial, int(x), sign, q)),
    ):
        seen = stops.hits(bench.run_trial(trial, brake=current, brake_after_s=0.0045, until_s=0.1))
        assert seen[int(x), sign][0] == pytest.approx(forecast[x, side], rel=0.25)


def test_a_stop_that_the_reaction_without_looking_would_hit_is_spared_in_the_whole_hand() -> None:
    """Ring finger, its second tendon, in a grasp: what throws abduction holds flexion off its lower stop."""
    hand = read_hand(RunOptions(hand="hasy"))
    worker, stops, m = Worker(hand), Stops(hand.names, hand.model), hand.model[0]
    moment, part = 0.18120420400719173, hand.names.tendons.index("ring_2")
    trial = Trial(
        seed=42000715, kind="tendon-break", motion="grasp", mismatch=0, part=part, moment=moment, size=0.0
    )
    spared = hand.names.joints.index("ring_flexion"), -1
    assert spared not in stops.hits(worker.record(trial))
    mem = worker.scene("grasp", 0).rig.stages.guard_memory[0].copy()
    assert mem["look_tendon"] == part and mem["look_choice"] != 0
    # what it would have let go without looking, by hand
    current = stops.nothing_a(trial)
    own = m["finger_tendon"][mem["look_finger"]]
    for k in range(6):
        if mem["look_set"][0] >> k & 1:
            i = int(m["tendon_motor"][own[k]])
            current[i] = -m["motor_current_limit_a"][i]
    assert spared in stops.hits(worker.record(trial, brake=current, brake_after_s=0.0045, until_s=0.15))
    verdict = worker.judged(trial)
    assert verdict.right and not verdict.breaches
