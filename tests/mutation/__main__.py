"""Mutation testing of guard, envelope, governor, detectors, reactions and state machine.

All mutants are compiled once into one program (schema.py), which takes some minutes; then every mutant runs
those tests that reach it, in a fork, until the first failure (forks.py). What is done is kept (store.py): run
it again after a stop, after new tests or a change of one module, and only what that may change is tried.

    python -m tests.mutation                     all mutants; score and survivors on stdout
    python -m tests.mutation --second            what survived them, against longer tests
    python -m tests.mutation --only guard latch  mutants of these modules of the guard
    python -m tests.mutation --every 10          a sample: every tenth
    python -m tests.mutation --minutes 5         go on for five minutes, then say how far it is
    python -m tests.mutation --number 17 203     these alone, with the output of the tests
    python -m tests.mutation --report            what is known, at once

Exit code 0: every survivor is explained in tests/mutation/explained.json; 1: one is not, or a mutant was not
yet tried; 2: a test fails without any mutant.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import itertools
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GUARD = tuple(sorted(p.stem for p in (ROOT / "guard").glob("*.py") if p.stem != "__init__"))
"""The folder is the list."""
BESIDE = ("controllers.reference",)
"""What the guard trusts: references that keep their pace."""
PLAIN = ("telemetry.command.bounds",)
"""What decides on goals before the controllers see them: not compiled."""
MODULES = (*(f"guard.{name}" for name in GUARD), *BESIDE, *PLAIN)
"""Their order gives the mutants their numbers."""
FIRST = (
    "tests/guard/test_machine.py",
    "tests/guard/test_findings.py",
    "tests/guard/test_detector_limits.py",
    "tests/guard/test_hall_limits.py",
    "tests/guard/test_difference_limits.py",
    "tests/guard/test_reaction_laws.py",
    "tests/guard/test_guard_figures.py",
    "tests/guard/test_motor_only.py",
    "tests/guard/test_least_limits.py",
    "tests/guard/test_detector_memory.py",
    "tests/guard/test_reaction_memory.py",
    "tests/guard/test_guard_bits.py",
    "tests/guard/test_thrown_tendons.py",
    "tests/guard/test_torn_tendons.py",
    "tests/guard/test_urgent.py",
    "tests/guard/test_lookahead.py",
    "tests/guard/test_lookahead_choice.py",
    "tests/controllers/test_reference.py",
    "tests/guard/test_envelope.py",
    "tests/guard/test_envelope_bounds.py",
    "tests/guard/test_envelope_order.py",
    "tests/guard/test_envelope_wrist.py",
    "tests/guard/test_unrest.py",
    "tests/guard/test_gliding_hold.py",
    "tests/guard/test_running_off.py",
    "tests/guard/test_falling.py",
    "tests/guard/test_second_break.py",
    "tests/guard/test_silence.py",
    "tests/estimators/test_belief_limits.py",
    "tests/telemetry/test_bounds.py",
    "tests/guard/test_touch_limits.py",
    "tests/guard/test_shortcuts.py",
    "tests/guard/test_break_steps.py",
    "tests/guard/test_simulated_break.py",
    "tests/guard/test_shared_laws.py",
    "tests/guard/test_servos.py",
    "tests/guard/test_joint_sensor_laws.py",
    "tests/guard/test_quiet_cycles.py",
    "tests/guard/test_spared_work.py",
    "tests/guard/test_anchors.py",
)
"""Laws on records written by hand, milliseconds each, and no controller to compile: most mutants die here."""
SECOND = (
    "tests/guard/test_limits.py",
    "tests/guard/test_reaction.py",
    "tests/guard/test_detectors.py",
    "tests/guard/test_slow_buses.py",
    "tests/safety/test_heat.py",
)
"""Whole ticks with estimator and controller, and minutes of heat, for those that survived."""


def sweep(mutants: list[Any], forks: Any, given: Any, store: Any) -> None:
    """Mutants against their tests, ``given.jobs`` at a time, until ``given.end_s``; outcomes are stored."""
    from tests.mutation.forks import NEWS_S

    left, total = list(mutants), len(mutants)
    running: dict[int, Any] = {}
    hashes = given.hashes
    begun = told = time.monotonic()
    survived = done = 0
    while left or running:
        if time.monotonic() > given.end_s:
            left = []
        while left and len(running) < given.jobs:
            mutant = left.pop(0)
            child, start = forks.begin(mutant, unmet(mutant, forks, given, store))
            running[child] = start
        if not running:
            break
        child, status = os.wait()
        ended = running.pop(child)
        how, node = forks.ended(ended, status)
        done += 1
        if how == "survived":
            survived += 1
            store.survive(ended.mutant.number, [hashes[k] for k in ended.order])
        else:
            store.kill(ended.mutant.number, how, node)
        if (now := time.monotonic()) - told > NEWS_S or done == total:
            told = now
            store.save()
            print(progress(done, total, survived, now - begun), file=sys.stderr, flush=True)
    store.save()


def unmet(mutant: Any, forks: Any, given: Any, store: Any) -> list[int]:
    """Tests of ``given.budget`` seconds that reach a mutant and that it has not met, likely ones first."""
    past = store.past(mutant.number)
    tests = [k for k in forks.reaching(mutant) if given.hashes[k] not in past]
    spent = itertools.accumulate(forks.cost_s[k] for k in tests[:-1])
    return tests[: 1 + sum(s < given.budget for s in spent)]


def progress(done: int, total: int, survived: int, spent_s: float) -> str:
    """One line: share, and how long it will take at the pace so far."""
    each = spent_s / done
    minutes = each * (total - done) / 60.0
    return (
        f"{100.0 * done / total:5.1f} %  {done} of {total} mutants, {survived} survived; "
        f"{each:.2f} s each, {minutes:.1f} min left"
    )


def report(mutants: list[Any], store: Any, explained: dict[str, str]) -> dict[str, Any]:
    """Score and survivors."""
    states, names = {m.number: store.state(m.number) for m in mutants}, store.names
    tried = [m for m in mutants if states[m.number]]
    survivors = [m for m in tried if states[m.number] == "survived"]
    reasons = {m.number: explained.get(names[m.number], "") for m in survivors}
    total, killed, known = len(tried), len(tried) - len(survivors), sum(map(bool, reasons.values()))
    print(f"{total} of {len(mutants)} mutants tried; {killed} killed: {100.0 * killed / max(total, 1):.1f} %")
    print(f"{len(survivors)} survive, {known} of them explained")
    by_module, alive = (Counter(m.module for m in some) for some in (tried, survivors))
    for module, count in by_module.items():
        print(f"  {module:<34} {count:4d} mutants  {alive[module]:3d} survive")
    for m in survivors:
        print(f"  {m.number}, line {m.line}: {names[m.number]}")
        print(f"      {reasons[m.number] or 'NOT EXPLAINED'}")
    for name in sorted(explained.keys() - {names[m.number] for m in survivors}):
        print(f"  explained, but no survivor: {name}")
    return {
        "mutants": len(mutants),
        "tried": total,
        "killed": killed,
        "explained": known,
        "survivors": [vars(m) | {"name": names[m.number], "why": reasons[m.number]} for m in survivors],
    }


def main() -> int:
    """Entry point."""
    ask = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    say = ask.add_argument
    say(
        "--only",
        nargs="+",
        metavar="MODULE",
        default=[*GUARD, *BESIDE, *PLAIN],
        help="mutants of these modules only",
    )
    say("--number", nargs="+", type=int, metavar="N", help="these mutants, again and with all output")
    say("--every", type=int, default=1, metavar="N", help="a sample: every Nth mutant")
    say("--second", action="store_true", help="survivors against the longer tests")
    say("--afresh", action="store_true", help="forget what is known of the mutants asked for")
    say("--report", action="store_true", help="say what is known, try nothing")
    say("--jobs", type=int, default=1, metavar="N", help="mutants at a time (1)")
    say(
        "--budget",
        type=float,
        default=1e9,
        metavar="S",
        help="likely tests only, of S seconds; later runs: the rest",
    )
    say("--minutes", type=float, default=1e9, metavar="M", help="stop after so long; the next run goes on")
    say("--out", type=Path, metavar="FILE", help="the report as JSON")
    given = ask.parse_args()
    os.chdir(ROOT)
    given.end_s = time.monotonic() + 60.0 * given.minutes
    store = Path(tempfile.gettempdir()) / "flexor-mutants"
    store.mkdir(exist_ok=True)
    compiled = hash_of(
        ["signals", "mechanics", "estimators", "guard", "controllers", "tests/mutation/schema.py"]
    )
    order = hashlib.sha256(repr(MODULES).encode()).hexdigest()[:8]  # compiled code holds the numbers
    os.environ["FLEXOR_CACHE_DIR"] = str(store / f"{compiled}-{order}")  # never the true cache
    return session(given, store / "outcomes.json")


def hash_of(places: list[str]) -> str:
    """Hash of sources: files, and folders with all below."""
    digest = hashlib.sha256()
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()[:12]


def chosen(given: Any, mutants: list[Any], forks: Any, store: Any) -> list[Any]:
    """Mutants that are asked for, alive, and have not met all tests."""
    wanted = [m for m in mutants if m.module.removeprefix("guard.") in given.only][:: given.every]
    if given.number:
        wanted = [m for m in mutants if m.number in given.number]
    if given.number or given.afresh:
        for m in wanted:
            store.forget(m.number)
    for m in mutants:
        if how := store.killed(m.number):
            forks.learn(m, how[1])
    found = []
    for m in wanted:
        state = store.state(m.number)
        if state == "killed" or (given.second and state != "survived"):
            continue
        if unmet(m, forks, given, store):
            found.append(m)
        elif not state:
            store.survive(m.number, [])  # nobody gets there
    return found


def session(given: Any, kept: Path) -> int:
    """Compile, check that no test fails without a mutant, sweep."""
    import pytest

    from tests.mutation.schema import Schemata
    from tests.mutation.store import Store, hash_of_test

    schemata = Schemata([*MODULES], ROOT)
    schemata.install()
    for module in schemata.modules:
        importlib.import_module(module)
    from tests.mutation.forks import Forks

    begun = time.monotonic()
    store = Store(kept, schemata.mutants, ROOT)
    if not given.report:
        print(
            "without a mutant: the first run after a change compiles for minutes", file=sys.stderr, flush=True
        )

    def go(forks: Forks) -> None:
        spent = f"{time.monotonic() - begun:.0f} s, {sum(forks.cost_s):.0f} s of them for the tests"
        print(f"compiled and passed in {spent}", file=sys.stderr, flush=True)
        given.hashes = [hash_of_test(i.nodeid, ROOT) for i in forks.items]
        sweep(chosen(given, schemata.mutants, forks, store), forks, given, store)

    forks = Forks(go, schemata.mutants, verbose=bool(given.number))
    if not given.report:
        words = ["-q", "-p", "no:cacheprovider", "--no-header", "--no-summary", "-s"]
        words += [] if given.number else ["--tb=native", "--assert=plain"]
        pytest.main([*words, *(SECOND if given.second else FIRST)], plugins=[forks])
        if forks.failed or not forks.items:
            print("the tests fail without a mutant", forks.failed, sep="\n", file=sys.stderr)
            return 2
    explained = json.loads((Path(__file__).parent / "explained.json").read_text(encoding="utf-8"))
    result = report(schemata.mutants, store, explained)
    slowest = sorted(zip(forks.cost_s, (i.nodeid for i in forks.items), strict=True), reverse=True)[:15]
    result["tests_s"], result["slowest"] = round(sum(forks.cost_s), 1), slowest
    if given.out:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(result["explained"] < len(result["survivors"]) or result["tried"] < result["mutants"])


if __name__ == "__main__":
    sys.exit(main())
