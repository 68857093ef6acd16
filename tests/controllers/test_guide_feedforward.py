"""Feedforward of joint friction and guide losses: what the plant's own take at any pose, speed, tension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.guide_feedforward import STRETCH_SHARE, add_guide_torques
from controllers.memory import new_controller_memory
from controllers.tension_modes import wanted_paths
from hand.options import RunOptions
from mechanics.collocated import begin_feedback, joint_feedback
from mechanics.finger_rows import place_rows
from runtime.setup import read_hand
from signals.modes import Mode, SensorLevel
from signals.records import STATE, new
from sim.paths import update_paths
from sim.plant import update_tensions
from tests.rigs.bench_hand import Bench, model
from tests.rigs.desk import Desk

HANDS = ("finger_bench", "hasy", "n_plus_one")
SEEDS = st.integers(0, 2**32 - 1)


class Case:
    """A plant near its start pose, every motor, joint and axis of it turned and moving at random."""

    def __init__(self, hand: str, seed: int, speed_rad_s: float = 2.0, axes: bool = True) -> None:
        draw = np.random.default_rng(seed)
        self.m = model(hand)[0]
        self.plant = Bench(model(hand), sensors=SensorLevel.IDEAL).bus.plant[0]
        p, self.nj, self.nt, na = self.plant, *(int(self.m[n]) for n in ("n_joints", "n_tendons", "n_axes"))
        p["q_rad"][: self.nj] += draw.uniform(-0.05, 0.05, self.nj)
        p["theta_rad"][: int(self.m["n_motors"])] += draw.uniform(-0.05, 0.05, int(self.m["n_motors"]))
        p["qd_rad_s"][: self.nj] = draw.uniform(-speed_rad_s, speed_rad_s, self.nj)
        p["axis_rad_s"][:na] = draw.uniform(-0.5, 0.5, na) if axes else 0.0
        self.look()

    def look(self) -> None:
        """Tensions at the springs and in the fingers of the plant's present speeds."""
        update_paths(self.m, self.plant)
        update_tensions(self.m, self.plant)

    @property
    def qd(self) -> Any:
        return self.plant["qd_rad_s"][: self.nj]

    def resisted_nm(self) -> Any:
        """Torque with which joints and guides resist, of the plant's tensions before and behind them."""
        P = self.plant["P_tj_m"][: self.nt, : self.nj]
        more = self.plant["finger_tension_n"][: self.nt] - self.plant["tension_n"][: self.nt]
        viscous, coulomb = (self.m[n][: self.nj] for n in ("joint_viscous_nms_rad", "joint_coulomb_nm"))
        sign = self.qd / np.hypot(self.qd, self.m["joint_friction_speed_rad_s"])
        return P.T @ more + viscous * self.qd + coulomb * sign

    def given_nm(self, gain: float = 1.0, used: int = 1) -> Any:
        """Feedforward for the plant's speeds and tensions as the wanted ones."""
        m, mem, s = self.m, new_controller_memory()[0], new(STATE)[0]
        m["guide_gain"], m["use_guides"] = gain, used
        place_rows(m, self.plant["P_tj_m"], mem)
        mem["joint_speed_rad_s"][: self.nj] = self.qd
        na = int(m["n_axes"])
        mem["wrist_speed_m_s"] = self.plant["P_tw_m"][:, :na] @ self.plant["axis_rad_s"][:na]
        mem["ref_tension_n"] = self.plant["tension_n"]
        for f in range(int(m["n_fingers"])):
            mem["torque"] = 0.0
            wanted_paths(m, mem, f)
            add_guide_torques(m, mem, s, f)
            joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
            assert list(mem["torque"][: len(joints)]) == list(s["guide_torque_nm"][joints])
        return s["guide_torque_nm"][: self.nj].copy()


@settings(max_examples=40)
@given(st.sampled_from(HANDS), SEEDS, st.sampled_from((0.02, 0.3, 4.0)))
def test_at_full_gain_it_is_what_the_plants_joints_and_guides_take(hand: str, seed: int, fast: float) -> None:
    case = Case(hand, seed, fast)
    resisted = case.resisted_nm()
    assert abs(resisted).max() > 1e-3
    assert case.given_nm() == pytest.approx(resisted, rel=1e-9, abs=1e-12)


@given(st.sampled_from(HANDS), SEEDS, st.floats(-1.0, 3.0))
def test_it_never_gives_more_power_than_friction_takes(hand: str, seed: int, gain: float) -> None:
    case = Case(hand, seed, axes=False)
    torque, bounded = case.given_nm(gain), min(max(gain, 0.0), 1.0)
    taken_w = float(case.resisted_nm() @ case.qd)
    assert taken_w > 0.0
    assert float(torque @ case.qd) == pytest.approx(bounded * taken_w, rel=1e-9, abs=1e-15)


@given(st.sampled_from(HANDS), SEEDS)
def test_it_turns_round_with_the_motion(hand: str, seed: int) -> None:
    case = Case(hand, seed)
    forward = case.given_nm()
    case.plant["qd_rad_s"] *= -1.0
    case.plant["axis_rad_s"] *= -1.0
    assert case.given_nm() == pytest.approx(-forward, rel=1e-12, abs=1e-15)


@given(st.sampled_from(HANDS), SEEDS)
def test_at_rest_it_is_zero_and_rises_smoothly_from_there(hand: str, seed: int) -> None:
    """Its slope is continuous through zero: half the speed gives half of it, as the speed goes to zero."""
    case = Case(hand, seed)
    fast = case.plant["qd_rad_s"].copy(), case.plant["axis_rad_s"].copy()
    found = []
    for share in (2e-6, 1e-6, 0.0, -1e-6):
        case.plant["qd_rad_s"], case.plant["axis_rad_s"] = share * fast[0], share * fast[1]
        found.append(case.given_nm())
    twice, once, rest, back = found
    assert not rest.any()
    assert abs(once).max() > 0.0
    assert twice == pytest.approx(2.0 * once, rel=1e-3, abs=1e-12)
    assert back == pytest.approx(-once, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("gain", "used"), [(0.8, 0), (0.0, 1)])
def test_switched_off_or_left_out_it_adds_nothing(gain: float, used: int) -> None:
    assert not Case("hasy", 1).given_nm(gain, used).any()


def test_guides_without_losses_leave_the_joints_friction() -> None:
    """``--guides ideal``: what the simulated hand does not lose, its controller does not make up for."""
    for guides, lost in (("friction", True), ("ideal", False)):
        m = read_hand(RunOptions(hand="hasy", guides=guides)).model
        assert bool(m["guide_loss_frac"].any()) is lost
        assert m["use_guides"][0] == 1 and m["guide_gain"][0] == 0.8


@pytest.mark.parametrize("torque_nm", [0.0, 0.6, 3.0])
def test_the_tensions_keep_their_bounds_with_it(torque_nm: float) -> None:
    """It is part of the wanted torque: what is not feasible with it is scaled as any other torque."""
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    desk.look()
    desk.goal["finger_mode"][0, 0] = int(Mode.JOINT_IMPEDANCE)
    desk.goal["joint_angle_rad"][0, :4] = 0.0, 1.2, 1.2, 1.0
    desk.goal["joint_torque_nm"][0, 1:4] = torque_nm
    desk.to_active()
    seen, m, s = 0.0, desk.m, desk.state[0]
    for _ in range(600):
        desk.look()
        desk.steer()
        f, given = s["ref_tension_n"][:8], s["guide_torque_nm"][:4]
        assert (m["tension_min_n"][:8] - 1e-9 <= f).all() and (f <= m["tension_max_n"][:8] + 1e-9).all()
        wanted = s["torque_scale"][0] * s["ref_joint_torque_nm"][:4]
        assert s["cmd_joint_torque_nm"][:4] == pytest.approx(wanted, abs=1e-8)
        seen = max(seen, float(given.max()))
    assert seen > 0.01
    assert (s["torque_scale"][0] < 1.0) == (torque_nm > 0.0)


@pytest.mark.parametrize("hand", HANDS)
def test_what_motors_wind_to_stretch_tendons_for_it_is_no_motion_of_the_joints(hand: str) -> None:
    """The share of the least tensions that make its torque, over stiffness, is wound: the feedback stays."""
    case = Case(hand, 3)
    m, mem, s, P = case.m, new_controller_memory()[0], new(STATE)[0], case.plant["P_tj_m"]
    m["guide_gain"], m["use_guides"] = 0.8, 1
    place_rows(m, P, mem)
    mem["joint_speed_rad_s"][: case.nj], mem["ref_tension_n"] = case.qd, case.plant["tension_n"]
    s["tendon_stiffness_n_m"] = np.linspace(5e3, 3e4, len(P))
    for f in range(int(m["n_fingers"])):
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        motors = m["tendon_motor"][tendons]
        begin_feedback(m, mem, s, f)
        for wound in (STRETCH_SHARE, 0.0):  # what it was stays stretched
            before = s["guide_torque_nm"][joints].copy()
            wanted_paths(m, mem, f)
            add_guide_torques(m, mem, s, f)
            rise = s["guide_torque_nm"][joints] - before
            assert np.any(rise != 0.0) == (wound != 0.0)
            tensions = np.linalg.lstsq(-P[np.ix_(tendons, joints)].T, rise)[0]
            stretch = wound * tensions / s["tendon_stiffness_n_m"][tendons]
            s["motor_angle_rad"][motors] += stretch / m["spool_radius_m"][tendons]
            joint_feedback(m, mem, s, f)
            assert mem["feedback_rad"][joints] == pytest.approx(np.zeros(len(joints)), abs=1e-12)
