"""The ring: order, loss and tearing, whatever the reader's pace."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from signals.records import FRAME, new_frame
from telemetry.shm.channel import Channel
from telemetry.shm.ring import CYCLE, LATE, MISSED, WORDS, RingReader, new_slots, push


def _words(n: int) -> np.ndarray:
    return np.full(WORDS, n, dtype=np.int64)


@settings(max_examples=60, deadline=None)
@given(
    slots=st.sampled_from([4, 8, 64]),
    steps=st.lists(st.one_of(st.integers(0, 30), st.just("read")), min_size=1, max_size=30),
    capacity=st.integers(1, 50),
)
def test_frames_come_in_order_and_every_one_is_read_or_counted_as_lost(slots, steps, capacity):
    ring, head = new_slots(slots), np.zeros(1, dtype=np.uint64)
    reader, pushed, last, got = RingReader(ring, head, capacity, start=0), 0, -1, 0
    for step in [*steps, *["read"] * (pushed // capacity + 100)]:
        if step != "read":
            for _ in range(step):
                push(_words(pushed), ring, head)
                pushed += 1
            continue
        frames = reader.read()
        for frame in frames:
            words = np.frombuffer(frame.tobytes(), dtype=np.int64)
            assert (words == words[0]).all()
            assert words[0] > last
            last = int(words[0])
        got += len(frames)
        assert got + reader.lost == reader.next <= pushed
    assert got + reader.lost == pushed
    if pushed:
        assert last == pushed - 1


def test_a_frame_is_never_torn_by_a_writer_that_overtakes_the_reader():
    ring, head = new_slots(4), np.zeros(1, dtype=np.uint64)
    done = threading.Event()
    push(_words(0), ring, head)

    def write() -> None:
        for n in range(1, 30_000):
            push(_words(n), ring, head)
        done.set()

    writer = threading.Thread(target=write)
    reader, got, last = RingReader(ring, head, 4, start=0), 0, -1
    reader.read()
    writer.start()
    while not done.is_set() or reader.next < int(head[0]):
        for frame in reader.read():
            words = np.frombuffer(frame.tobytes(), dtype=np.int64)
            assert (words == words[0]).all()
            assert int(words[0]) > last
            last = int(words[0])
            got += 1
    writer.join()
    assert got + 1 + reader.lost == 30_000
    assert reader.lost > 0, "the writer never overtook the reader: nothing was tested"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=80), st.integers(1, 20))
def test_overruns_in_the_window_are_counted_exactly(troubles, window):
    channel = Channel.local(8, window)
    frame, _ = new_frame()
    words = frame.view(np.int64)
    flags = []
    for cycle, extra in enumerate(troubles):
        words[CYCLE] = cycle
        words[MISSED] += extra // 2
        words[LATE] += extra % 2
        flags.append(extra > 0)
        assert channel.leave(words) == sum(flags[-window:])


def test_the_ring_slot_is_the_frame_byte_by_byte():
    channel = Channel.local(4, 10)
    frame, views = new_frame()
    rng = np.random.default_rng(1)
    frame.view(np.uint8)[:] = rng.integers(0, 255, FRAME.itemsize, dtype=np.uint8)
    frame.view(np.int64)[:12] = 0
    views["timing"]["missed"] = 3
    channel.leave(frame.view(np.int64))
    read = channel.reader(start=0).read()
    assert read.tobytes() == frame.tobytes()
    assert int(read["timing"]["missed"][0]) == 3
