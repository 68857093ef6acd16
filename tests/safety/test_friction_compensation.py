"""Field report B41: friction and ripple feedforward at rest, at a creep, at a reversal, after a change."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.feedforward import friction_torque_nm, ripple_torque_nm
from hand.file import HandFileError, parse_hand
from hand.options import RunOptions
from hand.review.suspicions import suspicions
from mechanics.friction import motor_friction_nm
from runtime.setup import read_hand
from signals.faults import Cause
from signals.modes import ChannelStatus, FaultKind, MachineState, Request
from telemetry.publish.bulletin import health_map
from tests.rigs.driven import Driven


def flips_per_s(torque_nm: np.ndarray, rate_hz: float = 3000.0) -> float:
    """Worst number of sign changes per second of the motors' torques beyond a tenth of gear friction."""
    worst = 0.0
    for column in torque_nm.T:
        signs = np.sign(column[abs(column) > 0.088])
        worst = max(worst, float((np.diff(signs) != 0).sum()) * rate_hz / len(column))
    return worst


def energy_j(frames: np.ndarray, n: int) -> np.ndarray:
    """Work of the friction feedforward on each motor."""
    work = frames["state"]["friction_torque_nm"][:, :n] * frames["truth"]["motor_speed_rad_s"][:, :n]
    return np.maximum(work, 0.0).sum(axis=0) / 3000.0


@pytest.mark.parametrize("gain", (0.8, 1.0))
def test_at_rest_with_noise_nothing_flips_and_nothing_moves(gain: float) -> None:
    gains = tuple(f"gains.{name}_gain={gain}" for name in ("friction", "guide"))
    hand = Driven("finger_bench", "hold", settings=gains)
    hand.start(2.0)
    frames = hand.run(8.0)
    n = len(hand.names.motors)
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :n]) < 1.0
    assert np.degrees(np.ptp(frames["truth"]["joint_angle_rad"][:, :4], axis=0)).max() < 0.3
    assert (energy_j(frames, n) < 1e-3).all()
    # at rest the wanted speed is zero, and so is the feedforward, whatever the noise
    assert abs(frames["state"]["friction_torque_nm"][:, :n]).max() < 1e-9
    assert abs(frames["state"]["guide_torque_nm"][:, :4]).max() < 1e-9


def moved(tmp_path: Path, angle_deg: Callable[[float], float], seconds: float) -> np.ndarray:
    """Frames of a finger whose flexion follows a function of time, after a second at its start."""
    rows = ["time_s,index_flexion_deg"]
    rows += [f"{1.0 + t:.3f},{angle_deg(t):.6f}" for t in np.arange(0.0, seconds + 1.0, 0.05)]
    path = tmp_path / "move.csv"
    path.write_text("\n".join(rows) + "\n")
    hand = Driven("finger_bench", str(path))
    hand.start(1.0)
    frames = hand.run(seconds)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    return frames


def test_a_creep_of_half_a_degree_per_second_is_followed_without_stairs(tmp_path: Path) -> None:
    frames = moved(tmp_path, lambda t: 5.0 + 0.5 * t, 10.0)
    way = np.degrees(frames["truth"]["joint_angle_rad"][6000:, 1])
    straight = np.polyval(np.polyfit(np.arange(len(way)), way, 1), np.arange(len(way)))
    assert way[-1] - way[0] == pytest.approx(4.0, abs=0.5)
    # a stair-step would be a way that stands, then jumps
    assert abs(way - straight).max() < 0.35


@pytest.mark.parametrize("scale", (0.5, 1.5))
def test_friction_that_changed_after_identification_makes_no_limit_cycle(scale: float) -> None:
    hand = Driven("finger_bench", "hold", settings=("gains.friction_gain=1.0",))
    hand.start(1.0)
    for i in range(8):
        hand.inject(FaultKind.FRICTION_GROWTH, i, scale)
    hand.run(1.0)
    frames = hand.run(4.0)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :8]) < 1.0
    assert np.degrees(np.ptp(frames["truth"]["joint_angle_rad"][:, :4], axis=0)).max() < 0.3


def test_a_slow_reversal_changes_each_motors_torque_once(tmp_path: Path) -> None:
    frames = moved(tmp_path, lambda t: 5.0 + 3.0 * math.sin(2.0 * math.pi * t / 6.0), 6.0)
    # there and back: every motor turns round twice; a chatter would be hundreds
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :8]) * 6.0 <= 8.0


MODEL = read_hand(RunOptions(hand="finger_bench")).model


@given(speed=st.floats(-14.0, 14.0), gain=st.floats(0.0, 3.0), motor=st.integers(0, 7))
def test_feedforward_never_exceeds_the_measured_friction_and_fades_at_rest(
    speed: float, gain: float, motor: int
) -> None:
    m = MODEL[0]
    given_nm = friction_torque_nm(m, motor, speed, gain)
    g1, g2, g3 = (float(m[f"friction_gamma_{k}"][motor]) for k in ("1_s_rad", "2_nm", "3_nms_rad"))
    measured = motor_friction_nm(speed, g1, g2, g3)
    assert abs(given_nm) <= abs(measured) + 1e-12
    assert given_nm * speed >= 0.0
    assert friction_torque_nm(m, motor, 0.0, gain) == 0.0


@given(
    angle=st.floats(-20.0, 20.0),
    speed=st.floats(-14.0, 14.0),
    gain=st.floats(0.0, 3.0),
    motor=st.integers(0, 7),
)
def test_ripple_feedforward_is_bounded_periodic_and_off_when_not_used(
    angle: float, speed: float, gain: float, motor: int
) -> None:
    model = MODEL.copy()
    model["ripple_gain"] = gain
    m = model[0]
    n = int(m["n_ripples"])
    torque = ripple_torque_nm(m, motor, angle, speed)
    assert abs(torque) <= abs(m["ripple_amplitude_nm"][motor, :n]).sum() + 1e-12
    # one turn of the output later it is the same: nothing jumps where the angle wraps
    assert ripple_torque_nm(m, motor, angle + 2.0 * math.pi, speed) == pytest.approx(torque, abs=1e-9)
    m["use_ripple"] = 0
    assert ripple_torque_nm(m, motor, angle, speed) == 0.0


@pytest.mark.parametrize("hand", ("finger_bench", "hasy"))
def test_the_ripple_at_any_phase_is_less_than_the_friction_that_holds_a_motor(hand: str) -> None:
    m = read_hand(RunOptions(hand=hand)).model[0]
    n, ripples = int(m["n_motors"]), int(m["n_ripples"])
    most = abs(m["ripple_amplitude_nm"][:n, :ripples]).sum(axis=1)
    # gamma_2 atan(gamma_1 w) tends to pi/2 gamma_2
    assert (most < 0.5 * math.pi * m["friction_gamma_2_nm"][:n]).all()


def reset_while_active(reference: str, motor: int = 1) -> tuple[Driven, np.ndarray, np.ndarray]:
    """A motor resets in motion and is re-armed; frames with the reset, and of the motion after."""
    hand = Driven("finger_bench", "open_close", settings=(f"motor.encoder_reference={reference}",))
    hand.start(0.5)
    hand.inject(FaultKind.MOTOR_RESET, motor)
    during = hand.run(0.4)
    assert hand.causes == {"index": (Cause.MOTOR_RESET, motor)}
    hand.rig.bus.recover()
    # without power the phase of its ripple is another
    hand.bus.model["ripple_phase_rad"][0, motor] += math.pi
    hand.run(0.1)
    for wish in (Request.REARM, Request.ACTIVATE):
        hand.ask(wish)
        hand.run(0.1)
    assert hand.machine is MachineState.ACTIVE, hand.causes
    return hand, during, hand.run(1.5)


def test_a_relative_motor_that_resets_has_no_ripple_feedforward_until_referenced_anew() -> None:
    hand, during, after = reset_while_active("until_reset")
    n = len(hand.names.motors)
    unknown = during["state"]["ripple_unknown"][:, :n]
    reset = (during["measurement"]["motor_status"][:, 1] & int(ChannelStatus.RESET)) != 0
    first = int(reset.argmax())
    # named in the very cycle that reports the reset, and for that motor alone
    assert reset.any() and not unknown[:first].any()
    assert (unknown[first:] == np.eye(n, dtype=int)[1]).all()
    # a re-arm is no reference: the flag stays, and no ripple torque is given
    assert (after["state"]["ripple_unknown"][:, :n] == np.eye(n, dtype=int)[1]).all()
    ripple = after["state"]["ripple_torque_nm"][:, :n]
    assert (ripple[:, 1] == 0.0).all()
    assert (np.delete(abs(ripple).max(axis=0), 1) > 0.02).all()
    # clients see how many there are
    stats = hand.session.channel.stats
    assert health_map(after[-1], int(hand.machine), stats, 3000.0, n)["ripple_unknown"] == 1


def test_an_absolute_motor_keeps_its_phase_over_a_reset() -> None:
    hand, _, after = reset_while_active("absolute")
    n = len(hand.names.motors)
    assert not after["state"]["ripple_unknown"][:, :n].any()
    assert (abs(after["state"]["ripple_torque_nm"][:, :n]).max(axis=0) > 0.02).all()


def test_a_motor_that_was_silent_may_have_been_without_power() -> None:
    hand = Driven("finger_bench", "open_close", settings=("motor.encoder_reference=until_reset",))
    hand.start(0.5)
    hand.inject(FaultKind.MOTOR_LOST, 4)
    hand.run(0.05)
    hand.rig.bus.recover()
    hand.run(0.05)
    assert hand.state("ripple_unknown")[:8].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]


def speed_ripple(reference: str, shift_rad: float) -> float:
    """Standard deviation [rad/s] of a free motor's speed at 1 rad/s wanted, its ripple shifted in phase."""
    hand = Driven(
        "finger_bench",
        "constant_speed",
        settings=(f"motor.encoder_reference={reference}",),
        plant=lambda m: m["ripple_phase_rad"].__iadd__(shift_rad),
    )
    hand.run(2.0)
    frames = hand.run(2.0)
    turning = int(abs(frames["truth"]["motor_speed_rad_s"][:, :8]).mean(axis=0).argmax())
    known = frames["state"]["ripple_unknown"][:, turning] == 0
    assert known.all() if reference == "absolute" else not known.any()
    return float(frames["truth"]["motor_speed_rad_s"][:, turning].std())


def test_no_ripple_feedforward_is_better_than_one_at_the_wrong_phase() -> None:
    right, wrong = speed_ripple("absolute", 0.0), speed_ripple("absolute", math.pi)
    off = speed_ripple("none", math.pi)
    assert right < 0.7 * off
    assert off < 0.8 * wrong
    # whatever the phase is, without a reference it makes no difference
    assert speed_ripple("none", 0.0) == pytest.approx(off, rel=0.1)


BENCH = (files("configs") / "hands" / "finger_bench.toml").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    (
        (("order = 2\n", "order = 1\n"), "order 1 of the input shaft again"),
        (("order = 42\n", "order = 42.5\n"), "42.5"),
        (("order = 84\n", "order = 400\n"), "encoder counts in a period"),
        (("order = 2\n", "order = 0\n"), "0"),
    ),
)
def test_a_harmonic_that_is_no_periodic_table_of_the_angle_is_refused_with_its_line(
    change: tuple[str, str], said: str
) -> None:
    """Whole orders alone are continuous over the wrap; none twice, none that the encoder cannot tell."""
    with pytest.raises(HandFileError) as refused:
        parse_hand(BENCH.replace(*change, 1), "bench")
    problem = refused.value.problems[0]
    assert problem.key.startswith("ripple") and said in problem.found
    assert problem.line == BENCH[: BENCH.index(change[0])].count("\n") + 1


def test_ripples_beyond_the_friction_are_suspicious() -> None:
    text = BENCH.replace("amplitude_nm = 0.08", "amplitude_nm = 0.80", 1)
    told = [str(s) for s in suspicions(parse_hand(text, "bench"))]
    assert any("at a wrong phase" in s for s in told)
    assert not any("at a wrong phase" in str(s) for s in suspicions(parse_hand(BENCH, "bench")))
