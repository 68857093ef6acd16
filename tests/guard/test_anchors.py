"""From where detectors count, over what time they average, and what of a motor is looked at how often."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.channel_checks import CHANGING, RATE_SHARE, SILENT
from guard.friction_checks import SLOW_S, check_friction
from guard.joint_checks import AGREE_SHARE, fingers_agree
from guard.motor_checks import CONTRADICTED_S, STILL_S, WANTED_RAD
from guard.tension_checks import far_from_limit, wanted_tension_n
from guard.winding import winding_temperatures
from signals.faults import Cause
from tests.rigs.bare import COUNT, TENSION_N, Bare
from tests.rigs.detecting import Still, Turning

# --- a count that should change ---------------------------------------------------------------------------

T, RATE = 6, 0.4


def noisy(rate: float, noise_count: float = 0.7) -> Bare:
    """Tendon 6 winds; its count changed just now, as its noise made it do in this share of the cycles."""
    bench = Bare()
    bench.m["hall_noise_count"][T] = noise_count
    bench.mem["change_rate"][T] = (rate - RATE_SHARE) / (1.0 - RATE_SHARE)
    bench.z["hall_count"][T] = COUNT + 1
    bench.detect()
    return bench


def wound(bench: Bare, way_m: float) -> None:
    """One cycle with this much wound since the start, too slowly for any other detector."""
    bench.s["motor_angle_rad"][T] = bench.mem["last_angle_rad"][T] = way_m / 0.01
    bench.detect()


@pytest.mark.parametrize(
    ("changes", "way", "rate", "noise_count", "stuck"),
    [
        (1.02, 1.01, RATE, 0.7, True),
        (0.98, 1.01, RATE, 0.7, False),
        (1.02, 0.99, RATE, 0.7, False),
        (1.02, -1.01, RATE, 0.7, True),
        (1.02, 1.01, 1.05 * CHANGING, 0.7, True),
        (1.02, 1.01, 0.95 * CHANGING, 0.7, False),
        (1.02, 1.01, RATE, 0.0, False),
    ],
)
def test_a_noisy_count_that_stands_while_its_motor_winds_is_stuck_once_noise_would_have_changed_it_often(
    changes: float, way: float, rate: float, noise_count: float, stuck: bool
) -> None:
    """Way and cycles count from the last change, the rate is the one before the count stood."""
    bench = noisy(rate, noise_count)
    limit_m, last = float(bench.m["stuck_moved_m"]), math.ceil(changes * SILENT / rate)
    for k in range(last):
        wound(bench, way * limit_m * min(1.0, k / 10))
        if bench.found:
            assert (k + 1) * rate > SILENT, "not before its time"
            break
    assert (bench.found is not None and bench.found[:2] == (Cause.HALL_STUCK, T)) is stuck


def test_how_often_a_count_changes_is_an_average_over_cycles_noted_as_it_changes() -> None:
    bench, rng, rate = noisy(0.3), np.random.default_rng(3), 0.3
    anchor, same = rate, 0
    for one in rng.random(60) < 0.4:
        bench.z["hall_count"][T] += int(one)
        bench.detect()
        rate += RATE_SHARE * (one - rate)
        anchor, same = (rate, 0) if one else (anchor, same + 1)
        assert bench.mem["change_rate"][T] == pytest.approx(rate)
        assert bench.mem["anchor_rate"][T] == pytest.approx(anchor)
        assert bench.mem["same_cycles"][T] == same


# --- tensions, motors, joints -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference_n", "taut", "snapped", "wanted_n"),
    [
        (20.0, 1, 0, 20.0), (20.0, 0, 0, 20.0), (3.0, 1, 1, 5.0), (20.0, 1, 1, 20.0),
        (0.0, 1, 0, 5.0), (0.0, 0, 0, 0.0), (0.0, 0, 1, 0.0), (0.5, 0, 0, 0.5), (0.5, 0, 1, 0.5),
    ],
)  # fmt: skip
def test_a_tendon_is_wanted_as_taut_as_its_reference_or_as_the_least_of_one_that_was_taut(
    reference_n: float, taut: int, snapped: int, wanted_n: float
) -> None:
    bench = Bare()
    bench.m["tension_min_n"][:8] = 5.0
    bench.s["ref_tension_n"][2] = reference_n
    bench.mem["taut"][2], bench.mem["snapped"][2] = taut, snapped
    assert wanted_tension_n(bench.m, bench.mem, bench.s, 2) == wanted_n


@pytest.mark.parametrize(
    ("lever_rad", "tension_n", "far"),
    [
        (0.02, 54.0, True), (0.02, 56.0, False), (-0.001, 54.0, False), (-0.005, 1.0, False),
        (0.02, 61.0, False),
    ],
)  # fmt: skip
def test_a_tension_is_not_looked_at_closely_only_where_it_is_low_and_seen_well(
    lever_rad: float, tension_n: float, far: bool
) -> None:
    """Beyond the end of what the sensor sees any tension may be there."""
    bench = Bare()
    end = float(bench.m["lever_calibrated_min_rad"][bench.m["tendon_spring"][2]])
    bench.m["tension_max_n"][2], bench.m["tension_limit_n"][2] = 55.0, 60.0
    bench.s["lever_angle_rad"][2], bench.s["tension_n"][2] = end + lever_rad, tension_n
    assert far_from_limit(bench.m, bench.s, 2) is far
    bench.m["tension_max_n"][2], bench.m["tension_limit_n"][2] = 60.0, 55.0
    assert far_from_limit(bench.m, bench.s, 2) is far


def test_a_torque_that_rests_meanwhile_begins_its_time_anew() -> None:
    """20 ms under torque, a cycle without, 20 ms under torque are not 40, though the motor stood still."""
    for rests in (True, False):
        still = Still(0.6, 0.0)
        assert not still.run(0.7 * STILL_S)
        torque = float(still.bench.s["motor_torque_nm"][3])
        still.bench.s["motor_torque_nm"][3] = 0.2 if rests else torque
        assert not still.run(still.bench.dt_s)
        still.bench.s["motor_torque_nm"][3] = torque
        assert still.run(0.7 * STILL_S, 20.0 + 2.1) is not rests
    assert still.bench.found is not None and still.bench.found[:2] == (Cause.ENCODER_STUCK, 3)


@pytest.mark.parametrize("wanted_rad_s", [0.3, 0.6, 1.2])
def test_lengths_contradict_a_standing_encoder_once_enough_motion_was_wanted(wanted_rad_s: float) -> None:
    """A way, not a time: twice as fast, half as long."""
    bench = Bare()
    bench.s["ref_motor_speed_rad_s"][3] = wanted_rad_s
    bench.s["motor_angle_rad"][3] = 1e-4
    bench.detect()
    limit_m = bench.m["still_residual_m"] + bench.m["still_residual_m_n"] * TENSION_N
    bench.s["residual_m"][3] = 1.5 * limit_m
    cycles = bench.until(None, 600)
    assert bench.found is not None and bench.found[:2] == (Cause.ENCODER_STUCK, 3)
    assert cycles * bench.dt_s == pytest.approx(WANTED_RAD / wanted_rad_s, abs=1.5 * bench.dt_s)
    assert cycles * bench.dt_s > CONTRADICTED_S


def test_a_wrist_is_asked_only_where_two_fingers_have_a_residual() -> None:
    bench = Bare("hasy")
    limits = bench.m["residual_limit_m"]
    for first, second, agree in ((1.05, 1.05, True), (0.95, 1.05, False), (0.95, 0.95, False)):
        bench.s["finger_residual_m"][:] = 0.0
        bench.s["finger_residual_m"][1] = first * AGREE_SHARE * limits[1]
        bench.s["finger_residual_m"][2] = second * AGREE_SHARE * limits[2]
        assert fingers_agree(bench.m, bench.s) is agree


# --- what a motor has done --------------------------------------------------------------------------------


def test_the_past_of_a_friction_reaches_back_twenty_seconds() -> None:
    """A friction that is larger by a tenth is a share of the past that its time makes it."""
    turning, seconds = Turning(), 1.5
    assert turning.run(2.0, 1.0) == math.inf
    mem = turning.bench.mem
    mem["moved_s"][4] = 1000.0
    assert turning.run(seconds, 1.1) == math.inf
    past = float(mem["friction_slow_nm"][4] / mem["law_slow_nm"][4])
    assert past - 1.0 == pytest.approx(0.1 * (1.0 - math.exp(-seconds / SLOW_S)), rel=1e-3)


def test_a_motor_of_three_tendons_is_looked_at_once_in_a_cycle() -> None:
    bench = Bare()
    m = bench.m
    m["n_motors"], m["tendon_motor"][:3] = 6, 0
    m["tendon_motor"][3:8] = range(1, 6)
    m["tendon_follows"][:3] = (0, 1, 1)
    bench.stamp()
    bench.s["motor_speed_rad_s"][:6] = 1.0
    check_friction(m, bench.mem, bench.z, bench.s)
    assert list(bench.mem["moved_s"][:6]) == [bench.dt_s] * 6


def test_windings_of_several_drives_warm_as_those_of_one() -> None:
    degc = []
    for drives in (1, 2):
        bench = Bare()
        bench.m["n_drives"] = drives
        bench.mem["last_torque_nm"][:8] = np.linspace(0.0, 2.0, 8)
        bench.z["motor_temperature_degc"][:8] = np.nan
        for _ in range(300):
            winding_temperatures(bench.m, bench.mem, bench.z, bench.s)
        degc.append(bench.s["winding_temperature_degc"][:8].copy())
    assert np.allclose(*degc, rtol=1e-12) and np.all(np.diff(degc[0]) > 0.0)


def test_each_motor_warms_by_its_own_drive() -> None:
    """Twice the capacity, half the rise in the first cycle; a hand of one motor has a model too."""
    bench = Bare()
    m, rise = bench.m, []
    m["n_drives"], m["thermal_winding_j_k"][1] = 2, 2.0 * m["thermal_winding_j_k"][0]
    bench.mem["last_torque_nm"][:8] = 1.0
    bench.z["motor_temperature_degc"][:8] = np.nan
    for motors in (8, 1):
        m["n_motors"], bench.mem["warm"] = motors, 0
        if motors == 1:
            m["n_drives"], m["thermal_winding_j_k"][1:], m["thermal_case_j_k"][1:] = 1, 0.0, 0.0
        winding_temperatures(m, bench.mem, bench.z, bench.s)
        rise.append(bench.s["winding_temperature_degc"][:2] - m["ambient_degc"])
    assert rise[0][0] > 0.0 and rise[0][1] == pytest.approx(0.5 * rise[0][0], rel=1e-3)
    assert rise[1][0] == pytest.approx(rise[0][0], rel=1e-9)
