"""Measurements beside yardsticks, interleaved in one run: ``flexor bench`` (docs/real_time.md)."""
