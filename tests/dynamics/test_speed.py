"""Speed as ratios, interleaved in one run: no absolute figure holds on a shared machine."""

from __future__ import annotations

from benchmarks import aba_against_pinocchio, plant_against_mujoco


def test_forward_dynamics_of_24_coordinates_against_pinocchio_from_python():
    found = aba_against_pinocchio.measure(rounds=30)
    assert found["difference"] < 1e-12
    assert found["ratio_one"] <= 0.9, found
    assert found["ratio_batch"] <= 0.6, found


def test_the_hands_plant_step_against_mujoco_with_rotors_tendons_and_friction():
    found = plant_against_mujoco.measure(rounds=10)
    assert found["mujoco_tendons"] >= 2 * 38 and found["mujoco_dofs"] >= 38 + 19 + 2
    assert found["ratio"] >= 3.0, found
