"""The monitor's screen: which page, what is searched, where it is scrolled to, and what a key changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, Group
from rich.text import Text

from tools.monitor.pages import HELP, PAGES, faults, head
from tools.monitor.watched import Watched

ENDS: Final = ("q", "\x03", "\x04")
_STEP: Final = {"up": -1, "down": 1, "page up": -1, "page down": 1}


@dataclass(slots=True)
class Screen:
    """What is shown.

    Attributes:
        page: number of the page, from 0.
        search: only names with this text.
        typing: the text is being typed.
        paused: the picture stands still.
        help: the keys are shown.
        offset: first line of the page that is shown.
        room: lines of the page that the screen has room for.
    """

    page: int = 0
    search: str = ""
    typing: bool = False
    paused: bool = False
    help: bool = False
    offset: int = 0
    room: int = 1

    def key(self, key: str) -> bool:
        """Take a key; False: quit."""
        if self.typing:
            self._typed(key)
        elif key in ENDS:
            return False
        elif key.isdigit() and 1 <= int(key) <= len(PAGES):
            self.page, self.offset, self.help = int(key) - 1, 0, False
        elif key == "\t":
            self.page, self.offset = (self.page + 1) % len(PAGES), 0
        elif key in _STEP:
            lines = max(self.room - 1, 1) if key.startswith("page") else 1
            self.offset = max(0, self.offset + lines * _STEP[key])
        elif key == "p":
            self.paused = not self.paused
        elif key == "?":
            self.help = not self.help
        elif key == "/":
            self.typing, self.search, self.offset = True, "", 0
        elif key == "esc":
            self.search, self.help = "", False
        return True

    def _typed(self, key: str) -> None:
        if key in ("\r", "\n", "esc"):
            self.typing = False
            self.search = "" if key == "esc" else self.search
        elif key in ("\x7f", "\b"):
            self.search = self.search[:-1]
        elif key.isprintable() and len(key) == 1:
            self.search += key

    def lines(self, watched: Watched, endpoint: str, width: int, height: int) -> Any:
        """The whole picture, at most ``height`` lines."""
        if watched.view is None:
            text = f"waiting for {endpoint} ... (flexor run HAND starts a hand; flexor ps lists what runs)"
            return Text(text, style="yellow")
        console = Console(width=width, height=height, color_system=None)
        top = Group(head(watched, endpoint, self.paused, width), faults(watched))
        used = len(console.render_lines(top, pad=False))
        room = self.room = max(height - used - 1, 1)
        if self.help:
            body = Text(HELP)
        else:
            body = PAGES[self.page][1](watched, self.search, width, max(room - 1, 1))
        rows = _rows(body, width, height)
        self.offset = min(self.offset, max(len(rows) - room, 0))
        shown = rows[self.offset : self.offset + room]
        shown += [Text("")] * (room - len(shown))
        return Group(*_rows(top, width, height)[: height - room - 1], *shown, self._foot(len(rows), room))

    def _foot(self, lines: int, room: int) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        for k, (title, _) in enumerate(PAGES):
            text.append(f" {k + 1} {title} ", style="reverse" if k == self.page else "dim")
        last = min(self.offset + room, lines)
        more = f"  {self.offset + 1}-{last} of {lines}" if lines > room else ""
        text.append(more, style="yellow")
        if self.typing or self.search:
            text.append(f"  /{self.search}" + ("_" if self.typing else ""), style="bold")
        else:
            text.append("  ? help  q quit", style="dim")
        return text


def _rows(thing: Any, width: int, height: int) -> list[Text]:
    """A renderable as lines with their styles."""
    console = Console(width=width, height=height, force_terminal=True, color_system="truecolor")
    rows = []
    for segments in console.render_lines(thing, pad=False):
        row = Text(no_wrap=True, overflow="crop")
        for segment in segments:
            row.append(segment.text, style=segment.style or "none")
        rows.append(row)
    while rows and not rows[-1].plain.strip():
        rows.pop()
    return rows
