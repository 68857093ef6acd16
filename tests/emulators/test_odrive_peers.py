"""CANSimple and other people: the published DBC files, odrive-can's host and odrive-can's mock of a drive.

The DBC comes with odrive-can, so neither side of a comparison is ours. Three peers play the device against
our driver (cantools alone, the mock) or the host against our emulated axes (cantools alone, ``ODriveCAN``).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import can
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odrive_can.mock import ODriveCANMock
from odrive_can.odrive import ODriveCAN
from odrive_can.utils import get_dbc

from drivers.contract import Bench, Rig
from drivers.hal import MotorSetup
from drivers.odrive import codec
from drivers.odrive.codec import Command, Frame
from drivers.odrive.device import OdriveBus
from drivers.odrive.settings import OdriveDevice, OdriveSettings
from signals.modes import MotorMode
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs

DBC: Any = get_dbc("odrive-cansimple-0.6.10")
OLD_DBC: Any = get_dbc("odrive-cansimple-0.5.6")
TURN_RAD = 2.0 * np.pi
PATIENCE_S = 20.0

nodes = st.integers(0, 7)  # the DBC has eight axes
floats = st.floats(-1e6, 1e6, width=32)
words = st.integers(0, 2**32 - 1)


def said(frame: Frame, dbc: Any = DBC) -> tuple[str, dict[str, Any]]:
    """Name (without the axis) and values of a frame by the DBC."""
    message = dbc.get_message_by_frame_id(frame.id)
    axis, _, name = message.name.partition("_")
    assert axis == f"Axis{frame.node}"
    return name, message.decode(frame.data[: message.length], decode_choices=False)


def of_dbc(node: int, name: str, values: dict[str, Any], dbc: Any = DBC) -> Frame:
    """A frame that the DBC encodes."""
    message = dbc.get_message_by_name(f"Axis{node}_{name}")
    return Frame(message.frame_id, message.encode(values, strict=False))


# --- the codec against the DBC ----------------------------------------------------------------------------


@pytest.mark.parametrize("dbc", [DBC, OLD_DBC], ids=["0.6.10", "0.5.6"])
@given(node=nodes, state=words, control=words, first=floats, second=floats)
def test_our_commands_decode_with_the_published_dbc(
    dbc: Any, node: int, state: int, control: int, first: float, second: float
) -> None:
    for frame, name, values in (
        (codec.axis_state(node, state), "Set_Axis_State", {"Axis_Requested_State": state}),
        (
            codec.controller_mode(node, control),
            "Set_Controller_Mode",
            {"Control_Mode": control, "Input_Mode": 1},
        ),
        (codec.input_torque(node, first), "Set_Input_Torque", {"Input_Torque": first}),
        (
            codec.input_vel(node, first, second),
            "Set_Input_Vel",
            {"Input_Vel": first, "Input_Torque_FF": second},
        ),
        (codec.limits(node, first, second), "Set_Limits", {"Velocity_Limit": first, "Current_Limit": second}),
    ):
        assert said(frame, dbc) == (name, pytest.approx(values))
    assert said(codec.clear_errors(node), dbc)[0] == "Clear_Errors"
    if dbc is DBC:  # the older one leaves it out
        assert said(codec.estop(node), dbc)[0] == "Estop"


@given(nodes, floats, st.floats(-32.7, 32.7), st.floats(-32.7, 32.7))
def test_our_position_command_decodes_with_the_published_dbc(
    node: int, turns: float, speed: float, torque: float
) -> None:
    name, values = said(codec.input_pos(node, turns, speed, torque))
    assert name == "Set_Input_Pos" and values["Input_Pos"] == turns
    assert abs(values["Vel_FF"] - speed) <= 0.000501 and abs(values["Torque_FF"] - torque) <= 0.000501


@given(nodes, st.sampled_from((0, 1)), st.integers(0, 65535), st.binary(min_size=0, max_size=4))
def test_our_endpoint_requests_decode_with_the_published_dbc(
    node: int, opcode: int, endpoint: int, data: bytes
) -> None:
    name, values = said(codec.sdo(node, opcode, endpoint, data))
    assert name == "RxSdo"
    assert (values["Opcode"], values["Endpoint_ID"]) == (opcode, endpoint)
    assert values["Value"] == int.from_bytes(data, "little")


@given(nodes, words, st.integers(0, 255), floats, floats)
def test_feedback_that_the_published_dbc_encodes_is_read_right(
    node: int, error: int, state: int, first: float, second: float
) -> None:
    beat = {"Axis_Error": error, "Axis_State": state, "Procedure_Result": 0, "Trajectory_Done_Flag": 1}
    assert codec.heartbeat_of(of_dbc(node, "Heartbeat", beat)) == codec.Heartbeat(error, state)
    for name, command, names in (
        ("Get_Encoder_Estimates", Command.ENCODER, ("Pos_Estimate", "Vel_Estimate")),
        ("Get_Iq", Command.IQ, ("Iq_Setpoint", "Iq_Measured")),
        ("Get_Temperature", Command.TEMPERATURE, ("FET_Temperature", "Motor_Temperature")),
        ("Get_Bus_Voltage_Current", Command.BUS_VOLTAGE_CURRENT, ("Bus_Voltage", "Bus_Current")),
    ):
        frame = of_dbc(node, name, dict(zip(names, (first, second), strict=True)))
        assert (frame.node, frame.command, codec.pair_of(frame)) == (node, command, (first, second))
        assert codec.pair(node, command, first, second) == frame
    version = {s.name: 0 for s in DBC.get_message_by_name(f"Axis{node}_Get_Version").signals}
    version |= {"Fw_Version_Major": 0, "Fw_Version_Minor": 6, "Fw_Version_Revision": state}
    assert codec.firmware_of(of_dbc(node, "Get_Version", version)) == (0, 6, state)


@pytest.mark.parametrize(("firmware", "dbc"), [("0.6", DBC), ("0.5", OLD_DBC)])
def test_error_bits_are_those_of_the_published_dbc(firmware: str, dbc: Any) -> None:
    (error,) = (s for s in dbc.get_message_by_name("Axis0_Heartbeat").signals if s.name == "Axis_Error")
    names = {number: str(name) for number, name in error.choices.items()}
    assert names[codec.WATCHDOG_EXPIRED[firmware]] == "WATCHDOG_TIMER_EXPIRED"
    assert names[codec.ESTOP_REQUESTED[firmware]] == "ESTOP_REQUESTED"


# --- hosts of other people, our emulated axes ---------------------------------------------------------


def test_cantools_alone_sets_up_and_drives_our_axis() -> None:
    side = SpringSide(3)
    server, axes = rigs.axis_bus(3, side)
    with EmulatorThread([server]):
        bus = can.Bus(interface="socketcand", channel="can0", host=server.host, port=server.port)

        def send(name: str, **values: float) -> None:
            frame = of_dbc(3, name, values)
            bus.send(can.Message(arbitration_id=frame.id, data=frame.data, is_extended_id=False))

        def until(name: str, holds: Callable[[dict[str, Any]], bool]) -> None:
            number, end = DBC.get_message_by_name(f"Axis3_{name}").frame_id, time.monotonic() + PATIENCE_S
            while time.monotonic() < end:
                found = bus.recv(1.0)
                if found is not None and found.arbitration_id == number:
                    if holds(said(Frame(number, bytes(found.data)))[1]):
                        return
            raise AssertionError(name)

        try:
            send("Clear_Errors", Identify=0)
            send("Set_Controller_Mode", Control_Mode=1, Input_Mode=1)
            send("Set_Limits", Velocity_Limit=10.0, Current_Limit=5.0)
            send("Set_Axis_State", Axis_Requested_State=8)
            until("Heartbeat", lambda v: v["Axis_State"] == 8 and v["Axis_Error"] == 0)
            send("Set_Input_Torque", Input_Torque=-0.0125)
            until("Get_Iq", lambda v: v["Iq_Measured"] == pytest.approx(-0.25, abs=1e-6))
            until("Get_Iq", lambda v: v["Iq_Setpoint"] == pytest.approx(-0.25, abs=1e-6))
            rest = pytest.approx(-0.25 / TURN_RAD, abs=1e-4)
            until("Get_Encoder_Estimates", lambda v: v["Pos_Estimate"] == rest)
            until("Get_Temperature", lambda v: v["Motor_Temperature"] == 30.0)
            assert axes[2].values["current_soft_max"] == 5.0
            send("RxSdo", Opcode=0, Endpoint_ID=10, Reserved=0, Value=0)
            five = int.from_bytes(np.float32(5.0).tobytes(), "little")
            until("TxSdo", lambda v: (v["Endpoint_ID"], v["Value"]) == (10, five))
        finally:
            bus.shutdown()


def test_the_host_of_odrive_can_drives_our_axis_and_asks_it() -> None:
    side = SpringSide(3)
    server, axes = rigs.axis_bus(3, side)

    async def drive(host: ODriveCAN) -> tuple[dict[str, Any], dict[str, Any]]:
        """What it answers to the host's remote frames; the bus voltage comes in no other way."""
        await asyncio.wait_for(host.start(), PATIENCE_S)
        host.clear_errors()
        host.set_controller_mode("TORQUE_CONTROL", "PASSTHROUGH")
        host.set_limits(10.0, 5.0)
        host.set_axis_state_no_wait("CLOSED_LOOP_CONTROL")
        end = time.monotonic() + PATIENCE_S
        while host.axis_state != "CLOSED_LOOP_CONTROL" and time.monotonic() < end:
            await asyncio.sleep(0.02)
        host.check_errors()
        host.set_input_torque(0.01)
        seen: list[float] = []
        host.feedback_callback = lambda message, _host: seen.append(message.data["Pos_Estimate"])
        while not (seen and abs(seen[-1] - 0.2 / TURN_RAD) < 1e-4) and time.monotonic() < end:
            await asyncio.sleep(0.02)
        # in this order: of estimates a cyclic one may follow the answer into the host's queue
        supply = await host._request("Get_Bus_Voltage_Current", PATIENCE_S)
        return await host._request("Get_Encoder_Estimates", PATIENCE_S), supply

    with EmulatorThread([server]):
        bus = can.Bus(interface="socketcand", channel="can0", host=server.host, port=server.port)
        host = ODriveCAN(axis_id=2, can_bus=bus)
        try:
            encoder, supply = asyncio.run(drive(host))
            assert encoder["Pos_Estimate"] == pytest.approx(0.2 / TURN_RAD, abs=1e-4)
            assert supply["Bus_Voltage"] == 24.0 and supply["Bus_Current"] == pytest.approx(0.2)
            assert axes[1].values["current_soft_max"] == 5.0
            assert [side.command["motor_mode"][0, i] for i in (0, 2)] == [MotorMode.OFF] * 2
        finally:
            host._running = False
            if host._recieve_thread is not None:
                host._recieve_thread.join(5.0)
            bus.shutdown()


# --- devices of other people, our driver ----------------------------------------------------------------


class DbcDrive(threading.Thread):
    """A drive made of the published DBC and ten lines of physics: turns = torque, one turn per N m."""

    def __init__(self, channel: str, node: int) -> None:
        super().__init__(daemon=True)
        self._bus: Any = can.Bus(interface="virtual", channel=channel)
        self.node, self.stopping = node, threading.Event()
        self.state, self.torque, self.limits = 1, 0.0, {"Current_Limit": 0.0}
        self.commands: list[str] = []

    def _say(self, name: str, **values: float) -> None:
        frame = of_dbc(self.node, name, values)
        self._bus.send(can.Message(arbitration_id=frame.id, data=frame.data, is_extended_id=False))

    def run(self) -> None:
        beat = encoder = 0.0
        while not self.stopping.is_set():
            message = self._bus.recv(0.002)
            if message is not None:
                self._obey(Frame(message.arbitration_id, bytes(message.data)))
            now = time.monotonic()
            if now >= encoder:
                encoder = now + 0.01
                self._say("Get_Encoder_Estimates", Pos_Estimate=self.torque, Vel_Estimate=0.0)
                self._say("Get_Iq", Iq_Setpoint=self.torque, Iq_Measured=self.torque)
            if now >= beat:
                beat = now + 0.05
                values = {"Axis_Error": 0, "Procedure_Result": 0, "Trajectory_Done_Flag": 1}
                self._say("Heartbeat", Axis_State=self.state, **values)
        self._bus.shutdown()

    def _obey(self, frame: Frame) -> None:
        name, values = said(frame)
        self.commands.append(name)
        if name == "Set_Axis_State":
            self.state = int(values["Axis_Requested_State"])
            self.torque = 0.0
        elif name == "Set_Limits":
            self.limits = values
        elif name == "Set_Input_Torque" and self.state == 8:
            self.torque = values["Input_Torque"]


@pytest.fixture
def dbc_drive() -> Iterator[DbcDrive]:
    drive = DbcDrive("flexor-dbc", 5)
    drive.start()
    yield drive
    drive.stopping.set()
    drive.join(5.0)


def _settings(channel: str, node: int, **changes: Any) -> OdriveSettings:
    device = OdriveDevice(node=node, motor="motor_0", torque_constant_nm_a=0.1, travel_rad=(-3.0, 3.0))
    return OdriveSettings(
        name="peer",
        family="odrive",
        interface="virtual",
        channel=channel,
        device=(device,),
        **({"heartbeat_ms": 50, "feedback_ms": 20, "without_watchdog": True} | changes),
    )


def test_our_driver_moves_a_drive_that_is_nothing_but_the_published_dbc(dbc_drive: DbcDrive) -> None:
    bus = OdriveBus(_settings("flexor-dbc", 5), rigs.names(1))
    try:
        bench = Bench(Rig(bus=bus, motors=(0,), current_limit_a=2.5))
        bench.start()
        assert dbc_drive.limits["Current_Limit"] == 2.5 and dbc_drive.state == 8
        assert {"Clear_Errors", "Set_Controller_Mode", "Set_Limits"} <= set(dbc_drive.commands)
        bench.pull(-0.75, 0.0)

        def there() -> bool:
            # -0.75 A with 0.1 Nm/A is -0.075 Nm, and the drive turns one turn per Nm
            wanted = pytest.approx(-0.075 * TURN_RAD, abs=1e-4)
            return bool(bench.of_motors("motor_angle_rad")[0] == wanted and bench.status == 0)

        assert bench.comes(1.0, there), bench.tell()
        assert bench.comes(1.0, lambda: bench.of_motors("motor_current_a")[0] == pytest.approx(-0.075))
        assert bus.deactivate() is True and dbc_drive.state == 1 and dbc_drive.torque == 0.0
    finally:
        bus.close()


class Mock(threading.Thread):
    """odrive-can's mock of a drive, in a thread with its own event loop."""

    def __init__(self, channel: str) -> None:
        super().__init__(daemon=True)
        self._channel, self.ready, self.stopping = channel, threading.Event(), threading.Event()
        self.mock: Any = None

    def run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
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
    peer = Mock("flexor-peer")
    peer.start()
    assert peer.ready.wait(PATIENCE_S)
    # the mock beats every 200 ms and a bit
    bus = OdriveBus(_settings("flexor-peer", 1, heartbeat_ms=250, feedback_ms=100), rigs.names(1))
    try:
        setup = MotorSetup(index=0, name="motor_0", current_limit_a=5.0, mode=MotorMode.POSITION)
        bus.configure((setup,))
        bus.activate()
        bench = Bench(Rig(bus=bus, motors=(0,)))
        bench.rest(0.1)
        bench.command["motor_mode"][0, 0] = MotorMode.POSITION
        bench.command["motor_angle_rad"][0, 0] = 2.5

        def there() -> bool:
            return bool(abs(bench.of_motors("motor_angle_rad")[0] - 2.5) < 0.02 and bench.status == 0)

        assert bench.comes(1.5, there), bench.tell()
        assert peer.mock.odrive.control_mode == "POSITION_CONTROL"
        assert bus.deactivate() is True
        assert peer.mock.odrive.axis_state == "IDLE"
    finally:
        bus.close()
        peer.stopping.set()
        peer.join(5.0)
