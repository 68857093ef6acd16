"""HB1: the frame of the note, 4 channels 0, 1, 2048, 4095, number 7, time 123456 us."""

from __future__ import annotations

BODY = bytes.fromhex("01 00 07 00 40 e2 01 00 04 01 00 00 01 00 00 08 ff 0f 16 e5")
WIRE = bytes.fromhex("02 01 02 07 04 40 e2 01 03 04 01 01 02 01 01 06 08 ff 0f 16 e5 00")
CRC_CHECK = 0x29B1
"""CRC-16/IBM-3740 of "123456789"."""
