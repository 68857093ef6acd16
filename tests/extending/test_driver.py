"""A driver family of a package: the contract, the scan, the emulation, a run through all processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from drivers.contract import Bench, BusContract, Rig
from drivers.places import UdpPlace
from drivers.registry import family
from drivers.scanning import scan
from hand.file.busfile import load_bus_file
from runtime.backends import unproven
from runtime.busprocess.opening import open_buses
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from sim.emulators.wiring import Site, wire
from tests.rigs import emulated as rigs

N = 4


@pytest.mark.realtime
class TestLabBox(BusContract):
    """Every law of ``drivers.contract``, against the package's own emulator."""

    @pytest.fixture
    def rig(self, installed: Path) -> Iterator[Rig]:
        from labbox.device import BoxBus
        from labbox.emulator import BoxEmulator
        from labbox.settings import BoxSettings

        side = SpringSide(N, N)
        box = BoxEmulator(side, N, N)
        names = rigs.names(N)
        settings = BoxSettings(
            name="box", family="lab-box", host=box.host, port=box.port, motor=names.motors, hall=names.tendons
        )
        with EmulatorThread([box]) as thread:
            bus = BoxBus(settings, names)
            rig = Rig(
                bus=bus,
                motors=tuple(range(N)),
                halls=tuple(range(N)),
                hall_count=rigs.hall_count,
                device_current_a=rigs.device_current(side),
                reset=lambda _i: thread.do(box.restart),
                unplug=lambda: setattr(box, "deaf", True),
                plug=lambda: setattr(box, "deaf", False),
                comes_back_by_itself=True,
            )
            try:
                yield rig
            finally:
                bus.close()


def test_the_codec_round_trips_and_refuses_what_is_damaged(installed: Path) -> None:
    from labbox import codec

    motors = codec.empty(2)
    motors["angle_rad"] = 0.5, -1.25
    wire = codec.reply(7, 3, True, motors, np.array([5, 6], "<u2"))
    found = codec.replied(wire, 2, 2)
    assert found is not None and (found.seq, found.boot, found.tripped) == (7, 3, True)
    assert found.motors["angle_rad"].tolist() == [0.5, -1.25] and found.halls.tolist() == [5, 6]
    for at in range(8 * len(wire)):
        damaged = bytearray(wire)
        damaged[at // 8] ^= 1 << at % 8
        assert codec.replied(bytes(damaged), 2, 2) is None
    assert codec.replied(wire, 3, 2) is None and codec.requested(wire) is None


def test_it_is_found_by_scan(installed: Path) -> None:
    from labbox.emulator import BoxEmulator

    assert family("lab-box").search is not None
    box = BoxEmulator(SpringSide(2), 2, 0)
    with EmulatorThread([box]):
        (found,) = scan(UdpPlace(box.host, box.port), listen=False)
        assert (found.family, found.device, found.detail) == ("lab-box", "lab box", "boot 1")
        assert not list(scan(UdpPlace(box.host, box.port), listen=True))


@pytest.mark.realtime
def test_a_bus_process_finds_it_and_drives_what_its_wiring_emulates(installed: Path, tmp_path: Path) -> None:
    side, names = SpringSide(N, N), rigs.names(N)
    wired = wire("lab-box", side, names, Site(folder=tmp_path))
    file = tmp_path / "bus.toml"
    file.write_text("realtime = false\n" + wired.text)
    assert wired.run_words(0.3, 3000.0) == ["--rate", "700", "--set", "gains.tension_kp_nm_n=0.1"]
    assert wired.run_words(0.3, 700.0) == []
    with EmulatorThread(wired.emulators):
        bus = open_buses(load_bus_file(str(file)), names)
        try:
            bench = Bench(Rig(bus=bus, motors=tuple(range(N))))
            bench.start()
            bench.pull(0.2, 0.1)
            angle = bench.measurement["motor_angle_rad"][0]
            assert bench.comes(0.5, lambda: bool(np.abs(angle[:N] - 0.2).max() < 2e-3)), bench.tell()
            assert bus.deactivate() and not side.command["motor_current_a"].any()
        finally:
            bus.close()
    assert unproven(str(file), names) == (
        "bus 'box', unproven protection: the box's watchdog is believed, not read back",
    )
