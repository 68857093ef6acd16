"""Damaged logs: whatever is done to a file, sound frames come back unchanged and the rest is named."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.records import Message
from mcap.stream_reader import StreamReader, breakup_chunk
from typer.testing import CliRunner

from signals.records import FRAME
from telemetry.columns import Columns
from telemetry.record import recorder as recorder_module
from telemetry.record.attachment import Attachment
from telemetry.record.reader import LogError, read_log
from telemetry.record.recorder import LAYOUT, Recorder
from tools.commands.log import app

FINGER = {"motor": 8, "tendon": 8, "joint": 4, "finger": 1, "axis": 0}
N = 100


@dataclass(repr=False)
class Sound:
    """A sound log: its bytes, its frames, where its chunks lie and which frames each holds."""

    data: bytes
    frames: Any
    chunks: list[tuple[int, int, set[int]]]
    layouts: list[tuple[int, int]]


def _sound(folder, compression) -> Sound:
    columns, path = Columns(FINGER), folder / f"{compression}.mcap"
    rng = np.random.default_rng(3)
    frames = np.zeros(N, dtype=FRAME)
    for column in columns.columns:
        values = frames[column.record][column.signal.name]
        values[...] = rng.integers(1, 10_000, values.shape)
    frames["state"]["time_ns"] = frames["timing"]["cycle"] = np.arange(N) + 1
    attachment = Attachment("finger.toml", "application/toml", b"name = 1\n" * 40)
    recorder = Recorder(path, columns, metadata={"hand": "finger"}, attachments=(attachment,),
                        compression=compression)  # fmt: skip
    recorder.add(frames)
    recorder.event({"timestamp": 1.5, "kind": "k", "level": "info", "text": "x", "hint": ""})
    recorder.close()
    data = path.read_bytes()
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    places = [(c.chunk_start_offset, c.chunk_start_offset + c.chunk_length) for c in summary.chunk_indexes]
    chunks = [(begin, end, _times(data[begin:end])) for begin, end in places]
    layouts = [(m.offset, m.offset + m.length) for m in summary.metadata_indexes if m.name == LAYOUT]
    assert len(chunks) > 5 and len(layouts) == 2
    return Sound(data, columns.take(frames), chunks, layouts)


def _times(chunk: bytes) -> set[int]:
    """Times of the frames in a chunk, by the MCAP library."""
    (found,) = _until_end(StreamReader(BytesIO(chunk), skip_magic=True, emit_chunks=True))
    messages = [r for r in breakup_chunk(found) if isinstance(r, Message)]
    return {m.log_time for m in messages if m.channel_id == 1}


def _until_end(reader):
    try:
        yield from reader.records
    except EndOfFile:
        return


@pytest.fixture(scope="module", params=["zstd", "none"])
def sound(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder_module, "CHUNK", 12 * 1024)
        return _sound(tmp_path_factory.mktemp("sound"), request.param)


def _touched(before: bytes, after: bytes, begin: int, end: int) -> bool:
    return before[begin:end] != after[begin:end]


def _check(sound, path, data):
    """The promise: no foreign error, no wrong frame, no sound chunk lost, every damaged chunk named."""
    path.write_bytes(data)
    layout_left = any(not _touched(sound.data, data, *place) for place in sound.layouts)
    try:
        log = read_log(path)
    except LogError as error:
        assert str(path) in str(error)
        assert not layout_left, error
        return None
    times = log.frames["state"]["time_ns"].astype(int)
    assert len(set(times)) == len(times)
    wanted = sound.frames[times - 1]
    for record in wanted.dtype.names:
        ours, theirs = (np.ascontiguousarray(f[record]).tobytes() for f in (log.frames, wanted))
        assert (ours == theirs) is True, record
    found = set(times.tolist())
    for begin, end, held in sound.chunks:
        if _touched(sound.data, data, begin, end):
            named = any(d.end > begin and d.begin < end or d.begin == len(data) < end for d in log.damage)
            assert named or held <= found, "a damaged chunk is not named"
        else:
            assert held <= found, f"sound chunk at {begin} lost: {[str(d) for d in log.damage]}"
    return log


_place = st.floats(0.0, 1.0, exclude_max=True)
_zeroed = st.tuples(st.just("zero"), _place, st.integers(1, 6000))
_flipped = st.tuples(st.just("flip"), _place, st.integers(0, 7))
_random = st.tuples(st.just("random"), _place, st.integers(1, 200))
_cut = st.tuples(st.just("cut"), _place, st.just(0))


def _damaged(data: bytes, kind: str, place: float, size: int) -> bytes:
    out, at = bytearray(data), int(place * len(data))
    if kind == "cut":
        return bytes(out[:at])
    if kind == "flip":
        out[at] ^= 1 << size
    else:
        end = min(at + size, len(out))
        out[at:end] = bytes(end - at) if kind == "zero" else np.random.default_rng(size).bytes(end - at)
    return bytes(out)


def test_the_sound_log_itself_has_no_damage(sound, tmp_path):
    log = _check(sound, tmp_path / "a.mcap", sound.data)
    assert log.complete and len(log.frames) == N and len(log.events) == 1


@settings(max_examples=80)
@given(st.lists(_zeroed | _flipped | _random | _cut, min_size=1, max_size=4))
def test_whatever_happens_to_a_file_sound_chunks_are_read_and_the_rest_is_named(
    sound, tmp_path_factory, damages
):
    data = sound.data
    for damage in damages:
        if data:
            data = _damaged(data, *damage)
    log = _check(sound, tmp_path_factory.mktemp("x") / "a.mcap", data)
    assert log is None or log.complete or log.damage, "what is missing has no name"


def test_every_byte_of_the_records_heads_may_be_wrong(sound, tmp_path):
    """Lengths, sizes, checksums and names: the bytes that steer a reader, each of them flipped and zeroed."""
    begins = [0, *sound.chunks[2][:2], *(begin for begin, _ in sound.layouts)]
    for begin in begins:
        for at in range(begin, begin + 48):
            for value in {0, sound.data[at] ^ 0x10} - {sound.data[at]}:
                data = bytearray(sound.data)
                data[at] = value
                log = _check(sound, tmp_path / "a.mcap", bytes(data))
                assert log is not None, "one wrong byte takes the whole log"


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 17])
def test_the_first_bytes_alone_are_refused_in_words(sound, tmp_path, size):
    (tmp_path / "a.mcap").write_bytes(sound.data[:size])
    with pytest.raises(LogError, match="a.mcap: not a log"):
        read_log(tmp_path / "a.mcap")


def test_a_log_without_its_end_says_so(sound, tmp_path):
    begin, end, _ = sound.chunks[3]
    log = _check(sound, tmp_path / "a.mcap", sound.data[:end])
    assert not log.complete and "cut off, or its writer was killed" in str(log.damage[-1])
    log = _check(sound, tmp_path / "a.mcap", sound.data[: begin + 100])
    assert f"bytes {begin} to {begin + 100}: a chunk that is cut off" in str(log.damage[0])


def test_a_damaged_attachment_is_left_out_and_named(sound, tmp_path):
    at = sound.data.index(b"name = 1")
    data = sound.data[:at] + b"NAME" + sound.data[at + 4 :]
    log = _check(sound, tmp_path / "a.mcap", data)
    assert log.attachments == {} and "attachment ('finger.toml') with a wrong checksum" in str(log.damage[0])


def test_the_command_names_the_damage_and_counts_what_is_absent(sound, tmp_path):
    begin, end, held = sound.chunks[4]
    path = tmp_path / "a.mcap"
    path.write_bytes(sound.data[: begin + 50] + bytes(end - begin - 50) + sound.data[end:])
    shown = CliRunner().invoke(app, ["info", str(path)])
    assert shown.exit_code == 0 and ", DAMAGED" in shown.stdout
    assert f"damaged     bytes {begin} to {end}: a chunk of messages that cannot be read" in shown.stdout
    assert f"absent      {len(held)} frames" in shown.stdout
    facts = json.loads(CliRunner().invoke(app, ["info", str(path), "--json"]).stdout)
    assert facts["absent"] == len(held) and len(facts["damage"]) == 1 and not facts["complete"]
    table = CliRunner().invoke(app, ["csv", str(path), "state.tension_n"])
    assert table.exit_code == 0 and table.stdout.count("\n") == N - len(held) + 1
    assert f"bytes {begin} to {end}" in table.stderr
