"""Mechanism files: TOML with units in the keys and an origin for every value -> a mechanism ready to run."""

from runtime.mechanisms.load import (
    LoadedMechanism,
    MechanismFileError,
    load_mechanism,
    parse_mechanism,
    shipped_mechanisms,
)

__all__ = [
    "LoadedMechanism",
    "MechanismFileError",
    "load_mechanism",
    "parse_mechanism",
    "shipped_mechanisms",
]
