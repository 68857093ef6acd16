"""Hands, motions, buses, mechanisms: TOML with units in the keys."""
