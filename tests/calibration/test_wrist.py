"""Zeros of the wrist's sensors: the fit against another search, intervals, a planted zero, refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from calibration import wrist
from calibration.geometry import fingers_for
from calibration.motion_run import Faulted, Told
from calibration.part import BAD, GOOD, OPEN
from calibration.patching import apply, history, revert
from calibration.wrist_fit import LENGTH_SD_M, Swept, ZeroFit, fit_zeros
from calibration.wrist_page import MOST_DEG, Zeros, parts_of, patch_of
from hand.file import load_hand, parse_hand
from hand.options import RunOptions
from mechanics.palm_angles import axes_of_palm
from mechanics.wrist import wrist_pose
from runtime.setup import read_hand
from signals.choices import WrongChoice
from tools.commands.calibrate import app

FINGERS = ("index", "middle")


@pytest.fixture(scope="module")
def hand():
    return read_hand(RunOptions(hand="hasy"))


@pytest.fixture(scope="module")
def tendons(hand):
    m, names = hand.model[0], hand.names.fingers
    return [t for t in range(len(hand.names.tendons)) if names[m["tendon_finger"][t]] in FINGERS]


def _points_apart(hand, tendons, q71, q73):
    """Distance of the points of Table 6.2, by the pose alone."""
    m, R, o = hand.model[0], np.zeros((3, 3)), np.zeros(3)
    wrist_pose(m, q71, q73, R, o)
    return np.linalg.norm(o + m["palm_point_m"][tendons] @ R.T - m["forearm_point_m"][tendons], axis=1)


def _true_axes(hand, n=13):
    m, turns = hand.model, np.linspace(-1.0, 1.0, n)
    poses = [(math.radians(36.0 * s), 0.0) for s in turns] + [(0.0, math.radians(16.0 * s)) for s in turns]
    return np.array([axes_of_palm(m, *pose) for pose in poses])


def _drawn(hand, tendons, rng, zero_rad, noise_m=LENGTH_SD_M, spool_sd=0.0):
    """Samples of a wrist with these zeros; joints and tensions anywhere."""
    known = replace(wrist.known_of(hand, tendons, 1), spool_sd=np.full(len(tendons), spool_sd), force_sd=0.0)
    axes = _true_axes(hand)
    through = np.array([_points_apart(hand, tendons, *each) for each in axes])
    q = rng.normal(0.0, 0.02, (len(axes), known.P_tj_m.shape[1]))
    stretch = rng.uniform(1e-4, 3e-4, (len(axes), len(tendons)))
    elongation = 8.0 * stretch
    length = through + q @ known.P_tj_m.T + rng.normal(0.0, 0.01, len(tendons))
    wound = (elongation - length + rng.normal(0.0, noise_m, elongation.shape)) * (
        1.0 + spool_sd * rng.normal(size=len(tendons))
    )
    return Swept(axes + zero_rad, elongation, wound, stretch), replace(known, independent=len(axes))


def test_zeros_are_those_of_a_search_with_every_joint_angle_as_an_unknown(hand, tendons):
    """The oracle: distances of points, differences by the zeros, all angles and start lengths sought."""
    rng, zero = np.random.default_rng(4), np.radians([1.3, -0.8])
    swept, known = _drawn(hand, tendons, rng, zero)
    n, nt = swept.elongation_m.shape
    P = known.P_tj_m[:, known.P_tj_m.any(axis=0)]
    length = swept.elongation_m - swept.wound_m
    linear = np.hstack([np.kron(np.eye(n), P), np.kron(np.ones((n, 1)), np.eye(nt))])

    def left(z):
        law = np.array([_points_apart(hand, tendons, *each) for each in swept.shown_rad - z])
        return (length - law).ravel()

    explained, share, _ = np.linalg.svd(linear, full_matrices=False)
    explained = explained[:, share > 1e-12 * share[0]]

    def unexplained(x):
        """What is left by the best angles and start lengths."""
        return x - explained @ (explained.T @ x)

    sought, small = np.zeros(2), 1e-5
    for _ in range(6):
        by = np.column_stack([(left(sought + d) - left(sought - d)) / (2 * small) for d in small * np.eye(2)])
        sought = sought + np.linalg.lstsq(unexplained(-by), unexplained(left(sought)), rcond=None)[0]
    certain = fit_zeros(swept, replace(known, gain_sd=1e-9))
    np.testing.assert_allclose(np.degrees(certain.zero_rad), np.degrees(sought), atol=1e-4)
    np.testing.assert_allclose(np.degrees(sought), np.degrees(zero), atol=0.2)


def test_true_zeros_lie_in_their_intervals(hand, tendons):
    off, halves = [], []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        zero = np.radians(rng.uniform(-3.0, 3.0, 2))
        fit = fit_zeros(*_drawn(hand, tendons, rng, zero, spool_sd=0.02))
        off += ((fit.zero_rad - zero) / fit.zero_half_rad).tolist()
        halves.append(np.degrees(fit.zero_half_rad))
    assert np.mean(np.abs(off) < 1.0) >= 0.88
    # neither too narrow nor too wide: the rms of 48 normal errors is within 0.3 of its sd, three sigma
    assert 0.7 < 1.96 * np.sqrt(np.mean(np.square(off))) < 1.3
    assert np.median(halves, axis=0).max() < 0.3


def test_without_curvature_nothing_is_told(hand, tendons):
    """A wrist whose tendons lengthen in proportion to its angle: any zero fits."""
    swept, known = _drawn(hand, tendons, np.random.default_rng(0), np.zeros(2))
    _, slopes = known.ways(known.neutral_rad[np.newaxis])

    def straight(angles):
        return (angles - known.neutral_rad) @ slopes[0].T, np.repeat(slopes, len(angles), axis=0)

    fit = fit_zeros(swept, replace(known, ways=straight))
    assert np.degrees(fit.zero_half_rad).min() > 10.0


def test_another_gain_is_found(hand, tendons):
    swept, known = _drawn(hand, tendons, np.random.default_rng(1), np.zeros(2))
    away = swept.shown_rad - known.neutral_rad
    fit = fit_zeros(replace(swept, shown_rad=known.neutral_rad + away * (1.2, 0.9)), known)
    np.testing.assert_allclose(fit.gain, (1.2, 0.9), atol=0.02)


def _zeros(**more):
    nothing = np.zeros(2)
    fit = ZeroFit(nothing, np.full(2, 1e-4), np.ones(2), np.full(2, 1e-3), 2e-5, nothing)
    given = {"before_deg": nothing, "zeros_deg": np.array([1.0, -0.5]), "fit": fit, "whole": True, "tries": 1}
    return Zeros(**(given | {"held_before_m": 1e-4, "held_after_m": 2e-5} | more))


@pytest.mark.parametrize(
    ("more", "verdict", "told"),
    [
        ({}, GOOD, "+1.00 deg"),
        ({"zeros_deg": np.array([MOST_DEG + 1.0, 0.0])}, BAD, "turn the sensor on its axis"),
        ({"whole": False, "tries": 5}, BAD, "the guard ended all 5 sweeps"),
        ({"held_after_m": 2e-4}, BAD, "fit no better"),
        (
            {"before_deg": np.array([18.0, 0.0]), "zeros_deg": np.array([21.0, -0.5])},
            BAD,
            "+21.00 deg, +- 0.06; +3.00 from before; legal: 20 deg at most: turn the sensor on its axis",
        ),
        ({"before_deg": np.array([0.0, -18.0]), "zeros_deg": np.array([1.0, -20.5])}, OPEN, "other axis"),
    ],
)
def test_what_is_no_zero_gets_no_line(hand, more, verdict, told):
    parts = parts_of(hand, _zeros(**more))
    assert parts[0].verdict == verdict and told in parts[0].text
    assert (f"[identified.{parts[0].name}]" in patch_of(parts, "identified: 2026-11-30 run")) == (
        verdict == GOOD
    )


def test_a_zero_waits_for_a_gain_that_is_good(hand):
    found = _zeros()
    parts = parts_of(hand, replace(found, fit=replace(found.fit, gain=np.array([1.4, 1.0]))))
    assert [part.verdict for part in parts] == [OPEN, GOOD, BAD, GOOD] and "range_deg" in parts[2].text
    assert "wrist_flexion" not in patch_of(parts, "identified: 2026-11-30 run")


def test_hands_without_such_a_wrist_are_refused_with_what_is_legal(tmp_path):
    for name, told in (
        ("finger_bench", "has no wrist; legal"),
        ("orca_v2", "legal: flexor identify pairs wrist --hand orca_v2"),
    ):
        done = CliRunner().invoke(app, ["wrist", "--hand", name, "--lockstep", "--out", str(tmp_path / "o")])
        assert told in str(done.exception) and not (tmp_path / "o").exists()
        read = read_hand(RunOptions(hand=name))
        with pytest.raises(WrongChoice, match="legal"):
            wrist.found_wrist(read, RunOptions(hand=name), [0], lambda _: pytest.fail("it moved"))


def _plant(folder, zeros_deg):
    lines = [
        f'\n[identified.{name}]\nsensor_zero_deg = {zero}\norigin = "assumed: planted"\n'
        for name, zero in zip(("wrist_flexion", "wrist_abduction"), zeros_deg, strict=True)
    ]
    path = folder / "plant.toml"
    path.write_text(Path(load_hand("hasy").path).read_text() + "".join(lines))
    return str(path)


def test_a_planted_zero_is_found_and_the_file_takes_it_and_gives_it_back(hand, tmp_path, monkeypatch):
    """One sweep of each axis at twice the speed; every finger takes part."""
    monkeypatch.setattr(wrist, "SWEEPS", 1)
    monkeypatch.setattr(wrist, "SPEEDS_DEG_S", (40.0, 20.0))
    planted = (0.8, -1.1)
    options = RunOptions(hand="hasy", plant=_plant(tmp_path, planted), lockstep=True)
    found = wrist.found_wrist(hand, options, list(range(len(hand.names.tendons))), lambda _: None)
    zeros = [part for part in found.parts if part.parameter == "sensor_zero_deg"]
    assert [part.verdict for part in found.parts] == [GOOD] * 4, [part.text for part in found.parts]
    assert all(part.low <= true <= part.high for part, true in zip(zeros, planted, strict=True)), zeros
    assert all(part.high - part.low < 0.6 for part in zeros)
    mine = tmp_path / "mine.toml"
    mine.write_text(before := Path(load_hand("hasy").path).read_text())
    apply(mine, found.patch("identified: 2026-11-30 run a"), "a")
    stored = np.degrees(load_hand(str(mine)).axis_zeros_rad)
    np.testing.assert_allclose(stored, [part.value for part in zeros], rtol=1e-5)
    assert history(mine)[0].keys == ["identified.wrist_flexion", "identified.wrist_abduction"]
    revert(mine)
    assert mine.read_text() == before


def test_a_sweep_that_the_guard_ends_is_made_again_with_what_it_told(hand, tendons, monkeypatch):
    """The guard ends sweeps until the zero is known to a degree; another fault ends the procedure."""
    known_deg, ask, fault = [], np.array([3.0, -2.0]), Told("WRIST_SENSOR", "wrist_flexion", "off", "look")
    mine = fingers_for(hand, tendons)[0]

    def sweep(_hand, _options, _tendons, zeros_deg, _watch):
        known_deg.append(zeros_deg)
        left = ask - zeros_deg
        swept, _ = _drawn(hand, mine, np.random.default_rng(len(known_deg)), np.radians(left))
        ended = np.abs(left).max() > 1.0
        time = np.linspace(wrist.LEAD_S, 4.0 if ended else 1e3, len(swept.shown_rad))
        time = time if ended else np.where(np.arange(len(time)) < len(time) - 4, 2.0, 1e3)
        return wrist._Run(time, swept, zeros_deg, [fault] if ended else [], 5.0)

    monkeypatch.setattr(wrist, "_sweep", sweep)
    found = wrist.found_wrist(hand, RunOptions(hand="hasy"), tendons, lambda _: None)
    assert len(known_deg) == 2 and not known_deg[0].any() and found.seconds == 10.0
    values = [part.value for part in found.parts if part.parameter == "sensor_zero_deg"]
    np.testing.assert_allclose(values, ask, atol=0.3)


def test_a_zero_beyond_what_a_file_may_say_ends_it_without_a_patch(hand, tendons, tmp_path, monkeypatch):
    """The file says 18 deg, the sensor shows 3 more: no sweep with 21 deg, whose file nobody would read."""
    ask, fault = np.array([21.0, 0.0]), Told("WRIST_SENSOR", "wrist_flexion", "off", "look")
    known_deg, path = [], tmp_path / "mine.toml"
    path.write_text(wrist.with_zeros(hand, np.array([18.0, 0.0])))
    mine, all_of_them = read_hand(RunOptions(hand=str(path))), fingers_for(hand, tendons)[0]

    def sweep(_hand, _options, _tendons, zeros_deg, _watch):
        known_deg.append(zeros_deg)
        parse_hand(wrist.with_zeros(mine, zeros_deg), "mine.toml")
        swept, _ = _drawn(hand, all_of_them, np.random.default_rng(3), np.radians(ask - zeros_deg))
        time = np.linspace(wrist.LEAD_S, 4.0, len(swept.shown_rad))
        return wrist._Run(time, swept, zeros_deg, [fault], 5.0)

    monkeypatch.setattr(wrist, "_sweep", sweep)
    found = wrist.found_wrist(mine, RunOptions(hand=str(path)), tendons, lambda _: None)
    assert len(known_deg) == 1 and [part.verdict for part in found.parts[:2]] == [BAD, OPEN]
    assert abs(found.parts[0].value - 21.0) < 0.3 and "20 deg at most" in found.parts[0].text
    assert found.patch("identified: 2026-11-30 run a") == ""


def test_a_fault_that_is_not_the_sensors_ends_it(hand, tendons, monkeypatch):
    told = [Told("TENDON_BREAK", "index_1", "index_1: broken", "look at it")]
    monkeypatch.setattr(wrist, "run_motion", lambda *words, **more: told)
    with pytest.raises(Faulted, match="broken"):
        wrist.found_wrist(hand, RunOptions(hand="hasy", lockstep=True), tendons, lambda _: None)


@pytest.mark.long
def test_the_command_finds_a_zero_of_degrees_that_the_guard_will_not_have(tmp_path):
    planted = (2.5, -1.0)
    words = ["wrist", "--hand", "hasy", "--lockstep", "--json", "--seed", "5", "--mismatch", "5"]
    words += ["--plant", _plant(tmp_path, planted), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (done.exception, done.stdout)
    rows = {(p["name"], p["parameter"]): p for p in json.loads(done.stdout)["parts"]}
    for name, true in zip(("wrist_flexion", "wrist_abduction"), planted, strict=True):
        part = rows[name, "sensor_zero_deg"]
        assert part["low"] <= true <= part["high"], part
    assert "Lengths through the wrist" in (tmp_path / "out" / "report.html").read_text()
