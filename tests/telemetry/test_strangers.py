"""Strangers on the ports: what somebody without a lease can cost, and that a stop gets through all of it."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import msgspec
import pytest
import zmq

import flexor
from runtime.processes.phases import BEAT_LOST_NS
from telemetry.command import door
from tests.rigs.front import FILES, Front

pytestmark = pytest.mark.realtime
STOP_S = 0.2
"""Longest time from the call of a stop to its answer."""


@pytest.fixture
def front(port_base):
    made = Front(port_base)
    yield made
    made.process.kill()
    made.process.wait()


@pytest.fixture(autouse=True)
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 6000:
        pytest.skip("the strangers need 6000 descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 6000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _stop_s(port_base):
    """Time of a stop by somebody new."""
    begun = time.monotonic()
    with flexor.Hand(port_base=port_base) as hand:
        answer = hand.stop(by="the test")
    assert answer["ok"] and answer["hand"] == "finger_bench"
    return time.monotonic() - begun


def _raw(stack, port, count):
    for _ in range(count):
        made = stack.enter_context(socket.socket())
        made.setblocking(False)
        made.connect_ex(("127.0.0.1", port))


def _speaking(stack, port, count):
    for _ in range(count // 1000 + 1):
        context = stack.enter_context(zmq.Context())
        context.set(zmq.MAX_SOCKETS, 1024)
        for _ in range(min(1000, count)):
            made = context.socket(zmq.DEALER)
            stack.callback(made.close, 0)
            made.connect(f"tcp://127.0.0.1:{port}")


@pytest.mark.sample(1)
@pytest.mark.parametrize("count", [1100, 2000])
@pytest.mark.parametrize("offset", [0, 1], ids=["publish", "command"])
@pytest.mark.parametrize("strangers", [_raw, _speaking])
def test_idle_connections_hold_up_no_stop_and_keep_no_descriptors(front, strangers, offset, count):
    with flexor.Hand(port_base=front.port_base) as holder, ExitStack() as stack:
        holder.request("ping")  # who is connected stays so
        strangers(stack, front.port_base + offset, count)  # which takes longer than a lease lives
        control = stack.enter_context(holder.control("the holder"))
        assert _stop_s(front.port_base) < STOP_S
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            assert _stop_s(front.port_base) < STOP_S
            control.hand.request("lease", lease=control.lease, do="keep")
            time.sleep(0.1)
        assert front.descriptors() < FILES / 2
        before, begun = front.cpu_s(), time.monotonic()
        time.sleep(1.0)
        load = (front.cpu_s() - before) / (time.monotonic() - begun)
        assert load < 0.6 or strangers is _speaking, "it spins"  # those come back ten times a second each
    cost = front.end()
    assert cost["turned_away"] > 0


class Rough:
    """A peer that speaks ZMTP 3.0 by hand, to send what no library would."""

    GREETING = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL" + bytes(16) + b"\0" + bytes(31)

    def __init__(self, port, kind=b"DEALER"):
        self.socket = socket.socket()
        self.socket.settimeout(0.3)
        with suppress(TimeoutError):  # the port is shut: the next one knocks again
            self.socket.connect(("127.0.0.1", port))
        ready = b"\x05READY\x0bSocket-Type" + len(kind).to_bytes(4, "big") + kind
        with suppress(OSError):  # cut already
            self.socket.sendall(self.GREETING + b"\x04" + bytes([len(ready)]) + ready)
            self.socket.recv(64)

    def send_until_cut(self, data, seconds=2.0):
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                self.socket.sendall(data)
        except OSError:
            return


def _request(op, **args):
    return msgspec.msgpack.encode({"v": 1, "id": 1, "op": op, "args": args})


def _frame(payload, more=False):
    if len(payload) < 256:
        return bytes([1 if more else 0, len(payload)]) + payload
    return bytes([3 if more else 2]) + len(payload).to_bytes(8, "big") + payload


def _dealer(payload):
    def flood(port_base, until):
        with zmq.Context() as context, context.socket(zmq.DEALER) as made:
            made.setsockopt(zmq.LINGER, 0)
            made.setsockopt(zmq.SNDTIMEO, 100)
            made.connect(f"tcp://127.0.0.1:{port_base + 1}")
            while time.monotonic() < until:
                try:
                    made.send(payload)
                    made.recv(zmq.NOBLOCK)
                except zmq.Again:
                    continue

    return flood


def _parts(size, offset=1, kind=b"DEALER"):
    def flood(port_base, until):
        while time.monotonic() < until:
            data = _frame(bytes(size), more=True) * (1_000_000 // (size + 2))
            Rough(port_base + offset, kind).send_until_cut(data, until - time.monotonic())

    return flood


def _whole(parts):
    def flood(port_base, until):
        data = _frame(b"", more=True) * parts + _frame(b"")
        while time.monotonic() < until:
            Rough(port_base + 1).send_until_cut(data, until - time.monotonic())

    return flood


def _subscriptions(port_base, until):
    while time.monotonic() < until:
        data = b"".join(_frame(b"\x01%08d" % k) for k in range(300_000))
        Rough(port_base, b"SUB").send_until_cut(data, 0.5)


def _same_subscription(port_base, until):
    data = (_frame(b"\x01hand/v1/meta") + _frame(b"\x00hand/v1/meta")) * 10_000
    while time.monotonic() < until:
        Rough(port_base, b"SUB").send_until_cut(data, 0.5)


def _datagrams(payload):
    def flood(port_base, until):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            while time.monotonic() < until:
                made.sendto(payload, ("127.0.0.1", port_base + 1))

    return flood


def _come_and_go(port_base, until):
    while time.monotonic() < until:
        for offset in (0, 1):
            with socket.socket() as made:
                made.connect_ex(("127.0.0.1", port_base + offset))


def _leases(port_base, until):
    with flexor.Hand(port_base=port_base) as hand:
        while time.monotonic() < until:
            try:
                lease = hand.request("lease", do="take", holder="x", why="y")["lease"]
                hand.request("lease", do="return", lease=lease)
            except flexor.HandError:
                continue


FLOODS = {
    "parts without end": _parts(0),
    "small parts without end": _parts(100),
    "large parts without end": _parts(65_000),
    "parts to the publisher": _parts(0, 0, b"SUB"),
    "100,000 parts": _whole(100_000),
    "300,000 parts": _whole(300_000),
    "300,000 subscriptions": _subscriptions,
    "the same subscription": _same_subscription,
    "garbage": _dealer(bytes(60_000)),
    "get": _dealer(_request("get")),
    "stop": _dealer(_request("stop")),
    "stop datagrams": _datagrams(_request("stop")),
    "other datagrams": _datagrams(b"\0" * 1400),
    "connections that come and go": _come_and_go,
    "leases by force": _leases,
}

TAKES_THE_COMMAND = ("leases by force", "100,000 parts", "300,000 parts")
"""The holder may lose the hand, which then holds still."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FLOODS)
def test_no_flood_holds_up_a_stop_or_takes_memory(front, name):
    with flexor.Hand(port_base=front.port_base) as holder, holder.control("the holder") as control:
        until = time.monotonic() + 2.0
        flood = threading.Thread(target=FLOODS[name], args=(front.port_base, until))
        flood.start()
        slowest = 0.0
        while time.monotonic() < until:
            slowest = max(slowest, _stop_s(front.port_base))
            if name not in TAKES_THE_COMMAND:
                control.hand.request("lease", lease=control.lease, do="keep")
            time.sleep(0.05)
        flood.join()
    cost = front.end()
    print(f"{name}: stop {slowest:.3f} s, {cost['longest_turn_s']:.3f} s, {cost['grown_mb']:.0f} MB, "
          f"turned away {cost['turned_away']}")  # fmt: skip
    assert slowest < STOP_S
    assert len(cost["events"]) <= 4 * 21, "events are told sparingly"
    assert cost["longest_turn_s"] < BEAT_LOST_NS / 1e9 / 4, "io's heartbeat"
    assert cost["grown_mb"] < 32 * door.OWED_ALL / 2**20, "what is owed at most, in its largest form"


@contextmanager
def _busy_machine():
    """Four programs for every core, none of which waits for anything."""
    words = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(words) for _ in range(4 * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["100,000 parts", "parts without end"])
def test_a_starved_process_takes_no_more_memory(front, name):
    """What was complete when its sender was cut off is still read: meanwhile nobody new is let in."""
    with _busy_machine():
        FLOODS[name](front.port_base, time.monotonic() + 2.0)
        begun = time.monotonic()
        with flexor.Hand(port_base=front.port_base, timeout_s=5.0) as hand:
            assert hand.request("ping")["ok"], "let in again"
        assert time.monotonic() - begun < 4.0, "the kernel knocks again after 1 s and 3 s"
    cost = front.end()
    print(f"{name}: {cost['grown_mb']:.0f} MB, turned away {cost['turned_away']}")
    assert cost["turned_away"] > 0
    assert cost["grown_mb"] < 32 * door.OWED_ALL / 2**20


def test_a_req_client_is_answered_in_its_own_shape_and_too_many_parts_are_refused(front):
    with zmq.Context() as context:
        with context.socket(zmq.REQ) as made:
            made.setsockopt(zmq.LINGER, 0)
            made.connect(f"tcp://127.0.0.1:{front.port_base + 1}")
            for _ in range(3):
                made.send(_request("ping"))
                assert made.poll(2000), "no answer"
                assert msgspec.msgpack.decode(made.recv())["ok"]
        with context.socket(zmq.DEALER) as made:
            made.setsockopt(zmq.LINGER, 0)
            made.connect(f"tcp://127.0.0.1:{front.port_base + 1}")
            for count in (2, 3, 40, 200):
                made.send_multipart([_request("ping")] * count)
                assert made.poll(2000), "no answer"
                answer = msgspec.msgpack.decode(made.recv())
                assert answer["error"]["code"] == "malformed" and "parts" in answer["error"]["msg"]


def test_a_client_that_asks_as_fast_as_it_can_is_not_turned_away(front):
    with flexor.Hand(port_base=front.port_base) as hand:
        until, count = time.monotonic() + 1.0, 0
        while time.monotonic() < until:
            hand.request("get")
            count += 1
    assert front.end()["turned_away"] == 0 and count > 100
