"""Order of the integrators, energy of free motion, stability of the implicit diagonal."""

from __future__ import annotations

import numpy as np
import pytest

from mechanics.dynamics.integrate import Scheme
from mechanics.dynamics.simulate import simulate
from tests.rigs.free_motion import NAMES, without_losses
from tests.rigs.mechanism_cases import tree_system, y_tree

ORDERS = {Scheme.EULER: 1, Scheme.SEMI_IMPLICIT: 1, Scheme.IMPLICIT: 1, Scheme.RK4: 4}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NAMES)
def test_energy_of_free_motion_stays_for_ten_seconds(name):
    system, q = without_losses(name)
    run = simulate(system, 10.0, 1e-4, q=q, record_every=20)
    assert run.divergence is None
    assert run.energy_drift <= 1e-6, run.energy_drift


@pytest.mark.parametrize("name", NAMES)
def test_energy_drift_falls_at_the_order_of_rk4(name):
    system, q = without_losses(name)
    # coarse enough that truncation beats rounding, short enough that no chaos has come up
    h = {"hand_on_arm": 4e-4, "muscle_finger": 2e-3}.get(name, 4e-3)
    drifts = [simulate(system, 0.4, h / k, q=q).energy_drift for k in (1, 2)]
    order = np.log2(drifts[0] / drifts[1])
    assert 3.5 < order < 6.5, (order, drifts)


@pytest.mark.parametrize("scheme", list(ORDERS))
@pytest.mark.parametrize("name", NAMES)
def test_schemes_have_their_order_on_every_mechanism(name, scheme):
    system, q = without_losses(name)
    duration, h = 0.032, 4e-4 if scheme == Scheme.RK4 else 1e-4
    h = 2e-3 if scheme == Scheme.RK4 and name not in ("hand_on_arm", "muscle_finger") else h
    exact = simulate(system, duration, 1e-5, q=q, record_every=3200).q[-1]
    steps = (h, h / 2.0)
    ends = [
        simulate(system, duration, s, scheme=scheme, q=q, record_every=round(duration / s)).q[-1]
        for s in steps
    ]
    errors = [float(np.abs(end - exact).max()) for end in ends]
    order = np.log2(errors[0] / errors[1])
    assert abs(order - ORDERS[scheme]) < 0.35, (order, errors)


def test_explicit_euler_gains_and_semi_implicit_euler_loses_energy_in_the_carpal_wrist():
    from tests.rigs.mechanism_cases import TH, THD, wrist, wrist_system

    change = {}
    for scheme in (Scheme.EULER, Scheme.SEMI_IMPLICIT, Scheme.RK4):
        run = simulate(wrist_system(wrist()), 0.1, 1.0 / 3000.0, scheme=scheme, q=TH, qd=THD)
        change[scheme] = run.energy_j[-1] - run.energy_j[0]
    assert 1.8e-3 < change[Scheme.EULER] < 2.0e-3
    assert -7.9e-4 < change[Scheme.SEMI_IMPLICIT] < -6.9e-4
    assert abs(change[Scheme.RK4]) < 1e-10


def test_y_tree_at_three_kilohertz_has_the_errors_of_the_simulation_page():
    system, q = tree_system(y_tree()), np.array([0.1, 0.0, 0.0])
    exact = np.array([0.315210906448, 2.627784202079, -3.160752965020])
    euler = simulate(system, 0.5, 1.0 / 3000.0, scheme=Scheme.EULER, q=q, record_every=1500).q[-1]
    rk4 = simulate(system, 0.5, 1.0 / 3000.0, q=q, record_every=1500).q[-1]
    assert 1e-3 < np.abs(euler - exact).max() < 4e-3
    assert np.abs(rk4 - exact).max() < 1e-11


def test_implicit_dampers_and_springs_are_stable_where_explicit_ones_are_not():
    system, q = without_losses("hand_on_arm")
    record = system.parts[0][0]
    record["damping"][7:26] = 0.05
    record["stiffness"][7:26] = 5.0
    explicit = simulate(system, 0.5, 1.0 / 3000.0, scheme=Scheme.SEMI_IMPLICIT, q=q)
    implicit = simulate(system, 0.5, 1.0 / 3000.0, scheme=Scheme.IMPLICIT, q=q)
    assert explicit.divergence is not None and "damping" in explicit.divergence.cause
    assert implicit.divergence is None
    assert implicit.energy_j[-1] < implicit.energy_j[0]
