"""Tensions without a search: those of the search wherever no bound is active, and refused elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.free_tensions import free_tensions, note_invertible
from controllers.memory import new_controller_memory
from mechanics.coupling import tendon_jacobian
from mechanics.finger_rows import place_rows
from signals.compiled import law
from tests.controllers.test_distribution import FloatArray, solve
from tests.rigs.desk import model_record

HASY = model_record("hasy")
LOW_N, HIGH_N = 3.0, 120.0
THUMB = int(np.argmax(HASY[0]["finger_kind"]))


@law
def _free(model: object, memory: object, P: FloatArray, f: int) -> bool:
    m, w = model[0], memory[0]  # type: ignore[index]
    place_rows(m, P, w)
    note_invertible(m, w)
    return free_tensions(m, w, f)


def answer(
    model: FloatArray, f: int, share: FloatArray, torque: FloatArray, common: float
) -> tuple[bool, FloatArray, FloatArray, FloatArray]:
    """(found, tensions, the finger's P, torque of its joints) at a pose."""
    m, memory = model[0], new_controller_memory()
    n, q = int(m["n_joints"]), np.zeros(m["P_tj_m"].shape[1])
    q[:n] = (m["joint_min_rad"] + share[0] * (m["joint_max_rad"] - m["joint_min_rad"]))[:n]
    P = np.zeros_like(m["P_tj_m"])
    tendon_jacobian(m, q, P)
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
    w = memory[0]
    w["torque"][: len(joints)] = torque[: len(joints)]
    w["preferred"], w["low_all"], w["high_all"] = common, LOW_N, HIGH_N
    found = bool(_free(model, memory, P, f))
    return found, w["tension"][: len(tendons)].copy(), P[np.ix_(tendons, joints)], w["torque"][: len(joints)]


@given(
    st.integers(0, int(HASY[0]["n_fingers"]) - 1),
    st.floats(0.1, 0.9),
    st.lists(st.floats(-0.4, 0.4), min_size=8, max_size=8),
    st.floats(LOW_N, 60.0),
)
def test_the_free_tensions_are_those_of_the_search(f, share, torque, common):
    found, tension, P, asked = answer(HASY, f, np.array([share]), np.array(torque), common)
    n = len(P)
    given_share, searched = solve(P, asked, np.full(n, common), np.full(n, LOW_N), np.full(n, HIGH_N))
    if found:
        assert given_share == 1.0 and tension == pytest.approx(searched, abs=1e-7)
        assert P.T @ tension == pytest.approx(-asked, abs=1e-12)
    else:
        at_bound = np.isclose(searched, LOW_N, atol=1e-6) | np.isclose(searched, HIGH_N, atol=1e-6)
        assert given_share < 1.0 or at_bound.any()


def test_without_a_torque_the_preferred_tensions_are_not_always_free_of_one():
    """Common tensions of a finger whose tendons do not balance make a torque: that is taken out."""
    found, tension, P, _ = answer(HASY, 0, np.array([0.5]), np.zeros(8), 20.0)
    assert found and P.T @ tension == pytest.approx(0.0, abs=1e-12)


def test_a_finger_that_cannot_give_every_torque_is_left_to_the_search():
    model = HASY.copy()
    m, f = model[0], 0
    lame = int(m["finger_joint"][f, 3])
    m["P_tj_m"][:, lame] = 0.0
    m["pinv_jt_1_m"][lame] = 0.0
    assert not answer(model, f, np.array([0.5]), np.zeros(8), 20.0)[0]


def test_a_base_whose_tendons_are_parallel_is_left_to_the_search():
    m = HASY[0]
    tendons = m["finger_tendon"][THUMB, : m["finger_n_tendons"][THUMB]]
    joints = m["finger_joint"][THUMB, :2]
    memory, P = new_controller_memory(), m["P_tj_m"].copy()
    P[np.ix_(tendons, joints)] = 0.01
    memory[0]["preferred"], memory[0]["low_all"], memory[0]["high_all"] = 20.0, LOW_N, HIGH_N
    assert not _free(HASY, memory, P, THUMB)
