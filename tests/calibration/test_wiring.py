"""What is connected wrongly is found and named before a joint moves by more than 5 deg."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import tomlkit
from typer.testing import CliRunner

from calibration import wiring
from calibration.calibrate import KINDS
from calibration.motion_run import run_motion
from hand.file.loader import load_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.calibration.plants import HALLS, MOTORS, PLACES, exchanged, reversed_motor, written
from tools.commands.calibrate import app

MOST_DEG = 5.0
ANTAGONISTS = ((0, 3), (1, 2), (4, 5), (6, 7))


@pytest.fixture
def looked(monkeypatch):
    """look(options) -> (findings by part, greatest true joint angle [deg])."""

    def look(**chosen):
        options, most = RunOptions(lockstep=True, **chosen), [0.0]
        hand = read_hand(options)

        def watched(hand, options, motion, seconds, keep, watch):
            def both(frames):
                keep(frames)
                joints = np.abs(frames["truth"]["joint_angle_rad"]).max(initial=0.0)
                most[0] = max(most[0], float(np.degrees(joints)))

            return run_motion(hand, options, motion, seconds, both, watch)

        monkeypatch.setattr(wiring, "run_motion", watched)
        found = wiring.look(hand, options, list(range(len(hand.names.tendons))))
        return {finding.part: finding for finding in found.findings}, most[0], found

    return look


@pytest.mark.parametrize("seed", [None, 5])
def test_a_sound_hand_has_no_findings(looked, seed):
    found, most, whole = looked(mismatch=seed)
    assert not found and most < MOST_DEG
    own = whole.answers[range(8), range(8)]
    assert (own > 0.4).all() and (np.abs(whole.answers).argmax(axis=0) == np.arange(8)).all()


@pytest.mark.parametrize("seed", [None, 3])
def test_a_tendon_that_springs_across_joints_hold_answers_as_the_model_says(looked, seed):
    """Most of what is wound turns the joints; no motor is told to travel them one by one."""
    found, most, whole = looked(hand="sdm", mismatch=seed)
    assert not found and most < MOST_DEG
    assert 0.04 < whole.answers[0, 0] < 0.4
    options = RunOptions(lockstep=True, hand="sdm", mismatch=seed)
    zero = KINDS["zero"](read_hand(options), options, [0], lambda _: None)
    assert len(zero.notices) == 8 and all("its springs decide" in told for told in zero.notices)


@pytest.mark.sample(1)
@pytest.mark.parametrize("tendon", [0, 5, 6])
def test_a_reversed_motor_is_named(looked, tmp_path, tendon):
    found, most, _ = looked(plant=written(tmp_path, reversed_motor(tendon)))
    assert {part: f.what for part, f in found.items()} == {f"index_{tendon + 1}": "reversed"}
    assert most < MOST_DEG


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("pair", "keys", "named"),
    [
        ((0, 2), HALLS, "the Hall cables of index_1 and index_3 are swapped"),
        ((4, 5), HALLS, "the Hall cables of index_5 and index_6"),
        ((1, 6), HALLS, "the Hall cables of index_2 and index_7"),
        ((0, 2), MOTORS, "the cables of m_index_1 and m_index_3 are swapped"),
    ],
)
def test_swapped_cables_are_named_in_pairs(looked, tmp_path, pair, keys, named):
    found, most, _ = looked(plant=written(tmp_path, exchanged(*pair, *keys)))
    assert {part: f.what for part, f in found.items()} == {f"index_{t + 1}": "swapped" for t in pair}
    assert named in found[f"index_{pair[0] + 1}"].text and most < MOST_DEG


def test_tendons_that_run_to_each_others_place_are_named(looked, tmp_path):
    found, most, _ = looked(plant=written(tmp_path, exchanged(4, 6, *PLACES)))
    assert "misplaced" in {f.what for f in found.values()} and most < MOST_DEG
    assert found["index_5"].what == "misplaced" and "index_7" in found["index_5"].text


def test_sensors_that_are_all_mounted_the_other_way_round_are_one_mistake(looked, tmp_path):
    def change(document):
        document["hall"]["direction"] = -int(document["hall"]["direction"])

    found, most, _ = looked(plant=written(tmp_path, change))
    assert {f.what for f in found.values()} == {"reversed"} and len(found) == 8 and most < MOST_DEG
    assert all("hall.direction" in f.text for f in found.values())


@pytest.mark.parametrize("keys", [HALLS, MOTORS, PLACES], ids=["halls", "motors", "places"])
@pytest.mark.parametrize("pair", list(itertools.combinations(range(8), 2)), ids=str)
@pytest.mark.sample(3)
def test_no_two_tendons_can_be_exchanged_unnoticed(looked, tmp_path, pair, keys):
    """What no check of a hand file can show (docs/hand_mutants.md): every pair, each way.

    Antagonists that run to each other's place make a mirrored joint, which answers as the right one does:
    that shows at its stops (test_travel).
    """
    if keys is PLACES and pair in ANTAGONISTS:
        pytest.skip("a mirrored joint")
    found, most, _ = looked(plant=written(tmp_path, exchanged(*pair, *keys)))
    assert {f"index_{t + 1}" for t in pair} & set(found) and most < MOST_DEG


@pytest.mark.parametrize(
    ("fault", "tendon", "what"),
    [
        ("tendon-slack:index_6=0.008@0", "index_6", "slack"),
        ("hall-saturated:index_5@0", "index_5", "saturated"),
    ],
)
def test_slack_tendons_and_saturated_sensors_show_before_anything_moves(looked, fault, tendon, what):
    found, most, whole = looked(faults=(fault,))
    assert {part: f.what for part, f in found.items()} == {tendon: what}
    assert most < MOST_DEG and whole.answers.shape[1] == 0


@pytest.mark.parametrize("turns", [1, -3, 100])
def test_a_lost_turn_shows_against_the_zero_of_the_hand_file(looked, tmp_path, turns):
    document = tomlkit.parse(Path(load_hand("finger_bench").path).read_text())
    zero = -turns * 2.0 * np.pi / float(document["gear"]["ratio"])
    document["identified"] = {"m_index_4": {"zero_rad": zero, "origin": "identified: 2026-11-01 run a"}}
    mine = tmp_path / "mine.toml"
    mine.write_text(tomlkit.dumps(document))
    found, most, _ = looked(hand=str(mine), plant="finger_bench")
    assert {part: f.what for part, f in found.items()} == {"index_4": "lost_turn"}
    assert found["index_4"].value == turns and f"lost {abs(turns)} turns" in found["index_4"].text
    assert most < MOST_DEG


def test_the_command_says_what_is_wrong_and_what_was_not_looked_at(tmp_path):
    words = ["wiring", "--lockstep", "--json", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, "--fault", "hall-saturated:index_5@0"])
    assert done.exit_code == 1, done.exception
    result = json.loads(done.stdout)
    rows = {part["name"]: part for part in result["parts"]}
    assert rows["index_5"]["parameter"] == "wiring.saturated" and rows["index_5"]["verdict"] == "not good"
    assert {rows[f"index_{k}"]["verdict"] for k in (1, 2, 3, 4, 6, 7, 8)} == {"open"}
    assert rows["index_1"]["value"] is None and (tmp_path / "out" / "result.json").exists()
