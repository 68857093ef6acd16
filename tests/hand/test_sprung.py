"""Fewer lines than joints: angles and goals against the least elastic energy, found without our formula."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hand.assembly.assemble import model_of
from hand.assembly.tendons import refresh_pseudo_inverse
from hand.file import HandFileError, load_hand, parse_hand
from hand.review.sight import sights_of
from hand.review.suspicions import suspicions
from runtime.session import RunResult, run_lockstep
from signals.layout import FloatArray
from signals.modes import FingerKind
from telemetry.command.servos import unfulfillable
from tests.rigs.mutations import TEXTS, refusal

HAND = "sdm"
TEXT = TEXTS[HAND]
N = 8

TWO_CABLES = """tendons = [
  { name = "left", finger = "grasp", motor = "winch", dh_dq_m_rad = { LEFT }, length_m = 0.3 },
  { name = "right", finger = "grasp", motor = "second", dh_dq_m_rad = { RIGHT }, length_m = 0.25 },
]
"""


def two_cables() -> str:
    """The hand with a cable and a motor for each side, sensors of different noise, half of the impedance."""
    row = re.search(r"dh_dq_m_rad = \{ (.*?) \}", TEXT)
    sensor = re.search(r"(?m)^  \{ kind = \"force\".*$", TEXT)
    assert row and sensor
    entries = row[1].split(", ")
    text = TWO_CABLES
    for side in ("left", "right"):
        text = text.replace(side.upper(), ", ".join(e for e in entries if e.startswith(side)))
    noisy = sensor[0].replace("cable", "right").replace("channel = 1", "channel = 2")
    noisy = noisy.replace("noise_counts_rms = 1.0", "noise_counts_rms = 2.0")
    out = re.sub(r"(?s)tendons = \[.*?\n\]\n", text, TEXT, count=1)
    for gain, half in (("= 0.2,", "= 0.1,"), ("= 1.0, damping", "= 0.5, damping")):
        out = out.replace(f"impedance_nm_rad {gain}", f"impedance_nm_rad {half}")
    out = out.replace(sensor[0], sensor[0].replace("cable", "left") + "\n" + noisy)
    return out.replace("\nwinch = ", '\nsecond = { id = 2, drive = "gearmotor" }\nwinch = ')


def springs_of(text: str) -> tuple[FloatArray, FloatArray]:
    """Stiffness [N m/rad] and rest angle [rad] of every joint, as the file has them."""
    joints = [j for f in tomllib.loads(text)["fingers"].values() for j in f["joints"]]
    k = np.array([j["spring"]["stiffness_nm_rad"] for j in joints])
    return k, np.radians([j["spring"]["rest_deg"] for j in joints])


@cache
def settled(folder: Path) -> RunResult:
    """The hand at rest at joint goals that only the lines' part of can be had, without losses in guides."""
    motion = folder / "apart.toml"
    motion.write_text(
        'description = "Proximal joints go."\n[[tracks]]\nkind = "joint_deg"\nroles = ["flexion"]\n'
        "sine = { mean = 40.0, amplitude = 0.0, frequency_hz = 1.0 }\n"
    )
    return run_lockstep(HAND, motion=str(motion), seconds=4.0, every=1, guides="ideal")


@pytest.fixture
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return settled(tmp_path_factory.getbasetemp())


def test_the_settled_plant_stands_where_springs_and_cable_have_the_least_energy(at_rest: RunResult) -> None:
    """Of all joint angles at the motor's angle; figures from the file alone, not from the model record."""
    raw, truth = tomllib.loads(TEXT), at_rest.frames["truth"]
    stiffness, rest = springs_of(TEXT)
    row = np.array(list(raw["tendons"][0]["dh_dq_m_rad"].values()))
    cord = raw["tendons"][0]["length_m"] / raw["tendon"]["axial_stiffness_n"]
    line_n_m = 1.0 / (1.0 / raw["springs"]["tube"]["stiffness_n_m"] + cord)
    start_m = raw["tendon"]["pretension_n"] / line_n_m
    wound_m = raw["spool"]["radius_m"] * float(truth["motor_angle_rad"][-1, 0])

    # energy = (|sqrt(K) (q - rest)|^2 + line (start + row q + wound)^2) / 2, least where its residuals are
    root, line = np.sqrt(stiffness), np.sqrt(line_n_m)
    found = np.linalg.lstsq(
        np.vstack((np.diag(root), line * row)),
        np.append(root * rest, -line * (start_m + wound_m)),
        rcond=None,
    )[0]
    assert start_m + float(row @ found) + wound_m > 0.0  # taut: the cable's energy is a square
    angle = truth["joint_angle_rad"][-1, :N]
    assert np.degrees(np.abs(angle)).max() > 20.0
    np.testing.assert_allclose(np.degrees(angle), np.degrees(found), atol=0.02)
    estimate = at_rest.frames["state"]["joint_angle_rad"][-100:, :N].mean(axis=0)
    np.testing.assert_allclose(np.degrees(estimate), np.degrees(found), atol=0.1)


def test_goals_that_the_cable_cannot_give_become_the_pose_at_its_length(at_rest: RunResult) -> None:
    """Of all poses with the goal's length that with the least energy; it is then followed."""
    stiffness, rest = springs_of(TEXT)
    wish = np.radians([40.0, 0.0] * 4)
    row = np.array(list(tomllib.loads(TEXT)["tendons"][0]["dh_dq_m_rad"].values()))[None, :]
    wanted = least_energy(row, stiffness, rest, row @ wish)
    goal = at_rest.frames["goal"]["joint_angle_rad"][-1, :N]
    np.testing.assert_allclose(goal, wanted, atol=1e-6)
    angle = at_rest.frames["truth"]["joint_angle_rad"][-1, :N]
    np.testing.assert_allclose(np.degrees(angle), np.degrees(wanted), atol=2.0)


def test_a_goal_beyond_the_range_is_taken_back_along_the_line(tmp_path: Path) -> None:
    motion = tmp_path / "far.toml"
    tracks = [
        f'[[tracks]]\nkind = "joint_deg"\nroles = ["{role}"]\n'
        f"sine = {{ mean = {deg}, amplitude = 0.0, frequency_hz = 1.0 }}\n"
        for role, deg in (("flexion", 89.0), ("pip", 59.0))
    ]
    motion.write_text('description = "All the way."\n' + "".join(tracks))
    run = run_lockstep(HAND, motion=str(motion), seconds=3.0, every=1)
    m, goal = run.hand.model[0], run.frames["goal"]["joint_angle_rad"][-1, :N]
    assert run.report["faults"] == []
    assert (goal <= m["joint_max_rad"][:N] + 1e-12).all()
    assert np.isclose(goal, m["joint_max_rad"][:N]).any()
    inverse = m["pinv_jt_1_m"][:N, :1]
    np.testing.assert_allclose(inverse @ (m["P_tj_m"][:1, :N] @ goal), goal, atol=1e-12)


def least_energy(
    P_tj_m: FloatArray, stiffness: FloatArray, rest: FloatArray, length: FloatArray
) -> FloatArray:
    """Joint angles with the least energy of springs among those with lengths h = P q."""
    one = np.linalg.lstsq(P_tj_m, length, rcond=None)[0]
    free = np.linalg.svd(P_tj_m)[2][len(P_tj_m) :].T  # motions that no line sees
    root = np.sqrt(stiffness)
    along = np.linalg.lstsq(free * root[:, None], root * (rest - one), rcond=None)[0]
    angles: FloatArray = one + free @ along
    return angles


@st.composite
def fingers(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of P [m/rad] of one to three lines over as many joints or more, stiffnesses, start tensions."""
    lines = draw(st.integers(1, 3))
    joints = draw(st.integers(lines, N))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = -rng.uniform(0.002, 0.012, (lines, joints)) * (rng.random((lines, joints)) < 0.7)
    P[np.arange(lines), np.arange(lines)] = -0.01 - 0.002 * np.arange(lines)
    return P, 10.0 ** rng.uniform(-2.0, 0.0, joints), rng.uniform(1.0, 10.0, lines)


@settings(max_examples=60, deadline=None)
@given(fingers(), st.integers(0, 2**32 - 1))
def test_angles_from_lengths_have_the_least_energy(
    finger: tuple[FloatArray, FloatArray, FloatArray], seed: int
) -> None:
    """Whatever the lines, the stiffnesses and the tension with which q = 0 is one of the poses."""
    P, stiffness, start_n = finger
    lines, joints = P.shape
    if np.linalg.cond(P) > 50.0:
        return
    model = model_of(parse_hand(TEXT, "hand.toml")).copy()
    m = model[0]
    m["n_tendons"], m["n_joints"] = lines, joints
    m["finger_n_tendons"][0], m["finger_n_joints"][0] = lines, joints
    m["finger_tendon"][0, :lines], m["finger_joint"][0, :joints] = np.arange(lines), np.arange(joints)
    m["P_tj_m"] = 0.0
    m["P_tj_m"][:lines, :joints], m["joint_spring_nm_rad"][:joints] = P, stiffness
    m["joint_rest_rad"][:joints] = P.T @ start_n / stiffness
    refresh_pseudo_inverse(model)
    length = P @ np.random.default_rng(seed).uniform(-0.2, 1.5, joints)
    wanted = least_energy(P, stiffness, m["joint_rest_rad"][:joints], length)
    np.testing.assert_allclose(m["pinv_jt_1_m"][:joints, :lines] @ length, wanted, atol=1e-8)


def test_a_hand_with_a_cable_for_each_side_runs_by_file_alone(tmp_path: Path) -> None:
    """Two lines, eight joints, sensors that are not alike: both lengths are met all the same."""
    file = tmp_path / "two.toml"
    file.write_text(two_cables())
    assert suspicions(load_hand(str(file))) == ()
    run = run_lockstep(str(file), motion="open_close", seconds=3.0, every=5)
    assert run.report["faults"] == [] and run.hand.model["finger_kind"][0, 0] == FingerKind.SPRUNG
    assert 0.0 < run.hand.model["hall_weight"][0, 1] < 1.0
    assert run.report["estimate_error_deg"]["rms"] < 1.0 and run.report["tracking_error_deg"]["rms"] < 2.0


def taking_angles(sensed: bool) -> str:
    """The hand with a drive that takes angles; with its load cell, or by motor angle and current alone."""
    loop = (
        "stiffness_nm_rad = 10.0, damping_nms_rad = 0.1, deadband_deg = 0.0, travel_deg = [-3600.0, 3600.0]"
    )
    text = TEXT.replace('command = "current"', 'command = "current_position"')
    text = text.replace("\nfriction = {", f"\nposition_loop = {{ {loop} }}\nfriction = {{")
    if not sensed:
        text = re.sub(r"(?s)sensors = \[.*?\n\]\n", "", text, count=1)
        text = re.sub(r"(?s)\[origin.sensors\].*?\n\n", "", text, count=1)
        text = re.sub(r"tension_kp_nm_n = [\d.]+", "tension_kp_nm_n = 0.0", text)
    return text


@pytest.mark.parametrize(("sensed", "error_deg"), [(True, 0.7), (False, 1.5)])
def test_a_drive_that_takes_angles_closes_it_too(tmp_path: Path, sensed: bool, error_deg: float) -> None:
    """Its set-points count on the tension that the springs need; a fault of the motor ends it."""
    file = tmp_path / "angles.toml"
    file.write_text(taking_angles(sensed))
    report = run_lockstep(str(file), motion="open_close", seconds=3.0).report
    assert report["faults"] == []
    assert report["estimate_error_deg"]["rms"] < error_deg and report["tracking_error_deg"]["rms"] < 3.0
    lost = run_lockstep(str(file), motion="open_close", seconds=1.0, faults=("motor-lost:winch@0.8",)).report
    assert [f["cause"] for f in lost["faults"]] == ["MOTOR_LOST"]


@pytest.mark.parametrize("motion", ["tension_step", "force_sine"])
def test_force_goals_of_the_cable_are_followed(motion: str) -> None:
    report = run_lockstep(HAND, motion=motion, seconds=2.0).report
    assert report["faults"] == [] and report["estimate_error_deg"]["rms"] < 1.0
    spread = report["tension_n"]["max"] - report["tension_n"]["min"]
    assert report["force_error_n"]["rms"] < 0.25 * spread, report["force_error_n"]


def test_it_is_said_that_springs_tell_the_joints_and_what_cannot_be_asked() -> None:
    hand = parse_hand(TEXT, "hand.toml")
    (sight,) = sights_of(hand)
    assert sight.joints == "sensors and springs" and sight.can == ("tension",)
    assert any("an object that holds some joints" in missed for missed in sight.not_detected)
    m = model_of(hand)[0]
    assert "springs open" in unfulfillable(m, "pretension", "finger", 0, 10.0)
    assert "springs open" in unfulfillable(m, "stiffnesses", "joint", 0, 0.5)
    assert unfulfillable(m, "pretension", "finger", 0, float(m["pretension_n"][0])) == ""
    assert unfulfillable(m, "joint_torques", "joint", 0, 0.01) == ""


def refusals(text: str) -> list[str]:
    with pytest.raises(HandFileError) as caught:
        parse_hand(text, "hand.toml")
    assert all(p.line > 0 for p in caught.value.problems)
    return [str(p) for p in caught.value.problems]


def test_a_rest_angle_that_does_not_balance_is_refused_with_the_one_that_does() -> None:
    wrong = TEXT.replace("rest_deg = -2.0463", "rest_deg = -1.5", 1)
    (told,) = refusals(wrong)
    right = re.search(r"legal: (-[\d.]+)", told)
    assert right and "left_front_distal does not rest at 0" in told
    parse_hand(wrong.replace("rest_deg = -1.5", f"rest_deg = {right[1]}"), "hand.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (", spring = { stiffness_nm_rad = 0.0421, rest_deg = -10.8876 }", "", "a spring at every joint"),
        ("range_deg = [-5.0, 60.0]", "range_deg = [5.0, 60.0]", "range_deg that contains 0"),
        (
            "length_m = 0.3 },",
            "dh_dq_curve_m = { left_front_distal = [1e-4, 0.0, 0.0] }, length_m = 0.3 },",
            "stay",
        ),
    ],
)
def test_what_springs_cannot_stand_for_is_refused_in_place(old: str, new: str, words: str) -> None:
    assert old in TEXT
    assert any(words in told for told in refusals(TEXT.replace(old, new, 1)))


def test_two_lines_of_one_motor_or_two_that_say_the_same_are_refused() -> None:
    text = two_cables()
    one_motor = text.replace('motor = "second", ', 'motor = "winch", spool_radius_m = 0.01, ')
    one_motor = one_motor.replace('motor = "winch", dh', 'motor = "winch", spool_radius_m = 0.01, dh')
    one_motor = one_motor.replace('\nsecond = { id = 2, drive = "gearmotor" }', "")
    assert any("a motor of its own for each tendon" in told for told in refusals(one_motor))
    rows = re.findall(r"dh_dq_m_rad = \{ (.*?) \}", text)
    both = ", ".join(rows)
    same = text.replace(rows[0], both).replace("{ " + rows[1] + " }", "{ " + both + " }")
    assert any("at least 9" in told for told in refusals(same))


def test_joints_without_a_spring_among_others_are_named() -> None:
    spring = re.search(r", spring = \{.*?\}", TEXT)
    assert spring
    (problem,) = [p for p in refusal(TEXT.replace(spring[0], "", 1)) if "tendons only pull" in p.legal]
    first = tomllib.loads(TEXT)["fingers"]["grasp"]["joints"][0]["name"]
    assert problem.legal.endswith(f"(there is none at {first})")
