"""A hand behind emulated devices in simulated time: as without them, the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hand.options import OptionError, RunOptions
from runtime.session import Session, run_lockstep
from runtime.setup import read_hand
from signals.choices import WrongChoice
from sim.emulators.stepped_bus import KINDS

SLOW = {"rate_hz": 1000.0, "overrides": {"gains.tension_kp_nm_n": 0.1}}
"""What ``flexor emulate`` prints for a hand behind servos."""
CASES = [
    ("finger_bench", "collector", {}, 1.5),
    ("finger_bench", "dynamixel", SLOW, 1.5),
    ("orca_v2", "dynamixel", {}, 1.5),
    ("n_plus_one", "collector", {}, 1.5),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("hand", "wiring", "more", "seconds"), CASES)
def test_devices_in_between_cost_their_delay_alone(
    hand: str, wiring: str, more: dict[str, Any], seconds: float
) -> None:
    """Joints are where they are without devices, no fault, channels as old as their wire makes them."""
    words: dict[str, Any] = {"hand": hand, "motion": "open_close", "seconds": seconds, "every": 1, **more}
    inside, behind = run_lockstep(**words), run_lockstep(wiring=wiring, **words)
    assert inside.report["faults"] == behind.report["faults"] == []
    errors = []
    for each in (inside, behind):
        away = each.frames["state"]["joint_angle_rad"] - each.frames["truth"]["joint_angle_rad"]
        errors.append(np.degrees(np.sqrt(np.mean(away[:, : len(each.hand.names.joints)] ** 2))))
    assert errors[1] < 1.35 * errors[0] + 0.1
    joints = [each.frames["state"]["joint_angle_rad"] for each in (inside, behind)]
    assert np.abs(joints[0] - joints[1]).max() < np.radians(3.0) < np.ptp(joints[0], axis=0).max()
    x, motors = behind.frames["measurement"], len(behind.hand.names.motors)
    ages = behind.frames["state"]["time_ns"][:, None] - x["motor_time_ns"][:, :motors]
    assert ages.min() >= 0 and ages.max() <= 2.5e9 / behind.hand.rate_hz
    assert behind.report["backend"] == wiring != inside.report["backend"]


def test_the_same_run_gives_the_same_bytes() -> None:
    frames = [
        run_lockstep("finger_bench", seconds=0.1, every=1, wiring="dynamixel", seed=2, **SLOW).frames
        for _ in range(2)
    ]
    for record in ("measurement", "state", "command"):
        same = frames[0][record].tobytes() == frames[1][record].tobytes()
        assert same, record


@pytest.mark.parametrize(
    ("hand", "wiring", "more"), [case[:3] for case in CASES[1:]], ids=lambda x: str(x)[:12]
)
def test_the_plant_lives_as_long_as_its_devices(hand: str, wiring: str, more: dict[str, Any]) -> None:
    """Asked several times at one instant it must not go on each time: speeds and inertias would be wrong."""
    settings = tuple(f"{key}={value}" for key, value in more.get("overrides", {}).items())
    session = Session(
        RunOptions(hand=hand, lockstep=True, wiring=wiring, rate_hz=more.get("rate_hz"), settings=settings)
    )
    bus: Any = session.rig.bus
    clocks = []
    for seconds in (0.1, 0.4):
        session.run(seconds)
        clocks.append((float(bus._side.bus.plant["time_s"][0]), 1e-9 * bus._time.now_ns))
    session.close()
    lived, passed = np.diff(clocks, axis=0)[0]
    assert passed == pytest.approx(0.4, rel=0.01) and lived == pytest.approx(passed, abs=2e-4)


def test_a_servo_that_falls_silent_is_told_as_on_a_wire() -> None:
    """The driver between loop and plant is the real one: it takes the servo out, the guard lets go."""
    session = Session(RunOptions(hand="orca_v2", lockstep=True, wiring="dynamixel", seconds=2.0))
    session.run(0.2)
    bus: Any = session.rig.bus
    (chain,) = (e for e in bus._time.emulators if str(e.servos[0].motor) == "0")
    chain.servos[3].silent = True
    session.run(0.5)
    causes = {fault.cause for fault in session.audience.faults.all}
    names = {fault.part for fault in session.audience.faults.all}
    assert causes & {"MOTOR_LOST", "MEASUREMENT_TOO_OLD"} and session.hand.names.motors[3] in names
    session.close()


@pytest.mark.parametrize("words", [{}, {"bus": "finger_bench_servos"}])
def test_devices_in_simulated_time_need_lockstep(words: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="--wiring is for --lockstep"):
        RunOptions(hand="finger_bench", wiring=KINDS[0], **words)


@pytest.mark.parametrize("kind", ["odrive", "none"])
def test_a_wiring_that_cannot_be_stepped_is_refused_with_the_legal_ones(kind: str) -> None:
    with pytest.raises(WrongChoice, match="legal with --lockstep: collector, dynamixel"):
        Session(RunOptions(hand="finger_bench", lockstep=True, wiring=kind))


def test_a_mechanism_has_no_emulated_devices() -> None:
    with pytest.raises(ValueError, match="--wiring"):
        read_hand(RunOptions(hand="muscle_finger", lockstep=True, wiring="collector"))
