"""The computer is gone in mid-motion: every device lets go in its time, or the start has said it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.contract import Bench
from drivers.hal import MotorSetup
from runtime.backends import motor_setups, unproven
from signals.modes import MotorMode
from tests.rigs import emulated as rigs
from tests.rigs.runs import nothing_starts
from tools.cli import main

N, LIMIT_A = 2, 0.75
STEP_NS, LATE_NS = 2_000_000, 5_000_000
"""Devices look at their watchdogs every 2 ms."""
LONGER_NS = 300_000_000
SLOW_S = 5.0
"""Time constant of the bench's motors: they are on their way all the time."""
LET_GO, HOLD, GO_ON = "let go", "hold", "go on"
TRUSTED, DOUBTED = "xm430-w210", "xc330-t288"
ROOT = Path(__file__).parents[2]


@contextmanager
def _driven(kind: str, folder: Path) -> Iterator[tuple[Any, Any, Any, Any]]:
    """(rig, emulator with its thread, hand behind it, its table of a bus file)."""
    if kind == "axes":
        with rigs.odrive(N) as (rig, server, axes):
            yield rig, server, axes[0].side, rigs.axis_settings(server, N)
    elif kind == "board":
        with rigs.collector(N) as (rig, board):
            yield rig, board, board.side, rig.bus.settings
    else:
        with rigs.dynamixel(folder, N, models=(kind,)) as (rig, chain):
            yield rig, chain, chain.side, rig.bus.settings


@pytest.mark.parametrize(
    ("kind", "mode", "they"),
    [
        ("board", MotorMode.CURRENT, LET_GO),
        ("board", MotorMode.POSITION, LET_GO),
        ("axes", MotorMode.CURRENT, LET_GO),
        ("axes", MotorMode.POSITION, LET_GO),
        (TRUSTED, MotorMode.CURRENT, LET_GO),
        (TRUSTED, MotorMode.POSITION, HOLD),
        (DOUBTED, MotorMode.CURRENT, GO_ON),
        (DOUBTED, MotorMode.POSITION, GO_ON),
    ],
)
def test_what_does_not_let_go_in_its_time_was_said(
    kind: str, mode: MotorMode, they: str, tmp_path: Path
) -> None:
    with _driven(kind, tmp_path) as (rig, emulator, side, settings):
        bench, motors = Bench(rig), list(rig.motors)
        limit_ns = round(1e9 * rig.bus.capabilities.device_watchdog_s)
        rig.bus.configure(
            tuple(MotorSetup(index=i, name=f"motor_{i}", current_limit_a=LIMIT_A, mode=mode) for i in motors)
        )
        rig.bus.activate()
        bench.rest(0.1)
        side.LAG_S = SLOW_S
        c, told = bench.command, side.command
        c["motor_mode"][0, motors], c["motor_current_a"][0, motors] = mode, 0.6
        c["motor_angle_rad"][0, motors] = 0.5

        def all_on() -> bool:
            return bool((told["motor_mode"][0, motors] == mode).all())

        assert bench.comes(0.5, all_on), bench.tell()
        assert not bench.bus.exchange(c, bench.measurement, time.monotonic_ns())
        found: dict[str, Any] = {"after_ns": None}

        def alone() -> None:
            """The devices' time without a computer, from its last words on."""
            gone_ns = time.monotonic_ns()
            for ns in range(0, limit_ns + LATE_NS, STEP_NS):
                emulator.on_time(gone_ns + ns)
                if found["after_ns"] is None and not told["motor_mode"][0, motors].any():
                    found["after_ns"] = ns
            found["modes"] = told["motor_mode"][0, motors].tolist()
            found["most_a"] = np.abs(told["motor_current_a"][0, motors]).max()
            found["angles_rad"] = side.angle_rad.copy()
            emulator.on_time(gone_ns + limit_ns + LONGER_NS)
            found["moved_rad"] = np.abs(side.angle_rad - found["angles_rad"]).max()

        emulator.thread.do(alone)
        names = rigs.names(N, 2)
        said = " ".join(settings.unproven(names))
        if they == LET_GO:
            assert (found["after_ns"] or 0) > limit_ns // 2, "in its time, and because of it"
            assert "watchdog" not in said
            return
        assert found["modes"] == [mode] * N and found["most_a"] <= LIMIT_A
        if they == HOLD:
            assert found["moved_rad"] < 2e-3 < found["angles_rad"].min(), "it brakes on its way"
            assert set(settings.holding(names)) >= set(names.motors)
        else:
            assert found["moved_rad"] > 2e-3 and all(motor in said for motor in names.motors)


def test_the_start_of_a_hand_in_position_says_what_will_not_let_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hand.options import RunOptions
    from runtime.setup import read_hand

    nothing_starts(monkeypatch)
    with pytest.raises(SystemExit):
        main(["run", "leap_v1", "--bus", "leap_v1_servos"])
    said = capsys.readouterr().err
    hand = read_hand(RunOptions(hand="leap_v1"))
    for text in ("hold their angle", "may not end the torque"):
        (line,) = (one for one in said.splitlines() if text in one)
        assert line.startswith("warning: bus 'servos', unproven protection")
        assert all(motor in line for motor in hand.names.motors)
    path = str(ROOT / "configs/buses/finger_bench_servos.toml")
    drawn = read_hand(RunOptions(hand="finger_bench"))
    assert not any("hold" in text for text in unproven(path, drawn.names, motor_setups(drawn)))
