"""Same commands from the same inputs? ``python -m benchmarks.same_commands --out FOLDER | --against FOLDER``.

``--out`` keeps what went into every tick of some runs, and the commands that came out. ``--against`` feeds
the same inputs to the laws of today and tells the greatest difference of a motor's current and of a wrist
axis' angle, as a share of full scale: what only reorders sums stays below 1e-12. Unlike whole runs
(``benchmarks.same_runs``) it does not let a plant amplify the last bits.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.same_runs import runs
from hand.options import RunOptions
from hand.stages import make_stages
from runtime.session import Session
from signals.records import FRAME_RECORDS, MODEL, RecordArray, new_frame
from telemetry.columns import Columns, FrameBuffer, counts_of

MOST: Final = 1e-12
"""Greatest difference, as a share of full scale."""
EVERY: Final = 4
"""So many of all runs are one that is taken."""
INPUTS: Final = ("measurement", "goal")
TIMES: Final = ("tick", "time_ns", "dt_s")


def recorded(options: RunOptions) -> tuple[RecordArray, RecordArray]:
    """Model as homed, shape (1,), and every frame of a run."""
    session = Session(
        options, lambda hand: FrameBuffer(Columns(counts_of(hand.model), exact=FRAME_RECORDS), 1, None)
    )
    session.run(options.seconds or 0.0)
    session.close()
    return session.hand.model, session.result().frames


def put(view: Any, name: str, value: Any) -> None:
    """Write a kept signal, which has the hand's counts alone, into its record."""
    if np.ndim(value):
        view[name][(0, *(slice(n) for n in value.shape))] = value
    else:
        view[name][0] = value


def differences(model: RecordArray, frames: RecordArray) -> tuple[float, float]:
    """Greatest difference of currents and axes' angles to the frames' own, shares of full scale."""
    _, views = new_frame()
    stages = make_stages()
    model, worst_a, worst_rad = model.copy(), 0.0, 0.0
    n_motors, n_axes = int(model["n_motors"][0]), int(model["n_axes"][0])
    current_a = model["motor_current_limit_a"][0, :n_motors]
    for frame in frames:
        for record in INPUTS:
            for name in frame[record].dtype.names:
                put(views[record], name, frame[record][name])
        for name in TIMES:
            put(views["state"], name, frame["state"][name])
        measurement, goal, state, command = (views[r] for r in ("measurement", "goal", "state", "command"))
        stages.estimate(model, measurement, stages.estimator_memory, state)
        stages.control(model, goal, stages.controller_memory, state, command)
        stages.guard(model, goal, measurement, stages.guard_memory, state, command)
        off = np.abs(command["motor_current_a"][0, :n_motors] - frame["command"]["motor_current_a"])
        worst_a = max(worst_a, float((off / current_a).max()))
        if n_axes:
            angle = command["axis_angle_rad"][0, :n_axes] - frame["command"]["axis_angle_rad"]
            worst_rad = max(worst_rad, float(np.abs(angle).max() / np.pi))
        if not np.array_equal(command["motor_mode"][0, :n_motors], frame["command"]["motor_mode"]):
            return np.inf, np.inf
    return worst_a, worst_rad


def main() -> int:
    """Keep or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.2, help="simulated length of every run")
    parser.add_argument("--out", type=Path, help="keep inputs and commands here")
    parser.add_argument("--against", type=Path, help="feed the inputs in this folder")
    words = parser.parse_args()
    if words.out is not None:
        words.out.mkdir(parents=True, exist_ok=True)
        for k, (name, options) in enumerate(runs(words.seconds)):
            if k % EVERY == 0 and not _refused(options):
                model, frames = recorded(options)
                np.savez(words.out / f"{k}.npz", model=model, frames=frames, name=name)
        return 0
    worst = 0.0
    for path in sorted(words.against.glob("*.npz")):
        kept = np.load(path)
        found = differences(kept["model"].astype(MODEL), kept["frames"])
        print(f"{kept['name']}: currents {found[0]:.1e}, axes {found[1]:.1e} of full scale", flush=True)
        worst = max(worst, *found)
    print(f"greatest difference {worst:.1e} of full scale; bound {MOST:g}")
    return int(not worst <= MOST)


def _refused(options: RunOptions) -> bool:
    try:
        Session(options).close()
    except ValueError:
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
