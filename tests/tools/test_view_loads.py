"""Arrows at the fingertips: a load is what balances the joints' torques, by virtual work."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.session import run_lockstep
from tests.tools.test_view import figure_of, random_pose
from tools.view.loads import LEAST_N, SHORTEST, tip_jacobian_m, tip_load_n, tip_place_m

_STEP_RAD = 1e-6


def _tips(figure):
    return np.flatnonzero(figure.m.finger_tip_body > 0).tolist()


def _places(hand, figure, q, axes):
    return figure.places(
        dict(zip(hand.names.joints, q, strict=True)), dict(zip(hand.names.axes, axes, strict=True))
    )


@pytest.mark.parametrize("name", ["hasy", "orca_v2", "n_plus_one", "sdm"])
def test_a_load_does_the_work_of_the_torques_that_balance_it(name):
    """Speeds of the tip by finite differences; a force within reach of the joints comes back."""
    hand, figure = figure_of(name)
    rng = np.random.default_rng(3)
    q, axes = random_pose(hand, rng)
    for tip in _tips(figure):
        moves = np.zeros((3, len(q)))
        for j in range(len(q)):
            ends = []
            for step in (-_STEP_RAD, _STEP_RAD):
                moved = q.copy()
                moved[j] += step
                ends.append(tip_place_m(figure, tip, _places(hand, figure, moved, axes)))
            moves[:, j] = (ends[1] - ends[0]) / (2.0 * _STEP_RAD)
        places = _places(hand, figure, q, axes)
        assert tip_jacobian_m(figure, tip, places) == pytest.approx(moves, abs=1e-8)
        moves[abs(moves) < 1e-8] = 0.0
        force = moves @ np.linalg.pinv(moves, rcond=SHORTEST) @ rng.uniform(-5.0, 5.0, 3)
        torques = -moves.T @ force
        assert tip_load_n(figure, tip, places, torques) == pytest.approx(force, abs=1e-4)
        torques[int(moves.any(axis=0).argmax())] = np.nan
        assert np.isnan(tip_load_n(figure, tip, places, torques)).all()


def test_loads_of_a_grasp_are_the_objects_and_a_hand_at_rest_has_none():
    hand, figure = figure_of("hasy")
    run = run_lockstep("hasy", motion="grasp", seconds=4.0)
    names = hand.names
    for k, near in ((300, 0.3), (len(run.frames) - 1, 1.5)):  # joints' friction hides the rest
        state, truth = run.frames["state"][k], run.frames["truth"][k]
        places = _places(
            hand,
            figure,
            state["joint_angle_rad"][: len(names.joints)],
            state["axis_angle_rad"][: len(names.axes)],
        )
        torques = state["joint_torque_nm"][: len(names.joints)].astype(float)
        loads = [np.linalg.norm(tip_load_n(figure, tip, places, torques)) for tip in _tips(figure)]
        assert loads == pytest.approx(truth["contact_force_n"][: len(loads)], abs=near)
        assert (max(loads) > LEAST_N) == (k > 300)
