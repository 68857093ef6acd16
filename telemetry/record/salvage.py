"""Records of an MCAP file that may be damaged: what is sound comes out, what is not is named by its place.

Bytes are sound when lengths agree with each other and checksums with the bytes. Behind damage the next
record is searched whose lengths agree; nothing that a damaged length promises is ever allocated.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile, McapError
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.stream_reader import breakup_chunk

MAGIC: Final = b"\x89MCAP0\r\n"
CHECKSUM: Final = "crc32"
"""Key of a metadata record's checksum: the format gives it none."""
_HEAD: Final = struct.Struct("<BQ")
_LARGEST: Final = 64 * 2**20
"""Bytes of a record or of a chunk's content; the recorder's chunks have a quarter of a megabyte."""
_KINDS: Final[dict[int, Any]] = {
    Opcode.HEADER: Header,
    Opcode.FOOTER: Footer,
    Opcode.SCHEMA: Schema,
    Opcode.CHANNEL: Channel,
    Opcode.CHUNK: Chunk,
    Opcode.MESSAGE_INDEX: MessageIndex,
    Opcode.CHUNK_INDEX: ChunkIndex,
    Opcode.ATTACHMENT: Attachment,
    Opcode.ATTACHMENT_INDEX: AttachmentIndex,
    Opcode.STATISTICS: Statistics,
    Opcode.METADATA: Metadata,
    Opcode.METADATA_INDEX: MetadataIndex,
    Opcode.SUMMARY_OFFSET: SummaryOffset,
    Opcode.DATA_END: DataEnd,
}
_ANY: Final = re.compile(rb"(?=[\x01-\x04\x06-\x0f].{4}\0\0\0\0)", re.DOTALL)
"""What the head of a record looks like: one of the kinds above, a length below 2^32."""
_BEGINS: Final = frozenset({*_KINDS, MAGIC[0]})
UNREADABLE: Final = (
    McapError,
    zstandard.ZstdError,
    struct.error,
    ValueError,
    OverflowError,
    MemoryError,
)
"""What the MCAP library raises on foreign bytes; checksum errors are ValueErrors."""


def checksum(name: str, values: dict[str, str]) -> str:
    """Checksum of a metadata record, independent of the order of its values."""
    return f"{zlib.crc32(json.dumps([name, values], sort_keys=True).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a file that could not be read.

    Attributes:
        begin: first byte.
        end: byte behind the last.
        what: what lay there and what is wrong with it.
    """

    begin: int
    end: int
    what: str

    def __str__(self) -> str:
        return f"bytes {self.begin} to {self.end}: {self.what}"


class _Exact(BytesIO):
    """Bytes of one record: what reaches beyond them is an error, not a short read."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0 or size > len(self.getbuffer()) - self.tell():
            raise EndOfFile
        return super().read(size)


class Salvage:
    """Walks through a file once.

    Args:
        data: the whole file; a memory map will do.

    Attributes:
        damage: what was not readable so far, in the order of the file.
        ended: the file has its end: whoever wrote it was not interrupted.
    """

    def __init__(self, data: Any) -> None:
        self.data, self.size = data, len(data)
        self.damage: list[Damage] = []
        self.ended = False

    def records(self) -> Iterator[Any]:
        """Sound records in the order of the file, those inside of chunks too."""
        at = 0
        if self.data[: len(MAGIC)] == MAGIC:
            at = len(MAGIC)
        while at < self.size:
            # the length first: a slice copies, and the file is long
            if self.size - at == len(MAGIC) and self.data[at : self.size] == MAGIC and self.ended:
                return
            record, end, why = self._record(at)
            if record is None:
                end = self._next(at + 1)
                self._lost(at, end, why)
            elif isinstance(record, Chunk):
                yield from self._open(record, at, end)
            else:
                self.ended = self.ended or isinstance(record, Footer)
                yield record
            at = end
        if not self.ended:
            self._lost(
                self.size, self.size, "it ends here without its index: cut off, or its writer was killed"
            )
        else:
            self._lost(self.size, self.size, "the end mark is missing")

    def _record(self, at: int) -> tuple[Any, int, str]:
        """The record that begins at a byte, where it ends, and what is wrong if there is none."""
        if at + _HEAD.size > self.size:
            return None, self.size, "the file ends within a record"
        opcode, length = _HEAD.unpack(self.data[at : at + _HEAD.size])
        begin = at + _HEAD.size
        kind = _KINDS.get(opcode)
        if kind is None:
            return None, at, "no record begins here"
        if length > min(self.size - begin, _LARGEST):
            return None, at, f"{_words(kind)} that is cut off, or its length is damaged"
        content = bytes(self.data[begin : begin + length])
        stream = ReadDataStream(_Exact(content))
        try:
            record = kind.read(stream)
        except UNREADABLE:
            return None, at, f"{_words(kind)} whose inner lengths are damaged"
        if stream.count != length:
            return None, at, f"{_words(kind)} whose length is damaged"
        if kind is Metadata and CHECKSUM in record.metadata:
            values = {k: v for k, v in record.metadata.items() if k != CHECKSUM}
            if record.metadata[CHECKSUM] != checksum(record.name, values):
                return None, at, f"metadata ({record.name[:80]!r}) with a wrong checksum"
        if kind is Attachment and zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
            return None, at, f"an attachment ({record.name[:80]!r}) with a wrong checksum"
        return record, begin + length, ""

    def _next(self, at: int) -> int:
        """The next place at which a record with right lengths begins, or the end of the file."""
        for found in _ANY.finditer(self.data, at):
            record, end, _ = self._record(found.start())
            if record is None:
                continue
            if isinstance(record, Chunk) or end == self.size or self.data[end] in _BEGINS:
                return found.start()  # a chunk's lengths prove each other, the others' need a neighbour
        return self.size

    def _open(self, chunk: Chunk, begin: int, end: int) -> Iterator[Any]:
        """What is inside of a chunk: all or, with a wrong checksum, nothing."""
        records: list[Any] = []
        try:
            self._check_size(chunk)
            records = breakup_chunk(chunk, validate_crc=True)
        except UNREADABLE as error:
            what = f"a chunk of messages that cannot be read ({str(error) or type(error).__name__})"
            self._lost(begin, end, what)
        yield from records

    @staticmethod
    def _check_size(chunk: Chunk) -> None:
        sizes = [chunk.uncompressed_size]
        if chunk.compression == "zstd":
            sizes.append(zstandard.get_frame_parameters(chunk.data).content_size)
        if max(sizes) > _LARGEST and max(sizes) != zstandard.CONTENTSIZE_UNKNOWN:
            raise ValueError(f"{max(sizes)} bytes uncompressed; legal are {_LARGEST}")

    def _lost(self, begin: int, end: int, what: str) -> None:
        self.damage.append(Damage(begin, end, what))


def _words(kind: Any) -> str:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
