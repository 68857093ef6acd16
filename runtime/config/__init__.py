"""Hand files: TOML with units in the keys and an origin for every value -> one frozen, checked value."""

from runtime.config.errors import FileError, HandFileError, MotionFileError, Problem
from runtime.config.hand import HandFile
from runtime.config.loader import load_hand, parse_hand, shipped_hands

__all__ = [
    "FileError",
    "HandFile",
    "HandFileError",
    "MotionFileError",
    "Problem",
    "load_hand",
    "parse_hand",
    "shipped_hands",
]
