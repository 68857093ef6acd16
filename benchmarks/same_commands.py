"""Does a changed tick command the same? What the tick before measured and was asked for, fed to the one now.

``git worktree add OLD COMMIT; PYTHONPATH=OLD python -P benchmarks/same_commands.py record FOLDER`` drives
the runs of ``benchmarks.same_runs`` with the old tick. ``... answer FOLDER`` feeds what was measured and
asked for in every cycle to it again, ``python -m benchmarks.same_commands replay FOLDER`` to the tick of this
tree. Estimator and memories evolve on their own from the first cycle on. The greatest difference of a command
is told as a share of full scale: of the motor's greatest current, of the axis' range. Modes, enables, states
and causes have to be the same. Ends with 1 above BOUND.

Without ``answer`` the commands of the run itself are compared: laws that are inlined into another caller
round their last bits otherwise, and where tendons are at their bounds that becomes 1e-8 of full scale.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import canned
from benchmarks.same_runs import runs
from hand.options import RunOptions
from runtime.session import Session
from runtime.setup import read_hand
from signals.choices import WrongChoice
from signals.layout import IntArray
from signals.records import COMMAND, FRAME, GOAL, MEASUREMENT, RecordArray

BOUND: Final = 1e-9
"""Greatest difference of a command, as a share of full scale."""
STORED: Final = ("measurement", "goal", "command")
DTYPES: Final = {"measurement": MEASUREMENT, "goal": GOAL, "command": COMMAND}
MEMORIES: Final = ("estimator", "controller", "guard")


@dataclass(slots=True)
class Difference:
    """Greatest difference of one run.

    Attributes:
        share: of full scale.
        cycle: where it is first above the bound, else where it is greatest.
        other_modes: cycles in which a motor's mode or an axis' enable differs.
        other_causes: cycles in which a finger's state or cause differs.
    """

    share: float
    cycle: int
    other_modes: int
    other_causes: int

    @property
    def too_large(self) -> bool:
        """The commands are not the same."""
        return not self.share <= BOUND or self.other_modes > 0 or self.other_causes > 0


def squeezed(records: RecordArray) -> dict[str, NDArray[Any]]:
    """Words of records, shape (n,): the first one whole, of the others the words that ever change."""
    words = records.view(np.uint64).reshape(len(records), -1)
    changing = np.flatnonzero((words != words[0]).any(axis=0))
    return {"first": words[0].copy(), "at": changing, "words": np.ascontiguousarray(words[:, changing])}


def unsqueezed(stored: dict[str, NDArray[Any]], dtype: np.dtype[Any]) -> RecordArray:
    """What ``squeezed`` made small."""
    words = np.repeat(stored["first"][None], len(stored["words"]), axis=0)
    words[:, stored["at"]] = stored["words"]
    return words.view(dtype).reshape(-1)


def _carry_over(source: RecordArray, target: RecordArray) -> None:
    """Fields that both have, by name: records grow and lose fields from one version to the next."""
    for name in set(source.dtype.names or ()) & set(target.dtype.names or ()):
        if source[name].shape == target[name].shape:
            target[name] = source[name]


def _parts(session: Session) -> dict[str, RecordArray]:
    stages, views = session.rig.stages, session.rig.views
    return {
        "model": session.rig.hand.model,
        **{name: getattr(stages, f"{name}_memory") for name in MEMORIES},
        **{name: views[name] for name in ("state", "command")},
    }


def record(options: RunOptions, path: Path) -> None:
    """One lockstep run of the tick of this tree into ``path``."""
    session = Session(options, buffer=lambda _: None)
    views, parts = session.rig.views, _parts(session)
    before = {name: part.copy() for name, part in parts.items()}
    cycles = round((options.seconds or 0.0) * session.hand.rate_hz)
    kept = {name: np.zeros(cycles, dtype=views[name].dtype) for name in STORED}
    kept["clock"] = np.zeros((cycles, 2), dtype=np.int64)
    dt_s = np.zeros(cycles)
    causes = np.zeros((cycles, 2, before["state"]["finger_state"].shape[1]), dtype=np.int64)
    for k in range(cycles):
        session.loop.run_lockstep(1, lambda: True)
        for name in STORED:
            kept[name][k] = views[name][0]
        state = views["state"][0]
        kept["clock"][k], dt_s[k] = (state["tick"], state["time_ns"]), state["dt_s"]
        causes[k] = state["finger_state"], state["finger_cause"]
    if parts["model"].tobytes() != before["model"].tobytes():
        raise RuntimeError("the model changed while the hand ran: a replay would not know when")
    session.close()
    out: dict[str, Any] = {f"before.{name}": part for name, part in before.items()}
    for name in STORED:
        out |= {f"{name}.{part}": words for part, words in squeezed(kept[name]).items()}
    np.savez(path, **out, clock=kept["clock"], dt_s=dt_s, causes=causes)


def answers(options: RunOptions, path: Path) -> tuple[Any, RecordArray, IntArray]:
    """(model, commands, states and causes of the fingers) that the tick of this tree gives, by cycle."""
    with np.load(path) as raw:
        stored = {name: raw[name] for name in raw.files}

    def told(name: str) -> RecordArray:
        words = {key: stored[f"{name}.{key}"] for key in ("first", "at", "words")}
        return unsqueezed(words, DTYPES[name])

    measurements, goals, commands = (told(name) for name in STORED)
    model = read_hand(options).model
    _carry_over(stored["before.model"], model)
    before, block = canned.new_block()
    frame = {name: block["frame"][name] for name in ("state", "command")}
    for name, part in {**frame, **{key: block[key] for key in MEMORIES}}.items():
        _carry_over(stored[f"before.{name}"], part)
    cycles = len(commands)
    ticker = canned.Ticker(
        canned.Canned(
            model=model,
            measurements=measurements,
            goals=goals,
            commands=commands,
            ticks=stored["clock"][:, 0].astype(np.uint64),
            times_ns=np.ascontiguousarray(stored["clock"][:, 1]),
            dt_s=float(stored["dt_s"][0]),
            before=before,
        ),
        slots=cycles,
    )
    ticker.compiled(cycles)
    frames = np.ascontiguousarray(ticker.slots[:, 1:]).view(FRAME).reshape(-1)
    causes = np.stack([frames["state"]["finger_state"], frames["state"]["finger_cause"]], axis=1)
    return model[0], np.ascontiguousarray(frames["command"]), causes


def answer(options: RunOptions, path: Path) -> None:
    """Keep what the tick of this tree commands, to be compared with."""
    _, commands, causes = answers(options, path)
    np.savez(path.with_suffix(".answer.npz"), commands=commands.view(np.uint8), causes=causes)


def replay(options: RunOptions, path: Path) -> Difference:
    """Greatest difference between what was answered, or else recorded, and the commands of this tree."""
    model, given, causes = answers(options, path)
    kept = path.with_suffix(".answer.npz")
    with np.load(kept if kept.exists() else path) as raw:
        if kept.exists():
            wanted = raw["commands"].view(COMMAND)
        else:
            wanted = unsqueezed({key: raw[f"command.{key}"] for key in ("first", "at", "words")}, COMMAND)
        others = int((causes != raw["causes"]).any(axis=(1, 2)).sum())
    return difference(model, wanted, given, others)


def difference(model: Any, wanted: RecordArray, given: RecordArray, other_causes: int) -> Difference:
    """Greatest difference of commands, shape (cycles,), as a share of full scale."""
    motors, axes = int(model["n_motors"]), int(model["n_axes"])
    full_a = model["motor_torque_limit_nm"][:motors] / model["motor_torque_constant_nm_a"][:motors]
    full_rad = (model["axis_max_rad"] - model["axis_min_rad"])[:axes]
    away = [
        np.abs(given[name][:, : len(full)] - wanted[name][:, : len(full)]) / full
        for name, full in (("motor_current_a", full_a), ("axis_angle_rad", full_rad))
    ]
    shares = np.concatenate(away, axis=1).max(axis=1)
    modes = [(given[name] != wanted[name]).any(axis=1) for name in ("motor_mode", "axis_enable")]
    above = np.flatnonzero(~(shares <= BOUND))
    cycle = int(above[0]) if len(above) else int(np.argmax(shares))
    return Difference(float(shares.max()), cycle, int(np.logical_or(*modes).sum()), other_causes)


def chosen(seconds: float, only: str) -> Iterator[tuple[str, RunOptions, str]]:
    """Name, options and file of every run whose name has ``only`` in it."""
    for k, (name, options) in enumerate(runs(seconds)):
        if only in name:
            yield name, options, f"{k:03d}.npz"


def main() -> int:
    """Record, answer or replay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("record", "answer", "replay"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1.2, help="simulated length of every run")
    parser.add_argument("--only", default="", help="runs with this in their name")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    begun, found = time.monotonic(), []
    for name, options, file in chosen(words.seconds, words.only):
        path = words.folder / file
        try:
            if words.what == "record":
                record(options, path)
            elif path.exists() and words.what == "answer":
                answer(options, path)
            elif path.exists():
                found.append((name, replay(options, path)))
        except (WrongChoice, ValueError):  # no such motion or fault for this hand
            continue
        print(f"\r{name}, {time.monotonic() - begun:.0f} s   ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for name, row in sorted(found, key=lambda pair: -pair[1].share):
        if row.too_large or name == found[0][0]:
            print(
                f"{name}: {row.share:.2e} of full scale, cycle {row.cycle}, {row.other_modes} cycles with "
                f"other modes, {row.other_causes} with other causes"
            )
    if words.what == "replay":
        worst = max((row.share for _, row in found), default=float("nan"))
        print(f"{len(found)} runs, greatest difference {worst:.2e} of full scale, bound {BOUND:g}")
    return 1 if not found and words.what == "replay" or any(row.too_large for _, row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
