"""Bytes of one cycle of a chain: goals out, one block of 10 bytes per servo in."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.dynamixel import codec
from drivers.dynamixel.codec import BROADCAST, FAST_START, Instruction, Packet
from drivers.dynamixel.laws import BLOCK, MANY, goal_counts, take_blocks
from drivers.dynamixel.models import CYCLE
from drivers.dynamixel.servo import CHECKED, Servo
from drivers.motors import MotorMap
from signals.layout import BoolArray, FloatArray, IntArray
from signals.records import COMMAND, MEASUREMENT, RecordArray, new

BLOCK_ADDRESS: Final = CYCLE["present_current"]
BLOCK_BYTES: Final = 10
GOAL_CURRENT: Final = np.dtype([("id", "u1"), ("value", "<i2")])
GOAL_CURRENT_HEAD: Final = CYCLE["goal_current"].to_bytes(2, "little") + b"\x02\x00"
TORQUE: Final = np.dtype([("id", "u1"), ("value", "u1")])
TORQUE_HEAD: Final = CYCLE["torque_enable"].to_bytes(2, "little") + b"\x01\x00"
REFRESH: Final = 16
"""Cycles after which greatest currents that stayed as they are go out again: a write is not acknowledged."""
TURNS_MAX: Final = 256.0
"""Turns both ways that a servo takes as a goal."""
GOAL_POSITION: Final = np.dtype([("id", "u1"), ("value", "<i4")])
GOAL_POSITION_HEAD: Final = CYCLE["goal_position"].to_bytes(2, "little") + b"\x04\x00"


class Reply:
    """What came back of one read: a whole fast reply, or error and data per servo that answered."""

    __slots__ = ("length", "parts", "whole")

    def __init__(self, length: int) -> None:
        self.length = length
        self.whole = b""
        self.parts: dict[int, tuple[int, bytes]] = {}

    def take(self, packets: list[Packet]) -> bool:
        """Add packets; True once a whole fast reply is there."""
        for p in packets:
            if p.raw:
                self.whole = p.raw
            elif p.instruction == Instruction.STATUS and len(p.data) == self.length:
                self.parts[p.id] = (p.error, p.data)
        return bool(self.whole)

    def salvage(self, raw: bytes) -> None:
        """Keep the sound blocks of a fast reply, complete or not."""
        for error, device_id, data in codec.fast_blocks(raw, self.length):
            self.parts[device_id] = (error, data)

    def by_id(self) -> dict[int, tuple[int, bytes]]:
        """(error, data) of every servo that answered."""
        if self.whole and not self.parts:
            self.salvage(self.whole)
        return self.parts


class Requests(NamedTuple):
    """What is read from the servos in the chain."""

    fast: bytes
    """The block of every cycle."""
    reply_bytes: int
    """Bytes of the reply to it."""
    slow: tuple[tuple[bytes, int], ...]
    """The block of health, and how many servos answer: once for every place where models have it."""


class Chain:
    """Requests, goals and blocks of the servos of one bus; arrays of shape (n,).

    Args:
        servos: all servos, in order.
        motors: their angles.
    """

    def __init__(self, servos: tuple[Servo, ...], motors: MotorMap) -> None:
        self.servos, self._map, self._motors = servos, motors, motors.motors
        n, models = len(servos), [s.model for s in servos]
        self.ids = np.array([s.id for s in servos], dtype=np.uint8)
        self.fast = True
        self.lsb_a = np.array([m.current_lsb_a for m in models])
        self._a = self.lsb_a * motors.sign
        self._rad_s = np.array([m.speed_lsb_rad_s for m in models]) * motors.sign / motors.ratio
        self._per_turn = np.array([float(m.counts_per_turn) for m in models])
        self._rad = motors.rad_per_turn / self._per_turn
        self.limit_counts = np.zeros(n)
        self.modes = np.zeros(n, dtype=np.uint32)
        self._counts = np.zeros(n, dtype=np.int16)
        self._in_position = np.zeros(n, dtype=np.bool_)
        self._has_current: BoolArray = np.array([m.has_current for m in models], dtype=np.bool_)
        self._no_current = np.nonzero(~self._has_current)[0].tolist()
        self._sent, self._unsent = self._counts.copy(), REFRESH
        self.rest: BoolArray = np.ones(n, dtype=np.bool_)
        self._requests: dict[bytes, Requests] = {}
        self._blocks: dict[bytes, tuple[NDArray[np.void], NDArray[np.int16]]] = {}
        n = len(servos)
        self._everybody, self._all = np.arange(n), np.ones(n, dtype=np.bool_)
        self._stage = (new(COMMAND), new(MEASUREMENT), np.zeros(n, dtype=np.uint32), np.zeros(n))
        self._blank = Reply(BLOCK_BYTES)
        self._blank.whole = codec.fast_reply([(0, s.id, bytes(BLOCK_BYTES)) for s in servos])
        self.rehearse()

    def rehearse(self) -> None:
        """The cycle's work on records of its own, with every servo at rest: compiled, and warm in the caches.

        What follows a reply costs three times as much when other programs had the core meanwhile; a driver
        that spins for the reply rehearses while the wire is busy.
        """
        command, measurement, bits, degc = self._stage
        codec.is_fast_reply(self._blank.whole)
        self.fill(self._blank, self._everybody, measurement, (0, 0), bits, degc)
        self.goals(command, self.rest, self._all, bits)

    def remember_setups(self) -> None:
        """Take limits and modes over from the servos after they were set up."""
        for i, servo in enumerate(self.servos):
            self.limit_counts[i], self.modes[i] = servo.limit_counts, servo.mode

    @property
    def block_bytes(self) -> int:
        """Bytes of one servo in the reply to the read of every cycle."""
        return BLOCK if self.fast else codec.OVERHEAD + 1 + BLOCK_BYTES

    def requests(self, present: BoolArray) -> Requests:
        """Reads of the servos in the chain, shape (n,); the slow block by its place on their model."""
        key = present.tobytes() + bytes((self.fast,))
        if key not in self._requests:
            ids = self.ids[present].tobytes()
            by_address: dict[int, list[int]] = {}
            for i in np.nonzero(present)[0].tolist():
                by_address.setdefault(self.servos[i].model.indirect_data, []).append(self.servos[i].id)
            self._requests[key] = Requests(
                codec.sync_read(ids, BLOCK_ADDRESS, BLOCK_BYTES, self.fast),
                (FAST_START if self.fast else 0) + len(ids) * self.block_bytes,
                tuple(
                    (codec.sync_read(bytes(some), address, len(CHECKED), self.fast), len(some))
                    for address, some in by_address.items()
                ),
            )
        return self._requests[key]

    def goals(
        self, command: RecordArray, may_pull: BoolArray, enabled: BoolArray, bits: NDArray[np.uint32]
    ) -> bytes:
        """Sync writes of one cycle.

        Args:
            command: ``signals.records.COMMAND``, shape (1,).
            may_pull: servos that may pull now.
            enabled: servos whose torque is on; the others get no goal.
            bits: ChannelStatus bits; WRONG_MODE is set where the command asks for another mode.
        """
        n_position = goal_counts(
            command,
            self._motors,
            self.modes,
            self._a,
            self.limit_counts,
            may_pull,
            self.rest,
            bits,
            self._counts,
            self._in_position,
        )
        sent = self._torques(enabled) if self._no_current else b""
        if n_position:
            sent += self._goal_positions(command)
        return sent + self._goal_currents(enabled, n_position)

    def _goal_currents(self, enabled: BoolArray, n_position: int) -> bytes:
        """Goal currents of the servos whose torque is on, those of angles alone only where they changed."""
        key = enabled.tobytes()
        found = self._blocks.get(key)
        if found is None:
            told = enabled & self._has_current
            block = np.zeros(int(told.sum()), dtype=GOAL_CURRENT)
            block["id"] = self.ids[told]
            found = self._blocks[key] = (block, block["value"])
        block, values = found
        if not block.size:
            return b""
        self._unsent += 1
        if n_position == enabled.size and self._unsent < REFRESH and (self._counts == self._sent).all():
            return b""
        self._sent[:], self._unsent = self._counts, 0
        values[:] = self._counts if block.size == enabled.size else self._counts[enabled & self._has_current]
        return codec.packet(BROADCAST, Instruction.SYNC_WRITE, GOAL_CURRENT_HEAD + block.tobytes())

    def _torques(self, enabled: BoolArray) -> bytes:
        """Torque on or off of the servos without currents that are to begin or to end holding an angle."""
        changed = []
        for i in self._no_current:
            on = bool(self._in_position[i])
            if on != self.servos[i].torque_on and enabled[i]:
                self.servos[i].torque_on = on
                changed.append((self.ids[i], on))
        if not changed:
            return b""
        block = np.array(changed, dtype=TORQUE)
        return codec.packet(BROADCAST, Instruction.SYNC_WRITE, TORQUE_HEAD + block.tobytes())

    def _goal_positions(self, command: RecordArray) -> bytes:
        angle_rad = np.clip(np.nan_to_num(command["motor_angle_rad"][0, self._motors]), -MANY, MANY)
        turns = self._map.turns(angle_rad)
        block = np.zeros(int(self._in_position.sum()), dtype=GOAL_POSITION)
        block["id"] = self.ids[self._in_position]
        counts = np.rint(np.clip(turns, -TURNS_MAX, TURNS_MAX) * self._per_turn)
        block["value"] = counts[self._in_position]
        return codec.packet(BROADCAST, Instruction.SYNC_WRITE, GOAL_POSITION_HEAD + block.tobytes())

    def fill(
        self,
        reply: Reply,
        rows: IntArray,
        measurement: RecordArray,
        times_ns: tuple[int, int],
        bits: NDArray[np.uint32],
        temperature_degc: FloatArray,
    ) -> BoolArray | None:
        """Write what came into the measurement; who answered, shape (n,), None: everybody that was asked.

        Args:
            reply: the fast block.
            rows: servos that were asked, shape (k,).
            measurement: ``signals.records.MEASUREMENT``, shape (1,).
            times_ns: arrival of the last byte, duration of one block on the wire.
            bits: ChannelStatus bits of every servo.
            temperature_degc: newest temperatures.
        """
        if len(reply.whole) == FAST_START + rows.size * BLOCK:
            taken = self._take(reply.whole, rows, measurement, times_ns, bits, temperature_degc)
            if taken == rows.size:
                return None
        parts, asked = reply.by_id(), rows
        rows = np.array([i for i, s in enumerate(self.servos) if s.id in parts], dtype=np.int64)
        answered: BoolArray = np.zeros(len(self.servos), dtype=np.bool_)
        answered[rows] = True
        raw = bytearray(FAST_START)
        for i in rows.tolist():
            error, data = parts[self.servos[i].id]
            raw += bytes((error, self.servos[i].id)) + data + b"\0\0"
        self._take(bytes(raw), rows, measurement, times_ns, bits, temperature_degc)
        return None if answered[asked].all() else answered

    def _take(
        self,
        raw: bytes,
        rows: IntArray,
        measurement: RecordArray,
        times_ns: tuple[int, int],
        bits: NDArray[np.uint32],
        temperature_degc: FloatArray,
    ) -> int:
        return take_blocks(
            np.frombuffer(raw, dtype=np.uint8),
            rows,
            self.ids,
            self._motors,
            self._rad,
            self._map.zero_rad,
            self._rad_s,
            self._a,
            bits,
            temperature_degc,
            times_ns,
            measurement,
        )
