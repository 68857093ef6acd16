"""How well a hand was estimated and controlled: sums over frames, compiled, of any length of run.

``rms`` is over all joints (or tendons, fingers) and over the time after the first second; ``max`` is the
worst instant of that time. Errors of the estimate and the true force exist only where a truth exists.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Protocol

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray, IntArray, Records, dtype_of
from signals.modes import MachineState, Mode
from signals.records import RecordArray
from signals.sizes import FINGERS, JOINTS
from signals.typed import Frame, Model, State, Truth


class ScoreRecord(Protocol):
    """Sums over the frames of a run."""

    frames: int
    estimate_sq: Annotated[FloatArray, JOINTS]
    estimate_max: float
    tracking_n: Annotated[IntArray, JOINTS]
    tracking_sq: Annotated[FloatArray, JOINTS]
    tension_min: float
    tension_max: float
    force_n: int
    force_sq: float
    true_force_sq: float
    residual_n: int
    residual_sq: float
    residual_max: float
    tip_start_m: Annotated[FloatArray, FINGERS, 3]
    drift_n: int
    drift_sq: float
    drift_max: float


SCORE: Final = dtype_of(ScoreRecord)
_ACTIVE: Final = int(MachineState.ACTIVE)
_IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)


def new_score() -> RecordArray:
    """Empty sums, shape (1,)."""
    score = np.zeros(1, dtype=SCORE)
    score["tension_min"] = math.inf
    score["tension_max"] = -math.inf
    return score


@law
def _joints(model: Model, state: State, truth: Truth, score: ScoreRecord) -> None:
    for j in range(model.n_joints):
        error = state.joint_angle_rad[j] - truth.joint_angle_rad[j]
        score.estimate_sq[j] += error * error
        score.estimate_max = max(score.estimate_max, abs(error))
        finger = model.joint_finger[j]
        if state.finger_state[finger] == _ACTIVE and state.finger_mode[finger] == _IMPEDANCE:
            error = state.ref_joint_angle_rad[j] - truth.joint_angle_rad[j]
            score.tracking_sq[j] += error * error
            score.tracking_n[j] += 1


@law
def _tendons(model: Model, state: State, truth: Truth, score: ScoreRecord) -> None:
    for t in range(model.n_tendons):
        tension = state.tension_n[t]
        score.tension_min = min(score.tension_min, tension)
        score.tension_max = max(score.tension_max, tension)
        residual = state.residual_m[t]
        score.residual_sq += residual * residual
        score.residual_max = max(score.residual_max, abs(residual))
        score.residual_n += 1
        wanted = state.ref_tension_n[t]
        if wanted > 0.0:
            observed = state.observed_tension_n[t]
            score.force_sq += (wanted - (observed if observed > 0.0 else tension)) ** 2
            score.true_force_sq += (wanted - truth.tension_n[t]) ** 2
            score.force_n += 1


@law
def _tips(model: Model, truth: Truth, score: ScoreRecord) -> None:
    for finger in range(model.n_fingers):
        square = 0.0
        for k in range(3):
            if score.frames == 0:
                score.tip_start_m[finger, k] = truth.fingertip_m[finger, k]
            step = truth.fingertip_m[finger, k] - score.tip_start_m[finger, k]
            square += step * step
        score.drift_sq += square
        score.drift_max = max(score.drift_max, math.sqrt(square))
        score.drift_n += 1


@law
def add_frames(
    model: Records[Model], frames: Records[Frame], from_ns: int, score: Records[ScoreRecord]
) -> None:
    """Add frames, shape (n,) of FRAME, to the sums.

    Args:
        model: the controller's model, shape (1,).
        frames: new frames.
        from_ns: monotonic time of the first frame that counts [ns].
        score: sums, shape (1,).
    """
    m, s = model[0], score[0]
    for i in range(frames.shape[0]):
        frame = frames[i]
        if frame.state.time_ns >= from_ns:
            _joints(m, frame.state, frame.truth, s)
            _tendons(m, frame.state, frame.truth, s)
            _tips(m, frame.truth, s)
            s.frames += 1


def _root(total: float, count: float, scale: float) -> float | None:
    return round(scale * math.sqrt(total / count), 9) if count else None


def _by_joint(total: Any, count: Any, joints: tuple[str, ...]) -> dict[str, float | None]:
    return {name: _root(total[j], count[j], math.degrees(1.0)) for j, name in enumerate(joints)}


def figures(score: RecordArray, joints: tuple[str, ...], has_truth: bool) -> dict[str, Any]:
    """The report's figures; ``None`` where nothing was measured.

    Args:
        score: sums, shape (1,).
        joints: joint names.
        has_truth: the frames come from a simulation.
    """
    s, n, deg = score[0], int(score["frames"][0]), math.degrees(1.0)
    n_joints = len(joints)
    counts = np.full(n_joints, n if has_truth else 0)
    seen = n > 0
    tracked = s["tracking_n"][:n_joints] * has_truth
    return {
        "estimate_error_deg": {
            "rms": _root(s["estimate_sq"].sum(), n_joints * n * has_truth, deg),
            "max": float(s["estimate_max"] * deg) if seen and has_truth else None,
            "by_joint": _by_joint(s["estimate_sq"], counts, joints),
        },
        "tracking_error_deg": {
            "rms": _root(s["tracking_sq"].sum(), tracked.sum(), deg),
            "by_joint": _by_joint(s["tracking_sq"], tracked, joints),
        },
        "tension_n": {
            "min": float(s["tension_min"]) if seen else None,
            "max": float(s["tension_max"]) if seen else None,
        },
        "force_error_n": {
            "rms": _root(s["force_sq"], s["force_n"], 1.0),
            "true_rms": _root(s["true_force_sq"], s["force_n"] * has_truth, 1.0),
        },
        "fingertip_drift_mm": {
            "rms": _root(s["drift_sq"], s["drift_n"] * has_truth, 1e3),
            "max": float(s["drift_max"] * 1e3) if seen and has_truth else None,
        },
        "residual_mm": {
            "rms": _root(s["residual_sq"], s["residual_n"], 1e3),
            "max": float(s["residual_max"] * 1e3) if seen else None,
        },
    }
