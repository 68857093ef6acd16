"""Pictures of the pages: a figure where matplotlib is there, small panels for many parts, the PNG of it."""

from __future__ import annotations

import io
from typing import Any, Final

ACROSS: Final = 4
"""Panels beside each other."""


def figure(width_in: float, height_in: float) -> Any | None:
    """A matplotlib ``Figure``; ``None`` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(width_in, height_in), layout="constrained")


def panels(names: list[str], x_text: str, y_text: str) -> tuple[Any, list[Any]] | None:
    """A figure and a small axis with a common scale for each name; ``None`` without matplotlib."""
    down = -(-len(names) // ACROSS)
    drawn = figure(3.1 * ACROSS, 2.4 * down)
    if drawn is None:
        return None
    axes = list(drawn.subplots(down, ACROSS, squeeze=False, sharex=True, sharey=True).ravel())
    for axis, name in zip(axes, names, strict=False):
        axis.set_title(name, fontsize=9)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=7)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    drawn.supxlabel(x_text, fontsize=9)
    drawn.supylabel(y_text, fontsize=9)
    return drawn, axes[: len(names)]


def png(drawn: Any) -> bytes:
    """The picture of a figure."""
    out = io.BytesIO()
    drawn.savefig(out, format="png", dpi=110)
    return out.getvalue()
