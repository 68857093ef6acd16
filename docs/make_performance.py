"""Writes the part of docs/performance.md that says where instructions go, from the gate file of the tick.

python docs/make_performance.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "performance.md"
GATE = HERE.parent / "benchmarks" / "kernel_instructions.json"
BEGIN, END = "Where they go now (", "What it does not do, and we do,"
STAGES = {"estimate": "estimators.", "control": "controllers.", "guard": "guard.", "ring": "telemetry."}
LEAST = 1000
"""Instructions of a step or law from which on it is named."""


def greatest(counts: dict[str, float], most: int) -> str:
    """The greatest of some counts, by the last part of their names."""
    order = sorted(counts.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"`{name.rsplit('.', 1)[-1]}` {count:,.0f}" for name, count in order if count >= LEAST)


def part(gate: dict[str, Any]) -> str:
    """The part between its first words and those that follow it."""
    rows = []
    for stage, room in STAGES.items():
        steps = {k: v for k, v in gate["stages"].items() if k.startswith(room)}
        named = {k.rpartition(" > ")[2]: v for k, v in steps.items() if " > " in k}
        rows.append(f"| {stage} | {sum(steps.values()):,.0f} | {greatest(named, 6)} |")
    whole, lean = gate["instructions_per_tick"], gate["lean_instructions_per_tick"]
    return "\n".join(
        [
            "Where they go now (`flexor bench kernel --by-law`, the whole list is in "
            "`benchmarks/kernel_instructions.json`;",
            "this part of the page is made of that file by `python docs/make_performance.py`):",
            "",
            "| stage | instructions | greatest steps |",
            "|---|---|---|",
            *rows,
            "",
            f"Laws with most of their own: {greatest(gate['laws'], 6)}.",
            "",
            f"The whole tick has {whole:,.0f}, {whole / lean:.2f} times the lean one ({lean:,.0f}). "
            f"The 99th percentile is {gate['p99']:,.0f}, the worst",
            f"cycle {gate['worst']:,.0f}. ",
        ]
    )


def page(text: str) -> str:
    """The page with that part anew."""
    begin, end = text.index(BEGIN), text.index(END)
    return text[:begin] + part(json.loads(GATE.read_text())) + text[end:]


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
