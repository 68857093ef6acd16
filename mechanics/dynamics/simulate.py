"""Runs of a system: checked arguments in, arrays with names out; trouble is a value with its cause."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanics.dynamics.diagnosis import Divergence, diagnose
from mechanics.dynamics.inputs import Inputs, constant
from mechanics.dynamics.integrate import N_ROWS, Scheme, run
from mechanics.dynamics.systems import System
from signals.layout import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a simulation left behind; rows are instants, columns coordinates."""

    system: System
    scheme: Scheme
    step_s: float
    time_s: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    extra: FloatArray
    """The input beside the joint torques, shape (k,)."""
    z: FloatArray
    """The state beside the coordinates, shape (k,)."""
    kinetic_j: FloatArray
    potential_j: FloatArray
    divergence: Divergence | None

    @property
    def energy_j(self) -> FloatArray:
        """Kinetic and potential energy, shape (k,)."""
        return self.kinetic_j + self.potential_j

    @property
    def energy_drift(self) -> float:
        """Greatest change of the energy, relative to the greatest exchange between its two kinds."""
        exchange = max(float(np.ptp(self.kinetic_j)), float(np.ptp(self.potential_j)), 1e-300)
        return float(np.abs(self.energy_j - self.energy_j[0]).max()) / exchange


def _start(name: str, values: FloatArray | None, n: int) -> FloatArray:
    start = np.zeros(n) if values is None else np.array(values, dtype=np.float64)
    if start.shape != (n,) or not np.all(np.isfinite(start)):
        raise ValueError(f"{name} must be {n} finite numbers, got {start.tolist()}")
    return start


def simulate(
    system: System,
    duration_s: float,
    step_s: float,
    *,
    scheme: Scheme = Scheme.RK4,
    q: FloatArray | None = None,
    qd: FloatArray | None = None,
    z: float = 0.0,
    inputs: Inputs | None = None,
    record_every: int = 1,
) -> Run:
    """Run a system from a state.

    Args:
        system: equations of motion.
        duration_s: simulated time.
        step_s: step of the integrator.
        scheme: integrator.
        q: initial coordinates, shape (n,); 0 when missing.
        qd: initial speeds, shape (n,); 0 when missing.
        z: initial further state (muscle temperature).
        inputs: torques and loads over time; none when missing.
        record_every: steps per recorded row.

    Returns:
        The run; ``divergence`` says whether it stopped early, and why.

    Raises:
        ValueError: an argument that cannot be.
    """
    n = system.n_dofs
    if not (step_s > 0.0 and math.isfinite(duration_s) and duration_s >= 0.0 and record_every >= 1):
        raise ValueError(
            f"step {step_s} s, duration {duration_s} s, record every {record_every}: must be positive"
        )
    given = constant(np.zeros(system.n_inputs)) if inputs is None else inputs
    width = system.n_inputs + 6 * len(given.loaded)
    if given.values.shape[1] != width:
        raise ValueError(f"inputs have {given.values.shape[1]} columns, the system wants {width}")
    n_steps = int(round(duration_s / step_s))
    out = np.zeros((n_steps // record_every + 1, 4 * n + 5))
    state = _start("q", q, n), _start("qd", qd, n), np.array([float(z)])
    begin = state[0].copy()
    loads = np.zeros((len(system.frames), 6))
    scratch = np.zeros((N_ROWS, n + 1))
    arrays = given.arrays()
    what = int(system.kind), system.parts, arrays, int(scheme)
    done, bad = run(*what, step_s, n_steps, record_every, *state, scratch, loads, out)
    rows = out[: done // record_every + 1]
    trouble = None
    if bad >= 0:
        trouble = diagnose(system, scheme, step_s, done, bad, arrays, begin, *state)
    qs, qds, qdds, taus = np.split(rows[:, 1:-4], 4, axis=1)
    extra, zs, kinetic_j, potential_j = rows[:, -4:].T
    moved = rows[:, 0], qs, qds, qdds, taus
    return Run(system, scheme, step_s, *moved, extra, zs, kinetic_j, potential_j, trouble)
