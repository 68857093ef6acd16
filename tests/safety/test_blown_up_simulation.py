"""Field report B66: the simulated hand at other steps, gains and poses stays finite or says what diverged."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest

from signals.modes import BusStatus, MachineState
from tests.rigs.driven import Driven


def sane(frames: np.ndarray) -> bool:
    """No number that no hand could show: this is what must never be sent on as a measurement."""
    truth, z = frames["truth"], frames["measurement"]
    names = ("joint_angle_rad", "joint_speed_rad_s", "tension_n", "motor_angle_rad", "motor_speed_rad_s")
    good = all(np.isfinite(truth[name]).all() for name in names)
    return bool(
        good
        and np.isfinite(z["motor_angle_rad"]).all()
        and abs(truth["joint_angle_rad"]).max() < math.pi
        and abs(truth["joint_speed_rad_s"]).max() < 300.0
        and abs(truth["motor_speed_rad_s"]).max() < 30.0
        and truth["tension_n"].max() < 500.0
    )


@cache
def reference_rad() -> np.ndarray:
    """Where the finger is after that time with a fine step."""
    frames = Driven("finger_bench", "open_close", substeps=16).run(1.5)
    return frames["truth"]["joint_angle_rad"][-1, 1:4].copy()


@pytest.mark.sample(2)
@pytest.mark.parametrize("substeps", (2, 4, 8, 20))
@pytest.mark.parametrize("rate_hz", (1500.0, 3000.0, 6000.0))
def test_half_double_and_five_times_the_step_give_the_same_hand(rate_hz: float, substeps: int) -> None:
    hand = Driven("finger_bench", "open_close", rate_hz=rate_hz, substeps=substeps)
    frames = hand.run(1.5)
    assert sane(frames) and not frames["timing"]["bus_status"].any()
    assert hand.machine is MachineState.ACTIVE
    bent = frames["truth"]["joint_angle_rad"][-1, 1:4]
    assert np.degrees(abs(bent - reference_rad())).max() < 2.5


@pytest.mark.parametrize("gain", ("gains.tension_kp_nm_n=3.0", "gains.tension_kd_nms_rad=3.0"))
def test_ten_times_a_gain_never_sends_an_absurd_number_on(gain: str) -> None:
    hand = Driven("finger_bench", "open_close", settings=(gain,))
    frames = hand.run(2.0)
    assert sane(frames) or frames["timing"]["bus_status"].any()
    # whatever it does, the guard keeps the wire within its limits
    assert abs(frames["command"]["motor_current_a"]).max() <= float(hand.model["motor_current_limit_a"][0, 0])


def test_a_slack_hand_and_a_fully_folded_one_are_finite() -> None:
    slack = Driven("finger_bench", "hold", pretension_n=5.0, plant=lambda m: None)
    slack.bus.plant["e0_m"][0, :8] -= 0.004
    assert sane(slack.run(1.0))
    folded = Driven("hasy")
    folded.start(0.5)
    m = folded.model[0]
    n = int(m["n_joints"])
    folded.goal("joint_angle_rad")[:n] = m["joint_max_rad"][:n]
    frames = folded.run(2.0)
    assert sane(frames)
    # where the routing points of the thumb's base come closest its lengths still have a gradient
    assert np.isfinite(frames["state"]["finger_condition"]).all()


def test_an_object_that_jams_a_finger_is_finite() -> None:
    hand = Driven("hasy", "grasp", plant=lambda m: None)
    hand.bus.model["object_center_m"][0, 0] -= 0.02
    frames = hand.run(3.0)
    assert sane(frames) and frames["truth"]["contact_force_n"].max() > 1.0


def test_a_plant_that_diverges_stops_says_where_and_its_hand_is_made_safe() -> None:
    hand = Driven("finger_bench", "open_close")
    hand.start(1.0)
    # an inertia far from the reference hand's: what a wrong hand file would do
    hand.bus.plant["qd_rad_s"][0, 2] = 1e9
    frames = hand.run(0.2)
    lost = (frames["timing"]["bus_status"] & int(BusStatus.LOST)) != 0
    assert lost.any() and lost[int(lost.argmax()) :].all()
    assert "the simulation diverged at step" in hand.bus.diagnosis
    assert hand.machine is MachineState.FAULT
    assert np.isfinite(frames["command"]["motor_current_a"]).all()
    assert (frames["command"]["motor_current_a"][-1] == 0.0).all()
    # what it still says is marked as nothing to go by
    last = frames["measurement"][-1]
    assert (last["motor_status"][:8] != 0).all() and (last["hall_status"][:8] != 0).all()


def test_a_joint_that_swings_itself_up_is_named_with_the_step() -> None:
    hand = Driven("finger_bench", "open_close")
    hand.start(1.0)
    # damping with the wrong sign: what a wrong hand file would do
    hand.bus.model["joint_viscous_nms_rad"][0, 2] = -0.01
    frames = hand.run(0.4)
    lost = (frames["timing"]["bus_status"] & int(BusStatus.LOST)) != 0
    told = re.search(r"diverged at step \d+ \(t = ([\d.]+) s\) at joint 2:", hand.bus.diagnosis)
    assert told is not None, hand.bus.diagnosis
    last_sound_s = float(frames["truth"]["time_s"][int(lost.argmax()) - 1])
    assert float(told[1]) == pytest.approx(last_sound_s, abs=1e-3)
    assert hand.machine is MachineState.FAULT


@pytest.mark.parametrize(("rate_hz", "substeps"), ((50.0, 1), (300.0, 1), (1500.0, 1), (20000.0, 1)))
def test_at_the_ends_of_the_legal_steps_the_plant_is_sane_or_says_that_it_is_not(
    rate_hz: float, substeps: int
) -> None:
    """A run may ask for steps far beyond what is accurate: no garbage may come of it unmarked."""
    hand = Driven("finger_bench", "open_close", rate_hz=rate_hz, substeps=substeps)
    frames = hand.run(0.3)
    lost = (frames["timing"]["bus_status"] & int(BusStatus.LOST)) != 0
    end = int(lost.argmax()) if lost.any() else len(frames)
    assert end == 0 or sane(frames[:end])
    assert (frames["measurement"]["motor_status"][end:, :8] != 0).all()
    assert not lost.any() or "diverged at step" in hand.bus.diagnosis


@pytest.mark.parametrize("choice", ({"substeps": 0}, {"rate_hz": 49.0}, {"rate_hz": 20001.0}))
def test_steps_beyond_the_legal_ones_are_refused(choice: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="legal"):
        Driven("finger_bench", "open_close", **choice)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("record", "field", "index", "named"),
    [
        ("plant", "qd_rad_s", 2, "joint 2"),
        ("plant", "q_rad", 3, "joint 3"),
        ("plant", "w_rad_s", 5, "motor 5"),
        ("plant", "theta_rad", 6, "motor 6"),
        ("plant", "friction_scale", 4, "motor 4"),
        ("model", "motor_inertia_kg_m2", 1, "motor 1"),
        ("model", "spool_radius_m", 3, "tendon 3"),
        ("model", "joint_viscous_nms_rad", 1, "joint 1"),
    ],
)
def test_what_is_no_number_is_named_and_not_the_joint_that_it_reaches_first(
    record: str, field: str, index: int, named: str
) -> None:
    hand = Driven("finger_bench", "hold")
    hand.start(0.3)
    getattr(hand.bus, record)[field][0, index] = np.nan
    hand.run(0.01)
    assert f"at {named}:" in hand.bus.diagnosis
