"""Instructions for several servos, and the rules of the operating modes, as the maker's manual has them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from drivers.dynamixel import codec
from drivers.dynamixel.codec import BROADCAST, ErrorCode, Instruction
from drivers.dynamixel.models import MODE_CODES, servo_model
from sim.emulators.chain import reads_of, writes_of
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import SpringSide

MODEL = "xc330-t288"


def put(servo: EmulatedServo, name: str, value: int) -> ErrorCode:
    """Write a register over the bus."""
    register = servo.model.registers[name]
    return servo.write(register.address, register.encode(value))


@pytest.fixture
def servo() -> Iterator[EmulatedServo]:
    side = SpringSide(1)
    yield EmulatedServo(1, servo_model(MODEL), side, 0)


def settled(servo: EmulatedServo, seconds: float = 1.0) -> int:
    """Position [counts] after a while."""
    for k in range(1, 101):
        servo.side.advance(round(1e7 * k * seconds) + 1)
    servo.sense(1)
    return servo.get("present_position")


def in_mode(servo: EmulatedServo, mode: str) -> None:
    assert put(servo, "operating_mode", MODE_CODES[mode]) == ErrorCode.NONE
    assert put(servo, "torque_enable", 1) == ErrorCode.NONE


def test_bulk_requests_hold_what_the_manual_says() -> None:
    bulk = codec.packet(BROADCAST, Instruction.BULK_READ, struct.pack("<BHHBHH", 1, 144, 2, 2, 146, 1))
    (p,) = codec.PacketParser().feed(bulk, 0)
    assert reads_of(p) == [(1, 144, 2), (2, 146, 1)]
    body = struct.pack("<BHHhBHHB", 1, 102, 2, -5, 2, 64, 1, 1)
    (p,) = codec.PacketParser().feed(codec.packet(BROADCAST, Instruction.BULK_WRITE, body), 0)
    assert writes_of(p) == [(1, 102, struct.pack("<h", -5)), (2, 64, b"\1")]
    (p,) = codec.PacketParser().feed(codec.packet(BROADCAST, Instruction.BULK_WRITE, body[:-1]), 0)
    assert writes_of(p) == [(1, 102, struct.pack("<h", -5))], "what is cut off is left out"
    (p,) = codec.PacketParser().feed(codec.sync_write(b"\1\2", 64, 1, b"\1\0"), 0)
    assert writes_of(p) == [(1, 64, b"\1"), (2, 64, b"\0")]


def test_the_mode_changes_only_without_torque(servo: EmulatedServo) -> None:
    in_mode(servo, "current_position")
    assert put(servo, "operating_mode", MODE_CODES["current"]) == ErrorCode.ACCESS
    assert put(servo, "torque_enable", 0) == ErrorCode.NONE
    assert put(servo, "operating_mode", MODE_CODES["current"]) == ErrorCode.NONE


def test_torque_on_holds_the_present_angle(servo: EmulatedServo) -> None:
    servo.side.angle_rad[0] = 1.0  # type: ignore[attr-defined]
    servo.side._show(1)  # type: ignore[attr-defined]
    in_mode(servo, "extended_position")
    servo.sense(1)
    assert servo.get("goal_position") == servo.get("present_position") != 0


@pytest.mark.parametrize("mode", ["position", "extended_position", "current_position"])
def test_a_goal_is_reached_in_every_mode_of_angles(servo: EmulatedServo, mode: str) -> None:
    in_mode(servo, mode)
    put(servo, "goal_current", 300)
    assert put(servo, "goal_position", 700) == ErrorCode.NONE
    assert settled(servo) == pytest.approx(700, abs=1)


def test_the_goal_current_bounds_the_current_of_mode_5_alone(servo: EmulatedServo) -> None:
    put(servo, "current_limit", 800)
    in_mode(servo, "current_position")
    put(servo, "goal_current", 300)
    put(servo, "goal_position", 10)
    assert servo.side.command["motor_current_a"][0, 0] == pytest.approx(0.3)
    assert put(servo, "goal_current", 801) == ErrorCode.LIMIT
    put(servo, "torque_enable", 0)
    in_mode(servo, "extended_position")
    put(servo, "goal_position", 10)
    assert servo.side.command["motor_current_a"][0, 0] == pytest.approx(0.8)


def test_limits_of_goals_depend_on_the_mode(servo: EmulatedServo) -> None:
    put(servo, "max_position_limit", 3000)
    in_mode(servo, "position")
    assert put(servo, "goal_position", 3000) == ErrorCode.NONE
    assert put(servo, "goal_position", 3001) == ErrorCode.LIMIT
    assert put(servo, "goal_position", -1) == ErrorCode.LIMIT
    put(servo, "torque_enable", 0)
    in_mode(servo, "extended_position")
    for turns, error in ((256, ErrorCode.NONE), (-256, ErrorCode.NONE), (257, ErrorCode.LIMIT)):
        assert put(servo, "goal_position", turns * 4096) == error, turns


def test_homing_offset_and_reverse_mode_are_part_of_every_position(servo: EmulatedServo) -> None:
    put(servo, "homing_offset", 1000)
    put(servo, "drive_mode", 1)
    in_mode(servo, "current_position")
    put(servo, "goal_current", 300)
    put(servo, "goal_position", 1512)
    assert settled(servo) == pytest.approx(1512, abs=1)
    angle_rad = float(servo.side.measurement["motor_angle_rad"][0, 0])
    assert angle_rad == pytest.approx(-512 / 4096 * 2.0 * 3.14159265, abs=2e-3), "the other way, offset off"


def test_moving_is_told_while_it_moves(servo: EmulatedServo) -> None:
    in_mode(servo, "current_position")
    put(servo, "goal_current", 300)
    put(servo, "goal_position", 1000)
    servo.side.advance(1)
    servo.side.advance(5_000_000)
    servo.sense(1)
    assert servo.get("moving") == 1
    settled(servo)
    assert servo.get("moving") == 0


def test_a_servo_without_currents_moves_in_extended_positions() -> None:
    servo = EmulatedServo(1, servo_model("xc430-w240"), SpringSide(1), 0)
    assert put(servo, "operating_mode", MODE_CODES["current"]) == ErrorCode.RANGE
    in_mode(servo, "extended_position")
    put(servo, "goal_position", -6000)
    assert settled(servo) == pytest.approx(-6000, abs=1)


def test_bulk_reads_over_the_wire_answer_one_by_one(tmp_path: Path) -> None:
    from tests.rigs import emulated as rigs

    with rigs.dynamixel(tmp_path, 3) as (rig, chain):
        port = rig.bus._port  # type: ignore[attr-defined]
        parts = [(1, 144, 2), (3, 146, 1), (2, 132, 4)]
        for instruction in (Instruction.BULK_READ, Instruction.FAST_BULK_READ):
            body = b"".join(struct.pack("<BHH", *p) for p in parts)
            until_ns = port.begin(codec.packet(BROADCAST, instruction, body), 64)
            found: dict[int, bytes] = {}
            raw = b""
            while port.clock() < until_ns and len(found) < 3:
                for p in port.packets(until_ns):
                    if p.raw:
                        raw = p.raw
                    else:
                        found[p.id] = p.data
                if raw:
                    break
            if raw:  # blocks of different lengths, each with its checksum over all before
                at, got = codec.FAST_START, []
                for device_id, _, length in parts:
                    assert raw[at + 1] == device_id
                    got.append((device_id, raw[at + 2 : at + 2 + length]))
                    at += length + 4
                found = dict(got)
            assert sorted(found) == [1, 2, 3]
            assert found[1] == struct.pack("<H", chain.servos[0].get("present_voltage"))
            assert len(found[3]) == 1 and len(found[2]) == 4
