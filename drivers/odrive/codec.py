"""ODrive CANSimple as pure bytes: frame = (11-bit id, data), id = node << 5 | command, little-endian.

Sources: ODrive CAN protocol page and the 0.5.x / 0.6.x firmware descriptions. The two firmwares differ in the
heartbeat's bytes 5 to 7 and in commands 03 to 05, 1C and 1D; only what both share is used without asking.
"""

from __future__ import annotations

import math
import struct
from enum import IntEnum
from typing import Final, NamedTuple

NODE_MAX: Final = 62
"""Node 63 is the broadcast address of the enumeration."""


class Command(IntEnum):
    """Low five bits of the id."""

    VERSION = 0x00
    HEARTBEAT = 0x01
    ESTOP = 0x02
    ERRORS = 0x03
    RX_SDO = 0x04
    TX_SDO = 0x05
    ADDRESS = 0x06
    AXIS_STATE = 0x07
    ENCODER = 0x09
    CONTROLLER_MODE = 0x0B
    INPUT_POS = 0x0C
    INPUT_VEL = 0x0D
    INPUT_TORQUE = 0x0E
    LIMITS = 0x0F
    IQ = 0x14
    TEMPERATURE = 0x15
    REBOOT = 0x16
    BUS_VOLTAGE_CURRENT = 0x17
    CLEAR_ERRORS = 0x18
    ABSOLUTE_POSITION = 0x19
    POSITION_GAIN = 0x1A
    VELOCITY_GAINS = 0x1B
    TORQUES = 0x1C
    POWERS = 0x1D


SETPOINTS: Final = frozenset({Command.INPUT_POS, Command.INPUT_VEL, Command.INPUT_TORQUE})


class AxisState(IntEnum):
    """States that the driver asks for or sees."""

    UNDEFINED = 0
    IDLE = 1
    CLOSED_LOOP = 8


class ControlMode(IntEnum):
    """Controller modes."""

    TORQUE = 1
    VELOCITY = 2
    POSITION = 3


PASSTHROUGH: Final = 1
WATCHDOG_EXPIRED: Final = {"0.5": 0x800, "0.6": 0x0100_0000}
"""Error bit of an axis that its own watchdog stopped, by firmware."""
ESTOP_REQUESTED: Final = {"0.5": 0x4000, "0.6": 0x0200_0000}
"""Error bit of an axis that was stopped by message 02."""
SDO_READ, SDO_WRITE = 0, 1


class Frame(NamedTuple):
    """One classic CAN data frame with an 11-bit id."""

    id: int
    data: bytes

    @property
    def node(self) -> int:
        """Node of the axis."""
        return self.id >> 5

    @property
    def command(self) -> int:
        """Command number."""
        return self.id & 31


class Heartbeat(NamedTuple):
    """Message 01."""

    error: int
    state: int


_U32: Final = struct.Struct("<I")
_2U32: Final = struct.Struct("<II")
_F32: Final = struct.Struct("<f")
_2F32: Final = struct.Struct("<ff")
_POS: Final = struct.Struct("<fhh")
_HEARTBEAT: Final = struct.Struct("<IB")
_VERSION: Final = struct.Struct("<BBBBBBBB")
FEEDFORWARD_LSB: Final = 0.001
SINGLE_MAX: Final = (2.0 - 2.0**-23) * 2.0**127
"""Greatest finite number of four bytes."""


def single(value: float) -> float:
    """Value as far as a number of four bytes goes; NaN stays."""
    return value if value != value else max(-SINGLE_MAX, min(SINGLE_MAX, value))


def frame_id(node: int, command: int) -> int:
    """11-bit id."""
    return node << 5 | command


def _frame(node: int, command: Command, data: bytes) -> Frame:
    return Frame(frame_id(node, command), data.ljust(8, b"\0"))


def axis_state(node: int, state: int) -> Frame:
    """Ask for an axis state."""
    return _frame(node, Command.AXIS_STATE, _U32.pack(state))


def controller_mode(node: int, control: int, input_mode: int = PASSTHROUGH) -> Frame:
    """Choose what the axis controls."""
    return _frame(node, Command.CONTROLLER_MODE, _2U32.pack(control, input_mode))


def input_torque(node: int, torque_nm: float) -> Frame:
    """Torque set-point [N m] at the motor shaft."""
    return _frame(node, Command.INPUT_TORQUE, _F32.pack(single(torque_nm)))


def input_pos(node: int, turns: float, speed_turns_s: float = 0.0, torque_nm: float = 0.0) -> Frame:
    """Position set-point with feedforward."""
    words = (round(speed_turns_s / FEEDFORWARD_LSB), round(torque_nm / FEEDFORWARD_LSB))
    speed, torque = (max(-32768, min(32767, w)) for w in words)
    return _frame(node, Command.INPUT_POS, _POS.pack(single(turns), speed, torque))


def input_vel(node: int, turns_s: float, torque_nm: float = 0.0) -> Frame:
    """Speed set-point with feedforward."""
    return _frame(node, Command.INPUT_VEL, _2F32.pack(single(turns_s), single(torque_nm)))


def limits(node: int, speed_turns_s: float, current_a: float) -> Frame:
    """Speed and current limit."""
    return _frame(node, Command.LIMITS, _2F32.pack(single(speed_turns_s), single(current_a)))


def clear_errors(node: int) -> Frame:
    """Forget latched errors."""
    return _frame(node, Command.CLEAR_ERRORS, b"")


def estop(node: int) -> Frame:
    """Stop at once and latch an error."""
    return _frame(node, Command.ESTOP, b"")


def sdo(node: int, opcode: int, endpoint: int, data: bytes = b"") -> Frame:
    """Read (0) or write (1) an endpoint."""
    return _frame(node, Command.RX_SDO, struct.pack("<BHB", opcode, endpoint, 0) + data)


def heartbeat(node: int, error: int, state: int, result: int = 0, done: int = 0) -> Frame:
    """Message 01 (the drive's side)."""
    return _frame(node, Command.HEARTBEAT, _HEARTBEAT.pack(error, state) + bytes((result, done)))


def pair(node: int, command: Command, first: float, second: float) -> Frame:
    """Any message of two floats (the drive's side): encoder, Iq, temperature, bus voltage and current."""
    return _frame(node, command, _2F32.pack(single(first), single(second)))


def version(node: int, hardware: tuple[int, int, int], firmware: tuple[int, int, int]) -> Frame:
    """Message 00 (the drive's side): hardware (line, version, variant), firmware (major, minor, revision)."""
    return _frame(node, Command.VERSION, _VERSION.pack(2, *hardware, *firmware, 0))


def firmware_of(frame: Frame) -> tuple[int, int, int] | None:
    """Firmware from message 00."""
    return (frame.data[4], frame.data[5], frame.data[6]) if len(frame.data) == 8 else None


def heartbeat_of(frame: Frame) -> Heartbeat | None:
    """Heartbeat; None if it is too short."""
    if len(frame.data) < _HEARTBEAT.size:
        return None
    return Heartbeat(*_HEARTBEAT.unpack_from(frame.data))


def pair_of(frame: Frame) -> tuple[float, float] | None:
    """Two floats of a feedback message; None unless there are eight bytes of finite numbers."""
    if len(frame.data) != 8:
        return None
    first, second = _2F32.unpack(frame.data)
    return (first, second) if math.isfinite(first) and math.isfinite(second) else None


def u32_pair_of(frame: Frame) -> tuple[int, int] | None:
    """Two unsigned words (controller mode, the drive's side)."""
    return _2U32.unpack(frame.data) if len(frame.data) == 8 else None


def u32_of(frame: Frame) -> int | None:
    """One unsigned word (axis state, the drive's side); longer frames are padded."""
    return int(_U32.unpack_from(frame.data)[0]) if len(frame.data) >= 4 else None


def torque_of(frame: Frame) -> float | None:
    """Torque set-point (the drive's side); None unless finite."""
    if len(frame.data) < 4:
        return None
    (value,) = _F32.unpack_from(frame.data)
    return value if math.isfinite(value) else None


def position_of(frame: Frame) -> tuple[float, float, float] | None:
    """Position set-point with feedforward (the drive's side); None unless finite."""
    if len(frame.data) != 8:
        return None
    turns, speed, torque = _POS.unpack(frame.data)
    if not math.isfinite(turns):
        return None
    return turns, speed * FEEDFORWARD_LSB, torque * FEEDFORWARD_LSB
