"""Ripple: its spectrum over a turn of the output shaft is the list of harmonics, nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.ripple import ripple_nm
from tests.rigs.actuation import RIPPLES, actuation_model

MODEL = actuation_model()
GEAR = 100


def test_spectrum_over_one_output_turn_holds_exactly_the_harmonics() -> None:
    samples = 20480  # above twice the highest order, 8400 per output turn
    angles = np.linspace(0.0, 2 * math.pi, samples, endpoint=False)
    torque = np.array([ripple_nm(MODEL[0], 0, angle) for angle in angles])
    lines = np.fft.rfft(torque) / samples
    expected = np.zeros_like(lines)
    for is_input, order, amplitude, phase_deg in RIPPLES:
        line = order * (GEAR if is_input else 1)
        expected[line] += 0.5 * amplitude * np.exp(1j * (math.radians(phase_deg) - math.pi / 2))
    assert np.max(np.abs(lines - expected)) < 1e-12


@settings(deadline=None)
@given(angle=st.floats(-50.0, 50.0), turns=st.integers(-5, 5))
def test_ripple_repeats_every_output_turn_and_never_exceeds_its_amplitudes(angle: float, turns: int) -> None:
    torque = ripple_nm(MODEL[0], 1, angle)
    assert ripple_nm(MODEL[0], 1, angle + 2 * math.pi * turns) == pytest.approx(torque, abs=1e-8)
    assert abs(torque) <= sum(r[2] for r in RIPPLES)


def test_only_the_harmonics_in_use_count_and_each_motor_has_its_own() -> None:
    model = actuation_model()
    model[0]["ripple_amplitude_nm"][1] *= 2.0
    assert ripple_nm(model[0], 1, 0.7) == pytest.approx(2.0 * ripple_nm(model[0], 0, 0.7), rel=1e-14)
    model[0]["n_ripples"] = 0
    assert ripple_nm(model[0], 0, 0.7) == 0.0
