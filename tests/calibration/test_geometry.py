"""Lever arms and spools from poses at stops: drawn ones within their intervals, into the hand file."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from calibration import geometry
from calibration.geometry_fit import Poses, fit_geometry
from calibration.geometry_poses import PRESS_S, motion_of
from calibration.patching import apply
from hand.assembly.mismatch import draw_mismatch
from hand.file import HandFileError, parse_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tools.commands.identify import app

SD, NOISE_M, STOP_SD = 0.02, 2e-5, 3e-3


def _posed(hand, P, radii, rng, joint):
    """Poses of a drawn hand, other joints and all tensions anywhere; with noise."""
    m = hand.model[0]
    low, high = m["joint_min_rad"][:4], m["joint_max_rad"][:4]
    found = []
    for stop in (low[joint], high[joint]) if joint >= 0 else (0.0,):
        n = 8 if joint >= 0 else 60
        q, stretch = rng.uniform(low, high, (n, 4)), rng.uniform(1e-4, 1e-3, (n, 8))
        if joint >= 0:
            q[:, joint] = stop + rng.normal(0.0, STOP_SD, n)
        elongation = 8.0 * stretch
        motor = (elongation - q @ P.T + rng.normal(0.0, NOISE_M, (n, 8))) / radii
        found.append(Poses(elongation, motor, stretch, 0, joint, float(stop), STOP_SD, NOISE_M, n))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_drawn_arms_and_spools_lie_in_their_intervals(seed):
    hand, rng = read_hand(RunOptions(hand="finger_bench")), np.random.default_rng(seed)
    P, radii = hand.model[0]["P_tj_m"][:8, :4], hand.model[0]["spool_radius_m"][:8]
    true_P, true_radii = P * rng.normal(1.0, SD, P.shape), radii * rng.normal(1.0, SD, 8)
    poses = [pose for j in range(-1, 4) for pose in _posed(hand, true_P, true_radii, rng, j)]
    fit = fit_geometry(poses, P, radii, SD, SD, 0.04)
    arms = P != 0.0
    away = np.concatenate([(fit.P_tj_m[arms] / true_P[arms] - 1.0) / fit.P_half[arms],
                           (fit.spool_m / true_radii - 1.0) / fit.spool_half])  # fmt: skip
    assert np.mean(np.abs(away) < 1.0) >= 0.9, away
    ways = [
        (each / r[:, None])[arms] for each, r in ((P, radii), (fit.P_tj_m, fit.spool_m), (true_P, true_radii))
    ]
    before, after = (np.std(each / ways[2]) for each in ways[:2])
    assert after < 0.25 * before  # what joint angles are made of
    assert 0.5 < fit.residual < 1.5


def test_joints_that_share_tendons_are_visited_straight_and_bent():
    hand = read_hand(RunOptions(hand="finger_bench"))
    text, visits, seconds = motion_of(hand, [0, 1, 2, 3])
    assert [v.joint for v in visits] == [0, 1, 2, 3] * 2
    times = [t for v in visits for t in v.ends_s]
    assert times == sorted(times) and times[-1] + sum(PRESS_S) < seconds
    assert min(np.diff(times)) > sum(PRESS_S) and text.count("joint_torque_nm") == 4


@pytest.mark.long
def test_a_drawn_finger_gets_its_arms(tmp_path):
    seed = 2
    words = [
        "geometry",
        "--lockstep",
        "--json",
        "--mismatch",
        seed,
        "--seed",
        seed,
        "--out",
        tmp_path / "out",
    ]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.exception
    hand = read_hand(RunOptions(hand="finger_bench"))
    plant, names = draw_mismatch(hand.model, seed, hand.file.tolerances)[0], hand.names
    held = []
    for part in json.loads(done.stdout)["parts"]:
        t, (key, _, joint) = names.tendons.index(part["name"]), part["parameter"].partition(".")
        true = plant["P_tj_m"][t, names.joints.index(joint)] if joint else plant[key][t]
        held.append(min(part["low"], part["high"]) <= true <= max(part["low"], part["high"]))
    assert len(held) == 8 + 14 + 8 and np.mean(held) >= 0.9
    mine = tmp_path / "mine.toml"
    mine.write_text(hand.text)
    apply(mine, Path(tmp_path / "out" / "patch.toml").read_text(), "geometry")
    model = read_hand(RunOptions(hand=str(mine))).model[0]
    arms = np.nonzero(plant["P_tj_m"])
    ways = [m["P_tj_m"][arms] / m["spool_radius_m"][arms[0]] for m in (hand.model[0], model, plant)]
    before, after = (np.std(each / ways[2] - 1.0) for each in ways[:2])
    assert before > 3.0 * after


@pytest.mark.parametrize("seed", range(3))
def test_the_scale_lies_between_torque_constant_and_spring_nearer_to_the_surer(seed):
    hand = read_hand(RunOptions(hand="finger_bench"))
    rng = np.random.default_rng(seed)
    spread, radius = hand.file.tolerances, float(hand.model[0]["spool_radius_m"][0])
    drive = float(rng.uniform(0.9, 1.1))
    value, half = geometry.scale_of(hand, 0, drive, radius, 0.0)
    share = math.log(value) / math.log(drive)
    assert share == pytest.approx(1.0 / (1.0 + (spread.torque_constant / spread.spring_constant) ** 2))
    assert half < 1.96 * min(spread.torque_constant, spread.spring_constant)
    assert geometry.scale_of(hand, 0, drive, 1.01 * radius, 0.0)[0] < value


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("dh_dq_m_rad = { index_pip = 0.006 }", "index_pip"),
        ("dh_dq_m_rad = { index_abduction = -0.0065 }", "the sign of the tendon's own, 0.0065"),
        ("spool_radius_m = -0.01", "the sign of the tendon's own"),
    ],
)
def test_arms_of_other_joints_or_signs_are_refused(lines, told):
    text = read_hand(RunOptions(hand="finger_bench")).text
    with pytest.raises(HandFileError, match=told):
        parse_hand(f'{text}\n[identified.index_1]\n{lines}\norigin = "identified: 2026-11-29 run"\n', "x")


def test_of_a_thumb_what_lies_behind_its_base_is_measured_and_nothing_without_levers():
    hand = read_hand(RunOptions(hand="hasy"))
    tendons, joints, told = geometry.fingers_for(hand, list(range(len(hand.names.tendons))))
    left = set(range(len(hand.names.tendons))) - set(tendons)
    assert {hand.names.tendons[t] for t in left} == {f"thumb_{k}" for k in range(4)} and not told
    assert {hand.names.joints[j] for j in joints} == set(hand.names.joints) - {
        "thumb_abduction",
        "thumb_flexion",
    }
    assert not hand.model[0]["P_tj_m"][np.ix_(tendons, sorted(set(range(19)) - set(joints)))].any()
    other = read_hand(RunOptions(hand="orca_v2"))
    tendons, joints, told = geometry.fingers_for(other, list(range(len(other.names.tendons))))
    assert not tendons and not joints and len(told) == len(other.names.fingers)
