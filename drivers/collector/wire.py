"""Buffers that are records: the datagram of a cycle and numpy views of its parts, made once."""

from __future__ import annotations

import zlib

import numpy as np

from drivers.collector import codec
from drivers.collector.codec import Kind


class CommandWire:
    """Datagram of a command for ``slots`` motors: ``head`` (1,), ``slots`` (n,), ``datagram`` as a whole."""

    __slots__ = (
        "_body",
        "_crc",
        "datagram",
        "flags",
        "head",
        "host_time_ns",
        "length",
        "raw",
        "seq",
        "slots",
    )

    def __init__(self, slots: int) -> None:
        self.length = codec.command_bytes(slots)
        raw = np.zeros(codec.MAX_DATAGRAM + 8, dtype=np.uint8)
        at, end = codec.COMMAND_HEAD.itemsize, self.length - 4
        self.raw = raw.data
        """Buffer of any datagram, for the board's side."""
        self.datagram = raw.data[: self.length]
        self._body = raw.data[:end]
        self.head = raw[:at].view(codec.COMMAND_HEAD)
        self.slots = raw[at:end].view(codec.COMMAND_SLOT)
        self._crc = raw[end : self.length].view("<u4")
        self.head["magic"], self.head["kind"], self.head["slots"] = codec.MAGIC, Kind.COMMAND, slots
        self.flags, self.seq = self.head["flags"], self.head["seq"]
        self.host_time_ns = self.head["host_time_ns"]

    def seal(self) -> None:
        """Write the CRC."""
        self._crc[0] = zlib.crc32(self._body)

    def sound(self, length: int) -> bool:
        """Whether ``length`` received bytes are a whole command."""
        return (
            length == self.length
            and int(self._crc[0]) == zlib.crc32(self._body)
            and self.head["magic"][0] == codec.MAGIC
            and self.head["kind"][0] == Kind.COMMAND
            and self.head["slots"][0] == self.slots.shape[0]
        )


class SampleWire:
    """Datagram of a sample; its buffer is long enough for every datagram, so it is received into directly."""

    __slots__ = ("_body", "_crc", "buffer", "datagram", "head", "length", "slots")

    def __init__(self, slots: int) -> None:
        self.length = codec.sample_bytes(slots)
        raw = np.zeros(codec.MAX_DATAGRAM + 8, dtype=np.uint8)
        at, end = codec.SAMPLE_HEAD.itemsize, self.length - 4
        self.buffer = raw.data
        self.datagram = raw.data[: self.length]
        self._body = raw.data[:end]
        self.head = raw[:at].view(codec.SAMPLE_HEAD)
        self.slots = raw[at:end].view(codec.SAMPLE_SLOT)
        self._crc = raw[end : self.length].view("<u4")
        self.head["magic"], self.head["kind"], self.head["slots"] = codec.MAGIC, Kind.SAMPLE, slots

    def seal(self) -> None:
        """Write the CRC."""
        self._crc[0] = zlib.crc32(self._body)

    def sound(self, length: int) -> bool:
        """Whether ``length`` received bytes are a whole sample of this many slots."""
        return (
            length == self.length
            and int(self._crc[0]) == zlib.crc32(self._body)
            and self.head["magic"][0] == codec.MAGIC
            and self.head["kind"][0] == Kind.SAMPLE
            and self.head["slots"][0] == self.slots.shape[0]
        )
