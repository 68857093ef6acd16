"""For all tests: one Hypothesis profile, free ports, and fair chances for tests with real clocks."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

import tools as tools  # before numpy loads: small matrices get no threads
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from telemetry.shm.segment import FOLDER, Segment
from tests.rigs.runs import Run, blocks
from tests.rigs.witness import Notes, Witness

# No deadline (a first call compiles), few but repeatable examples.
for _name, _examples in (("flexor", 60), ("flexor-quick", 10)):
    settings.register_profile(
        _name,
        deadline=None,
        max_examples=_examples,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile("flexor")

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="flexor-state-")
"""Faults of tested runs write their snapshots there."""
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
ROOT = Path(__file__).parent
REAL_CLOCKS = ("contracts", "emulators", "realtime", "runtime/test_processes.py")
"""Folders and files whose tests start processes or devices with real clocks."""
TRIES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--quick``: what ``./dev test`` runs; without it every test runs whole."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="no tests marked long, fixed samples of families, a sixth of the examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples of each property in a quick run; a worker reads what its run's witness notes."""
    if "witness" in (given := getattr(config, "workerinput", {})):
        config.stash[WITNESS] = Notes(given["witness"])
    if config.getoption("quick"):
        settings.load_profile("flexor-quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run of the tests with real clocks, or of the others, imports no file that has none of them."""
    if collection_path.suffix != ".py":
        return None
    has_clocks = collection_path.relative_to(ROOT).as_posix().startswith(REAL_CLOCKS)
    if config.option.markexpr == "not realtime":
        return has_clocks or None
    if config.option.markexpr == "realtime" and not has_clocks:
        return "pytest.mark.realtime" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests with real clocks are marked; a quick run leaves out what is long."""
    for item in items:
        if item.path.relative_to(ROOT).as_posix().startswith(REAL_CLOCKS):
            item.add_marker("realtime")
    if config.getoption("quick"):
        stays = in_quick_run(items)
        config.hook.pytest_deselected(items=[item for item, one in zip(items, stays, strict=True) if not one])
        items[:] = [item for item, one in zip(items, stays, strict=True) if one]


def in_quick_run(items: Sequence[pytest.Item]) -> list[bool]:
    """For each test whether a quick run has it: of a family marked ``sample(n)`` the same n every time."""
    families: dict[str, list[int]] = {}
    stays = [item.get_closest_marker("long") is None for item in items]
    for k, item in enumerate(items):
        if stays[k] and item.get_closest_marker("sample") is not None:
            families.setdefault(item.nodeid.partition("[")[0], []).append(k)
    for name, members in families.items():
        mark = items[members[0]].get_closest_marker("sample")
        assert mark is not None
        chosen = Random(name).sample(members, min(mark.args[0], len(members)))
        for k in set(members) - set(chosen):
            stays[k] = False
    return stays


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A real-time test that fails while the machine itself stood still is void and tried again.

    Only a stall that the witness saw during the test voids it; the last try counts in any case.
    """
    if item.get_closest_marker("realtime") is None:
        return None
    witness = _witness(item.config)
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for k in range(TRIES):
        begun_ns = time.monotonic_ns()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        stall_ms = witness.longest_ms(begun_ns)
        if stall_ms == 0.0 or k == TRIES - 1 or not any(r.failed for r in reports):
            break
        print(f"\n{item.name} is void: the machine stood still for {stall_ms:.0f} ms", file=sys.stderr)
        item._initrequest()  # type: ignore[attr-defined]  # fresh fixtures
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


WITNESS = pytest.StashKey[Notes]()


def _witness(config: pytest.Config) -> Notes:
    if WITNESS not in config.stash:
        config.stash[WITNESS] = made = Witness()
        config.add_cleanup(made.close)
    return config.stash[WITNESS]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """One witness for all workers: each takes a twentieth of a core."""
    if node.config.option.markexpr != "not realtime":
        node.workerinput["witness"] = _witness(node.config).folder


@pytest.fixture(scope="session")
def quick(request: pytest.FixtureRequest) -> bool:
    """True where a fixed sample is enough: a quick run."""
    return bool(request.config.getoption("quick"))


@pytest.fixture
def port_base() -> int:
    """Two neighbouring free ports; other test processes begin their search elsewhere."""
    for k in range(2000):
        base = 20_000 + (os.getpid() * 614 + 2 * k) % 12_000
        try:
            for port in (base, base + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no free ports")


@pytest.fixture(scope="session")
def finger() -> Hand:
    """The one-finger bench, read once; tests copy its model before they change it."""
    return read_hand(RunOptions(hand="finger_bench"))


@pytest.fixture
def segment() -> Iterator[Segment]:
    """A block of shared memory with a small ring."""
    made = Segment.create(rate_hz=100.0)
    try:
        yield made
    finally:
        made.unlink()


@pytest.fixture
def start(port_base: int) -> Iterator[Callable[..., Run]]:
    """Starts runs and kills what a failed test left over."""
    runs: list[Run] = []

    def begin(*words: str, **more: Any) -> Run:
        runs.append(Run(port_base, *words, **more))
        return runs[-1]

    yield begin
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()
        for block in blocks(run.pid):
            (FOLDER / block).unlink(missing_ok=True)
