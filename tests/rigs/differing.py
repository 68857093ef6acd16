"""Shipped hands whose pairs of tendons have a sensor of the difference of their forces, as text."""

from __future__ import annotations

import re
import tomllib

from tests.rigs.mutations import TEXTS

KEYS = (
    "bits = 12, span_n = 400.0, zero_count = 2048.0, direction = 1, "
    "noise_counts_rms = 1.0, filter_hz = 1000.0"
)


def difference(at: str, against: str, channel: int, keys: str = KEYS) -> str:
    """One row, as an inline table."""
    return f'{{ kind = "force_difference", at = "{at}", against = "{against}", channel = {channel}, {keys} }}'


def pairs_of(name: str) -> list[tuple[str, str]]:
    """Tendons of each motor that winds two."""
    motors: dict[str, list[str]] = {}
    for tendon in tomllib.loads(TEXTS[name])["tendons"]:
        motors.setdefault(tendon["motor"], []).append(tendon["name"])
    return [(one, other) for one, other in motors.values()]


def with_differences(name: str, keys: str = KEYS, pairs: list[tuple[str, str]] | None = None) -> str:
    """A hand without sensors, with one at each pair; all of it assumed."""
    chosen = pairs_of(name) if pairs is None else pairs
    rows = "".join(f"  {difference(*pair, k, keys)},\n" for k, pair in enumerate(chosen, start=1))
    text, count = re.subn(
        r"(?m)^\[origin\]$", '[origin]\nsensors = "assumed: of the tests"', TEXTS[name], count=1
    )
    assert count == 1
    return text.replace("\ntendons = [", f"\nsensors = [\n{rows}]\n\ntendons = [", 1)


def beside_a_sensor() -> str:
    """The finger of four tendons, one of which has a difference in the place of its own sensor."""
    text, row = TEXTS["n_plus_one"], re.compile(r'  \{ kind = "force", at = "t4".*\n')
    keys = re.sub(r"span_n = [\d.]+", "span_n = 300.0", KEYS)
    assert row.search(text)
    text = row.sub("  " + difference("t4", "t1", 4, keys) + ",\n", text)
    return text.replace("[origin.sensors]\n", '[origin.sensors]\nagainst = "assumed"\n')
