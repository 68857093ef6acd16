"""A terminal of a chosen size: what a program draws on it, and keys for it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable

import pyte


class Terminal:
    """A program on a pseudo-terminal, drawn by a terminal emulator.

    Args:
        words: the program.
        columns: width.
        rows: height.
        environ: more of its environment.
    """

    def __init__(self, words: list[str], columns: int, rows: int, **environ: str) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.getcwd(), "TERM": "xterm-256color"} | environ,
        )  # fmt: skip
        os.close(slave)

    def press(self, keys: str) -> None:
        """Keys of a person."""
        os.write(self._master, keys.encode())

    def draw(self, seconds: float = 0.1) -> list[str]:
        """Let it draw for a time; its lines then."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self._master], [], [], left)[0]:
                try:
                    self._stream.feed(os.read(self._master, 65536))
                except OSError:  # it has ended
                    break
        return [line.rstrip() for line in self.screen.display]

    def wait_for(self, holds: Callable[[list[str]], bool], within_s: float = 20.0) -> list[str]:
        """Lines of the first picture for which something holds."""
        until = time.monotonic() + within_s
        while not holds(lines := self.draw()):
            if time.monotonic() > until:
                raise AssertionError("not seen:\n" + "\n".join(lines))
        return lines

    def colour(self, text: str) -> tuple[str, str]:
        """(foreground, background) of the first character of a text on the screen."""
        for row, line in enumerate(self.screen.display):
            if text in line:
                cell = self.screen.buffer[row][line.index(text)]
                return cell.fg, cell.bg
        raise AssertionError(f"{text!r} is not on the screen")

    def close(self) -> None:
        """End the program."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)
