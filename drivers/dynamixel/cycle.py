"""Bytes of one cycle of a chain: goals out, one block of 10 bytes per servo in, as arrays."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.dynamixel import codec
from drivers.dynamixel.codec import ALERT, FAST_START, Instruction, Packet
from drivers.dynamixel.servo import CHECKED, Servo
from drivers.handshake import Bools
from drivers.motors import MotorMap
from signals.modes import Channel, MotorMode
from signals.records import RecordArray

BLOCK: Final = np.dtype(
    [("error", "u1"), ("id", "u1"), ("current", "<i2"), ("speed", "<i4"), ("position", "<i4"), ("crc", "<u2")]
)
"""One servo's part of a fast reply: registers 126 to 135."""
BLOCK_ADDRESS: Final = 126
BLOCK_BYTES: Final = 10
BLOCK_OVERHEAD: Final = 4
GOAL_CURRENT: Final = np.dtype([("id", "u1"), ("value", "<i2")])
GOAL_CURRENT_HEAD: Final = b"\x66\x00\x02\x00"
GOAL_POSITION: Final = np.dtype([("id", "u1"), ("value", "<i4")])
GOAL_POSITION_HEAD: Final = b"\x74\x00\x04\x00"
MANY: Final = 1e4
"""Amperes or radians that no motor has; keeps infinities away from the arithmetic."""
WRONG_MODE: Final = int(Channel.WRONG_MODE)
DEVICE_ERROR: Final = int(Channel.DEVICE_ERROR)


class Reply:
    """What came back of one read: error and data per servo that answered."""

    __slots__ = ("length", "parts")

    def __init__(self, length: int) -> None:
        self.length = length
        self.parts: dict[int, tuple[int, bytes]] = {}

    def take(self, packets: list[Packet]) -> bool:
        """Add packets; True once a whole fast reply is there."""
        whole = False
        for p in packets:
            if p.raw:
                self.salvage(p.raw)
                whole = True
            elif p.instruction == Instruction.STATUS and len(p.data) == self.length:
                self.parts[p.id] = (p.error, p.data)
        return whole

    def salvage(self, raw: bytes) -> None:
        """Keep the sound blocks of a fast reply, complete or not."""
        for error, device_id, data in codec.fast_blocks(raw, self.length):
            self.parts[device_id] = (error, data)


class Chain:
    """Requests, goals and blocks of the servos of one bus; arrays of shape (n,).

    Args:
        servos: all servos, in order.
        motors: their angles.
    """

    def __init__(self, servos: tuple[Servo, ...], motors: MotorMap) -> None:
        self.servos, self._map, self._motors = servos, motors, motors.motors
        self.ids = np.array([s.id for s in servos], dtype=np.uint8)
        self.fast = True
        models = [s.model for s in servos]
        self.lsb_a = np.array([m.current_lsb_a for m in models])
        self._a = self.lsb_a * motors.sign
        self._rad_s = np.array([m.speed_lsb_rad_s for m in models]) * motors.sign / motors.ratio
        self._per_turn = np.array([float(m.counts_per_turn) for m in models])
        self.limit_counts = np.zeros(len(servos))
        self.modes = np.zeros(len(servos), dtype=np.uint32)
        self._requests: dict[bytes, tuple[bytes, bytes, int]] = {}

    def remember_setups(self) -> None:
        """Take limits and modes over from the servos after they were set up."""
        for i, servo in enumerate(self.servos):
            self.limit_counts[i], self.modes[i] = servo.limit_counts, servo.mode

    def requests(self, present: Bools) -> tuple[bytes, bytes, int]:
        """Read request of the fast block, of the slow block, and bytes of the reply to the first."""
        key = present.tobytes() + bytes((self.fast,))
        if key not in self._requests:
            ids = self.ids[present].tobytes()
            slow = self.servos[0].model.indirect_data
            reply = FAST_START + len(ids) * (BLOCK_BYTES + BLOCK_OVERHEAD)
            if not self.fast:
                reply = len(ids) * (codec.OVERHEAD + 1 + BLOCK_BYTES)
            self._requests[key] = (
                codec.sync_read(ids, BLOCK_ADDRESS, BLOCK_BYTES, self.fast),
                codec.sync_read(ids, slow, len(CHECKED), self.fast),
                reply,
            )
        return self._requests[key]

    def goals(self, command: RecordArray, pulling: Bools, enabled: Bools, bits: NDArray[np.uint32]) -> bytes:
        """Sync writes of one cycle.

        Args:
            command: ``signals.records.COMMAND``, shape (1,).
            pulling: servos that may pull now.
            enabled: servos whose torque is on; the others get no goal.
            bits: Channel bits; WRONG_MODE is set where the command asks for another mode.
        """
        if not enabled.any():
            return b""
        c = command[0]
        mode = c["motor_mode"][self._motors]
        fits = mode == self.modes
        bits[:] = np.where(pulling & ~fits, bits | WRONG_MODE, bits & ~np.uint32(WRONG_MODE))
        pulling = pulling & fits
        in_position = pulling & (mode == MotorMode.POSITION)
        wanted = np.clip(np.nan_to_num(c["motor_current_a"][self._motors]), -MANY, MANY) / self._a
        wanted = np.where(in_position, self.limit_counts, wanted)
        wanted = np.clip(np.rint(wanted), -self.limit_counts, self.limit_counts)
        block = np.empty(int(enabled.sum()), dtype=GOAL_CURRENT)
        block["id"], block["value"] = self.ids[enabled], np.where(pulling, wanted, 0.0)[enabled]
        sent = codec.packet(codec.BROADCAST, Instruction.SYNC_WRITE, GOAL_CURRENT_HEAD + block.tobytes())
        if in_position.any():
            angle_rad = np.clip(np.nan_to_num(c["motor_angle_rad"][self._motors]), -MANY, MANY)
            turns = self._map.turns(angle_rad)
            block = np.empty(int(in_position.sum()), dtype=GOAL_POSITION)
            block["id"] = self.ids[in_position]
            block["value"] = np.rint(turns * self._per_turn)[in_position]
            head = GOAL_POSITION_HEAD + block.tobytes()
            sent = codec.packet(codec.BROADCAST, Instruction.SYNC_WRITE, head) + sent
        return sent

    def blocks(self, reply: Reply) -> tuple[Bools, NDArray[np.void]]:
        """(answered, BLOCK) of every servo; blocks of servos that did not answer are 0."""
        answered = np.zeros(len(self.servos), dtype=np.bool_)
        raw = bytearray(len(self.servos) * BLOCK.itemsize)
        for i, servo in enumerate(self.servos):
            part = reply.parts.get(servo.id)
            if part is not None:
                at = i * BLOCK.itemsize
                answered[i] = True
                raw[at] = part[0]
                raw[at + 2 : at + 2 + BLOCK_BYTES] = part[1]
        return answered, np.frombuffer(bytes(raw), dtype=BLOCK)

    def fill(
        self,
        reply: Reply,
        measurement: RecordArray,
        arrived_ns: int,
        byte_ns: int,
        bits: NDArray[np.uint32],
        temperature_degc: NDArray[np.float64],
    ) -> Bools:
        """Write what came into the measurement; returns who answered.

        Args:
            reply: the fast block.
            measurement: ``signals.records.MEASUREMENT``, shape (1,).
            arrived_ns: time of the last byte.
            byte_ns: time of one byte on the wire: a servo samples when its turn comes.
            bits: Channel bits of every servo.
            temperature_degc: newest temperatures.
        """
        answered, block = self.blocks(reply)
        x, m = measurement[0], self._motors[answered]
        x["motor_angle_rad"][m] = self._map.angle_rad(block["position"] / self._per_turn)[answered]
        x["motor_speed_rad_s"][m] = (block["speed"] * self._rad_s)[answered]
        x["motor_current_a"][m] = (block["current"] * self._a)[answered]
        x["motor_temperature_degc"][m] = temperature_degc[answered]
        behind = int(answered.sum()) - np.cumsum(answered)
        ages_ns = behind * (byte_ns * (BLOCK_BYTES + BLOCK_OVERHEAD))
        x["motor_time_ns"][m] = arrived_ns - ages_ns[answered]
        alert = np.where((block["error"] & ALERT) != 0, DEVICE_ERROR, 0).astype(np.uint32)
        x["motor_status"][m] = (bits | alert)[answered]
        x["time_ns"] = arrived_ns
        return answered
