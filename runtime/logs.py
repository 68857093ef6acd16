"""A recorder for a hand and its options: what a log must hold to repeat the run."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hand.hand import Hand
from hand.options import RunOptions
from telemetry.columns import Columns, counts_of
from telemetry.record.attachment import Attachment
from telemetry.record.recorder import Recorder, say

_PACKAGES = ("flexor", "numpy", "numba", "pyzmq", "mcap")


def versions() -> dict[str, str]:
    """Versions of what computes and writes."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "source"
    return found


def open_log(
    path: Path,
    hand: Hand,
    options: RunOptions,
    *,
    offset_ns: int = 0,
    notify: Callable[[str], None] = say,
) -> Recorder:
    """A recorder with hand file, hash, versions, seed and options inside.

    Raises:
        OSError: the file cannot be made.
    """
    names = hand.names
    metadata = {
        "hand": hand.name,
        "hand_sha256": hand.sha256,
        "rate_hz": repr(hand.rate_hz),
        "seed": str(options.seed),
        "options": options.to_json(),
        "host": f"{platform.system()} {platform.release()} {platform.machine()}",
        **{f"version.{name}": text for name, text in versions().items()},
        **{
            f"names.{space}": " ".join(names.of(space))
            for space in ("motor", "tendon", "joint", "finger", "axis")
        },
    }
    return Recorder(
        path,
        Columns(counts_of(hand.model)),
        offset_ns=offset_ns,
        metadata=metadata,
        attachments=(Attachment(f"{hand.name}.toml", "application/toml", hand.text.encode()),),
        notify=notify,
    )
