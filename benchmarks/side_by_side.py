"""Lockstep beside real time: one hand, and several in threads beside work that no interpreter can hold up.

A neighbour on the computer takes cores from threads, whatever they do. So each round also hashes bytes in as
many threads, which needs nothing of Python: how far that falls short of linear is the computer's share.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from benchmarks.ratios import median_interval
from hand.options import RunOptions
from runtime.realtime import quiet
from runtime.session import DRAIN, Session

FACTOR_BOUND: Final = 8.0
"""Times real time that one hand with full sensors has to reach on one core."""
LINEAR_BOUND: Final = 0.8
"""Share of linear that hands in threads have to reach, over the share of the hashes."""
LEAD_S: Final = 0.3
_BYTES: Final = bytes(1 << 20)


def _hash(megabytes: int) -> None:
    for _ in range(megabytes):
        hashlib.sha256(_BYTES).digest()


def _seconds(works: list[Callable[[], None]], pool: ThreadPoolExecutor) -> float:
    begun = time.perf_counter()
    for future in [pool.submit(work) for work in works]:
        future.result()
    return time.perf_counter() - begun


def _sessions(options: RunOptions, hands: int) -> list[Session]:
    found = []
    for seed in range(hands):
        lockstep = replace(options, lockstep=True, seconds=1e6, seed=seed)
        found.append(Session(lockstep, buffer=lambda _: None))
        found[-1].run(LEAD_S)
    return found


def _run_on(session: Session, cycles: int) -> Callable[[], None]:
    """As ``Session.run`` goes on, with its audience."""
    reader = session.channel.reader(2 * DRAIN)

    def work() -> None:
        reader.next = int(session.channel.head[0])
        for done in range(0, cycles, DRAIN):
            step = min(DRAIN, cycles - done)
            session.loop.run_lockstep(step, lambda: True, step)
            session.audience.see(reader.read())

    return work


def measure(
    options: RunOptions, rounds: int, cycles: int, hands: int, tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Interleaved rounds of one hand, hands in threads, and hashes in as many threads.

    Args:
        options: hand, motion, sensors.
        rounds: rounds.
        cycles: cycles of every hand in a round.
        hands: hands side by side.
        tell: told the figures of every round.
    """
    sessions = _sessions(options, hands)
    period_s = 1.0 / sessions[0].hand.rate_hz

    works, cores = [_run_on(session, cycles) for session in sessions], len(os.sched_getaffinity(0))
    at_once, size = min(hands, cores), max(cycles // 20, DRAIN)
    factors, cpu, together, hashed = [], [], [], []
    with quiet(), ThreadPoolExecutor(at_once) as pool, ThreadPoolExecutor(1) as one:
        for k in range(rounds):
            spent = time.process_time()
            alone = _seconds(works[:1], one)
            cpu.append(cycles * period_s / (time.process_time() - spent))
            many, hashes = _seconds(works, pool), [lambda: _hash(size)] * at_once
            single = _seconds(hashes[:1], one)
            factors.append(cycles * period_s / alone)
            together.append(hands * alone / many / at_once)
            hashed.append(single / _seconds(hashes, pool))
            tell(
                f"round {k + 1}/{rounds}: {factors[-1]:.2f} times real time; {hands} hands "
                f"{together[-1]:.2f} of linear, hashes {hashed[-1]:.2f}"
            )
    for session in sessions:
        session.close()
    return _judged(factors, cpu, together, hashed) | {"hands": hands, "at_once": at_once}


def _judged(
    factors: list[float], cpu: list[float], together: list[float], hashed: list[float]
) -> dict[str, Any]:
    """Figures with their intervals; a bound is missed where the whole interval lies below it."""
    paired = [mine / theirs for mine, theirs in zip(together, hashed, strict=True)]
    rows = {
        "real_time_factor": (factors, FACTOR_BOUND),
        "real_time_factor_by_cpu_time": (cpu, None),
        "share_of_linear": (together, None),
        "share_of_linear_of_hashes": (hashed, None),
        "share_over_that_of_hashes": (paired, LINEAR_BOUND),
    }
    found: dict[str, Any] = {"missed": []}
    for name, (values, bound) in rows.items():
        median, low, high = median_interval(values)
        span = {"median": round(median, 3), "low": round(low, 3), "high": round(high, 3)}
        found[name] = {**span, "bound": bound}
        if bound is not None and high < bound:
            found["missed"].append(name)
    return found
