"""Mechanism files: every shipped one loads and runs; wrong ones are refused with line and remedy."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from hand.file import load_hand
from mechanics.dynamics.batch import accelerations
from reports.mechanism_animation import AnimationError, check_format
from signals.names import UnknownName
from sim.mechanisms.load import MechanismFileError, load_mechanism, parse_mechanism, shipped_mechanisms
from tools.cli import main

UP = 1.5707963267948966
"""A leg that is stretched."""
SHIPPED = (
    "carpal_forearm",
    "carpal_wrist",
    "hand_on_arm",
    "hand_on_carpal",
    "long_tree",
    "muscle_finger",
    "prosthesis_arm",
    "y_tree",
)


def text_of(name: str) -> str:
    return Path(load_mechanism(name).path).read_text(encoding="utf-8")


def test_all_mechanisms_of_the_papers_are_shipped():
    assert set(SHIPPED) <= set(shipped_mechanisms())


@pytest.mark.parametrize("name", SHIPPED)
def test_every_scenario_runs_and_every_value_has_an_origin(name):
    loaded = load_mechanism(name)
    assert loaded.mechanism.name == name and loaded.origins
    for scenario in loaded.mechanism.scenarios:
        run = loaded.mechanism.run(scenario, duration_s=0.1)
        assert run.divergence is None, run.divergence
        assert np.all(np.isfinite(run.q)) and len(run.time_s) > 10
        for segment in loaded.mechanism.segments(run.q[-1]):
            assert np.all(np.isfinite(segment[1]))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_scenario_leaves_springs_and_dampers_as_they_were(name):
    mechanism = load_mechanism(name).mechanism
    before = [part.tobytes() for part in mechanism.system.parts[:1]]
    first = mechanism.run(duration_s=0.01).q[-1].copy()
    for scenario in mechanism.scenarios:
        mechanism.run(scenario, duration_s=0.01)
    assert [part.tobytes() for part in mechanism.system.parts[:1]] == before
    assert np.array_equal(mechanism.run(duration_s=0.01).q[-1], first)


def test_the_torsion_spring_scenario_holds_the_long_branch():
    mechanism = load_mechanism("long_tree").mechanism
    free, sprung = (mechanism.run(s, duration_s=0.5) for s in ("fall", "spring"))
    j = mechanism.system.dofs.index("long_1")
    assert np.abs(sprung.q[:, j]).max() < 0.2 < np.abs(free.q[:, j]).max()


def test_the_hand_on_the_arm_has_all_its_joints_and_mass():
    mechanism = load_mechanism("hand_on_arm").mechanism
    hand = load_hand("hasy")
    assert mechanism.system.n_dofs == 5 + len(hand.axes) + len(hand.joints)
    tree = mechanism.system.parts[0][0]
    arm = load_mechanism("prosthesis_arm").file
    bones = sum(b.mass_kg for f in hand.fingers.values() for b in getattr(f, "bones", ()))
    hinges = sum(getattr(f, "mass_kg", 0.0) for f in hand.fingers.values())
    expected = sum(link.mass_kg for link in arm.link[:5]) + hand.palm.mass_kg + bones + hinges
    assert abs(tree["mass"].sum() - expected) < 1e-12
    assert tree["coupled"].sum() == 2


def test_lagrange_and_tree_forms_of_the_arm_run_alike():
    text = text_of("prosthesis_arm").replace('form = "tree" ', 'form = "lagrange" ')
    lagrange = parse_mechanism(text, "arm.toml").mechanism
    tree = load_mechanism("prosthesis_arm").mechanism
    assert lagrange.system.kind != tree.system.kind
    ends = [m.run("swing", duration_s=0.2, integrator="rk4", step_s=1e-4).q[-1] for m in (tree, lagrange)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


SLIDER = "stiffness_n_m = 1.0"
UPRIGHT = "leg_1 = 1.0, leg_2 = 1.0, leg_3 = 1.0"
WRONG = (
    ("y_tree", "mass_kg = 0.5, to_m", "mass_kg = -0.5, to_m", "mass_kg: found -0.5; legal: > 0"),
    ("y_tree", 'joint = "revolute"', 'joint = "hinge"', "one of "),
    ("y_tree", "gravity_m_s2 =", "gravity =", "did you mean 'gravity_m_s2'"),
    ("y_tree", 'kind = "tree"', 'kind = "tre"', "did you mean 'tree'"),
    ("y_tree", 'parent = "union"', 'parent = "onion"', "parent 'onion' is unknown"),
    ("y_tree", 'rods = "assumed: as the inner halves"\n', "", "a value without origin"),
    ("y_tree", 'joint = "revolute"', f'joint = "revolute"\n{SLIDER}', "no stiffness_n_m at a revolute joint"),
    ("carpal_wrist", "leg_m = 0.1", "leg_m = -0.1", "leg_m: found -0.1"),
    ("carpal_wrist", UPRIGHT, UPRIGHT.replace("1.0", "1.5708"), "scenario 'torque_history'"),
    ("carpal_wrist", "[0.006, 0.006, 0.003]", "[0.006, 0.006, 0.03]", "exceeds the sum of the others"),
    ("prosthesis_arm", "mass_kg = 2.1", "mass_kg = 0.0", "mass_kg: found 0.0"),
    ("hand_on_arm", 'link = "pronation"', 'link = "wrist_9"', "the arm has no such link; use one of"),
    ("hand_on_arm", 'arm = "prosthesis_arm"', 'arm = "y_tree"', "give an arm file"),
    ("hand_on_carpal", 'carpal = "carpal_forearm"', 'carpal = "y_tree"', "give a carpal wrist file"),
    ("hand_on_carpal", "1.3, leg_2 = 1.05, leg_3 = 1.1", f"{UP}, leg_2 = {UP}, leg_3 = {UP}", "'nod'"),
    ("muscle_finger", 'drive = "current" ', 'drive = "voltage" ', "drive: found \"voltage\""),
)  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "message"), WRONG)
def test_wrong_files_are_refused_with_line_and_remedy(name, old, new, message):
    text = text_of(name)
    assert old in text
    with pytest.raises(MechanismFileError, match=re.escape(message)) as caught:
        parse_mechanism(text.replace(old, new, 1), "wrong.toml")
    assert re.search(r"wrong\.toml:\d+: ", str(caught.value))


def test_unknown_scenarios_and_mechanisms_are_answered_with_the_nearest_name():
    with pytest.raises(UnknownName, match="did you mean 'springs'"):
        load_mechanism("carpal_wrist").mechanism.run("spring")
    with pytest.raises(MechanismFileError, match="did you mean 'y_tree'"):
        load_mechanism("ytree")


def simulate(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(["simulate", *arguments])
    return int(done.value.code or 0)


def test_the_command_writes_table_picture_and_moving_picture(tmp_path, capsys):
    moving = tmp_path / "y.gif"
    code = simulate(
        "y_tree",
        "--for",
        "0.2",
        "--plot",
        "--csv",
        "--json",
        "--animate",
        str(moving),
        "--out",
        str(tmp_path),
    )
    assert code == 0
    report = json.loads(capsys.readouterr().out)
    assert (
        report["ok"]
        and report["energy_change_frac"] < 1e-9
        and report["coordinates"] == ["union", "right", "left"]
    )
    assert (tmp_path / "y_tree_fall.png").read_bytes()[:4] == b"\x89PNG"
    assert moving.read_bytes()[:3] == b"GIF"
    with (tmp_path / "y_tree_fall.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    run = load_mechanism("y_tree").mechanism.run(duration_s=0.2)
    assert [float(r["q_left_rad"]) for r in rows] == run.q[:, 2].tolist()
    again = accelerations_of(run)
    assert np.abs(np.array([float(r["qdd_left_rad_s2"]) for r in rows]) - again[:, 2]).max() < 1e-12


def accelerations_of(run):
    from tests.rigs.mechanism_cases import y_tree

    return accelerations(y_tree(), run.q, run.qd)


def test_the_command_tells_a_divergence_in_one_line_and_fails(capsys):
    assert simulate("muscle_finger", "--integrator", "semi-implicit", "--step", "0.002") == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: diverged at step") and captured.err.count("\n") == 1
    assert "take a step below" in captured.err


def test_the_command_refuses_what_it_cannot_do(capsys, tmp_path):
    assert simulate("y_tree", "--integrator", "heun") == 2
    assert "legal: euler, semi-implicit, implicit, rk4" in capsys.readouterr().err
    assert simulate("y_tree", "--animate", str(tmp_path / "a.avi")) == 2
    assert "use .gif or .mp4" in capsys.readouterr().err
    with pytest.raises(AnimationError):
        check_format(tmp_path / "noending")


def test_the_command_lists_mechanisms_and_scenarios(capsys):
    assert simulate("--list") == 0
    shown = capsys.readouterr().out
    for name in SHIPPED:
        assert f"{name}: " in shown
    assert "--scenario torque_history" in shown


def test_the_file_of_the_documentation_runs():
    page = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    mechanism = parse_mechanism(example, "example.toml").mechanism
    run = mechanism.run()
    assert mechanism.system.sliders == (False, True) and run.divergence is None
    assert run.energy_j[-1] < run.energy_j[0]


def test_sliders_and_hinges_are_given_in_their_units():
    page = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    moved = example.replace(
        "start_rad = { upper = 0.5 }", "start_m = { bob = 0.01 }\nforce_n = { bob = [[0.0, 1.0]] }"
    )
    run = parse_mechanism(moved, "example.toml").mechanism.run(duration_s=0.01)
    assert run.q[0].tolist() == [0.0, 0.01] and run.tau[0].tolist() == [0.0, 1.0]
    wrong = example.replace("start_rad = { upper = 0.5 }", "start_rad = { bob = 0.5 }")
    with pytest.raises(ValueError, match="'bob' is a slider: give m, m/s, N"):
        parse_mechanism(wrong, "example.toml").mechanism.run()
