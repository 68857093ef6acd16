"""Logs: what goes in comes out, for our reader and for others', also when the end is missing (B63)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from signals.records import FRAME
from telemetry.columns import Columns, FrameBuffer
from telemetry.record import cdr
from telemetry.record.attachment import Attachment
from telemetry.record.reader import LogError, read_log
from telemetry.record.recorder import CHUNK, NoRoom, Recorder, check_room, free_path

FINGER = {"motor": 8, "tendon": 8, "joint": 4, "finger": 1, "axis": 0}
_counts = st.fixed_dictionaries(
    {
        "motor": st.integers(1, 64),
        "tendon": st.integers(1, 64),
        "joint": st.integers(1, 32),
        "finger": st.integers(1, 8),
        "axis": st.integers(0, 2),
    }
)


def _random_frames(columns, n, seed=0):
    rng = np.random.default_rng(seed)
    frames = np.zeros(n, dtype=FRAME)
    for column in columns.columns:
        values = frames[column.record][column.signal.name]
        values[...] = rng.integers(1, 10_000, values.shape)
    frames["state"]["time_ns"] = np.arange(n) * 333_333 + 5
    return frames


def _same(found, wanted):
    """Equal in every field; the padding between fields may hold anything."""
    assert found.dtype == wanted.dtype and len(found) == len(wanted)
    for record in wanted.dtype.names:
        for name in wanted.dtype[record].names:
            assert np.array_equal(found[record][name], wanted[record][name]), f"{record}.{name}"


def _record(path, columns, frames, **options):
    recorder = Recorder(path, columns, **options)
    for k in range(0, len(frames), 97):
        recorder.add(frames[k : k + 97])
    recorder.close()
    return recorder


@settings(max_examples=4)
@given(_counts)
def test_a_ros_decoder_reads_every_value_of_every_signal(tmp_path_factory, counts):
    columns = Columns(counts)
    frames = _random_frames(columns, 3)
    path = tmp_path_factory.mktemp("log") / "a.mcap"
    _record(path, columns, frames, offset_ns=7_000_000_000)
    kept = columns.take(frames)
    with path.open("rb") as stream:
        messages = list(make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages())
    assert len(messages) == 3
    for row, (_, channel, message, decoded) in zip(kept, messages, strict=True):
        assert channel.topic == "/hand/frame"
        stamp = decoded.header.stamp
        assert (
            stamp.sec * 1_000_000_000 + stamp.nanosec
            == message.log_time
            == row["state"]["time_ns"] + 7_000_000_000
        )
        for column in columns.columns:
            value = np.ravel(getattr(getattr(decoded, column.record), column.signal.name)).astype(float)
            assert np.array_equal(value, np.ravel(row[column.record][column.signal.name]).astype(float))


def test_rosbags_opens_a_log_with_frames_and_events(tmp_path):
    columns = Columns(FINGER)
    frames = _random_frames(columns, 20)
    recorder = Recorder(tmp_path / "a.mcap", columns, offset_ns=7_000_000_000)
    recorder.add(frames)
    told = {
        "timestamp": 1.5,
        "kind": "fault",
        "level": "error",
        "text": "Seil gerissen: äöü",
        "hint": "",
        "n": 3,
    }
    recorder.event(told)
    recorder.close()
    with AnyReader([tmp_path / "a.mcap"]) as reader:
        found = [(c.topic, reader.deserialize(raw, c.msgtype)) for c, _, raw in reader.messages()]
    events = [message for topic, message in found if topic == "/hand/event"]
    assert [topic for topic, _ in found].count("/hand/frame") == 20 and len(events) == 1
    assert (events[0].kind, events[0].text) == ("fault", told["text"])
    assert events[0].stamp.sec == 1 and json.loads(events[0].message) == told
    rows = [message for topic, message in found if topic == "/hand/frame"]
    for row, message in zip(columns.take(frames), rows, strict=True):
        assert np.array_equal(message.measurement.motor_angle_rad, row["measurement"]["motor_angle_rad"])


@given(message=st.dictionaries(st.text(max_size=8), st.text(max_size=30) | st.integers(-5, 5), max_size=6))
def test_whatever_an_event_says_comes_back(message):
    assert cdr.event_of(cdr.event_as_bytes(message, 123)) == message


def test_our_reader_gives_back_the_same_bytes_and_all_that_belongs_to_the_run(tmp_path):
    columns = Columns(FINGER)
    frames = _random_frames(columns, 500)
    recorder = Recorder(
        tmp_path / "a.mcap",
        columns,
        metadata={"hand": "finger"},
        attachments=(Attachment("hand.toml", "application/toml", b"name = 1"),),
    )
    recorder.add(frames)
    recorder.event({"timestamp": 1.5, "kind": "fault", "level": "error", "text": "x", "hint": "y"})
    recorder.close()
    log = read_log(tmp_path / "a.mcap")
    assert log.complete
    _same(log.frames, columns.take(frames))
    assert log.run["hand"] == "finger"
    assert log.attachments == {"hand.toml": b"name = 1"}
    assert [e["text"] for e in log.events] == ["x"]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_log_that_was_cut_off_gives_all_but_its_last_chunks(tmp_path, share):
    columns = Columns(FINGER)
    frames = _random_frames(columns, 2000)
    path = tmp_path / "a.mcap"
    _record(path, columns, frames, compression="none")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    log = read_log(path)
    assert not log.complete
    size = columns.payload + cdr.HEAD_SIZE
    assert len(log.frames) >= (share * len(data) - 2 * CHUNK) / size
    _same(log.frames, columns.take(frames[: len(log.frames)]))


def test_a_full_disk_ends_the_recording_cleanly_and_says_so_once(tmp_path):
    columns, told = Columns(FINGER), []
    frames = _random_frames(columns, 200)
    recorder = Recorder(tmp_path / "a.mcap", columns, reserve=2**62, notify=told.append)
    recorder.add(frames)
    recorder.add(frames)
    recorder.event({"timestamp": 1.0})
    recorder.close()
    assert len(told) == 1 and "disk full" in told[0]
    log = read_log(tmp_path / "a.mcap")
    assert log.complete and len(log.frames) == 200


def test_a_write_that_fails_ends_the_recording_and_the_file_stays_readable(tmp_path, monkeypatch):
    columns, told = Columns(FINGER), []
    frames = _random_frames(columns, 1500)
    recorder = Recorder(tmp_path / "a.mcap", columns, compression="none", notify=told.append)
    recorder.add(frames)
    real = recorder._writer.add_message

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recorder._writer, "add_message", fail)
    recorder.add(frames)
    monkeypatch.setattr(recorder._writer, "add_message", real)
    recorder.add(frames)
    recorder.close()
    assert len(told) == 1 and told[0].startswith("recording stopped: No space left on device (")
    assert f"MB free on {tmp_path}); 1500 frames are in {recorder.path}" in told[0]
    assert len(read_log(recorder.path).frames) == 1500


def test_a_log_whose_head_cannot_be_written_leaves_no_stub(tmp_path, monkeypatch):
    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Recorder, "_begin", fail)
    with pytest.raises(OSError, match="No space"):
        Recorder(tmp_path / "a.mcap", Columns(FINGER))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_room_is_refused_before_the_run(tmp_path):
    with pytest.raises(NoRoom, match=rf"cannot record into {tmp_path}/logs: \d+ MB free.*--out"):
        check_room(tmp_path / "logs", reserve=2**62)
    check_room(tmp_path, reserve=-(2**62))


def test_a_recorder_speaks_on_stderr(tmp_path, capsys):
    recorder = Recorder(tmp_path / "a.mcap", Columns(FINGER), reserve=2**62)
    recorder.add(_random_frames(Columns(FINGER), 3))
    told = capsys.readouterr()
    assert told.out == "" and "disk full" in told.err


@pytest.mark.parametrize("content", [b"", b"not a log at all", b"\x89MCAP0\r\n"])
def test_a_file_that_is_no_log_is_refused_in_words(tmp_path, content):
    path = tmp_path / "a.mcap"
    path.write_bytes(content)
    with pytest.raises(LogError, match="a.mcap"):
        read_log(path)


def test_logs_are_never_overwritten(tmp_path):
    first = free_path(tmp_path, "run")
    first.touch()
    assert free_path(tmp_path, "run") != first


@settings(max_examples=25)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 7), st.integers(8, 40))
def test_kept_frames_are_evenly_spaced_and_bounded(sizes, every, capacity):
    columns = Columns(FINGER, records=("timing",))
    keeper, total = FrameBuffer(columns, every, capacity), 0
    for n in sizes:
        frames = np.zeros(n, dtype=FRAME)
        frames["timing"]["cycle"] = np.arange(total, total + n)
        keeper.add(frames)
        total += n
    cycles = keeper.frames()["timing"]["cycle"].astype(int)
    assert len(cycles) <= capacity
    assert keeper.every % every == 0
    assert np.array_equal(cycles, np.arange(0, total, keeper.every))
