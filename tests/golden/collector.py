"""Collector frames written down byte by byte from docs/collector_protocol.md, CRC by zlib's polynomial."""

from __future__ import annotations

COMMAND = bytes.fromhex(
    "46 4c 58 31"  # FLX1
    "01 02 01 00"  # command, 2 slots, ARM
    "dd cc bb aa"  # session
    "07 00 00 00"  # number
    "15 cd 5b 07 00 00 00 00"  # host time 123456789 ns
    "00 00 08 00 00 00 f8 ff"  # axes +0.5, -0.5 rad
    "01 00 00 00 00 00 00 00"  # first axis enabled
    "00 00 10 00 00 04 01 00"  # slot 0: 1 rad, 0.5 A, current
    "00 00 f0 ff 00 f8 02 00"  # slot 1: -1 rad, -1 A, position
)
SAMPLE = bytes.fromhex(
    "46 4c 58 31"
    "02 01 01 00"  # sample, 1 slot, ARMED
    "dd cc bb aa"
    "05 00 00 00"
    "00 e4 0b 54 02 00 00 00"  # device time 1e10 ns
    "15 cd 5b 07 00 00 00 00"  # echoed host time
    "07 00 00 00"  # answers command 7
    "19 00 00 00"  # command is 25 us old
    "00 00 08 00 00 00 f8 ff"  # axes +0.5, -0.5 rad
    "00 00 02 00"  # second axis stale
    "60 09 01 00"  # 24.00 V, boot 1
    "00 00 04 00"  # slot 0: 0.25 rad
    "00 80 ff ff"  # -0.5 rad/s
    "00 08"  # 1 A
    "80 0f"  # 31 degC
    "08 80"  # Hall 2048.5
    "00 00 00 00"  # good
    "0c 00"  # 12 us old
)
