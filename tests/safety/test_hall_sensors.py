"""Field report B17: Hall sensors at their rails, clipped over a part of their travel, or noisy."""

from __future__ import annotations

import numpy as np
import pytest

from signals.faults import Cause
from signals.modes import FaultKind, MachineState
from tests.safety.driven import Driven


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
