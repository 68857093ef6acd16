"""Drawn hands before and after they were commissioned: ``benchmarks/after_commissioning.py HAND MOTION ...``.

Each hand is drawn from the tolerances of its file; its sensors have their noise. Before: the controller has
the file. After: it has the file with what ``flexor commission`` measured on this very hand. One JSON object
per hand and motion: tracking [deg rms], true tension error [N rms], faults; then the means, and how many
hands got worse. With ``--out FILE`` what is done is kept there, and the same command goes on. A hand that
could not be commissioned is told on stderr; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hand.overrides import load_with

FIGURES = {"tracking_deg": ("tracking_error_deg", "rms"), "true_n": ("force_error_n", "true_rms")}


def flexor(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    """Output of a command.

    Raises:
        RuntimeError: it ended with another code.
    """
    program = [sys.executable, "-c", "from tools.cli import main; main()", *map(str, words)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"flexor {' '.join(program[3:])}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def run(hand: str, motion: str, *words: object) -> dict[str, Any]:
    """Figures of one run."""
    text = flexor("run", hand, "--motion", motion, "--lockstep", "--for", 4, "--json", *words, codes=(0, 3))
    report = json.loads(text)
    figures = {name: report[table][kind] for name, (table, kind) in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None} | {
        "faults": len(report["faults"])
    }


def one(hand: str, motions: list[str], seed: int) -> list[dict[str, Any]]:
    """A drawn hand, before and after."""
    drawn = ("--mismatch", seed, "--seed", seed)
    with tempfile.TemporaryDirectory() as name:
        folder, mine = Path(name, "commission"), Path(name, f"{hand}.toml")
        text = flexor("commission", hand, "--lockstep", "--json", *drawn, "--out", folder, codes=(0, 1))
        open_parts = sum(part["verdict"] != "good" for part in json.loads(text)["parts"])
        mine.write_text(load_with(hand, ())[1], encoding="utf-8")
        flexor("apply", folder, "--to", mine)
        return [
            {"hand": hand, "motion": motion, "seed": seed, "open_parts": open_parts}
            | {"before": run(hand, motion, *drawn)}
            | {"after": run(str(mine), motion, "--plant", hand, *drawn)}
            for motion in motions
        ]


def told(rows: list[dict[str, Any]], hand: str, motion: str) -> dict[str, Any]:
    """Means of a motion over all its hands."""
    mine = [row for row in rows if row["hand"] == hand and row["motion"] == motion]
    found: dict[str, Any] = {"hand": hand, "motion": motion, "hands": len(mine)}
    for name in mine[0]["after"]:
        before, after = ([row[when][name] for row in mine] for when in ("before", "after"))
        found[name] = {
            "before": sum(before) / len(mine),
            "after": sum(after) / len(mine),
            "worst_after": max(after),
            "worse": sum(a > b for a, b in zip(after, before, strict=True)),
        }
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("hand")
    parser.add_argument("motion", nargs="+")
    parser.add_argument("--hands", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    kept = words.out.read_text(encoding="utf-8") if words.out and words.out.exists() else ""
    # a hand's lines are written at once; one that was cut off is made again
    rows = [json.loads(line) for line in kept.splitlines(keepends=True) if line.endswith("}\n")]
    done = {(row["hand"], row["motion"], row["seed"]) for row in rows}
    asked = range(1, words.hands + 1)
    seeds = [s for s in asked if not all((words.hand, motion, s) in done for motion in words.motion)]
    failed = 0

    def tried(seed: int) -> list[dict[str, Any]]:
        try:
            return one(words.hand, words.motion, seed)
        except RuntimeError as reason:  # the other hands go on
            print(f"hand {seed}: {reason}", file=sys.stderr, flush=True)
            return []

    with ThreadPoolExecutor(words.processes) as pool:
        for found in pool.map(tried, seeds):
            failed += not found
            found = [row for row in found if (row["hand"], row["motion"], row["seed"]) not in done]
            rows += found
            lines = "".join(json.dumps(row) + "\n" for row in found)
            print(lines, end="", flush=True)
            if words.out:
                with words.out.open("a", encoding="utf-8") as file:
                    file.write(lines if kept.endswith("\n") or not kept else f"\n{lines}")
                kept = lines
    for motion in words.motion if rows else ():
        print(json.dumps(told(rows, words.hand, motion)))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
