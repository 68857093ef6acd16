"""Fault hooks of the emulated collector board."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from sim.emulators.damage import flip_a_bit


@dataclass(slots=True)
class CollectorFaults:
    """Fault hooks; all may be changed while it runs."""

    drop: float = 0.0
    """Share of samples that never arrive."""
    flip: float = 0.0
    """Share of samples with one bit changed."""
    duplicate: float = 0.0
    """Share of samples that arrive twice."""
    delay_ns: int = 0
    """Every sample is late by this."""
    deaf: bool = False
    """Nothing is received."""
    stale_motors: set[int] = field(default_factory=set)
    """Motors whose channel has no fresh data."""
    limit_refused: int = -1
    """Slot whose limit the board changes on its own."""
    keeps_seq: bool = False
    """Remembers the newest seq over a SETUP, against the protocol: the next computer's commands are old."""
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def any(self) -> bool:
        """Whether anything happens to samples on their way."""
        return bool(self.drop or self.flip or self.duplicate or self.delay_ns)

    def arriving(self, datagram: bytes | memoryview) -> list[bytes]:
        """What arrives of one sample: nothing, the sample, a damaged one, two."""
        if self.rng.random() < self.drop:
            return []
        out = bytearray(datagram)
        if self.rng.random() < self.flip:
            flip_a_bit(out, self.rng)
        return [bytes(out)] * (2 if self.rng.random() < self.duplicate else 1)
