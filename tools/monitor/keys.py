"""Single keys of a terminal, without waiting for Enter."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from types import TracebackType
from typing import Any, Final, Self

_LONG: Final = {"\x1b[A": "up", "\x1b[B": "down", "\x1b[5~": "page up", "\x1b[6~": "page down"}


class Keys:
    """Keys as they are pressed; where stdin is no terminal there are none."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        self._before: Any = None

    def __enter__(self) -> Self:
        if self._file is not None:
            self._before = termios.tcgetattr(self._file)
            tty.setcbreak(self._file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float) -> list[str]:
        """Keys that come within some time, at once if some have: characters, ``up``, ``down``, ``esc``."""
        if self._file is None:
            select.select([], [], [], max(seconds, 0.0))
            return []
        if not select.select([self._file], [], [], max(seconds, 0.0))[0]:
            return []
        return split(os.read(self._file, 256).decode(errors="replace"))


def split(text: str) -> list[str]:
    """What a terminal sent as keys."""
    found: list[str] = []
    while text:
        name = next((name for name in _LONG if text.startswith(name)), None)
        if name is not None:
            found.append(_LONG[name])
            text = text[len(name) :]
        elif text[0] == "\x1b":
            found.append("esc")
            text = text[1:]
        else:
            found.append(text[0])
            text = text[1:]
    return found
