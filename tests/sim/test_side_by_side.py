"""What the plant computes for all branches or tendons side by side is what it is one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.leverloop import loop_state
from mechanics.sine import HALF_PI, near_sine
from mechanics.springs import spring_at
from sim.backend import SimulatedBus
from sim.branches import clear_loads, factorise_blocks, load_tendons, place_rows, solve_blocks, tendon_sums
from sim.options import SimOptions
from sim.tensions import lay_out_springs, solve_tensions
from tests.rigs.bench_hand import model

HANDS = ("finger_bench", "hasy")


def plant(hand: str):
    bus = SimulatedBus(model(hand), SimOptions())
    return bus.model, bus.plant


@pytest.mark.parametrize("hand", HANDS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_tensions_of_all_tendons_are_those_of_one_after_the_other(hand, seed) -> None:
    """Small steps, long ones, slack, beyond the stops, a loop on any branch, tendons that are off."""
    model_, plant_ = plant(hand)
    m, p, rng = model_[0], plant_[0], np.random.default_rng(seed)
    n = int(m["n_tendons"])
    lay_out_springs(m, p)
    wanted = []
    for t in range(n):
        s = m["tendon_spring"][t]
        low, high = m["lever_min_rad"][s], m["lever_max_rad"][s]
        lever, loop = rng.uniform(low - 0.02, high + 0.02), rng.uniform(-1.0, 1.0)
        force, _, path, _ = spring_at(m, t, lever)
        gain = 1.0 + m["lever_friction_frac"][t] * loop
        e = (
            m["tendon_compliance_m_n"][t] * force * gain
            - path
            + rng.choice([0.0, 1e-7, 1e-5, 1e-2]) * (rng.normal())
        )
        off = rng.random() < 0.05
        p["lever_rad"][t], p["loop_sign"][t], p["elongation_m"][t], p["tendon_off"][t] = lever, loop, e, off
        wanted.append((high, 0.0, 0.0) if off else loop_state(m, t, e, lever, loop))
    solve_tensions(m, p)
    found = np.array([p["lever_rad"][:n], p["tension_n"][:n], p["loop_sign"][:n]]).T
    np.testing.assert_allclose(found, np.array(wanted), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("hand", HANDS)
def test_sums_over_tendons_and_joints_are_products_with_p(hand) -> None:
    model_, plant_ = plant(hand)
    m, p, rng = model_[0], plant_[0], np.random.default_rng(1)
    nt, nj, na = (int(m[f"n_{what}"]) for what in ("tendons", "joints", "axes"))
    P = np.where(m["P_tj_m"] != 0.0, rng.normal(size=m["P_tj_m"].shape), 0.0)
    place_rows(m, P, p)
    speeds, out = rng.normal(size=32), np.zeros(64)
    tendon_sums(p, p["P_kxb_m"], speeds, out)
    np.testing.assert_allclose(out[:nt], P[:nt, :nj] @ speeds[:nj], atol=1e-12)
    f, slope = rng.uniform(0.0, 50.0, 64), rng.uniform(0.0, 5.0, 64)
    clear_loads(m, p)
    load_tendons(m, f, slope, p)
    tau, damping = -P[:nt].T @ f[:nt], P[:nt].T @ np.diag(slope[:nt]) @ P[:nt]
    seen = 0
    for b in range(int(p["n_branches"])):
        joints = p["branch_joint"][b, : p["branch_joints"][b]]
        for x, j in enumerate(joints):
            assert p["tau_xb_nm"][x, b] == pytest.approx(tau[j], abs=1e-9)
            for y in range(x + 1):
                assert p["damping_xyb"][x, y, b] == pytest.approx(damping[j, joints[y]], abs=1e-9)
            seen += 1
    assert seen == nj and na in (0, 2)


@pytest.mark.parametrize("hand", HANDS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_blocks_are_solved_as_numpy_solves_them(hand, seed) -> None:
    _, plant_ = plant(hand)
    p, rng = plant_[0], np.random.default_rng(seed)
    wanted = []
    for b in range(int(p["n_branches"])):
        n = int(p["branch_joints"][b])
        root = rng.normal(size=(n, n))
        A, right = root @ root.T + 0.1 * np.eye(n), rng.normal(size=(3, n))
        p["block_xyb"][:n, :n, b], p["right_rxb"][:, :n, b] = A, right
        wanted.append(np.linalg.solve(A, right.T).T)
    for x in range(p["block_xyb"].shape[0]):
        p["block_xyb"][x, x] += p["no_joint"][x]
    factorise_blocks(p)
    solve_blocks(p)
    for b, solution in enumerate(wanted):
        n = solution.shape[1]
        np.testing.assert_allclose(p["right_rxb"][:, :n, b], solution, rtol=1e-7, atol=1e-7)


@given(x=st.floats(-100.0, 100.0))
def test_the_near_sine_is_right_to_fifteen_places(x) -> None:
    assert near_sine(x) == pytest.approx(np.sin(x), abs=2e-15 + 2e-16 * abs(x))
    assert near_sine(x + HALF_PI) == pytest.approx(np.cos(x), abs=2e-15 + 2e-16 * abs(x))
