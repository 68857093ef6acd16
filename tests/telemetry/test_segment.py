"""Shared memory: whole goals, whole blocks, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from signals.records import GOAL, new
from telemetry.shm import segment as module
from telemetry.shm.segment import FOLDER, Segment, SegmentError, post, remove_orphans, take

ENVIRONMENT = os.environ | {"PYTHONPATH": "."}


def test_a_goal_is_taken_whole_or_not_at_all(segment):
    lock, words = segment.field("goal_lock"), segment.field("goal_words")
    total, done = 20_000, threading.Event()

    def write() -> None:
        source = np.zeros(GOAL.itemsize // 8, dtype=np.uint64)
        for n in range(1, total + 1):
            source[:] = n
            post(lock, words, source)
        done.set()

    inbox, seen, last = np.zeros(GOAL.itemsize // 8, dtype=np.uint64), 0, 0
    writer = threading.Thread(target=write)
    writer.start()
    while last < total:
        new_seen = take(lock, words, inbox, seen)
        if new_seen > 0 and new_seen != seen:
            seen = new_seen
            assert (inbox == inbox[0]).all()
            assert int(inbox[0]) > last
            last = int(inbox[0])
        elif done.is_set():
            assert new_seen in (-1, seen)
    writer.join()
    assert seen == 2 * total


def test_a_writer_that_died_in_mid_message_leaves_no_torn_goal(segment):
    goal = new(GOAL)
    goal["joint_angle_rad"] = 0.5
    segment.post_goal(goal)
    segment.field("goal_lock")[0] += 1  # died after the odd sequence was written
    inbox = np.zeros(GOAL.itemsize // 8, dtype=np.uint64)
    assert take(segment.field("goal_lock"), segment.field("goal_words"), inbox, 0) == 0
    goal["joint_angle_rad"] = 0.7
    segment.post_goal(goal)
    assert take(segment.field("goal_lock"), segment.field("goal_words"), inbox, 0) > 0
    assert (inbox.view(GOAL)["joint_angle_rad"] == 0.7).all()


def test_another_process_sees_the_same_frames(segment):
    other = Segment.attach(segment.name)
    segment.field("stop")[0] = 2
    assert other.field("stop")[0] == 2
    other.field("io_beat_ns")[0] = 77
    assert segment.field("io_beat_ns")[0] == 77
    assert other.slots.shape == segment.slots.shape


def test_a_block_of_another_layout_is_refused(segment):
    segment.header["layout"] += 1
    with pytest.raises(SegmentError, match="another version"):
        Segment.attach(segment.name)


def test_a_block_that_is_gone_is_refused_with_a_reason():
    with pytest.raises(SegmentError, match="is the run over"):
        Segment.attach("flexor-0-0-0")


def test_orphans_are_removed_and_the_living_are_left_alone(segment):
    code = (
        "from telemetry.shm.segment import Segment; import os;"
        "print(Segment.create(100.0).name, flush=True); os._exit(9)"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
    )
    orphan = child.stdout.strip()
    assert (FOLDER / orphan).exists()
    assert orphan in remove_orphans()
    assert not (FOLDER / orphan).exists()
    assert (FOLDER / segment.name).exists()


def test_too_little_shared_memory_is_said_with_the_cure(monkeypatch):
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "posix_fallocate", full)
    before = set(FOLDER.iterdir())
    with pytest.raises(SegmentError, match="shm-size"):
        Segment.create(3000.0)
    assert set(FOLDER.iterdir()) <= before
