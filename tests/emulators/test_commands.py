"""flexor scan, bus and emulate on emulated devices: what they find, what they refuse (B43, B51)."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import can
import pytest
import typer

from drivers.bustools import IdRefused, give_id, inject, log
from drivers.errors import BusBusy, BusLost
from drivers.places import CanPlace, PlaceError, SerialPlace, UdpPlace, parsed
from drivers.scanning import scan
from hand.file.busfile import load_bus_file
from sim.emulators.collector import CollectorEmulator
from sim.emulators.hallstream import HallBridgeEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from sim.emulators.wiring import WIRINGS, Site, wire
from tests.rigs import emulated as rigs
from tools.cli import main
from tools.commands.scan import scan as scan_command


def _scan(*places: str, listen: bool = False, as_json: bool = False) -> int:
    with pytest.raises(typer.Exit) as ended:
        scan_command(list(places), listen, as_json)
    return ended.value.exit_code


def _for(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def test_places_are_read_and_mistakes_shown() -> None:
    assert parsed("/dev/ttyUSB0@4000000") == SerialPlace("/dev/ttyUSB0", 4_000_000)
    assert parsed("can:socketcand:can0:127.0.0.1:28600") == CanPlace("socketcand", "can0", "127.0.0.1", 28600)
    assert parsed("udp:10.0.0.1") == UdpPlace("10.0.0.1", 4038)
    for wrong in ("ttyUSB0", "can:can0", "udp:", "/dev/x@fast"):
        with pytest.raises(PlaceError, match="write /dev/ttyUSB0"):
            parsed(wrong)
    for text in ("/dev/ttyUSB0@4000000", "can:socketcand:can0:127.0.0.1:28600", "udp:10.0.0.1:4038"):
        assert str(parsed(text)) == text


def test_scan_finds_servos_and_twins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    side = SpringSide(3)
    chain = rigs.servo_chain(tmp_path / "servos", 3, side)
    line = f"{tmp_path / 'servos'}@{rigs.BAUD}"
    with EmulatorThread([chain]):
        assert _scan(line, as_json=True) == 0
        found = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
        assert [f["device"] for f in found] == [f"id {i}: xm430-w210" for i in (1, 2, 3)]
        packets = chain.packets
        assert _scan(line, listen=True) == 0
        assert chain.packets == packets
        chain.servos[2].put("id", 2)
        assert _scan(line) == 1
        assert "2 devices with id 2" in capsys.readouterr().out


def test_scan_finds_axes_boards_and_bridges_and_names_holders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = SpringSide(2, 2)
    server, _ = rigs.axis_bus(2, side)
    board = CollectorEmulator(side, 2, 2, serial="S7")
    bridge = HallBridgeEmulator(side, [0, 1], tmp_path / "hall", rate_hz=500.0)
    with EmulatorThread([server, board, bridge]):
        can_place = f"can:socketcand:can0:{server.host}:{server.port}"
        _scan(can_place, f"udp:{board.host}:{board.port}", f"{tmp_path / 'hall'}@2000000", as_json=True)
        found = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
        assert [f["device"] for f in found] == ["node 1", "node 2", "emulated collector", "Hall bridge"]
        assert "serial S7, 2 motors" in found[2]["detail"] and "2 channels, 500 Hz" in found[3]["detail"]
    with rigs.dynamixel(tmp_path, 1) as (_rig, chain):
        (finding,) = scan(SerialPlace(str(chain.line.link), rigs.BAUD), listen=False)
        assert "in use by process" in finding.detail


def _no_kernel_can() -> bool:
    try:
        socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW).close()
    except OSError as error:
        return error.errno == errno.EAFNOSUPPORT
    return False


def test_a_can_bus_that_does_not_open_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for number, hint in (
        (errno.EAFNOSUPPORT, "modprobe can_raw"),
        (errno.ENODEV, "there is no interface can7"),
        (errno.ENETDOWN, "ip link set can7 up type can bitrate 1000000"),
    ):

        def refuse(number: int = number, **_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(can, "Bus", refuse)
        (found,) = scan(CanPlace("socketcan", "can7"), listen=False)
        assert hint in found.problem and os.strerror(number) in found.problem
        with pytest.raises(BusLost, match=hint):
            next(log(CanPlace("socketcan", "can7"), lambda: True))
    monkeypatch.undo()
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        begun = time.monotonic()
        (found,) = scan(CanPlace("socketcand", "can0", *taken.getsockname()), listen=False)
        assert "start the server" in found.problem and time.monotonic() - begun < 5.0
    said = capfd.readouterr()
    assert len(said.out + said.err) < 1000, "python-can printed every try"


@pytest.mark.skipif(not _no_kernel_can(), reason="this kernel has SocketCAN")
def test_a_kernel_without_socketcan_is_named() -> None:
    (found,) = scan(CanPlace("socketcan", "can0"), listen=False)
    assert "this kernel has no SocketCAN" in found.problem


def test_an_id_is_given_only_with_exactly_one_servo_on_the_line(tmp_path: Path) -> None:
    side = SpringSide(2)
    chain = rigs.servo_chain(tmp_path / "servos", 2, side)
    place = SerialPlace(str(tmp_path / "servos"), rigs.BAUD)
    with EmulatorThread([chain]):
        with pytest.raises(IdRefused, match="2 servos answer.*exactly one"):
            give_id(place, 9)
        chain.servos[1].silent = True
        with pytest.raises(IdRefused, match="not possible"):
            give_id(place, 253)
        assert "id 1 is now id 9" in give_id(place, 9)
        assert chain.servos[0].id == 9 and chain.servos[1].id == 2
        chain.servos[0].silent = True
        with pytest.raises(IdRefused, match="0 servos"):
            give_id(place, 3)


def test_log_and_inject_speak_the_wire(tmp_path: Path) -> None:
    side = SpringSide(1, 2)
    bridge = HallBridgeEmulator(side, [0, 1], tmp_path / "hall", rate_hz=200.0)
    chain = rigs.servo_chain(tmp_path / "servos", 1, side)
    board = CollectorEmulator(side, 1, 2)
    server, _ = rigs.axis_bus(1, side)
    with EmulatorThread([bridge, chain, board, server]):
        ping = "ff ff fd 00 01 03 00 01 19 4e"
        answer = inject(SerialPlace(str(tmp_path / "servos"), rigs.BAUD), ping)
        assert answer.startswith("ff ff fd 00 01 07 00 55 00 06 04")
        line = SerialPlace(str(tmp_path / "hall"), 2_000_000)
        lines = [t for _, t in log(line, _for(1.5))]
        assert any("[2048, 2048]" in t for t in lines)
        frames = [t for _, t in log(CanPlace("socketcand", "can0", server.host, server.port), _for(0.5))]
        assert any("node 1 heartbeat" in t for t in frames) and any("node 1 encoder" in t for t in frames)
        samples = [t for _, t in log(UdpPlace(board.host, board.port), _for(0.3))]
        assert samples and "angles [0, 0]" in samples[0] and board.commands == 0
    with rigs.dynamixel(tmp_path / "held", 1) as (_rig, chain):
        with pytest.raises(BusBusy):
            inject(SerialPlace(str(chain.line.link), rigs.BAUD), "00")


@pytest.mark.parametrize("kind", WIRINGS)
def test_every_wiring_writes_a_bus_file_that_fits_its_hand(kind: str, tmp_path: Path) -> None:
    hand = rigs.names(10, 2)
    side = SpringSide(10, 10, 2)
    wired = wire(kind, side, hand, Site(folder=tmp_path))
    try:
        (tmp_path / "bus.toml").write_text(wired.text)
        file = load_bus_file(str(tmp_path / "bus.toml"))
        file.fitted_to(hand)
        assert len(wired.endpoints) == len(file.entries)
    finally:
        for emulator in wired.emulators:
            emulator.close()
    with pytest.raises(ValueError, match="legal: collector"):
        wire("telepathy", side, hand, Site(folder=tmp_path))


def _refused(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def test_a_bus_file_of_the_users_own_is_neither_written_over_nor_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "bus.toml"
    own.write_text("[[bus]]\n")
    assert _refused(["emulate", "finger_bench", "--bus-file", str(own), "--for", "0.1"]) == 2
    said = capsys.readouterr().err
    assert str(own) in said and "legal" in said
    assert own.read_text() == "[[bus]]\n"


def test_an_emulation_that_cannot_begin_leaves_no_block_behind(tmp_path: Path) -> None:
    nowhere = tmp_path / "missing" / "bus.toml"
    for wiring in ("collector", "odrive"):
        words = ["emulate", "finger_bench", "--wiring", wiring, "--bus-file", str(nowhere), "--for", "0.1"]
        assert _refused(words) == 1
    assert not list(Path("/dev/shm").glob(f"flexor-truth-{os.getpid()}-*"))
