"""Tendons without sensors: what a motor's torque says of their tensions, and when it says nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.memory import new_memory
from estimators.weights import load_beyond_nm, stretch_per_load_m_nm, unseen_counts
from hand.assembly.assemble import model_of
from hand.file import load_hand, parse_hand
from mechanics.friction import motor_friction_nm
from mechanics.springs import elongation_of_lever, lever_of_count
from signals.records import MEASUREMENT, STATE, new
from tests.rigs.mutations import TEXTS

MODEL = model_of(load_hand("orca_v2"))
M: Any = MODEL[0]
PAIR = np.flatnonzero(M["tendon_motor"][: M["n_tendons"]] == 5)
MOTOR = 5


def at_rest(tension_n: tuple[float, float], w: float = 0.0) -> Any:
    s = new(STATE)[0]
    s["tension_n"][PAIR] = tension_n
    s["tendon_stiffness_n_m"][: M["n_tendons"]] = 1.0 / (0.3 / 5030.0)
    s["motor_speed_rad_s"][MOTOR] = w
    return s


def friction_nm(w: float) -> float:
    g = (M[f"friction_gamma_{k}"][MOTOR] for k in ("1_s_rad", "2_nm", "3_nms_rad"))
    return float(motor_friction_nm(w, *g))


tensions = st.tuples(st.floats(4.0, 35.0), st.floats(4.0, 35.0))


@settings(max_examples=60, deadline=None)
@given(tensions, st.floats(-6.0, 6.0))
def test_a_torque_that_load_and_friction_explain_shows_nothing(pair: tuple[float, float], w: float) -> None:
    load = float(M["spool_radius_m"][PAIR] @ np.array(pair))
    torque = load + friction_nm(w)
    assert load_beyond_nm(M, at_rest(pair, w), int(PAIR[0]), torque) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(tensions, st.floats(-0.999, 0.999))
def test_a_motor_that_stands_may_be_held_by_its_friction(pair: tuple[float, float], share: float) -> None:
    load = float(M["spool_radius_m"][PAIR] @ np.array(pair))
    held = 0.5 * math.pi * float(M["friction_gamma_2_nm"][MOTOR])
    for t in PAIR:
        assert load_beyond_nm(M, at_rest(pair), int(t), load + share * held) == 0.0
        beyond = load_beyond_nm(M, at_rest(pair), int(t), load + held + 0.01)
        assert beyond == pytest.approx(0.01, rel=1e-9)


def test_a_load_stretches_the_pair_so_that_it_is_borne() -> None:
    """One is stretched, its antagonist let go by as much: the difference of tensions times the radius."""
    s = at_rest((12.0, 12.0))
    stretch = np.array([stretch_per_load_m_nm(M, s, int(t)) for t in PAIR])
    assert stretch[0] == pytest.approx(-stretch[1]) and stretch[0] > 0.0
    load = float((M["spool_radius_m"][PAIR] * s["tendon_stiffness_n_m"][PAIR]) @ stretch)
    assert load == pytest.approx(1.0)


def test_counts_converge_to_the_load_that_the_motor_bears() -> None:
    """A motor that turns steadily with a current: tensions come to the difference that it bears."""
    s, z, memory = at_rest((12.0, 12.0), 3.0), new(MEASUREMENT)[0], new_memory()
    mem, load, n = memory[0], 0.05, int(M["n_tendons"])
    mem["motor_ok"][:] = 1
    z["motor_current_a"][MOTOR] = (load + friction_nm(3.0)) / M["motor_torque_constant_nm_a"][MOTOR]
    s["motor_speed_rad_s"][MOTOR] = 3.0
    for t in range(n):
        e = 12.0 * 0.3 / 5030.0
        mem["length_m"][t] = e - M["elongation_offset_m"][t]
    s["dt_s"] = M["dt_s"]
    for _ in range(400):
        unseen_counts(M, z, mem, s)
        for t in PAIR:
            lever = lever_of_count(M, int(t), mem["hall_count"][t])
            s["tension_n"][t], e = elongation_of_lever(M, int(t), lever)
            s["lever_angle_rad"][t] = lever
            mem["length_m"][t] = e - M["elongation_offset_m"][t]
    found = float(M["spool_radius_m"][PAIR] @ s["tension_n"][PAIR])
    band = friction_nm(1e9) - M["friction_gamma_3_nms_rad"][MOTOR] * 1e9 - friction_nm(3.0)
    held = band + M["friction_gamma_3_nms_rad"][MOTOR] * 3.0  # what dry friction may still hold at this speed
    assert 0.0 < held < 0.05 * load
    assert found == pytest.approx(load, abs=1.001 * held)
    assert s["tension_n"][PAIR].mean() == pytest.approx(12.0, rel=1e-3)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_current_that_is_no_number_leaves_what_was_known(bad: float) -> None:
    s, z, memory = at_rest((12.0, 12.0)), new(MEASUREMENT)[0], new_memory()
    z["motor_current_a"][:] = bad
    memory[0]["motor_ok"][:] = 1
    memory[0]["length_m"][:] = 12.0 * 0.3 / 5030.0 - M["elongation_offset_m"]
    unseen_counts(M, z, memory[0], s)
    t = int(PAIR[0])
    tension, _ = elongation_of_lever(M, t, lever_of_count(M, t, memory[0]["hall_count"][t]))
    assert tension == pytest.approx(12.0, rel=1e-6)


def without_sensors_at(*tendons: str) -> Any:
    """The N+1 finger, four tendons at three joints, without some of its sensors and without feedback."""
    lines = [k for k in TEXTS["n_plus_one"].splitlines() if not any(f'at = "{t}"' in k for t in tendons)]
    text = "\n".join(lines).replace("tension_kp_nm_n = ", "tension_kp_nm_n = 0.0 #")
    return model_of(parse_hand(text, "hand.toml"))[0]


def test_currents_count_only_where_sensors_do_not_tell_the_joints() -> None:
    m = without_sensors_at("t1")
    assert m["length_weight"][:4].tolist() == m["hall_weight"][:4].tolist() == [0.0, 1.0, 1.0, 1.0]
    m = without_sensors_at("t1", "t2")
    assert m["hall_weight"][:4].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert (m["length_weight"][2:4] == 1.0).all()
    assert (m["length_weight"][:2] > 0.0).all() and (m["length_weight"][:2] < 1e-3).all()
    assert m["residual_limit_m"][0] > 0.0 and M["residual_limit_m"][:6].max() == 0.0
