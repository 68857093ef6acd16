"""Sensors at joints: what they bring, how they join tendons and motors, what happens when one fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.tick import ESTIMATOR_MEMORY, estimate
from hand.assembly.assemble import model_of
from hand.file import HandFileError, load_hand, parse_hand
from hand.options import OptionError
from hand.review.sight import sights_of
from hand.review.suspicions import suspicions
from runtime.session import RunResult, run_lockstep
from signals.clock import WallClock
from signals.faults import Cause
from signals.modes import JointSource, MachineState
from signals.records import MEASUREMENT, STATE, new
from telemetry.publish.bulletin import Bulletin
from tests.hands.test_shared_motors import text as pairs_text
from tests.rigs.geared import with_play
from tests.rigs.mutations import TEXTS
from tests.rigs.sensed import SENSOR, joint_sensor, orca

PLANTS = {
    "friction": (r"(?m)^(gamma_[23]_\w+) = ([\d.]+)", 1.2),
    "lever arms": (r"(dh_dq_m_rad = \{ \w+) = (-?[\d.]+)", 1.04),
    "softer cords": (r"(?m)^(axial_stiffness_n) = ([\d.]+)", 0.5),
}
"""What the plant has more or less of than the hand file says."""
FAULT_S = 0.8


def _file(folder: Path, name: str, content: str) -> str:
    file = folder / f"{name}.toml"
    file.write_text(content)
    return str(file)


def joints_of(text: str) -> list[str]:
    return [j.name for j in parse_hand(text, "x.toml").joints]


@pytest.mark.sample(2)
@pytest.mark.parametrize("hand", ["orca_v2", "orca_v2_position"])
@pytest.mark.parametrize("wrong", PLANTS)
def test_they_tell_joints_to_half_a_degree_whatever_is_wrong_with_the_drives(
    wrong: str, hand: str, tmp_path: Path
) -> None:
    """What tendons and motors tell alone is the sensor's angle less its error, in the same run."""
    pattern, factor = PLANTS[wrong]
    plant = re.sub(pattern, lambda g: f"{g[1]} = {factor * float(g[2]):.6g}", orca(hand))
    assert plant != orca(hand)
    files = _file(tmp_path, "sensed", orca(hand)), _file(tmp_path, "plant", plant)
    result = run_lockstep(files[0], motion="open_close", seconds=2.0, plant=files[1], every=1)
    report, n = result.report, len(result.hand.names.joints)
    assert report["faults"] == [] and report["left_out"] == []
    assert set(report["joint_source"].values()) == {"sensor"}
    error_deg = report["estimate_error_deg"]["rms"]
    alone_deg = np.degrees(result.frames["state"]["joint_sensor_error_rad"][250:, :n])
    assert error_deg < 0.1
    assert np.sqrt(np.mean(alone_deg**2)) > 5.0 * error_deg


PLAY_DEG = 1.5


def _geared(backlash_deg: float) -> str:
    """LEAP with sensors at all joints and play in all gears; nothing else tells what the play leaves open."""
    text = with_play(backlash_deg)
    return text + "".join(joint_sensor(j, k + 1) for k, j in enumerate(joints_of(text)))


def test_they_tell_what_the_play_of_gears_leaves_open(tmp_path: Path) -> None:
    """Motors alone are off by half of the play where gravity holds a joint at its end."""
    files = _file(tmp_path, "played", with_play(PLAY_DEG)), _file(tmp_path, "sensed", _geared(PLAY_DEG))
    alone, sensed = (run_lockstep(f, motion="open_close", seconds=3.0, mismatch=3).report for f in files)
    said = ["play" in str(sights_of(load_hand(file))) for file in files]
    assert said == [True, False]
    for report in (alone, sensed):
        assert report["faults"] == [] and report["left_out"] == []
    assert set(sensed["joint_source"].values()) == {"sensor"}
    assert alone["estimate_error_deg"]["rms"] > PLAY_DEG / 3.0
    assert sensed["estimate_error_deg"]["rms"] < SENSOR["accuracy_deg"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["joint-stuck", "joint-jump", "joint-noise", "joint-silent"])
def test_one_that_fails_at_a_gear_is_named_and_the_finger_goes_on(kind: str, tmp_path: Path) -> None:
    result = _ran(tmp_path, f"{kind}:index_mcp@{FAULT_S}", _geared(PLAY_DEG))
    (left,) = result.report["left_out"]
    assert (left["cause"], left["part"], result.report["faults"]) == (NAMED[kind][0].name, "index_mcp", [])
    assert result.report["joint_source"]["index_mcp"] == "motors"


def _stiffer(text: str) -> str:
    """The SDM hand with distal springs that are a third stiffer, at rest as before."""
    springs = re.compile(r"(distal.*stiffness_nm_rad = )([\d.]+)(, rest_deg = )([-\d.]+)")
    return springs.sub(lambda g: f"{g[1]}{1.3 * float(g[2]):.6g}{g[3]}{float(g[4]) / 1.3:.6g}", text)


def _sdm(joints: list[str], **other: Any) -> str:
    """The SDM hand with sensors at some joints."""
    keys = ", ".join(f"{key} = {value}" for key, value in (SENSOR | other).items())
    rows = [f'{{ kind = "joint", at = "{j}", channel = {60 + k}, {keys} }},' for k, j in enumerate(joints)]
    label = '[origin.sensors]\nspan_deg = "assumed"\naccuracy_deg = "assumed"\n'
    sensed = TEXTS["sdm"].replace("\nsensors = [", "\nsensors = [\n" + "\n".join(rows))
    return sensed.replace("[origin.sensors]\n", label)


def _held(text: str, joint: str) -> str:
    """The SDM hand with something at a joint that hardly lets it move: a spring fifty times as stiff."""
    spring = re.compile(rf"(name = \"{joint}\".*?stiffness_nm_rad = )([\d.]+)(, rest_deg = )([-\d.]+)")
    change = spring.subn(lambda g: f"{g[1]}{50.0 * float(g[2]):.6g}{g[3]}{float(g[4]) / 50.0:.6g}", text)
    assert change[1] == 1
    return change[0]


STUCK = "left_back_distal"


@pytest.mark.parametrize("bad", [True, False])
def test_one_at_a_sprung_joint_that_stands_still_is_told_from_a_joint_that_is_held(
    bad: bool, tmp_path: Path
) -> None:
    """Both show the same angle all the time; a sound sensor's count still has noise."""
    text = _sdm([j for j in joints_of(TEXTS["sdm"]) if "distal" in j])
    plant = _file(tmp_path, "plant", text if bad else _held(text, STUCK))
    faults = [f"joint-stuck:{STUCK}@{FAULT_S}"] if bad else []
    words: Any = {"motion": "open_close", "seconds": 2.5, "plant": plant, "faults": faults, "every": 1}
    result = run_lockstep(_file(tmp_path, "sensed", text), **words)
    assert result.report["faults"] == []
    if not bad:
        j = result.hand.names.index("joint", STUCK)
        truth = np.degrees(result.frames["truth"]["joint_angle_rad"])
        assert np.ptp(truth[:, j]) < 2.0 < 10.0 < np.ptp(truth[:, j - 1]), (
            "it is held, the one before it goes on"
        )
        assert result.report["left_out"] == []
        return
    (left,) = result.report["left_out"]
    assert (left["cause"], left["part"]) == (Cause.JOINT_SENSOR_STUCK.name, STUCK)
    assert FAULT_S < left["time_s"] < FAULT_S + 0.5


def test_check_says_which_sensors_at_sprung_joints_could_stand_still_unseen() -> None:
    for noise, told in ((0.3, True), (1.5, False)):
        hand = parse_hand(_sdm([STUCK], noise_counts_rms=noise), "x.toml")
        (sight,) = sights_of(hand)
        assert any("stands still" in text and STUCK in text for text in sight.not_detected) is told


def test_they_tell_joints_that_springs_share_out_and_those_beside_them(tmp_path: Path) -> None:
    """Eight joints on one cable, a sensor at the distal joint of each finger: the proximal ones follow."""
    reports, distal = [], [j for j in joints_of(TEXTS["sdm"]) if "distal" in j]
    for name, hand in (("bare", TEXTS["sdm"]), ("sensed", _sdm(distal))):
        plant = _file(tmp_path, f"{name}_plant", _stiffer(hand))
        file = _file(tmp_path, name, hand)
        reports.append(run_lockstep(file, motion="open_close", seconds=2.0, plant=plant).report)
    bare, report = reports
    assert report["faults"] == [] == report["left_out"]
    assert set(bare["joint_source"].values()) == {"springs"}
    assert {j for j, source in report["joint_source"].items() if source == "sensor"} == set(distal)
    found, before = report["estimate_error_deg"]["by_joint"], bare["estimate_error_deg"]["by_joint"]
    assert max(found.values()) < 0.1 < 1.0 < min(before.values())


def _pairs(sensed: dict[str, float]) -> str:
    """The finger of pairs with a sensor at some joints, each of an accuracy [deg]."""
    rows = (joint_sensor(j, 40 + k, accuracy_deg=a) for k, (j, a) in enumerate(sensed.items()))
    return pairs_text() + "".join(rows)


ANGLES = st.lists(st.floats(-0.3, 0.9), min_size=3, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3), ANGLES, st.sets(st.integers(0, 2)))
def test_they_are_rows_of_the_weighted_least_squares(
    turned: list[float], sensed: list[float], which: set[int]
) -> None:
    """Against numpy's own solution of all rows, from the tendons' lengths and weights of the same cycle."""
    joints = joints_of(pairs_text())
    model = model_of(parse_hand(_pairs({joints[j]: 0.2 + j for j in sorted(which)}), "x.toml"))
    m, memory = model[0], np.zeros(1, dtype=ESTIMATOR_MEMORY)
    measurement, state = new(MEASUREMENT), new(STATE)
    z = measurement[0]
    z["motor_angle_rad"][:3] = turned
    z["hall_fine_count"][:6] = m["hall_rest_count"][:6]
    for j in which:
        z["joint_count"][j] = m["joint_zero_count"][j] + m["joint_counts_rad"][j] * sensed[j]
        z["joint_count"][j] %= 2**14
    estimate(model, measurement, memory, state)
    P, V = m["P_tj_m"][:6, :3], m["joint_weight_m2"][:3]
    root, h = np.sqrt(memory["weight"][0, :6]), state["tendon_length_m"][0, :6]
    rows = np.vstack((root[:, None] * P, np.diag(np.sqrt(V))))
    wanted = np.linalg.lstsq(rows, np.concatenate((root * h, np.sqrt(V) * sensed)), rcond=None)[0]
    np.testing.assert_allclose(state["joint_angle_rad"][0, :3], wanted, atol=2e-6)
    source = [JointSource.SENSOR if j in which else JointSource.TENDONS for j in range(3)]
    assert state["joint_source"][0, :3].tolist() == source


def test_without_them_everything_is_as_if_there_were_none(tmp_path: Path) -> None:
    """Sensors that never spoke: tendons and motors go on by themselves, bit for bit."""
    joints = joints_of(pairs_text())
    words: Any = {"motion": "open_close", "seconds": 1.0, "every": 1, "sensors": "quantised"}
    bare = run_lockstep(_file(tmp_path, "bare", pairs_text()), **words)
    text = _pairs(dict.fromkeys(joints, 0.3))
    silent = [f"joint-silent:{joint}@0" for joint in joints]
    lost = run_lockstep(_file(tmp_path, "sensed", text), faults=silent, **words)
    for signal in ("joint_angle_rad", "joint_speed_rad_s", "tension_n", "motor_torque_nm", "fingertip_m"):
        np.testing.assert_array_equal(bare.frames["state"][signal], lost.frames["state"][signal])
    assert [left["cause"] for left in lost.report["left_out"]] == 3 * ["JOINT_SENSOR_LOST"]
    assert set(lost.report["joint_source"].values()) == {"tendons"}
    assert not lost.report["faults"] and bare.report["left_out"] == []


NAMED = {
    "joint-stuck": (Cause.JOINT_SENSOR_STUCK, 0.25, "stands still"),
    "joint-jump": (Cause.JOINT_SENSOR_JUMP, 0.02, "jumps"),
    "joint-noise": (Cause.JOINT_SENSOR_NOISY, 0.1, "noisier"),
    "joint-silent": (Cause.JOINT_SENSOR_LOST, 0.11, "does not answer"),
}
"""Fault of a sensor -> its cause, time until it is named [s], a word of its sentence."""


def _ran(folder: Path, fault: str, text: str | None = None, seconds: float = 1.8) -> RunResult:
    file = _file(folder, "sensed", orca() if text is None else text)
    return run_lockstep(file, motion="open_close", seconds=seconds, faults=[fault], every=1)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", NAMED)
def test_one_that_fails_is_named_and_the_hand_goes_on_without_it(kind: str, tmp_path: Path) -> None:
    cause, within_s, word = NAMED[kind]
    result = _ran(tmp_path, f"{kind}:index_mcp@{FAULT_S}")
    state, names, report = result.frames["state"], result.hand.names, result.report
    j, n = names.index("joint", "index_mcp"), len(names.joints)
    (left,) = report["left_out"]
    assert (left["cause"], left["part"], report["faults"]) == (cause.name, "index_mcp", [])
    assert word in left["text"] and FAULT_S < left["time_s"] < FAULT_S + within_s
    assert report["joint_source"]["index_mcp"] == "motors"
    assert [s for joint, s in report["joint_source"].items() if joint != "index_mcp"] == (n - 1) * ["sensor"]
    assert (state["machine"][-1], state["finger_state"][-1].max()) == (MachineState.ACTIVE,) * 2
    error = np.degrees(np.abs(state["joint_angle_rad"] - result.frames["truth"]["joint_angle_rad"]))
    named = int(np.flatnonzero(state["joint_sensor_cause"][:, j])[0])
    assert error[named + 125 :, j].max() < 1.5
    told: list[tuple[str, ...]] = []
    bulletin = Bulletin(lambda *what: told.append(what), WallClock(), names)
    for frame in (named - 1, named, named + 1):
        bulletin._see_sensors(state[frame])
    assert [(kind, level) for kind, level, *_ in told] == [("sensor", "warning")]
    assert told[0][2].startswith("index_mcp: ") and word in told[0][2]


def test_a_joint_that_does_not_follow_its_motor_is_a_fault_of_its_finger(tmp_path: Path) -> None:
    """Without the sensors nothing tells a broken tendon of this hand while its motor still winds."""
    result = _ran(tmp_path, f"tendon-break:index_mcp_flex@{FAULT_S}")
    (fault,) = result.report["faults"]
    assert (fault["cause"], fault["part"], fault["finger"]) == ("JOINT_CONTRADICTED", "index_mcp", "index")
    states = result.frames["state"]["finger_state"][-1, : len(result.hand.names.fingers)]
    assert (states == MachineState.FAULT).sum() == 1


@pytest.mark.parametrize("text", ["none", "all"])
def test_check_says_what_they_see(text: str) -> None:
    found = {"none": "motor currents", "all": "joint sensors and motor currents"}
    hand = load_hand("orca_v2") if text == "none" else parse_hand(orca(), "x.toml")
    assert not [s for s in suspicions(hand) if "sensors" in map(str, s.path)]
    for sight in sights_of(hand):
        assert sight.joints == found[text]
        assert ("joints" in sight.can, "redundancy" in sight.can) == (text == "all",) * 2
        assert any("deg apart" in missed for missed in sight.not_detected) == (text == "all")


@pytest.mark.parametrize(
    ("wrong", "key", "told"),
    [
        ({"joint": "distol"}, "at", "legal: a joint"),
        ({"channel": 1}, "channel", "every sensor channel once"),
        ({"span_deg": 400.0}, "span_deg", "400"),
        ({"zero_count": 2**14}, "zero_count", "less than 2^bits"),
        ({"direction": 0}, "direction", "0"),
        ({"accuracy_deg": -1.0}, "accuracy_deg", "-1"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_place(
    wrong: dict[str, object], key: str, told: str
) -> None:
    words = {"joint": joints_of(pairs_text())[2], "channel": 40} | wrong
    with pytest.raises(HandFileError) as error:
        parse_hand(pairs_text() + joint_sensor(**words), "x.toml")  # type: ignore[arg-type]
    assert f"sensors[0].{key}" in str(error.value) and told in str(error.value)


def test_two_at_one_joint_and_one_beyond_its_scale_are_told() -> None:
    joint = joints_of(pairs_text())[2]
    with pytest.raises(HandFileError, match="a second time"):
        parse_hand(pairs_text() + joint_sensor(joint, 40) + joint_sensor(joint, 41), "x.toml")
    narrow = parse_hand(pairs_text() + joint_sensor(joint, 40, span_deg=60.0), "x.toml")
    assert any("beyond 0 to 16383" in s.text for s in suspicions(narrow))


def test_a_fault_of_a_sensor_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="this joint has no sensor that could fail"):
        run_lockstep("orca_v2", seconds=1.0, faults=["joint-stuck:index_mcp@0.5"])
