"""Every detector fires on its own signature, with name, part and figures, and not just inside its limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from guard.tension_checks import SLACK_START_S, TAUT_S
from mechanics.friction import motor_friction_nm
from mechanics.springs import spring_at
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState, Mode, Request
from tests.rigs.desk import Desk, shift, slacken

FAULT = int(MachineState.FAULT)
FRICTION = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")


@pytest.fixture
def desk() -> Desk:
    made = Desk("finger_bench")
    made.to_active()
    return made


@pytest.fixture
def limp(desk: Desk) -> Desk:
    """Motors that only balance 20 N, so that nothing pushes against a measurement that stands still.

    Nor does the guard wind back what seems slack.
    """
    desk.m["elongation_max_m"] = 0.0
    desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
    desk.goal["motor_torque_nm"][0, :8] = 0.2
    desk.cycle(300)
    return desk


class Noise:
    """One count of noise on every Hall channel but the frozen ones."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.rng = desk, np.random.default_rng(0)
        self.base = desk.measurement["hall_fine_count"][0, : desk.n_tendons].copy()
        self.frozen: set[int] = set()

    def cycle(self, count: int = 1) -> None:
        z, n = self.desk.measurement[0], self.desk.n_tendons
        for _ in range(count):
            noisy = np.round(self.base + self.rng.normal(size=n))
            for t in range(n):
                if t not in self.frozen:
                    z["hall_count"][t] = noisy[t]
                    z["hall_fine_count"][t] = noisy[t]
            self.desk.cycle()


def cycles_to_fault(desk: Desk, step: Callable[[], None], most: int) -> int:
    """Cycles until the finger is in fault; ``most`` + 1 if it never is."""
    for k in range(1, most + 1):
        step()
        if desk.state["finger_state"][0, 0] == FAULT or desk.state["machine"][0] == FAULT:
            return k
    return most + 1


def cause(desk: Desk) -> tuple[Cause, int]:
    return Cause(desk.causes()[0]), int(desk.state["finger_cause_part"][0, 0])


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_noise_alone_raises_no_alarm(hand: str) -> None:
    desk = Desk(hand)
    desk.to_active()
    Noise(desk).cycle(1500)
    assert not any(desk.causes())
    assert desk.state["hand_cause"][0] == Cause.NONE


@pytest.mark.parametrize(
    ("field", "named"),
    [("motor_angle_rad", Cause.NOT_FINITE_MEASUREMENT), ("hall_fine_count", Cause.HALL_NOT_FINITE)],
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_no_number_latches_at_once(
    desk: Desk, field: str, named: Cause, value: float
) -> None:
    desk.measurement[field][0, 3] = value
    desk.cycle()
    assert cause(desk) == (named, 3)
    assert np.all(np.isfinite(desk.command["motor_current_a"]))


def test_a_status_that_says_not_finite_latches_too(desk: Desk) -> None:
    desk.measurement["hall_status"][0, 2] = int(ChannelStatus.NOT_FINITE)
    desk.cycle()
    assert cause(desk) == (Cause.HALL_NOT_FINITE, 2)


@pytest.mark.parametrize(
    ("field", "named"), [("motor_status", Cause.MOTOR_LOST), ("hall_status", Cause.HALL_LOST)]
)
@pytest.mark.parametrize("bit", [ChannelStatus.MISSING, ChannelStatus.DEVICE_ERROR])
def test_silence_is_forgiven_for_five_milliseconds(
    desk: Desk, field: str, named: Cause, bit: ChannelStatus
) -> None:
    silent = round(0.005 / desk.dt_s)
    desk.measurement[field][0, 5] = int(bit)
    desk.cycle(silent - 1)
    desk.measurement[field][0, 5] = 0
    desk.cycle(2)
    assert not any(desk.causes())
    desk.measurement[field][0, 5] = int(bit)
    assert abs(cycles_to_fault(desk, desk.cycle, 40) - silent) <= 1
    assert cause(desk) == (named, 5)
    assert desk.state["finger_cause_value"][0, 0] >= desk.state["finger_cause_limit"][0, 0] == 5.0


@pytest.mark.parametrize("bit", [ChannelStatus.RESET, ChannelStatus.WRONG_MODE])
def test_a_motor_that_comes_back_otherwise_latches_at_once(desk: Desk, bit: ChannelStatus) -> None:
    desk.measurement["motor_status"][0, 6] = int(bit)
    desk.cycle()
    assert cause(desk) == (Cause.MOTOR_RESET, 6)


@pytest.mark.parametrize("beside", [ChannelStatus.OK, ChannelStatus.STALE, ChannelStatus.RESET])
def test_a_motor_that_its_driver_holds_back_was_not_reset(desk: Desk, beside: ChannelStatus) -> None:
    desk.measurement["motor_status"][0, 6] = int(ChannelStatus.HELD | beside)
    desk.cycle()
    was_reset = beside == ChannelStatus.RESET
    assert cause(desk) == (Cause.MOTOR_RESET if was_reset else Cause.MOTOR_HELD, 6)


def test_all_motors_silent_is_the_bus(desk: Desk) -> None:
    desk.measurement["motor_status"][0, :8] = int(ChannelStatus.MISSING)
    desk.cycle(20)
    assert desk.state["hand_cause"][0] == Cause.BUS_LOST
    assert desk.state["machine"][0] == FAULT


@pytest.mark.parametrize(("age_s", "latched"), [(0.0995, False), (0.1005, True)])
@pytest.mark.parametrize(
    ("field", "named"), [("motor_time_ns", Cause.MEASUREMENT_TOO_OLD), ("hall_time_ns", Cause.HALL_TOO_OLD)]
)
def test_old_samples_latch_at_the_last_tier(
    desk: Desk, field: str, named: Cause, age_s: float, latched: bool
) -> None:
    desk.stamp()
    desk.measurement[field][0, 4] -= round(age_s * 1e9)
    desk.steer()
    desk.watch()
    assert (cause(desk) == (named, 4)) == latched


def test_a_sample_older_than_the_second_tier_freezes_the_torque(desk: Desk) -> None:
    desk.goal["joint_angle_rad"][0, :4] = (0.1, 0.6, 0.6, 0.4)
    desk.cycle(60)  # none is at its limit yet
    sent = desk.state["motor_torque_nm"][0, :8].copy()
    desk.look()
    desk.measurement["hall_time_ns"][0, 2] -= 25_000_000
    desk.state["ref_motor_torque_nm"][0, :8] = sent + 0.05
    desk.watch()
    now = desk.state["motor_torque_nm"][0, :8]
    assert now[2] == sent[2]
    assert np.all(now[[0, 1, 3]] > sent[[0, 1, 3]])


def wind(desk: Desk, motor: int, speed_rad_s: float) -> None:
    desk.measurement["motor_angle_rad"][0, motor] += speed_rad_s * desk.dt_s


def test_a_silent_hall_channel_is_stuck_once_its_motor_moves(desk: Desk) -> None:
    noise = Noise(desk)
    noise.cycle(1500)
    noise.frozen.add(6)
    noise.cycle(200)
    assert not any(desk.causes()), "without motion nothing can be told"

    def step() -> None:
        wind(desk, 6, 0.5)
        noise.cycle()

    assert cycles_to_fault(desk, step, 300) * desk.dt_s < 0.1
    assert cause(desk) == (Cause.HALL_STUCK, 6)


def test_a_stuck_channel_without_noise_contradicts_the_others(limp: Desk) -> None:
    limp.m["hall_noise_count"][:8] = 0.0
    z = limp.measurement[0]

    def step() -> None:
        wind(limp, 6, 1.0)
        z["hall_count"][:8] += np.where(np.arange(8) == 6, 0, 1 if limp.tick % 2 else -1).astype(np.int32)
        limp.cycle()

    used = cycles_to_fault(limp, step, 1500)
    assert cause(limp) == (Cause.HALL_STUCK, 6)
    wound_mm = used * limp.dt_s * 1.0 * 10.0
    assert 0.999 <= wound_mm < 1.2
    assert limp.state["finger_cause_value"][0, 0] > 1.0


def test_constant_tension_is_not_a_stuck_channel(desk: Desk) -> None:
    """Ideal sensors, finger moving, tensions constant: counts stay although the motors wind."""
    desk.m["hall_noise_count"][:8] = 0.0
    for k in range(60):
        desk.place(np.array([0.0, 0.01, 0.01, 0.01]) * k, 20.0)
        desk.measurement["hall_count"][0, :4] += k % 2
        desk.cycle(2)
    assert not any(desk.causes())


@pytest.mark.parametrize("count", [0, 4095])
def test_a_count_at_its_rail_latches_after_five_milliseconds(desk: Desk, count: int) -> None:
    for name in ("hall_count", "hall_fine_count"):
        desk.measurement[name][0, 1] = count
    used = cycles_to_fault(desk, desk.cycle, 60)
    assert cause(desk) == (Cause.HALL_SATURATED, 1)
    assert abs(used - 0.005 / desk.dt_s) <= 2


def test_a_count_that_jumps_towards_tight_and_stays_is_a_glitch(desk: Desk) -> None:
    shift(desk, 4, -90)
    used = cycles_to_fault(desk, desk.cycle, 60)
    assert cause(desk) == (Cause.HALL_GLITCH, 4)
    assert used * desk.dt_s < 0.004


def test_a_lone_jump_towards_slack_is_a_glitch_and_a_shared_one_a_slip(desk: Desk) -> None:
    shift(desk, 4, 90)
    cycles_to_fault(desk, desk.cycle, 60)
    assert cause(desk) == (Cause.HALL_GLITCH, 4)
    other = Desk("finger_bench")
    other.to_active()
    shift(other, 4, 90)
    for _ in range(6):
        shift(other, 5, 10)
        other.cycle()
    cycles_to_fault(other, other.cycle, 60)
    assert cause(other)[0] != Cause.HALL_GLITCH


def test_three_spikes_in_a_second_are_a_glitch_and_one_is_not(limp: Desk) -> None:
    def spike() -> None:
        shift(limp, 3, -400)
        limp.cycle()
        shift(limp, 3, 400)
        limp.cycle(100)

    spike()
    spike()
    assert not any(limp.causes())
    spike()
    assert cause(limp) == (Cause.HALL_GLITCH, 3)


def test_fast_true_motion_is_no_glitch(desk: Desk) -> None:
    """A lever at twenty counts a cycle: 18 times the speed that a motor can give it."""
    for k in range(20):
        shift(desk, 2, 20 if k < 10 else -20)
        desk.cycle()
    assert Cause.HALL_GLITCH not in desk.causes()


def test_a_tendon_that_snaps_is_lost_within_ten_milliseconds(desk: Desk) -> None:
    desk.cycle(300)
    slacken(desk, 2)
    shift(desk, 1, 300)
    used = cycles_to_fault(desk, desk.cycle, 60)
    assert cause(desk) == (Cause.TENSION_LOST, 2)
    assert used * desk.dt_s <= 0.011
    assert desk.state["finger_cause_limit"][0, 0] > 5.0


@pytest.mark.parametrize(("before_s", "allowed_s"), [(0.001, 0.150), (0.025, 0.150), (0.040, 0.004)])
def test_a_tendon_thrown_into_slack_by_one_that_fell_before_it_may_come_back(
    limp: Desk, before_s: float, allowed_s: float
) -> None:
    """For as long as a dip may last; what fell more than 30 ms before has nothing to do with it."""
    desk = limp
    desk.m["residual_limit_m"][0] = 0.0
    shift(desk, 1, 400)
    desk.cycle()
    shift(desk, 4, 30)  # a tendon that gives way moves others too: no glitch
    desk.cycle(round(before_s / desk.dt_s) - 1)
    assert not any(desk.causes())
    slacken(desk, 2)
    desk.cycle()
    shift(desk, 4, 30)
    used_s = (1 + cycles_to_fault(desk, desk.cycle, 600)) * desk.dt_s
    assert cause(desk) == (Cause.TENSION_LOST, 2)
    assert used_s == pytest.approx(allowed_s, abs=0.001)


def test_a_tendon_never_taut_may_be_wound_in(desk: Desk) -> None:
    fresh = Desk("finger_bench")
    slacken(fresh, 2)
    fresh.to_active()
    fresh.cycle(round(0.4 / fresh.dt_s))
    assert Cause.TENSION_LOST not in fresh.causes()


@pytest.mark.parametrize("slack", [False, True])
def test_a_tendon_that_became_slack_while_the_hand_was_off_is_wound_in_as_at_the_start(slack: bool) -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    desk.cycle(round(0.1 / desk.dt_s))
    assert desk.keeper["taut"][0, 2] == 1
    desk.ask(Request.OFF)
    desk.cycle(100)
    if slack:
        slacken(desk, 2)
    desk.cycle(100)
    desk.to_holding()
    desk.cycle(round(0.6 * TAUT_S / desk.dt_s))
    assert desk.keeper["taut"][0, 2] == 0, "what it was is forgotten"
    desk.cycle(round(0.4 / desk.dt_s))
    assert desk.keeper["taut"][0, 2] == (not slack)
    assert not any(desk.causes())
    if slack:
        desk.ask(Request.ACTIVATE)
        assert cycles_to_fault(desk, desk.cycle, 2000) * desk.dt_s == pytest.approx(SLACK_START_S, abs=0.15)
    else:
        slacken(desk, 2)
        assert cycles_to_fault(desk, desk.cycle, 60) <= round(0.012 / desk.dt_s), "taut again"


def test_too_much_tension_lets_the_finger_go(limp: Desk) -> None:
    limit = spring_at(limp.m, 5, float(limp.m["lever_calibrated_min_rad"][0]))[0]

    def tighten(start: float, end: float) -> None:
        for k in range(1, 401):
            tension = start + (end - start) * k / 400
            limp.place(np.zeros(4), np.where(np.arange(8) == 5, tension, 20.0))
            limp.cycle()

    tighten(20.0, limit - 1.0)
    limp.cycle(30)
    assert not any(limp.causes())
    tighten(limit - 1.0, limit + 1.0)
    limp.cycle(30)
    assert cause(limp) == (Cause.TENSION_TOO_HIGH, 5)
    assert limp.state["finger_cause_value"][0, 0] == pytest.approx(limit, abs=1.5)
    assert limp.state["finger_cause_limit"][0, 0] == pytest.approx(limit)


def test_a_motor_beyond_its_no_load_speed_is_latched() -> None:
    for share, latched in ((1.05, False), (1.3, True)):
        desk = Desk("finger_bench")
        desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
        desk.m["residual_limit_m"][0] = 0.0
        desk.to_active()
        speed = share * float(desk.m["motor_speed_limit_rad_s"][1])
        for _ in range(60):
            for motor in range(8):
                wind(desk, motor, speed if motor == 1 else 0.0)
            desk.cycle()
        assert (Cause.MOTOR_TOO_FAST in desk.causes()) == latched


def test_an_angle_that_jumps_is_the_encoder(desk: Desk) -> None:
    possible = 2.0 * desk.m["motor_speed_limit_rad_s"][0] * desk.dt_s + 0.02
    desk.measurement["motor_angle_rad"][0, 0] += 0.98 * possible
    desk.cycle()
    assert Cause.ENCODER_FAULT not in desk.causes()
    desk.measurement["motor_angle_rad"][0, 0] += 1.02 * possible
    desk.cycle()
    assert Cause.ENCODER_FAULT in desk.causes()
    assert desk.state["finger_cause_value"][0, 0] == pytest.approx(1.02 * possible)


def test_a_motor_that_stands_still_under_a_torque_is_blocked(desk: Desk) -> None:
    desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
    desk.goal["motor_torque_nm"][0, 3] = 0.2 + 0.4
    desk.cycle(round(0.8 / desk.dt_s))
    assert not any(desk.causes())
    desk.goal["motor_torque_nm"][0, 3] = 0.2 + 0.8
    used = cycles_to_fault(desk, desk.cycle, round(1.0 / desk.dt_s))
    assert cause(desk) == (Cause.MOTOR_BLOCKED, 3)
    assert 0.5 < used * desk.dt_s < 0.6
    assert desk.state["finger_cause_value"][0, 0] == pytest.approx(1.0 / 1.47, rel=0.2)


def test_an_encoder_that_stands_still_while_its_tension_moves_is_stuck() -> None:
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.6, 0.6, 0.5]), 20.0)
    desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
    desk.goal["motor_torque_nm"][0, :8] = 0.2
    desk.to_active()
    desk.goal["motor_torque_nm"][0, 3] = 1.2
    desk.cycle(350)
    for _ in range(120):
        shift(desk, 3, -1)
        desk.cycle()
    assert cause(desk) == (Cause.ENCODER_STUCK, 3)


def test_friction_compensation_that_pushes_at_rest_is_latched(desk: Desk) -> None:
    """A foreign controller that compensates measured speed: 0.8 N m along a motor that should rest."""
    energy = 0.0
    for _ in range(600):
        desk.look()
        desk.steer()
        desk.state["friction_torque_nm"][0, 2] = 0.8
        desk.state["motor_speed_rad_s"][0, 2] = 1.0
        desk.watch()
        energy += 0.8 * desk.dt_s
        if any(desk.causes()):
            break
    assert cause(desk) == (Cause.FRICTION_ENERGY, 2)
    assert energy == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize(("factor", "latched"), [(0.7, False), (1.3, False), (1.9, True), (2.5, True)])
def test_friction_that_grows_is_found_by_the_torque_of_motion(factor: float, latched: bool) -> None:
    """Motor 3 swings through a second of motion, then its friction changes; the others keep theirs."""
    desk = Desk("finger_bench")
    desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
    desk.m["residual_limit_m"][0] = 0.0
    desk.to_active()
    laws = [float(desk.m[n][3]) for n in FRICTION]
    start = desk.measurement["motor_angle_rad"][0, :8].copy()
    for k in range(9000):
        now = factor if k > 4500 else 1.0
        phase = 2.0 * np.pi * k * desk.dt_s
        speed = 0.12 * 2.0 * np.pi * np.cos(phase)
        desk.measurement["motor_angle_rad"][0, :8] = start + 0.12 * np.sin(phase)
        desk.look()
        friction = motor_friction_nm(speed, *laws)
        desk.keeper["last_torque_nm"][0, :8] = 0.2 + friction
        desk.keeper["last_torque_nm"][0, 3] = 0.2 + now * friction
        desk.watch()
        if any(desk.causes()):
            break
    assert (Cause.FRICTION_GROWN in desk.causes()) == latched
    if latched:
        assert cause(desk)[1] == 3
        assert k * desk.dt_s < 1.5 + 1.5
        assert desk.state["finger_cause_value"][0, 0] > desk.state["finger_cause_limit"][0, 0] == 1.5


@pytest.mark.parametrize(("slip_mm", "latched"), [(0.5, False), (1.5, True)])
def test_a_slip_steps_the_residual_of_its_pair(limp: Desk, slip_mm: float, latched: bool) -> None:
    desk = limp
    for _ in range(60):
        desk.measurement["motor_angle_rad"][0, 6] += 1e-3 * slip_mm / 60 / desk.m["spool_radius_m"][6]
        desk.cycle()
    desk.cycle(200)
    assert (Cause.RESIDUAL_TOO_LARGE in desk.causes()) == latched
    if latched:
        assert cause(desk)[1] in (6, 7)


def test_a_slow_drift_of_the_lengths_has_its_own_name(limp: Desk) -> None:
    """2.4 mm in 20 s, too slow for a step: the average tells."""
    cycles = round(20.0 / limp.dt_s / 4)
    limp.m["dt_s"] *= 4
    limp.dt_s *= 4
    for _ in range(cycles):
        limp.measurement["motor_angle_rad"][0, 6] += 2.4e-3 / cycles / limp.m["spool_radius_m"][6]
        limp.cycle()
        if any(limp.causes()):
            break
    assert cause(limp)[0] == Cause.HALL_DRIFT
    assert abs(limp.state["finger_cause_value"][0, 0]) > limp.state["finger_cause_limit"][0, 0] > 0.5


@pytest.mark.parametrize(("beyond_deg", "latched"), [(7.0, False), (9.0, True)])
def test_a_joint_far_out_of_its_range_is_latched(desk: Desk, beyond_deg: float, latched: bool) -> None:
    target = np.array([desk.m["joint_max_rad"][0] + np.radians(beyond_deg), 0.0, 0.0, 0.0])
    for k in range(100):
        desk.place(target * (k + 1) / 100, 20.0)
        desk.cycle()
    desk.cycle(200)
    assert (cause(desk) == (Cause.JOINT_OUT_OF_RANGE, 0)) == latched
    if latched:
        assert desk.state["finger_cause_value"][0, 0] == pytest.approx(20.0 + beyond_deg, abs=0.01)
        assert desk.state["finger_cause_limit"][0, 0] == pytest.approx(20.0, abs=1e-6)


def test_a_torque_that_is_no_number_is_latched_and_never_sent(desk: Desk) -> None:
    desk.look()
    desk.steer()
    desk.state["ref_motor_torque_nm"][0, 4] = np.nan
    desk.watch()
    assert cause(desk) == (Cause.NOT_FINITE_COMMAND, 4)
    assert np.all(np.isfinite(desk.command["motor_current_a"]))


def wrist_desk() -> Desk:
    desk = Desk("hasy")
    desk.to_active()
    return desk


def test_a_silent_wrist_axis_is_a_fault_of_the_hand() -> None:
    desk = wrist_desk()
    desk.measurement["axis_status"][0, 1] = int(ChannelStatus.MISSING)
    desk.cycle(round(0.019 / desk.dt_s))
    assert desk.state["machine"][0] == MachineState.ACTIVE
    desk.cycle(8)
    assert desk.state["hand_cause"][0] == Cause.WRIST_LOST
    assert desk.state["hand_cause_part"][0] == 1


@pytest.mark.parametrize("axis", [0, 1])
def test_a_wrist_angle_that_jumps_is_named(axis: int) -> None:
    desk = wrist_desk()
    desk.measurement["axis_angle_rad"][0, axis] += np.radians(3.0)
    desk.cycle(15)
    assert desk.state["hand_cause"][0] == Cause.WRIST_JUMP
    assert desk.state["hand_cause_part"][0] == axis
    assert desk.state["hand_cause_value"][0] == pytest.approx(3.0, abs=0.01)


def test_a_wrist_angle_that_creeps_is_found_by_the_fingers() -> None:
    """Abduction sensor off by 3 deg within half a second, too slow to be a jump."""
    desk = wrist_desk()
    steps = round(0.5 / desk.dt_s)
    for _ in range(steps):
        desk.measurement["axis_angle_rad"][0, 1] += np.radians(3.0) / steps
        desk.cycle()
    desk.cycle(round(0.4 / desk.dt_s))
    assert desk.state["hand_cause"][0] == Cause.WRIST_SENSOR
    assert desk.state["hand_cause_part"][0] == 1
    assert not any(desk.causes()), "no finger is blamed for the wrist"


def test_a_true_wrist_motion_is_no_fault() -> None:
    desk = wrist_desk()
    for k in range(60):
        axes = desk.m["wrist_neutral_rad"] + np.array([0.0005, 0.0006]) * k
        desk.place(np.zeros(desk.n_joints), 20.0, axes)
        desk.cycle()
    assert desk.state["hand_cause"][0] == Cause.NONE
    assert not any(desk.causes())
