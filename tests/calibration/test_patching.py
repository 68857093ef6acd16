"""Patches: comments stay, bad ones change nothing, changes can be taken back, a full disk loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomlkit
from typer.testing import CliRunner

from calibration.compare import rows_of
from calibration.patching import PatchError, apply, history, merged, revert
from hand.assembly.assemble import model_of
from hand.file import load_hand
from hand.file.loader import load_hand as load
from hand.overrides import load_with
from tools.commands.apply import app as apply_app
from tools.commands.history import app as history_app

PATCH = """
[identified.m_index_2]
gamma_2_nm = 0.7
gamma_3_nms_rad = 0.04
origin = "identified: 2026-11-29 run a"

[[identified.m_index_2.ripple]]
shaft = "input"
order = 2
amplitude_nm = 0.03
phase_deg = 10.0

[[identified.m_index_2.ripple]]
shaft = "input"
order = 3
amplitude_nm = 0.02
phase_deg = 20.0
"""


@pytest.fixture
def hand(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(Path(load("finger_bench").path).read_text())
    return path


def test_what_is_identified_counts_for_its_motor_alone_and_comments_stay(hand):
    before = hand.read_text()
    change = apply(hand, PATCH, "a")
    assert change.number == 1 and change.keys == ["identified.m_index_2"]
    comments = [line for line in before.splitlines() if "#" in line]
    assert all(line in hand.read_text().splitlines() for line in comments)
    old, new = (model_of(load_hand(str(p)))[0] for p in ("finger_bench", hand))
    assert new["friction_gamma_2_nm"][1] == 0.7 and new["friction_gamma_3_nms_rad"][1] == 0.04
    assert new["friction_gamma_2_nm"][0] == old["friction_gamma_2_nm"][0]
    orders = new["ripple_order"][: new["n_ripples"]].tolist()
    assert int(new["n_ripples"]) == int(old["n_ripples"]) + 1 and orders[-1] == 3
    assert new["ripple_amplitude_nm"][1, orders.index(2)] == 0.03
    assert new["ripple_amplitude_nm"][1, -1 + int(new["n_ripples"])] == 0.02
    assert new["ripple_amplitude_nm"][0, -1 + int(new["n_ripples"])] == 0.0


def test_a_second_run_replaces_what_it_measured_and_keeps_the_rest(hand):
    apply(hand, PATCH, "a")
    apply(hand, '[identified.m_index_2]\ngamma_2_nm = 0.6\norigin = "identified: 2026-12-01 run b"\n', "b")
    document = tomlkit.parse(hand.read_text())["identified"]["m_index_2"]
    assert document["gamma_2_nm"] == 0.6 and document["gamma_3_nms_rad"] == 0.04
    assert len(document["ripple"]) == 2


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ("[identified.m_index_9]\ngamma_2_nm = 1.0\norigin = 'identified: 2026-11-29 x'\n", "m_index_9"),
        ("[identified.m_index_1]\ngamma_2_nm = -1.0\norigin = 'identified: 2026-11-29 x'\n", "gamma_2_nm"),
        ("[identified.m_index_1]\ngamma_4 = 1.0\norigin = 'identified: 2026-11-29 x'\n", "gamma_4"),
        ("[identified.m_index_1]\ngamma_2_nm = 1.0\n", "origin"),
        ("[identified", "not TOML"),
        ("", "empty"),
    ],
)
def test_a_bad_patch_is_refused_and_changes_nothing(hand, patch, told):
    before = hand.read_text()
    with pytest.raises(PatchError, match=told):
        apply(hand, patch, "bad")
    assert hand.read_text() == before and history(hand) == []


def test_every_change_can_be_taken_back_and_that_too(hand):
    first = hand.read_text()
    apply(hand, PATCH, "a")
    second = hand.read_text()
    revert(hand)
    assert hand.read_text() == first
    revert(hand)
    assert hand.read_text() == second
    revert(hand, 1)
    assert hand.read_text() == first
    assert [change.what for change in history(hand)] == ["a", "revert of change 1", "revert of change 2",
                                                         "revert of change 1"]  # fmt: skip
    with pytest.raises(PatchError, match="no change 9; legal: 1 to 4"):
        revert(hand, 9)
    assert "mine" not in CliRunner().invoke(history_app, [str(hand)]).stdout
    assert len(json.loads(CliRunner().invoke(history_app, [str(hand), "--json"]).stdout)) == 4


@pytest.mark.parametrize("fails", ["mkdir", "write_text", "open", "replace"])
def test_a_disk_that_fails_at_any_step_leaves_the_file_as_it_was(hand, monkeypatch, fails):
    before = hand.read_text()

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(Path, fails, full)
    with pytest.raises(PatchError, match="No space left"):
        apply(hand, PATCH, "a")
    monkeypatch.undo()
    assert hand.read_text() == before
    assert load_hand(str(hand)).name == load_hand("finger_bench").name


def test_a_merge_touches_nothing_else():
    text = "# a\n[one]\nx = 1  # the one\n\n[two]\ny = 2\n"
    made, changed = merged(text, "[two]\ny = 3\n[three.deep]\nz = 4\n")
    assert made.startswith("# a\n[one]\nx = 1  # the one\n") and changed == ["two.y", "three.deep"]
    assert tomlkit.parse(made)["three"]["deep"]["z"] == 4


def test_the_command_asks_for_a_file_of_the_users_own(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "result.json").write_text(json.dumps({"hand": "finger_bench", "parts": [], "hand_file": "x"}))
    (run / "patch.toml").write_text(PATCH)
    refused = CliRunner().invoke(apply_app, [str(run)])
    assert refused.exit_code != 0 and "--to" in str(refused.exception)
    (run / "result.json").write_text(json.dumps({"hand": "finger_bench", "parts": []}))
    done = CliRunner().invoke(apply_app, [str(run), "--to", str(tmp_path / "new.toml")])
    assert done.exit_code == 0, done.exception
    assert load_hand(str(tmp_path / "new.toml")).identified["m_index_2"].gamma_2_nm == 0.7


def test_compare_tells_what_changed_by_more_than_both_intervals():
    def run(value, phase):
        half = {"verdict": "good", "text": ""}
        return {
            "parts": [
                {"name": "m", "parameter": "gamma_2_nm", "value": value, "low": value - 0.01,
                 "high": value + 0.01, "unit": "N m", **half},
                {"name": "m", "parameter": "phase_deg", "value": phase, "low": phase - 1,
                 "high": phase + 1, "unit": "deg", **half},
            ]
        }  # fmt: skip

    rows = rows_of(run(0.5, 179.5), run(0.51, -179.5))
    assert [row["changed"] for row in rows] == [False, False] and rows[1]["change"] == pytest.approx(1.0)
    assert [row["changed"] for row in rows_of(run(0.5, 10.0), run(0.55, 20.0))] == [True, True]


@pytest.mark.parametrize("figure", [0.5, None])
def test_a_verdict_that_is_another_one_is_a_change_also_where_no_figure_is(figure):
    def run(verdict):
        part = {"name": "t", "parameter": "direction", "unit": "1", "low": figure, "high": figure}
        return {"parts": [part | {"value": figure, "verdict": verdict}]}

    (row,) = rows_of(run("good"), run("bad"))
    assert row["changed"] and (row["verdict_before"], row["verdict_after"]) == ("good", "bad")
    assert not rows_of(run("good"), run("good"))[0]["changed"]


SURE = '[identified.m_index_2]\nforce_friction_gain = 0.95\norigin = "identified: 2026-11-30 run a"\n'


def test_a_sure_share_counts_for_its_drive_alone_in_tendon_force_and_is_taken_back(hand):
    def gains(*settings):
        found = model_of(load_with(str(hand), settings)[0])[0]
        return float(found["friction_gain"]), found["force_friction_gain"][:8].tolist()

    assert gains() == (0.8, [0.8] * 8)
    assert apply(hand, SURE, "a").keys == ["identified.m_index_2"]
    assert gains() == (0.8, [0.8, 0.95] + [0.8] * 6)
    # never less than the file says, and none in a hand that feeds none forward
    assert gains("gains.friction_gain=1.0") == (1.0, [1.0] * 8)
    assert gains("gains.friction_gain=0.0") == (0.0, [0.0] * 8)
    revert(hand)
    assert gains() == (0.8, [0.8] * 8)


def test_a_sure_share_goes_when_another_friction_is_applied_without_one_and_stays_with_anything_else(hand):
    def share():
        return load(str(hand)).measured("m_index_2").force_friction_gain

    apply(hand, SURE, "a")
    apply(
        hand,
        '[identified.m_index_2]\nmotor_inertia_kg_m2 = 0.0004\norigin = "identified: 2026-11-30 run b"\n',
        "b",
    )
    assert share() == 0.95
    apply(hand, '[identified.m_index_2]\ngamma_2_nm = 0.45\norigin = "identified: 2026-11-30 run c"\n', "c")
    assert share() is None
    revert(hand)
    assert share() == 0.95
