"""Joints whose motor winds both of their tendons: friction, stops, lever arms from angle and current."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.commission import steps_of
from calibration.pair_fit import Blocks, fit_pair, smooth_sign, stop_of
from calibration.pair_plan import PAIRS, pairs_of
from calibration.pairs import found_pairs
from hand.assembly.mismatch import draw_mismatch
from hand.file import parse_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.choices import WrongChoice

ORCA = "orca_v2"
BEHIND_NM, REST_RAD_S = 0.012, 0.067


def _sweeps(g1: float, g2: float, g3: float, noise_nm: float, rng: np.random.Generator) -> Blocks:
    """Moves of minimum jerk there and back at three speeds, with their torque."""
    rows = []
    for move, (peak, way) in enumerate((v, w) for v in (0.5, 1.0, 1.6) for w in (1.0, -1.0)):
        s = np.linspace(0.05, 0.95, 40)
        seconds = 1.875 * 1.8 / peak
        angle = 0.9 + way * (-0.9 + 1.8 * (10 * s**3 - 15 * s**4 + 6 * s**5))
        speed = way * 1.8 * (30 * s**2 - 60 * s**3 + 30 * s**4) / seconds
        bend = way * 1.8 * (60 * s - 180 * s**2 + 120 * s**3) / seconds**2
        torque = g2 * np.arctan(g1 * speed) + g3 * speed + 0.001 * bend + 0.01 * angle
        torque += BEHIND_NM * smooth_sign(speed, REST_RAD_S) + rng.normal(0.0, noise_nm, len(s))
        rows.append(np.column_stack([angle, speed, bend, torque, np.full(len(s), move)]))
    angle, speed, bend, torque, move = np.vstack(rows).T
    return Blocks(angle, speed, bend, torque, move.astype(np.int64))


@given(
    g2=st.floats(0.01, 0.08), g3=st.floats(0.0, 0.03), share=st.floats(0.7, 1.3), seed=st.integers(0, 10_000)
)
@settings(max_examples=40, deadline=None)
def test_friction_comes_out_of_sweeps_whatever_the_file_assumed(
    g2: float, g3: float, share: float, seed: int
) -> None:
    data = _sweeps(10.0, g2, g3, 0.0005, np.random.default_rng(seed))
    fit = fit_pair(data, BEHIND_NM, REST_RAD_S, (10.0, share * g2, share * g3))
    plateau = 0.5 * math.pi * g2 + BEHIND_NM
    assert fit.whole_nm == pytest.approx(plateau, rel=0.05)
    assert abs(fit.gamma_3_nms_rad - g3) < max(2.0 * fit.half[2], 1e-3)
    assert fit.inertia_kg_m2 == pytest.approx(0.001, rel=0.3)


@given(at=st.floats(1.7, 2.1), give=st.floats(0.8, 3.0), seed=st.integers(0, 10_000), met=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_stop_is_where_its_line_begins_or_there_is_none(
    at: float, give: float, seed: int, met: bool
) -> None:
    rng = np.random.default_rng(seed)
    fit = fit_pair(_sweeps(10.0, 0.03, 0.01, 0.0005, rng), BEHIND_NM, REST_RAD_S, (10.0, 0.03, 0.01))
    angle = np.linspace(at - 0.15, at + (0.12 / give if met else 0.1), 30)
    still = np.zeros(30)
    data = Blocks(angle, still + 0.3, still, still, still.astype(np.int64))
    rise = give * np.maximum(angle - at, 0.0) if met else still
    pressed = Blocks(
        angle, data.speed_rad_s, still, fit.free_nm(data) + rise + rng.normal(0.0, 0.0005, 30), data.move
    )
    found, half = stop_of(pressed, fit, 1.0)
    if met:
        assert abs(found - at) < half + 0.01
    else:
        assert math.isnan(found)


@pytest.mark.parametrize("g2", [0.0, -0.02, 0.02])
def test_torques_that_are_no_friction_run_away_without_a_word_on_stdout(
    g2: float, capfd: pytest.CaptureFixture[str]
) -> None:
    """The answer is one JSON object: nothing that a numerical library prints may stand beside it."""
    with np.errstate(over="raise", invalid="raise"):
        for seed in range(30):
            data = _sweeps(1e4, g2, 0.0, 0.05, np.random.default_rng(seed))
            for guess in ((10.0, 0.02, 0.0), (1e5, 1e-4, 0.0)):
                fit = fit_pair(data, BEHIND_NM, REST_RAD_S, guess)
                assert np.isfinite(fit.gamma_1_s_rad) and np.isfinite(fit.gamma_2_nm)
    assert capfd.readouterr().out == ""


def test_a_motor_that_did_not_move_is_no_measurement() -> None:
    still = np.zeros(40)
    with pytest.raises(ValueError, match="both ways"):
        fit_pair(Blocks(still, still, still, still, still.astype(np.int64)), 0.0, 0.1, (10.0, 0.03, 0.01))


@pytest.mark.parametrize(
    ("parts", "wiring"),
    [
        ("index_abd", None),
        pytest.param("index", None, marks=pytest.mark.long),
        pytest.param("middle_mcp", "dynamixel", marks=pytest.mark.long),
    ],
)
def test_a_drawn_finger_is_known_better_than_by_its_file(parts: str, wiring: str | None) -> None:
    """In the process, and behind real drivers and emulated servos: a joint that was drawn 2.5 % off."""
    options = RunOptions(hand=ORCA, mismatch=4, seed=4, lockstep=True, wiring=wiring)
    hand = read_hand(options)
    plant = draw_mismatch(hand.model, 4, hand.file.tolerances)[0]
    tendons = [t for t, name in enumerate(hand.names.tendons) if name.startswith(parts)]
    found = found_pairs(hand, options, tendons, lambda _: None)
    assert all(part.verdict == "good" for part in found.parts), [p.text for p in found.parts]
    known = {(part.name, part.parameter): part for part in found.parts}
    before, after, held = [], [], []
    for pair in pairs_of(hand, tendons)[0]:
        name, t = hand.names.joints[pair.joint], list(pair.tendons)
        true = float(np.mean(-plant["P_tj_m"][t, pair.joint] / plant["spool_radius_m"][t])) / pair.ratio
        part = known[hand.names.tendons[t[0]], f"dh_dq_m_rad.{name}"]
        arm = float(hand.model[0]["P_tj_m"][t[0], pair.joint])
        low, high = sorted((part.low / arm, part.high / arm))
        before.append(1.0 - true)
        after.append(part.value / arm - true)
        i = pair.motor
        unit = hand.model[0]["motor_torque_constant_nm_a"][i] / plant["motor_torque_constant_nm_a"][i]
        friction = known[hand.names.motors[i], "gamma_2_nm"]
        held += [low <= true <= high]
        held += [friction.low <= float(plant["friction_gamma_2_nm"][i]) * unit <= friction.high]
    assert np.square(after).sum() < 0.25 * np.square(before).sum() and sum(held) >= len(held) - 1
    text = tomlkit.dumps(tomlkit.parse(hand.text)) + "\n" + found.patch("identified: 2026-11-29 run a")
    mine = parse_hand(text, "mine.toml")
    first, joint = hand.names.tendons[tendons[0]], hand.names.joints[pairs_of(hand, tendons)[0][0].joint]
    arm = known[first, f"dh_dq_m_rad.{joint}"].value
    assert mine.identified[first].dh_dq_m_rad == {joint: pytest.approx(arm, rel=1e-5)}


def test_each_kind_of_hand_has_its_own_steps() -> None:
    steps, told = steps_of(read_hand(RunOptions(hand=ORCA)))
    assert steps == (PAIRS,) and "Tensions" in told[0]
    assert PAIRS not in steps_of(read_hand(RunOptions(hand="finger_bench")))[0]
    with pytest.raises(WrongChoice, match="takes angles"):
        steps_of(read_hand(RunOptions(hand="orca_v2_position")))
