"""Mechanisms under the runtime: same HAL, loop, guard and telemetry, tracking their motions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from drivers.errors import BusLost, ConfigureError
from drivers.hal import Bus, MotorSetup
from hand.file import HandFileError
from hand.mechanism_file import (
    is_mechanism_hand,
    parse_mechanism_hand,
    read_mechanism_hand,
    shipped_mechanism_hands,
)
from hand.options import RunOptions
from hand.review.mechanism import suspicions
from runtime.mechanism_hand import MechanismHandError, load_mechanism_hand
from runtime.session import Session, run_lockstep
from signals.modes import BusStatus, ChannelStatus, Clip, MachineState, MotorMode
from signals.records import COMMAND, GOAL, MEASUREMENT, STATE, TRUTH, new
from signals.sizes import FINGER_JOINTS

RUNS = (
    ("carpal_wrist", "carpal_circle", 5.0),
    ("prosthesis_arm", "arm_reach", 5.0),
    ("muscle_finger", "muscle_close", 22.0),
)
PERIOD_NS = 1_000_000
STATUSES = ("motor_status", "hall_status", "axis_status")


def bus_of(name, lockstep=True):
    hand = load_mechanism_hand(name)
    options = RunOptions(hand=name, lockstep=lockstep, seconds=1.0)
    return hand, hand.bus(hand.model, options, new(TRUTH))


def test_three_mechanisms_are_shipped_as_hands_and_tendon_hands_are_none():
    assert set(shipped_mechanism_hands()) >= {name for name, _, _ in RUNS}
    assert not is_mechanism_hand("hasy") and not is_mechanism_hand("finger_bench")
    assert is_mechanism_hand(read_mechanism_hand("carpal_wrist").path)


@pytest.mark.parametrize(("name", "motion", "seconds"), RUNS)
def test_a_mechanism_tracks_its_motion_under_the_loop_and_the_guard(name, motion, seconds):
    result = run_lockstep(name, motion=motion, seconds=seconds)
    report = result.report
    assert report["faults"] == [] and report["cycles"] == round(seconds * report["rate_hz"])
    assert report["estimate_error_deg"]["max"] < 2e-3
    bound = 3.0 if name == "muscle_finger" else 0.05
    assert report["tracking_error_deg"]["rms"] < bound
    frames = result.frames
    joints = frames["truth"]["joint_angle_rad"]
    assert np.ptp(joints, axis=0).max() > np.radians(15.0)
    assert (frames["state"]["machine"][-1] == MachineState.ACTIVE).all()


def test_the_muscle_follows_the_closing_angle_and_stays_below_its_temperature():
    result = run_lockstep("muscle_finger", motion="muscle_close", seconds=20.0)
    closing = result.frames["truth"]["joint_angle_rad"].sum(axis=1)
    wanted = result.frames["state"]["ref_joint_angle_rad"].sum(axis=1)
    held = (result.seconds > 16.5) & (result.seconds < 18.0)
    assert np.degrees(np.abs(closing - wanted)[held].max()) < 1.0
    degc = result.frames["measurement"]["motor_temperature_degc"][:, 0]
    assert 60.0 < degc.max() < 120.0
    current = result.frames["measurement"]["motor_current_a"][:, 0]
    assert current.min() >= 0.0 and current.max() <= 0.6


def test_lockstep_repeats_bit_by_bit():
    runs = [run_lockstep("carpal_wrist", motion="carpal_circle", seconds=2.0, seed=3) for _ in range(2)]
    for record in ("truth", "state", "measurement"):
        for field in ("joint_angle_rad", "motor_angle_rad"):
            if field in runs[0].frames[record].dtype.names:
                assert np.array_equal(runs[0].frames[record][field], runs[1].frames[record][field])


def test_a_tool_that_the_controller_does_not_know_is_held_by_the_feedback():
    options = RunOptions(hand="carpal_wrist", motion="carpal_circle", seconds=3.0, lockstep=True)
    session = Session(options)
    plant = session.rig.bus.system.parts[2]
    plant["mass_kg"] *= 1.2
    session.run(3.0)
    session.close()
    report = session.result().report
    assert report["faults"] == []
    # the missing 4 N push against w^2 m: a few degrees, not a fall
    assert 0.1 < report["tracking_error_deg"]["rms"] < 8.0


def test_the_bus_keeps_its_contract():
    hand, bus = bus_of("carpal_wrist")
    assert isinstance(bus, Bus) and bus.capabilities.lockstep
    command, measurement = new(COMMAND), new(MEASUREMENT)
    command["motor_mode"] = int(MotorMode.CURRENT)
    command["motor_current_a"] = 1.0
    for k in range(3):
        assert bus.exchange(command, measurement, k * PERIOD_NS) == 0
    assert measurement["motor_current_a"][0, 0] == 0.0  # not activated: no current
    bus.configure((MotorSetup(index=0, name="m_leg_1", current_limit_a=0.4),))
    bus.activate()
    for k in range(3, 6):
        bus.exchange(command, measurement, k * PERIOD_NS)
    assert measurement["motor_current_a"][0, :3].tolist() == [0.4, 1.0, 1.0]
    command["motor_current_a"] = np.nan
    bus.exchange(command, measurement, 6 * PERIOD_NS)
    bus.exchange(command, measurement, 7 * PERIOD_NS)
    assert measurement["motor_current_a"][0, :3].tolist() == [0.0, 0.0, 0.0]
    assert bus.deactivate()
    for index, mode, told in (
        (9, MotorMode.CURRENT, "none: index is 'not there' after writing 9; legal: 0 to 2"),
        (-1, MotorMode.CURRENT, "legal: 0 to 2"),
        (0, MotorMode.POSITION, r"'not offered' after writing 'POSITION'; legal: \['CURRENT', 'OFF'\]"),
    ):
        with pytest.raises(ConfigureError, match=told):
            bus.configure((MotorSetup(index=index, name="none", current_limit_a=1.0, mode=mode),))
    bus.close()
    assert bus.exchange(command, measurement, 8 * PERIOD_NS) == int(BusStatus.LOST)
    assert all((measurement[s] & int(ChannelStatus.MISSING)).all() for s in STATUSES)
    with pytest.raises(BusLost):
        bus.activate()


def test_in_real_time_the_plant_advances_by_the_time_that_passed():
    _, bus = bus_of("carpal_wrist", lockstep=False)
    command, measurement = new(COMMAND), new(MEASUREMENT)
    for now in (0, 1_000_000, 5_000_000):
        bus.exchange(command, measurement, now)
    assert abs(float(bus.truth["time_s"][0]) - 5e-3) < 1e-12
    # free fall of the unpowered wrist: the joint sensors see it
    assert measurement["hall_fine_count"][0, 0] < 2.0**15


def test_a_mechanism_that_diverges_is_a_lost_bus_with_its_reason():
    _, bus = bus_of("carpal_wrist")
    bus.qd[:] = 1e6
    command, measurement = new(COMMAND), new(MEASUREMENT)
    bus.exchange(command, measurement, 0)
    assert bus.exchange(command, measurement, PERIOD_NS) == int(BusStatus.LOST)
    assert all((measurement[s] & int(ChannelStatus.MISSING)).all() for s in STATUSES)
    assert "diverged" in bus.diagnosis and "leg_" in bus.diagnosis
    with pytest.raises(BusLost, match="diverged"):
        bus.recover()


def test_the_guard_limits_the_torque_of_a_mechanism():
    hand = load_mechanism_hand("prosthesis_arm")
    stages = hand.stages(new(MEASUREMENT))
    goal, state, command, measurement = new(GOAL), new(STATE), new(COMMAND), new(MEASUREMENT)
    limit = hand.model["motor_torque_limit_nm"][0, :7]
    measurement["hall_count"], measurement["hall_fine_count"] = 2**15, 2.0**15
    for k in range(400):
        now = (k + 1) * PERIOD_NS
        state["time_ns"], state["tick"], state["dt_s"] = now, k, 1e-3
        measurement["motor_time_ns"] = measurement["hall_time_ns"] = now
        state["motor_angle_rad"][0, :7] = 1e-6 * (k % 3)
        goal["request_seq"], goal["request"] = (1, 1) if k < 100 else (2, 2)
        state["ref_motor_torque_nm"][0, :7] = 1e3
        stages.guard(hand.model, goal, measurement, stages.guard_memory, state, command)
    assert state["machine"][0] == MachineState.ACTIVE
    assert np.allclose(state["motor_torque_nm"][0, :7], limit)
    assert (state["clip"][0, :7] & int(Clip.TORQUE) != 0).all()


WRONG = (
    ('name = "leg_2"\nhome', 'name = "leg_9"\nhome', HandFileError, "joint: found leg_1, leg_9, leg_3"),
    ('kind = "inverse_dynamics"', 'kind = "inverse_dynamic"', HandFileError, "'inverse_dynamics'?"),
    ("rate_hz = 1000.0", "rate_hz = 10.0", HandFileError, "rate_hz: found 10.0; legal: >= 50"),
    ("bandwidth_hz = 5.0", "bandwith_hz = 5.0", HandFileError, "did you mean 'bandwidth_hz'"),
    ("range_deg = [-45.0, 25.0]", "range_deg = [25.0, -45.0]", HandFileError, "the lower end first"),
    ('motor = "assumed: 20', 'motors = "assumed: 20', HandFileError, "origin"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new_text", "error", "message"), WRONG)
def test_wrong_hand_files_are_refused(tmp_path, old, new_text, error, message):
    text = read_mechanism_hand("carpal_wrist").text
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new_text, 1), encoding="utf-8")
    with pytest.raises(error, match=re.escape(message)):
        load_mechanism_hand(str(path))


def _chain_hand(folder, n):
    """A hand file of ``n`` joints around a chain of ``n`` bodies."""
    body = (
        '[[body]]\nname = "b{k}"\nparent = "{parent}"\naxis = [0.0, 1.0, 0.0]\n'
        "position_m = [0.0, 0.0, 0.1]\nrods = [{{ mass_kg = 0.1, to_m = [0.0, 0.0, 0.1] }}]\n"
        '[body.origin]\nparent = "assumed"\naxis = "assumed"\nposition_m = "assumed"\nrods = "assumed"\n'
    )
    chain = 'schema_version = 1\nkind = "tree"\nname = "chain"\ndescription = "x"\n'
    chain += 'gravity_m_s2 = [0.0, 0.0, -9.81]\n[origin]\ngravity_m_s2 = "assumed"\n'
    chain += '[scenario.fall]\norigin = "assumed"\ndescription = "x"\nduration_s = 1.0\nstep_s = 0.001\n'
    chain += "".join(body.format(k=k, parent=f"b{k - 1}" if k else "world") for k in range(n))
    (folder / "chain.toml").write_text(chain, encoding="utf-8")
    text = read_mechanism_hand("prosthesis_arm").text
    head, rest = text.split("[[motor]]", 1)
    joint = rest[rest.index("[[joint]]") :].split("[[joint]]")[1]
    motor, tail = rest.split("[[motor]]")[0], rest[rest.index("[sensors]") :]
    head = head.replace('mechanism = "prosthesis_arm"', f'mechanism = "{folder / "chain.toml"}"')
    motors = "".join("[[motor]]" + motor.replace("m_shoulder_1", f"m{k}") for k in range(n))
    joints = "".join("[[joint]]" + joint.replace('"shoulder_1"', f'"b{k}"') for k in range(n))
    path = folder / "hand.toml"
    path.write_text(head + motors + joints + tail, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("n", range(1, 13))
def test_a_mechanism_of_any_number_of_joints_is_a_hand_or_refused_with_the_limit(n, tmp_path):
    path = _chain_hand(tmp_path, n)
    if n <= FINGER_JOINTS:
        hand = load_mechanism_hand(path)
        assert hand.model["n_joints"][0] == len(hand.names.joints) == n
        return
    with pytest.raises(HandFileError, match=f"joint: found {n} of them; legal: at most {FINGER_JOINTS}"):
        load_mechanism_hand(path)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_makes_no_other_hand(mark, tmp_path):
    text = read_mechanism_hand("carpal_wrist").text
    line = next(x for x in text.splitlines() if x.startswith("mechanism"))
    path = tmp_path / "hand.toml"
    path.write_bytes(mark + (line + "\n" + text.replace(line, "")).encode())
    assert is_mechanism_hand(path)
    assert load_mechanism_hand(path).file == load_mechanism_hand("carpal_wrist").file


@pytest.mark.parametrize("name", ["carpal_wrist", "prosthesis_arm", "muscle_finger"])
def test_a_mechanisms_gains_a_factor_off_are_suspected_and_only_those(name):
    text = read_mechanism_hand(name).text
    assert suspicions(parse_mechanism_hand(text, name)) == ()
    keys = ("velocity_filter_hz", "bandwidth_hz", "damping_ratio")
    for key, value in re.findall(rf"^({'|'.join(keys)}) = (\S+)", text, re.MULTILINE):
        for factor in (1000.0, 57.3, 1 / 57.3, 1 / 1000.0):
            slipped = text.replace(f"{key} = {value}", f"{key} = {float(value) * factor}")
            found = suspicions(parse_mechanism_hand(slipped, name))
            # a muscle's controller has no speed gain: a slow filter does it no harm
            seen = name != "muscle_finger" or factor > 1.0
            assert bool(found) == seen, (key, factor)


def test_a_bandwidth_far_beyond_the_suspected_one_swings_in_simulation(tmp_path):
    name = "prosthesis_arm"
    text = read_mechanism_hand(name).text
    value = re.search(r"bandwidth_hz = (\S+)", text)[1]
    hertz = float(value)
    while not suspicions(parse_mechanism_hand(text.replace(value, f"{hertz:.3f}", 1), name)):
        hertz *= 1.1
    rms = []
    for share in (1.0 / 1.1, 4.0):
        path = tmp_path / f"{share:.2f}.toml"
        path.write_text(text.replace(f"bandwidth_hz = {value}", f"bandwidth_hz = {share * hertz}"))
        result = run_lockstep(str(path), seconds=0.5, sensors="ideal", every=1)
        rms.append(np.sqrt(np.mean(result.frames["truth"]["joint_speed_rad_s"][result.seconds > 0.4] ** 2)))
    assert rms[1] > 10.0 * rms[0]


def test_options_for_tendons_are_refused():
    with pytest.raises(MechanismHandError, match="--mismatch: for tendon hands"):
        run_lockstep("carpal_wrist", seconds=1.0, mismatch=1)


def test_hand_files_label_every_value():
    for name in shipped_mechanism_hands():
        read = parse_mechanism_hand(Path(read_mechanism_hand(name).path).read_text(encoding="utf-8"), name)
        assert read.origins and all(o.word for o in read.origins.values())


def test_a_muscle_is_heated_never_driven_backwards():
    _, bus = bus_of("muscle_finger")
    bus.activate()
    command, measurement = new(COMMAND), new(MEASUREMENT)
    command["motor_mode"] = int(MotorMode.CURRENT)
    for k, (wanted, flows) in enumerate(((-0.5, 0.0), (0.0, 0.0), (0.3, 0.3), (5.0, 0.6))):
        command["motor_current_a"] = wanted
        bus.exchange(command, measurement, 2 * k * PERIOD_NS)
        bus.exchange(command, measurement, (2 * k + 1) * PERIOD_NS)
        assert measurement["motor_current_a"][0, 0] == flows
    command["motor_mode"] = int(MotorMode.OFF)
    bus.exchange(command, measurement, 20 * PERIOD_NS)
    bus.exchange(command, measurement, 21 * PERIOD_NS)
    assert measurement["motor_current_a"][0, 0] == 0.0
