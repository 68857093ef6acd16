"""Published packets of protocol 2.0 (e-Manual) and of the vendor's SDK, without the two that are wrong.

The e-Manual prints CRC 20 F2 for the fast bulk read request (copied from the sync example; DA 2D is right),
and the SDK for Python does not send byte stuffing.
"""

from __future__ import annotations

from typing import NamedTuple


class Vector(NamedTuple):
    name: str
    wire: bytes
    id: int
    instruction: int
    parameters: bytes


def _v(name: str, wire: str, device_id: int, instruction: int, parameters: str = "") -> Vector:
    return Vector(name, bytes.fromhex(wire), device_id, instruction, bytes.fromhex(parameters))


PUBLISHED = (
    _v("ping", "FF FF FD 00 01 03 00 01 19 4E", 1, 0x01),
    _v("ping status", "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D", 1, 0x55, "00 06 04 26"),
    _v("read", "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15", 1, 0x02, "84 00 04 00"),
    _v("read status", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0", 1, 0x55, "00 A6 00 00 00"),
    _v("write", "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89", 1, 0x03, "74 00 00 02 00 00"),
    _v("write status", "FF FF FD 00 01 04 00 55 00 A1 0C", 1, 0x55, "00"),
    _v("reg write", "FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E", 1, 0x04, "68 00 C8 00 00 00"),
    _v("action", "FF FF FD 00 01 03 00 05 02 CE", 1, 0x05),
    _v("reboot", "FF FF FD 00 01 03 00 08 2F 4E", 1, 0x08),
    _v("clear", "FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC", 1, 0x10, "01 44 58 4C 22"),
    _v("sync read", "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA", 254, 0x82, "84 00 04 00 01 02"),
    _v("sync read status", "FF FF FD 00 02 08 00 55 00 1F 08 00 00 BA BE", 2, 0x55, "00 1F 08 00 00"),
    _v(
        "sync write",
        "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87",
        254,
        0x83,
        "74 00 04 00 01 96 00 00 00 02 AA 00 00 00",
    ),
    _v(
        "bulk read",
        "FF FF FD 00 FE 0D 00 92 01 90 00 02 00 02 92 00 01 00 1A 05",
        254,
        0x92,
        "01 90 00 02 00 02 92 00 01 00",
    ),
    _v(
        "bulk write",
        "FF FF FD 00 FE 10 00 93 01 20 00 02 00 A0 00 02 1F 00 01 00 50 B7 68",
        254,
        0x93,
        "01 20 00 02 00 A0 00 02 1F 00 01 00 50",
    ),
    _v(
        "fast sync read",
        "FF FF FD 00 FE 0A 00 8A 84 00 04 00 03 07 04 20 F2",
        254,
        0x8A,
        "84 00 04 00 03 07 04",
    ),
    _v(
        "fast bulk read (CRC corrected)",
        "FF FF FD 00 FE 12 00 9A 03 84 00 04 00 07 7C 00 02 00 04 92 00 01 00 DA 2D",
        254,
        0x9A,
        "03 84 00 04 00 07 7C 00 02 00 04 92 00 01 00",
    ),
)

SDK = (
    _v(
        "fast sync read 126 len 10 ids 1..8",
        "ff ff fd 00 fe 0f 00 8a 7e 00 0a 00 01 02 03 04 05 06 07 08 6f de",
        254,
        0x8A,
        "7e 00 0a 00 01 02 03 04 05 06 07 08",
    ),
    _v(
        "sync write 102 -5 5 -5 5",
        "ff ff fd 00 fe 13 00 83 66 00 02 00 01 fb ff 02 05 00 03 fb ff 04 05 00 ec b0",
        254,
        0x83,
        "66 00 02 00 01 fb ff 02 05 00 03 fb ff 04 05 00",
    ),
    _v("bus watchdog", "ff ff fd 00 01 06 00 03 62 00 05 68 e4", 1, 0x03, "62 00 05"),
    _v("mode current", "ff ff fd 00 01 06 00 03 0b 00 00 42 e3", 1, 0x03, "0b 00 00"),
)

STUFFING = (
    _v(
        "write of FF FF FD",
        "ff ff fd 00 01 0a 00 03 74 00 ff ff fd fd 00 21 e7",
        1,
        0x03,
        "74 00 ff ff fd 00",
    ),
    _v("status with FF FF FD", "ff ff fd 00 01 09 00 55 00 ff ff fd fd 00 d8 9c", 1, 0x55, "00 ff ff fd 00"),
)
"""By the documented rule."""

FAST_SYNC_REPLY = bytes.fromhex(
    "FF FF FD 00 FE 19 00 55 00 03 A6 00 00 00 84 08 00 07 1F 08 00 00 16 CA 00 04 FF 03 00 00 D1 9E"
)
FAST_SYNC_BLOCKS = [
    (0, 3, bytes.fromhex("A6 00 00 00")),
    (0, 7, bytes.fromhex("1F 08 00 00")),
    (0, 4, bytes.fromhex("FF 03 00 00")),
]
SDK_UNSTUFFED = bytes.fromhex("ff ff fd 00 01 09 00 03 74 00 ff ff fd 00 c9 07")
"""What the SDK sends for the stuffing vector: sound checksum, rule broken."""
