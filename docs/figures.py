"""How the figures of the pages look, and where those of the papers are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from reports.files import pyplot

plt: Final = pyplot()
IMAGES: Final = Path(__file__).parent / "papers" / "images"


def use_style(line_width: float = 1.5) -> None:
    """Of all figures that follow; the width of lines [pt] where none is given."""
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
                         "grid.color": "#e4e8ee", "legend.frameon": False, "axes.titlelocation": "left",
                         "axes.titleweight": "bold", "lines.linewidth": line_width})  # fmt: skip


def panels(columns: int, width: float = 9.5, height: float = 3.2) -> tuple[Any, Any]:
    """A figure of panels beside each other and their axes; width and height in inches."""
    return plt.subplots(1, columns, figsize=(width, height), constrained_layout=True)


def save(figure: Any, name: str) -> None:
    """Into a picture of the papers' pages."""
    figure.savefig(IMAGES / f"{name}.png", dpi=110)
    plt.close(figure)
