"""Checks of ``[identified]``: what was measured of single motors names motors, and fits into the records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hand.file.checks_names import reference
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import Refusal
from signals.sizes import RIPPLES

Raw = dict[str, Any]


def _rows(table: Any) -> list[tuple[str, str]]:
    return [(text_of(row, "shaft"), str(row.get("order"))) for _, row in dicts_at(table, "ripple")]


def identified_refusals(raw: Raw) -> Iterator[Refusal]:
    """Names that are no motors, harmonics that come twice, more of them than there is room for."""
    motors, every = list(dict_at(raw, "motors")), list(dict.fromkeys(_rows(raw)))
    for name, table in dict_at(raw, "identified").items():
        yield from reference(("identified", name), name, motors, "a motor")
        rows = _rows(table)
        for k, row in enumerate(rows):
            if row in rows[:k]:
                found = f"{row[0]} shaft, order {row[1]}, a second time"
                yield Refusal(
                    path=("identified", name, "ripple", k), found=found, legal="every harmonic once"
                )
        every += [row for row in dict.fromkeys(rows) if row not in every]
    if len(every) > RIPPLES and "identified" in raw:
        legal = f"at most {RIPPLES} with those of the hand (signals/sizes.py)"
        yield Refusal(path=("identified",), found=f"{len(every)} different harmonics", legal=legal)
