"""Hands and motions of a laboratory: files alone, no code."""
