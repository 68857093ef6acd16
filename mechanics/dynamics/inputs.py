"""Torques and loads over time: a table, linear in between, held at its ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray, IntArray

Arrays = tuple[FloatArray, FloatArray, IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Inputs of a system over time.

    Raises:
        ValueError: times that do not rise, values that are not finite, or shapes that do not fit.
    """

    time_s: FloatArray
    """Shape (k,)."""
    values: FloatArray
    """Shape (k, n_inputs + 6 loaded): torques, the extra channel, then force and moment per loaded frame."""
    loaded: tuple[int, ...] = ()
    """Frames that carry loads."""

    def __post_init__(self) -> None:
        time, values = self.time_s, self.values
        if time.ndim != 1 or values.ndim != 2 or time.shape[0] != values.shape[0] or not time.shape[0]:
            raise ValueError(f"{time.shape} times and {values.shape} values; give one row of inputs per time")
        if np.any(np.diff(time) <= 0.0):
            at = int(np.argmax(np.diff(time) <= 0.0))
            raise ValueError(f"input times must rise; {time[at + 1]} s follows {time[at]} s")
        if not (np.all(np.isfinite(time)) and np.all(np.isfinite(values))):
            row, column = np.argwhere(~np.isfinite(values))[0] if np.all(np.isfinite(time)) else (0, 0)
            raise ValueError(f"input is not finite at t = {time[row]} s, column {column}")

    def arrays(self) -> Arrays:
        """What the laws take."""
        return (
            np.ascontiguousarray(self.time_s, dtype=np.float64),
            np.ascontiguousarray(self.values, dtype=np.float64),
            np.array(self.loaded, dtype=np.int64),
        )


def constant(values: FloatArray, loaded: tuple[int, ...] = ()) -> Inputs:
    """The same inputs for ever; ``values`` as a row of ``Inputs.values``."""
    return Inputs(np.zeros(1), np.atleast_2d(np.asarray(values, dtype=np.float64)), loaded)


@law
def sample(inputs: Arrays, t: float, u: FloatArray, loads: FloatArray) -> None:
    """Write the inputs at time ``t`` into ``u``, shape (n_inputs,), and ``loads``, shape (frames, 6)."""
    times, values, loaded = inputs
    last = times.shape[0] - 1
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle
    share = 0.0
    if last > 0:
        share = min(max((t - times[low]) / (times[high] - times[low]), 0.0), 1.0)
    n = u.shape[0]
    for i in range(n):
        u[i] = values[low, i] + share * (values[high, i] - values[low, i])
    for k in range(loaded.shape[0]):
        for j in range(6):
            c = n + 6 * k + j
            loads[loaded[k], j] = values[low, c] + share * (values[high, c] - values[low, c])
