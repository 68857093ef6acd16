"""The one contract for every bus of ours: families on emulated devices, one of them in a bus process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.contract import BusContract, Rig
from runtime.busprocess.remote import RemoteBus
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import BenchSide
from tests.emulators import rigs


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
    test_close_may_be_called_twice = None
    test_a_motor_that_was_reset_says_so_and_stays_limp = None

    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[Rig]:
        n, side = 3, BenchSide(3)
        chain = rigs.servo_chain(tmp_path / "servos", n, side)
        with EmulatorThread([chain]):
            bus = RemoteBus(rigs.servo_settings(tmp_path / "servos", n), rigs.names(n), realtime=False)
            rig = Rig(
                bus=bus,
                motors=tuple(range(n)),
                device_current_a=rigs.device_current(side),
                silence=lambda i, on: setattr(chain.servos[i], "silent", on),
                reset=lambda i: chain.servos[i].reboot(),
                unplug=chain.unplug,
                plug=chain.line.plug,
                comes_back_by_itself=True,
                settle_s=0.4,
                fault_s=1.5,
            )
            try:
                yield rig
            finally:
                bus.close()
