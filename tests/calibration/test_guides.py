"""Joints swept at two tensions: losses of guides and joints within their intervals; pairs are one unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration import guide_rows, guides
from calibration.guide_fit import Rows, fit_guides
from calibration.guide_sweeps import RUNS, STILL, directions_for, jacobian, sets_of
from calibration.levers import fitted
from calibration.patching import merged
from hand.assembly.assemble import model_of
from hand.assembly.mismatch import draw_mismatch
from hand.file import parse_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.calibration.plants import written

SEED = 6
TENDONS = list(range(8))
COULOMB_NM = {"index_abduction": 0.014, "index_flexion": 0.008, "index_pip": 0.010, "index_dip": 0.003}


def _other_joints(document):
    for name, coulomb in COULOMB_NM.items():
        tables = document.setdefault("identified", {})
        tables[name] = {"coulomb_nm": coulomb, "origin": "assumed: drawn"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(hand, model of the simulated one, what was measured, what was found)."""
    plant = written(tmp_path_factory.mktemp("guides"), _other_joints)
    options = RunOptions(hand="finger_bench", plant=plant, mismatch=SEED, seed=SEED, lockstep=True)
    hand, other, kept = read_hand(options), read_hand(RunOptions(hand=plant)), []
    measure = guides.measure

    def once(*words):
        kept.append(measure(*words))
        return kept[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guides, "measure", once)
        found = guides.found_guides(hand, options, TENDONS, lambda _: None)
    return hand, draw_mismatch(other.model, SEED, other.file.tolerances)[0], kept[0], found


def _truth(hand, plant, part):
    if part.parameter == "coulomb_nm":
        return float(plant["joint_coulomb_nm"][hand.names.joints.index(part.name)])
    mine = [hand.names.tendons.index(name) for name in part.name.split()]
    return float(np.mean(plant["guide_loss_frac"][mine]))


def test_drawn_losses_lie_in_their_intervals(run):
    hand, plant, _, found = run
    held = [part.low <= _truth(hand, plant, part) <= part.high for part in found.parts]
    names = {part.name for part in found.parts if part.parameter == "guide_loss_frac"}
    assert names == {"index_1 index_4", "index_2 index_3", "index_5 index_6", "index_7 index_8"}
    assert len(held) == 8 and sum(held) >= 7, found.parts
    assert sum(part.verdict == "good" for part in found.parts) >= 7


def test_what_a_joint_loses_comes_nearer_to_the_truth(run):
    hand, plant, _, found = run
    text, _ = merged(hand.text, found.patch("identified: 2026-11-29 run a"))
    P, models = np.abs(jacobian(hand)), (hand.model[0], model_of(parse_hand(text, "x"))[0], plant)
    lost = [m["guide_loss_frac"][:8] @ P * 40.0 + m["joint_coulomb_nm"][:4] for m in models]
    before, after = (np.linalg.norm(each / lost[2] - 1.0) for each in lost[:2])
    assert before > 3.0 * after, lost


def test_single_tendons_of_a_pair_are_not_told_apart(run):
    """Antagonists bear the same tension: of their difference the bound itself is larger than the loss."""
    hand, _, measured, found = run
    fits = {
        t: fitted(hand, guide_rows.cut(c, measured.plan.levers_s), t).fit for t, c in measured.courses.items()
    }
    tensions = {t: guide_rows.tension_n(hand, measured.courses[t], t, fit) for t, fit in fits.items()}
    own, joints = TENDONS[:4], sets_of(hand, TENDONS)[0]
    rows = guide_rows.equations(hand, measured, {t: tensions[t] for t in own}, joints)
    spread = guide_rows.unsure_of(hand, {t: fits[t] for t in own}, joints)
    pairs = fit_guides(rows, guides.groups_for(hand, own, joints), 2, spread)
    single = fit_guides(rows, ((0,), (1,), (2,), (3,)), 2, spread)
    assert pairs.groups == ((0, 3), (1, 2))
    assert single.bound[:4].min() > 10.0 * pairs.bound[:2].max()
    assert single.loss_half.min() > 2.0 * pairs.loss_frac.max()


def test_joints_that_did_not_move_tell_nothing():
    with pytest.raises(ValueError, match="tell 0 of 2 losses apart"):
        n = 50
        still = Rows(
            0,
            np.linspace(0, 1, n),
            np.zeros(n),
            np.zeros(n),
            np.zeros((n, 1)),
            np.zeros(n, dtype=np.int64),
            np.zeros((n, 0)),
        )
        fit_guides([still], ((0,),), 1, np.zeros(0))


def test_measured_arms_change_no_group():
    """Arms that are meant to be alike differ once they were measured; a pair stays a pair."""
    hand = read_hand(RunOptions(hand="finger_bench"))
    pairs = [((0, 3), (1, 2)), ((0, 1), (2, 3))]
    for seed in range(20):
        drawn = replace(hand, model=draw_mismatch(hand.model, seed, hand.file.tolerances))
        sets = sets_of(drawn, TENDONS)
        own = [[t for t in TENDONS if jacobian(drawn)[t, joints].any()] for joints in sets]
        assert [guides.groups_for(drawn, *each) for each in zip(own, sets, strict=True)] == pairs, seed


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.data())
def test_in_every_sweep_each_tendon_runs_or_stands(joints, data):
    arms = st.sampled_from((-0.0065, -0.0045, 0.0, 0.0045, 0.0055, 0.0065))
    P = np.array([[data.draw(arms) for _ in range(joints)] for _ in range(2 * joints)])
    if not P.any(axis=0).all():
        return
    chosen = directions_for(P)
    assert len(chosen) == len(set(chosen)) <= joints + 1
    for direction in chosen:
        v = np.abs(P @ np.array(direction)) / np.abs(P).max()
        assert ((v < STILL) | (v > RUNS)).all() and any(direction)
