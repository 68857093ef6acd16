"""Which hands run on this machine: every run and emulation of this user leaves a file while it lives."""

from __future__ import annotations

import getpass
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from flexor.places import check_folder, folder, make_folder

RUN: Final = "run"
EMULATION: Final = "emulation"
_PREFIX: Final = "running-"


def asker(command: str) -> str:
    """Who asks, for a hand's events and for others to see: the command, its process, its user."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a uid without a name
        user = f"uid {os.getuid()}"
    return f"{command} (process {os.getpid()}, {user})"[:80]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One run or emulation.

    Attributes:
        what: ``run`` or ``emulation``.
        hand: name of the hand.
        pid: its first process.
        started: start time of that process, as the kernel counts it.
        since: Unix time.
        port_base: first port of a run; 0: none.
        transport: ``tcp`` or ``ipc``.
        places: where an emulation's devices are, or the bus file of a run; empty: simulated.
    """

    what: str
    hand: str
    pid: int
    started: int
    since: float
    port_base: int = 0
    transport: str = ""
    places: str = ""


def process_start(pid: int) -> int | None:
    """Start time of a process in clock ticks; ``None`` if it does not run (a zombie does not)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


@contextmanager
def announced(what: str, hand: str, **more: Any) -> Iterator[None]:
    """Tell others of this process while it lives; where that cannot be written nobody hears of it."""
    pid = os.getpid()
    entry = Running(what=what, hand=hand, pid=pid, started=process_start(pid) or 0, since=time.time(), **more)
    path = folder() / f"{_PREFIX}{pid}.json"
    with suppress(OSError):
        make_folder()
        path.write_text(json.dumps(asdict(entry)))
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def running(what: str | None = None) -> list[Running]:
    """What runs now, oldest first; files of dead processes are removed.

    Args:
        what: ``run`` or ``emulation`` alone.
    """
    found = []
    try:
        check_folder()
        paths = list(folder().glob(f"{_PREFIX}*.json"))
    except OSError:
        return []
    for path in paths:
        try:
            entry = Running(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue  # being written, or of another version
        if process_start(entry.pid) != entry.started:
            with suppress(OSError):
                path.unlink()
        elif what in (None, entry.what):
            found.append(entry)
    return sorted(found, key=lambda entry: entry.since)


class WhichHand(ValueError):
    """Which hand is meant? Names those that run."""


def chosen(port_base: int | None, hand: str | None) -> tuple[int, Running | None]:
    """Port and entry of the hand that is meant.

    Args:
        port_base: given by the user, or ``None``.
        hand: name given by the user, or ``None``.

    Raises:
        WhichHand: several run and none was named, or none of that name does.
    """
    runs = running(RUN)
    if port_base is not None:
        return port_base, next((run for run in runs if run.port_base == port_base), None)
    meant = [run for run in runs if hand in (None, run.hand)]
    if len(meant) == 1:
        return meant[0].port_base, meant[0]
    told = ", ".join(f"{run.hand} (--port-base {run.port_base}, process {run.pid})" for run in runs)
    if not meant and hand is None:
        return 5600, None  # none of this user: another user's, or one that a tunnel leads to
    if not meant:
        raise WhichHand(f"no hand {hand!r} runs; running: {told or 'none'}")
    raise WhichHand(f"several hands run: {told}; say which with --port-base or --hand")
