"""Power in = stored + lost: exact bookkeeping of the plant, with its losses off and on."""

import numpy as np
import pytest

from signals.modes import SensorLevel
from tests.rigs.bench_hand import Bench, lossless, model

TWO_SECONDS = 6000


def drive(bench: Bench, cycles: int, beyond_load_nm: float = 0.35) -> dict[str, np.ndarray]:
    """Shake all motors around their load; energies of every cycle."""
    bench.hold()
    base = bench.command["motor_current_a"][0].copy()
    phase = np.arange(base.size)
    keep = {k: [] for k in ("energy_in_j", "energy_stored_j", "energy_lost_j")}
    for k in range(cycles):
        wave = np.sin(2 * np.pi * 1.5 * k / 3000 + phase) * (base > 0)
        bench.command["motor_current_a"][0] = base * (1 + 0.4 * wave) + beyond_load_nm * wave
        bench.step()
        for name, values in keep.items():
            values.append(float(bench.truth(name)))
    return {k: np.array(v) for k, v in keep.items()}


def imbalance(e: dict[str, np.ndarray]) -> float:
    """Largest unexplained energy as a share of what went in and out."""
    gap = e["energy_in_j"] - (e["energy_stored_j"] - e["energy_stored_j"][0]) - e["energy_lost_j"]
    gap = gap - gap[0]
    moved = np.abs(np.diff(e["energy_in_j"])).sum()
    return float(np.abs(gap).max() / moved)


def test_everything_on_balances_to_a_thousandth_over_two_seconds() -> None:
    bench = Bench(model(), sensors=SensorLevel.FULL, energy=True)
    energies = drive(bench, TWO_SECONDS)
    assert energies["energy_lost_j"][-1] > 0.05
    assert imbalance(energies) <= 1e-3


@pytest.mark.parametrize(("spring_nm_rad", "row_n_m"), [(0.0, 0.0), (0.1, 0.0), (0.0, 800.0)])
def test_smooth_subset_balances_at_the_integrators_order(spring_nm_rad: float, row_n_m: float) -> None:
    gaps = []
    for substeps in (4, 8, 16):  # joints stay inside their stops
        smooth = lossless(model())
        smooth["joint_spring_nm_rad"][0, : smooth["n_joints"][0]] = spring_nm_rad
        if row_n_m:  # over all four joints, and over two of them; each with an opposed one, so that all rest
            arms = np.array([(0.004, 0.006, 0.005, 0.003), (0.0, -0.006, 0.0, 0.004)])
            smooth["n_passives"] = 4
            smooth["passive_arm_m"][0, :4, :4] = np.concatenate((arms, -arms))
            smooth["passive_stiffness_n_m"][0, :4], smooth["passive_preload_n"][0, :4] = row_n_m, 10.0
        bench = Bench(smooth, guides=False, energy=True, substeps=substeps)
        gaps.append(imbalance(drive(bench, 300, beyond_load_nm=0.0)))
    orders = np.log2(np.array(gaps[:-1]) / np.array(gaps[1:]))
    assert gaps[0] < 1e-6
    assert np.all(np.abs(orders - 2.0) < 0.2), (gaps, orders)


def test_with_friction_the_order_is_one() -> None:
    """Joint angles against 16 times as many substeps; what decision 003 says of them."""
    runs = {}
    for substeps in (4, 8, 16, 256):
        bench = Bench(model(), substeps=substeps)
        bench.hold()
        base, angles = bench.command["motor_current_a"][0].copy(), []
        for k in range(300):
            wave = np.sin(2 * np.pi * 1.5 * k / 3000 + np.arange(base.size)) * (base > 0)
            bench.command["motor_current_a"][0] = base * (1 + 0.4 * wave) + 0.35 * wave
            bench.step()
            angles.append(np.array(bench.truth("joint_angle_rad")))
        runs[substeps] = np.array(angles)
    errors = [np.abs(runs[n] - runs[256]).max() for n in (4, 8, 16)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 1.0) < 0.25), (errors, orders)
    assert errors[0] < 2e-6


def test_losses_are_never_negative() -> None:
    bench = Bench(model(), sensors=SensorLevel.QUANTISED, energy=True)
    bench.model["ripple_amplitude_nm"] = 0.0
    bench.bus.model["ripple_amplitude_nm"] = 0.0
    lost = drive(bench, 1500)["energy_lost_j"]
    assert np.all(np.diff(lost) >= -1e-9)


@pytest.mark.parametrize("hand", ["finger_bench"])
def test_a_wrench_does_the_work_of_force_times_tip_speed(hand: str) -> None:
    bench = Bench(model(hand), energy=True, guides=False)
    bench.hold()
    force = np.array([0.0, 0.05, 0.08])
    bench.bus.apply_wrench(0, tuple(force))
    before, tip = float(bench.truth("energy_in_j")), bench.truth("fingertip_m")[0]
    work = 0.0
    for _ in range(300):
        bench.torque(0.0)
        bench.bus.plant["w_rad_s"] = 0.0
        bench.step()
        moved = bench.truth("fingertip_m")[0]
        work += float(force @ (moved - tip))
        tip = moved
    assert abs(work) > 1e-5
    assert float(bench.truth("energy_in_j")) - before == pytest.approx(work, rel=2e-3)
