"""A whole hand behind servos and CAN axes, in stepped time: what ``flexor emulate`` prints must hold it."""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.dynamixel.device import DynamixelBus
from drivers.hallbridge.device import HallBridgeBus
from drivers.odrive.device import OdriveBus
from drivers.registry import family
from drivers.slots import channels_of
from estimators.tick import home
from hand.options import RunOptions
from runtime.backends import HOMING_CYCLES, motor_setups, sim_bus
from runtime.busprocess.block import Block
from runtime.pipeline import Pipeline
from runtime.session import run_lockstep
from runtime.setup import Rig, build, read_hand
from signals.records import COMMAND, MEASUREMENT, TRUTH, new
from sim.emulators.side import BackendSide
from sim.emulators.wiring import RATE_HZ, TENSION_GAIN_SHARE, Site, Wiring, wire
from telemetry.shm.channel import Channel
from tests.rigs.stepped import CanEnd, Stage, put_on_stage

HAND = "finger_bench"
MOTION_S = {"dynamixel": 1.2, "odrive": 0.6}
TICK_NS = 100_000
"""From the wake-up of the loop to its command."""
DRIVERS = {"dynamixel": DynamixelBus, "odrive": OdriveBus, "hall-bridge": HallBridgeBus}
WORKER_NS = 150_000
"""What a bus process needs between two exchanges."""
WIRES_DEG = 0.22
"""Error [deg rms] of their own, beside the motion's: 2 ms of delay and the swing that they do not damp."""


class SteppedBus:
    """A driver in a bus process of the stage: the same mailbox, as ``RemoteBus`` and ``Worker`` share it."""

    def __init__(self, stage: Stage, table: dict[str, Any], hand: Any) -> None:
        self.stage, self.block, self.hand = stage, Block.create(), hand
        self.family = family(table["family"])
        self.settings = self.family.settings.model_validate_json(json.dumps(table))
        names = hand.names
        self.channels = channels_of(self.settings, names)
        self.newest, self.seen = new(MEASUREMENT), False
        stage.play(self.work)

    def work(self) -> None:
        """The worker's life."""
        clock = self.stage.clock
        bus: Any = DRIVERS[self.family.name](self.settings, self.hand.names, False, clock)
        bus.configure(tuple(s for s in motor_setups(self.hand) if s.index in self.channels.motors))
        bus.activate()
        command, measurement = new(COMMAND), new(MEASUREMENT)
        while True:
            self.block.take_command(command)
            bus.exchange(command, measurement, clock())
            self.block.post_measurement(measurement)
            self.stage.wait(clock() + WORKER_NS)

    def take(self, measurement: Any) -> None:
        """The control process' look."""
        self.seen |= self.block.take_measurement(self.newest)
        self.channels.merge(self.newest, measurement)


@dataclass
class SteppedBuses:
    """All of them, as ``CompositeBus``."""

    parts: list[SteppedBus]
    forwards: bool = True
    """False: a command waits for the next exchange, as on a bus without a pace of its own."""

    def exchange(self, command: Any, measurement: Any, now_ns: int) -> int:
        for part in self.parts:
            part.block.post_command(command)
            part.take(measurement)
        measurement["time_ns"] = now_ns
        return 0

    def forward(self, command: Any) -> None:
        for part in self.parts if self.forwards else ():
            part.stage.wait(part.stage.now_ns + TICK_NS // len(self.parts))
            part.block.post_command(command)


@dataclass
class Run:
    """What a run in stepped time showed."""

    faults: list[int] = field(default_factory=list)
    angles: list[Any] = field(default_factory=list)
    errors: list[Any] = field(default_factory=list)

    @property
    def tracking_deg(self) -> float:
        return float(np.degrees(np.sqrt(np.mean(np.square(self.errors)))))

    @property
    def moved_rad(self) -> float:
        return float(np.ptp(self.angles, axis=0).max())


class Play:
    """One hand on the stage."""

    def __init__(self, kind: str, stage: Stage, folder: Path, settings: tuple[str, ...] = ()) -> None:
        self.stage, self.truth = stage, new(TRUTH)
        known = read_hand(RunOptions(hand=HAND))
        plain = RunOptions(hand=HAND)
        side = BackendSide(lambda: sim_bus(known, plain, self.truth), int(0.5e9 / known.rate_hz))
        wiring: Wiring = wire(kind, side, known.names, Site(folder=folder, clock=stage.clock))
        served: list[Any] = [e for e in wiring.emulators if hasattr(e, "line")]
        stage.emulators = [*served, *(end for end in stage.buses.values() if isinstance(end, CanEnd))]
        self.rate_hz = float(wiring.rate_hz or known.rate_hz)
        options = RunOptions(
            hand=HAND,
            motion="open_close",
            lockstep=True,
            seconds=10.0,
            rate_hz=self.rate_hz,
            settings=settings,
        )
        self.hand = read_hand(options)
        self.rig: Rig = build(options, self.hand, Channel.local(4))
        tables = tomllib.loads(wiring.text)["bus"]
        self.bus = SteppedBuses([SteppedBus(stage, table, self.hand) for table in tables])
        self.rig.pipeline = Pipeline(
            model=self.hand.model,
            bus=self.bus,  # type: ignore[arg-type]
            stages=self.rig.stages,
            goals=self.rig.goals,
            frame=self.rig.frame,
            views=self.rig.views,
            channel=Channel.local(4),
        )

    def run(self, seconds: float) -> Run:
        """From the first exchange on; ends with the first fault."""
        found, over = Run(), []

        def control() -> None:
            self._home()
            self._loop(round(seconds * self.rate_hz), found)
            over.append(True)

        self.stage.play(control)
        self.stage.run(lambda: not over)
        return found

    def _home(self) -> None:
        stage, measurements, period_ns = self.stage, [], round(1e9 / self.rate_hz)
        command, n = self.rig.views["command"], len(self.hand.names.motors)
        while len(measurements) < HOMING_CYCLES:
            measurement = new(MEASUREMENT)
            self.bus.exchange(command, measurement, stage.now_ns)
            bad = measurement["motor_status"][0, :n].any() or measurement["hall_status"][0, :n].any()
            if all(part.seen for part in self.bus.parts) and not bad:
                measurements.append(measurement)
            stage.wait(stage.now_ns + period_ns)
        home(self.hand.model, measurements, np.zeros(int(self.hand.model["n_joints"][0])))

    def _loop(self, cycles: int, found: Run) -> None:
        stage, period_ns = self.stage, round(1e9 / self.rate_hz)
        state, goal, n = self.rig.views["state"][0], self.rig.views["goal"][0], len(self.hand.names.joints)
        due_ns = stage.now_ns + period_ns
        for k in range(cycles):
            stage.wait(due_ns)
            self.rig.pipeline.tick(k, due_ns, stage.now_ns, 1e-9 * period_ns, 0, 0)
            found.angles.append(self.truth["joint_angle_rad"][0, :n].copy())
            found.errors.append(goal["joint_angle_rad"][:n] - found.angles[-1])
            if state["hand_cause"] or state["finger_cause"].any():
                found.faults = [int(state["hand_cause"]), *map(int, state["finger_cause"])]
                return
            due_ns += period_ns


@pytest.mark.parametrize("kind", ["dynamixel", "odrive"])
def test_a_hand_at_the_printed_rate_moves_as_it_does_in_the_process(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The delay of the wires costs the motion little, let alone its stability."""
    stage = Stage()
    put_on_stage(stage, monkeypatch)
    run = Play(kind, stage, tmp_path).run(MOTION_S[kind])
    assert run.faults == [] and run.moved_rad > np.radians(10.0)
    assert run.tracking_deg < np.hypot(alone_deg(kind), WIRES_DEG)


def alone_deg(kind: str, settings: tuple[str, ...] = ()) -> float:
    """Tracking error of the same motion with the plant in the process."""
    frames = run_lockstep(
        HAND,
        motion="open_close",
        seconds=MOTION_S[kind],
        rate_hz=RATE_HZ[kind],
        every=1,
        overrides=settings,
    ).frames
    error = frames["goal"]["joint_angle_rad"] - frames["truth"]["joint_angle_rad"]
    return float(np.degrees(np.sqrt(np.mean(np.square(error)))))


class BusyStage(Stage):
    """A computer on which every twelfth cycle of a bus process waits for up to 6 ms."""

    def __init__(self) -> None:
        super().__init__()
        self.random = random.Random(1)

    def wait(self, until_ns: int, line: object = None) -> None:
        if until_ns - self.now_ns == WORKER_NS and self.random.random() < 1.0 / 12.0:
            until_ns += self.random.randrange(500_000, 6_000_000)
        super().wait(until_ns, line)


@pytest.mark.parametrize("kind", ["dynamixel", "odrive"])
def test_the_printed_gain_holds_the_hand_on_a_busy_computer(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the gain of the hand file the finger swings by some degrees there."""
    settings = (f"gains.tension_kp_nm_n={TENSION_GAIN_SHARE * 0.3}",)
    stage = BusyStage()
    put_on_stage(stage, monkeypatch)
    run = Play(kind, stage, tmp_path, settings).run(MOTION_S[kind])
    assert run.faults == [] and run.moved_rad > np.radians(10.0)
    assert run.tracking_deg < 1.3 * alone_deg(kind, settings)
