"""Tendons on the rocker of a metacarpal's linkage: lengths, arms, stiffness, and a hand that runs with it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.memory import new_memory
from hand.assembly.assemble import hand_sha256, model_of
from hand.file import load_hand, parse_hand
from mechanics.coupling import add_geometric_stiffness, joint_torque, tendon_jacobian, tendon_lengths
from mechanics.finger_rows import move_rows, place_rows
from runtime.session import run_lockstep
from signals.sizes import JOINTS, TENDONS
from tests.rigs.mutations import TEXTS, unsaid
from tests.rigs.roots import root

PLAIN = TEXTS["hasy"]
END_DEG = 23.5
RANGE = 'name = "hmc_flexion", role = "metacarpal", range_deg = [0.0, 25.0]'
GROUND, CRANK, COUPLER, ROCKER, NEUTRAL = 0.018, 0.014, 0.011, 0.014, math.radians(77.0)
ARM_M = 0.008


def linked(end_deg: float = END_DEG, **bars: float) -> str:
    """The reference hand with the tendons of its metacarpal on the rocker."""
    text = PLAIN.replace(RANGE, RANGE.replace("25.0", f"{end_deg}"))
    text = text.replace("neutral_crank_deg = 77.0\n", 'neutral_crank_deg = 77.0\ntendons_on = "rocker"\n')
    for bar, length in bars.items():
        old = next(line for line in text.splitlines() if line.startswith(f"{bar} = "))
        text = text.replace(old, f"{bar} = {length}")
    return text


HAND = parse_hand(linked(), "hand.toml")
MODEL = model_of(HAND)
M: Any = MODEL[0]
J = [j.name for j in HAND.joints].index("hmc_flexion")
OWN = [t for t, tendon in enumerate(HAND.tendons) if tendon.finger == "hmc"]
angles = st.floats(0.0, math.radians(END_DEG))


def pose(q: float) -> np.ndarray:
    out = np.zeros(JOINTS)
    out[J] = q
    return out


def lengths(q: float) -> np.ndarray:
    out = np.zeros(TENDONS)
    tendon_lengths(M, pose(q), out)
    return out[OWN]


def rows(q: float) -> np.ndarray:
    out = np.zeros((TENDONS, JOINTS))
    tendon_jacobian(M, pose(q), out)
    return out


def closed(q: float, start: tuple[float, float]) -> tuple[float, float]:
    """(coupler, rocker) angle by closing the chain of bars numerically, from a pose nearby."""

    def gap(x: np.ndarray) -> np.ndarray:
        a = NEUTRAL + q
        along = CRANK * math.cos(a) + COUPLER * math.cos(x[0]) - GROUND - ROCKER * math.cos(x[1])
        return np.array([along, CRANK * math.sin(a) + COUPLER * math.sin(x[0]) - ROCKER * math.sin(x[1])])

    coupler, rocker = root(gap, np.array(start))
    return float(coupler), float(rocker)


def followed(q: float) -> tuple[float, float]:
    """The same, led there from the neutral pose by continuity."""
    at = closed(0.0, (0.0, math.radians(105.0)))
    for share in np.linspace(0.05, 1.0, 20):
        at = closed(float(share) * q, at)
    return at


@given(angles)
def test_the_tendons_way_is_the_rockers_of_bars_closed_numerically(q: float) -> None:
    turn = followed(q)[1] - followed(0.0)[1]
    step = 1e-5
    neutral = (closed(step, followed(0.0))[1] - closed(-step, followed(0.0))[1]) / (2.0 * step)
    assert lengths(q) - lengths(0.0) == pytest.approx(
        [ARM_M * turn / neutral * sign for sign in np.sign(M["P_tj_m"][OWN, J])], abs=1e-10
    )


@given(st.floats(0.01, math.radians(END_DEG)), st.floats(5.0, 100.0), st.floats(5.0, 100.0))
def test_torque_on_the_metacarpal_is_what_forces_in_the_bars_pass_on(
    q: float, one: float, two: float
) -> None:
    """Statics instead of virtual work: the coupler is a rod with one force, moments about both pivots."""
    coupler, rocker = followed(q)
    step = 1e-5
    neutral = (closed(step, followed(0.0))[1] - closed(-step, followed(0.0))[1]) / (2.0 * step)
    f, tau = np.zeros(TENDONS), np.zeros(JOINTS)
    f[OWN] = one, two
    joint_torque(M, rows(q), f, tau)
    on_rocker = -float(M["P_tj_m"][OWN, J] @ f[OWN]) / neutral  # spool on the rocker: arm over its ratio
    # the rod pulls along the coupler; about D its moment balances the tendons', about O it turns the crank
    rod = on_rocker / (ROCKER * math.sin(coupler - rocker))
    on_crank = rod * CRANK * math.sin(coupler - (NEUTRAL + q))
    assert tau[J] == pytest.approx(on_crank, rel=1e-6, abs=1e-9)


@given(st.floats(0.002, math.radians(END_DEG) - 0.002))
def test_arms_and_stiffness_are_derivatives_and_the_inverse_goes_along(q: float) -> None:
    step, f = 1e-6, np.zeros(TENDONS)
    f[OWN] = 30.0, 50.0
    P = rows(q)
    assert P[OWN, J] == pytest.approx((lengths(q + step) - lengths(q - step)) / (2 * step), abs=1e-9)
    up, down, K = np.zeros(JOINTS), np.zeros(JOINTS), np.zeros((JOINTS, JOINTS))
    joint_torque(M, rows(q + step), f, up)
    joint_torque(M, rows(q - step), f, down)
    add_geometric_stiffness(M, pose(q), f, K)
    assert K[J, J] == pytest.approx(-(up[J] - down[J]) / (2 * step), rel=1e-5, abs=1e-7)
    memory, g = new_memory(), int(M["joint_finger"][J])
    place_rows(M, rows(0.0), memory[0])
    move_rows(M, P, memory[0])
    assert memory[0]["pinv_fbk_1_m"][g, 0, :2] == pytest.approx(np.linalg.pinv(P[OWN][:, [J]])[0], rel=1e-9)


def test_the_arm_grows_towards_the_toggle_and_beyond_the_range_it_stays() -> None:
    arms = [abs(rows(math.radians(q))[OWN[0], J]) for q in (0.0, 10.0, 20.0, END_DEG)]
    assert arms[0] == pytest.approx(ARM_M) and arms == sorted(arms) and arms[-1] > 2.5 * ARM_M
    end, way = math.radians(END_DEG), math.radians(2.0)
    assert abs(rows(end + way)[OWN[0], J]) == pytest.approx(arms[-1])
    assert abs(lengths(end + way) - lengths(end)) == pytest.approx(arms[-1] * way)
    hinge = model_of(load_hand("hasy"))[0]
    assert M["joint_acceleration_max_rad_s2"][J] < hinge["joint_acceleration_max_rad_s2"][J]


def test_a_file_without_the_key_is_as_before() -> None:
    plain = load_hand("hasy")
    assert "tendons_on" not in str(plain.model_dump(mode="json"))
    assert not model_of(plain)["four_bar_crank_m"].any()
    assert hand_sha256(plain) != hand_sha256(parse_hand(linked(25.0 - 1.5), "hand.toml"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (linked(25.0), ("fingers.hmc.four_bar", "next to its toggle at 24.3 deg of hmc_flexion")),
        (linked(ground_m=0.04), ("fingers.hmc.four_bar", "cannot be assembled", "shorten it")),
        (linked().replace('"rocker"', '"coupler"'), ("tendons_on", "rocker")),
        (
            linked().replace("fifth_pip = 0.009 }", "fifth_pip = 0.009, hmc_flexion = 0.001 }"),
            ("hmc_flexion in a row of fifth", "without tendons on a rocker"),
        ),
    ],
)
def test_a_linkage_that_locks_or_cannot_be_is_refused(text: str, words: tuple[str, ...]) -> None:
    assert words and unsaid(text, words) == []


def test_the_hand_runs_with_it_and_without_the_law_its_angle_is_wrong(tmp_path: Path) -> None:
    file, motion = tmp_path / "linked.toml", tmp_path / "bend.toml"
    file.write_text(linked())
    motion.write_text(
        'description = "to the end and back"\n[[tracks]]\nkind = "joint_deg"\nnames = ["hmc_flexion"]\n'
        "sine = { mean = 10.0, amplitude = 10.0, frequency_hz = 0.8, phase_deg = -90.0 }\n"
    )
    moved = run_lockstep(str(file), motion=str(motion), seconds=1.3)
    assert not moved.in_fault, moved.report["faults"]
    q = moved.frames["truth"]["joint_angle_rad"][:, J]
    assert np.degrees(np.ptp(q)) > 15.0
    error = np.degrees(np.abs(moved.frames["state"]["joint_angle_rad"][:, J] - q)).max()
    hinge = np.degrees(abs(lengths(float(q.max()))[0] / ARM_M) - q.max())
    assert hinge > 10.0 * error, (error, hinge)
