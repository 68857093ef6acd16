"""What a person at the terminal sees while a hand runs: its progress, and at once what happens to it."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hand.options import RunOptions

TOLD: Final = ("fault", "sensor", "recording", "heat", "wear")
"""Kinds of events that a person at the terminal waits for."""
_TURN_S: Final = 0.05
"""Longest wait for an event, and so for the end."""


class Told:
    """A progress bar whose lines stand above it; a line that says the phase until a share is known.

    Args:
        bar: ``rich.progress.Progress``.
        title: of the bar.

    Attributes:
        below: what else is shown, under the bar; ``None``: nothing.
    """

    def __init__(self, bar: Any, title: str) -> None:
        self._bar, self._title = bar, title
        self.below: Any = None
        self._task: Any = None
        self.phase("starting")

    def phase(self, text: str) -> None:
        """What goes on, while no share of it is known."""
        self._phase, self._since_s = text, time.monotonic()

    def share(self, done: float) -> None:
        """How much of the run is done."""
        if self._task is None:
            self._task = self._bar.add_task(self._title, total=1.0)
        self._bar.update(self._task, completed=done)

    @property
    def waits(self) -> str:
        """The phase and how long it has lasted; empty once there is a bar."""
        if self._task is not None:
            return ""
        return f"{self._title}: {self._phase}, {time.monotonic() - self._since_s:.0f} s"

    def line(self, text: str, bad: bool = False) -> None:
        """A line above the bar."""
        self._bar.console.print(text, markup=False, highlight=False, style="red" if bad else "none")


@dataclass(frozen=True, slots=True)
class Lines:
    """Descriptors: the terminal, and the end of the pipe where stderr comes out meanwhile."""

    terminal: int
    source: int


@contextmanager
def gathered(title: str) -> Iterator[Lines | None]:
    """A pipe in the place of stderr, also for processes that are started inside; it makes no thread.

    Args:
        title: of the bar that ``shown`` will show; empty: none.

    Yields:
        ``None`` without a title, or where stderr is no terminal.
    """
    if not title or not sys.stderr.isatty():
        yield None
        return
    sys.stderr.flush()
    terminal = os.dup(2)
    source, theirs = os.pipe()
    os.dup2(theirs, 2)
    os.close(theirs)
    try:
        yield Lines(terminal, source)
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        os.close(terminal)
        _empty(source)


def _empty(source: int) -> None:
    """What nobody has shown, as where the start failed before there was a bar, comes out too."""
    while select.select([source], [], [], 0.0)[0] and (words := os.read(source, 65536)):
        os.write(2, words)
    os.close(source)


@contextmanager
def shown(lines: Lines | None, title: str) -> Iterator[Told | None]:
    """A bar on the terminal, and above it what this process and its children write to stderr.

    Args:
        lines: of ``gathered``; ``None``: no bar.
        title: of the bar.
    """
    if lines is None:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with os.fdopen(os.dup(lines.terminal), "w") as file:
        console = Console(file=file, force_terminal=True)
        told: Told | None = None

        class Bar(Progress):
            def get_renderables(self) -> Any:
                yield from super().get_renderables()
                if told is not None and told.waits:
                    yield Text(told.waits)
                if told is not None and told.below is not None:
                    yield told.below

        with Bar(*columns, console=console, transient=True) as bar:
            told = Told(bar, title)
            reader = threading.Thread(target=_pass_on, args=(os.dup(lines.source), told), daemon=True)
            reader.start()
            try:
                yield told
            finally:
                sys.stderr.flush()
                os.dup2(lines.terminal, 2)  # the last writer of the pipe: its reader ends
                reader.join(2.0)


@contextmanager
def progress(title: str) -> Iterator[Told | None]:
    """A bar on stderr; ``None`` without a title, or where stderr is no terminal.

    Meanwhile whatever this process and its children write to stderr comes out above the bar.
    """
    with gathered(title) as lines, shown(lines, title) as told:
        yield told


def _pass_on(source: int, told: Told) -> None:
    with os.fdopen(source, errors="replace") as lines:
        for line in lines:
            told.line(line.rstrip("\n"))


class Teller:
    """Says phases of a run and what happens to it, above its bar where there is one.

    Args:
        told: the bar, or ``None``.
        name: of the hand.
        phases: whom they interest.
    """

    def __init__(self, told: Told | None, name: str, phases: bool) -> None:
        self._told, self._name, self._phases = told, name, phases
        self.begun_s = time.time()

    def phase(self, text: str) -> None:
        """What the start does now."""
        if self._told is not None:
            self._told.phase(text)
        elif self._phases:
            self.say(f"{self._name}: {text}", False)

    def begin(self) -> None:
        """Its first cycle is now."""
        self.begun_s = time.time()

    def say(self, text: str, bad: bool) -> None:
        """A line."""
        if self._told is not None:
            self._told.line(text, bad)
        else:
            red = bad and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
            print(f"\x1b[31m{text}\x1b[0m" if red else text, file=sys.stderr, flush=True)


@contextmanager
def told_as_it_happens(options: RunOptions, teller: Teller) -> Iterator[None]:
    """Print faults the moment they are latched.

    Args:
        options: options of the run.
        teller: who says them.
    """
    ended = threading.Event()
    words = (options, ended, teller)
    thread = threading.Thread(target=_listen, args=words, name="flexor: events", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(2.0)


def _listen(options: RunOptions, ended: threading.Event, teller: Teller) -> None:
    from flexor import Hand
    from flexor.errors import HandError
    from telemetry.keys import load_keyring

    try:
        key = None if options.keys is None else load_keyring(Path(options.keys)).own_key()
        listener = Hand(port_base=options.port_base, timeout_s=_TURN_S, key=key)
    except HandError as error:
        teller.say(f"faults are told in the report alone: {error}", False)
        return
    with listener as hand:
        hand.listen("event")
        while not ended.is_set():
            try:
                for event in hand.events(_TURN_S):
                    if event["kind"] in TOLD:
                        teller.say(sentence(event, teller.begun_s), event["level"] == "error")
            except HandError:  # closed while it ends
                return


def sentence(event: dict[str, Any], begun: float) -> str:
    """An event as a line: seconds since the first cycle, as in the report, what happened, what to do next."""
    fault = event.get("fault", {})
    at_s = fault["time_s"] if fault else event["timestamp"] - begun
    where = f"{fault['finger'] or 'hand'}, {fault['cause']}: " if fault else ""
    hint = f"; {event['hint']}" if event["hint"] else ""
    kind = "FAULT  " if fault else ""
    return f"{at_s:6.1f} s  {kind}{where}{event['text']}{hint}"
