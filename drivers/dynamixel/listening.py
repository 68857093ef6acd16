"""Read-only on a chain of servos: what another computer asks and hears on the same wires, and nothing else.

Half-duplex wires carry questions and answers alike. A reply has no address in it, so the newest question for
registers is remembered; a reply of another length belongs to none and is passed over.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drivers.dynamixel import codec
from drivers.dynamixel.codec import BROADCAST, Instruction, Packet
from drivers.dynamixel.cycle import BLOCK_ADDRESS, BLOCK_BYTES, Chain, Reply
from drivers.dynamixel.port import ServoPort
from drivers.errors import TurnsUnknown
from drivers.motors import MotorMap
from drivers.slots import NONE, mark
from signals.modes import BusStatus, ChannelStatus
from signals.records import RecordArray

WAIT_NS: Final = 2_000_000
"""Longest wait for bytes in one exchange."""
OLD_NS: Final = 100_000_000
"""Age above which a servo that nobody asks is stale."""
READS: Final = (Instruction.FAST_SYNC_READ, Instruction.SYNC_READ, Instruction.READ)


class Question(NamedTuple):
    """Registers that were asked for; ``ids`` may be anybody's for a broadcast."""

    address: int
    length: int


class Listener:
    """Fills a measurement from what passes on the line.

    Args:
        chain: the servos of the bus file.
        port: their line, read-only.
        motors: map of angles; whole turns are chosen at the first sample of a servo.
        block_ns: duration of one servo's block on the wire.
    """

    def __init__(self, chain: Chain, port: ServoPort, motors: MotorMap, block_ns: int) -> None:
        self._chain, self._port, self._map, self._block_ns = chain, port, motors, block_ns
        n = len(chain.servos)
        self._rows = np.arange(n)
        self._bits, self._degc = np.zeros(n, dtype=np.uint32), np.zeros(n)
        self._heard_ns = np.zeros(n, dtype=np.int64)
        self._question: Question | None = None
        self.reason = "nobody has asked the servos yet"

    def exchange(self, measurement: RecordArray, seq: int) -> int:
        """What passed since the last call; waits a little for the first bytes. Raises BusLost."""
        packets = self._port.packets(self._port.clock() + WAIT_NS)
        now_ns = self._port.clock()
        reply = Reply(BLOCK_BYTES)
        for p in packets:
            self._hear(p, reply)
        if reply.parts:
            self._resolve(reply)
            times_ns = (now_ns, self._block_ns)
            answered = self._chain.fill(reply, self._rows, measurement, times_ns, self._bits, self._degc)
            self._heard_ns[slice(None) if answered is None else answered] = now_ns
            measurement["seq"][0] = seq
            self.reason = ""
        old = now_ns - self._heard_ns > OLD_NS
        if old.any():
            mark(measurement, self._map.motors[old], NONE, NONE, int(ChannelStatus.STALE))
        status = BusStatus.READ_ONLY | (
            BusStatus.TIMEOUT if old.all() else BusStatus.PARTIAL if old.any() else 0
        )
        return int(status)

    def _hear(self, p: Packet, reply: Reply) -> None:
        body = p.parameters
        if p.instruction in READS and len(body) >= 4:
            question = Question(body[0] | body[1] << 8, body[2] | body[3] << 8)
            at = BLOCK_ADDRESS - question.address
            self._question = question if 0 <= at <= question.length - BLOCK_BYTES else None
        elif p.instruction == Instruction.STATUS and self._question is not None:
            address, length = self._question
            at = BLOCK_ADDRESS - address
            blocks = [(p.error, p.id, p.data)]
            if p.id == BROADCAST:
                blocks = codec.fast_blocks(p.raw, length)
            for error, device_id, data in blocks:
                if len(data) == length:
                    reply.parts[device_id] = (error, data[at : at + BLOCK_BYTES])
        elif p.instruction != Instruction.STATUS:
            self._question = None

    def _resolve(self, reply: Reply) -> None:
        """Whole turns of servos that are heard for the first time; one that is ambiguous is not shown."""
        for i, servo in enumerate(self._chain.servos):
            if self._heard_ns[i] or servo.id not in reply.parts:
                continue
            counts = int.from_bytes(reply.parts[servo.id][1][6:], "little", signed=True)
            try:
                self._map.resolve(i, counts / servo.model.counts_per_turn)
            except TurnsUnknown as error:
                self.reason = str(error)
                del reply.parts[servo.id]
