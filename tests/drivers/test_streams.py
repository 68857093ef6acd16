"""Parsers on damaged streams (B08): no wrong value, one good frame lost per bad one at most, no growth."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drivers.collector import codec as collector
from drivers.collector.wire import SampleWire
from drivers.dynamixel import codec as dynamixel
from drivers.hallbridge import codec as hall
from drivers.hallbridge import orca
from tests.drivers import damage
from tests.drivers.damage import damaged_stream

FRAMES = 100_000
MANY = 1_000_000
BATCH = 10_000


def _number(i: int) -> bytes:
    return i.to_bytes(4, "little")


def dynamixel_frame(i: int, rng: random.Random) -> bytes:
    """Status packets; every fourth holds the header or the stuffing pattern in its data."""
    tail = rng.choice((b"\xff\xff\xfd\x00", b"\xff\xff\xfd\xfd")) if i % 4 == 0 else rng.randbytes(6)
    return dynamixel.status(i % 252, 0, _number(i) + tail)


def fast_frame(i: int, rng: random.Random) -> bytes:
    """Fast replies, not stuffed."""
    tail = b"\xff\xff\xfd\x00" if i % 4 == 0 else rng.randbytes(4)
    return dynamixel.fast_reply([(0, 1, _number(i) + tail), (0, 2, rng.randbytes(8))])


def hall_frame(i: int, rng: random.Random) -> bytes:
    words = np.array([[i & 0xFFF, i >> 12 & 0xFFF, i >> 24, rng.randrange(4096)]], dtype=np.uint16)
    return hall.sample(i, i * 333, words)


def orca_frame(i: int, rng: random.Random) -> bytes:
    values = np.array([i & 0x3FFF, i >> 14, *(rng.randrange(1 << 14) for _ in range(15))])
    return orca.frame(values)


class _Dynamixel:
    make = staticmethod(dynamixel_frame)

    def __init__(self) -> None:
        self.parser = dynamixel.PacketParser()

    def feed(self, data: bytes, now_ns: int) -> list[int]:
        return [int.from_bytes(p.data[:4], "little") for p in self.parser.feed(data, now_ns)]

    def held(self) -> int:
        return len(self.parser.pending)

    def end(self, now_ns: int) -> list[int]:
        return [int.from_bytes(p.data[:4], "little") for p in self.parser.expire(now_ns)]


class _Fast(_Dynamixel):
    make = staticmethod(fast_frame)

    def feed(self, data: bytes, now_ns: int) -> list[int]:
        return [self._number(p.raw) for p in self.parser.feed(data, now_ns)]

    def end(self, now_ns: int) -> list[int]:
        return [self._number(p.raw) for p in self.parser.expire(now_ns)]

    @staticmethod
    def _number(raw: bytes) -> int:
        return int.from_bytes(dynamixel.fast_blocks(raw, 8)[0][2][:4], "little")


class _Hall:
    make = staticmethod(hall_frame)

    def __init__(self) -> None:
        self.parser = hall.HallParser()
        self.parser.feed(b"\0", 0)

    def feed(self, data: bytes, now_ns: int) -> list[int]:
        found = [m for m in self.parser.feed(data, now_ns) if isinstance(m, hall.Sample)]
        return [int(w[0, 0]) | int(w[0, 1]) << 12 | int(w[0, 2]) << 24 for w in (m.words for m in found)]

    def held(self) -> int:
        return len(self.parser._buffer)

    def end(self, now_ns: int) -> list[int]:
        return []


class _Orca:
    make = staticmethod(orca_frame)

    def __init__(self) -> None:
        self.parser = orca.OrcaParser()

    def feed(self, data: bytes, now_ns: int) -> list[int]:
        good = [r for r in self.parser.feed(data, now_ns) if r.parity_good.all()]
        return [int(r.words[0]) & 0x3FFF | (int(r.words[1]) & 0x3FFF) << 14 for r in good]

    def held(self) -> int:
        return len(self.parser._buffer)

    def end(self, now_ns: int) -> list[int]:
        return []


def run(parser: Any, frames: int, seed: int, kinds: Any = damage.KINDS) -> tuple[int, int, int, int]:
    """(wrong, lost, bad, most bytes held) over ``frames`` frames."""
    rng = random.Random(seed)
    wrong = lost = bad = held = 0
    for first in range(0, frames, BATCH):
        numbers = range(first, min(first + BATCH, frames))
        stream = damaged_stream([parser.make(i, rng) for i in numbers], rng, kinds=kinds)
        good = {first + i for i in stream.good}
        seen: list[int] = []
        now_ns = 0
        for now_ns, piece in stream.pieces:
            seen += parser.feed(piece, first * 10**9 + now_ns)
            held = max(held, parser.held())
        seen += parser.end(first * 10**9 + now_ns + damage.GAP_NS)
        wrong += sum(n not in numbers for n in seen) + (len(seen) - len(set(seen)))
        lost += len(good - set(seen))
        bad += stream.bad
    return wrong, lost, bad, held


LONGEST = {_Dynamixel: dynamixel.MAX_LENGTH + 507, _Fast: dynamixel.MAX_LENGTH + 507, _Hall: hall.MAX_WIRE}


@pytest.mark.parametrize("frames", [FRAMES, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", list(LONGEST))
def test_a_damaged_frame_costs_at_most_one_good_one_and_never_a_wrong_value(
    kind: Callable[[], Any], frames: int
) -> None:
    wrong, lost, bad, held = run(kind(), frames, seed=8)
    assert bad > frames // 200
    assert wrong == 0
    assert lost <= bad
    assert held <= LONGEST[kind] + 400  # type: ignore[index]


def test_orca_frames_with_single_errors_are_never_believed() -> None:
    wrong, lost, bad, held = run(_Orca(), FRAMES, seed=9, kinds=(damage.flip, damage.cut, damage.beheaded))
    assert (wrong, held <= 2 * orca.FRAME_BYTES + 400) == (0, True)
    assert lost <= bad


def test_orca_checksum_lets_heavy_damage_pass_as_rarely_as_its_bits_say() -> None:
    """8 bits of sum and one per damaged word: below 1 of 256 bursts; the driver's step bound is for those."""
    rng = random.Random(10)
    parser, passed, trials = orca.OrcaParser(), 0, 20_000
    for i in range(trials):
        hurt = bytearray(orca_frame(i, rng))
        for k in range(6, 10):
            hurt[k] = rng.randrange(256)
        passed += sum(bool(r.parity_good.all()) for r in parser.feed(bytes(hurt), i * 10**9))
    assert passed <= trials / 256 * 1.2


def test_an_orca_value_that_jumps_is_not_believed_until_it_is_seen_twice() -> None:
    judge = orca.Plausible(step_max=100)
    values = np.full(17, 1000)
    assert judge.judge(values).all()
    jumped = values.copy()
    jumped[3] = 9000
    assert not judge.judge(jumped)[3]
    assert judge.judge(values)[3]
    assert not judge.judge(jumped)[3]
    assert judge.judge(jumped)[3]
    assert judge.judge(np.full(17, 1000 - 16384 % 16384))[0]


def test_collector_samples_with_any_damage_are_refused() -> None:
    rng = random.Random(11)
    wire = SampleWire(38)
    wire.seal()
    sound = bytes(wire.datagram)
    for _ in range(FRAMES // 3):
        hurt = rng.choice(damage.KINDS)(sound, rng)
        wire.buffer[: len(hurt)] = hurt
        assert wire.opened(len(hurt)) is None
        assert collector.opened(hurt) is None
        wire.buffer[: len(sound)] = sound
        assert wire.opened(len(sound)) is not None
