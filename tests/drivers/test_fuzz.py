"""Structure-aware fuzzing: sound frames, edited where their structure is, in pieces of any size.

Hypothesis chooses the edits: one bit, the length field, the header put inside, a cut, a doubled piece, junk,
silence. Whatever a decoder hands out is a frame that was sent, at most as often as it was sent; nothing is
kept beyond one frame; every sound frame behind a silence comes out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rigs.damage import GAP_NS
from tests.rigs.streams import PACKETS, STREAMS, Decoder

HEADERS = (b"\xff\xff\xfd\x00", b"\xff\xff\xfd\x00\xfe", b"\xaa\xa9\x00\x22\x00", b"\x00", b"FLX1")
LENGTHS = st.integers(0, 0xFFFF).map(lambda n: n.to_bytes(2, "little"))

edits = st.one_of(
    st.just(("whole",)),
    st.just(("whole",)),
    st.tuples(st.just("bit"), st.integers(0, 1 << 16)),
    st.tuples(st.just("length"), st.integers(3, 8), LENGTHS),
    st.tuples(st.just("header"), st.integers(0, 60), st.sampled_from(HEADERS)),
    st.tuples(st.just("cut"), st.integers(0, 60), st.integers(0, 60)),
    st.tuples(st.just("twice"), st.integers(0, 60)),
    st.tuples(st.just("junk"), st.binary(min_size=1, max_size=20)),
    st.just(("silence",)),
)


def edited(frame: bytes, edit: tuple) -> bytes:  # type: ignore[type-arg]
    kind, *values = edit
    out = bytearray(frame)
    if kind == "bit":
        bit = values[0] % (len(out) * 8)
        out[bit // 8] ^= 1 << bit % 8
    elif kind == "length":
        at = min(values[0], len(out) - 2)
        out[at : at + 2] = values[1]
    elif kind == "header":
        at = min(values[0], len(out))
        out[at:at] = values[1]
    elif kind == "cut":
        first, second = sorted(v % (len(out) + 1) for v in values)
        del out[first:second]
    elif kind == "twice":
        out[:0] = frame[: values[0] % len(frame)]
    elif kind == "junk":
        out[:0] = values[0]
    return bytes(out)


def _wrong(found: list[Hashable], sent: list[Hashable]) -> Counter[Hashable]:
    return Counter(found) - Counter(sent)


@pytest.mark.parametrize("name", list(STREAMS))
@settings(max_examples=150)
@given(
    work=st.lists(edits, min_size=1, max_size=24), cuts=st.lists(st.integers(1, 90), min_size=1, max_size=20)
)
def test_no_edit_of_a_stream_makes_a_value_that_was_not_sent(name: str, work: list, cuts: list[int]) -> None:  # type: ignore[type-arg]
    decoder: Decoder = STREAMS[name]()
    rng, now_ns = random.Random(1), 1_000_000
    found: list[Hashable] = []
    sent: list[Hashable] = []
    pending = b""

    def flush() -> None:
        nonlocal pending, now_ns
        k = 0
        while pending:
            size = cuts[k % len(cuts)]
            now_ns += 2500 * size
            found.extend(decoder.feed(pending[:size], now_ns))
            assert decoder.held() <= decoder.limit
            pending, k = pending[size:], k + 1

    for i, edit in enumerate(work):
        frame, meaning = decoder.make(i, rng)
        pending += edited(frame, edit)
        sent.append(meaning)
        if edit[0] == "silence":
            flush()
            now_ns += GAP_NS
            found.extend(decoder.end(now_ns))
    flush()
    now_ns += GAP_NS
    found.extend(decoder.end(now_ns))
    assert not _wrong(found, sent)
    resync, first = decoder.make(len(work), rng)
    last, second = decoder.make(len(work) + 1, rng)
    found = decoder.feed(resync, now_ns + GAP_NS) + decoder.feed(last, now_ns + GAP_NS + 1)
    assert second in found and not _wrong(found, [first, second])


@pytest.mark.parametrize("name", [n for n in PACKETS if n != "cansimple"])
@settings(max_examples=150)
@given(st.lists(edits, min_size=1, max_size=12))
def test_no_edit_of_a_datagram_makes_a_value_that_was_not_sent(name: str, work: list) -> None:  # type: ignore[type-arg]
    decoder: Decoder = PACKETS[name]()
    rng = random.Random(2)
    for i, edit in enumerate(work):
        frame, meaning = decoder.make(i, rng)
        hurt = edited(frame, edit)
        assert decoder.feed(hurt, i) == ([meaning] if hurt == frame else [])
    frame, meaning = decoder.make(len(work), rng)
    assert decoder.feed(frame, 0) == [meaning]


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.sampled_from((b"D", b"R", b"X", b"E")), st.integers(0, 0x7FF), st.binary(max_size=8)),
        max_size=30,
    )
)
def test_no_can_frame_makes_an_axis_show_what_no_axis_said(frames: list) -> None:  # type: ignore[type-arg]
    """Frames of any kind, id and length: only whole, finite encoder messages of ours change a value."""
    decoder = PACKETS["cansimple"]()
    for kind, number, data in frames:
        if kind == b"E" and number & 0x40:
            continue  # bus-off is another matter
        found = decoder.feed(kind + number.to_bytes(2, "little") + data, 1)
        ours = kind == b"D" and number & 31 == 0x09 and 1 <= number >> 5 <= decoder.NODES and len(data) == 8
        assert len(found) <= ours
        assert decoder.held() == 0
    frame, meaning = decoder.make(3, random.Random(3))
    assert decoder.feed(frame, 2) == [meaning]
