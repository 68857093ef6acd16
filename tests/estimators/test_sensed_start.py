"""A run that begins where sensors at the joints say that the hand is, whatever its motors' angles are."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.errors import BusLost
from drivers.hal import Bus
from estimators.homing import HomingError, sensed_pose
from estimators.tick import ESTIMATOR_MEMORY, estimate, home
from hand.assembly.assemble import model_of, names_of
from hand.file import parse_hand
from hand.file.hand import HandFile
from hand.options import RunOptions
from runtime import backends
from runtime.session import run_lockstep
from runtime.setup import read_hand
from signals.modes import ChannelStatus
from signals.records import COMMAND, MEASUREMENT, STATE, RecordArray, new
from tests.rigs.sensed import joint_sensor, orca
from tests.rigs.tree_hands import a_wrist_under_a_finger


def _sensed(text: str) -> HandFile:
    joints = [j.name for j in parse_hand(text, "x.toml").joints]
    return parse_hand(text + "".join(joint_sensor(j, 40 + k) for k, j in enumerate(joints)), "x.toml")


HANDS = {"orca": parse_hand(orca(), "x.toml"), "over a wrist": _sensed(a_wrist_under_a_finger(0.004))}
SHARES = st.lists(st.floats(0.1, 0.9), min_size=17, max_size=17)


def measured(m: Any, q: np.ndarray, motors: np.ndarray) -> RecordArray:
    """Sensors at these joint angles, motors at these angles, tendons as tight as at the start."""
    z, n = new(MEASUREMENT), len(q)
    z["motor_angle_rad"][0, : len(motors)] = motors
    z["hall_fine_count"][0, : m["n_tendons"]] = m["hall_rest_count"][: m["n_tendons"]]
    count = m["joint_zero_count"][:n] + m["joint_counts_rad"][:n] * q
    z["joint_count"][0, :n] = np.rint(count) % 2**14
    z["time_ns"] = z["motor_time_ns"] = z["hall_time_ns"] = z["joint_time_ns"] = 1_000_000
    return z


@pytest.mark.parametrize("name", HANDS)
@settings(max_examples=15, deadline=None)
@given(shares=SHARES, moved=SHARES, turned=st.floats(-2.0, 2.0))
def test_angles_are_right_from_the_first_and_go_on_by_the_motors_alone(
    name: str, shares: list[float], moved: list[float], turned: float
) -> None:
    """Motors stand anywhere at the start; then the joints go elsewhere, and only the motors say so."""
    file = HANDS[name]
    model, joints = model_of(file), names_of(file).joints
    m, n = model[0], len(joints)
    low, high = m["joint_min_rad"][:n], m["joint_max_rad"][:n]
    q, then = (low + np.array(s[:n]) * (high - low) for s in (shares, moved))
    motors = np.full(int(m["n_motors"]), turned)
    z = measured(m, q, motors)
    pose = sensed_pose(model, [z, z], joints)
    step = 0.51 / np.abs(m["joint_counts_rad"][:n])
    assert (np.abs(pose - q) < step).all()
    home(model, [z], pose)
    for k in range(int(m["n_tendons"])):
        t = int(m["tendon_motor"][k])
        motors[t] = turned - float(m["P_tj_m"][k, :n] @ (then - pose)) / float(m["spool_radius_m"][k])
    for angles, wanted in ((np.full(len(motors), turned), pose), (motors, then)):
        memory, state, z = np.zeros(1, dtype=ESTIMATOR_MEMORY), new(STATE), measured(m, q, angles)
        z["joint_status"][0, :n] = int(ChannelStatus.MISSING)  # no sensor helps any more
        estimate(model, z, memory, state)
        np.testing.assert_allclose(state["joint_angle_rad"][0, :n], wanted, atol=2e-6)


def test_sensors_that_are_silent_or_cannot_be_right_are_refused_by_name() -> None:
    file = HANDS["orca"]
    model, joints = model_of(file), names_of(file).joints
    m, q = model[0], np.zeros(len(joints))
    motors = np.zeros(int(m["n_motors"]))
    z = measured(m, q, motors)
    z["joint_status"][0, [2, 5]] = int(ChannelStatus.STALE)
    z["joint_time_ns"][0, 7] = 0
    with pytest.raises(HomingError, match=f"{joints[2]}, {joints[5]}, {joints[7]}$"):
        sensed_pose(model, [z], joints)
    q[4] = m["joint_max_rad"][4] + math.radians(12.0)
    with pytest.raises(HomingError, match=rf"{joints[4]} at \d+ deg, beyond the range; look at zero_count"):
        sensed_pose(model, [measured(m, q, motors)], joints)


def test_sensors_that_stay_silent_on_a_bus_are_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        capabilities = SimpleNamespace(family="encoders")

        def exchange(self, command: Any, measurement: RecordArray, now_ns: int) -> int:
            measurement["joint_status"][0, [0, 3]] = int(ChannelStatus.MISSING)
            return 0

    file = tmp_path / "hand.toml"
    file.write_text(orca() + '\n[homing]\npose = "joint_sensors"\norigin = "assumed"\n')
    hand = read_hand(RunOptions(hand=str(file)))
    monkeypatch.setattr(backends, "HOMING_S", 0.02)
    monkeypatch.setattr(backends, "said_by", lambda _: ())
    a, b = (hand.names.joints[j] for j in (0, 3))
    with pytest.raises(BusLost, match=f"without a good sample: sensor of {a}, sensor of {b}[)]"):
        backends.at_rest_on_wire(cast(Bus, Silent()), new(COMMAND), hand)


def test_a_run_begins_by_them(tmp_path: Any) -> None:
    """The plant is straight; its file has the zeros of two sensors elsewhere, so the run begins there."""
    text = orca("orca_v2_position") + '\n[homing]\npose = "joint_sensors"\norigin = "assumed"\n'
    file, plant = tmp_path / "hand.toml", tmp_path / "plant.toml"
    file.write_text(text)
    plant.write_text(text.replace("zero_count = 8192", "zero_count = 8692", 2))
    result = run_lockstep(str(file), plant=str(plant), seconds=0.2, every=1)
    state = result.frames["state"]
    found = np.degrees(state["joint_angle_rad"][5, : len(result.hand.names.joints)])
    off = np.sort(np.abs(found))
    shifted = 500 * 360 / 2**14
    assert off[-2:] == pytest.approx(shifted, abs=0.3) and off[-3] < 0.3
    assert result.report["faults"] == [] and result.report["left_out"] == []
