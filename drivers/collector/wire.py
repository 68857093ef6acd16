"""Buffers that are records: the datagram of a cycle and numpy views of its parts, made once."""

from __future__ import annotations

import zlib

import numpy as np

from drivers.collector import codec
from drivers.collector.codec import COMMAND_START, CRC, MAGIC, SAMPLE_START, Kind


class CommandWire:
    """Datagram of a command for ``slots`` motors: ``head`` (1,), ``slots`` (n,), ``datagram`` as a whole."""

    __slots__ = ("_body", "_end", "datagram", "head", "length", "raw", "slots")

    def __init__(self, slots: int) -> None:
        self.length = codec.command_bytes(slots)
        raw = np.zeros(codec.MAX_DATAGRAM + 8, dtype=np.uint8)
        at, self._end = codec.COMMAND_HEAD.itemsize, self.length - 4
        self.raw = raw.data
        """Buffer of any datagram, for the board's side."""
        self.datagram = raw.data[: self.length]
        self._body = raw.data[: self._end]
        self.head = raw[:at].view(codec.COMMAND_HEAD)
        self.slots = raw[at : self._end].view(codec.COMMAND_SLOT)

    def seal(self, flags: int, session: int, seq: int, host_time_ns: int) -> None:
        """Write header, host time and CRC."""
        slots = len(self.slots)
        COMMAND_START.pack_into(self.raw, 0, MAGIC, Kind.COMMAND, slots, flags, session, seq, host_time_ns)
        CRC.pack_into(self.raw, self._end, zlib.crc32(self._body))

    def opened(self, length: int) -> tuple[int, int, int, int] | None:
        """(flags, session, number, host time) of a received command; None unless it is a whole one."""
        if length != self.length or CRC.unpack_from(self.raw, self._end)[0] != zlib.crc32(self._body):
            return None
        magic, kind, slots, flags, session, seq, host_time_ns = COMMAND_START.unpack_from(self.raw)
        if magic != MAGIC or kind != Kind.COMMAND or slots != len(self.slots):
            return None
        return flags, session, seq, host_time_ns


class SampleWire:
    """Datagram of a sample; its buffer is long enough for every datagram, so it is received into directly."""

    __slots__ = ("_body", "_end", "buffer", "datagram", "head", "length", "slots")

    def __init__(self, slots: int) -> None:
        self.length = codec.sample_bytes(slots)
        raw = np.zeros(codec.MAX_DATAGRAM + 8, dtype=np.uint8)
        at, self._end = codec.SAMPLE_HEAD.itemsize, self.length - 4
        self.buffer = raw.data
        self.datagram = raw.data[: self.length]
        self._body = raw.data[: self._end]
        self.head = raw[:at].view(codec.SAMPLE_HEAD)
        self.slots = raw[at : self._end].view(codec.SAMPLE_SLOT)

    def seal(
        self,
        *,
        flags: int = 0,
        session: int = 0,
        seq: int = 0,
        times_ns: tuple[int, int] = (0, 0),
        echo_seq: int = 0,
        command_age_us: int = 0,
    ) -> None:
        """Write header, (device, host) times and CRC."""
        head = (MAGIC, Kind.SAMPLE, len(self.slots), flags, session, seq)
        SAMPLE_START.pack_into(self.buffer, 0, *head, *times_ns, echo_seq, command_age_us)
        CRC.pack_into(self.buffer, self._end, zlib.crc32(self._body))

    def opened(self, length: int) -> tuple[int, int, int] | None:
        """(flags, device time, answered command) of a received sample; None unless it is a whole one."""
        if length != self.length or CRC.unpack_from(self.buffer, self._end)[0] != zlib.crc32(self._body):
            return None
        magic, kind, slots, flags, _, _, device_ns, _, echo, _ = SAMPLE_START.unpack_from(self.buffer)
        if magic != MAGIC or kind != Kind.SAMPLE or slots != len(self.slots):
            return None
        return flags, device_ns, echo
