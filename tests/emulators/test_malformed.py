"""No packet, however malformed, ends an emulated device, or brings it beyond its own limits."""

from __future__ import annotations

import socket
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drivers.collector import codec as collector
from drivers.collector.codec import Kind
from drivers.dynamixel import codec as dynamixel
from drivers.dynamixel.codec import BROADCAST, ID_MAX, ErrorCode, Instruction
from drivers.dynamixel.models import servo_model
from drivers.odrive import codec as odrive
from drivers.odrive.codec import AxisState, Command, Frame
from signals.modes import MotorMode
from sim.emulators.chain import ChainEmulator
from sim.emulators.collector import CollectorEmulator
from sim.emulators.hallstream import HallBridgeEmulator, OrcaEmulator
from sim.emulators.odrive import ENDPOINTS, EmulatedAxis
from sim.emulators.registers import TABLE_BYTES
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs

MODEL = servo_model(rigs.MODEL)
MALFORMED = bytes.fromhex("fffffd00fe0300833d41")
"""A sync write of nothing."""
N = 2
words = st.integers(0, 0xFFFF)
addresses = st.one_of(st.sampled_from([r.address for r in MODEL.registers.values()]), words)
"""Registers, and anywhere else."""
lengths = st.one_of(st.integers(0, 8), words)


def _word(value: int) -> bytes:
    return value.to_bytes(2, "little")


spans = st.builds(lambda a, n, rest: _word(a) + _word(n) + rest, addresses, lengths, st.binary(max_size=24))
writes = st.builds(lambda a, data: _word(a) + data, addresses, st.binary(max_size=8))
packets = st.tuples(
    st.one_of(st.sampled_from([1, 2, BROADCAST]), st.integers(0, 255)),
    st.one_of(st.sampled_from([int(i) for i in Instruction]), st.integers(0, 255)),
    st.one_of(st.binary(max_size=16), spans, writes),
)


class Bench:
    """A chain whose line is a list of bytes."""

    def __init__(self, folder: Path) -> None:
        self.side = SpringSide(N)
        self.chain: ChainEmulator = rigs.servo_chain(folder / "servos", N, self.side)
        self.now_ns = 0

    def send(self, data: bytes) -> None:
        """As if the driver had sent it."""
        self.chain.line.read = lambda: data  # type: ignore[method-assign]
        self.chain.line.baud = lambda: rigs.BAUD  # type: ignore[method-assign]
        self.now_ns += 1_000_000
        self.chain.readable(-1, self.now_ns)
        self.chain.on_time(self.now_ns)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        made = Bench(Path(folder))
        yield made
        made.chain.close()


@settings(max_examples=150, deadline=None)
@given(sent=st.lists(packets, max_size=12))
@example(sent=[(BROADCAST, int(Instruction.SYNC_WRITE), b"")])
@example(sent=[(1, int(Instruction.READ), _word(TABLE_BYTES - 1) + _word(8))])
@example(sent=[(1, int(Instruction.READ), _word(0xFFFF) + _word(0xFFFF))])
@example(sent=[(1, int(Instruction.WRITE), _word(TABLE_BYTES - 1) + bytes(8))])
def test_no_packet_ends_a_chain_or_leads_it_beyond_its_ranges(
    sent: list[tuple[int, int, bytes]], bench: Bench
) -> None:
    for device_id, instruction, parameters in sent:
        bench.send(dynamixel.packet(device_id, instruction, parameters))
    bench.send(MALFORMED)
    for servo in bench.chain.servos:
        assert servo.get("model_number") == MODEL.model_number and servo.get("firmware") == 50
        assert servo.id <= ID_MAX
        assert servo.get("current_limit") <= (MODEL.current_limit_max or 0)
        assert len(servo.table) == TABLE_BYTES
        told_a = abs(float(bench.side.command["motor_current_a"][0, servo.motor]))
        assert told_a <= servo.get("current_limit") * MODEL.current_lsb_a + 1e-12
        if not servo.get("torque_enable"):
            assert bench.side.command["motor_mode"][0, servo.motor] == MotorMode.OFF


READ_ONLY = ("model_number", "firmware", "present_position", "hardware_error")
BEYOND = (("id", ID_MAX + 1), ("id", BROADCAST), ("baud", 8), ("torque_enable", 2), ("operating_mode", 2))


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_a_servo_measures_is_not_written(name: str, bench: Bench) -> None:
    servo, register = bench.chain.servos[0], MODEL.registers[name]
    before = servo.get(name)
    assert servo.write(register.address, register.encode(1)) == ErrorCode.ACCESS
    assert servo.get(name) == before


@pytest.mark.parametrize(("name", "value"), (*BEYOND, ("current_limit", (MODEL.current_limit_max or 0) + 1)))
def test_a_value_beyond_its_range_is_refused(name: str, value: int, bench: Bench) -> None:
    servo, register = bench.chain.servos[0], MODEL.registers[name]
    servo.put("torque_enable", 0)
    before = servo.get(name)
    assert servo.write(register.address, register.encode(value)) == ErrorCode.RANGE
    assert servo.get(name) == before


# --- CANSimple ---------------------------------------------------------------------------------------------

axis_commands = st.one_of(st.sampled_from([int(c) for c in Command]), st.integers(0, 31))
endpoint_frames = st.builds(
    lambda op, e, data: odrive.sdo(1, op, e, data),
    st.integers(0, 255),
    st.one_of(st.sampled_from(list(ENDPOINTS)), words),
    st.binary(min_size=4, max_size=4),
)
frames = st.one_of(
    st.builds(lambda c, data: Frame(odrive.frame_id(1, c), data), axis_commands, st.binary(max_size=8)),
    st.builds(odrive.axis_state, st.just(1), st.sampled_from([1, 8])),
    st.builds(odrive.controller_mode, st.just(1), st.integers(0, 4)),
    endpoint_frames,
)


@settings(max_examples=300, deadline=None)
@given(sent=st.lists(frames, max_size=16), positions=st.booleans())
def test_no_frame_ends_an_axis_or_leads_it_beyond_its_limit(sent: list[Frame], positions: bool) -> None:
    side = SpringSide(1)
    side.positions = positions
    axis = EmulatedAxis(1, side, 0)
    now_ns = 0
    for frame in sent:
        now_ns += 3_000_000
        for answer in axis.received(frame, now_ns) + axis.cyclic(now_ns):
            assert answer.node == 1 and len(answer.data) == 8
        c, top_a = side.command[0], max(0.0, axis.values["current_soft_max"])
        if c["motor_mode"][0] == MotorMode.CURRENT and frame.command == Command.INPUT_TORQUE:
            assert abs(float(c["motor_current_a"][0])) <= top_a * (1.0 + 1e-6)
        if axis.state != AxisState.CLOSED_LOOP:
            assert c["motor_mode"][0] == MotorMode.OFF
        assert positions or c["motor_mode"][0] != MotorMode.POSITION


def test_an_estop_lets_an_axis_go_and_latches() -> None:
    side = SpringSide(1)
    axis = EmulatedAxis(1, side, 0)
    setup = (
        odrive.controller_mode(1, odrive.ControlMode.TORQUE),
        odrive.axis_state(1, AxisState.CLOSED_LOOP),
    )
    for frame in (*setup, odrive.input_torque(1, 0.01)):
        axis.received(frame, 1)
    assert side.command["motor_current_a"][0, 0] > 0.0
    axis.received(odrive.estop(1), 2)
    assert side.command["motor_mode"][0, 0] == MotorMode.OFF
    assert axis.error == odrive.ESTOP_REQUESTED["0.6"]
    axis.received(setup[1], 3)
    assert axis.state == AxisState.IDLE, "closed loop with a latched error"


@given(value=st.floats(), other=st.floats())
def test_no_number_is_too_large_for_a_frame(value: float, other: float) -> None:
    for frame in (
        odrive.input_torque(1, value),
        odrive.input_vel(1, value, other),
        odrive.limits(1, value, other),
        odrive.pair(1, Command.ENCODER, value, other),
    ):
        assert len(frame.data) == 8
    if np.isfinite(value):
        turns = odrive.position_of(odrive.input_pos(1, value))
        assert turns is not None and abs(turns[0]) <= odrive.SINGLE_MAX


# --- collector and streams -------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    kind=st.one_of(st.sampled_from([int(k) for k in Kind]), st.integers(0, 255)),
    slots=st.one_of(st.just(N), st.integers(0, 255)),
    session=st.sampled_from([0, 7, 8]),
    body=st.one_of(st.binary(max_size=64), st.binary(min_size=44 - 20 + 8 * N, max_size=44 - 20 + 8 * N)),
    raw=st.booleans(),
)
def test_no_datagram_ends_a_board(kind: int, slots: int, session: int, body: bytes, raw: bool) -> None:
    board = CollectorEmulator(SpringSide(N, N), N, N)
    guest = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        head = collector.MAGIC.to_bytes(4, "little") + bytes((kind, slots)) + bytes(2)
        datagram = head + session.to_bytes(4, "little") + (1).to_bytes(4, "little") + body
        datagram = body if raw else datagram + zlib.crc32(datagram).to_bytes(4, "little")
        guest.sendto(datagram, (board.host, board.port))
        board.readable(0, 1)
        board.on_time(2**60)
        assert not board.armed
    finally:
        guest.close()
        board.close()


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_bytes_end_a_sensor_stream(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        side = SpringSide(1, 17)
        streams = (
            HallBridgeEmulator(side, list(range(4)), Path(folder) / "hall", clock=lambda: 0),
            OrcaEmulator(side, list(range(17)), Path(folder) / "orca", clock=lambda: 0),
        )
        for stream in streams:
            stream.line.read = lambda: data  # type: ignore[method-assign]
            stream.readable(-1, 1_000_000)
            stream.on_time(1_000_000)
            assert stream.sent > 0 or not getattr(stream, "streaming", True), (
                "on, unless it was asked to stop"
            )
            stream.close()


# --- what the hand behind may show --------------------------------------------------------------------------

ABSURD = st.one_of(st.floats(), st.sampled_from([2.0**31, -(2.0**31), 1e300, float("nan"), 5e-324]))


@settings(max_examples=100, deadline=None)
@given(angle=ABSURD, speed=ABSURD, current=ABSURD, degc=ABSURD)
def test_no_measurement_ends_a_device(
    angle: float, speed: float, current: float, degc: float, bench: Bench
) -> None:
    x = bench.side.measurement
    keep = x.copy()
    servo, axis = bench.chain.servos[0], EmulatedAxis(1, bench.side, 0)
    shown = ("present_position", "present_velocity", "present_current", "present_temperature")
    servo.sense(1)
    before = [servo.get(name) for name in shown]
    try:
        x["motor_angle_rad"], x["motor_speed_rad_s"] = angle, speed
        x["motor_current_a"], x["motor_temperature_degc"] = current, degc
        servo.sense(1)
        bench.side.advance = lambda now_ns: None  # type: ignore[method-assign]
        for command in (Command.ENCODER, Command.IQ, Command.TEMPERATURE):
            axis.received(Frame(odrive.frame_id(1, command), b""), 1)
    finally:
        del bench.side.advance
        x[:] = keep
    servo.sense(1)
    assert [servo.get(name) for name in shown] == before, "what was absurd does not live on"
