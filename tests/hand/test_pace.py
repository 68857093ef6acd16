"""Speeds and accelerations of references: as the file says, or as an independent computation derives them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.reference import TORQUE_SHARE
from hand.assembly.assemble import hand_sha256, model_of
from hand.assembly.pace import (
    BRAKE_SHARE,
    JOINT_SPEED_DEG_S,
    LEAST_SHARE,
    SPEED_SHARE,
    TENSION_SHARE,
    WRIST_SHARE,
    paces,
)
from hand.assembly.straight import greatest_tensions_n
from hand.file import HandFile, HandFileError, load_hand, parse_hand
from mechanics.coupling import tendon_jacobian
from mechanics.springs import spring_state
from mechanics.wrist import wrist_jacobian
from signals.records import RecordArray
from tools.commands.check import check

HANDS = {name: load_hand(name) for name in ("finger_bench", "hasy")}
MODELS = {name: model_of(hand) for name, hand in HANDS.items()}
both = pytest.mark.parametrize("name", list(HANDS))
HASHES = {
    "finger_bench": "7c4f9d7ec53ab58f99efa2e04bad1442af9a151d506990292858f9877bae488c",
    "hasy": "f9ba303e4c3b773e3217848b0fd185f5c1c7ffc187ce48e6a4fb2b35c93abbde",
}
"""Of the shipped files, from before joints had speeds, guides and levers a gain in their files."""


def older(name: str) -> HandFile:
    """A shipped file without the keys that came later."""
    lines = Path(HANDS[name].path).read_text(encoding="utf-8").splitlines(keepends=True)
    return parse_hand(
        "".join(line for line in lines if not line.startswith(("guide_gain", "lever_gain"))), name
    )


def motor_limits(hand: HandFile, model: RecordArray, motor: int) -> tuple[float, float]:
    """Greatest speed [rad/s] and acceleration [rad/s2] of a motor on its own."""
    m = model[0]
    torque = hand.limits.device_current_a * hand.motor.torque_constant_output_nm_a
    return float(m["motor_speed_limit_rad_s"][motor]), torque / float(m["motor_inertia_kg_m2"][motor])


def with_limits(name: str, tmp_path: Path, **values: float) -> HandFile:
    text = Path(HANDS[name].path).read_text(encoding="utf-8")
    lines = "".join(f'{key} = {value!r}\norigin.{key} = "assumed"\n' for key, value in values.items())
    file = tmp_path / f"{name}.toml"
    file.write_text(text.replace("[limits]\n", f"[limits]\n{lines}"), encoding="utf-8")
    return load_hand(str(file))


@both
def test_a_joint_is_as_fast_as_the_slowest_and_as_quick_as_the_weakest_of_its_motors(name: str) -> None:
    """By every tendon's own path: what its motor turns while the joint turns by one radian."""
    hand, model = HANDS[name], MODELS[name]
    m = model[0]
    P = np.zeros_like(m["P_tj_m"])
    tendon_jacobian(m, np.zeros(P.shape[1]), P)
    motors = list(hand.motors)
    for j in range(len(hand.joints)):
        speeds, accelerations, arms = [], [], []
        for t, tendon in enumerate(hand.tendons):
            if abs(P[t, j]) > 0.0:
                fastest, quickest = motor_limits(hand, model, motors.index(tendon.motor))
                turns = abs(P[t, j]) / hand.spool.radius_m
                speeds.append(fastest / turns)
                accelerations.append(quickest / turns)
                arms.append(abs(P[t, j]))
        speed = min(SPEED_SHARE * min(speeds), math.radians(JOINT_SPEED_DEG_S))
        assert m["joint_speed_max_rad_s"][j] == pytest.approx(speed)
        assert m["joint_acceleration_max_rad_s2"][j] == pytest.approx(TORQUE_SHARE * min(accelerations))
        assert m["joint_brake_rad_s2"][j] == pytest.approx(BRAKE_SHARE * min(accelerations))
        assert m["joint_torque_rate_nm_s"][j] == pytest.approx(hand.limits.tension_rate_n_s * max(arms))


def test_both_wrist_axes_at_once_are_as_fast_as_the_tendon_that_they_move_most() -> None:
    """The analytic Jacobian over the wrist's range, axes moved together."""
    hand, model = HANDS["hasy"], MODELS["hasy"]
    m, n = model[0], len(hand.tendons)
    arms = np.zeros((n, 2))
    for q71 in np.linspace(m["axis_min_rad"][0], m["axis_max_rad"][0], 3):
        for q73 in np.linspace(m["axis_min_rad"][1], m["axis_max_rad"][1], 3):
            P = np.zeros((n, 2))
            wrist_jacobian(m, float(q71), float(q73), P)
            arms = np.maximum(arms, np.abs(P))
    motors = [list(hand.motors).index(t.motor) for t in hand.tendons]
    turns = arms.sum(axis=1) / hand.spool.radius_m
    limits = np.array([motor_limits(hand, model, i) for i in motors])
    speed = min(SPEED_SHARE * (limits[:, 0] / turns).min(), float(m["axis_speed_limit_rad_s"][0]))
    assert m["axis_speed_max_rad_s"] == pytest.approx(speed, rel=1e-6)
    quickest = WRIST_SHARE * (limits[:, 1] / turns).min()
    assert m["axis_acceleration_max_rad_s2"] == pytest.approx(quickest, rel=1e-6)
    neutral = np.zeros((n, 2))
    wrist_jacobian(m, *(float(q) for q in m["wrist_neutral_rad"]), neutral)
    assert m["wrist_arm_m"][:n] == pytest.approx(neutral, abs=1e-9)


@both
def test_a_motor_may_wind_and_unwind_between_the_tensions_of_its_tendon(name: str) -> None:
    """The tension at either end of the elongation, by the compiled spring."""
    model = MODELS[name]
    m = model[0]
    greatest = greatest_tensions_n(model)
    for t in range(int(m["n_tendons"])):
        most = TENSION_SHARE * greatest[t] / (1.0 + m["lever_friction_frac"][t])
        for end, tension in (("max", most), ("min", LEAST_SHARE * m["tension_min_n"][t])):
            _, made = spring_state(m, t, float(m[f"elongation_{end}_m"][t]), 0.0, 0.0)
            assert made == pytest.approx(tension, rel=1e-3)


@both
def test_a_file_that_says_nothing_keeps_its_hash_and_its_speeds_are_derived(name: str) -> None:
    assert hand_sha256(older(name)) == HASHES[name]
    assert hand_sha256(HANDS[name]) != HASHES[name]
    assert [model_of(older(name))[f"{part}_gain"][0] for part in ("guide", "lever")] == [0.0, 0.0]
    told = paces(HANDS[name], MODELS[name])
    assert {(p.speed_from, p.acceleration_from) for p in told["joints"]} == {("derived", "derived")}


@both
@pytest.mark.parametrize("key", ["joint_speed_max_deg_s", "joint_acceleration_max_deg_s2"])
def test_what_a_file_says_is_in_force_for_every_joint_and_changes_nothing_else(
    name: str, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand = with_limits(name, tmp_path, **{key: 77.0})
    assert hand_sha256(hand) != hand_sha256(HANDS[name])
    model, before, n = model_of(hand), MODELS[name], len(hand.joints)
    field = key.replace("deg", "rad")
    assert model[field][0, :n] == pytest.approx(math.radians(77.0))
    for other in model.dtype.names or ():
        assert other == field or np.array_equal(model[other], before[other]), other
    assert check(hand.path, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)["pace"]
    what = "speed" if "speed" in key else "acceleration"
    for entry in told["joints"]:
        assert entry[key.removeprefix("joint_")] == 77.0 and entry[f"{what}_from"] == "file"
        assert {entry["speed_from"], entry["acceleration_from"]} == {"file", "derived"}
    assert [entry["name"] for entry in told["axes"]] == list(hand.axes)
    assert check(hand.path, as_json=False) == 0
    lines = capsys.readouterr().out.split("\n")
    for joint in hand.joints:
        assert any(joint.name in line and "77 (file)" in line and "(derived)" in line for line in lines)


@pytest.mark.parametrize("key", ["joint_speed_max_deg_s", "joint_acceleration_max_deg_s2"])
@given(st.sampled_from([0.0, -1.0, math.inf, math.nan]))
def test_a_speed_that_is_none_is_refused_by_its_key(key: str, value: float) -> None:
    text = Path(HANDS["finger_bench"].path).read_text(encoding="utf-8")
    shown = {math.inf: "inf"}.get(value, "nan" if value != value else repr(value))
    text = text.replace("[limits]\n", f'[limits]\n{key} = {shown}\norigin.{key} = "assumed"\n')
    with pytest.raises(HandFileError, match=f"limits.{key}"):
        parse_hand(text, "slow.toml")


def test_a_wrist_drive_that_is_slower_than_its_tendons_decides(tmp_path: Path) -> None:
    text = Path(HANDS["hasy"].path).read_text(encoding="utf-8")
    file = tmp_path / "slow.toml"
    file.write_text(text.replace("speed_max_deg_s = 120.0", "speed_max_deg_s = 20.0"), encoding="utf-8")
    hand = load_hand(str(file))
    axes = paces(hand, model_of(hand))["axes"]
    assert [(p.speed_max_deg_s, p.speed_from) for p in axes] == [(20.0, "file")] * 2
    assert {p.speed_from for p in paces(HANDS["hasy"], MODELS["hasy"])["axes"]} == {"derived"}
