"""Drawn plants: repeatable, as wide as the tolerances say, consistent in themselves."""

from __future__ import annotations

import numpy as np
import pytest

from hand.assembly.assemble import model_of
from hand.assembly.mismatch import draw_axis_zeros_rad, draw_mismatch
from hand.file import load_hand
from hand.file.control import Tolerances
from signals.table import TABLE

HAND = load_hand("hasy")
MODEL = model_of(HAND)
NONE = Tolerances(**dict.fromkeys(Tolerances.model_fields, 0.0))
DRAWN = {
    "friction_gamma_2_nm": "friction",
    "friction_gamma_3_nms_rad": "friction",
    "motor_inertia_kg_m2": "inertia",
    "motor_torque_constant_nm_a": "torque_constant",
    "ripple_amplitude_nm": "ripple_amplitude",
    "spool_radius_m": "pulley_radius",
    "P_tj_m": "pulley_radius",
    "spring_scale": "spring_constant",
    "guide_loss_frac": "guide_coefficient",
    "finger_tip_m": "bone_length",
}
FOLLOWING = {
    "elongation_goal_m",
    "motor_torque_limit_nm",
    "ripple_phase_rad",
    "insertion_bone_m",
    "body_origin_m",
    "body_com_m",
    "thumb_metacarpal_m",
    "pinv_jt_1_m",
    "elongation_offset_m",
    "hall_rest_count",
}


def test_a_seed_is_a_hand_and_the_model_stays_as_it_was() -> None:
    before = MODEL.copy()
    first, again, other = (draw_mismatch(MODEL, seed, HAND.tolerances) for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes() != other.tobytes()
    assert MODEL.tobytes() == before.tobytes()


def test_without_tolerances_nothing_changes() -> None:
    drawn = draw_mismatch(MODEL, 1, NONE)
    for signal in TABLE["model"]:
        np.testing.assert_allclose(drawn[signal.name], MODEL[signal.name], rtol=1e-12, err_msg=signal.name)


def test_exactly_the_documented_fields_differ() -> None:
    drawn = draw_mismatch(MODEL, 1, HAND.tolerances)
    differ = {s.name for s in TABLE["model"] if not np.array_equal(drawn[s.name], MODEL[s.name])}
    assert differ == set(DRAWN) | FOLLOWING


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", list(DRAWN))
def test_the_spread_of_many_hands_is_the_tolerance(name: str) -> None:
    sigma = getattr(HAND.tolerances, DRAWN[name])
    nominal = np.asarray(MODEL[name][0])
    used = nominal != 0.0
    factors = np.concatenate(
        [draw_mismatch(MODEL, seed, HAND.tolerances)[name][0][used] / nominal[used] for seed in range(25)]
    )
    assert factors.std() == pytest.approx(sigma, rel=0.25)
    assert factors.mean() == pytest.approx(1.0, abs=0.25 * sigma)
    assert np.abs(factors - 1.0).max() <= 3.0 * sigma + 1e-12


def test_quantities_are_drawn_apart() -> None:
    """Widening one tolerance leaves the draws of all others where they were."""
    wide = HAND.tolerances.model_copy(update={"friction": 0.4})
    first, second = (draw_mismatch(MODEL, 7, t) for t in (HAND.tolerances, wide))
    for name in DRAWN:
        if DRAWN[name] != "friction":
            np.testing.assert_array_equal(first[name], second[name])


def test_zeros_of_the_wrist_are_drawn_around_the_file_and_change_no_other_draw() -> None:
    """Files that know nothing of such zeros have the hands that they had."""
    wide = HAND.tolerances.model_copy(update={"wrist_zero_deg": 0.5})
    assert draw_mismatch(MODEL, 7, wide).tobytes() == draw_mismatch(MODEL, 7, HAND.tolerances).tobytes()
    assert draw_axis_zeros_rad((0.1, -0.2), 7, HAND.tolerances) == (0.1, -0.2)
    assert draw_axis_zeros_rad((), 7, wide) == ()
    drawn = np.degrees([draw_axis_zeros_rad((0.1, -0.2), seed, wide) for seed in range(400)])
    away = drawn - np.degrees((0.1, -0.2))
    np.testing.assert_allclose(away.std(axis=0), 0.5, rtol=0.15)
    np.testing.assert_allclose(away.mean(axis=0), 0.0, atol=0.1)
    assert np.abs(away).max() <= 1.5 + 1e-9 and len(np.unique(away)) == away.size


def test_a_drawn_hand_is_consistent_in_itself() -> None:
    m = draw_mismatch(MODEL, 2, HAND.tolerances)[0]
    np.testing.assert_array_equal(m["P_tj_m"] == 0.0, MODEL["P_tj_m"][0] == 0.0)
    moved = m["P_tj_m"].any(axis=0)
    q_rad = np.where(moved, 0.3, 0.0)
    np.testing.assert_allclose(m["pinv_jt_1_m"] @ (m["P_tj_m"] @ q_rad), q_rad, atol=1e-12)
    np.testing.assert_allclose(
        m["motor_torque_limit_nm"], m["motor_current_limit_a"] * m["motor_torque_constant_nm_a"]
    )
    thumb_proximal = int(m["finger_tip_body"][0]) - 1
    assert m["thumb_metacarpal_m"][0] == pytest.approx(m["body_origin_m"][thumb_proximal, 0])
    for finger in range(5):
        base = int(m["finger_tip_body"][finger]) - 3
        if int(m["body_parent"][base]) == 0:  # the palm is no bone
            np.testing.assert_array_equal(m["body_origin_m"][base], MODEL["body_origin_m"][0][base])
