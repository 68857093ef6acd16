"""The hand of a log, from the hand file inside it: a tendon hand or a mechanism."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hand.hand import Hand
from hand.options import RunOptions
from reports.sensor_curves import take_homing
from runtime.setup import read_hand
from telemetry.record.reader import Log, LogError


def recorded_options(path: Path, log: Log, folder: Path) -> RunOptions:
    """Options of the run that was recorded, without what it moved and where it wrote.

    Args:
        path: of the log, for messages.
        log: what is in it.
        folder: gets the hand file.

    Raises:
        LogError: options or hand file are not in it.
    """
    texts = [(name, data) for name, data in log.attachments.items() if name.endswith(".toml")]
    if "options" not in log.run or not texts:
        raise LogError(f"{path} does not hold its options and its hand file")
    name, data = texts[0]
    (folder / name).write_bytes(data)
    options = RunOptions.from_json(log.run["options"])
    return replace(
        options, hand=str(folder / name), motion=None, faults=(), bus=None, readonly=False, record=False,
        out=None, lockstep=True, seconds=None, pretension_n=None, settings=(),
    )  # fmt: skip


def recorded_hand(path: Path, log: Log) -> Hand:
    """The hand of a log as its file describes it; what homing found out is not in there.

    Args:
        path: of the log, for messages.
        log: what is in it.

    Raises:
        LogError: the log holds no hand file, or one that this version refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = recorded_options(path, log, Path(folder))
        try:
            return read_hand(options)
        except ValueError as error:
            said = str(error).replace(f"{folder}/", "")
            raise LogError(f"{path}: the hand inside is refused: {said}") from None


def homed_hand(path: Path, log: Log) -> Hand:
    """The hand of a log with the offsets of the run's homing.

    Args:
        path: of the log, for messages.
        log: what is in it.

    Raises:
        LogError: the log holds no hand file, or one that this version refuses; or no frames.
    """
    if not len(log.frames):
        raise LogError(f"{path} holds no frames")
    hand = recorded_hand(path, log)
    if hand.mechanism is None:
        take_homing(hand.model, log.frames)
    return hand
