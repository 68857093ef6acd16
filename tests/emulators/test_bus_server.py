"""The emulated CAN server and its guests: no words, frames or silence of theirs bring it down."""

from __future__ import annotations

import re
import select
import socket

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.odrive.codec import Frame
from sim.emulators.canbus import CanBus
from sim.emulators.socketcand import OUT_MAX, BusServer


@settings(max_examples=30, deadline=None)
@given(
    frames=st.lists(
        st.tuples(st.text("0123456789ABCDEF-", min_size=1, max_size=4), st.integers(0, 15)), max_size=8
    )
)
def test_no_guest_of_a_bus_server_brings_it_down(frames: list[tuple[str, int]]) -> None:
    """Ids beyond 11 bits and more than eight bytes are no classic frames: they are not on the bus."""
    bus = CanBus()
    server = BusServer({"can0": bus})
    listener = server.descriptors()[0]
    with socket.create_connection((server.host, server.port)) as guest:
        try:
            server.readable(listener, 0)
            words = "< open can0 >< rawmode >"
            words += "".join(f"< send {i} {n:X} {' '.join(['5A'] * n)} >" for i, n in frames)
            guest.sendall(words.encode())
            seen = server.descriptors()[1]
            select.select([seen], [], [], 5.0)
            server.readable(seen, 0)
            server.on_time(10_000_000)
        finally:
            server.close()
    legal = [i for i, n in frames if re.fullmatch("[0-7][0-9A-F]{2}", i) and n <= 8]
    assert bus.frames == len(legal)


def _server() -> tuple[BusServer, socket.socket]:
    """A bus server and a guest that has connected."""
    server = BusServer({"can0": CanBus()}, clock=lambda: 0)
    guest = socket.create_connection((server.host, server.port))
    server.readable(server.descriptors()[0], 0)
    return server, guest


words_of_guests = st.lists(
    st.sampled_from(
        ["< ", " >", "<", ">", "open can0", "rawmode", "send 123 2 11 22", "send 1 -1", "hi", "9"]
    )
)


@settings(max_examples=60, deadline=None)
@given(said=st.one_of(st.binary(max_size=300), words_of_guests.map(lambda w: "".join(w).encode())))
def test_no_words_of_a_guest_end_a_bus_server(said: bytes) -> None:
    """Whatever one guest says, the next one is greeted."""
    server, guest = _server()
    try:
        guest.sendall(said or b"<")
        server.readable(server.descriptors()[1], 1)
        server.on_time(10_000_000)
        with socket.create_connection((server.host, server.port), timeout=5.0) as after:
            server.readable(server.descriptors()[0], 2)
            server.on_time(20_000_000)
            assert after.recv(6) == b"< hi >"
    finally:
        guest.close()
        server.close()


def test_a_guest_that_does_not_read_costs_a_bus_server_no_memory() -> None:
    server, guest = _server()
    bus, now_ns = server.buses["can0"], 1_000_000_000
    try:
        guest.sendall(b"< open can0 >< rawmode >")
        server.readable(server.descriptors()[1], 0)
        for _ in range(1000):
            for k in range(200):
                bus.put(Frame(k, bytes(8)), server, now_ns)
            now_ns += 1_000_000_000
            server.on_time(now_ns)
            assert sum(len(text) for g in server._guests.values() for text in g.out) <= OUT_MAX
            if not server._guests:
                return
        raise AssertionError("the guest is still there")
    finally:
        guest.close()
        server.close()
