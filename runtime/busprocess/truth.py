"""The true state of an emulated hand, shown to the run that drives it over the wire - for reports only.

``flexor emulate`` posts the plant's TRUTH record before every sample leaves, ``TruthTap`` takes it after
every exchange: truth and sensors of one cycle belong to the same instant, as with the backend in the process
itself.
"""

from __future__ import annotations

import mmap
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from drivers.hal import Bus
from drivers.passing import Passing
from flexor.runs import process_start
from signals.choices import WrongChoice
from signals.records import TRUTH, RecordArray
from telemetry.shm.segment import FOLDER, post, take

LAYOUT: Final = np.dtype([("lock", "u8"), ("pad", "u8", (7,)), ("words", "u8", (TRUTH.itemsize // 8,))])
_NAME: Final = re.compile(r"flexor-truth-(\d+)-(\d+)")


class TruthShare:
    """One named block with a TRUTH record."""

    def __init__(self, path: Path, create: bool) -> None:
        self.name = path.name
        self._path = path
        flags = os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            if create:
                os.posix_fallocate(descriptor, 0, LAYOUT.itemsize)
            block = np.frombuffer(mmap.mmap(descriptor, LAYOUT.itemsize), dtype=LAYOUT, count=1)
        finally:
            os.close(descriptor)
        self._lock: Any = block["lock"]
        self._words: Any = block["words"][0]
        self._seen = 0

    @classmethod
    def create(cls) -> TruthShare:
        """A new block named by this process; blocks of dead processes are removed."""
        for path in FOLDER.glob("flexor-truth-*"):
            match = _NAME.fullmatch(path.name)
            with suppress(FileNotFoundError):  # its owner may end right now
                mine = path.stat().st_uid == os.getuid()
                if match and mine and process_start(int(match[1])) != int(match[2]):
                    path.unlink()
        return cls(FOLDER / f"flexor-truth-{os.getpid()}-{process_start(os.getpid())}", True)

    @classmethod
    def attach(cls, name: str) -> TruthShare:
        """The block of an emulated hand.

        Raises:
            OSError: it is gone.
            ValueError: the name is not one of ours.
        """
        if not _NAME.fullmatch(name):
            raise WrongChoice(f"truth {name!r} is not a block of flexor emulate")
        return cls(FOLDER / name, False)

    def post(self, truth: RecordArray) -> None:
        """Show a TRUTH record."""
        post(self._lock, self._words, truth.view(np.uint64))

    def take(self, truth: RecordArray) -> None:
        """Newest TRUTH record, if there is one."""
        found = take(self._lock, self._words, truth.view(np.uint64), self._seen)
        self._seen = found if found >= 0 else self._seen

    def unlink(self) -> None:
        """Remove the name; safe to repeat."""
        self._path.unlink(missing_ok=True)


class TruthTap(Passing):
    """A bus that fills the truth beside the measurement.

    Args:
        bus: the real thing.
        share: where the emulated hand shows its truth.
        truth: record of the frame to fill, shape (1,).
    """

    def __init__(self, bus: Bus, share: TruthShare, truth: RecordArray) -> None:
        super().__init__(bus)
        self._share, self.truth = share, truth

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Exchange, then the truth of the same instant."""
        status = self.bus.exchange(command, measurement, now_ns)
        self._share.take(self.truth)
        return status
