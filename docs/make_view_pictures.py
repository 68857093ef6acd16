"""Pictures of ``flexor view`` for the docs: ``python docs/make_view_pictures.py [LOG]``; needs Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tools.view.browser import Browser

IMAGES: Final = Path(__file__).parent / "images"
RUN: Final = ("run", "hasy", "--motion", "open_close", "--for", "4", "--lockstep", "--record")
FAULT: Final = ("--fault", "tendon-break:index_4@2.5")
SIZES: Final = {"view_hasy": (1180, 720), "view_narrow": (420, 760)}
MECHANISM: Final = ("simulate", "carpal_wrist", "--view")
TOLD: Final = "document.querySelector('#fx-banner')?.dataset.kind==={!r}"


def flexor(*words: str) -> list[str]:
    """Words of a command."""
    return [sys.executable, "-m", "tools.cli", *words]


def main() -> None:
    """Make a log if none is given, play it to its fault, take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            log = Path(sys.argv[1])
        else:
            subprocess.run(flexor(*RUN, *FAULT, "--out", folder), check=False, stdout=subprocess.DEVNULL)
            (log,) = Path(folder).glob("*.mcap")
        take(("view", str(log)), "fault", SIZES)
    take(MECHANISM, "log", {"view_mechanism": (1000, 600)})


def take(words: tuple[str, ...], kind: str, sizes: dict[str, tuple[int, int]]) -> None:
    """Pictures of the page of a command, once its banner is of a kind."""
    page = subprocess.Popen(flexor(*words), stdout=subprocess.PIPE, text=True)
    assert page.stdout is not None
    url = next(line.split()[1] for line in page.stdout if line.startswith("view: "))
    try:
        for name, (width, height) in sizes.items():
            with Browser(url, width, height) as browser:
                browser.until(TOLD.format(kind), 90)
                time.sleep(3.0)
                browser.close_notices()
                time.sleep(1.0)
                browser.picture(IMAGES / f"{name}.png")
    finally:
        page.terminate()
        page.wait()


if __name__ == "__main__":
    main()
