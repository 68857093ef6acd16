"""A disturbance of the joint loop dies away: a push on a fingertip, and stalls of the loop in mid-motion.

What feeds on itself shows in the tensions: they climb from 20 N to their limit while the cause is long over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hand.options import RunOptions
from reports.faults import FaultWatch
from runtime.loop import Loop
from runtime.session import Session
from runtime.setup import build, prepare, read_hand
from signals.records import RecordArray
from telemetry.shm.channel import Channel

RATE_HZ = 3000.0
CALM_N = 2.0
"""How far above those of the undisturbed motion the greatest tension may be once a disturbance is over."""
MOTIONS = RunOptions(hand="hasy", motion="open_close", lockstep=True, seconds=6.0)


class Greatest:
    """The greatest tension [N] of the frames since it was last asked."""

    def __init__(self) -> None:
        self._greatest = 0.0
        self.run = Session(MOTIONS, buffer=lambda _hand: None, record=self._add)

    def _add(self, frames: RecordArray) -> None:
        if len(frames):
            self._greatest = max(self._greatest, float(frames["state"]["tension_n"].max()))

    def over(self, seconds: float) -> float:
        """Greatest tension [N] of the next ``seconds``."""
        self._greatest = 0.0
        self.run.run(seconds)
        return self._greatest


@pytest.mark.parametrize("push_n", [(0.0, 0.0, -5.0), (5.0, 0.0, 0.0)])
def test_a_push_on_a_fingertip_is_over_when_it_is_over(push_n):
    calm, pushed = Greatest(), Greatest()
    calm.over(3.2 + 0.03 + 0.4)
    pushed.over(3.2)
    bus: Any = pushed.run.rig.bus
    bus.apply_wrench(1, push_n)
    assert pushed.over(0.03) > 23.0  # it was felt
    bus.apply_wrench(1, (0.0, 0.0, 0.0))
    pushed.over(0.4)
    assert pushed.over(0.6) <= calm.over(0.6) + CALM_N
    assert not pushed.run.audience.faults.all


def stalls(seed: int, share: float, median_s: float, cycles: int) -> Any:
    """Durations [s] of the cycles' own work, shape (cycles,): a few stand still, log-normally long."""
    random = np.random.default_rng(seed)
    work = np.full(cycles, 0.2 / RATE_HZ)
    hit = random.random(cycles) < share
    work[hit] = np.minimum(median_s * np.exp(1.2 * random.standard_normal(int(hit.sum()))), 0.4)
    work[: round(1.5 * RATE_HZ)] = 0.2 / RATE_HZ
    return work


@pytest.mark.sample(1)
@pytest.mark.parametrize(("seed", "share", "median_s"), [(1, 0.003, 0.005), (1, 0.01, 0.003)])
def test_stalls_of_the_loop_are_no_fault_and_do_not_add_up(seed, share, median_s):
    options = RunOptions(hand="hasy", motion="open_close", seconds=10.0)
    hand = read_hand(options)
    rig = build(options, hand, Channel.local(8, round(RATE_HZ)))
    watch, now = FaultWatch(hand.names), [10**9]
    state, n = rig.views["state"], int(hand.model["n_tendons"][0])
    work = stalls(seed, share, median_s, 18_000)
    greatest, longest, found = 0.0, 0.0, []

    def wait(deadline: int, _spin: int, _timespec: Any) -> int:
        now[0] = max(now[0], deadline) + 8000
        return now[0]

    def tick(cycle: int, deadline: int, woke: int, dt_s: float, missed: int, late: int) -> int:
        nonlocal greatest, longest
        overruns = rig.pipeline.tick(cycle, deadline, woke, dt_s, missed, late)
        found.extend(watch.look(rig.pipeline.frame))
        greatest = max(greatest, float(state["tension_n"][0, :n].max()))
        longest = max(longest, dt_s)
        now[0] += round(1e9 * work[cycle])
        return overruns

    prepare(rig, now[0])
    loop = Loop(tick, RATE_HZ, clock=lambda: now[0], wait=wait)
    loop.run(18_000, lambda: not found)
    assert longest > 0.02  # longer than the drives' watchdogs: the motors were let go and caught again
    assert not found, [fault.text for fault in found]
    assert greatest < 60.0
