"""Every codec of ours on damaged traffic: one adapter each, one judge for all.

An adapter makes numbered frames and says what each of them means; whatever its decoder hands out must be one
of these meanings, once. Streams (serial) come in pieces of any size with junk and silence; datagrams and CAN
frames come one by one, whole or damaged. ``benchmarks/damage.py`` runs it on a million frames.
"""

from __future__ import annotations

import math
import random
import struct
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import can
import numpy as np

from drivers.collector import codec as collector
from drivers.collector.wire import CommandWire, SampleWire
from drivers.dynamixel import codec as dynamixel
from drivers.hallbridge import codec as hall
from drivers.hallbridge import orca
from drivers.motors import MotorMap
from drivers.odrive import codec as odrive
from drivers.odrive.axes import Axes
from drivers.odrive.codec import Command
from drivers.odrive.port import CanPort
from drivers.odrive.settings import OdriveDevice, OdriveSettings
from runtime.realtime import quiet
from tests.rigs import damage

BATCH: Final = 10_000
HALF: Final = orca.COUNTS_PER_TURN // 2
Kinds = Sequence[Callable[[bytes, random.Random], bytes]]


class Decoder(Protocol):
    """One codec under test."""

    kinds: Kinds
    limit: int
    """Most bytes that its decoder may hold."""

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        """Frame number ``i`` as bytes, and its meaning."""

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        """Meanings of what is complete."""

    def end(self, now_ns: int) -> list[Hashable]:
        """The line has been silent for long."""

    def held(self) -> int:
        """Bytes, or entries, kept inside."""


def _number(i: int) -> bytes:
    return i.to_bytes(4, "little")


class Dynamixel:
    """Status packets; every fourth holds the header or the stuffing pattern in its data."""

    kinds: Kinds = damage.KINDS
    limit = dynamixel.MAX_LENGTH + 507 + 400

    def __init__(self) -> None:
        self.parser = dynamixel.PacketParser()

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        tail = rng.choice((b"\xff\xff\xfd\x00", b"\xff\xff\xfd\xfd")) if i % 4 == 0 else rng.randbytes(6)
        data = _number(i) + tail
        return dynamixel.status(i % 252, 0, data), (i % 252, data)

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        return [self.meaning(p) for p in self.parser.feed(data, now_ns)]

    def end(self, now_ns: int) -> list[Hashable]:
        return [self.meaning(p) for p in self.parser.expire(now_ns)]

    def held(self) -> int:
        return len(self.parser.pending)

    @staticmethod
    def meaning(p: dynamixel.Packet) -> Hashable:
        return p.id, p.data


class FastDynamixel(Dynamixel):
    """Fast replies, which are not stuffed."""

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        tail = b"\xff\xff\xfd\x00" if i % 4 == 0 else rng.randbytes(4)
        wire = dynamixel.fast_reply([(0, 1, _number(i) + tail), (0, 2, rng.randbytes(8))])
        return wire, wire

    @staticmethod
    def meaning(p: dynamixel.Packet) -> Hashable:
        return p.raw


class Hall:
    """One sample of four channels per frame."""

    kinds: Kinds = damage.KINDS
    limit = hall.MAX_WIRE + 400

    def __init__(self) -> None:
        self.parser = hall.HallParser()
        self.parser.feed(b"\0", 0)

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        words = np.array([[i & 0xFFF, i >> 12, rng.randrange(4096), rng.randrange(4096)]], dtype=np.uint16)
        return hall.sample(i, i * 333, words), (i & 0xFFFF, i * 333 & 0xFFFFFFFF, words.tobytes())

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        found = [m for m in self.parser.feed(data, now_ns) if isinstance(m, hall.Sample)]
        return [(m.seq, m.t_us, m.words.tobytes()) for m in found]

    def end(self, now_ns: int) -> list[Hashable]:
        return []

    def held(self) -> int:
        return len(self.parser._buffer)


class Orca:
    """Joints that move by a count per frame; a meaning is its number, the same by every channel.

    Heavy damage passes 8 bits of sum, therefore the driver's bound on steps is part of the decoder, and the
    law is the bound: no channel is believed further than ``STEP_MAX`` from what was sent.
    """

    kinds: Kinds = damage.KINDS
    limit = 2 * orca.FRAME_BYTES + 400
    BASE: Final = 900 * np.arange(orca.SLOTS)
    STEP_MAX: Final = 100

    def __init__(self) -> None:
        self.parser, self.judge = orca.OrcaParser(), orca.Plausible(self.STEP_MAX)

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        return orca.frame((self.BASE + i) % orca.COUNTS_PER_TURN), i % orca.COUNTS_PER_TURN

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        return [m for r in self.parser.feed(data, now_ns) if (m := self._believed(r)) is not None]

    def _believed(self, r: orca.Reading) -> Hashable | None:
        values = (r.words & orca.VALUE_MASK).astype(np.int64)
        good = self.judge.judge(values) & r.parity_good
        if not good.any():
            return None
        counts = Counter(((values - self.BASE)[good] % orca.COUNTS_PER_TURN).tolist())
        number = counts.most_common(1)[0][0]
        far = max(abs((n - number + HALF) % orca.COUNTS_PER_TURN - HALF) for n in counts)
        if far > self.STEP_MAX:
            return "a channel jumps", tuple(counts)
        return number if good.all() else None  # with a channel missing it is not a whole frame

    def end(self, now_ns: int) -> list[Hashable]:
        return []

    def held(self) -> int:
        return len(self.parser._buffer)


class CollectorSample:
    """Samples of 38 motors, received into the buffer of the loop."""

    kinds: Kinds = damage.KINDS
    limit = 0

    def __init__(self) -> None:
        self.wire, self.maker = SampleWire(38), SampleWire(38)

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        self.maker.slots["angle"][i % 38] = i
        self.maker.seal(flags=1, session=5, seq=i, times_ns=(i * 333_333, i), echo_seq=i)
        datagram = bytes(self.maker.datagram)
        return datagram, (1, i * 333_333, i, hash(datagram[56:-4]))

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        wire = self.wire
        wire.buffer[: len(data)] = data[: len(wire.buffer)]
        found = wire.opened(len(data))
        return [] if found is None else [(*found, hash(bytes(data[56:-4])))]

    def end(self, now_ns: int) -> list[Hashable]:
        return []

    def held(self) -> int:
        return 0


class CollectorCommand(CollectorSample):
    """Commands, on the board's side."""

    def __init__(self) -> None:
        self.command, self.command_maker = CommandWire(38), CommandWire(38)

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        self.command_maker.slots["current"][i % 38] = i % 30_000
        self.command_maker.seal(1, 5, i, i * 333_333)
        datagram = bytes(self.command_maker.datagram)
        return datagram, (1, 5, i, i * 333_333, hash(datagram[32:-4]))

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        wire = self.command
        wire.raw[: len(data)] = data[: len(wire.raw)]
        found = wire.opened(len(data))
        return [] if found is None else [(*found, hash(bytes(data[32:-4])))]


class CollectorOther(CollectorSample):
    """What is not exchanged in the cycle, here a set-up."""

    def __init__(self) -> None:
        self.limits = np.zeros(38, dtype=collector.LIMIT_SLOT)

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        self.limits["current"][i % 38] = i % 30_000
        header = collector.Header(kind=collector.Kind.SETUP, slots=38, session=i, seq=i)
        datagram = collector.setup(header, i, self.limits)
        return datagram, (i, i, hash(self.limits.tobytes()))

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        found = collector.opened(data)
        if found is None:
            return []
        answer = collector.setup_of(*found)
        return [("no set-up",)] if answer is None else [(found[0].seq, answer[0], hash(answer[1].tobytes()))]


# --- CANSimple: CAN guards its bits itself, so damage is what a sick node or driver hands up --------------


def _remote(frame: bytes, rng: random.Random) -> bytes:
    return b"R" + frame[1:]


def _extended(frame: bytes, rng: random.Random) -> bytes:
    return b"X" + frame[1:]


def _error_frame(frame: bytes, rng: random.Random) -> bytes:
    return b"E" + (rng.choice((0x004, 0x008, 0x020))).to_bytes(2, "little") + frame[3:]  # all but bus-off


def _short(frame: bytes, rng: random.Random) -> bytes:
    return frame[: 3 + rng.randrange(0, 8)]


def _no_number(frame: bytes, rng: random.Random) -> bytes:
    word = struct.pack("<f", rng.choice((math.nan, math.inf, -math.inf)))
    return frame[:3] + (word + frame[7:] if rng.random() < 0.5 else frame[3:7] + word)


def _stranger(frame: bytes, rng: random.Random) -> bytes:
    number = int.from_bytes(frame[1:3], "little")
    return frame[:1] + ((rng.randrange(10, 60) << 5) | number & 31).to_bytes(2, "little") + frame[3:]


def _unknown(frame: bytes, rng: random.Random) -> bytes:
    """Endpoints that nobody asked for, and commands that no firmware has."""
    number = int.from_bytes(frame[1:3], "little") & ~31 | rng.choice((0x05, 0x08, 0x0A, 0x10, 0x1E))
    return frame[:1] + number.to_bytes(2, "little") + rng.randbytes(8)


class CanSimple:
    """Encoder messages through the driver's port and its table of axes; a frame is kind, id, data."""

    kinds: Kinds = (_remote, _extended, _error_frame, _short, _no_number, _stranger, _unknown)
    limit = 0  # no endpoint is asked for, so no answer is kept
    NODES: Final = 4

    def __init__(self) -> None:
        devices = tuple(
            OdriveDevice(node=i + 1, motor=f"m{i}", torque_constant_nm_a=1.0) for i in range(self.NODES)
        )
        settings = OdriveSettings(
            name="c", family="odrive", interface="virtual", channel="damage", device=devices
        )
        self.port = CanPort(settings)
        motors = MotorMap(devices, np.arange(self.NODES))
        self.axes = Axes(settings, motors, self.port.counts)
        self.port.close()
        self.port._bus = self  # type: ignore[assignment]
        self._waiting: list[can.Message] = []

    def make(self, i: int, rng: random.Random) -> tuple[bytes, Hashable]:
        node, command = 1 + i % self.NODES, Command.ENCODER
        data = struct.pack("<ff", i, -i)  # whole numbers to 2^24 are exact
        return b"D" + odrive.frame_id(node, command).to_bytes(2, "little") + data, (node, float(i), -float(i))

    def recv(self, _timeout: float) -> can.Message | None:
        """As python-can's."""
        return self._waiting.pop() if self._waiting else None

    def feed(self, data: bytes, now_ns: int) -> list[Hashable]:
        kind, number = data[:1], int.from_bytes(data[1:3], "little")
        message = can.Message(
            arbitration_id=number,
            data=data[3:] if kind != b"R" else None,
            is_extended_id=kind == b"X",
            is_remote_frame=kind == b"R",
            is_error_frame=kind == b"E",
            dlc=len(data) - 3 if kind != b"R" else 8,
        )
        self._waiting.append(message)
        before = self.axes.turns.copy()
        self.axes.fresh[:] = False
        self.axes.take(self.port.receive(0), now_ns)
        rows = np.nonzero(self.axes.fresh | (self.axes.turns != before))[0]
        return [(int(r) + 1, float(self.axes.turns[r]), float(self.axes.turns_s[r])) for r in rows]

    def end(self, now_ns: int) -> list[Hashable]:
        return []

    def held(self) -> int:
        return len(self.axes.replies)


STREAMS: Final[dict[str, type[Any]]] = {
    "dynamixel": Dynamixel,
    "dynamixel-fast": FastDynamixel,
    "hall-bridge": Hall,
    "orca-encoders": Orca,
}
PACKETS: Final[dict[str, type[Any]]] = {
    "collector-sample": CollectorSample,
    "collector-command": CollectorCommand,
    "collector-setup": CollectorOther,
    "cansimple": CanSimple,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a decoder made of damaged traffic."""

    frames: int
    bad: int
    wrong: int
    """Meanings that no frame had, or that came twice."""
    lost: int
    """Sound frames that did not come out."""
    held: int
    """Most that was kept inside."""
    slowest_s: float
    """Longest call, in CPU time."""


def judged(name: str, frames: int, seed: int, share: float = 0.01) -> Verdict:
    """Run one codec over ``frames`` frames of which a share is damaged."""
    kind = {**STREAMS, **PACKETS}[name]
    fresh = kind()
    fresh.feed(fresh.make(0, random.Random(seed))[0], 0)  # a first call compiles
    rng = random.Random(seed)
    decoder: Decoder = kind()
    wrong = lost = bad = held = 0
    slowest_s = 0.0
    for first in range(0, frames, BATCH):
        made = [decoder.make(i, rng) for i in range(first, min(first + BATCH, frames))]
        good, seen = set(range(len(made))), []
        if name in STREAMS:
            stream = damage.damaged_stream([w for w, _ in made], rng, share, tuple(decoder.kinds))
            pieces, good, batch_bad = stream.pieces, set(stream.good), stream.bad
        else:
            pieces, good, batch_bad = _one_by_one([w for w, _ in made], rng, share, decoder.kinds)
        now_ns = 0
        with quiet(collect=False):  # a collection in the middle of a call is none of its time
            for now_ns, piece in pieces:
                begun = time.thread_time()
                seen += decoder.feed(piece, first * 10**9 + now_ns)
                slowest_s = max(slowest_s, time.thread_time() - begun)
                held = max(held, decoder.held())
        seen += decoder.end(first * 10**9 + now_ns + damage.GAP_NS)
        meant = {meaning: k for k, (_, meaning) in enumerate(made)}
        numbers = [meant.get(meaning, -1) for meaning in seen]
        wrong += len(numbers) - len({n for n in numbers if n >= 0})
        lost += len(good - set(numbers))
        bad += batch_bad
    return Verdict(frames, bad, wrong, lost, held, slowest_s)


def _one_by_one(
    frames: list[bytes], rng: random.Random, share: float, kinds: Kinds
) -> tuple[list[tuple[int, bytes]], set[int], int]:
    """Datagrams: each whole or damaged, some of the damaged ones beside the sound one."""
    pieces: list[tuple[int, bytes]] = []
    good: set[int] = set()
    for number, frame in enumerate(frames):
        now_ns = (number + 1) * 333_333
        if rng.random() < share:
            pieces.append((now_ns, rng.choice(kinds)(frame, rng)))
            if rng.random() < 0.5:
                continue
        pieces.append((now_ns, frame))
        good.add(number)
    return pieces, good, len(pieces) - len(good)
