"""In which order and how hard joints are led into their stops: by the hand file's ``homing``."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import pytest

from calibration.order import most_at_joint_nm
from calibration.pair_plan import REACH_DEG, Pair, pairs_of, plan_of, reach_deg, stiffness_nm_rad
from calibration.travel import joints_of, motion_of, presses_nm
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.layout import FloatArray
from tests.rigs.mutations import TEXTS

SEQUENCE = [["thumb_cmc", "index_pip"], ["ring_mcp"], ["index_abd", "index_mcp"]]


def _hand(folder: Any, name: str, homing: str) -> Hand:
    file = folder / "hand.toml"
    file.write_text(f'{TEXTS[name]}\n[homing]\npose = "straight"\n{homing}\norigin = "assumed"\n')
    return read_hand(RunOptions(hand=str(file)))


def _courses(text: str, kind: str) -> dict[str, tuple[float, float]]:
    """When each part begins to move and when it has come to rest [s]."""
    found = {}
    for track in tomllib.loads(text)["tracks"]:
        if track["kind"] == kind:
            times, values = track["points"]["times_s"], track["points"]["values"]
            moving = [k for k in range(1, len(times)) if values[k] != values[k - 1]]
            found[track["names"][0]] = (times[moving[0] - 1], times[moving[-1]])
    return found


def test_pairs_go_group_by_group_and_what_is_left_out_comes_last(tmp_path: Any) -> None:
    hand = _hand(tmp_path, "orca_v2", f"sequence = {SEQUENCE}".replace("'", '"'))
    pairs, _ = pairs_of(hand, list(range(len(hand.names.tendons))))
    plan = plan_of(hand, pairs)
    of_motor = _courses(plan.text, "motor_rad")
    course = {hand.names.joints[p.joint]: of_motor[hand.names.motors[p.motor]] for p in pairs}
    rest = [j for j in hand.names.joints if not any(j in group for group in SEQUENCE)]
    for group, after in zip(SEQUENCE, [*SEQUENCE[1:], rest], strict=True):
        assert max(course[j][1] for j in group) <= min(course[j][0] for j in after)
    assert course["thumb_cmc"][0] == course["index_pip"][0], "fingers of a group at once"
    assert course["index_abd"][1] <= course["index_mcp"][0], "joints of a finger one after the other"
    for pair, moves in zip(pairs, plan.moves, strict=True):
        begin, end = course[hand.names.joints[pair.joint]]
        assert all(begin <= move.begin_s < move.end_s <= end for move in moves)


@pytest.mark.parametrize("homing", ["", 'sequence = [["index_mcp", "wrist", "thumb_dip"]]'])
def test_what_a_finger_carries_waits_for_it_wherever_it_stands(homing: str, tmp_path: Any) -> None:
    hand = _hand(tmp_path, "orca_v2", homing)
    pairs, _ = pairs_of(hand, list(range(len(hand.names.tendons)))[::-1])
    course = _courses(plan_of(hand, pairs).text, "motor_rad")
    assert all(course["wrist"][1] <= course[motor][0] for motor in ("index_mcp", "thumb_dip", "pinky_pip"))


def test_joints_with_sensors_go_group_by_group_too(tmp_path: Any) -> None:
    order = ["index_dip", "index_abduction", "index_pip", "index_flexion"]
    hand = _hand(tmp_path, "finger_bench", f"sequence = {[[j] for j in order]}".replace("'", '"'))
    joints = joints_of(hand, [0])
    text, times, seconds = motion_of(hand, {j: presses_nm(hand, j) for j in joints})
    course = _courses(text, "joint_deg")
    assert all(course[a][1] <= course[b][0] for a, b in zip(order, order[1:], strict=False))
    assert max(t.done_s for t in times.values()) < seconds
    ends = sorted((times[j].ends_s[0], hand.names.joints[j]) for j in joints)
    assert [name for _, name in ends] == order


def _torque_nm(hand: Hand, pair: Pair, reach: float) -> float:
    """Of a motor that far [deg] beyond its joint's range, where the stop's spring holds the tendons'."""
    tendons = pair.ratio**2 * stiffness_nm_rad(hand, pair)
    stop = float(hand.model[0]["stop_stiffness_nm_rad"])
    return stop * math.radians(reach) * tendons / (tendons + stop) / abs(pair.ratio)


@pytest.mark.parametrize("share", [0.02, 0.15, 0.5])
def test_a_current_bounds_the_torque_of_a_pair_at_its_stop(share: float, tmp_path: Any) -> None:
    free = read_hand(RunOptions(hand="orca_v2"))
    m = free.model[0]
    bound = _hand(tmp_path, "orca_v2", f"current_a = {share * float(m['motor_current_limit_a'][0])}")
    pairs, _ = pairs_of(free, list(range(len(free.names.tendons))))
    for pair in pairs:
        most = share * float(m["motor_torque_limit_nm"][pair.motor])
        wide, narrow = reach_deg(free, pair), reach_deg(bound, pair)
        if _torque_nm(free, pair, wide) <= most:
            assert narrow == wide
        else:
            assert narrow == REACH_DEG[0] or _torque_nm(free, pair, narrow) == pytest.approx(most)
        assert REACH_DEG[0] <= narrow <= wide


def test_a_current_bounds_how_hard_a_joint_with_sensors_presses(tmp_path: Any) -> None:
    bench = _hand(tmp_path, "finger_bench", "current_a = 0.05")
    m = bench.model[0]
    for j in joints_of(bench, [0]):
        arms = m["P_tj_m"][: m["n_tendons"], j]
        pull_n = 0.05 * m["motor_torque_constant_nm_a"][m["tendon_motor"][: m["n_tendons"]]]
        pull_n = pull_n / abs(m["spool_radius_m"][: m["n_tendons"]])
        most = min(float((arms * pull_n)[arms > 0].sum()), float(-(arms * pull_n)[arms < 0].sum()))
        least, press = presses_nm(bench, j)
        assert press <= most * (1 + 1e-12) and least / press == pytest.approx(4.0 / 6.0)
        impedance = float(m["joint_impedance_nm_rad"][j]) * math.radians(6.0)
        assert press == pytest.approx(min(most, impedance))


def _split_nm(hand: Hand, j: int, current_a: float, shares: FloatArray) -> tuple[float, float]:
    """Torques [N m] to both sides when every motor gives a tendon its share of all its torque; shape (n,)."""
    m = hand.model[0]
    n, motor = int(m["n_tendons"]), m["tendon_motor"][: int(m["n_tendons"])]
    most = np.minimum(m["motor_torque_limit_nm"], current_a * m["motor_torque_constant_nm_a"])
    whole = np.bincount(motor, weights=shares, minlength=len(most))
    tension = most[motor] * shares / whole[motor] / abs(m["spool_radius_m"][:n])
    torque = m["P_tj_m"][:n, j] * tension
    return float(torque[torque > 0].sum()), float(-torque[torque < 0].sum())


@pytest.mark.parametrize("name", ["finger_bench", "hasy", "sdm", "n_plus_one"])
@pytest.mark.parametrize("shared", [False, True], ids=["as_shipped", "one_motor_for_two"])
def test_tendons_of_one_motor_share_its_torque_at_a_joint(name: str, shared: bool, tmp_path: Any) -> None:
    hand = _hand(tmp_path, name, "current_a = 0.05")
    m = hand.model[0]
    n, draw = int(m["n_tendons"]), np.random.default_rng(7)
    if shared:
        m["tendon_motor"][1:n:2] = m["tendon_motor"][: n - n % 2 : 2]
    for j in range(len(hand.names.joints)):
        # one tendon takes (almost) all of its motor, or each some
        splits = [1e-12 ** draw.uniform(0.0, 1.0, n) for _ in range(300)] + [
            np.where(side * m["P_tj_m"][:n, j] > 0, 1.0, 1e-15) ** draw.integers(1, 3, n) for side in (1, -1)
        ]
        reached = np.array([_split_nm(hand, j, 0.05, split) for split in splits]).max(axis=0)
        most = most_at_joint_nm(hand, j)
        assert float(min(reached)) <= most * (1 + 1e-9)
        assert float(min(reached)) >= most * (1 - 0.02)
