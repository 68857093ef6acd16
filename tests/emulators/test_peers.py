"""The vendor's SDK for Dynamixel servos against our emulated chain."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dynamixel_sdk import COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler

from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs

N = 4
TURN_COUNTS = 4096 / (2 * np.pi)
TIMED_OUT = (-3001, -3002)
"""The SDK gives a reply 34 ms, a busy machine may need more."""


def patient(call: Any, *arguments: Any) -> Any:
    """Ask again while the SDK says that nothing, or half a reply, came in time."""
    for _ in range(40):
        found = call(*arguments)
        if not any(code in (found if isinstance(found, tuple) else (found,)) for code in TIMED_OUT):
            break
        threading.Event().wait(0.05)
    return found


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[tuple[Any, Any, ChainEmulator]]:
    """The vendor's SDK on our chain of servos."""
    side = SpringSide(N)
    emulator = rigs.servo_chain(tmp_path / "servos", N, side)
    with EmulatorThread([emulator]):
        port, handler = PortHandler(str(tmp_path / "servos")), PacketHandler(2.0)
        assert port.openPort() and port.setBaudRate(rigs.BAUD)
        yield port, handler, emulator
        port.closePort()


def test_the_vendors_sdk_finds_reads_and_writes_our_servos(chain: Any) -> None:
    port, handler, emulator = chain
    model, result, error = patient(handler.ping, port, 2)
    assert (model, result, error) == (1030, COMM_SUCCESS, 0)
    found, result = patient(handler.broadcastPing, port)
    assert result == COMM_SUCCESS and sorted(found) == [1, 2, 3, 4]
    assert patient(handler.write1ByteTxRx, port, 1, 11, 0) == (COMM_SUCCESS, 0)
    assert patient(handler.write1ByteTxRx, port, 1, 64, 1) == (COMM_SUCCESS, 0)
    assert patient(handler.write1ByteTxRx, port, 1, 11, 3) == (
        COMM_SUCCESS,
        7,
    )  # access error
    assert patient(handler.write2ByteTxRx, port, 1, 102, 65_036) == (COMM_SUCCESS, 0)  # -500
    assert patient(handler.write2ByteTxRx, port, 1, 102, 60_000) == (COMM_SUCCESS, 6)  # -5536: limit error
    value, result, _ = patient(handler.read4ByteTxRx, port, 1, 132)
    assert result == COMM_SUCCESS and value == emulator.servos[0].get("present_position") & 0xFFFFFFFF


@pytest.mark.parametrize("fast", [False, True])
def test_the_vendors_sync_read_and_write_move_our_servos(chain: Any, fast: bool) -> None:
    port, handler, emulator = chain
    for i in range(1, N + 1):
        patient(handler.write1ByteTxRx, port, i, 11, 0)
        patient(handler.write1ByteTxRx, port, i, 64, 1)
    writer = GroupSyncWrite(port, handler, 102, 2)
    for i in range(1, N + 1):
        writer.addParam(i, list((100 * i).to_bytes(2, "little")))
    assert writer.txPacket() == COMM_SUCCESS
    threading.Event().wait(0.2)
    reader = GroupSyncRead(port, handler, 126, 10)
    for i in range(1, N + 1):
        reader.addParam(i)
    result = patient(reader.fastSyncRead if fast else reader.txRxPacket)
    assert result == COMM_SUCCESS
    for i in range(1, N + 1):
        sign = -1 if i % 2 == 0 else 1
        wanted = round(0.269 * i * sign * TURN_COUNTS)
        counts = reader.getData(i, 132, 4)
        counts -= (counts >> 31) << 32
        assert abs(counts - sign * wanted) <= 2
        assert reader.getData(i, 126, 2) == 100 * i


def test_the_sdk_leaves_out_the_stuffing_and_our_servo_flags_it(chain: Any) -> None:
    port, handler, emulator = chain
    patient(handler.write4ByteTxRx, port, 1, 116, 0x00FDFFFF)
    assert emulator.unstuffed >= 1


def test_a_wrong_baud_rate_is_silence(chain: Any) -> None:
    port, handler, emulator = chain
    port.setBaudRate(57600)
    for _ in range(200):  # the emulator may be late on a busy computer; no answer may ever be right
        assert handler.ping(port, 1)[1] != COMM_SUCCESS
        if emulator.wrong_baud:
            return
    raise AssertionError("the emulator heard nothing")
