"""Programs of other people against our emulators, and other people's devices against our drivers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import can
import cantools
import numpy as np
import pytest
from dynamixel_sdk import COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler

from drivers.hal import MotorSetup
from drivers.odrive import codec
from drivers.odrive.device import OdriveBus
from drivers.odrive.settings import OdriveDevice, OdriveSettings
from signals.modes import MotorMode
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import BenchSide
from tests.emulators import rigs

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
    side = BenchSide(N)
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
    assert handler.ping(port, 1)[1] != COMM_SUCCESS
    assert emulator.wrong_baud > 0


def test_every_frame_of_our_axes_is_what_the_dbc_says() -> None:
    """cantools decodes what the emulated axis sends and encodes what it obeys."""
    dbc: Any = cantools.database.load_file(Path(__file__).parents[1] / "golden" / "odrive_cansimple.dbc")
    side = BenchSide(3)
    server, axes = rigs.axis_bus(3, side)
    with EmulatorThread([server]):
        bus = can.Bus(interface="socketcand", channel="can0", host=server.host, port=server.port)

        def send(name: str, **values: float) -> None:
            message = dbc.get_message_by_name(f"Axis3_{name}")
            data = message.encode(values)
            bus.send(can.Message(arbitration_id=message.frame_id, data=data, is_extended_id=False))

        def receive(name: str) -> dict[str, Any]:
            message = dbc.get_message_by_name(f"Axis3_{name}")
            for _ in range(4000):
                found = bus.recv(1.0)
                if found is not None and found.arbitration_id == message.frame_id:
                    values: dict[str, Any] = message.decode(bytes(found.data))
                    return values
            raise AssertionError(name)

        send("Clear_Errors", Identify=0)
        send("Set_Controller_Mode", Control_Mode=1, Input_Mode=1)
        send("Set_Limits", Velocity_Limit=10.0, Current_Limit=5.0)
        send("Set_Axis_State", Axis_Requested_State=8)
        while receive("Heartbeat")["Axis_State"] != 8:
            pass
        send("Set_Input_Torque", Input_Torque=-0.0125)
        threading.Event().wait(0.2)
        for _ in range(60):
            estimate, iq = receive("Get_Encoder_Estimates"), receive("Get_Iq")
        assert iq["Iq_Measured"] == pytest.approx(-0.25, abs=1e-6)
        assert iq["Iq_Setpoint"] == pytest.approx(-0.25, abs=1e-6)
        assert estimate["Pos_Estimate"] == pytest.approx(-0.25 / (2 * np.pi), abs=1e-4)
        assert receive("Get_Temperature")["Motor_Temperature"] == 30.0
        assert axes[2].values["current_soft_max"] == 5.0
        bus.shutdown()


def test_our_commands_decode_with_the_dbc() -> None:
    dbc: Any = cantools.database.load_file(Path(__file__).parents[1] / "golden" / "odrive_cansimple.dbc")
    for frame, values in (
        (codec.axis_state(3, 8), {"Axis_Requested_State": 8}),
        (codec.controller_mode(3, 3), {"Control_Mode": 3, "Input_Mode": 1}),
        (codec.input_torque(3, -0.5), {"Input_Torque": -0.5}),
        (codec.input_pos(3, 1.5, -0.25, 0.125), {"Input_Pos": 1.5, "Vel_FF": -0.25, "Torque_FF": 0.125}),
        (codec.input_vel(3, 2.0, 0.5), {"Input_Vel": 2.0, "Input_Torque_FF": 0.5}),
        (codec.limits(3, 10.0, 2.5), {"Velocity_Limit": 10.0, "Current_Limit": 2.5}),
        (codec.clear_errors(3), {"Identify": 0}),
    ):
        assert dbc.decode_message(frame.id, frame.data) == pytest.approx(values)


class _Mock(threading.Thread):
    """odrive-can's mock of a drive, in a thread with its own event loop."""

    def __init__(self, channel: str) -> None:
        super().__init__(daemon=True)
        self._channel, self.ready, self.stopping = channel, threading.Event(), threading.Event()
        self.mock: Any = None

    def run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        from odrive_can.mock import ODriveCANMock

        bus: Any = can.Bus(interface="virtual", channel=self._channel)
        self.mock = ODriveCANMock(axis_id=1, can_bus=bus)
        main = asyncio.create_task(self.mock.main())
        self.ready.set()
        while not self.stopping.is_set():
            await asyncio.sleep(0.02)
        main.cancel()
        self.mock.notifier.stop()
        bus.shutdown()


def test_our_driver_moves_the_mock_of_odrive_can() -> None:
    pytest.importorskip("odrive_can")
    peer = _Mock("flexor-peer")
    peer.start()
    assert peer.ready.wait(10.0)
    settings = OdriveSettings(
        name="mock",
        family="odrive",
        interface="virtual",
        channel="flexor-peer",
        heartbeat_ms=200,
        feedback_ms=100,
        device=(OdriveDevice(node=1, motor="motor_0", torque_constant_nm_a=1.0, travel_rad=(-2.0, 4.0)),),
    )
    bus = OdriveBus(settings, rigs.names(1))
    try:
        bus.configure((MotorSetup(index=0, name="motor_0", current_limit_a=5.0, mode=MotorMode.POSITION),))
        bus.activate()
        command, measurement = new(COMMAND), new(MEASUREMENT)
        bus.exchange(command, measurement, 0)
        command["motor_mode"][0, 0], command["motor_angle_rad"][0, 0] = MotorMode.POSITION, 3.0
        for _ in range(20):
            bus.exchange(command, measurement, 0)
        assert peer.mock.odrive.control_mode == "POSITION_CONTROL"
        assert measurement["motor_angle_rad"][0, 0] == pytest.approx(3.0, abs=0.02)
        assert measurement["motor_status"][0, 0] == 0
        assert bus.deactivate() is True
        assert peer.mock.odrive.axis_state == "IDLE"
    finally:
        bus.close()
        peer.stopping.set()
        peer.join(5.0)
