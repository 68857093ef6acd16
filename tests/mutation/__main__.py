"""Mutation testing of guard, detectors, reactions and state machine.

    python -m tests.mutation                     all mutants; survivors and score on stdout
    python -m tests.mutation --only guard latch  mutants of these modules of the room controllers
    python -m tests.mutation --every 10          a sample: every tenth
    python -m tests.mutation --number 17 203     these alone, with the output of the tests
    python -m tests.mutation --second            what survived so far against longer tests
    python -m tests.mutation --minutes 5         go on for five minutes, then say how far it is

All mutants are compiled once into one program (``schema.py``); every mutant then runs the tests of the room
in a fork until the first failure (``forks.py``). What is done is kept beside the compiled program, until one
of the sources or tests changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
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
    "tests/controllers/test_detector_limits.py",
    "tests/controllers/test_hall_limits.py",
    "tests/controllers/test_reaction_laws.py",
    "tests/controllers/test_guard_figures.py",
    "tests/controllers/test_reaction.py",
    "tests/controllers/test_limits.py",
)
"""Laws, milliseconds each: most mutants die here."""
SECOND = (
    "tests/controllers/test_detectors.py",
    "tests/controllers/test_slow_buses.py",
    "tests/safety/test_heat.py",
)
"""Whole estimates and minutes of heat, for those that survived."""
Found = dict[int, tuple[str, str]]
"""Number of a mutant -> what became of it, and the test that killed it."""


def sweep(mutants: list[Any], forks: Any, given: Any, found: Found, keep: Callable[[], None]) -> None:
    """Outcomes of mutants into ``found``, ``given.jobs`` at a time, until ``given.end_s``."""
    left = list(mutants)
    running: dict[int, tuple[Any, int]] = {}
    begun = time.monotonic()
    while left or running:
        if time.monotonic() > given.end_s:
            left = []
        while left and len(running) < given.jobs:
            child, pipe = forks.begin(left[0])
            running[child] = (left.pop(0), pipe)
        if not running:
            break
        child, status = os.wait()
        mutant, pipe = running.pop(child)
        found[mutant.number] = forks.ended(mutant, status, pipe)
        if len(found) % 20 == 0:
            keep()
            survivors = sum(o == "survived" for o, _ in found.values())
            spent = time.monotonic() - begun
            print(f"{len(found)} done, {survivors} survive, {spent:.0f} s", file=sys.stderr, flush=True)
    keep()


def report(mutants: list[Any], found: Found, explained: dict[str, str]) -> dict[str, Any]:
    """Score and survivors."""
    survivors = [m for m in mutants if found.get(m.number, ("", ""))[0] == "survived"]
    known = [m for m in survivors if key_of(m) in explained]
    total = len(found)
    print(f"{total} of {len(mutants)} mutants tried")
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
        "how": dict(Counter(how for how, _ in found.values())),
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
    ask.add_argument("--every", type=int, default=1)
    ask.add_argument("--second", action="store_true")
    ask.add_argument("--jobs", type=int, default=1)
    ask.add_argument("--minutes", type=float, default=1e9)
    ask.add_argument("--out", type=Path)
    given = ask.parse_args()
    os.chdir(ROOT)
    given.end_s = time.monotonic() + 60.0 * given.minutes
    compiled = hash_of(["signals", "mechanics", "estimators", "controllers", "tests/mutation/schema.py"])
    store = Path(tempfile.gettempdir()) / "flexor-mutants"
    os.environ["FLEXOR_CACHE_DIR"] = str(store / compiled)  # mutants never get into the true cache
    store.mkdir(exist_ok=True)
    tests = hash_of(
        ["tests/mutation/forks.py", "tests/controllers/bare.py", "tests/controllers/desk.py", *FIRST, *SECOND]
    )
    return session(given, store / f"{compiled}-{tests}.json")


def hash_of(places: list[str]) -> str:
    """Hash of sources: files, and folders with all below."""
    digest = hashlib.sha256()
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()[:12]


def session(given: Any, kept: Path) -> int:
    """Compile, check that no test fails without a mutant, sweep."""
    import pytest

    from tests.mutation.schema import Schemata

    schemata = Schemata([f"controllers.{name}" for name in ROOMS], ROOT)
    schemata.install()
    import controllers.guard  # noqa: F401  # imports every other one
    from tests.mutation.forks import Forks

    begun = time.monotonic()
    found: Found = {}
    if kept.exists() and not given.number:
        found = {int(k): (v[0], v[1]) for k, v in json.loads(kept.read_text()).items()}

    def keep() -> None:
        if not given.number:
            new = kept.with_suffix(".new")
            new.write_text(json.dumps(found))
            new.replace(kept)

    def go(forks: Forks) -> None:
        spent = f"{time.monotonic() - begun:.0f} s, {sum(forks.cost_s):.0f} s of them for the tests"
        print(f"compiled and passed in {spent}", file=sys.stderr, flush=True)
        wanted = [m for m in schemata.mutants if m.module.removeprefix("controllers.") in given.only]
        wanted = wanted[:: given.every]
        if given.number:
            wanted = [m for m in schemata.mutants if m.number in given.number]
        left = [m for m in wanted if m.number not in found]
        if given.second:
            left = [m for m in wanted if found.get(m.number, ("", ""))[0] == "survived"]
        sweep(left, forks, given, found, keep)

    forks = Forks(go, verbose=bool(given.number))
    words = ["-q", "-p", "no:cacheprovider", "--no-header", "--no-summary", "-s"]
    pytest.main([*words, *(SECOND if given.second else FIRST)], plugins=[forks])
    if forks.failed or not forks.items:
        print("the tests fail without a mutant", forks.failed, sep="\n", file=sys.stderr)
        return 2
    explained = json.loads((Path(__file__).parent / "explained.json").read_text(encoding="utf-8"))
    result = report(schemata.mutants, found, explained)
    slowest = sorted(zip(forks.cost_s, (i.nodeid for i in forks.items), strict=True), reverse=True)[:5]
    result["tests_s"], result["slowest"] = round(sum(forks.cost_s), 1), slowest
    if given.out:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(not s["why"] for s in result["survivors"]))


if __name__ == "__main__":
    sys.exit(main())
