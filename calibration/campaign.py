"""How often do true values lie in the stated intervals? Many drawn hands, identified from assumed files.

``python -m calibration.campaign --hands 20 --out DIR`` draws simulated hands: all that ``--mismatch`` draws,
and levers, Hall zeros and joint friction besides. Each gets a file with 30 % too little friction and no
ripple. Drives, levers, lever arms and guides are measured one after the other, each with what was found
before. By
parameter it prints in how many cases the true value lay in the stated 95 % interval, how wide the intervals
are, and how much wider than independent noise alone would make them (Cramer-Rao). All of it goes to
``parts.parquet`` and ``courses.parquet``. Each hand is kept as it ends (``hand_SEED.npz``), so a campaign
that was stopped goes on by the same command, and several may share a folder. ``--hand hasy --steps wrist``
draws zeros of a wrist's sensors and measures these alone.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import tomlkit

from calibration.eligible import WRIST
from calibration.found import Found
from calibration.geometry import found_geometry
from calibration.guides import found_guides
from calibration.identify import identified
from calibration.levers import LEVERS, found_levers
from calibration.part import Part
from calibration.patching import merged
from calibration.truths import truth
from calibration.wrist import found_wrist
from hand.assembly.mismatch import draw_axis_zeros_rad, draw_mismatch
from hand.file.loader import load_hand
from hand.hand import Hand
from hand.options import RunOptions
from reports.parquet import Table
from runtime.setup import read_hand

GEOMETRY: Final = "geometry"
STEPS: Final = ("drives", "levers", GEOMETRY, "guides")
"""What is measured of each hand, in this order, where nothing else is said."""
ORIGIN: Final = "identified: 2026-01-01 campaign"
SHARE: Final = 0.7
"""Of the true file's friction that the assumed file has."""


ZERO_COUNTS: Final = 40.0
"""Greatest error of a Hall sensor's zero."""
ZERO_DEG: Final = 1.0
"""Standard deviation of the zero of a wrist's sensor."""


@dataclass(frozen=True, slots=True)
class Case:
    """One parameter of one drawn hand; ``bound`` is the half width by independent noise alone."""

    seed: int
    name: str
    parameter: str
    true: float
    value: float
    half: float
    noise: float
    bound: float
    unit: str
    verdict: str

    @property
    def held(self) -> bool:
        """The true value lies in the interval; of a phase, around the circle."""
        away = self.value - self.true
        if self.unit == "deg" and self.parameter.startswith("ripple."):
            away = (away + 180.0) % 360.0 - 180.0
        return abs(away) <= self.half


@dataclass(frozen=True, slots=True)
class HandRun:
    """What a drawn hand gave: cases, courses of its levers, simulated time [s], wall time [s]."""

    cases: list[Case]
    courses: dict[str, Table]
    simulated_s: float
    seconds: float

    def keep(self, path: Path) -> None:
        """Write everything into a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.npz")
        facts = json.dumps(asdict(self) | {"courses": None})
        arrays: dict[str, Any] = {
            f"{name}/{key}": values for name, table in self.courses.items() for key, values in table.items()
        }
        np.savez_compressed(part, facts=np.array(facts), **arrays)
        part.replace(path)

    @classmethod
    def kept(cls, path: Path) -> HandRun:
        """What ``keep`` wrote."""
        courses: dict[str, Table] = {}
        with np.load(path) as file:
            facts = json.loads(str(file["facts"]))
            for each in set(file.files) - {"facts"}:
                name, _, key = each.partition("/")
                courses.setdefault(name, {})[key] = file[each]
        cases = [Case(**case) for case in facts["cases"]]
        return cls(cases, courses, facts["simulated_s"], facts["seconds"])


def true_file(text: str, seed: int) -> str:
    """A hand file with drawn levers, Hall zeros and joint friction, and with a spread of a wrist's zeros."""
    document, rng = tomlkit.parse(text), np.random.default_rng(seed)
    tables: dict[str, Any] = {}
    for tendon in document["tendons"]:
        tables[tendon["name"]] = {
            "hall_zero_count": float(2048.0 + rng.uniform(-ZERO_COUNTS, ZERO_COUNTS)),
            "relative_half_width_frac": float(rng.uniform(0.06, 0.15)),
            "presliding_lever_deg": float(rng.uniform(0.2, 0.4)),
            "origin": "assumed: drawn",
        }
    for finger in document["fingers"].values():
        for joint in finger["joints"]:
            coulomb = float(joint["coulomb_nm"]) * float(rng.uniform(0.5, 1.5))
            tables[joint["name"]] = {"coulomb_nm": coulomb, "origin": "assumed: drawn"}
    document["identified"] = tables
    if "wrist" in document:
        document["tolerances"]["wrist_zero_deg"] = ZERO_DEG
    return tomlkit.dumps(document)


def assumed_file(text: str) -> str:
    """The same with too little friction and no ripple."""
    document = tomlkit.parse(text)
    for key in ("gamma_2_nm", "gamma_3_nms_rad"):
        document["friction"][key] = SHARE * float(document["friction"][key])
    for row in document["ripple"]:
        row["amplitude_nm"] = 0.0
    return tomlkit.dumps(document)


def run_hand(name: str, seed: int, folder: Path, steps: Sequence[str] = STEPS) -> HandRun:
    """Draw a hand, measure it from an assumed file; its plant and files go to a folder."""
    text = Path(load_hand(name).path).read_text(encoding="utf-8")
    plant_path, mine = folder / "plant.toml", folder / "mine.toml"
    options = RunOptions(hand=str(mine), plant=str(plant_path), mismatch=seed, seed=seed, lockstep=True)
    file, begun = assumed_file(text), time.monotonic()
    cases, courses, simulated = list[Case](), dict[str, Table](), 0.0
    plant_path.write_text(true_file(text, seed), encoding="utf-8")
    other = read_hand(RunOptions(hand=str(plant_path)))
    plant = draw_mismatch(other.model, seed, other.file.tolerances)[0]
    zeros = draw_axis_zeros_rad(other.file.axis_zeros_rad, seed, other.file.tolerances)
    for step in steps:
        mine.write_text(file, encoding="utf-8")
        hand = read_hand(options)
        found = PROCEDURES[step](hand, options)
        true = partial(truth, hand, plant, axis_zeros_rad=zeros)
        made = [_case(hand, plant, seed, part, found, step, true(part)) for part in found.parts]
        cases += [case for case in made if case is not None]
        courses = found.raw if step == "levers" else courses
        file, simulated = merged(file, found.patch(ORIGIN))[0], simulated + found.seconds
    return HandRun(cases, courses, simulated, time.monotonic() - begun)


def _drives(hand: Hand, options: RunOptions) -> Found:
    return identified("drives", hand, options, list(range(len(hand.names.motors))), lambda _: None)


def _levers(hand: Hand, options: RunOptions) -> Found:
    return found_levers(LEVERS, hand, options, list(range(len(hand.names.tendons))), lambda _: None)


def _geometry(hand: Hand, options: RunOptions) -> Found:
    return found_geometry(hand, options, list(range(len(hand.names.tendons))), lambda _: None)


def _guides(hand: Hand, options: RunOptions) -> Found:
    return found_guides(hand, options, list(range(len(hand.names.tendons))), lambda _: None)


def _wrist(hand: Hand, options: RunOptions) -> Found:
    return found_wrist(hand, options, list(range(len(hand.names.tendons))), lambda _: None)


PROCEDURES: Final[dict[str, Callable[[Hand, RunOptions], Found]]] = {
    "drives": _drives, "levers": _levers, GEOMETRY: _geometry, "guides": _guides, WRIST: _wrist,
}  # fmt: skip


def _case(
    hand: Hand, plant: np.void, seed: int, part: Part, found: Found, step: str, true: float
) -> Case | None:
    key = part.parameter
    if step == GEOMETRY and key == "spring_scale":  # no longer in the motor's unit
        true, key = float(plant[key][hand.names.tendons.index(part.name)]), "spring_scale absolute"
    if not (math.isfinite(true) and math.isfinite(part.value)):
        return None
    widths = found.widths.get((part.name, part.parameter), (math.nan, math.nan))
    half = abs(part.high - part.value)
    return Case(seed, part.name, key, true, part.value, half, *widths, part.unit, part.verdict)


LINE: Final = "{:26} {:>9} {:>7} {:>9} {:>10} {:>12} {:>11}"


def table(cases: list[Case]) -> list[str]:
    """Lines by parameter: cases, share held, median width, and medians of it over the bound."""
    heads = ("parameter", "held", "", "good", "half/value", "noise/bound", "half/bound")
    lines = [LINE.format(*heads)]
    for parameter in dict.fromkeys(_kind(case) for case in cases):
        mine = [case for case in cases if _kind(case) == parameter]
        held, good = sum(case.held for case in mine), sum(case.verdict == "good" for case in mine)
        width = float(np.median([case.half / max(abs(case.value), 1e-12) for case in mine]))
        noise = [case.noise / case.bound for case in mine if case.bound > 0.0]
        over = [case.half / case.bound for case in mine if case.bound > 0.0]
        bounds = (f"{np.median(noise):.2f}", f"{np.median(over):.2f}") if noise else ("-", "-")
        shares = (f"{100 * held / len(mine):.1f} %", f"{good}/{len(mine)}", f"{100 * width:.1f} %")
        lines.append(LINE.format(parameter, f"{held}/{len(mine)}", *shares, *bounds))
    return lines


def _kind(case: Case) -> str:
    first, _, last = case.parameter.rpartition(".")
    return f"ripple {last}" if first.startswith("ripple") else first or last


def save(folder: Path, runs: dict[int, HandRun]) -> None:
    """All cases and the courses of levers and guides as Parquet (extra ``parquet``)."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for run in runs.values() for case in run.cases]
    keys = Case.__dataclass_fields__
    parts = {key: [getattr(case, key) for case in cases] for key in keys}
    parquet.write_table(pa.table(parts), folder / "parts.parquet")
    columns: dict[str, list[Any]] = {}
    for seed, run in runs.items():
        for tendon, course in run.courses.items():
            n = len(course["time_s"])
            for key, values in {"seed": np.full(n, seed), "tendon": np.full(n, tendon), **course}.items():
                columns.setdefault(key, []).append(values)
    courses = {key: np.concatenate(each) for key, each in columns.items()}
    parquet.write_table(pa.table(courses), folder / "courses.parquet")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hand", default="finger_bench")
    parser.add_argument("--hands", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", nargs="+", choices=tuple(PROCEDURES), default=STEPS)
    chosen, runs = parser.parse_args(), dict[int, HandRun]()
    for seed in range(chosen.first, chosen.first + chosen.hands):
        kept = chosen.out / f"hand_{seed}.npz"
        if not kept.exists():
            with tempfile.TemporaryDirectory() as folder:
                run_hand(chosen.hand, seed, Path(folder), chosen.steps).keep(kept)
        runs[seed] = HandRun.kept(kept)
        print(
            f"hand {seed}: {runs[seed].simulated_s:.0f} s of motion in {runs[seed].seconds:.0f} s", flush=True
        )
    save(chosen.out, runs)
    print("\n".join(table([case for run in runs.values() for case in run.cases])))
    simulated, wall = (sum(getattr(run, key) for run in runs.values()) for key in ("simulated_s", "seconds"))
    print(f"{len(runs)} hands, {simulated / 60.0:.1f} min of motion in {wall / 60.0:.1f} min")


if __name__ == "__main__":
    main()
