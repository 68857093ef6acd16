"""What one finger promises: estimation, tracking, feedforward, ripple, repeatability; the bounds are ours."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

import numpy as np
import pytest

from runtime.session import RunResult, run_lockstep

HAND = "finger_bench"


@cache
def run(motion: str, **choices: Any) -> RunResult:
    return run_lockstep(HAND, motion=motion, seconds=4.0, every=1, **choices)


def report(motion: str, **choices: Any) -> dict[str, Any]:
    result = run(motion, **choices).report
    assert result["faults"] == []
    return result


@pytest.mark.parametrize(
    ("sensors", "guides", "rms_deg", "worst_deg"),
    [("ideal", "friction", 0.02, 0.02), ("quantised", "ideal", 0.05, 0.3), ("full", "friction", 0.4, None)],
)
def test_joint_angles_are_estimated(
    sensors: str, guides: str, rms_deg: float, worst_deg: float | None
) -> None:
    error = report("open_close", sensors=sensors, guides=guides)["estimate_error_deg"]
    assert error["rms"] <= rms_deg
    if worst_deg is not None:
        assert error["max"] <= worst_deg


@pytest.mark.parametrize("pretension_n", [60.0, 100.0])
def test_high_pretension_costs_only_what_the_lever_loop_can(pretension_n: float) -> None:
    """The tendon's stretch is misread by at most the loop's half width, frac f l0/EA."""
    result = run("open_close", pretension_n=pretension_n, substeps=8)
    assert result.report["faults"] == []
    m = result.rig.hand.model[0]
    misread_m = m["lever_friction_frac"][:8] * 1.2 * pretension_n * m["tendon_compliance_m_n"][:8]
    worst_deg = np.degrees(np.abs(m["pinv_jt_1_m"][:4, :8]) @ misread_m) + 0.3
    error = np.degrees(result.frames["state"]["joint_angle_rad"] - result.frames["truth"]["joint_angle_rad"])[
        result.seconds > 1.0
    ]
    assert np.all(np.abs(error).max(axis=0) <= worst_deg)
    assert result.report["tension_n"]["max"] < 135.0


def test_open_close_is_tracked() -> None:
    assert report("open_close")["tracking_error_deg"]["rms"] <= 1.5


def test_open_close_is_tracked_by_a_hand_that_differs_from_its_model(quick: bool) -> None:
    seeds = range(6 if quick else 20)
    errors = [report("open_close", mismatch=seed)["tracking_error_deg"]["rms"] for seed in seeds]
    assert len(set(errors)) == len(seeds), "every seed draws another plant"
    assert median(errors) <= 1.5


def force_error(**choices: Any) -> dict[str, float]:
    error: dict[str, float] = report("force_sine", **choices)["force_error_n"]
    return error


def test_feedforward_cuts_the_force_error_to_a_third() -> None:
    with_it, without = force_error(), force_error(without=("friction", "ripple"))
    assert with_it["rms"] <= without["rms"] / 3


def test_feedforward_cuts_the_true_force_error_with_ideal_sensors() -> None:
    with_it = force_error(sensors="ideal")
    without = force_error(sensors="ideal", without=("friction", "ripple"))
    assert with_it["true_rms"] <= without["true_rms"] / 3
    assert with_it["true_rms"] <= 0.6


def test_feedforward_halves_the_force_error_of_a_mismatched_hand(quick: bool) -> None:
    ratios = []
    for seed in range(2 if quick else 6):
        with_it = force_error(mismatch=seed)
        without = force_error(mismatch=seed, without=("friction", "ripple"))
        ratios.append(with_it["rms"] / without["rms"])
    assert median(ratios) <= 0.5


def input_harmonic_nm(**choices: Any) -> float:
    """Amplitude of the first input harmonic of the feedback torque of the motor that turns alone."""
    result = run_lockstep(HAND, motion="constant_speed", seconds=4.0, every=1, **choices)
    assert result.report["faults"] == []
    state = result.frames["state"]
    late = result.seconds > 1.5
    ripple = state["ripple_torque_nm"][late, 0].astype(float)
    torque = state["motor_torque_nm"][late, 0].astype(float) - ripple
    theta = result.frames["truth"]["motor_angle_rad"][late, 0].astype(float) * 100.0
    turns = np.floor((theta[-1] - theta[0]) / (2 * np.pi))
    whole = theta <= theta[0] + turns * 2 * np.pi
    design = np.column_stack([np.cos(theta[whole]), np.sin(theta[whole]), np.ones(whole.sum()), theta[whole]])
    fit = np.linalg.lstsq(design, torque[whole], rcond=None)[0]
    return float(np.hypot(fit[0], fit[1]))


def test_ripple_feedforward_takes_the_first_input_harmonic_out_of_the_feedback() -> None:
    without = input_harmonic_nm(without=("ripple",))
    assert without > 0.02
    assert without / input_harmonic_nm() >= 4.5
    assert without / input_harmonic_nm(overrides=("gains.ripple_gain=1.0",)) >= 10.0


def test_two_runs_with_one_seed_are_bit_identical() -> None:
    def frames() -> dict[str, bytes]:
        kept = run_lockstep(HAND, motion="open_close", seconds=0.6, every=1, seed=5, mismatch=2).frames
        records = ("measurement", "goal", "state", "command", "truth")
        return {f"{r}.{n}": kept[r][n].tobytes() for r in records for n in kept.dtype[r].names}

    first, second = frames(), frames()
    assert [name for name in first if first[name] != second[name]] == []
