"""The fit of a drive: true values lie in the stated intervals, nonsense is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.drive_fit import Harmonic, Turning, fit_drive

RATE_HZ = 3000.0
RATIO = 100.0
HARMONICS = (Harmonic(True, 1), Harmonic(True, 42), Harmonic(False, 1))


def turning(amplitude, hz, seconds, true, rng, noise_nm, step_rad):
    """Samples of a drive that follows a sine exactly."""
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    angle = amplitude * np.sin(2.0 * np.pi * hz * t)
    speed = amplitude * 2.0 * np.pi * hz * np.cos(2.0 * np.pi * hz * t)
    bend = -angle * (2.0 * np.pi * hz) ** 2
    g1, g2, g3, inertia, waves = true
    torque = inertia * bend + g2 * np.arctan(g1 * speed) + g3 * speed
    for harmonic, (size, phase) in zip(HARMONICS, waves, strict=True):
        turn = harmonic.order * (RATIO if harmonic.of_input else 1.0)
        torque += size * np.sin(turn * angle + np.radians(phase))
    seen = np.round(angle / step_rad) * step_rad if step_rad else angle
    return Turning(t, seen, torque + noise_nm * rng.standard_normal(len(t)))


def drawn(rng):
    """gamma 1 to 3, inertia, and amplitude and phase of the harmonics."""
    waves = [(rng.uniform(0.01, 0.1), rng.uniform(-170.0, 170.0)) for _ in HARMONICS]
    return rng.uniform(5, 20), rng.uniform(0.2, 1.0), rng.uniform(0.02, 0.1), rng.uniform(2e-3, 1e-2), waves


def drive(seed, noise_nm=0.0, step_rad=6e-5):
    rng = np.random.default_rng(seed)
    true = drawn(rng)
    waves = true[4]
    stretches = [
        turning(a, hz, s, true, rng, noise_nm, step_rad)
        for a, hz, s in ((3.3, 0.025, 40.0), (3.3, 0.1, 10.0), (0.5, 2.0, 6.0))
    ]
    fit = fit_drive(stretches, HARMONICS, RATIO)
    named = dict(
        zip(("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad", "motor_inertia_kg_m2"), true[:4], strict=True)
    )
    for harmonic, (size, phase) in zip(HARMONICS, waves, strict=True):
        where = f"ripple.{'input' if harmonic.of_input else 'output'}_{harmonic.order}"
        named |= {f"{where}.amplitude_nm": size, f"{where}.phase_deg": phase}
    return fit, named


def inside(estimate, true):
    away = true - estimate.value
    if estimate.unit == "deg":
        away = (away + 180.0) % 360.0 - 180.0
    return abs(away) <= estimate.high - estimate.value


@pytest.mark.sample(2)
@pytest.mark.parametrize("noise_nm", [0.0, 0.02, 0.1])
def test_true_values_lie_in_the_intervals(noise_nm):
    hits = []
    for seed in range(6):
        fit, true = drive(seed, noise_nm)
        hits += [inside(estimate, true[estimate.name]) for estimate in fit.estimates]
    assert len(hits) == 60 and np.mean(hits) >= 0.9


@pytest.mark.parametrize("seed", range(4))
def test_an_encoder_of_few_steps_that_is_read_seldom_tells_friction_and_inertia_too(seed):
    """A step is 0.38 rad/s from sample to sample, where friction turns at 0.1 rad/s; the torque is small."""
    rng, rate_hz = np.random.default_rng(seed), 500.0
    true = {
        "gamma_1_s_rad": 10.0, "gamma_2_nm": rng.uniform(0.03, 0.1),
        "gamma_3_nms_rad": rng.uniform(0.005, 0.02),
        "motor_inertia_kg_m2": rng.uniform(1e-3, 4e-3),
    }  # fmt: skip
    g1, g2, g3, inertia = true.values()
    step_rad, stretches = 2.0 * np.pi / 8192, []
    for a, hz, seconds in ((3.3, 0.0125, 80.0), (3.3, 0.1, 20.0), (0.5, 2.0, 12.0)):
        t, w = np.arange(round(seconds * rate_hz)) / rate_hz, 2.0 * np.pi * hz
        angle, speed = a * np.sin(w * t), a * w * np.cos(w * t)
        torque = -inertia * w**2 * angle + g2 * np.arctan(g1 * speed) + g3 * speed
        stretches.append(Turning(t, np.round(angle / step_rad) * step_rad, torque))
    fit = fit_drive(stretches, (Harmonic(True, 1), Harmonic(False, 1)), 1.0, 10.0, step_rad)
    assert fit.explained > 0.995
    for name, value in true.items():
        found = fit.of(name)
        assert inside(found, value) and found.high - found.low < 0.1 * value, name


@pytest.mark.parametrize("seed", range(2))
def test_a_drive_at_the_bounds_of_its_torque_tells_its_inertia(seed):
    """It reverses within milliseconds, where friction turns faster than the filter tells."""
    rng = np.random.default_rng(seed)
    waves = drawn(rng)[4]
    true = {"gamma_2_nm": 0.65, "gamma_3_nms_rad": 0.05, "motor_inertia_kg_m2": 5.5e-3}
    g1, (g2, g3, inertia) = 10.0, true.values()
    sizes = [(a, h.order * (RATIO if h.of_input else 1.0), np.radians(p))
             for h, (a, p) in zip(HARMONICS, waves, strict=True)]  # fmt: skip

    def bend(torque, angle, speed):
        ripple = sum(a * math.sin(k * angle + p) for a, k, p in sizes)
        return (torque - g2 * math.atan(g1 * speed) - g3 * speed - ripple) / inertia

    rows, angle, speed, step_s = [], 0.0, 0.0, 1.0 / (8 * RATE_HZ)
    for k in range(round(6.0 * RATE_HZ)):
        torque = 1.47 if (k / RATE_HZ) % 0.5 < 0.22 else -1.3
        for part in range(8):  # the midpoint rule; the angle is taken in the middle of a torque
            if part == 4:
                rows.append((angle, torque))
            middle = speed + 0.5 * step_s * bend(torque, angle, speed)
            speed += step_s * bend(torque, angle + 0.5 * step_s * speed, middle)
            angle += step_s * middle
    angles, torques = np.array(rows).T
    slow = [
        turning(3.3, hz, s, (g1, g2, g3, inertia, waves), rng, 0.0, 6e-5)
        for hz, s in ((0.025, 40.0), (0.1, 10.0))
    ]
    quick = Turning(np.arange(len(rows)) / RATE_HZ, np.round(angles / 6e-5) * 6e-5, torques)
    fit = fit_drive([*slow, quick], HARMONICS, RATIO, 10.0, 6e-5)
    for name, value in true.items():
        assert inside(fit.of(name), value) and fit.of(name).high < 1.01 * fit.of(name).value, fit.of(name)


def test_intervals_shrink_with_noise_and_are_not_wide_without():
    quiet, true = drive(3)
    loud, _ = drive(3, 0.3)
    for name in ("gamma_2_nm", "gamma_3_nms_rad", "motor_inertia_kg_m2"):
        half = quiet.of(name).high - quiet.of(name).value
        assert half < 0.01 * true[name] and loud.of(name).high - loud.of(name).value > half
    assert quiet.explained > 0.9999 > loud.explained


@pytest.mark.parametrize("behind_samples", [-2, 1, 3])
def test_a_current_that_comes_late_or_early_moves_no_phase(behind_samples):
    fit, true = drive(5)
    rng = np.random.default_rng(5)
    waves = [(rng.uniform(0.01, 0.1), rng.uniform(-170.0, 170.0)) for _ in HARMONICS]
    values = (
        rng.uniform(5, 20),
        rng.uniform(0.2, 1.0),
        rng.uniform(0.02, 0.1),
        rng.uniform(2e-3, 1e-2),
        waves,
    )
    late = []
    for a, hz, s in ((3.3, 0.025, 40.0), (3.3, 0.1, 10.0), (0.5, 2.0, 6.0)):
        one = turning(a, hz, s, values, rng, 0.0, 6e-5)
        late.append(Turning(one.time_s, one.angle_rad, np.roll(one.torque_nm, behind_samples)))
    found = fit_drive(late, HARMONICS, RATIO)
    assert found.delay_s - fit.delay_s == pytest.approx(behind_samples / RATE_HZ, abs=2e-5)
    for estimate in found.estimates:
        if estimate.name.endswith("phase_deg"):
            assert inside(estimate, true[estimate.name]), estimate


def test_a_drive_that_hardly_turns_is_refused_with_its_speed():
    t = np.arange(3000) / RATE_HZ
    with pytest.raises(ValueError, match="turned at 0.0.* rad/s at most"):
        fit_drive([Turning(t, 1e-3 * np.sin(t), 0.0 * t)], HARMONICS, RATIO)
    with pytest.raises(ValueError, match="100 samples in a stretch"):
        fit_drive([Turning(t[:100], t[:100], t[:100])], HARMONICS, RATIO)


@settings(max_examples=10, deadline=None)
@given(scale=st.floats(0.1, 10.0))
def test_torques_scale_and_nothing_else_does(scale):
    rng = np.random.default_rng(1)
    waves = [(0.05, 30.0)] * 3
    true = (10.0, 0.5, 0.05, 5e-3, waves)
    ones = [turning(3.3, 0.1, 10.0, true, rng, 0.0, 0.0), turning(0.5, 2.0, 3.0, true, rng, 0.0, 0.0)]
    scaled = [Turning(s.time_s, s.angle_rad, scale * s.torque_nm) for s in ones]
    one, two = (fit_drive(s, HARMONICS, RATIO) for s in (ones, scaled))
    for a, b in zip(one.estimates, two.estimates, strict=True):
        factor = scale if "N m" in a.unit or "kg" in a.unit else 1.0
        assert b.value == pytest.approx(factor * a.value, rel=1e-6, abs=1e-9)
