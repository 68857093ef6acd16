"""Levers swept up and down: loops, springs and zeros within their intervals; what cannot be is said."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.calibrate import calibrated
from calibration.lever_fit import Known, Sensor, fit_lever, swept
from calibration.lever_loops import measure
from calibration.levers import HALL, ROWS, SPRINGS, fitted, forces_of, levers_of, parts_of, patch_of, usable
from calibration.patching import merged
from hand.assembly.assemble import model_of
from hand.assembly.mismatch import draw_mismatch
from hand.file import HandFileError, parse_hand
from hand.options import RunOptions
from mechanics.hysteresis import dahl, play
from runtime.setup import read_hand
from tests.calibration.plants import written

RADIUS_M, GAMMA_1, TURNS = 0.01, 10.0, 100.0
SENSOR = Sensor(2607.6, 4.55, 2048.0)
SEED = 5
TENDONS = 8


def _force(lever):
    """A spring that gets stiffer as the lever falls."""
    return 3.0 + 3.0 * np.exp(5.5 * (0.25 - np.asarray(lever)))


@pytest.mark.parametrize("seed", range(2))
def test_what_made_a_course_lies_in_the_intervals(seed):
    rng = np.random.default_rng(seed)
    scale, loop, length = rng.uniform(0.9, 1.1), rng.uniform(0.05, 0.2), math.radians(rng.uniform(0.2, 0.4))
    zero, g2, g3 = 2048.0 + rng.uniform(-30.0, 30.0), rng.uniform(0.3, 0.7), rng.uniform(0.02, 0.05)
    time, dt = np.arange(0.0, 24.0, 0.01), 0.01
    swing = 0.3 * np.cos(2.0 * np.pi * time / 6.0)
    lever = -0.05 + swing + 0.02 * np.sin(2.0 * np.pi * time / 0.6) * (np.abs(swing) > 0.2)
    angle = 0.8 - 1.2 * lever
    speed = np.gradient(angle, time)
    states, counts, played, s = [], [], lever[0], 0.0
    for before, now in zip(np.concatenate([lever[:1], lever[:-1]]), lever, strict=True):
        s = dahl(s, float(now - before), length)
        played = play(played, float(now), SENSOR.play_count / SENSOR.counts_rad)
        states.append(s)
        counts.append(zero + SENSOR.counts_rad * played)
    tension = scale * _force(lever) * (1.0 + loop * np.array(states))
    torque = RADIUS_M * tension + g2 * np.arctan(GAMMA_1 * speed) + g3 * speed
    torque += 0.05 * np.sin(TURNS * angle + 1.0) + rng.normal(0.0, 2e-3, time.shape)
    count = np.array(counts) + rng.normal(0.0, 0.2, time.shape)
    data = swept(time, angle, speed, torque, count, SENSOR)
    guess = (0.1, math.radians(0.3), 0.5, 0.03)
    fit = fit_lever(data, SENSOR, _force, RADIUS_M, GAMMA_1, TURNS, guess, Known(1e-4))
    found = np.array([fit.scale, fit.loop_frac, fit.presliding_rad, fit.zero_count, fit.friction_nm])
    true = np.array([scale, loop, length, zero, g2])
    floors = np.array([0.005, 0.01, 0.03, 0.0, 0.005]) * true + np.array([0.0, 0.0, 0.0, 1.0, 0.0])
    assert dt > 0.0 and (np.abs(found - true) <= np.maximum(fit.half, fit.bound)[:5] + floors).all(), (
        found,
        true,
    )
    # a viscous friction that the drive's own run told stays, and the rest is known the better
    guess = (0.1, math.radians(0.3), 0.5, g3)
    known = fit_lever(data, SENSOR, _force, RADIUS_M, GAMMA_1, TURNS, guess, Known(1e-4, viscous=True))
    assert (known.viscous_nms_rad, known.half[5], known.bound[5]) == (g3, 0.0, 0.0)
    assert known.half[4] < fit.half[4] and abs(known.friction_nm - g2) < 0.002 * g2


def test_a_tendon_that_never_turned_is_refused():
    time = np.arange(0.0, 2.0, 0.01)
    with pytest.raises(ValueError, match="both ways"):
        swept(time, time, np.ones_like(time), time, 2048.0 - 100.0 * time, SENSOR)


def _drawn(document):
    """Every lever of the plant is another one than the controller's file says."""
    rng = np.random.default_rng(SEED)
    for t in range(TENDONS):
        document["identified"] = document.get("identified", {})
        document["identified"][f"index_{t + 1}"] = {
            "spring_scale": float(rng.uniform(0.9, 1.1)),
            "hall_zero_count": float(2048.0 + rng.uniform(-40.0, 40.0)),
            "relative_half_width_frac": float(rng.uniform(0.06, 0.15)),
            "presliding_lever_deg": float(rng.uniform(0.2, 0.4)),
            "origin": "assumed: drawn",
        }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(the hand, the model of the simulated one, the courses of its tendons)."""
    plant = written(tmp_path_factory.mktemp("levers"), _drawn)
    options = RunOptions(hand="finger_bench", plant=plant, mismatch=SEED, seed=SEED, lockstep=True)
    hand, other = read_hand(options), read_hand(RunOptions(hand=plant))
    courses, _ = measure(hand, options, list(range(TENDONS)))
    return hand, draw_mismatch(other.model, SEED, other.file.tolerances)[0], courses


def _truth(hand, plant, t):
    m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
    unit = m["motor_torque_constant_nm_a"][i] / plant["motor_torque_constant_nm_a"][i]
    unit *= plant["spool_radius_m"][t] / m["spool_radius_m"][t]
    return {
        "spring_scale": plant["spring_scale"][t] * unit,
        "hall_zero_count": plant["hall_zero_count"][t],
        "relative_half_width_frac": plant["lever_friction_frac"][t],
        "presliding_lever_deg": math.degrees(plant["lever_presliding_rad"][t]),
    }


def test_drawn_levers_lie_in_their_intervals(run):
    hand, plant, courses = run
    inside, rows, errors, missed = 0, 0, [], []
    for t, course in courses.items():
        true, name = _truth(hand, plant, t), hand.names.tendons[t]
        each = fitted(hand, course, t)
        for kind in (SPRINGS, HALL):
            for part, row in zip(parts_of(kind, hand, t, each), ROWS[kind], strict=False):
                assert part.name == name and part.parameter == row.key
                held = bool(part.low <= true[row.key] <= part.high)
                rows, inside = rows + 1, inside + held
                missed += [] if held else [(part, true[row.key])]
                if kind == HALL:
                    assert part.high - part.value <= 3.0 * max(each.fit.bound[row.place], row.floor)
        # forces of counts, of the file and of the fit, against those of the simulated tendon
        lever, force = forces_of(hand, t)
        counts = float(plant["hall_counts_rad"][t])
        count = np.linspace(1300.0, 2300.0, 50)
        scaled = [
            scale * np.interp((count - zero) / counts, lever, force)
            for scale, zero in (
                (true["spring_scale"], true["hall_zero_count"]), (1.0, 2048.0),
                (each.fit.scale, each.fit.zero_count),
            )
        ]  # fmt: skip
        errors.append([float(np.sqrt(np.mean((x - scaled[0]) ** 2))) for x in scaled[1:]])
    assert rows == 4 * TENDONS and inside >= 0.9 * rows, (inside, rows, missed)
    before, after = np.sqrt(np.mean(np.square(errors), axis=0))
    assert before > 3.0 * after, (before, after)


def test_a_patch_of_both_is_a_legal_hand_file_that_the_model_follows(run):
    hand, _, courses = run
    t = 2
    text = hand.text
    for kind in (SPRINGS, HALL):
        each = fitted(hand, courses[t], t)
        good = [replace(part, verdict="good") for part in parts_of(kind, hand, t, each)]
        text, changed = merged(text, patch_of(good, "identified: 2026-11-29 run a"))
        assert changed == (["identified.index_3"] if kind == SPRINGS else [
            "identified.index_3.spring_scale", "identified.index_3.hall_zero_count",
            "identified.index_3.origin",
        ])  # fmt: skip
    old, new = hand.model[0], model_of(parse_hand(text, "x"))[0]
    for field, value in (("spring_scale", each.fit.scale), ("hall_zero_count", each.fit.zero_count)):
        assert new[field][t] == pytest.approx(value, rel=1e-5) and new[field][0] == old[field][0]
    assert new["lever_friction_frac"][t] != old["lever_friction_frac"][t]


def test_a_sensor_that_ends_before_the_force_does_is_told(run):
    hand, _, courses = run
    each = fitted(hand, courses[0], 0)
    assert usable(hand, 0, each).verdict == "good" and usable(hand, 0, each).value > 120.0
    aside = replace(each, fit=replace(each.fit, zero_count=800.0))
    found = usable(hand, 0, aside)
    assert found.verdict == "not good" and "turn or move the magnet" in found.text and found.value < 120.0


def test_hands_without_levers_are_told_what_is_missing():
    for name, missing in (("n_plus_one", "no lever"), ("orca_v2", "no sensor of it is used")):
        hand = read_hand(RunOptions(hand=name))
        mine, rest = levers_of(hand, list(range(len(hand.names.tendons))))
        assert not mine and {part.verdict for part in rest} == {"open"}
        assert all(missing in part.text for part in rest)


@pytest.mark.parametrize("kind", ["springs", "hall"])
def test_nothing_is_wound_while_the_connections_have_findings(kind, tmp_path):
    def reversed_motor(document):
        document["tendons"][1]["spool_radius_m"] = -0.01
        document["origin"]["tendons"]["spool_radius_m"] = "assumed: a mistake"

    options = RunOptions(hand="finger_bench", lockstep=True, plant=written(tmp_path, reversed_motor))
    found = calibrated(kind, read_hand(options), options, [0, 1], lambda _: None)
    assert "wiring.reversed" in {part.parameter for part in found.parts} and not found.patch("x")


@pytest.mark.parametrize(
    ("name", "key"),
    [("index_1", "gamma_2_nm"), ("index_pip", "spring_scale"), ("m_index_1", "coulomb_nm")],
)
def test_what_a_part_does_not_have_is_refused_with_what_it_has(name, key):
    hand = read_hand(RunOptions(hand="finger_bench"))
    line = f'\n[identified.{name}]\n{key} = 0.5\norigin = "identified: 2026-11-29 run a"\n'
    with pytest.raises(HandFileError, match=f"{key} of a? ?(motor|tendon|joint) {name}"):
        parse_hand(hand.text + line, "x")
