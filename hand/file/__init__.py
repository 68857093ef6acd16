"""Hand files: TOML with units in the keys and an origin for every value -> one frozen, checked value."""

from hand.file.errors import FileError, HandFileError, MotionFileError, Problem
from hand.file.hand import HandFile
from hand.file.loader import hand_names, load_hand, parse_hand, shipped_hands

__all__ = [
    "FileError",
    "HandFile",
    "HandFileError",
    "MotionFileError",
    "Problem",
    "load_hand",
    "parse_hand",
    "hand_names",
    "shipped_hands",
]
