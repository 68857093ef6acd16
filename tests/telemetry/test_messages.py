"""What is published: shapes that plotting programs can read, and slow subscribers that harm nobody (B55)."""

from __future__ import annotations

import math
import resource
import time

import msgpack
import numpy as np
import pytest
import zmq
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.places import tcp
from signals.names import HandNames
from signals.records import FRAME
from telemetry.publish.messages import BATCH, LINES, TRUTH_LINES, RawMessage, ViewMessage, pack
from telemetry.publish.publisher import Publisher
from telemetry.publish.rows import Rows
from telemetry.sockets import PortBusy, bind


def _frames(n, seed=0):
    frames = np.zeros(n, dtype=FRAME)
    rng = np.random.default_rng(seed)
    for line in LINES + TRUTH_LINES:
        values = frames[line.record][line.name]
        values[...] = rng.normal(0.0, 10.0, values.shape)
    frames["state"]["tick"] = np.arange(n)
    frames["state"]["time_ns"] = np.arange(n) * 333_333
    return frames


@settings(max_examples=40)
@given(
    rows=st.integers(1, 30),
    lengths=st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(0, 64), max_size=20),
)
def test_rows_are_what_an_encoder_would_have_written(rows, lengths):
    rng = np.random.default_rng(len(lengths))
    values = {"timestamp": rng.random(rows), "seq": rng.integers(0, 2**60, rows).astype(np.uint64)}
    arrays = {f"x{key}": rng.random((rows, n)).astype(np.float32) for key, n in lengths.items()}
    encoder = Rows({"timestamp": "f8", "seq": "u8"}, {k: v.shape[1] for k, v in arrays.items()}, 30)
    decoded = msgpack.unpackb(encoder.encode({**values, **arrays}))
    assert len(decoded) == rows
    for k, row in enumerate(decoded):
        assert list(row) == ["timestamp", "seq", *arrays]
        assert row["timestamp"] == values["timestamp"][k]
        assert row["seq"] == values["seq"][k]
        for key, array in arrays.items():
            assert np.array_equal(np.array(row[key], dtype=np.float32), array[k])


def _leaves(value):
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for inner in value.values():
            yield from _leaves(inner)
    else:
        yield value


def test_the_view_is_a_map_that_plotting_programs_read(finger):
    frame = _frames(1)[0]
    frame["state"]["tension_n"][2] = math.nan
    loop = {"wake_us": 1.0}
    builder = ViewMessage(finger.names, True)
    payload = pack(builder.build(frame, 1764277213.004812, loop, {"pub": 0, "log": 0}))
    view = msgpack.unpackb(payload, strict_map_key=True)
    assert len(view) >= 16, "below 16 keys PlotJuggler 4 may take the map for CBOR"
    assert isinstance(view["timestamp"], float) and view["timestamp"] == 1764277213.004812
    assert all(isinstance(leaf, int | float | bool) for leaf in _leaves(view))
    assert list(view["tension"]) == list(finger.names.tendons)
    assert math.isnan(view["tension"]["index_3"])
    assert view["pos"]["index_pip"] == pytest.approx(frame["state"]["joint_angle_rad"][2])
    again = builder.build(_frames(1, 3)[0], 1.0, loop, {"pub": 0, "log": 0})
    assert list(again) == list(view) and again["seq"] == view["seq"] + 1


def test_raw_carries_every_frame_once_with_its_own_time(finger):
    message, frames = RawMessage(finger.model, True), _frames(2 * BATCH)
    rows = []
    for k in range(0, len(frames), BATCH):
        rows += msgpack.unpackb(message.encode(frames[k : k + BATCH], 5_000_000_000))
    assert [row["tick"] for row in rows] == list(range(len(frames)))
    assert [row["seq"] for row in rows] == list(range(len(frames)))
    times = np.array([row["timestamp"] for row in rows])
    assert times == pytest.approx(5.0 + frames["state"]["time_ns"] / 1e9, abs=1e-9)
    assert np.array(rows[-1]["tension"], dtype=np.float32) == pytest.approx(
        frames["state"]["tension_n"][-1, :8].astype(np.float32)
    )


def test_no_topic_is_a_prefix_of_another():
    from telemetry.publish import messages

    topics = [messages.VIEW, messages.RAW, messages.HEALTH, messages.EVENT, messages.META]
    assert not [(a, b) for a in topics for b in topics if a != b and b.startswith(a)]


@pytest.fixture
def context():
    made = zmq.Context()
    yield made
    made.destroy(linger=0)


def _subscriber(context, port, topic=b"hand/v1/view"):
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, topic)
    socket.connect(f"tcp://127.0.0.1:{port}")
    return socket


def test_a_late_subscriber_gets_meta_at_once(context, finger, port_base):
    publisher = Publisher(context, finger.names, finger.model, {"hand": "x"}, places=tcp(port_base))
    socket = _subscriber(context, port_base, b"hand/v1/meta")
    until = time.monotonic() + 5.0
    while not socket.poll(10) and time.monotonic() < until:
        publisher.greet()
    topic, payload = socket.recv_multipart(zmq.NOBLOCK)
    meta = msgpack.unpackb(payload)
    assert topic == b"hand/v1/meta" and meta["schema"] == "hand/v1"
    assert meta["names"]["joint"] == list(finger.names.joints)
    assert meta["keys"]["tension"]["unit"] == "N"
    assert list(meta["sources"]["joint"]) == list(finger.names.joints)
    assert set(meta["sources"]["tendon"].values()) == {"sensor"}
    publisher.close()


def test_a_subscriber_that_does_not_read_costs_neither_memory_nor_the_others_messages(
    context, finger, port_base
):
    publisher = Publisher(context, finger.names, finger.model, {}, places=tcp(port_base))
    stopped = _subscriber(context, port_base)
    stopped.setsockopt(zmq.RCVHWM, 1)
    healthy = _subscriber(context, port_base)
    until = time.monotonic() + 5.0
    while not healthy.poll(5) and time.monotonic() < until:
        publisher.greet()
        publisher._send(b"hand/v1/view", pack({"seq": 0}))
    body, got, worst = b"x" * 5000, [], 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seq in range(1, 6001):
        begun = time.perf_counter()
        publisher._send(b"hand/v1/view", pack({"seq": seq, "body": body}))
        worst = max(worst, time.perf_counter() - begun)
        while healthy.poll(0 if seq % 50 else 20):
            got.append(msgpack.unpackb(healthy.recv_multipart()[1])["seq"])
            if got[-1] == seq:
                break
    while healthy.poll(200):
        got.append(msgpack.unpackb(healthy.recv_multipart()[1])["seq"])
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown_mb < 20.0, "30 MB were published to somebody who does not read"
    assert [s for s in got if s] == list(range(1, 6001))
    assert worst < 0.5, "the publisher waited for a subscriber"
    publisher.close()


def test_a_busy_port_is_named_with_its_owner_and_the_way_out(context, port_base):
    import os

    first = bind(context, zmq.ROUTER, tcp(port_base).publish)
    with pytest.raises(PortBusy, match=f"port {port_base} is in use by process {os.getpid()}.*--port-base"):
        bind(zmq.Context.instance(), zmq.ROUTER, tcp(port_base).publish)
    first.close()


def test_sockets_listen_on_the_loopback_interface_only(context, port_base):
    socket = bind(context, zmq.ROUTER, tcp(port_base).publish)
    assert socket.getsockopt(zmq.LAST_ENDPOINT).startswith(b"tcp://127.0.0.1:")
    socket.close()


def test_a_stepped_clock_and_late_cycles_are_told_but_not_every_time(monkeypatch):
    from signals.clock import WallClock
    from telemetry.publish import bulletin as module
    from telemetry.publish.bulletin import Bulletin

    clock, told = {"mono": 10**12, "offset": 10**18}, []
    wall = WallClock(lambda: clock["mono"] + clock["offset"], lambda: clock["mono"])
    monkeypatch.setattr(module, "now_ns", lambda: clock["mono"])
    bulletin = Bulletin(
        lambda *what: told.append(what),
        wall,
        HandNames(hand="h", motors=(), tendons=(), joints=(), fingers=()),
    )
    frames = _frames(1)
    for second in range(1, 6):
        for _ in range(50):
            clock["mono"] += 20_000_000
            frames["timing"]["missed"] += 3
            bulletin.see(frames)
            bulletin.look_at_clock(clock["mono"])
        if second == 2:
            clock["offset"] -= 3600 * 10**9
    kinds = [kind for kind, *_ in told]
    assert kinds.count("clock") == 1
    assert "-3600.000 s" in next(text for kind, _, text, _ in told if kind == "clock")
    assert 4 <= kinds.count("overrun") <= 5
    totals = [int(text.split()[0]) for kind, _, text, _ in told if kind == "overrun"]
    assert totals == sorted(totals) and totals[-1] > 500
    assert kinds.count("machine") == 1
