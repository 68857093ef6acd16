"""The muscle: exponential heating, pull only, torque by virtual work, friction that only loses."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mechanics.dynamics.inputs import Inputs, constant
from mechanics.dynamics.simulate import simulate
from mechanics.muscle import muscle_force_n, transmitted_n
from mechanics.muscle_finger import muscle_pull_n
from sim.mechanisms.load import load_mechanism


def shipped(**changes):
    mechanism = load_mechanism("muscle_finger").mechanism
    record = mechanism.system.parts[3][0]
    for key, value in changes.items():
        record[key] = value
    return mechanism.system, record


def test_temperature_follows_the_exponential_to_its_steady_value():
    system, f = shipped()
    current = 0.3
    run = simulate(system, 40.0, 2e-4, z=25.0, inputs=constant(np.array([0.0, 0.0, 0.0, current])))
    rise, tau = current**2 * f["resistance_ohm"] / f["loss_w_k"], f["capacity_j_k"] / f["loss_w_k"]
    expected = f["ambient_degc"] + rise * (1.0 - np.exp(-run.time_s / tau))
    assert abs(tau - 16.7) < 0.1 and run.divergence is None
    assert np.abs(run.z - expected).max() < 1e-6


def test_the_holding_current_holds():
    system, f = shipped()
    current = np.sqrt(f["loss_w_k"] * (105.0 - f["ambient_degc"]) / f["resistance_ohm"])
    assert abs(current - 0.3464) < 1e-4
    run = simulate(system, 5.0, 2e-4, z=105.0, inputs=constant(np.array([0.0, 0.0, 0.0, current])))
    assert np.abs(run.z - 105.0).max() < 1e-9


@given(st.floats(-0.05, 0.05), st.floats(-0.5, 0.5), st.floats(0.0, 140.0))
def test_the_muscle_never_pushes(stretch, rate, degc):
    _, f = shipped()
    assert muscle_force_n(f, stretch, rate, degc) >= 0.0


@given(st.floats(0.0, 5.0), st.floats(-0.2, 0.2))
def test_transmission_friction_only_loses_and_never_turns_the_force(force, speed):
    _, f = shipped()
    out = transmitted_n(f, force, speed)
    assert out >= 0.0
    # power that enters at the muscle minus power that reaches the finger
    assert (force - out) * speed >= 0.0
    assert abs(force - out) <= f["friction_n"] + 1e-15


@given(st.lists(st.floats(-0.2, 1.5), min_size=3, max_size=3).map(np.array))
def test_torque_split_one_one_one_is_virtual_work_of_the_tendon(q):
    _, f = shipped(damping_ns_m=0.0, friction_n=0.0)
    pull = muscle_pull_n(f, q, np.zeros(3), 0.0, 105.0)
    h = 1e-6
    k, c = f["stiffness_n_m"], f["thermal_n_k"] * 80.0

    def energy(q):
        stretch = -f["offset_m"] * q.sum()
        return 0.5 * k * stretch**2 + c * stretch

    if pull > 0.0:
        torque = [-(energy(q + e) - energy(q - e)) / (2 * h) for e in h * np.eye(3)]
        assert np.abs(np.array(torque) - f["split"] * pull * f["offset_m"]).max() < 1e-8


def test_current_temperature_and_force_drives_agree_when_fed_with_each_other():
    system, f = shipped(friction_n=0.0)
    by_current = simulate(system, 2.0, 2e-4, z=25.0, inputs=constant(np.array([0.0, 0.0, 0.0, 0.6])))
    f["drive"] = 2
    values = np.zeros((len(by_current.time_s), 4))
    values[:, 3] = by_current.z
    by_temperature = simulate(system, 2.0, 2e-4, z=25.0, inputs=Inputs(by_current.time_s, values))
    assert by_current.divergence is None
    assert np.abs(by_current.q - by_temperature.q).max() < 1e-6
    f["drive"] = 1
    values[:, 3] = by_temperature.tau[:, 0] / f["offset_m"]
    by_force = simulate(system, 2.0, 2e-4, z=25.0, inputs=Inputs(by_current.time_s, values))
    assert np.abs(by_force.q - by_temperature.q).max() < 1e-4
