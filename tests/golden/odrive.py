"""CANSimple frames from cantools with the DBC of firmware 0.6.10: (id, data, meaning)."""

from __future__ import annotations

FRAMES = (
    (0x067, "08 00 00 00 00 00 00 00", ("axis_state", 3, 8)),
    (0x06B, "01 00 00 00 01 00 00 00", ("controller_mode", 3, 1, 1)),
    (0x06E, "00 00 00 be 00 00 00 00", ("input_torque", 3, -0.125)),
    (0x02C, "00 00 c0 3f fa 00 83 ff", ("input_pos", 1, 1.5, 0.25, -0.125)),
)
"""Commands: function of the codec and its arguments."""
FEEDBACK = (
    (0x069, "00 00 80 3e 00 00 c0 bf", (0.25, -1.5)),
    (0x074, "00 00 80 3f 00 00 40 3f", (1.0, 0.75)),
)
"""Pairs of floats."""
HEARTBEAT = (0x061, "00 00 00 00 08 00 01 00", (0, 8))
