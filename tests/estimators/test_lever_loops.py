"""Lever friction loops by Hall sensors: the plant's loop is followed, rest turns nothing, off is off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from estimators.lever_loops import SLOW_HZ, begin_loops, follow_loops
from estimators.memory import new_memory
from estimators.tension import read_tensions
from mechanics.hysteresis import dahl, play
from mechanics.springs import count_of_lever, lever_of_count, spring_at
from runtime.session import run_lockstep
from signals.modes import SensorLevel
from signals.records import STATE, new
from tests.rigs.bench_hand import Bench, model

TENDONS = 8
WAY = slice(0, TENDONS)


class Reader:
    """The estimator's look at levers alone."""

    def __init__(self, gain: float = 1.0, used: int = 1) -> None:
        self.m = model()[0]
        self.m["lever_gain"], self.m["use_lever"] = gain, used
        self.mem, self.s = new_memory()[0], new(STATE)[0]

    def read(self, count: Any) -> None:
        """One cycle with counts of all tendons, shape (8,) or a number."""
        self.mem["hall_count"][WAY] = count
        read_tensions(self.m, self.mem, self.s)
        self.mem["started"] = 1

    def springs(self) -> tuple[Any, Any]:
        """(force [N], path [m]) of the mechanisms alone at the levers that were read."""
        found = np.array([spring_at(self.m, t, float(self.s["lever_angle_rad"][t])) for t in range(TENDONS)])
        return np.maximum(found[:, 0], 0.0), found[:, 2]


def stretch(reader: Reader) -> Any:
    """Elongation without the mechanism's path, over the stretch of the measured tension."""
    force, path = reader.springs()
    compliance = reader.m["tendon_compliance_m_n"][WAY]
    return (reader.s["elongation_m"][WAY] + path) / (compliance * force)


@pytest.mark.parametrize("beyond", [-0.3, 0.0, 0.2, 0.5, 0.9, 1.0, 1.3])
def test_springs_are_read_as_their_tables_say_on_both_sides_of_the_stops(beyond: float) -> None:
    reader = Reader(gain=0.0)
    spring = reader.m["tendon_spring"][0]
    low, high = float(reader.m["lever_min_rad"][spring]), float(reader.m["lever_max_rad"][spring])
    reader.read(count_of_lever(reader.m, 0, low + beyond * (high - low)))
    force, path = reader.springs()
    assert reader.s["tension_n"][WAY] == pytest.approx(force, rel=1e-11, abs=1e-11)
    elongation = reader.m["tendon_compliance_m_n"][WAY] * force - path
    assert reader.s["elongation_m"][WAY] == pytest.approx(elongation, rel=1e-11, abs=1e-15)


def test_the_plants_loop_is_followed_behind_noise_rounding_and_the_magnets_play() -> None:
    bench, reader = Bench(model(), sensors=SensorLevel.FULL, seed=3), Reader()
    bench.hold()
    base, found = bench.command["motor_current_a"][0].copy(), []
    for k in range(4500):
        bench.command["motor_current_a"][0] = base + 0.68 * math.sin(2 * math.pi * k / 1500) * (base > 0)
        bench.step()
        reader.read(bench.measurement["hall_fine_count"][0, WAY])
        true = bench.truth("tension_n", TENDONS)
        measured, share = reader.s["tension_n"][WAY], reader.mem["loop_frac"][WAY]
        told = measured * (1.0 + share * reader.mem["loop_sign"][WAY])
        found.append((measured - true, told - true))
    as_read, put_back = np.sqrt(np.mean(np.array(found)[1500:] ** 2, axis=(0, 2)))
    assert as_read > 1.5
    assert put_back < 0.35 * as_read


def test_a_course_far_above_the_noise_turns_the_loop_by_dahls_law_as_late_as_its_plays() -> None:
    """Late by the magnet's play, the band and the filter; what the magnet hid is put back."""
    reader = Reader()
    m, width = reader.m, float(reader.m["hall_hysteresis_rad"][0])
    presliding, start = float(m["lever_presliding_rad"][0]), lever_of_count(m, 0, 2048.0)
    phase = np.linspace(0.0, 4.0 * math.pi, 12_000)
    lever = start + 8.0 * presliding * np.sin(phase)
    turn, magnet, state, before = start, start, 0.0, start
    travel, errors = [], []
    for way, x in zip(np.sign(np.cos(phase)).tolist(), lever.tolist(), strict=True):
        magnet, state, before = play(magnet, x, width), dahl(state, x - before, presliding), x
        reader.read(count_of_lever(m, 0, magnet))
        turn = start + way * -8.0 * presliding if len(errors) > 3000 else start
        travel.append(abs(x - turn))
        errors.append(abs(float(reader.mem["loop_sign"][0]) - state))
    speed = float(np.abs(np.diff(lever)).max()) / float(m["dt_s"])
    late = 2.0 * float(reader.mem["loop_band_rad"][0]) + speed / (2.0 * math.pi * SLOW_HZ)
    way, error = np.array(travel)[3000:], np.array(errors)[3000:]
    assert error.max() < 2.0 * -math.expm1(-(width + late) / presliding)
    put_back = way > 2.0 * width + late
    left = 2.0 * math.expm1(late / presliding) * np.exp(-way / presliding)
    assert np.all(error[put_back] < left[put_back] + 1e-3)


def test_a_lever_at_rest_keeps_its_loop_whatever_the_noise() -> None:
    reader, rng = Reader(), np.random.default_rng(5)
    for k in range(600):
        reader.read(2048.0 - 0.2 * k)
    turned = reader.mem["loop_sign"][WAY].copy()
    assert abs(turned).min() > 0.9
    for _ in range(9000):
        reader.read(np.floor(1928.0 + rng.standard_normal(TENDONS) + 0.5))
    assert reader.mem["loop_sign"][WAY] == pytest.approx(turned, abs=0.25)


@pytest.mark.parametrize("switch", [{"gain": 0.0}, {"used": 0}])
def test_switched_off_the_elongation_is_that_of_the_measured_tension(switch: dict[str, Any]) -> None:
    reader = Reader(**switch)
    for k in range(300):
        reader.read(2048.0 - 0.5 * k)
    assert stretch(reader) == pytest.approx(np.ones(TENDONS), rel=1e-9)


def test_a_tendon_without_a_sensor_has_no_loop_and_gains_are_shares() -> None:
    reader = Reader(gain=0.5)
    reader.m["hall_weight"][3] = 0.0
    for k in range(1000):
        reader.read(2048.0 - 0.5 * k)
    hidden = 0.5 * reader.m["lever_friction_frac"][WAY]
    hidden[3] = 0.0
    assert stretch(reader) == pytest.approx(1.0 + hidden, rel=1e-6)


def test_a_jump_of_a_count_turns_the_loop_to_its_end_and_not_beyond() -> None:
    m, mem, s = model()[0], new_memory()[0], new(STATE)[0]
    begin_loops(m, mem, s)
    for jump in (-3.0, 3.0, -1e6):
        for _ in range(300):
            s["lever_angle_rad"][WAY] = jump
            follow_loops(m, mem, s)
            assert np.all(np.abs(mem["loop_sign"][WAY]) <= 1.0)
        assert mem["loop_sign"][WAY] == pytest.approx(-math.copysign(1.0, jump) * np.ones(TENDONS), abs=1e-3)


def test_joint_angles_come_nearer_to_the_truth() -> None:
    on, off = (
        run_lockstep(motion="open_close", seconds=2.0, without=without, every=0).report["estimate_error_deg"]
        for without in ((), ("lever",))
    )
    assert on["rms"] < 0.5 * off["rms"]
