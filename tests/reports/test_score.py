"""The score against numpy, and reports that say what was not measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.faults import FaultWatch, sentence
from reports.score import add_frames, figures, new_score
from signals.faults import CAUSES, Cause
from signals.modes import MachineState, Mode
from signals.records import FRAME


def _frames(finger, n, seed):
    rng = np.random.default_rng(seed)
    frames = np.zeros(n, dtype=FRAME)
    joints, tendons = len(finger.names.joints), len(finger.names.tendons)
    for record in ("state", "truth"):
        frames[record]["joint_angle_rad"][:, :joints] = rng.normal(0.0, 0.5, (n, joints))
        frames[record]["tension_n"][:, :tendons] = rng.uniform(0.0, 80.0, (n, tendons))
    frames["state"]["ref_joint_angle_rad"][:, :joints] = rng.normal(0.0, 0.5, (n, joints))
    frames["state"]["ref_tension_n"][:, :tendons] = rng.uniform(-20.0, 80.0, (n, tendons)).clip(0.0)
    frames["state"]["residual_m"][:, :tendons] = rng.normal(0.0, 1e-4, (n, tendons))
    frames["truth"]["fingertip_m"][:, 0] = rng.normal(0.0, 1e-3, (n, 3))
    frames["state"]["finger_state"][:, 0] = MachineState.ACTIVE
    frames["state"]["finger_mode"][:, 0] = Mode.JOINT_IMPEDANCE
    frames["state"]["time_ns"] = np.arange(n) * 1_000_000
    return frames


@settings(max_examples=15)
@given(n=st.integers(2, 60), cut=st.integers(0, 40), parts=st.integers(1, 4), seed=st.integers(0, 9))
def test_the_score_is_what_numpy_says_of_the_frames_that_count(finger, n, cut, parts, seed):
    frames = _frames(finger, n, seed)
    score = new_score()
    for part in np.array_split(frames, parts):
        add_frames(finger.model, part.copy(), cut * 1_000_000, score)
    found = figures(score, finger.names.joints, True)
    used = frames[frames["state"]["time_ns"] >= cut * 1_000_000]
    if not len(used):
        assert found["estimate_error_deg"]["rms"] is None
        return
    j, t = len(finger.names.joints), len(finger.names.tendons)
    state, truth = used["state"], used["truth"]
    error = np.degrees(state["joint_angle_rad"] - truth["joint_angle_rad"])[:, :j]
    tracking = np.degrees(state["ref_joint_angle_rad"] - truth["joint_angle_rad"])[:, :j]
    wanted, tension = state["ref_tension_n"][:, :t], state["tension_n"][:, :t]
    pulled = wanted > 0.0
    drift = 1e3 * np.linalg.norm(truth["fingertip_m"][:, 0] - truth["fingertip_m"][0, 0], axis=1)

    def rms(values):
        return np.sqrt(np.mean(np.square(values)))

    assert found["estimate_error_deg"]["rms"] == pytest.approx(rms(error), rel=1e-6)
    assert found["estimate_error_deg"]["max"] == pytest.approx(np.abs(error).max())
    by_joint = found["estimate_error_deg"]["by_joint"]
    assert [by_joint[name] for name in finger.names.joints] == pytest.approx(
        [rms(e) for e in error.T], rel=1e-6
    )
    assert found["tracking_error_deg"]["rms"] == pytest.approx(rms(tracking), rel=1e-6)
    assert found["tension_n"] == pytest.approx({"min": tension.min(), "max": tension.max()})
    if pulled.any():
        assert found["force_error_n"]["rms"] == pytest.approx(rms((wanted - tension)[pulled]), rel=1e-6)
        true = (wanted - truth["tension_n"][:, :t])[pulled]
        assert found["force_error_n"]["true_rms"] == pytest.approx(rms(true), rel=1e-6)
    assert found["fingertip_drift_mm"]["rms"] == pytest.approx(rms(drift), rel=1e-6, abs=1e-9)
    assert found["fingertip_drift_mm"]["max"] == pytest.approx(drift.max(), abs=1e-12)
    assert found["residual_mm"]["rms"] == pytest.approx(1e3 * rms(state["residual_m"][:, :t]), rel=1e-5)


def test_without_a_truth_the_errors_against_it_are_not_reported(finger):
    score = new_score()
    add_frames(finger.model, _frames(finger, 5, 0), 0, score)
    found = figures(score, finger.names.joints, False)
    assert found["estimate_error_deg"]["rms"] is None
    assert found["tracking_error_deg"]["rms"] is None
    assert found["force_error_n"]["true_rms"] is None
    assert found["force_error_n"]["rms"] is not None


def test_fingers_that_follow_no_joint_goal_do_not_count_as_tracking(finger):
    frames = _frames(finger, 5, 0)
    frames["state"]["finger_mode"][:, 0] = Mode.TENDON_FORCE
    score = new_score()
    add_frames(finger.model, frames, 0, score)
    assert figures(score, finger.names.joints, True)["tracking_error_deg"]["rms"] is None


@pytest.mark.parametrize("cause", list(CAUSES), ids=lambda c: c.name)
def test_every_cause_reads_as_a_sentence_with_part_and_figures(cause):
    text, hint = sentence(CAUSES[cause], "index_4", 12.345, 6.789)
    assert "{" not in text and hint
    assert "index_4" in text or CAUSES[cause].scope == "hand"


def test_a_cause_is_told_once_and_again_after_a_re_arm(finger):
    watch = FaultWatch(finger.names)
    frames = _frames(finger, 10, 0)
    frames["state"]["finger_cause"][4:, 0] = Cause.TENDON_BROKEN
    frames["state"]["finger_cause_part"][:, 0] = 3
    frames["state"]["finger_cause_value"][:, 0] = 3.0
    frames["state"]["tick"] = np.arange(10)
    (fault,) = watch.look(frames)
    assert (fault.part, fault.tick, fault.cause) == ("index_4", 4, "TENDON_BROKEN")
    assert fault.time_s == pytest.approx(0.004)
    assert "index_4: still slack after winding 3.0 mm: broken" in fault.text
    assert watch.look(frames[5:]) == []
    healthy = frames.copy()
    healthy["state"]["finger_cause"] = 0
    assert watch.look(healthy) == []
    assert len(watch.look(frames)) == 1
    assert len(watch.all) == 2


def test_a_fault_that_is_gone_before_anybody_looks_is_told_too(finger):
    """Latched, cleared, and another part of the same cause within one batch."""
    watch = FaultWatch(finger.names)
    frames = _frames(finger, 9, 0)
    state = frames["state"]
    state["finger_cause"][[2, 3, 5, 6], 0] = Cause.MOTOR_LOST
    state["finger_cause_part"][:5, 0], state["finger_cause_part"][5:, 0] = 4, 6
    state["hand_cause"][7] = Cause.OPERATOR_STOP
    told = [(f.cause, f.part, f.finger) for f in watch.look(frames)]
    motors = finger.names.motors
    assert told == [
        ("MOTOR_LOST", motors[4], "index"),
        ("MOTOR_LOST", motors[6], "index"),
        ("OPERATOR_STOP", "finger_bench", ""),
    ]
    assert watch.look(_frames(finger, 3, 9)) == [] and len(watch.all) == 3
