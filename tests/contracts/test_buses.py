"""The one contract for every bus of ours: families on emulated devices, one of them in a bus process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.contract import BusContract, Rig, SteppedClock
from runtime.busprocess.remote import RemoteBus
from signals.modes import SensorLevel
from sim.backend import SimulatedBus
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from sim.options import SimOptions
from tests.rigs import bench_hand
from tests.rigs import emulated as rigs


class TestCollector(BusContract):
    @pytest.fixture
    def rig(self) -> Iterator[Rig]:
        with rigs.collector() as (rig, _board):
            yield rig


class TestDynamixel(BusContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[Rig]:
        with rigs.dynamixel(tmp_path) as (rig, _chain):
            yield rig


class TestOdrive(BusContract):
    @pytest.fixture
    def rig(self) -> Iterator[Rig]:
        with rigs.odrive() as (rig, _server, _axes):
            yield rig


class TestBusProcess(BusContract):
    """The servos' driver in a process of its own: nothing of the contract is lost on the way."""

    test_a_number_that_is_none_never_becomes_torque = None  # same code as TestDynamixel, in another process
    test_a_motor_that_was_reset_says_so_and_stays_limp = None

    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[Rig]:
        n, side = 3, SpringSide(3)
        chain = rigs.servo_chain(tmp_path / "servos", n, side)
        with EmulatorThread([chain]) as thread:
            settings = rigs.servo_settings(tmp_path / "servos", n)
            bus = RemoteBus(settings, rigs.names(n), realtime=False, command_age_s=2.0)
            rig = Rig(
                bus=bus,
                motors=tuple(range(n)),
                device_current_a=rigs.device_current(side),
                silence=lambda i, on: setattr(chain.servos[i], "silent", on),
                reset=lambda i: thread.do(chain.servos[i].reboot),
                unplug=lambda: thread.do(chain.unplug),
                plug=lambda: thread.do(chain.line.plug),
                comes_back_by_itself=True,
                settle_s=0.4,
                fault_s=1.5,
            )
            try:
                yield rig
            finally:
                bus.close()


class TestSimulatedBackend(BusContract):
    """The plant behind the HAL with the drives' watchdog of real time, on a clock that no stall touches.

    Its springs are not linear.
    """

    @pytest.fixture
    def rig(self) -> Iterator[Rig]:
        m = bench_hand.model()
        bus = SimulatedBus(m.copy(), SimOptions(sensors=SensorLevel.IDEAL, realtime=True))

        def driven_a(i: int) -> float:
            return float(bus.plant["current_a"][0, i]) if bus.plant["motor_enabled"][0, i] else 0.0

        yield Rig(
            bus=bus,
            motors=tuple(range(int(m["n_motors"][0]))),
            rest_rad_per_a=None,
            current_limit_a=0.5,
            settle_s=0.05,
            device_current_a=driven_a,
            current_tolerance_a=0.02,
            clock=SteppedClock(),
        )
        bus.close()
