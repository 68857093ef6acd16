"""Streams with damaged frames: what every parser has to survive, and the count of what it did."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

GAP_NS = 50_000_000
"""A silence longer than every parser's time-out."""


@dataclass
class Stream:
    """Pieces of a stream with the time at which each arrives."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    good: list[int] = field(default_factory=list)
    """Numbers of the frames that were left sound."""
    bad: int = 0


def flip(frame: bytes, rng: random.Random) -> bytes:
    out = bytearray(frame)
    bit = rng.randrange(len(out) * 8)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def burst(frame: bytes, rng: random.Random) -> bytes:
    out = bytearray(frame)
    at = rng.randrange(len(out))
    for i in range(at, min(at + rng.randrange(2, 6), len(out))):
        out[i] = rng.randrange(256)
    return bytes(out) if bytes(out) != frame else flip(frame, rng)


def cut(frame: bytes, rng: random.Random) -> bytes:
    return frame[: rng.randrange(1, len(frame))]


def beheaded(frame: bytes, rng: random.Random) -> bytes:
    return frame[rng.randrange(1, len(frame)) :]


def stutter(frame: bytes, rng: random.Random) -> bytes:
    """First bytes doubled, and the frame cut behind them."""
    return frame[:3] + frame[: rng.randrange(2, len(frame) - 1)]


KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (flip, burst, cut, beheaded, stutter)


def damaged_stream(
    frames: Sequence[bytes],
    rng: random.Random,
    share: float = 0.01,
    kinds: tuple[Callable[[bytes, random.Random], bytes], ...] = KINDS,
    byte_ns: int = 2500,
) -> Stream:
    """Frames in random pieces, a share of them damaged, junk in front of some, silence behind some cuts."""
    stream, now_ns, pending = Stream(), 1_000_000, bytearray()

    def flush() -> None:
        nonlocal now_ns
        at = 0
        while at < len(pending):
            size = rng.randrange(1, 400)
            piece = bytes(pending[at : at + size])
            at += len(piece)
            now_ns += len(piece) * byte_ns
            stream.pieces.append((now_ns, piece))
        pending.clear()

    for number, frame in enumerate(frames):
        if rng.random() >= share:
            pending += frame
            stream.good.append(number)
        elif rng.random() < 0.1:
            pending += rng.randbytes(rng.randrange(1, 12)) + frame
            stream.bad += 1  # junk may swallow the frame behind it, e.g. half a header
        else:
            stream.bad += 1
            pending += rng.choice(kinds)(frame, rng)
            if rng.random() < 0.3:
                flush()
                now_ns += GAP_NS
        if len(pending) > 4000:
            flush()
    flush()
    return stream
