"""Two runs of identification side by side: what has changed by more than both intervals."""

from __future__ import annotations

from typing import Any


def rows_of(one: dict[str, Any], two: dict[str, Any]) -> list[dict[str, Any]]:
    """Parameters known in both runs: values, change, and whether it is more than the intervals allow."""
    before = {(p["name"], p["parameter"]): p for p in one["parts"] if _known(p)}
    rows = []
    for part in two["parts"]:
        old = before.get((part["name"], part["parameter"]))
        if old is None or not _known(part):
            continue
        away = part["value"] - old["value"]
        if part["unit"] == "deg":
            away = (away + 180.0) % 360.0 - 180.0
        spread = ((part["high"] - part["value"]) ** 2 + (old["high"] - old["value"]) ** 2) ** 0.5
        rows.append(
            {
                "name": part["name"], "parameter": part["parameter"], "unit": part["unit"],
                "before": old["value"], "after": part["value"], "change": away, "interval": spread,
                "changed": abs(away) > spread,
            }
        )  # fmt: skip
    return rows


def _known(part: dict[str, Any]) -> bool:
    """It has a value and an interval; a verdict alone has none (``Part.as_dict``)."""
    return part["value"] is not None and part["high"] is not None
