"""Shared memory between the control process and one bus process: two mailboxes, heartbeats, state.

An anonymous memory file that children inherit: it has no name, so nothing is left behind whoever dies.
"""

from __future__ import annotations

import mmap
import os
from enum import IntEnum
from typing import Any, Final

import numpy as np

from signals.records import COMMAND, MEASUREMENT, RecordArray

TEXT_BYTES: Final = 1024
DOING_BYTES: Final = 64
SETUP_BYTES: Final = 32_768


class Phase(IntEnum):
    """Where a bus process stands."""

    STARTING = 0
    READY = 1
    RUNNING = 2
    LOST = 3
    FAILED = 4
    STOPPED = 5
    BUSY = 6
    """In a life-cycle call, which may take seconds."""


BLOCK: Final = np.dtype(
    [
        ("command_lock", "u8"),
        ("control_beat_ns", "i8"),
        ("stop", "i8"),
        ("pad_0", "u8", (5,)),
        ("command_words", "u8", (COMMAND.itemsize // 8,)),
        ("measurement_lock", "u8"),
        ("beat_ns", "i8"),
        ("status", "i8"),
        ("phase", "i8"),
        ("exchanges", "u8"),
        ("worker_pid", "i8"),
        ("restarts", "i8"),
        ("recoveries", "i8"),
        ("measurement_words", "u8", (MEASUREMENT.itemsize // 8,)),
        ("active", "i8"),
        ("pad_1", "u8", (7,)),
        ("reason", f"S{TEXT_BYTES}"),
        ("report", f"S{2 * TEXT_BYTES}"),
        ("doing", f"S{DOING_BYTES}"),
        ("setups", f"S{SETUP_BYTES}"),
    ],
    align=True,
)
"""What different processes write in the loop lies on cache lines of its own."""


class Block:
    """A mapped block.

    Args:
        descriptor: memory file of ``create``.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._map = mmap.mmap(descriptor, BLOCK.itemsize)
        self.record: RecordArray = np.frombuffer(self._map, dtype=BLOCK, count=1)
        self._command_lock = self.field("command_lock")
        self._measurement_lock = self.field("measurement_lock")
        self._command_words = self.record["command_words"][0]
        self._measurement_words = self.record["measurement_words"][0]
        self._command_seen = self._measurement_seen = 0
        self._segment: Any = None

    @classmethod
    def create(cls) -> Block:
        """A new zeroed block; its descriptor may be inherited."""
        descriptor = os.memfd_create("flexor-bus", 0)
        os.posix_fallocate(descriptor, 0, BLOCK.itemsize)
        return cls(descriptor)

    def field(self, name: str) -> Any:
        """View of one scalar field, shape (1,)."""
        return self.record[name]

    def post_command(self, command: RecordArray) -> None:
        """Control process: newest command."""
        self._laws().post(self._command_lock, self._command_words, command.view(np.uint64))

    def take_command(self, command: RecordArray) -> bool:
        """Bus process: newest command; False if there is none newer."""
        return self._taken(self._command_lock, self._command_words, command, "_command_seen")

    def post_measurement(self, measurement: RecordArray) -> None:
        """Bus process: newest measurement."""
        self._laws().post(self._measurement_lock, self._measurement_words, measurement.view(np.uint64))

    def take_measurement(self, measurement: RecordArray) -> bool:
        """Control process: newest measurement; False if there is none newer (``measurement`` unchanged)."""
        return self._taken(self._measurement_lock, self._measurement_words, measurement, "_measurement_seen")

    def _taken(self, lock: Any, words: Any, target: RecordArray, seen_name: str) -> bool:
        seen = getattr(self, seen_name)
        for _ in range(3):
            found = self._laws().take(lock, words, target.view(np.uint64), seen)
            if found >= 0:
                setattr(self, seen_name, found)
                return bool(found != seen)
        return False

    def _laws(self) -> Any:
        """The compiled copies; the guardian never needs them nor the compiler's 100 MB."""
        if self._segment is None:
            from telemetry.shm import segment

            self._segment = segment
        return self._segment

    def say(self, name: str, text: str) -> None:
        """Write a text field."""
        self.record[name][0] = text.encode("utf-8", "replace")[: self.record.dtype[name].itemsize - 1]

    def said(self, name: str) -> str:
        """Read a text field."""
        return bytes(self.record[name][0]).decode("utf-8", "replace")

    def close(self) -> None:
        """Unmap as far as possible; the memory goes with the last process."""
        try:
            os.close(self.descriptor)
        except OSError:
            return
