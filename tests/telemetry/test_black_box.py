"""The black box: what it keeps comes out unchanged, it forgets what is old, and it never takes too much."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from signals.records import FRAME
from telemetry.columns import Columns, join
from telemetry.record.attachment import Attachment
from telemetry.record.black_box import BlackBox, packed, unpacked
from telemetry.record.reader import read_log
from telemetry.record.recorder import Recorder
from telemetry.record.recordings import KEEP_BYTES, RecordingError, Recordings

COLUMNS = Columns({"motor": 8, "tendon": 8, "joint": 4, "finger": 1, "axis": 0})
PERIOD_NS = 1_000_000


def frames(first: int, count: int, seed: int = 1):
    """Frames of cycles ``first`` on, 1 ms apart, with noise in every word that has no meaning here."""
    noise = np.random.default_rng(seed).integers(0, 2**31, count * FRAME.itemsize // 8)
    out = noise.astype(np.uint64).view(FRAME)
    out["timing"]["cycle"] = np.arange(first, first + count)
    out["state"]["time_ns"] = out["timing"]["cycle"] * PERIOD_NS
    return out


@settings(max_examples=25, deadline=None)
@given(count=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_a_chunk_comes_out_as_it_went_in(count, seed):
    taken = COLUMNS.take(frames(0, count, seed))
    again = unpacked(packed(taken, zstandard.ZstdCompressor(level=1)), count, COLUMNS)
    assert again.tobytes() == taken.tobytes()


@settings(max_examples=20, deadline=None)
@given(batches=st.lists(st.integers(0, 400), min_size=1, max_size=20))
def test_the_newest_frames_are_kept_whatever_the_batches(batches):
    box, at = BlackBox(COLUMNS, 2**30, seconds=0.5), 0
    for count in batches:
        box.add(COLUMNS.take(frames(at, count)))
        at += count
    box.close_chunk()
    kept = [unpacked(chunk.data, chunk.count, COLUMNS) for chunk in box.chunks]
    cycles = join(kept, COLUMNS.dtype)["timing"]["cycle"]
    assert (np.diff(cycles) == 1).all() and len(cycles) >= min(at, 500)
    assert not at or cycles[-1] == at - 1
    assert box.bytes == sum(len(chunk.data) for chunk in box.chunks) and not box.crowded


def test_a_small_budget_is_kept_and_said():
    box = BlackBox(COLUMNS, 200_000, seconds=30.0)
    for k in range(20):
        box.add(COLUMNS.take(frames(128 * k, 128, seed=k)))
        assert box.bytes <= 200_000 + len(box.chunks[-1].data)
    assert box.crowded and 0.0 < box.kept_s < 2.0


def made(folder, seconds=1.0, **more):
    """Recordings with a box of some seconds."""
    box = BlackBox(COLUMNS, 2**30, seconds)
    told: list[str] = []
    recordings = Recordings(
        COLUMNS, lambda path: Recorder(path, COLUMNS), folder, "hand", box=box, snapshots=folder,
        tell=told.append, **more,
    )  # fmt: skip
    return recordings, told


def test_a_snapshot_holds_what_was_before_and_what_comes_after_with_events_and_keyframes(tmp_path):
    recordings, told = made(tmp_path)
    at = 0
    for _ in range(30):
        recordings.add(frames(at, 100))
        at += 100
    recordings.keyframe(at - 1, Attachment(f"keyframe-{at - 1}.npz", "x", b"kept"))
    recordings.keyframe(5, Attachment("keyframe-5.npz", "x", b"of what is forgotten"))
    recordings.event({"timestamp": 1.0, "kind": "fault", "level": "error", "text": "broken", "hint": ""})
    recordings.add(frames(at, 100))
    path = recordings.snapshot()
    with pytest.raises(RecordingError, match="is being written"):
        recordings.snapshot()
    for _ in range(120):
        at += 100
        recordings.add(frames(at, 100))
        recordings.work()
    recordings.work()
    assert len(told) == 1 and str(path) in told[0]
    log = read_log(path)
    cycles = log.frames["timing"]["cycle"]
    assert log.complete and (np.diff(cycles) == 1).all()
    assert cycles[0] <= 2100 and cycles[-1] >= 3099 + 10_000  # 1 s before, 10 s after
    assert list(log.attachments) == ["keyframe-2999.npz"] and log.events[0]["text"] == "broken"
    with pytest.raises(RecordingError, match="less than 10 s old"):
        recordings.snapshot()
    assert recordings.snapshot(asked=False) != path  # a fault does not wait
    recordings.close()


def test_a_log_begins_and_ends_when_asked(tmp_path):
    recordings, _ = made(tmp_path)
    with pytest.raises(RecordingError, match="nothing is being recorded"):
        recordings.stop()
    recordings.add(frames(0, 50))
    first = recordings.start()
    with pytest.raises(RecordingError, match="already"):
        recordings.start()
    recordings.add(frames(50, 70))
    assert recordings.stop() == first and not recordings.recording
    second = recordings.start()
    recordings.add(frames(120, 10))
    recordings.close()
    assert read_log(first).frames["timing"]["cycle"].tolist() == list(range(50, 120))
    assert len(read_log(second).frames) == 10 and recordings.logs == [first, second]


def test_old_snapshots_go_when_they_take_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr("telemetry.record.recordings.KEEP_BYTES", 3000)
    assert KEEP_BYTES > 2**30
    for k in range(5):
        (tmp_path / f"snapshot-old-{k}.mcap").write_bytes(bytes(1000))
    (tmp_path / "mine.mcap").write_bytes(bytes(5000))
    recordings, told = made(tmp_path)
    recordings.add(frames(0, 200))
    recordings.snapshot()
    recordings.close()
    left = sorted(path.name for path in tmp_path.glob("*old*"))
    assert len(left) == 3 and (tmp_path / "mine.mcap").exists()
    assert sum("removed the old snapshot" in text for text in told) == 2


def test_without_a_box_the_reason_is_told(tmp_path):
    recordings = Recordings(COLUMNS, lambda path: Recorder(path, COLUMNS), tmp_path, "hand")
    with pytest.raises(RecordingError, match="no black box"):
        recordings.snapshot()
