"""What can happen to bytes on a line between an emulated device and the driver: fault hooks."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


def flip_a_bit(data: bytearray, rng: random.Random) -> None:
    """Change one bit in place."""
    bit = rng.randrange(len(data) * 8)
    data[bit // 8] ^= 1 << bit % 8


@dataclass(slots=True)
class Damage:
    """Of replies or frames on a serial line; each is a share of them."""

    flip: float = 0.0
    truncate: float = 0.0
    junk: float = 0.0
    """Junk bytes in front."""
    rng: random.Random = field(default_factory=lambda: random.Random(2))

    def damaged(self, sent: bytes) -> bytes:
        """What arrives of it."""
        out, rng = bytearray(sent), self.rng
        if rng.random() < self.flip:
            flip_a_bit(out, rng)
        if rng.random() < self.truncate:
            del out[rng.randrange(1, len(out)) :]
        if rng.random() < self.junk:
            out[:0] = rng.randbytes(rng.randrange(1, 9))
        return bytes(out)
