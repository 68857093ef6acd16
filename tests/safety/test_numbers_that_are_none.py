"""Field report B56: NaN, infinite and absurd numbers from clients, in goal records, from the bus."""

from __future__ import annotations

import math
import struct

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.tick import CONTROLLER_MEMORY, control
from guard.guard import GUARD_MEMORY, guard
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.goal import default_goal
from signals.modes import Clip, FaultKind, MachineState, Mode, Request
from signals.records import COMMAND, MEASUREMENT, STATE, new
from signals.table import TABLE
from telemetry.command.requests import ARGS, GoalArgs, Refusal, apply_goal, parse
from tests.rigs.driven import Driven

HAND = read_hand(RunOptions(hand="finger_bench"))
WHOLE = read_hand(RunOptions(hand="hasy"))
ABSURD = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e7)
JOINTS, MOTORS = dict.fromkeys(WHOLE.names.joints, 0.0), dict.fromkeys(WHOLE.names.motors, 0.0)
GOALS = {
    **dict.fromkeys(("joints", "joint_speeds", "joint_torques", "dampings"), JOINTS),
    **dict.fromkeys(("impedances", "stiffnesses"), dict.fromkeys(JOINTS, 1.0)),
    "tensions": dict.fromkeys(WHOLE.names.tendons, 20.0),
    "tension_rates": dict.fromkeys(WHOLE.names.tendons, 0.0),
    **dict.fromkeys(("motors", "motor_speeds", "motor_torques"), MOTORS),
    "axes": dict(zip(WHOLE.names.axes, WHOLE.model["wrist_neutral_rad"][0].tolist(), strict=False)),
    "axis_speeds": dict.fromkeys(WHOLE.names.axes, 0.0),
    "pretension": dict.fromkeys(WHOLE.names.fingers, 20.0),
}
"""Argument of a goal -> values that are accepted."""


def goal_message(**arguments: object) -> bytes:
    return msgspec.msgpack.encode({"v": 1, "id": 7, "op": "goal", "args": arguments})


def applied(argument: str, values: dict[str, float]) -> None:
    _, args = parse(goal_message(**{argument: values}))
    apply_goal(args, WHOLE.names, WHOLE.model, default_goal(WHOLE.model))


@given(argument=st.sampled_from(list(GOALS)), index=st.integers(0, 40), value=st.sampled_from(ABSURD))
def test_a_goal_with_one_absurd_number_is_refused_as_a_whole(argument: str, index: int, value: float) -> None:
    sound = GOALS[argument]
    bad = list(sound)[index % len(sound)]
    applied(argument, sound)
    with pytest.raises(Refusal) as refused:
        applied(argument, sound | {bad: value})
    assert refused.value.code in ("not_finite", "out_of_range")
    assert f"{argument}.{bad} is " in str(refused.value)


def test_the_goals_above_are_all_that_there_are() -> None:
    assert set(GOALS) == {f.name for f in msgspec.structs.fields(GoalArgs)}


@pytest.mark.parametrize("value", ("fast", None, True, [1.0], {"a": 1.0}))
def test_what_is_no_number_at_all_is_refused_before_anything_is_looked_at(value: object) -> None:
    with pytest.raises(Refusal, match="goal"):
        parse(goal_message(joints={HAND.names.joints[0]: value}))


@given(payload=st.binary(max_size=200))
def test_no_bytes_from_a_client_raise_anything_but_a_refusal(payload: bytes) -> None:
    try:
        request, _ = parse(payload)
    except Refusal as refusal:
        assert refusal.code in ("malformed", "version", "unknown_op", "bad_args") and str(refusal)
    else:
        assert request.op in ARGS


def test_negative_zero_is_a_number() -> None:
    _, args = parse(goal_message(joints={HAND.names.joints[1]: -0.0}))
    goal = default_goal(HAND.model)
    assert apply_goal(args, HAND.names, HAND.model, goal) == 1
    assert goal["joint_angle_rad"][0, 1] == 0.0


FLOATS = [s.name for s in TABLE["goal"] if s.kind == "f8"]


def bits(word: int) -> float:
    """A float64 of any bit pattern: also denormals, NaNs with payloads, the largest numbers."""
    return float(struct.unpack("<d", struct.pack("<Q", word))[0])


@given(
    field=st.sampled_from(FLOATS),
    index=st.integers(0, 7),
    word=st.integers(0, 2**64 - 1),
    special=st.sampled_from((None, *ABSURD)),
    mode=st.sampled_from([m for m in Mode if m is not Mode.OFF]),
)
def test_whatever_stands_in_a_goal_record_the_wire_gets_finite_currents_within_limits(
    field: str, index: int, word: int, special: float | None, mode: Mode
) -> None:
    model = HAND.model
    n = int(model["n_motors"][0])
    goal, state, command = default_goal(model), new(STATE), new(COMMAND)
    measurement = new(MEASUREMENT)
    memories = np.zeros(1, dtype=CONTROLLER_MEMORY), np.zeros(1, dtype=GUARD_MEMORY)
    goal["finger_mode"] = int(mode)
    state["machine"] = state["finger_state"][0, 0] = int(MachineState.ACTIVE)
    state["tension_n"][0, :n], state["tendon_stiffness_n_m"][0, :n] = 20.0, 7000.0
    state["dt_s"] = model["dt_s"]
    memories[1]["last_finger_state"][0, 0] = int(MachineState.ACTIVE)
    goal[field][0].reshape(-1)[index % goal[field][0].size] = bits(word) if special is None else special
    limit = model["motor_current_limit_a"][0, :n]
    step = float(model["torque_rate_nm_s"][0] * model["dt_s"][0])
    before = np.zeros(n)
    for cycle in range(1, 20):
        state["tick"], state["time_ns"] = cycle, cycle * 333_333
        measurement["time_ns"] = measurement["motor_time_ns"] = measurement["hall_time_ns"] = cycle * 333_333
        measurement["hall_count"][0, :n] = measurement["hall_fine_count"][0, :n] = 2000 + cycle % 2
        control(model, goal, memories[0], state, command)
        guard(model, goal, measurement, memories[1], state, command)
        current = command["motor_current_a"][0, :n]
        assert np.isfinite(current).all() and np.isfinite(command["motor_angle_rad"][0, :n]).all()
        assert (abs(current) <= limit + 1e-9).all()
        assert (abs(state["motor_torque_nm"][0, :n] - before) <= step + 1e-9).all()
        before = state["motor_torque_nm"][0, :n].copy()


def test_a_torque_that_is_no_number_stops_its_finger_names_it_and_leaves_the_others() -> None:
    hand = Driven("hasy")
    hand.start(0.5)
    joint = hand.names.joints.index("middle_pip")
    hand.goal("joint_angle_rad")[joint] = math.nan
    frames = hand.run(0.1)
    assert set(hand.causes) == {"middle"}
    assert hand.causes["middle"][0] is Cause.NOT_FINITE_COMMAND
    stopped = int((frames["state"]["finger_state"][:, hand.names.fingers.index("middle")] == 4).argmax())
    assert stopped <= 2
    assert np.isfinite(frames["command"]["motor_current_a"]).all()
    assert (frames["state"]["clip"][stopped] & int(Clip.NOT_FINITE)).any()
    others = [f for f, name in enumerate(hand.names.fingers) if name != "middle"]
    assert all(hand.state_of(f) is MachineState.ACTIVE for f in others)
    # the good finger's neighbour moves no more than noise
    assert abs(frames["truth"]["joint_speed_rad_s"][:, : joint - 3]).max() < 1.0


def test_a_sensor_that_is_no_number_stops_its_finger_and_keeps_the_last_good_value() -> None:
    hand = Driven("hasy")
    hand.start(0.5)
    motor = hand.names.motors.index("m_ring_3")
    before = hand.state("motor_angle_rad")[motor]
    hand.inject(FaultKind.NAN, motor)
    frames = hand.run(0.1)
    assert set(hand.causes) == {"ring"} and hand.causes["ring"][0] is Cause.NOT_FINITE_MEASUREMENT
    assert np.isfinite(frames["state"]["joint_angle_rad"]).all()
    assert np.isfinite(frames["command"]["motor_current_a"]).all()
    assert hand.state("motor_angle_rad")[motor] == pytest.approx(before, abs=0.02)
    hand.bus.plant["motor_nan"] = 0
    hand.run(0.2)
    assert hand.state_of(hand.names.fingers.index("ring")) is MachineState.FAULT
    hand.ask(Request.REARM)
    hand.run(0.05)
    assert not hand.causes and hand.machine in (MachineState.HOLDING, MachineState.ACTIVE)


def test_a_wrist_angle_that_is_no_number_never_reaches_its_drive() -> None:
    hand = Driven("hasy")
    hand.start(0.5)
    m = hand.model[0]
    for value in ABSURD:
        hand.goal("axis_angle_rad")[0] = value
        command = hand.run(0.01)["command"]["axis_angle_rad"][:, :2]
        assert np.isfinite(command).all()
        assert (command >= m["axis_min_rad"] - 1e-12).all() and (command <= m["axis_max_rad"] + 1e-12).all()
