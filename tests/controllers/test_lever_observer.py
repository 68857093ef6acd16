"""True tensions in tendon force: the plant's lever loop is followed, by its bounds, and by motors alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.lever_observer import (
    begin_observer,
    compliance_m_n,
    observe_tensions,
    turned_compliance_m_n,
    within_bounds_n,
)
from controllers.memory import new_controller_memory
from hand.options import RunOptions
from mechanics.leverloop import loop_state
from mechanics.springs import elongation_of_lever, spring_at, stiffness_of_force
from runtime.session import run_lockstep
from runtime.setup import read_hand
from signals.modes import Mode, SensorLevel
from signals.records import STATE, new
from tests.rigs.bench_hand import Bench, model
from tests.rigs.desk import Desk

TENDONS = 8


class Seen:
    """What the estimator would say of a plant's truth without any error, and the observer of it."""

    def __init__(self, gain: float = 1.0, used: int = 1, friction: bool = True) -> None:
        plant = model()
        self.bench = Bench(plant, sensors=SensorLevel.FULL)
        self.m = plant.copy()[0]
        self.m["lever_gain"], self.m["use_lever"] = gain, used
        if not friction:
            self.m["lever_friction_frac"] = 0.0
        self.mem, self.s = new_controller_memory()[0], new(STATE)[0]
        self.look()
        for t in range(TENDONS):
            begin_observer(self.mem, self.s, t)

    def look(self, noise_rad: Any = 0.0) -> None:
        """State of the truth now; ``noise_rad`` is added to the levers, shape (8,) or a number."""
        s, m, truth = self.s, self.m, self.bench.truth
        s["motor_angle_rad"] = truth("motor_angle_rad")
        s["lever_angle_rad"] = truth("lever_angle_rad") + np.resize(noise_rad, s["lever_angle_rad"].shape)
        for t in range(TENDONS):
            s["tension_n"][t], _ = elongation_of_lever(m, t, s["lever_angle_rad"][t])
        P, q = m["P_tj_m"], truth("joint_angle_rad")
        s["tendon_length_m"] = P @ q[: P.shape[1]]
        observe_tensions(m, self.mem, s, 0)

    @property
    def measured(self) -> Any:
        return self.s["tension_n"][:TENDONS]

    @property
    def observed(self) -> Any:
        return self.s["observed_tension_n"][:TENDONS]

    def shake(self, cycles: int, amperes: float = 0.68) -> Any:
        """(measured - true, observed - true) of every cycle; motors wind and unwind all tendons together."""
        self.bench.hold()
        base = self.bench.command["motor_current_a"][0].copy()
        found = []
        for k in range(cycles):
            self.bench.command["motor_current_a"][0] = base + amperes * np.sin(2 * np.pi * k / 1500) * (
                base > 0
            )
            self.bench.step()
            self.look()
            true = self.bench.truth("tension_n", TENDONS)
            found.append((self.measured - true, self.observed - true))
        return np.array(found)[cycles // 4 :]


def rms(errors: Any) -> float:
    return float(np.sqrt((errors**2).mean()))


def test_the_plants_loop_is_followed_to_a_thousandth_of_what_it_hides() -> None:
    seen = Seen()
    hidden, left = np.moveaxis(seen.shake(3000), 1, 0)
    assert rms(hidden) > 1.5
    assert rms(left) < 1e-3 * rms(hidden)


def test_a_share_of_the_loop_is_put_back_as_the_gain_says() -> None:
    hidden, half = np.moveaxis(Seen(gain=0.5).shake(3000), 1, 0)
    assert rms(half) == pytest.approx(0.5 * rms(hidden), rel=1e-3)


@pytest.mark.parametrize(
    "choices", [{"gain": 0.0}, {"gain": -1.0}, {"used": 0}, {"friction": False}], ids=str
)
def test_switched_off_left_out_or_without_friction_it_is_what_was_measured(choices: Any) -> None:
    hidden, left = np.moveaxis(Seen(**choices).shake(300), 1, 0)
    assert np.array_equal(hidden, left)


def test_noise_of_the_sensors_does_not_turn_the_loop() -> None:
    """Levers shake by a third of a presliding length, motors stand: the share put back stays where it was."""
    seen, draw = Seen(), np.random.default_rng(3)
    seen.shake(1200)
    before = seen.mem["loop_sign"][:TENDONS].copy()
    assert abs(before).max() > 0.3
    presliding = seen.m["lever_presliding_rad"][:TENDONS]
    for _ in range(600):
        seen.look(np.resize(presliding / 3.0 * draw.standard_normal(TENDONS), seen.m["spool_radius_m"].shape))
    assert seen.mem["loop_sign"][:TENDONS] == pytest.approx(before, abs=0.05)


@given(st.floats(0.0, 250.0), st.floats(-1.0, 1.0), st.floats(0.0, 0.2))
def test_no_tension_is_led_beyond_its_bounds(measured: float, sign: float, frac: float) -> None:
    """What a loop that reads this leads to the bound is, as measured, within it; between them it is free."""
    least, most = 5.0, 120.0
    seen = within_bounds_n(measured * (1.0 + frac * sign), measured, least, most)
    assert abs(seen - measured) <= frac * measured + 1e-12
    if measured >= most:
        assert seen >= measured
    if measured <= least:
        assert seen <= measured
    if least * (1.0 + frac) / (1.0 - frac) <= measured <= most / (1.0 + frac):
        assert seen == measured * (1.0 + frac * sign)


@given(st.floats(0.0, 250.0), st.floats(-1.0, 1.0), st.floats(1e-9, 1e-6))
def test_the_bounds_make_no_step(measured: float, sign: float, near: float) -> None:
    one, other = (within_bounds_n(f * (1.0 + 0.2 * sign), f, 5.0, 120.0) for f in (measured, measured + near))
    assert abs(other - one) <= 2.0 * near + 1e-12


def test_it_begins_without_a_step_and_is_none_in_other_modes() -> None:
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    desk.goal["tendon_force_n"][0, :TENDONS] = 25.0
    observed, measured = desk.state["observed_tension_n"][0], desk.state["tension_n"][0]
    for mode in (Mode.TENDON_FORCE, Mode.JOINT_IMPEDANCE, Mode.TENDON_FORCE):
        desk.goal["finger_mode"][0, 0] = int(mode)
        desk.to_active()
        desk.cycle()
        wanted = measured[:TENDONS] if mode is Mode.TENDON_FORCE else np.zeros(TENDONS)
        assert observed[:TENDONS] == pytest.approx(wanted, rel=1e-3)
        desk.cycle(30)


@pytest.mark.parametrize(("sensors", "friction"), [("full", True), ("quantised", False), ("ideal", False)])
def test_levers_that_are_simulated_without_friction_hide_nothing(sensors: str, friction: bool) -> None:
    assert bool(read_hand(RunOptions(sensors=sensors)).model["lever_friction_frac"].any()) is friction


@given(st.floats(0.1, 0.9), st.floats(-0.98, 0.98), st.sampled_from([-1.0, 1.0]))
def test_the_motors_way_for_a_tension_is_that_of_the_loop_as_it_turns(
    share: float, sign: float, side: float
) -> None:
    """Oracle: the plant's own loop, a tenth of a micrometre further: much less than what turns it."""
    m, mem, s = model().copy()[0], new_controller_memory()[0], new(STATE)[0]
    low, high = m["lever_calibrated_min_rad"][0], m["lever_max_rad"][0]
    lever = low + share * (high - low)
    force, _, path, _ = spring_at(m, 0, lever)
    tension = force * (1.0 + m["lever_friction_frac"][0] * sign)
    elongation = tension * m["tendon_compliance_m_n"][0] - path
    way = 1e-7 * side
    _, after, _ = loop_state(m, 0, elongation + way, lever, sign)
    mem["loop_lever_rad"][0], mem["loop_sign"][0] = lever, sign
    compliance = turned_compliance_m_n(m, mem, s, 0, 50.0 * side)
    assert compliance == pytest.approx(way / (after - tension), rel=5e-3)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_where_a_tension_turns_round_the_motor_hardly_moves_and_further_on_as_for_the_measured_one(
    side: float,
) -> None:
    """A loop that is turned leaves a factor between true and measured tension."""
    seen = Seen()
    seen.mem["loop_sign"][0] = side
    seen.s["tendon_stiffness_n_m"][0] = stiffness_of_force(seen.m, 0, seen.s["tension_n"][0])
    plain, frac = compliance_m_n(seen.s, 0), float(seen.m["lever_friction_frac"][0])
    assert turned_compliance_m_n(seen.m, seen.mem, seen.s, 0, -50.0 * side) < 0.5 * plain
    cord = float(seen.m["tendon_compliance_m_n"][0])
    further = cord + (plain - cord) / (1.0 + frac * side)
    assert turned_compliance_m_n(seen.m, seen.mem, seen.s, 0, 50.0 * side) == pytest.approx(further, rel=0.01)


@pytest.mark.parametrize("choices", [{"gain": 0.0}, {"used": 0}, {"friction": False}], ids=str)
def test_without_a_loop_that_is_put_back_the_way_is_that_of_the_measured_tension(choices: Any) -> None:
    seen = Seen(**choices)
    seen.s["tendon_stiffness_n_m"][:TENDONS] = 7000.0
    for rate in (-50.0, 0.0, 50.0):
        assert turned_compliance_m_n(seen.m, seen.mem, seen.s, 0, rate) == compliance_m_n(seen.s, 0)


def test_the_wrists_sensors_do_not_turn_the_loops_of_the_tendons_that_run_through_it() -> None:
    """A tendon far from the wrist's axes has a path that shakes with them."""
    found = run_lockstep("hasy", motion="force_sine", seconds=2.0, every=1)
    assert found.report["faults"] == []
    late, n = found.seconds > 1.0, int(found.rig.hand.model[0]["n_tendons"])
    state, true = found.frames["state"][late], found.frames["truth"][late]["tension_n"][:, :n]
    hidden, left = (
        np.sqrt(((state[name][:, :n] - true) ** 2).mean(axis=0))
        for name in ("tension_n", "observed_tension_n")
    )
    assert (left < hidden / 4.0).all()
