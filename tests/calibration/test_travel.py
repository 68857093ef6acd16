"""Joints from stop to stop: zeros within their intervals, what does not fit named, the rest not touched."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from calibration.patching import apply
from calibration.travel import SURE, WIDER_DEG, joints_of, unknown_m, widened
from calibration.travel_page import motor_parts
from hand.file.loader import load_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.calibration.plants import PLACES, exchanged, reversed_motor, written
from tools.commands.calibrate import app

SHIFT_DEG = 3.0
SHORT_DEG = 15.0


def _other_stops(document):
    """Flexion's stops lie elsewhere than the file says, and the pip joint stops early."""
    flexion, pip = document["fingers"]["index"]["joints"][1:3]
    flexion["range_deg"] = [float(x) + SHIFT_DEG for x in flexion["range_deg"]]
    pip["range_deg"] = [float(pip["range_deg"][0]), float(pip["range_deg"][1]) - SHORT_DEG]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("travel")
    words = [
        "zero",
        "--lockstep",
        "--json",
        "--out",
        str(folder / "out"),
        "--plant",
        written(folder, _other_stops),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1, done.exception
    return json.loads(done.stdout), folder / "out"


def _rows(result):
    return {(part["name"], part["parameter"]): part for part in result["parts"]}


def test_true_zeros_and_travels_lie_in_their_intervals(run):
    rows = _rows(run[0])
    model = read_hand(RunOptions(hand="finger_bench")).model[0]
    for j, (joint, zero) in enumerate(
        (("index_abduction", 0.0), ("index_flexion", -SHIFT_DEG), ("index_pip", None), ("index_dip", 0.0))
    ):
        travel = rows[joint, "travel_deg"]
        true = math.degrees(model["joint_max_rad"][j] - model["joint_min_rad"][j])
        true -= SHORT_DEG if joint == "index_pip" else 0.0
        assert travel["low"] <= true <= travel["high"], travel
        assert travel["verdict"] == ("good" if joint != "index_pip" else "not good")
        if zero is not None:
            straight = rows[joint, "straight_deg"]
            assert straight["low"] <= zero <= straight["high"], straight
            assert straight["high"] - straight["low"] < 4.0


def test_a_joint_that_does_not_fit_was_tried_again_with_a_higher_torque_that_is_told(run):
    rows = _rows(run[0])
    model = read_hand(RunOptions(hand="finger_bench")).model[0]
    first = model["joint_impedance_nm_rad"][2] * math.radians(6.0)
    assert f"pressed with {1.5 * first:.2g} N m" in rows["index_pip", "travel_deg"]["text"]
    first = model["joint_impedance_nm_rad"][0] * math.radians(6.0)
    assert f"pressed with {first:.2g} N m" in rows["index_abduction", "travel_deg"]["text"]


def test_only_motors_of_good_joints_get_a_zero_and_the_file_takes_it(run, tmp_path):
    result, out = run
    rows = _rows(result)
    for k in range(1, 9):
        verdict = rows[f"m_index_{k}", "zero_rad"]["verdict"]
        assert verdict == ("good" if k <= 4 else "open")  # the others cross the pip joint
    mine = tmp_path / "mine.toml"
    mine.write_text(read_hand(RunOptions(hand="finger_bench")).text)
    apply(mine, (out / "patch.toml").read_text(), "zeros")
    stored = load_hand(str(mine)).identified
    assert set(stored) == {f"m_index_{k}" for k in range(1, 5)}
    before, after = (read_hand(RunOptions(hand=h)).model[0] for h in ("finger_bench", str(mine)))
    moved = before["elongation_offset_m"][0] - after["elongation_offset_m"][0]
    assert moved == pytest.approx(before["spool_radius_m"][0] * stored["m_index_1"].zero_rad, abs=1e-12)
    assert "From stop to stop" in (out / "report.html").read_text()


def test_nothing_travels_before_the_wiring_is_right(tmp_path):
    words = ["travel", "--lockstep", "--json", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, "--plant", written(tmp_path, reversed_motor(2))])
    assert done.exit_code == 1, done.exception
    result = json.loads(done.stdout)
    assert {part["parameter"] for part in result["parts"]} == {"wiring", "wiring.reversed"}


@pytest.mark.long
@pytest.mark.parametrize(("pair", "joint"), [((4, 5), "index_pip"), ((0, 3), "index_flexion")])
def test_a_mirrored_joint_shows_at_its_stops_and_gets_no_zero(tmp_path, pair, joint):
    """Antagonists at each other's place: nothing that windings tell is different."""
    plant = written(tmp_path, exchanged(*pair, *PLACES))
    words = ["zero", "--lockstep", "--json", "--out", str(tmp_path / "out"), "--plant", plant]
    result = json.loads(CliRunner().invoke(app, words).stdout)
    assert _rows(result)[joint, "travel_deg"]["verdict"] == "not good"
    zeros = [part["verdict"] for part in result["parts"] if part["parameter"] == "zero_rad"]
    assert zeros and set(zeros[pair[0] : pair[1] + 1]) == {"open"}


def test_motors_of_joints_that_were_not_travelled_get_no_row():
    """Not even an open one, or a hand with such a thumb would never be all good."""
    hand = read_hand(RunOptions(hand="hasy"))
    tendons = list(range(len(hand.names.tendons)))
    joints = [hand.names.joints[j] for j in joints_of(hand, tendons)]
    assert not any(name.startswith("thumb") for name in joints)
    rows = motor_parts(hand, tendons, joints, [0.0] * len(tendons), [])
    assert {part.verdict for part in rows} == {"open"}
    thumb = {m for m in hand.names.motors if m.startswith("m_thumb")}
    assert {part.name for part in rows} == set(hand.names.motors) - thumb and thumb


@pytest.mark.parametrize("name", ["finger_bench", "hasy", "leap_v1", "n_plus_one"])
def test_before_arms_are_known_lengths_may_err_as_drawn_hands_do_at_widened_ends(name, tmp_path):
    """Standard deviations of arms and spools, over joints that stand at their ends; a slip is more."""
    hand = read_hand(RunOptions(hand=name))
    m, n, tolerance = hand.model[0], int(hand.model[0]["n_tendons"]), hand.file.tolerances.pulley_radius
    wider = read_hand(RunOptions(hand=str(widened(hand, tmp_path))))
    rng = np.random.default_rng(0)
    for f, limit in enumerate(m["residual_limit_m"][: len(hand.names.fingers)]):
        own = np.flatnonzero(m["tendon_finger"][:n] == f)
        P, low, high = m["P_tj_m"][own], m["joint_min_rad"], m["joint_max_rad"]
        q = np.where(abs(low) > abs(high), low, high)
        q = q + np.sign(q) * math.radians(WIDER_DEG)
        errs = []
        for _ in range(2000):
            arms = P * (1.0 + tolerance * rng.standard_normal(P.shape))
            spools = 1.0 + tolerance * rng.standard_normal(len(own))
            errs.append(arms @ q - spools * (P @ q))
        unknown = unknown_m(hand, f)
        assert np.std(errs, axis=0).max(initial=0.0) <= 1.05 * unknown / SURE
        if limit > 0.0:
            assert wider.model[0]["residual_limit_m"][f] == pytest.approx(max(limit, unknown))
            assert max(limit, unknown) < 0.003, "the least slip of the fault trials"
