"""One stalled cycle in mid-motion (field report B01): no catching up, no spike, no fault, back on the path.

The whole pipeline on the simulated hand in its real-time mode; only the clock is replaced, so that the stall
is exactly as long as it is meant to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hand.options import RunOptions
from runtime.loop import Loop
from runtime.setup import build, prepare, read_hand
from signals.modes import MachineState
from telemetry.shm.channel import Channel

RATE_HZ = 3000.0
PERIOD_NS = 1e9 / RATE_HZ
CYCLES = 4200
STALL_AT = 3000
AFTER = slice(STALL_AT, STALL_AT + 1000)


@dataclass
class Trace:
    """What one run did, by cycle."""

    dt_s: Any
    torque_nm: Any
    angle_error_rad: Any
    speed_error_rad_s: Any
    state: Any
    missed: int
    rate_nm_s: float


def run(stall_periods: float) -> Trace:
    options = RunOptions(hand="finger_bench", motion="open_close", seconds=10.0)
    hand = read_hand(options)
    rig = build(options, hand, Channel.local(8, round(RATE_HZ)))
    now = [10**9]
    rows: list[tuple[Any, ...]] = []
    state, truth = rig.views["state"], rig.views["truth"]
    motors, joints = int(hand.model["n_motors"][0]), int(hand.model["n_joints"][0])

    def wait(deadline: int, _spin: int, _timespec: Any) -> int:
        now[0] = max(now[0], deadline) + 8000
        return now[0]

    def tick(cycle: int, deadline: int, woke: int, dt_s: float, missed: int, late: int) -> int:
        overruns = rig.pipeline.tick(cycle, deadline, woke, dt_s, missed, late)
        s, y = state[0], truth[0]
        rows.append(
            (
                dt_s,
                s["motor_torque_nm"][:motors].copy(),
                (s["ref_joint_angle_rad"] - y["joint_angle_rad"])[:joints].copy(),
                (s["motor_speed_rad_s"] - y["motor_speed_rad_s"])[:motors].copy(),
                int(s["machine"]),
            )
        )
        now[0] += round(PERIOD_NS * (stall_periods if cycle == STALL_AT else 0.2))
        return overruns

    prepare(rig, now[0])
    loop = Loop(tick, RATE_HZ, clock=lambda: now[0], wait=wait)
    while len(rows) < CYCLES:
        loop.run(100, lambda: True)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Trace(*columns, loop.progress.missed, float(hand.model["torque_rate_nm_s"][0]))


@pytest.fixture(scope="module")
def steady() -> Trace:
    return run(0.2)


@pytest.fixture(scope="module")
def stalled() -> Trace:
    return run(10.0)


def test_the_stalled_slots_are_skipped_and_counted(stalled, steady):
    assert steady.missed == 0
    assert stalled.missed in (9, 10)
    assert stalled.dt_s.min() >= 0.5 / RATE_HZ


def test_torque_never_changes_faster_than_its_rate(stalled):
    active = stalled.state == int(MachineState.ACTIVE)
    steps = np.abs(np.diff(stalled.torque_nm, axis=0)).max(axis=1)
    # by the period, not by the time that passed: a stall does not buy a larger step
    allowed = stalled.rate_nm_s / RATE_HZ
    assert (steps[active[1:] & active[:-1]] <= allowed * (1 + 1e-9)).all()


def test_speeds_take_the_real_time_of_the_stall(stalled, steady):
    usual = np.abs(steady.speed_error_rad_s[AFTER]).max()
    assert np.abs(stalled.speed_error_rad_s[STALL_AT + 2 : AFTER.stop]).max() <= 2.0 * usual


def test_the_hand_stays_active_and_returns_to_its_path(stalled, steady):
    assert (stalled.state[AFTER] == int(MachineState.ACTIVE)).all()
    settled = slice(STALL_AT + 600, STALL_AT + 1000)
    usual = np.abs(steady.angle_error_rad[AFTER]).max()
    assert np.abs(stalled.angle_error_rad[settled]).max() <= usual + np.radians(0.1)
