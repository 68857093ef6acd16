"""Lever arms that depend on the angle: lengths, rows, stiffness and inverse agree; a hand with them runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.memory import new_memory
from hand.assembly.assemble import hand_sha256, model_of
from hand.assembly.mismatch import draw_mismatch
from hand.file import load_hand, parse_hand
from mechanics.coupling import add_geometric_stiffness, joint_torque, tendon_jacobian, tendon_lengths
from mechanics.finger_rows import move_rows, place_rows
from runtime.session import run_lockstep
from signals.records import RecordArray
from tests.rigs.mutations import TEXTS, refusal

PLAIN = TEXTS["n_plus_one"]
BENT = PLAIN.replace("[origin.tendons]", '[origin.tendons]\ndh_dq_curve_m = "assumed"')
for _name, _curve in {
    "t1": "flexion = [0.002, -0.0008, 0.0], distal = [0.0015, 0.0, -0.0003]",
    "t2": "flexion = [0.002, -0.0008, 0.0]",
    "t3": "flexion = [0.001, 0.0004, 0.0002]",
    "t4": "flexion = [0.001, 0.0004, 0.0002]",
}.items():
    BENT = BENT.replace(f'name = "{_name}",', f'name = "{_name}", dh_dq_curve_m = {{ {_curve} }},')
N, J, T = 3, 32, 64
poses = st.tuples(*[st.floats(-0.5, 1.5)] * N)


def model() -> RecordArray:
    return model_of(parse_hand(BENT, "x.toml"))


MODEL = model()


def at(q: tuple[float, ...]) -> np.ndarray:
    return np.concatenate([q, np.zeros(J - N)])


def lengths(q: np.ndarray) -> np.ndarray:
    out = np.zeros(T)
    tendon_lengths(MODEL[0], q, out)
    return out


def rows(q: np.ndarray) -> np.ndarray:
    out = np.zeros((T, J))
    tendon_jacobian(MODEL[0], q, out)
    return out


@given(poses)
def test_rows_are_the_derivative_of_lengths(q) -> None:
    step, P = 1e-6, rows(at(q))
    for j in range(N):
        d = np.zeros(J)
        d[j] = step
        np.testing.assert_allclose(
            P[:, j], (lengths(at(q) + d) - lengths(at(q) - d)) / (2 * step), atol=1e-10
        )
    assert np.abs(P - MODEL["P_tj_m"][0]).max() > 1e-5 or np.abs(q[1:]).max() < 0.1


@given(poses, st.lists(st.floats(1.0, 100.0), min_size=4, max_size=4))
def test_what_bends_the_path_is_stiffness(q, tension) -> None:
    """At constant tensions the joint torque changes with the angle as the curves' part of K says."""
    f, K, step = np.concatenate([tension, np.zeros(T - 4)]), np.zeros((J, J)), 1e-6
    add_geometric_stiffness(MODEL[0], at(q), f, K)
    for j in range(N):
        d, up, down = np.zeros(J), np.zeros(J), np.zeros(J)
        d[j] = step
        joint_torque(MODEL[0], rows(at(q) + d), f, up)
        joint_torque(MODEL[0], rows(at(q) - d), f, down)
        np.testing.assert_allclose(K[:, j], -(up - down) / (2 * step), atol=1e-6)


@given(poses)
def test_the_inverse_goes_along(q) -> None:
    memory, P = new_memory(), rows(at(q))
    place_rows(MODEL[0], rows(np.zeros(J)), memory[0])
    move_rows(MODEL[0], P, memory[0])
    inverse = memory[0]["pinv_fbk_1_m"][0, :N, :4]
    np.testing.assert_allclose(inverse, np.linalg.pinv(P[:4, :N]), atol=1e-6 * np.abs(inverse).max())


def test_a_hand_with_curved_paths_runs_and_without_its_curves_is_wrong(tmp_path) -> None:
    file, plain = tmp_path / "bent.toml", tmp_path / "plain.toml"
    file.write_text(BENT)
    plain.write_text(PLAIN)
    bent = run_lockstep(str(file), motion="open_close", seconds=2.5)
    straight = run_lockstep(str(plain), motion="open_close", seconds=2.5)
    assert not bent.in_fault, bent.report["faults"]
    error = {
        key: run.report["estimate_error_deg"]["rms"] for key, run in (("bent", bent), ("plain", straight))
    }
    assert error["bent"] < 1.5 * error["plain"], error
    q = at(tuple(bent.frames["truth"]["joint_angle_rad"].max(axis=0)[:N]))
    linear = MODEL["pinv_jt_1_m"][0, :N, :4] @ lengths(q)[:4]
    assert np.degrees(np.abs(linear - q[:N]).max()) > 10.0 * error["bent"]


def test_references_keep_a_pace_that_the_longest_lever_arm_allows() -> None:
    straight = model_of(parse_hand(PLAIN, "x.toml"))[0]
    high = math.radians(90.0)
    longest = 0.006 + high * (0.001 + high * (0.0004 + high * 0.0002))
    ours, theirs = (m["joint_acceleration_max_rad_s2"][1] for m in (MODEL[0], straight))
    assert ours == pytest.approx(theirs * 0.006 / longest, rel=1e-3)


def test_drawn_hands_have_drawn_curves_and_old_files_keep_their_hash() -> None:
    plant = draw_mismatch(MODEL, 1, parse_hand(BENT, "x.toml").tolerances)
    used = MODEL["P_tj_m"][0] != 0.0
    factor = plant["P_tj_m"][0][used] / MODEL["P_tj_m"][0][used]
    wanted = MODEL["curve_m"][0][used] * factor[:, np.newaxis]
    np.testing.assert_allclose(plant["curve_m"][0][used], wanted, rtol=1e-12)
    assert "dh_dq_curve_m" not in str(load_hand("hasy").model_dump(mode="json"))
    assert hand_sha256(parse_hand(BENT, "x")) != hand_sha256(parse_hand(PLAIN, "x"))


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("flexion = [0.002,", "flexoin = [0.002,", "tendons[0].dh_dq_curve_m.flexoin", "flexion"),
        ("flexion = [0.002,", "flexion = [0.02,", "tendons[0].dh_dq_curve_m.flexion", "keeps its sign"),
        (
            "flexion = [0.002, -0.0008, 0.0]",
            "flexion = [0.002]",
            "tendons[0].dh_dq_curve_m.flexion[1]",
            "number",
        ),
    ],
)
def test_a_wrong_curve_is_refused_where_it_stands(old: str, new: str, key: str, words: str) -> None:
    found = refusal(BENT.replace(old, new, 1))
    assert any(p.key == key and words in str(p) for p in found), [str(p) for p in found]


def test_a_tensegrity_base_has_no_curves() -> None:
    text = TEXTS["hasy"]
    row = "dh_dq_m_rad = { thumb_pip = "
    assert row in text
    found = refusal(text.replace(row, "dh_dq_curve_m = { thumb_pip = [1e-4, 0.0, 0.0] }, " + row, 1))
    assert any("no curves in a finger of kind tensegrity_base" in p.legal for p in found)
