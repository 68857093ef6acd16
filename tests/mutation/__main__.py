"""Mutation testing of guard, detectors, reactions and state machine.

    python -m tests.mutation                     all mutants; survivors and score on stdout
    python -m tests.mutation --only guard latch  mutants of these modules of the room controllers
    python -m tests.mutation --number 17 203     these alone, with the output of the tests

All mutants are compiled once into one program (``schema.py``); every mutant then runs the tests of the room
in a forked child until the first failure. It takes about an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "latch",
    "channel_checks",
    "tension_checks",
    "hall_checks",
    "motor_checks",
    "friction_checks",
    "joint_checks",
    "residual_checks",
    "winding",
    "detectors",
    "hold",
    "limits",
    "probe",
    "reaction",
    "machine",
    "guard",
)
FIRST = (
    "tests/controllers/test_machine.py",
    "tests/controllers/test_detectors.py",
    "tests/controllers/test_reaction.py",
    "tests/controllers/test_limits.py",
    "tests/controllers/test_laws.py",
    "tests/controllers/test_guard_figures.py",
)
SECOND = (
    "tests/safety/test_every_fault.py",
    "tests/safety/test_heat.py",
    "tests/safety/test_numbers_that_are_none.py",
)
TIMEOUT_S = 120


def run_tests(files: tuple[str, ...], quiet: bool) -> int:
    """Exit code of pytest in this process."""
    import pytest

    if quiet:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
    present = [f for f in files if (ROOT / f).exists()]
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *present]))


def in_child(number: int, files: tuple[str, ...], quiet: bool = True) -> int:
    """Start the tests with a mutant in force in a child; its process number."""
    from tests.mutation.schema import CELL

    child = os.fork()
    if child:
        return child
    CELL[0] = number
    if number:
        signal.alarm(TIMEOUT_S)  # the one without a change compiles
    code = 1
    try:
        code = run_tests(files, quiet)
    finally:
        os._exit(min(code, 100))


def outcome(status: int) -> str:
    """What an ended child says of its mutant."""
    if os.WIFSIGNALED(status):
        return "killed (hung)" if os.WTERMSIG(status) == signal.SIGALRM else "killed (crashed)"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def sweep(numbers: list[int], files: tuple[str, ...], jobs: int) -> dict[int, str]:
    """Outcome of every mutant, ``jobs`` at a time."""
    left, running, found = list(numbers), {}, {}
    begun = time.monotonic()
    while left or running:
        while left and len(running) < jobs:
            number = left.pop(0)
            running[in_child(number, files)] = number
        child, status = os.wait()
        number = running.pop(child)
        found[number] = outcome(status)
        if sys.stderr.isatty() or len(found) % 50 == 0:
            survivors = sum(o == "survived" for o in found.values())
            spent = time.monotonic() - begun
            print(f"{len(found)}/{len(numbers)}  {survivors} survive  {spent:.0f} s", file=sys.stderr)
    return found


def report(mutants: list[Any], found: dict[int, str], explained: dict[str, str]) -> dict[str, Any]:
    """Score and survivors."""
    survivors = [m for m in mutants if found.get(m.number) == "survived"]
    known = [m for m in survivors if key_of(m) in explained]
    total = len(found)
    print(f"{total} mutants: {total - len(survivors)} killed, {len(known)} survivors explained, ", end="")
    print(
        f"{len(survivors) - len(known)} not; killed {100.0 * (total - len(survivors)) / max(total, 1):.1f} %"
    )
    by_module = Counter(m.module for m in mutants if m.number in found)
    alive = Counter(m.module for m in survivors)
    for module, count in by_module.items():
        print(f"  {module:<34} {count:4d} mutants  {alive[module]:3d} survive")
    for m in survivors:
        change = f"{m.what}: {m.before} -> {m.after or '(nothing)'}"
        print(f"  {m.number}: {m.module}:{m.line} {m.function}: {change}  {explained.get(key_of(m), '')}")
    return {
        "mutants": total,
        "killed": total - len(survivors),
        "survivors": [vars(m) | {"why": explained.get(key_of(m), "")} for m in survivors],
    }


def key_of(m: Any) -> str:
    """Name of a mutant that survives a change of lines elsewhere."""
    return f"{m.module.removeprefix('controllers.')}.{m.function}: {m.before} -> {m.after or '(nothing)'}"


def main() -> int:
    """Entry point."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--only", nargs="*", default=list(ROOMS))
    ask.add_argument("--number", nargs="*", type=int)
    ask.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    ask.add_argument("--out", type=Path)
    ask.add_argument("--first-only", action="store_true", help="without the whole trials of the second stage")
    given = ask.parse_args()
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLEXOR_CACHE_DIR"] = cache  # never mix mutants into the true cache
        return session(given)


def session(given: Any) -> int:
    """Compile, check that no mutant is green, sweep."""
    from tests.mutation.schema import Schemata

    schemata = Schemata([f"controllers.{name}" for name in ROOMS], ROOT)
    schemata.install()
    import controllers.guard  # noqa: F401  # imports every other one

    begun = time.monotonic()
    files = FIRST + (() if given.first_only else SECOND)
    child = in_child(0, files, quiet=False)
    if outcome(os.waitpid(child, 0)[1]) != "survived":
        print("the tests fail without a mutant", file=sys.stderr)
        return 2
    warm()
    print(f"compiled in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    if given.number:
        for number in given.number:
            print(next(m for m in schemata.mutants if m.number == number))
            print(outcome(os.waitpid(in_child(number, files, quiet=False), 0)[1]))
        return 0
    wanted = [m.number for m in schemata.mutants if m.module.removeprefix("controllers.") in given.only]
    found = sweep(wanted, FIRST, given.jobs)
    survivors = [n for n, o in found.items() if o == "survived"]
    if not given.first_only:
        found |= sweep(survivors, SECOND, given.jobs)
    explained = json.loads((Path(__file__).parent / "explained.json").read_text(encoding="utf-8"))
    result = report(schemata.mutants, found, explained)
    if given.out:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(not s["why"] for s in result["survivors"]))


def warm() -> None:
    """Load what the first child compiled, so that every later one inherits it."""
    from tests.controllers.desk import Desk

    desk = Desk("finger_bench")
    desk.to_active()
    desk.cycle(3)


if __name__ == "__main__":
    sys.exit(main())
