"""Rows without a motor over several joints: in plant, estimate and controllers, and what a file may say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from hand.assembly.assemble import hand_sha256, model_of
from hand.assembly.mismatch import draw_mismatch
from hand.file import parse_hand
from hand.review.sight import sights_of
from hand.review.suspicions import suspicions
from mechanics.passive_rows import rows_energy_j, rows_torque_nm, stiffness_of_joints_nm_rad
from runtime.session import run_lockstep
from signals.modes import FingerKind
from tests.rigs.mutations import TEXTS, lines_told
from tests.rigs.returned import FINGERS, STIFFNESS_N_M, opposed, row, underactuated, with_rows

N = 8
TEXT = underactuated()


def drawn_rows(seed: int) -> np.ndarray:
    """The hand of eight sprung joints with rows that are drawn: arms of either sign over any of them."""
    rng = np.random.default_rng(seed)
    model = model_of(parse_hand(TEXTS["sdm"], "hand.toml"))
    m = model[0]
    m["n_passives"] = rows = int(rng.integers(1, 6))
    m["passive_arm_m"][:rows, :N] = rng.uniform(-0.01, 0.01, (rows, N)) * (rng.random((rows, N)) < 0.6)
    m["passive_stiffness_n_m"][:rows] = rng.uniform(50.0, 4000.0, rows)
    m["passive_preload_n"][:rows] = rng.uniform(0.1, 10.0, rows)
    return model


@pytest.mark.parametrize("seed", range(6))
def test_the_torque_of_rows_is_the_slope_of_their_energy(seed: int) -> None:
    """Also of slack ones; and the matrix is the slope of the torque where all are taut."""
    m = drawn_rows(seed)[0]
    q = np.zeros(len(m["joint_min_rad"]))
    q[:N] = np.random.default_rng(seed + 100).uniform(-1.0, 1.5, N)
    step = 1e-6
    for j in range(N):
        ahead, behind = q.copy(), q.copy()
        ahead[j] += step
        behind[j] -= step
        slope = (rows_energy_j(m, ahead) - rows_energy_j(m, behind)) / (2.0 * step)
        assert rows_torque_nm(m, j, q) == pytest.approx(slope, rel=1e-5, abs=1e-7)
    m["passive_preload_n"] = 1e3
    for i in range(N):
        for j in range(N):
            ahead = q.copy()
            ahead[j] += step
            slope = (rows_torque_nm(m, i, ahead) - rows_torque_nm(m, i, q)) / step
            own = m["joint_spring_nm_rad"][i] if i == j else 0.0
            assert stiffness_of_joints_nm_rad(m, i, j) == pytest.approx(own + slope, rel=1e-4, abs=1e-6)


def test_the_settled_hand_stands_where_rows_springs_and_cable_have_the_least_energy(tmp_path: Path) -> None:
    """By the figures of the file alone; the estimate stands there too."""
    file, motion = tmp_path / "hand.toml", tmp_path / "apart.toml"
    file.write_text(TEXT)
    motion.write_text(
        'description = "Proximal joints go."\n[[tracks]]\nkind = "joint_deg"\nroles = ["flexion"]\n'
        "sine = { mean = 40.0, amplitude = 0.0, frequency_hz = 1.0 }\n"
    )
    run = run_lockstep(str(file), motion=str(motion), seconds=4.0, every=1, guides="ideal")
    assert run.report["faults"] == [] and run.hand.model["finger_kind"][0, 0] == FingerKind.SPRUNG
    raw, truth = tomllib.loads(TEXT), run.frames["truth"]
    joints = raw["fingers"]["grasp"]["joints"]
    names = [j["name"] for j in joints]
    cable = np.array([raw["tendons"][0]["dh_dq_m_rad"][name] for name in names])
    cord = raw["tendons"][0]["length_m"] / raw["tendon"]["axial_stiffness_n"]
    line_n_m = 1.0 / (1.0 / raw["springs"]["tube"]["stiffness_n_m"] + cord)
    wound_m = raw["spool"]["radius_m"] * float(truth["motor_angle_rad"][-1, 0])

    rows, wants = [np.sqrt(line_n_m) * cable], []  # residuals of the energy, half their squares' sum
    wants.append(-np.sqrt(line_n_m) * (raw["tendon"]["pretension_n"] / line_n_m + wound_m))
    for k, joint in enumerate(joints):
        if "spring" in joint:
            root = np.sqrt(joint["spring"]["stiffness_nm_rad"])
            rows.append(root * np.eye(N)[k])
            wants.append(root * np.radians(joint["spring"]["rest_deg"]))
    for band in raw["passive"]:
        root = np.sqrt(band["stiffness_n_m"])
        rows.append(root * np.array([band["dh_dq_m_rad"].get(name, 0.0) for name in names]))
        wants.append(-band["preload_n"] / root)
    found = np.degrees(np.linalg.lstsq(np.array(rows), np.array(wants), rcond=None)[0])
    angle = np.degrees(truth["joint_angle_rad"][-1, :N])
    assert np.abs(angle).max() > 20.0
    np.testing.assert_allclose(angle, found, atol=0.05)
    estimate = np.degrees(run.frames["state"]["joint_angle_rad"][-100:, :N].mean(axis=0))
    np.testing.assert_allclose(estimate, found, atol=0.2)


def sensed(text: str) -> str:
    """The hand with an encoder at each distal joint."""
    keys = "bits = 14, span_deg = 360.0, zero_count = 8192, direction = 1, noise_counts_rms = 1.0"
    more = "accuracy_deg = 0.1, filter_hz = 1000.0"
    rows = "".join(
        f'\n  {{ kind = "joint", at = "{f}_distal", channel = {k}, {keys}, {more} }},'
        for k, f in enumerate(FINGERS, start=60)
    )
    label = '[origin.sensors]\nspan_deg = "assumed"\naccuracy_deg = "assumed"\n'
    return text.replace("\nsensors = [", "\nsensors = [" + rows).replace("[origin.sensors]\n", label)


def test_a_sensor_at_one_joint_of_a_row_tells_the_other_too(tmp_path: Path) -> None:
    """Bands stiffer than the file says: the cable's length and one joint leave one pose."""
    files = {}
    stiffer = underactuated(stiffness_n_m=1.8 * STIFFNESS_N_M)
    for name, text in (("bare", TEXT), ("sensed", sensed(TEXT)), ("a", stiffer), ("b", sensed(stiffer))):
        files[name] = str(tmp_path / f"{name}.toml")
        Path(files[name]).write_text(text)
    errors = []
    for hand, plant in (("bare", "a"), ("sensed", "b")):
        report = run_lockstep(files[hand], motion="open_close", seconds=2.0, plant=files[plant]).report
        assert report["faults"] == []
        errors.append(report["estimate_error_deg"]["by_joint"])
    proximal = [j for j in errors[0] if j.endswith("proximal")]
    assert max(errors[1][j] for j in proximal) < 0.2 * min(errors[0][j] for j in proximal), errors


LOOP = "stiffness_nm_rad = 10.0, damping_nms_rad = 0.1, deadband_deg = 0.0, travel_deg = [-3600.0, 3600.0]"


@pytest.mark.parametrize(("command", "tracking_deg"), [("current", 1.2), ("current_position", 2.5)])
def test_what_rows_open_is_followed_with_drives_of_either_kind(
    tmp_path: Path, command: str, tracking_deg: float
) -> None:
    """Joints as easy to turn as their cords are soft; set-points count on the tension that the rows need."""
    text = re.sub(r"viscous_nms_rad = [\d.]+", "viscous_nms_rad = 0.0003", TEXT)
    if command != "current":
        text = text.replace('command = "current"', f'command = "{command}"')
        text = text.replace("\nfriction = {", f"\nposition_loop = {{ {LOOP} }}\nfriction = {{")
    file = tmp_path / "hand.toml"
    file.write_text(text)
    report = run_lockstep(str(file), motion="open_close", seconds=3.0).report
    assert report["faults"] == []
    assert report["estimate_error_deg"]["rms"] < 0.8
    assert report["tracking_error_deg"]["rms"] < tracking_deg


def test_rows_are_fed_forward_as_far_as_they_are_known(tmp_path: Path) -> None:
    """A hand that knows its bands follows as one without them; one that does not, sags."""
    file = tmp_path / "bands.toml"
    file.write_text(opposed(2000.0, 30.0))
    errors = {}
    for told, hand, plant in (
        ("none", "n_plus_one", None),
        ("known", file, None),
        ("unknown", "n_plus_one", file),
    ):
        choices = {} if plant is None else {"plant": str(plant)}
        run = run_lockstep(str(hand), motion="open_close", seconds=3.0, **choices)
        assert not run.report["faults"]
        errors[told] = run.report["tracking_error_deg"]["rms"]
    assert errors["known"] - errors["none"] < 0.25 * (errors["unknown"] - errors["none"]), errors


def test_a_row_over_one_joint_is_the_spring_of_that_joint() -> None:
    """docs/hand_files.md: stiffness k r^2, at rest at -f0 / (k r)."""
    k, arm, preload = 352.0, 0.005, 1.0
    text = TEXTS["n_plus_one"]
    rest_deg = -np.degrees(preload / (k * arm))
    spring = f"spring = {{ stiffness_nm_rad = {k * arm**2}, rest_deg = {rest_deg} }}"
    sprung = text.replace("damping_nms_rad = 0.01 }", f"damping_nms_rad = 0.01, {spring} }}")
    assert sprung != text
    rows = with_rows(text, [row("band", "finger", {"distal": arm}, k, preload)])
    one, other = (model_of(parse_hand(t, "hand.toml"))[0] for t in (sprung, rows))
    for angle in (-0.3, 0.0, 1.2):
        q = np.zeros(len(one["joint_min_rad"]))
        q[2] = angle
        own = one["joint_spring_nm_rad"][2] * (angle - one["joint_rest_rad"][2])
        assert rows_torque_nm(other, 2, q) == pytest.approx(own, rel=1e-6)
    assert one["finger_loaded"][0] == other["finger_loaded"][0] == 1


def test_a_file_without_rows_is_as_before_and_drawn_rows_change_nothing_else() -> None:
    plain, rows = (parse_hand(t, "hand.toml") for t in (TEXTS["n_plus_one"], opposed(2000.0, 30.0)))
    assert hand_sha256(plain) != hand_sha256(rows) and not model_of(plain)["n_passives"][0]
    ours, theirs = (draw_mismatch(model_of(h), 3, h.tolerances)[0] for h in (rows, plain))
    changed = [name for name in ours.dtype.names if ours[name].tobytes() != theirs[name].tobytes()]
    named = ["finger_loaded", "n_passives", "passive_arm_m", "passive_preload_n", "passive_stiffness_n_m"]
    assert sorted(changed) == named
    drawn = ours["passive_stiffness_n_m"][:2] / 2000.0
    assert (drawn != 1.0).all() and ours["passive_preload_n"][:2] / 30.0 == pytest.approx(drawn)


def test_springs_and_rows_together_are_said_to_tell_the_joints() -> None:
    hand = parse_hand(TEXT, "hand.toml")
    (sight,) = sights_of(hand)
    assert sight.joints == "sensors and springs" and suspicions(hand) == ()
    heavy = [str(s) for s in suspicions(parse_hand(opposed(40000.0, 600.0), "hand.toml"))]
    assert any("passive[0]" in text and "its tendons give" in text for text in heavy)


BAND = 'name = "left_front_return"'
ON_SERVOS = row("band", "index", {"index_mcp": 0.004, "index_pip": 0.004}, 100.0, 9.0)
REFUSED = {
    "slack": (
        underactuated(0.4),
        r"passive\[0\]\.preload_n: found 0\.4: slack with .*legal: at least 0\.524 N",
    ),
    "out of balance": (
        underactuated(1.2),
        r"passive\[0\]\.preload_n: found 1\.2: .*left_front_distal .*legal: 1,",
    ),
    "no such joint": (
        TEXT.replace("left_front_distal = 0.008", "left_front_dital = 0.008"),
        r"passive\[0\]\.dh_dq_m_rad\.left_front_dital: .*did you mean 'left_front_distal'",
    ),
    "no such finger": (
        TEXT.replace(f'{BAND}, finger = "grasp"', f'{BAND}, finger = "gras"'),
        r"passive\[0\]\.finger: found \"gras\"",
    ),
    "a tendon's name": (
        TEXT.replace(BAND, 'name = "cable"'),
        r"passive\[0\]\.name: found \"cable\" a second time",
    ),
    "no arm": (
        TEXT.replace("left_front_distal = 0.008", "left_front_distal = 0.0"),
        r"passive\[0\]\.dh_dq_m_rad\.left_front_distal",
    ),
    "a motion that nothing opens": (
        re.sub(r"(left_front_proximal.*), spring = \{[^}]*\}", r"\1", TEXT),
        r"passive rows leave the motion .* left_front_",
    ),
    "a tendon without a motor": (
        TEXTS["sdm"].replace('motor = "winch", ', ""),
        r"tendons\[0\]\.motor: found nothing.*a row of ``passive``",
    ),
    "a drive that takes angles": (
        with_rows(TEXTS["orca_v2_position"], [ON_SERVOS]),
        r"passive\[0\]\.finger: found a passive row at joints whose motors take angles",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_is_wrong_with_a_row_is_told_in_place(what: str) -> None:
    lines = lines_told(*REFUSED[what])
    assert lines and min(lines) > 0
