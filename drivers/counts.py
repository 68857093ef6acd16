"""Counts of what went wrong on a wire, by kind; the slow path reads them, the parsers add to them."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class WireCounts:
    """Frames and errors since the start; only ever grows."""

    frames: int = 0
    crc: int = 0
    """Checksum wrong."""
    length: int = 0
    """Impossible or contradicting length."""
    framing: int = 0
    """Delimiter, header or stuffing rule broken."""
    junk_bytes: int = 0
    """Bytes that belong to no frame."""
    expired: int = 0
    """Half frames given up after their time-out."""
    unexpected: int = 0
    """Sound frames that nobody asked for."""
    lost: int = 0
    """Frames missing in the sender's numbering."""

    def errors(self) -> int:
        """Damaged frames of every kind."""
        return self.crc + self.length + self.framing + self.expired

    def as_dict(self) -> dict[str, int]:
        """For health messages and logs."""
        return dict(asdict(self))
