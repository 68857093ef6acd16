"""The wrist on antagonistic springs: torque, energy, stiffness, in the plant and in the fingers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly.assemble import hand_sha256, model_of
from hand.file import load_hand, parse_hand
from hand.hand import read_tendon_hand
from hand.options import RunOptions
from mechanics.coupling import tendon_lengths
from mechanics.springs import spring_state
from mechanics.wrist import wrist_jacobian, wrist_lengths
from mechanics.wrist_springs import axis_spring, spring_ahead_rad
from reports.design.coupling import coupling_sheet, finger_of
from runtime.session import run_lockstep
from signals.modes import SensorLevel
from tests.rigs.bench_hand import Bench
from tests.rigs.mutations import unsaid
from tests.rigs.roots import root, slope_of
from tests.rigs.wrist_springs import ARM_M, FORCE_N, LENGTH_M, sprung

MODEL = model_of(parse_hand(sprung(), "hand.toml"))
M: Any = MODEL[0]


@given(st.sampled_from((0, 1)), st.floats(-0.25, 0.25))
def test_two_opposed_springs_give_torque_stiffness_and_energy(a: int, ahead: float) -> None:
    """From the two springs themselves, each with a force that grows e-fold over its length."""
    r, force, length = ARM_M[a], FORCE_N[a], LENGTH_M[a]
    near, far = (force * math.exp(s * r * ahead / length) for s in (1.0, -1.0))
    torque, stiffness, energy = axis_spring(M, a, ahead)
    assert torque == pytest.approx(r * (near - far), rel=1e-12, abs=1e-12)
    step = 1e-6
    up, down = axis_spring(M, a, ahead + step), axis_spring(M, a, ahead - step)
    assert stiffness == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6)
    assert torque == pytest.approx((up[2] - down[2]) / (2 * step), rel=1e-6, abs=1e-7)
    assert energy == pytest.approx(length * (near + far - 2.0 * force), abs=1e-12)
    limit = float(M["axis_torque_limit_nm"][a])
    assert axis_spring(M, a, spring_ahead_rad(M, a, limit))[0] == pytest.approx(limit, rel=1e-12)


def test_more_antagonism_makes_the_axis_stiffer_in_proportion() -> None:
    other = model_of(parse_hand(sprung((200.0, 80.0)), "hand.toml"))[0]
    assert axis_spring(other, 0, 0.0)[1] == pytest.approx(2.0 * axis_spring(M, 0, 0.0)[1])


def test_in_the_plant_an_axis_gives_way_as_springs_and_tendons_say() -> None:
    """Motors and drive stand; a wrench at a fingertip turns the axes to where all springs balance it."""
    bench = Bench(MODEL.copy(), guides=False)
    m, plant = bench.model[0], bench.bus.plant[0]
    n, start = bench.n_tendons, m["wrist_neutral_rad"].copy()
    bench.command["axis_enable"] = 0
    m_bus = bench.bus.model
    m_bus["motor_inertia_kg_m2"] = 1e9  # motors that nothing turns
    m_bus["joint_viscous_nms_rad"] = 0.2
    m_bus["joint_coulomb_nm"] = 0.0
    plant["tip_force_n"][1] = (0.0, 0.0, 2.0)
    bench.step(9000)
    q, axes = plant["q_rad"].copy(), plant["axis_rad"].copy()
    tension, h, P = np.zeros(n), np.zeros(len(m["tendon_kind"])), np.zeros((len(m["tendon_kind"]), 2))
    tendon_lengths(m, q, h)
    finger = h.copy()
    wrist_lengths(m, float(axes[0]), float(axes[1]), h)
    wrist_jacobian(m, float(axes[0]), float(axes[1]), P)
    for t in range(n):
        e = finger[t] + h[t] - m["wrist_neutral_length_m"][t] + plant["e0_m"][t]
        tension[t] = spring_state(m, t, float(e), 0.0, 0.0)[1]
    springs = np.array([axis_spring(m, a, float(plant["drive_rad"][a] - axes[a]))[0] for a in range(2)])
    assert np.abs(plant["drive_rad_s"]).max() < 1e-9
    assert np.degrees(np.abs(axes - start).max()) > 0.05
    left = springs - P[:n].T @ tension + plant["external_nm"][:2]
    assert np.abs(left).max() < 2e-3 * max(np.abs(springs).max(), np.abs(plant["external_nm"][:2]).max())


def test_the_plants_energy_balances_with_springs_at_the_wrist() -> None:
    bench = Bench(MODEL.copy(), sensors=SensorLevel.FULL, energy=True)
    kept = []
    neutral = bench.model["wrist_neutral_rad"][0]
    for k in range(1500):
        bench.hold()
        phase = 2.0 * math.pi * 1.5 * k / 3000.0
        bench.command["axis_angle_rad"][0] = neutral + 0.08 * math.sin(phase) * np.array([1.0, 0.5])
        bench.step()
        kept.append([float(bench.truth(f"energy_{name}_j")) for name in ("in", "stored", "lost")])
    given, stored, lost = np.array(kept).T
    gap = given - (stored - stored[0]) - lost
    assert np.abs(np.diff(given)).sum() > 0.05 and np.all(np.diff(lost) > -1e-7)
    assert np.abs(gap - gap[0]).max() < 2e-3 * np.abs(np.diff(given)).sum()


def test_a_drive_that_is_asked_for_too_much_yields_at_its_torque() -> None:
    bench = Bench(MODEL.copy())
    limit = bench.model["axis_torque_limit_nm"][0]
    bench.command["axis_angle_rad"][0] = bench.model["wrist_neutral_rad"][0] + (0.0, -0.25)
    peak = np.zeros(2)
    for _ in range(1500):
        bench.hold()
        bench.step()
        peak = np.maximum(peak, np.abs(bench.bus.plant["axis_torque_nm"][0]))
    damped = bench.model["axis_spring_damping_nms_rad"][0] * bench.model["axis_speed_limit_rad_s"][0]
    assert np.all(peak <= limit + 2.0 * damped)
    assert peak[1] > 0.98 * limit[1]


def test_a_finger_is_as_stiff_as_its_equilibrium_with_a_wrist_that_gives_way(tmp_path: Path) -> None:
    """Torques on one finger, motors held: where all forces balance, solved without any stiffness."""
    file = tmp_path / "sprung.toml"
    file.write_text(sprung((25.0, 20.0)))
    hand = read_tendon_hand(RunOptions(hand=str(file)))
    m = hand.model[0]
    finger = finger_of(hand, "index")
    figures = coupling_sheet(hand, finger).figures
    K, rigid = (np.array(figures[k]) for k in ("stiffness_yielding_nm_rad", "stiffness_nm_rad"))
    n, nj = len(hand.names.tendons), len(hand.names.joints)
    tension = np.full(n, hand.file.tendon.pretension_n)
    tension[finger.tendons] = figures["tension_n"]
    pose, start = np.zeros(len(m["joint_min_rad"])), np.array(m["wrist_neutral_rad"])
    pose[:nj] = finger.whole_pose_rad()[:nj]

    def paths(x: np.ndarray) -> np.ndarray:
        q, h, w = pose.copy(), np.zeros(len(m["tendon_kind"])), np.zeros(len(m["tendon_kind"]))
        q[:nj] = x[:nj]
        tendon_lengths(m, q, h)
        wrist_lengths(m, float(x[nj]), float(x[nj + 1]), w)
        return np.asarray(h + w)[:n]

    at = np.concatenate([pose[:nj], start])
    taut = np.array([_elongation(m, t, float(tension[t])) for t in range(n)])
    rest = paths(at)

    def forces(x: np.ndarray) -> np.ndarray:
        f = np.array(
            [spring_state(m, t, float(e), 0.0, 0.0)[1] for t, e in enumerate(taut + paths(x) - rest)]
        )
        step, P = 1e-6, np.zeros((n, nj + 2))
        for c in range(nj + 2):
            d = np.zeros(nj + 2)
            d[c] = step
            P[:, c] = (paths(x + d) - paths(x - d)) / (2.0 * step)
        tau = -P.T @ f
        for a in range(2):
            tau[nj + a] += axis_spring(m, a, float(ahead[a] + start[a] - x[nj + a]))[0]
        return tau

    ahead = np.zeros(2)
    load = forces(at)
    ahead = root(lambda d: np.array([axis_spring(m, a, float(d[a]))[0] for a in range(2)]) + load[nj:], ahead)
    zero = forces(at)
    assert np.abs(zero[nj:]).max() < 1e-9
    pushed, slope = np.zeros((len(finger.joints), len(finger.joints))), slope_of(forces, at)
    for c, j in enumerate(finger.joints):
        push = np.zeros(nj + 2)
        push[j] = 0.004
        moved = root(lambda x, p=push: forces(x) - zero + p, at, rounds=12, slope=slope)
        back = root(lambda x, p=push: forces(x) - zero - p, at, rounds=12, slope=slope)
        pushed[:, c] = (moved - back)[finger.joints] / 0.008
    np.testing.assert_allclose(np.linalg.inv(K), pushed, atol=5e-3 * np.abs(pushed).max())
    softer = np.linalg.eigvalsh(0.5 * (rigid + rigid.T) - 0.5 * (K + K.T))
    assert softer.min() > -1e-9 and softer.max() > 1e-3 * np.abs(rigid).max()


def _elongation(m: Any, t: int, wanted_n: float) -> float:
    low, high = 0.0, 0.03
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spring_state(m, t, middle, 0.0, 0.0)[1] < wanted_n else (low, middle)
    return 0.5 * (low + high)


def test_a_file_without_springs_is_as_before() -> None:
    plain = load_hand("hasy")
    assert plain.wrist is not None and "springs" not in plain.wrist.model_dump()["drive"]
    assert not model_of(plain)["axis_spring_arm_m"].any()
    assert hand_sha256(plain) != hand_sha256(parse_hand(sprung(), "hand.toml"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (sprung((0.0, 80.0)), ("wrist.drive.springs.pretension_n",)),
        (sprung(lever_arm_m=0.02), ("wrist.drive.springs.lever_arm_m",)),
        (sprung().replace("force_length_m", "force_lenght_m"), ("force_lenght_m", "force_length_m")),
    ],
)
def test_springs_that_cannot_be_are_refused(text: str, words: tuple[str, ...]) -> None:
    assert words and unsaid(text, words) == []


def test_the_hand_moves_its_wrist_on_springs_and_the_fingers_stay(tmp_path: Path) -> None:
    file = tmp_path / "sprung.toml"
    file.write_text(sprung())
    moved = run_lockstep(str(file), motion="wrist_sweep", seconds=2.0)
    assert not moved.in_fault, moved.report["faults"]
    rigid = run_lockstep("hasy", motion="wrist_sweep", seconds=2.0)
    angle, straight = (run.frames["truth"]["axis_angle_rad"] for run in (moved, rigid))
    assert np.ptp(angle[:, 0]) == pytest.approx(np.ptp(straight[:, 0]), rel=0.02)
    load, P = [], np.zeros((len(M["tendon_kind"]), 2))
    for axes, tension in zip(angle, moved.frames["truth"]["finger_tension_n"], strict=True):
        wrist_jacobian(M, float(axes[0]), float(axes[1]), P)
        load.append(float(P[: tension.size, 1] @ tension))
    given_way = np.ptp(load) / axis_spring(M, 1, 0.0)[1]
    assert 1e-3 < np.ptp(angle[:, 1]) < 1.5 * given_way, (np.ptp(angle[:, 1]), given_way)
    errors = [run.report["estimate_error_deg"]["rms"] for run in (moved, rigid)]
    assert errors[0] < 1.3 * errors[1] + 0.05, errors
