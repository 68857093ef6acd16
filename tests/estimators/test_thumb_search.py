"""Both searches of the thumb base on the paper's case T1: printed points, offset 6 mm, metacarpal 45 mm."""

from __future__ import annotations

import numpy as np
import pytest

from estimators.thumb import BEYOND_RAD, base_angles, gauss_newton, gradient_search
from hand.assembly.assemble import model_of
from hand.overrides import load_with
from mechanics.thumb import INSERTION, insertion_length
from tests.rigs.desk import model_record


@pytest.fixture(scope="module")
def thumb() -> tuple[np.ndarray, int, list[int]]:
    model = model_record("hasy")
    m = model[0]
    finger = int(np.argmax(m["finger_kind"]))
    tendons = [
        int(t)
        for t in m["finger_tendon"][finger, : m["finger_n_tendons"][finger]]
        if m["tendon_kind"][t] == INSERTION
    ]
    m["thumb_base_offset_m"][finger], m["thumb_metacarpal_m"][finger] = 0.006, 0.045
    return model, finger, tendons


def lengths(model: np.ndarray, finger: int, tendons: list[int], q0: float, q1: float) -> np.ndarray:
    out = np.zeros(len(model[0]["tendon_kind"]))
    for t in tendons:
        out[t] = insertion_length(model[0], finger, t, q0, q1)
    return out


GRID = [(a, b) for a in np.linspace(-0.6, 0.6, 7) for b in np.linspace(-0.6, 0.6, 7)]


def worst(thumb: tuple[np.ndarray, int, list[int]], search: object, steps: int) -> float:
    model, finger, tendons = thumb
    weight = np.ones(len(model[0]["tendon_kind"]))
    errors = []
    for q0, q1 in GRID:
        h = lengths(model, finger, tendons, q0, q1)
        found = search(model[0], finger, weight, h, 0.0, 0.0, steps)  # type: ignore[operator]
        errors.append(max(abs(found[0] - q0), abs(found[1] - q1)))
    return max(errors)


@pytest.mark.parametrize(("steps", "bound"), [(3, 1.5e-4), (4, 8e-9), (5, 1e-14)])
def test_gauss_newton_reaches_the_published_accuracy(
    thumb: tuple[np.ndarray, int, list[int]], steps: int, bound: float
) -> None:
    assert worst(thumb, gauss_newton, steps) < bound


@pytest.mark.parametrize(("steps", "bound"), [(15, 2e-3), (30, 3e-5), (50, 1e-7)])
def test_the_corrected_gradient_search_needs_thirty_steps(
    thumb: tuple[np.ndarray, int, list[int]], steps: int, bound: float
) -> None:
    assert worst(thumb, gradient_search, steps) < bound


def test_gauss_newton_finds_every_pose_from_every_other(thumb: tuple[np.ndarray, int, list[int]]) -> None:
    model, finger, tendons = thumb
    weight = np.ones(len(model[0]["tendon_kind"]))
    for q0, q1 in GRID[::4]:
        h = lengths(model, finger, tendons, q0, q1)
        for a, b in GRID[::3]:
            found = gauss_newton(model[0], finger, weight, h, a, b, 12)
            assert found == pytest.approx((q0, q1), abs=1e-10)


def test_the_model_names_the_search(thumb: tuple[np.ndarray, int, list[int]]) -> None:
    model, finger, tendons = thumb
    weight = np.ones(len(model[0]["tendon_kind"]))
    h = lengths(model, finger, tendons, 0.3, -0.2)
    for named, search in ((1, gauss_newton), (0, gradient_search)):
        model["thumb_gauss_newton"] = named
        model["thumb_iterations"] = 3
        expected = search(model[0], finger, weight, h, 0.0, 0.0, 3)
        # each law is optimised by itself: the last bits of an angle may round otherwise
        found = base_angles(model[0], finger, weight, h, 0.0, 0.0)
        assert found == pytest.approx(expected, rel=0.0, abs=4.0 * np.finfo(float).eps)


def test_one_lost_base_tendon_leaves_the_angles_known(thumb: tuple[np.ndarray, int, list[int]]) -> None:
    model, finger, tendons = thumb
    h = lengths(model, finger, tendons, 0.2, 0.1)
    for lost in tendons:
        weight = np.ones(len(h))
        weight[lost] = 0.0
        wrong = h.copy()
        wrong[lost] += 0.02
        found = gauss_newton(model[0], finger, weight, wrong, 0.0, 0.0, 8)
        assert found == pytest.approx((0.2, 0.1), abs=1e-12)


@pytest.mark.parametrize("points", ["plausible", "as_printed"])
def test_gauss_newton_stays_on_its_side_of_the_palm_whatever_it_starts_from(points: str, quick: bool) -> None:
    """A pose and a start anywhere in the range, and a stop's width beyond: found, never mirrored."""
    file, _ = load_with("hasy", (f'fingers.thumb.insertion_set="{points}"',))
    model, finger = model_of(file), list(file.fingers).index("thumb")
    m = model[0]
    joints = m["finger_joint"][finger, :2]
    low, high = m["joint_min_rad"][joints], m["joint_max_rad"][joints]
    tendons = [t for t in m["finger_tendon"][finger] if m["tendon_kind"][t] == INSERTION]
    weight, rng = np.ones(len(m["tendon_kind"])), np.random.default_rng(18)
    draws = 800 if quick else 4000
    for pose, start in zip(
        rng.uniform(low - 0.1, high + 0.1, (draws, 2)), rng.uniform(low, high, (draws, 2)), strict=True
    ):
        h = lengths(model, finger, tendons, *pose)
        once = gauss_newton(m, finger, weight, h, *start, 5)
        assert np.all(np.abs(np.array(once) - 0.5 * (low + high)) <= 0.5 * (high - low) + BEYOND_RAD + 1e-12)
        assert gauss_newton(m, finger, weight, h, *once, 5) == pytest.approx(tuple(pose), abs=1e-9)
