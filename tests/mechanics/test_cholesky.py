"""Cholesky against numpy; what it reads; what is not positive definite."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.cholesky import factorise, forward, solve_factored

LEAST = 1e-300
sizes, seeds = st.integers(1, 8), st.integers(0, 10_000)


def lower_half(seed: int, n: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix, and the same without what a factor may not read."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A = 10.0**scale * (A @ A.T + 0.05 * np.eye(n))
    L = np.full((n + 1, n + 1), np.nan)
    lower = np.tril_indices(n)
    L[lower] = A[lower]
    return A, L


@given(sizes, seeds, st.floats(-4.0, 4.0))
def test_the_solver_equals_numpys_and_reads_the_lower_half_alone(n: int, seed: int, scale: float) -> None:
    A, L = lower_half(seed, n, scale)
    b = np.random.default_rng(seed + 1).normal(size=n)
    x = np.append(b, np.nan)
    assert factorise(L, n, LEAST)
    solve_factored(L, x, n)
    assert np.linalg.norm(A @ x[:n] - b) <= 1e-9 * np.linalg.norm(b)
    assert x[:n] == pytest.approx(np.linalg.solve(A, b), rel=1e-6, abs=1e-9 * abs(x[:n]).max())
    factor = np.tril(L[:n, :n])
    assert factor == pytest.approx(np.linalg.cholesky(A), rel=1e-9, abs=1e-12 * 10.0**scale)
    y = b.copy()
    forward(L, y, n)
    assert factor @ y == pytest.approx(b, rel=1e-9, abs=1e-9)


@given(sizes, seeds, st.floats(0.001, 10.0), st.sampled_from([1e-300, 1e-9]))
def test_a_matrix_that_is_not_positive_definite_is_told_and_its_factor_stays_finite(
    n: int, seed: int, below: float, least: float
) -> None:
    rng = np.random.default_rng(seed)
    spin, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = rng.uniform(0.1, 2.0, n)
    values[rng.integers(n)] = -below
    A = spin @ np.diag(values) @ spin.T
    assert not factorise(A, n, least)
    assert np.diag(A).min() == pytest.approx(least**0.5)


def test_a_pivot_that_is_no_number_is_told() -> None:
    A = np.full((1, 1), np.nan)
    assert not factorise(A, 1, LEAST) and A[0, 0] == pytest.approx(LEAST**0.5)
