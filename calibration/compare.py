"""Two runs side by side: what has changed by more than both intervals, and what is judged otherwise."""

from __future__ import annotations

from typing import Any


def rows_of(one: dict[str, Any], two: dict[str, Any]) -> list[dict[str, Any]]:
    """What both runs tell, and whether the later one tells something else.

    A parameter has changed where it differs by more than both intervals together; a verdict without a
    figure where it is another one.
    """
    before = {(p["name"], p["parameter"]): p for p in one["parts"]}
    rows: list[dict[str, Any]] = []
    for part in two["parts"]:
        old = before.get((part["name"], part["parameter"]))
        if old is None:
            continue
        judged = {
            "name": part["name"], "parameter": part["parameter"], "unit": part["unit"],
            "before": old["value"], "after": part["value"],
            "verdict_before": old["verdict"], "verdict_after": part["verdict"],
        }  # fmt: skip
        if not (_known(old) and _known(part)):
            other = old["verdict"] != part["verdict"]
            rows.append(judged | {"change": None, "interval": None, "changed": other})
            continue
        away = part["value"] - old["value"]
        if part["unit"] == "deg":
            away = (away + 180.0) % 360.0 - 180.0
        spread = ((part["high"] - part["value"]) ** 2 + (old["high"] - old["value"]) ** 2) ** 0.5
        changed = abs(away) > spread or old["verdict"] != part["verdict"]
        rows.append(judged | {"change": away, "interval": spread, "changed": changed})
    return rows


def _known(part: dict[str, Any]) -> bool:
    """It has a value and an interval; a verdict alone has none (``Part.as_dict``)."""
    return part["value"] is not None and part["high"] is not None
