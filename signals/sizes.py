"""Fixed capacities of every record: one compiled tick and one memory layout serve every hand.

A hand that needs more is refused when it is loaded (``hand.file``); raising a number here is
the whole change, at the price of one recompilation.
"""

from __future__ import annotations

from typing import Final

MOTORS: Final = 64
TENDONS: Final = 64
JOINTS: Final = 32
FINGERS: Final = 8
AXES: Final = 2
"""Axes of drives that close their own position loop (the wrist)."""
FINGER_JOINTS: Final = 8
FINGER_TENDONS: Final = 16
BRANCH_JOINTS: Final = 24
"""Joints that may hang on one child of the palm, as a wrist of ordinary joints with all fingers on it."""
BODIES: Final = 32
RIPPLES: Final = 8
SPRINGS: Final = 4
"""Different spring mechanisms in one hand."""
PASSIVES: Final = 16
"""Passive rows of a hand: return tendons and bands that no motor winds."""
SPRING_NODES: Final = 192
"""Nodes of a spring's Hermite table over the lever angle."""
FORCE_NODES: Final = 128
"""Nodes of a spring's table over the tendon force."""
CHANNELS: Final = 128
"""Channels of a motion."""

EXTENTS: Final[dict[str, int]] = {
    "motor": MOTORS,
    "tendon": TENDONS,
    "joint": JOINTS,
    "finger": FINGERS,
    "axis": AXES,
    "finger_joint": FINGER_JOINTS,
    "finger_tendon": FINGER_TENDONS,
    "body": BODIES,
    "ripple": RIPPLES,
    "spring": SPRINGS,
    "passive": PASSIVES,
    "spring_node": SPRING_NODES,
    "force_node": FORCE_NODES,
    "channel": CHANNELS,
    "xyz": 3,
    "row": 3,
    "tier": 3,
    "level": 2,
}
"""Index space -> capacity; the dimensions that a signal may name."""
