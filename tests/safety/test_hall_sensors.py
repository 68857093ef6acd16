"""Field report B17: Hall sensors at their rails, clipped over a part of their travel, or noisy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.tick import ESTIMATOR_MEMORY, estimate
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.modes import ChannelStatus, FaultKind, MachineState
from signals.records import MEASUREMENT, STATE, new
from tests.rigs.driven import Driven


def test_a_sensor_at_full_scale_from_the_start_stops_its_finger_alone_and_is_named() -> None:
    hand = Driven("hasy", "hold", faults=("hall-saturated:middle_5@0",))
    frames = hand.run(0.5)
    tendon, finger = hand.names.tendons.index("middle_5"), hand.names.fingers.index("middle")
    assert hand.causes == {"middle": (Cause.HALL_SATURATED, tendon)}
    others = [f for f in range(len(hand.names.fingers)) if f != finger]
    assert all(hand.state_of(f) is MachineState.ACTIVE for f in others)
    # what a blind channel reads is worth nothing: its motor is without torque, no tension rises
    blind = int(hand.model["tendon_motor"][0, tendon])
    assert (frames["truth"]["motor_torque_nm"][-300:, blind] == 0.0).all()
    assert frames["truth"]["tension_n"][:, : len(hand.names.tendons)].max() < 30.0


def test_a_sensor_clipped_over_part_of_its_travel_is_named_when_the_travel_gets_there() -> None:
    hand = Driven("finger_bench", "force_sine")
    tendon = 2
    # its magnet sits so, and is calibrated so, that the count is 0 at 26 N: the tighter part is clipped
    for model in (hand.model, hand.bus.model):
        model["hall_zero_count"][0, tendon] -= count_at(model, tendon, 26.0)
    frames = hand.run(2.5)
    assert hand.causes.get("index") == (Cause.HALL_SATURATED, tendon)
    at = int((frames["state"]["finger_cause"][:, 0] != 0).argmax())
    # not before: below 24 N the channel is sound
    assert frames["truth"]["tension_n"][:at, tendon].max() > 24.0


def count_at(model: np.ndarray, t: int, tension_n: float) -> float:
    """Count of a tension on the table of the spring."""
    m = model[0]
    s = int(m["tendon_spring"][t])
    lever = np.linspace(m["lever_min_rad"][s], m["lever_max_rad"][s], m["spring_force_n"].shape[1])
    force = m["spring_force_n"][s] * m["spring_scale"][t]
    angle = float(np.interp(-tension_n, -force, lever))
    return float(m["hall_zero_count"][t] + angle * m["hall_counts_rad"][t])


def noisy(scale: float) -> tuple[float, float, float] | None:
    """(torque ripple of the motor [N m], joint's motion [deg], worst tension [N]) at a noise factor.

    ``None``: the channel was named as one that jumps, and its finger stopped.
    """
    hand = Driven("finger_bench", "hold")
    hand.start(1.0)
    hand.inject(FaultKind.HALL_NOISE, 1, scale)
    hand.run(0.2)
    frames = hand.run(3.0)
    if hand.causes:
        assert hand.causes == {"index": (Cause.HALL_GLITCH, 1)}
        return None
    torque = frames["truth"]["motor_torque_nm"][:, 1]
    q = np.degrees(frames["truth"]["joint_angle_rad"][:, :4])
    return float(torque.std()), float(np.ptp(q, axis=0).max()), float(frames["truth"]["tension_n"].max())


@pytest.mark.parametrize("scale", (1.0, 3.0, 10.0))
def test_noise_never_shakes_the_finger_and_three_times_as_much_does_not_stop_it(scale: float) -> None:
    figures = noisy(scale)
    assert figures is not None or scale > 3.0
    if figures is not None:
        ripple_nm, way_deg, tension_n = figures
        # 0.2 N m carry the tension, 0.88 are the gear's friction: a quarter of that moves nothing
        assert ripple_nm < 0.22
        assert way_deg < 0.5
        assert tension_n < 30.0


@pytest.mark.parametrize("sign", (-1.0, 1.0))
def test_the_last_good_count_is_not_frozen_in_fast_true_motion(sign: float) -> None:
    """A spike filter must not hold back a true jump: a break shows at once."""
    hand = Driven("finger_bench", "hold")
    hand.start(1.0)
    hand.inject(FaultKind.TENDON_BREAK, 3)
    frames = hand.run(0.004)
    lever_stop = float(hand.model["lever_max_rad"][0, 0])
    lever = frames["state"]["lever_angle_rad"][:, 3]
    assert lever[-1] > lever_stop - 0.02
    hand.inject(FaultKind.HALL_OFFSET, 5, sign * 30.0)
    before = hand.state("lever_angle_rad")[5]
    hand.run(0.002)
    assert abs(hand.state("lever_angle_rad")[5] - before) > 20.0 / float(hand.model["hall_counts_rad"][0, 5])


BENCH = (files("configs") / "hands" / "finger_bench.toml").read_text()


def hand_with(tmp_path: Path, keys: dict[int, str], origin: str) -> str:
    """Path of the bench's hand with a key more in the rows of some tendons (by their number, 1 to 8)."""
    text = BENCH
    for number, key in keys.items():
        text = text.replace(f"hall_channel = {number},", f"hall_channel = {number}, {key},", 1)
    text = text.replace(
        "[origin.tendons]\n", f'[origin.tendons]\n{origin} = "identified: 2026-01-01 sweep"\n'
    )
    path = tmp_path / "hand.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("motion", ("open_close", "force_sine"))
def test_a_motor_only_tendon_works_whatever_its_sensor_says(tmp_path: Path, motion: str) -> None:
    tendon = 2
    path = hand_with(tmp_path, {tendon + 1: "hall_used = false"}, "hall_used")
    hand = Driven(path, motion, faults=("hall-saturated:index_3@0",))
    hand.start(1.0)
    frames = hand.run(2.0)
    assert not hand.causes and hand.machine is MachineState.ACTIVE
    state, truth = frames["state"], frames["truth"]
    # nothing of the channel is believed, and clients see that the finger is not whole
    assert (frames["measurement"]["hall_count"][:, tendon] == 4095).all()
    assert (state["finger_status"][:, 0] & int(ChannelStatus.OUT_OF_RANGE) != 0).all()
    assert (state["residual_m"][:, tendon] == 0.0).all()
    assert (state["finger_condition"][:, 0] < 20.0).all()
    error_deg = np.degrees(state["joint_angle_rad"][:, :4] - truth["joint_angle_rad"][:, :4])
    assert abs(error_deg).max() < 1.0
    # its tension follows from the others: a newton or two where the sensor said 500
    assert abs(state["tension_n"][:, tendon] - truth["tension_n"][:, tendon]).max() < 4.0
    assert truth["tension_n"][:, tendon].min() > 5.0


def test_a_silent_sensor_of_a_motor_only_tendon_does_not_hold_the_hand_back(tmp_path: Path) -> None:
    hand = Driven(hand_with(tmp_path, {5: "hall_used = false"}, "hall_used"), "hold")
    exchange = hand.bus.exchange

    def without_the_channel(command: Any, measurement: Any, now_ns: int) -> int:
        status = exchange(command, measurement, now_ns)
        measurement["hall_status"][0, 4] = int(ChannelStatus.MISSING)
        measurement["hall_fine_count"][0, 4] = np.nan
        return status

    hand.rig.pipeline.bus.exchange = without_the_channel  # type: ignore[method-assign]
    hand.start(0.5)
    hand.run(0.5)
    assert not hand.causes


@settings(max_examples=15, deadline=None)
@given(unused=st.sets(st.integers(1, 8), min_size=1, max_size=5))
def test_a_finger_is_refused_exactly_if_the_sensors_left_do_not_tell_its_joints(unused: set[int]) -> None:
    rows = read_hand(RunOptions(hand="finger_bench")).model["P_tj_m"][0, :8, :4]
    told = np.linalg.matrix_rank(np.delete(rows, [n - 1 for n in unused], axis=0)) == 4
    with TemporaryDirectory() as folder:
        path = hand_with(Path(folder), dict.fromkeys(unused, "hall_used = false"), "hall_used")
        if told:
            weight = read_hand(RunOptions(hand=path)).model["hall_weight"][0, :8]
            assert (weight == [float(n not in unused) for n in range(1, 9)]).all()
        else:
            with pytest.raises(ValueError, match="only their motors' currents tell the motion") as refused:
                read_hand(RunOptions(hand=path))
            assert all(f"index_{n}" in str(refused.value) for n in unused)


def test_a_noisy_sensor_weighs_less_and_its_finger_shakes_less(tmp_path: Path) -> None:
    tendon = 6
    path = hand_with(tmp_path, {tendon + 1: "hall_noise_counts_rms = 10.0"}, "hall_noise_counts_rms")
    hand = Driven(path, "hold")
    hand.start(1.0)
    weight = hand.model["hall_weight"][0, :8]
    assert weight[tendon] == pytest.approx((1.0 + 1.0 / 12.0) / (100.0 + 1.0 / 12.0))
    assert (np.delete(weight, tendon) == 1.0).all()
    frames = hand.run(0.5)
    # as noisy as the file says: no spike, no fault, no mark
    assert not hand.causes and not frames["state"]["finger_status"][:, 0].any()
    equal = hand.model.copy()
    equal["hall_weight"][0, :8] = equal["length_weight"][0, :8] = 1.0
    z = hand.columns.give(frames, "measurement", new(MEASUREMENT))
    spread = {name: angles_of(model, z).std(axis=0) for name, model in (("w", hand.model), ("1", equal))}
    # DIP is what the channel tells of; no joint is the worse for it
    assert spread["w"][3] < 0.5 * spread["1"][3]
    assert (spread["w"] <= 1.02 * spread["1"]).all()


def angles_of(model: np.ndarray, measurements: np.ndarray) -> np.ndarray:
    """Joint angles [rad] of recorded measurements by another model, shape (n, 4)."""
    memory, state = np.zeros(1, dtype=ESTIMATOR_MEMORY), new(STATE)
    state["dt_s"] = model["dt_s"]
    found = []
    for k in range(len(measurements)):
        state["time_ns"] = measurements["time_ns"][k]
        estimate(model, measurements[k : k + 1], memory, state)
        found.append(state["joint_angle_rad"][0, :4].copy())
    return np.array(found)
