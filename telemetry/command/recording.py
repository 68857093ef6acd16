"""The requests ``record`` and ``snapshot``: whoever writes logs does the work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from telemetry.command.requests import Refusal


class Recordings(Protocol):
    """Who writes logs; a RuntimeError says why not."""

    def start(self) -> Path:
        """Begin a log."""

    def stop(self) -> Path:
        """End it."""

    def snapshot(self) -> Path:
        """Keep what the black box holds."""


def record(recordings: Recordings | None, op: str, args: Any) -> str:
    """Carry a request out; returns the file.

    Args:
        recordings: who writes logs.
        op: ``record`` or ``snapshot``.
        args: its arguments.

    Raises:
        Refusal: what is asked for is none of the two, or cannot be now.
    """
    if recordings is None:
        raise Refusal("busy", "nothing can be recorded here")
    acts = {"start": recordings.start, "stop": recordings.stop}
    if op == "record" and args.do not in acts:
        raise Refusal("bad_args", f"record: do is {args.do!r}", f"legal: {', '.join(acts)}")
    try:
        path = acts[args.do]() if op == "record" else recordings.snapshot()
    except RuntimeError as error:
        raise Refusal("busy", str(error)) from None
    return os.path.abspath(path)
