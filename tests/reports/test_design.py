"""``flexor design``: each calculator against another way to its figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hand.file import HandFileError
from hand.hand import Hand, read_tendon_hand
from hand.options import RunOptions
from hand.overrides import SettingError
from mechanics.coupling import tendon_lengths
from mechanics.kinematics import fingertips
from mechanics.palm_angles import WristOutOfRange, pitch_yaw
from mechanics.springs import elongation_of_lever, spring_at, spring_state
from mechanics.wrist import wrist_lengths
from reports.design.coupling import coupling_sheet, finger_of
from reports.design.finger import Finger
from reports.design.guide import guide_sheet
from reports.design.sheet import lines
from reports.design.spring import spring_sheet
from reports.design.wrist import wrist_sheet
from signals.choices import WrongChoice
from signals.names import UnknownName
from tools.commands.design import app


def read(name: str = "hasy", *settings: str) -> Hand:
    return read_tendon_hand(RunOptions(hand=name, settings=settings))


SPRINGS = (
    (),
    ("springs.tangent_alpha.lever_length_m=0.0135",),
    ("springs.tangent_alpha.spring_constant_n_m=9000", "springs.tangent_alpha.lever_pulley_radius_m=0.0035"),
)


@pytest.mark.parametrize("settings", SPRINGS)
def test_a_spring_gives_back_what_it_stores_and_its_stiffness_is_the_slope_of_its_force(settings) -> None:
    f = spring_sheet(read("hasy", *settings), "middle_8").figures
    force, path, energy = (np.array(f[k]) for k in ("force_n", "path_m", "energy_j"))
    middle = 0.5 * (force[1:] + force[:-1])
    assert np.diff(energy) / -np.diff(path) == pytest.approx(middle, rel=2e-3)
    for stiffness, way in (
        ("stiffness_n_m", -path),
        ("stiffness_with_tendon_n_m", np.array(f["elongation_m"])),
    ):
        slope = np.diff(force) / np.diff(way)
        k = np.array(f[stiffness])
        assert np.sqrt(k[1:] * k[:-1]) == pytest.approx(slope, rel=2e-3)
    assert f["tendon_compliance_m_n"] == pytest.approx(0.45 / 25000.0)
    counts = np.abs(np.diff(f["lever_deg"])) * 4096.0 / 90.0
    resolved = np.array(f["force_per_count_n"])
    assert np.sqrt(resolved[1:] * resolved[:-1]) == pytest.approx(np.diff(force) / counts, rel=2e-3)


def test_a_spring_is_that_of_the_loop() -> None:
    hand = read()
    f = spring_sheet(hand).figures
    for k, lever_deg in enumerate(f["lever_deg"]):
        force, _, path, _ = spring_at(hand.model[0], 0, math.radians(lever_deg))
        assert (f["force_n"][k], f["path_m"][k]) == pytest.approx((force, path), rel=1e-6, abs=1e-9)


def test_a_spring_that_cannot_be_built_is_refused_with_the_line_of_the_file() -> None:
    with pytest.raises(HandFileError, match=r"spring_free_length_m"):
        spring_sheet(read("hasy", "springs.tangent_alpha.spring_free_length_m=0.08"))
    with pytest.raises(SettingError, match="lever_length_m"):
        read("hasy", "springs.tangent_alpha.lever_lenght_m=0.01")
    with pytest.raises(UnknownName, match="index_8"):
        spring_sheet(read(), "index_9")


def test_guides_lose_what_a_tendon_cut_into_small_bends_loses() -> None:
    route = (40.0, 25.0, 21.0)
    f = guide_sheet(read(), route, tension_n=30.0, speed_m_s=1.0).figures
    total = math.radians(sum(route))
    values = {"pulley": (0.12, 0.6, 0.072), "sliding_polymer": (0.25, 0.5, 0.125)}
    values["sliding_aluminium"] = (0.35, 0.6, 0.21)
    n = 20_000
    for p in f["pairs"]:
        c0, c1, mu = values[p["pair"]]
        rope = (1.0 - mu * total / n) ** n  # df = -mu f dalpha, step by step
        loss = 1.0 - rope if p["law"] == "rope" else c0 * (1.0 - math.exp(-c1 * total))
        assert p["loss_frac"] == pytest.approx(loss, rel=1e-4)
        # far above the speed at which friction turns: all of the loss, with the motion's sign
        assert p["wound_in_n"] == pytest.approx(30.0 * (1.0 - loss), rel=1e-4)
        assert p["pulled_out_n"] == pytest.approx(30.0 * (1.0 + loss), rel=1e-4)
        assert p["motor_torque_nm"] == pytest.approx(0.3 * loss, rel=1e-3)
    assert [p["built_in"] for p in f["pairs"]] == [True] + [False] * 5
    assert f["route"][-1]["tension_n"] == pytest.approx(f["pairs"][0]["wound_in_n"], rel=1e-5)
    assert np.all(np.diff([30.0] + [r["tension_n"] for r in f["route"]]) < 0.0)


def test_a_route_that_is_not_said_is_the_files_and_what_cannot_be_is_refused() -> None:
    other = read(
        "finger_bench", "guides.pair=sliding_polymer", "guides.law=rope", "guides.bending_angle_rad=0.9"
    )
    f = guide_sheet(other).figures
    own = next(p for p in f["pairs"] if p["built_in"])
    assert own["loss_frac"] == pytest.approx(1.0 - math.exp(-0.125 * 0.9))
    assert own["loss_frac"] == pytest.approx(other.model["guide_loss_frac"][0, 0])
    for choices in ({"bends_deg": (-1.0,)}, {"tension_n": 0.0}, {"speed_m_s": math.nan}):
        with pytest.raises(WrongChoice, match="legal"):
            guide_sheet(other, **choices)


@pytest.mark.parametrize(("pitch", "yaw"), [(0.0, 0.0), (25.0, -8.0), (-40.0, 15.0)])
def test_a_wrist_pose_is_the_one_asked_for_and_slopes_are_differences_of_lengths(
    pitch: float, yaw: float
) -> None:
    hand = read()
    m, f = hand.model[0], wrist_sheet(hand, pitch, yaw).figures
    axes = np.array(f["axis_rad"])
    assert np.degrees(pitch_yaw(m, *axes)) == pytest.approx((pitch, yaw), abs=1e-8)
    step, n = 1e-6, len(hand.names.tendons)

    def lengths(at: np.ndarray) -> np.ndarray:
        h = np.zeros(len(m["tendon_kind"]))
        wrist_lengths(m, float(at[0]), float(at[1]), h)
        return h[:n]

    found = f["tendons"]
    assert [t["tendon"] for t in found] == list(hand.names.tendons)
    assert [t["length_m"] for t in found] == pytest.approx(lengths(axes))
    neutral = lengths(np.array(hand.file.wrist.neutral_rad))
    assert [t["change_m"] for t in found] == pytest.approx(lengths(axes) - neutral, abs=1e-15)
    tension = np.array([t["tension_n"] for t in found])
    assert tension == pytest.approx(hand.file.tendon.pretension_n)
    for k in range(2):
        ahead, back = axes.copy(), axes.copy()
        ahead[k] += step
        back[k] -= step
        slope = (lengths(ahead) - lengths(back)) / (2.0 * step)
        assert [t["slope_m_rad"][k] for t in found] == pytest.approx(slope, abs=1e-9)
        assert f["axis_torque_nm"][k] == pytest.approx(-tension @ slope, abs=1e-7)
    for t in found:
        low, high = t["change_range_m"]
        assert low <= t["change_m"] <= high
        assert t["motor_range_rad"] == pytest.approx((high - low) / 0.010)


def test_a_wrist_that_is_not_there_or_cannot_is_refused() -> None:
    with pytest.raises(WrongChoice, match="wrist"):
        wrist_sheet(read("finger_bench"))
    with pytest.raises(WristOutOfRange, match="smaller pitch"):
        wrist_sheet(read(), 150.0)
    with pytest.raises(WrongChoice, match="tension"):
        wrist_sheet(read(), tension_n=-1.0)


CASES = (
    ("hasy", "index", {}, {}),
    ("hasy", "thumb", {}, {"thumb_pip": 40.0}),
    ("hasy", "ring", {"ring_pip": 0.008}, {"ring_flexion": 70.0}),
    ("hasy", "hmc", {}, {}),
    ("n_plus_one", None, {}, {}),
)


@pytest.mark.parametrize(("name", "finger", "radii", "pose"), CASES)
def test_torques_are_the_corners_of_what_tensions_within_their_bounds_give(name, finger, radii, pose) -> None:
    hand = read(name)
    asked = finger_of(hand, finger, radii, pose)
    f = coupling_sheet(hand, asked).figures
    P, low, high = np.array(f["dh_dq_m_rad"]), np.array(f["tension_low_n"]), np.array(f["tension_high_n"])
    least, greatest = np.array(f["torque_least_nm"]), np.array(f["torque_greatest_nm"])
    torques = [
        (sign * np.eye(P.shape[1])[j] * size)
        for j in range(P.shape[1])
        for sign, size in ((1.0, greatest[j]), (-1.0, -least[j]))
    ]
    for section in f["sections"]:
        for corner in section["torque_nm"]:
            torques.append(np.zeros(P.shape[1]))
            torques[-1][[f["joints"].index(n) for n in section["joints"]]] = corner
    assert len(torques) >= 2 * P.shape[1]
    for tau in torques:
        if f["held"] and np.abs(tau).max() > 1e-6:
            assert _given(P, low, high, 0.999 * tau)
            assert not _given(P, low, high, 1.001 * tau)
    if not f["held"]:
        assert not np.any(torques) and not _given(P, low, high, np.zeros(P.shape[1]))


def _given(P: np.ndarray, low: np.ndarray, high: np.ndarray, tau: np.ndarray) -> bool:
    """True if tensions within bounds give a torque; a y with y . tau beyond them all proves that none do."""
    scale = np.abs(P).max()
    A, b, f = -P.T / scale, tau / scale, 0.5 * (low + high)
    step, ahead, t = 1.0 / np.linalg.norm(A, 2) ** 2, f.copy(), 1.0
    for k in range(50_000):
        new = np.clip(ahead - step * A.T @ (A @ ahead - b), low, high)
        t = 1.0 if (ahead - new) @ (new - f) > 0.0 else t
        t_new = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        ahead, f, t = new + (t - 1.0) / t_new * (new - f), new, t_new
        if k % 10 == 0:
            missed = b - A @ f
            if np.abs(missed).max() < 1e-7 * np.abs(b).max():
                return True
            if missed @ b > np.maximum(missed @ A * low, missed @ A * high).sum():
                return False
    raise AssertionError("neither given nor out of reach")


@pytest.mark.parametrize(("name", "finger", "radii", "pose"), CASES)
def test_stiffness_is_what_turning_a_joint_with_motors_held_costs(name, finger, radii, pose) -> None:
    """Elongation of each tendon follows its path; its tension comes from the spring, solved the other way."""
    hand = read(name)
    asked = finger_of(hand, finger, radii, pose)
    f = coupling_sheet(hand, asked).figures
    m = asked.model[0]
    tension = np.array(f["tension_n"])
    h0 = _paths(asked, np.zeros(len(asked.joints)))
    rest = []
    for t, n in zip(asked.tendons, tension, strict=True):
        low, high = (
            float(m["lever_min_rad"][m["tendon_spring"][t]]),
            float(m["lever_max_rad"][m["tendon_spring"][t]]),
        )
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if elongation_of_lever(m, t, middle)[0] > n else (low, middle)
        rest.append(elongation_of_lever(m, t, low)[1])

    def torque(dq: np.ndarray) -> np.ndarray:
        e = np.array(rest) + _paths(asked, dq) - h0
        pulls = [spring_state(m, t, float(x), -0.1, 0.0)[1] for t, x in zip(asked.tendons, e, strict=True)]
        rows = [(_paths(asked, dq + d) - _paths(asked, dq - d)) / 2e-6 for d in 1e-6 * np.eye(len(dq))]
        return -np.array(rows) @ np.array(pulls)

    K, step = np.array(f["stiffness_nm_rad"]), 1e-4
    for k in range(len(asked.joints)):
        d = np.zeros(len(asked.joints))
        d[k] = step
        # the controller's stiffness table is linear between nodes 1.5 N apart
        assert -(torque(d) - torque(-d)) / (2.0 * step) == pytest.approx(K[:, k], rel=0.02, abs=0.004)


def _paths(finger: Finger, dq: np.ndarray) -> np.ndarray:
    m = finger.model[0]
    q, h = np.zeros(len(m["joint_min_rad"])), np.zeros(len(m["tendon_kind"]))
    q[finger.joints] = finger.pose_rad + dq
    tendon_lengths(m, q, h)
    return h[finger.tendons]


def test_the_fingertip_gives_way_as_its_joints_do() -> None:
    hand = read()
    asked = finger_of(hand, "index", None, {"index_pip": 30.0})
    f, m = coupling_sheet(hand, asked).figures, asked.model[0]
    force = np.array([0.002, -0.003, 0.001])
    n = m["body_parent"].shape[0]

    def tip(dq: np.ndarray) -> np.ndarray:
        q, R, p, tips = (
            np.zeros(len(m["joint_min_rad"])),
            np.zeros((n, 3, 3)),
            np.zeros((n, 3)),
            np.zeros((8, 3)),
        )
        q[: len(hand.names.joints)] = (
            0.5 * (m["joint_min_rad"] + m["joint_max_rad"])[: len(hand.names.joints)]
        )
        q[asked.joints] = asked.pose_rad + dq
        fingertips(m, q, R, p, tips[: m["finger_joint"].shape[0]])
        return tips[asked.index].copy()

    J = np.array([(tip(d) - tip(-d)) / 2e-6 for d in 1e-6 * np.eye(4)])
    moved = tip(np.linalg.solve(np.array(f["stiffness_nm_rad"]), J @ force)) - tip(np.zeros(4))
    assert np.array(f["tip_compliance_m_n"]) @ force == pytest.approx(moved, rel=0.02, abs=2e-8)
    assert np.prod(f["tip_axes_m_n"]) == pytest.approx(np.linalg.det(f["tip_compliance_m_n"]))


def test_a_pulley_of_twice_the_radius_gives_twice_the_torque_and_four_times_the_stiffness() -> None:
    hand = read("finger_bench")
    small, large = (
        coupling_sheet(hand, finger_of(hand, "index", {"index_abduction": r, "index_flexion": r})).figures
        for r in (0.005, 0.010)
    )
    for j in range(2):
        assert large["torque_greatest_nm"][j] == pytest.approx(2.0 * small["torque_greatest_nm"][j])
        assert large["stiffness_nm_rad"][j][j] == pytest.approx(4.0 * small["stiffness_nm_rad"][j][j])
    assert small["torque_greatest_nm"][1] == pytest.approx(2.0 * 115.0 * 0.005)


def test_radii_poses_and_tensions_that_cannot_be_are_refused() -> None:
    hand = read()
    for choices, error, word in (
        ((None, "index_9", {}, {}), UnknownName, "index"),
        ((None, "index", {"thumb_pip": 0.01}, {}), UnknownName, "index_pip"),
        ((None, "index", {"index_pip": 0.0}, {}), WrongChoice, "above 0"),
        ((None, "thumb", {hand.names.joints[0]: 0.01}, {}), WrongChoice, "insertion"),
        ((None, "index", {}, {"index_pip": 101.0}), WrongChoice, "0 to 100"),
    ):
        with pytest.raises(error, match=word):
            finger_of(hand, *choices[1:])
    with pytest.raises(WrongChoice, match="5 to 120"):
        coupling_sheet(hand, finger_of(hand, "index"), 300.0)


COMMANDS = {
    "spring": ["--tendon", "index_1"],
    "guide": ["--bend", "30", "--bend", "20"],
    "wrist": ["--pitch", "10"],
    "coupling": ["--finger", "thumb", "--pose", "thumb_pip=20", "--radius", "thumb_pip=0.008"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_tells_the_same_as_its_files_and_the_page_needs_nothing_else(
    name: str, tmp_path: Path
) -> None:
    run = CliRunner()
    asked = [name, "hasy", *COMMANDS[name], "--out", str(tmp_path)]
    told = json.loads(run.invoke(app, [*asked, "--json"], catch_exceptions=False).stdout)
    assert told == json.loads((tmp_path / f"{name}.json").read_text())
    assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    html = (tmp_path / f"{name}.html").read_text()
    assert "data:image/png;base64," in html and "http" not in html
    shown = run.invoke(app, [name, "hasy", *COMMANDS[name]], catch_exceptions=False).stdout
    assert shown.startswith("hasy: ") and told["hand"] == "hasy"


def test_a_word_that_is_no_number_is_refused() -> None:
    for word in ("index_pip", "index_pip=far", "=1"):
        found = CliRunner().invoke(app, ["coupling", "hasy", "--finger", "index", "--radius", word]).exception
        assert isinstance(found, WrongChoice) and "JOINT=NUMBER" in str(found)


def test_lines_have_their_columns_below_each_other() -> None:
    told = lines(guide_sheet(read("finger_bench")))
    at = told.index("Tension that reaches the finger")
    assert (
        len({row.index(law) for row, law in zip(told[at + 2 : at + 4], ("saturating", "rope"), strict=True)})
        == 1
    )


def test_a_spring_without_a_lever_has_no_sheet() -> None:
    with pytest.raises(WrongChoice, match=r"t1 with the spring sleeve of kind linear; legal: .* kind lever"):
        spring_sheet(read("n_plus_one"))
