"""Codecs against published bytes, round trips, input of every shape: exact both ways, never an exception."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.collector import codec as collector
from drivers.collector.codec import Description, Header, Kind
from drivers.collector.laws import fill_command, fill_sample, fixed, take_command, take_sample
from drivers.collector.wire import CommandWire, SampleWire
from drivers.dynamixel import codec as dynamixel
from drivers.dynamixel.codec import PacketParser
from drivers.dynamixel.models import models, servo_model
from drivers.hallbridge import codec as hall
from drivers.hallbridge import orca
from drivers.odrive import codec as odrive
from signals.records import COMMAND, MEASUREMENT, new
from tests.golden import collector as collector_golden
from tests.golden import dynamixel as dynamixel_golden
from tests.golden import hallbridge as hall_golden
from tests.golden import odrive as odrive_golden

INDEX = np.arange(64, dtype=np.int64)


# --- Dynamixel ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "v", dynamixel_golden.PUBLISHED + dynamixel_golden.SDK + dynamixel_golden.STUFFING, ids=lambda v: v.name
)
def test_dynamixel_packets_are_the_published_ones_both_ways(v: dynamixel_golden.Vector) -> None:
    assert dynamixel.packet(v.id, v.instruction, v.parameters) == v.wire
    (found,) = PacketParser().feed(v.wire, 0)
    assert (found.id, found.instruction, found.parameters) == (v.id, v.instruction, v.parameters)


def test_dynamixel_helpers_build_the_published_requests() -> None:
    wires = {v.name: v.wire for v in dynamixel_golden.PUBLISHED + dynamixel_golden.SDK}
    assert dynamixel.ping(1) == wires["ping"]
    assert dynamixel.read(1, 132, 4) == wires["read"]
    assert dynamixel.write(1, 116, (512).to_bytes(4, "little")) == wires["write"]
    assert dynamixel.reboot(1) == wires["reboot"]
    assert dynamixel.sync_read(bytes((1, 2)), 132, 4, fast=False) == wires["sync read"]
    assert dynamixel.sync_read(bytes((3, 7, 4)), 132, 4, fast=True) == wires["fast sync read"]
    data = (150).to_bytes(4, "little") + (170).to_bytes(4, "little")
    assert dynamixel.sync_write(bytes((1, 2)), 116, 4, data) == wires["sync write"]


def test_fast_replies_keep_every_block_in_front_of_the_damage() -> None:
    raw, blocks = dynamixel_golden.FAST_SYNC_REPLY, dynamixel_golden.FAST_SYNC_BLOCKS
    assert dynamixel.fast_reply(blocks) == raw
    assert dynamixel.fast_blocks(raw, 4) == blocks
    for end in range(len(raw)):
        whole = max(0, (end - dynamixel.FAST_START) // 8)
        assert dynamixel.fast_blocks(raw[:end], 4) == blocks[:whole]
    for bit in range(dynamixel.FAST_START * 8, len(raw) * 8):
        hurt = bytearray(raw)
        hurt[bit // 8] ^= 1 << bit % 8
        assert dynamixel.fast_blocks(bytes(hurt), 4) == blocks[: (bit // 8 - dynamixel.FAST_START) // 8]


def test_a_packet_without_its_stuffing_is_read_and_flagged() -> None:
    parser = PacketParser()
    (found,) = parser.feed(dynamixel_golden.SDK_UNSTUFFED, 0)
    assert found.stuffing_missing and parser.counts.framing == 1
    assert found.parameters == bytes.fromhex("74 00 ff ff fd 00")


@given(
    st.integers(0, 252),
    st.integers(0, 255).filter(lambda i: i != 0x55),
    st.lists(st.sampled_from((b"\xff\xff\xfd", b"\xff", b"\xfd", b"\0", b"abc")), max_size=30).map(b"".join),
    st.lists(st.integers(1, 40), max_size=20),
)
def test_every_packet_survives_stuffing_and_any_split(
    device_id: int, instruction: int, parameters: bytes, cuts: list[int]
) -> None:
    wire = dynamixel.packet(device_id, instruction, parameters)
    parser, found, at = PacketParser(), [], 0
    for size in [*cuts, len(wire)]:
        found += parser.feed(wire[at : at + size], 0)
        at += size
    assert [(p.id, p.instruction, p.parameters) for p in found] == [(device_id, instruction, parameters)]
    assert parser.counts.errors() == 0 and parser.pending == b""


@given(st.binary(max_size=4000), st.integers(0, 10**9))
def test_no_bytes_make_the_packet_parser_raise_or_keep_more_than_a_packet(data: bytes, now_ns: int) -> None:
    parser = PacketParser()
    parser.feed(data, now_ns)
    assert len(parser.pending) <= dynamixel.MAX_LENGTH + 7
    parser.expire(now_ns + 10**12)
    assert len(parser.pending) < 7


@pytest.mark.parametrize("name", list(models()))
def test_every_register_holds_its_extremes_and_nothing_of_its_neighbour(name: str) -> None:
    """B20: sign loss, width leaks."""
    for register in servo_model(name).registers.values():
        low = -(1 << 8 * register.size - 1) if register.signed else 0
        high = (1 << 8 * register.size - register.signed) - 1
        for value in {low, -1 if register.signed else 0, 0, 1, high}:
            data = register.encode(value)
            table = bytearray(b"\xff" * 1024)
            table[register.address : register.address + register.size] = data
            assert register.decode(bytes(table[register.address : register.address + register.size])) == value
        with pytest.raises(OverflowError):
            register.encode(high + 1)
        with pytest.raises(ValueError):
            register.decode(bytes(register.size + 1))


# --- ODrive ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("frame_id", "data", "call"), odrive_golden.FRAMES)
def test_odrive_commands_are_the_dbc_bytes(frame_id: int, data: str, call: tuple) -> None:  # type: ignore[type-arg]
    frame = getattr(odrive, call[0])(*call[1:])
    assert (frame.id, frame.data) == (frame_id, bytes.fromhex(data))


def test_odrive_feedback_is_read_as_the_dbc_says() -> None:
    for frame_id, data, pair in odrive_golden.FEEDBACK:
        assert odrive.pair_of(odrive.Frame(frame_id, bytes.fromhex(data))) == pair
    frame_id, data, beat = odrive_golden.HEARTBEAT
    assert odrive.heartbeat_of(odrive.Frame(frame_id, bytes.fromhex(data))) == beat


@given(st.integers(0, 0x7FF), st.binary(max_size=64))
def test_no_frame_gives_a_number_that_is_none(frame_id: int, data: bytes) -> None:
    frame = odrive.Frame(frame_id, data)
    pair, torque = odrive.pair_of(frame), odrive.torque_of(frame)
    assert pair is None or (len(data) == 8 and all(map(math.isfinite, pair)))
    assert torque is None or math.isfinite(torque)
    for read in (odrive.heartbeat_of, odrive.position_of, odrive.u32_of, odrive.u32_pair_of):
        read(frame)


@given(st.integers(0, 62), st.floats(-1e6, 1e6, width=32), st.floats(-30, 30), st.floats(-30, 30))
def test_odrive_set_points_round_trip(node: int, value: float, speed: float, torque: float) -> None:
    assert odrive.torque_of(odrive.input_torque(node, value)) == value
    frame = odrive.input_pos(node, value, speed, torque)
    found = odrive.position_of(frame)
    assert found is not None and frame.node == node
    assert found[0] == value
    assert abs(found[1] - speed) <= 0.0005001 and abs(found[2] - torque) <= 0.0005001


# --- Hall bridge and ORCA -------------------------------------------------------------------------


def test_hall_frame_is_the_one_of_the_note() -> None:
    assert hall.crc16(b"123456789") == hall_golden.CRC_CHECK
    words = np.array([[0, 1, 2048, 4095]], dtype=np.uint16)
    assert hall.sample(7, 123456, words) == hall_golden.WIRE
    parser = hall.HallParser()
    parser.feed(b"\0", 0)
    (found,) = parser.feed(hall_golden.WIRE, 0)
    assert isinstance(found, hall.Sample)
    assert (found.seq, found.t_us, found.words.tolist()) == (7, 123456, words.tolist())


@given(st.integers(1, 64), st.integers(1, 16), st.integers(0, 65535), st.integers(0, 2**32 - 1))
def test_hall_batches_round_trip(channels: int, samples: int, seq: int, t_us: int) -> None:
    seed = seq ^ t_us
    words = np.random.default_rng(seed).integers(0, 65536, (samples, channels), dtype=np.uint16)
    found, reason = hall.opened(hall.sample(seq, t_us, words)[:-1])
    assert isinstance(found, hall.Sample) and reason == ""
    assert (found.seq, found.t_us) == (seq, t_us) and (found.words == words).all()


@given(st.binary(max_size=5000))
def test_no_bytes_make_the_sensor_parsers_raise_or_grow(data: bytes) -> None:
    hall_parser, orca_parser = hall.HallParser(), orca.OrcaParser()
    hall_parser.feed(data, 0)
    orca_parser.feed(data, 0)
    assert len(hall_parser._buffer) <= hall.MAX_WIRE
    assert len(orca_parser._buffer) < orca.FRAME_BYTES


@given(st.lists(st.integers(0, 0x3FFF), min_size=17, max_size=17), st.integers(0, 16))
def test_orca_frames_round_trip_and_show_parity_per_word(values: list[int], hurt: int) -> None:
    wire = bytearray(orca.frame(np.array(values)))
    assert sum(wire) & 0xFF == 0
    (found,) = orca.OrcaParser().feed(bytes(wire), 0)
    assert found.parity_good.all() and (found.words & orca.VALUE_MASK).tolist() == values
    wire[6 + 2 * hurt] ^= 0x01
    wire[-1] = -sum(wire[:-1]) & 0xFF
    (found,) = orca.OrcaParser().feed(bytes(wire), 0)
    assert np.nonzero(~found.parity_good)[0].tolist() == [hurt]


# --- collector ------------------------------------------------------------------------------------


def test_collector_command_is_the_specified_bytes() -> None:
    wire, command = CommandWire(2), new(COMMAND)
    command["axis_angle_rad"] = 0.5, -0.5
    command["axis_enable"] = 1, 0
    command["motor_angle_rad"][0, :2] = 1.0, -1.0
    command["motor_current_a"][0, :2] = 0.5, -1.0
    command["motor_mode"][0, :2] = 1, 2
    assert fill_command(command, wire.head, wire.slots, INDEX[:2], 2) == 2 * 2 + 1
    wire.seal(collector.CommandFlag.ARM, 0xAABBCCDD, 7, 123456789)
    assert bytes(wire.datagram)[:-4] == collector_golden.COMMAND
    assert wire.opened(wire.length) == (1, 0xAABBCCDD, 7, 123456789)
    back = new(COMMAND)
    take_command(wire.head, wire.slots, 2, back)
    assert back["motor_current_a"][0, :2].tolist() == [0.5, -1.0]


def test_collector_sample_is_the_specified_bytes() -> None:
    wire, measurement = SampleWire(1), new(MEASUREMENT)
    body = collector_golden.SAMPLE
    sealed = collector.seal(body)
    wire.buffer[: len(sealed)] = sealed
    assert wire.opened(len(sealed)) == (collector.SampleFlag.ARMED, 10**10, 7)
    bad = take_sample(wire.head, wire.slots, INDEX[:1], INDEX[:1], 2, 1 / 16, 10**10, 0, measurement)
    x = measurement[0]
    assert bad == 1 and x["axis_status"].tolist() == [0, 2]
    assert x["motor_angle_rad"][0] == 0.25 and x["motor_speed_rad_s"][0] == -0.5
    assert x["motor_current_a"][0] == 1.0 and x["motor_temperature_degc"][0] == 31.0
    assert x["hall_fine_count"][0] == 2048.5 and x["hall_count"][0] == 2049
    assert x["motor_time_ns"][0] == 10**10 - 12_000
    assert x["axis_angle_rad"].tolist() == [0.5, 0.0]


@given(st.integers(0, 2**32 - 1))
def test_collector_records_round_trip_bit_for_bit(seed: int) -> None:
    """What has been on the wire once comes back the same for ever."""
    rng, n = np.random.default_rng(seed), 38
    measurement, wire = new(MEASUREMENT), SampleWire(n)
    x = measurement[0]
    x["motor_angle_rad"][:n] = rng.uniform(-1000, 1000, n)
    x["motor_speed_rad_s"][:n] = rng.uniform(-500, 500, n)
    x["motor_current_a"][:n] = rng.uniform(-15, 15, n)
    x["motor_temperature_degc"][:n] = rng.uniform(-40, 150, n)
    x["hall_fine_count"][:n] = rng.uniform(0, 4095, n)
    first, second = new(MEASUREMENT), new(MEASUREMENT)
    for source, target in ((measurement, first), (first, second)):
        fill_sample(source, wire.head, wire.slots, 0, 16.0, 0)
        take_sample(wire.head, wire.slots, INDEX[:n], INDEX[:n], 0, 1 / 16, 0, 0, target)
    assert first.tobytes() == second.tobytes()
    far = np.abs(first["motor_angle_rad"][0, :n] - x["motor_angle_rad"][:n]).max()
    assert far <= collector.ANGLE_LSB_RAD / 2


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_becomes_a_legal_wire_integer(value: float) -> None:
    found = fixed(value, 2048.0, 32767.0)
    assert -32767 <= found <= 32767
    if math.isnan(value):
        assert found == 0


@given(st.integers(0, 10), st.integers(0, 64), st.integers(0, 2**32 - 1), st.binary(max_size=1400))
def test_what_the_collector_codec_reads_fits_the_boards_limits_and_the_rest_is_none(
    kind: int, slots: int, seq: int, body: bytes
) -> None:
    """Any sound datagram: a body that is no such message is none, never an exception."""
    head = collector.HEAD.pack(collector.MAGIC, kind, slots, 0, 1, seq)
    found = collector.opened(collector.seal(head + body))
    assert (found is None) == (kind not in set(collector.Kind))
    if found is not None:
        header, inner = found
        assert (inner, header.kind, header.slots, header.seq) == (body, kind, slots, seq)
        about = collector.described(body)
        assert about is None or max(about.n_motors, about.n_halls) <= collector.MAX_SLOTS
        asked, answer = collector.setup_of(header, body), collector.setup_answer(header, body)
        assert asked is None or len(asked[1]) == slots
        assert answer is None or len(answer.limits) == slots
        holder = collector.refused_by(body)
        assert holder is None or 0 <= holder[1] < 2**16


@given(st.binary(max_size=1600))
def test_bytes_that_nobody_sealed_are_no_datagram(data: bytes) -> None:
    assert collector.opened(data) is None or data == collector.seal(data[:-4])


@given(st.integers(0, 64), st.integers(0, 64), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_collector_descriptions_round_trip(motors: int, halls: int, axes: int, boot: int) -> None:
    about = Description(
        n_motors=motors,
        n_halls=halls,
        n_axes=axes,
        hall_fraction_bits=4,
        watchdog_min_us=1000,
        watchdog_max_us=10**6,
        boot=boot,
        sample_period_ns=100_000,
        firmware=3,
        holder_session=5,
        holder=("192.168.7.9", 4038),
        serial="A1",
        name="board",
    )
    found = collector.opened(collector.describe(Header(kind=Kind.DESCRIBE), about))
    assert found is not None and collector.described(found[1]) == about


def test_datagrams_of_every_size_stay_inside_one_ethernet_frame() -> None:
    for slots in range(collector.MAX_SLOTS + 1):
        assert collector.sample_bytes(slots) <= 1472
        assert collector.command_bytes(slots) <= 1472
    assert collector.sample_bytes(38) == 820 and collector.command_bytes(38) == 348
