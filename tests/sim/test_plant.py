"""The simulated hand at rest, under its sensors, its faults and an object."""

import numpy as np
import pytest

from signals.modes import ChannelStatus, FaultKind, SensorLevel
from sim.options import FAULT_EFFECTS, Fault
from tests.rigs.bench_hand import Bench, model


def test_start_pose_is_at_rest_and_under_pretension() -> None:
    bench = Bench(model())
    assert bench.truth("tension_n", 8) == pytest.approx(20.0, abs=1e-6)
    for _ in range(600):
        bench.hold()
        bench.step()
    assert np.abs(bench.truth("joint_angle_rad", 4)).max() < 1e-9
    # ripple may turn a held motor a little within its friction
    assert np.abs(bench.truth("tension_n", 8) - 20.0).max() < 1.0


def test_one_seed_repeats_bit_by_bit_and_two_differ() -> None:
    def run(seed: int) -> bytes:
        bench = Bench(model(), sensors=SensorLevel.FULL, seed=seed)
        bench.torque(0.5)
        bench.step(200)
        return bench.measurement.tobytes() + bench.bus.truth.tobytes()

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_sensor_levels_read_the_same_instant_with_their_own_errors() -> None:
    for level in SensorLevel:
        bench = Bench(model(), sensors=level, seed=1)
        bench.torque(1.2)
        bench.step(150)
        m = bench.model[0]
        lever = bench.truth("lever_angle_rad", 8)
        count = m["hall_zero_count"][:8] + lever * m["hall_counts_rad"][:8]
        fine = bench.measurement["hall_fine_count"][0, :8]
        angle = bench.measurement["motor_angle_rad"][0, :8] - bench.truth("motor_angle_rad", 8)
        step = m["encoder_step_rad"][:8]
        if level is SensorLevel.IDEAL:
            assert fine == pytest.approx(count, abs=1e-9)
            assert np.all(angle == 0.0)
            continue
        assert np.all(np.abs(angle) <= 0.5 * step * 1.0001)
        assert np.all(fine == np.round(fine))
        if level is SensorLevel.QUANTISED:
            assert np.all(np.abs(fine - count) <= 0.5 + 1e-9)
        else:
            assert np.abs(fine - count).max() < 20
            assert np.abs(fine - count).max() > 0.5


FAULT_SIGNS = {
    FaultKind.TENDON_BREAK: lambda b, i: b.truth("tension_n")[i] == 0.0,
    FaultKind.TENDON_SLACK: lambda b, i: b.truth("tension_n")[i] < 15.0,
    FaultKind.TENDON_SLIP: lambda b, i: b.truth("tension_n")[i] < 15.0,
    FaultKind.TENDON_OFF: lambda b, i: b.truth("tension_n")[i] == 0.0,
    FaultKind.HALL_OFFSET: lambda b, i: _count_error(b, i) == pytest.approx(60, abs=1),
    FaultKind.HALL_SATURATED: lambda b, i: b.measurement["hall_count"][0, i] == 4095,
    FaultKind.HALL_WRAP: lambda b, i: abs(_count_error(b, i)) > 1000,
    FaultKind.MOTOR_LOST: lambda b, i: b.measurement["motor_status"][0, i] == ChannelStatus.MISSING,
    FaultKind.NAN: lambda b, i: np.isnan(b.measurement["motor_angle_rad"][0, i]),
    FaultKind.MOTOR_RESET: lambda b, i: b.measurement["motor_status"][0, i] == ChannelStatus.RESET,
    FaultKind.ENCODER_JUMP: lambda b, i: _angle_error(b, i) == pytest.approx(0.3, abs=1e-3),
    FaultKind.MOTOR_HOT: lambda b, i: b.truth("winding_temperature_degc")[i] > 100.0,
}


def _count_error(bench: Bench, t: int) -> float:
    m = bench.model[0]
    true = m["hall_zero_count"][t] + bench.truth("lever_angle_rad")[t] * m["hall_counts_rad"][t]
    return float(bench.measurement["hall_fine_count"][0, t] - true)


def _angle_error(bench: Bench, i: int) -> float:
    return float(bench.measurement["motor_angle_rad"][0, i] - bench.truth("motor_angle_rad")[i])


@pytest.mark.parametrize("kind", FAULT_SIGNS, ids=lambda k: k.name.lower())
def test_every_fault_begins_at_its_time_and_shows_in_its_own_channel_only(kind: FaultKind) -> None:
    fault = Fault(kind=kind, index=5, time_s=0.02, value=FAULT_EFFECTS[kind].size)
    bench = Bench(model(), sensors=SensorLevel.QUANTISED, faults=(fault,))
    bench.hold()
    bench.step(50)
    sign = FAULT_SIGNS[kind]
    assert not sign(bench, 5), "before its time"
    bench.step(40)
    assert sign(bench, 5)
    assert not any(sign(bench, i) for i in (0, 1, 2, 3, 6, 7))


def test_a_stuck_hall_stays_and_a_glitch_passes() -> None:
    stuck = Fault(kind=FaultKind.HALL_STUCK, index=0, time_s=0.0)
    glitch = Fault(kind=FaultKind.HALL_GLITCH, index=1, time_s=0.0, value=400.0)
    bench = Bench(model(), sensors=SensorLevel.QUANTISED)
    bench.torque(1.4)
    bench.step(100)
    bench.bus.inject(stuck)
    before = bench.measurement["hall_count"][0].copy()
    bench.bus.inject(glitch)
    bench.step()
    assert abs(int(bench.measurement["hall_count"][0, 1]) - int(before[1])) > 300
    bench.step(100)
    assert bench.measurement["hall_count"][0, 0] == before[0]
    assert abs(int(bench.measurement["hall_count"][0, 1]) - int(before[1])) < 300
    assert bench.measurement["hall_count"][0, 2] != before[2]


def test_grown_friction_and_noise_scale() -> None:
    bench = Bench(model(), sensors=SensorLevel.FULL)
    bench.bus.inject(Fault(kind=FaultKind.FRICTION_GROWTH, index=0, time_s=0, value=3.0))
    bench.torque(1.5)
    bench.step(120)
    speed = bench.truth("motor_speed_rad_s", 8)
    assert speed[0] < 0.8 * speed[1]


def test_object_pushes_the_tip_out_and_never_pulls() -> None:
    m = model()
    m["object_center_m"] = [[0.0903, 0.0, 0.005]]
    m["object_radius_m"], m["object_stiffness_n_m"] = 0.006, 2000.0
    m["object_damping_ns_m"], m["object_friction"] = 5.0, 0.8
    m["object_center_m"][0] = Bench(m).truth("fingertip_m")[0] + [0, 0, 0.012]
    bench = Bench(m, contact=True)
    free = Bench(m)
    seen = []
    for _ in range(900):
        for b in (bench, free):
            b.hold()
            b.step()
        seen.append(bench.truth("contact_force_n")[0])
    assert max(seen) > 0.1
    assert min(seen) >= 0.0
    assert np.all(free.truth("contact_force_n") == 0.0)
    away = bench.truth("fingertip_m")[0] - m["object_center_m"][0]
    assert np.linalg.norm(away) > np.linalg.norm(free.truth("fingertip_m")[0] - m["object_center_m"][0])


def test_a_diverging_plant_stops_and_says_where() -> None:
    m = model()
    bench = Bench(m)
    bench.bus.plant["qd_rad_s"][0, 2] = np.inf
    status = bench.bus.exchange(bench.command, bench.measurement, 10**9)
    assert status != 0
    assert "joint" in bench.bus.diagnosis and "step" in bench.bus.diagnosis


@pytest.mark.parametrize(("want_rad", "reaches"), [((0.2, -0.02), True), ((0.0, -0.25), False)])
def test_wrist_drive_follows_within_its_torque_and_speed(
    want_rad: tuple[float, float], reaches: bool
) -> None:
    """With the motors held, 38 springs resist a large abduction: there the drive's torque is the limit."""
    bench = Bench(model("hasy"))
    want = bench.model["wrist_neutral_rad"][0] + want_rad
    limit = bench.model["axis_torque_limit_nm"][0]
    bench.command["axis_angle_rad"][0] = want
    peak = np.zeros(2)
    for _ in range(1500):
        bench.hold()
        bench.step()
        peak = np.maximum(peak, np.abs(bench.bus.plant["axis_torque_nm"][0]))
        assert np.all(
            np.abs(bench.truth("axis_speed_rad_s")) <= bench.model["axis_speed_limit_rad_s"][0] * 1.05
        )
    assert np.all(peak <= limit + 1e-9)
    error = np.abs(bench.truth("axis_angle_rad") - want)
    if reaches:
        assert error.max() < 0.005
    else:
        assert peak[1] == pytest.approx(limit[1])
        assert error[1] > 0.01


@pytest.mark.parametrize(("realtime", "winds_on"), [(True, False), (False, True)])
def test_drives_let_go_when_commands_stop_coming(realtime: bool, winds_on: bool) -> None:
    """In real time the drives' own watchdog ends the torque; in lockstep time only passes with commands."""
    bench = Bench(model(), realtime=realtime)
    bench.torque(1.5)
    bench.step(3)
    before = bench.truth("motor_angle_rad", 8)
    now_ns = bench.cycle * 333_333
    for _ in range(1 if realtime else 600):
        now_ns += 200_000_000 if realtime else 333_333
        bench.bus.exchange(bench.command, bench.measurement, now_ns)
    wound = float(np.abs(bench.truth("motor_angle_rad", 8) - before).max())
    assert (wound > 0.2) is winds_on
    assert bench.bus.capabilities.device_watchdog_s == (0.02 if realtime else None)


@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_devices_that_look_often_get_the_same_motion(pieces: int) -> None:
    """A period in pieces has as many substeps as a whole one: it costs no more, and moves the hand alike."""
    wound, costs = [], []
    for parts in (1, pieces):
        bench, counted = Bench(model(), realtime=True, substeps=8), list[int]()
        advance = bench.bus._advance
        bench.bus._advance = lambda s, n, at, to=counted, real=advance: (to.append(n), real(s, n, at))[1]  # type: ignore[method-assign,misc]
        bench.torque(1.5)
        bench.bus.exchange(bench.command, bench.measurement, 0)
        for k in range(300 * parts):
            bench.bus.exchange(bench.command, bench.measurement, (k + 1) * 333_336 // parts)
        wound.append(bench.truth("motor_angle_rad", 8))
        assert float(bench.bus.plant["time_s"][0]) == pytest.approx(0.1, rel=1e-3)
        costs.append(sum(counted))
    assert np.abs(wound[0]).max() > 0.05 and costs[1] <= 1.3 * costs[0]
    assert wound[1] == pytest.approx(wound[0], rel=0.02)
