"""The notification socket: messages arrive as the service manager reads them, pings follow the heartbeat."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.notify import PINGS_PER_WATCHDOG, Notifier, Watchdog


class Manager:
    """The other end: a datagram socket, as a service manager opens it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)

    def messages(self) -> list[dict[str, str]]:
        out = []
        while True:
            try:
                text = self.socket.recv(65536).decode()
            except BlockingIOError:
                return out
            out.append(dict(line.split("=", 1) for line in text.splitlines()))


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    name = str(tmp_path / "notify") if request.param == "path" else f"@flexor-test-{os.getpid()}"
    end = Manager(name)
    yield end
    end.socket.close()


def environ(manager: Manager, **more: str) -> dict[str, str]:
    return {"NOTIFY_SOCKET": manager.address, **more}


def test_every_message_arrives_whole_and_in_order(manager: Manager) -> None:
    notifier = Notifier(environ(manager))
    assert notifier.active
    assert notifier.ready("holding 38 tendons")
    assert notifier.status("a fault\nwith a second line")
    assert notifier.ping() and notifier.extend(12.5) and notifier.stopping()
    assert manager.messages() == [
        {"READY": "1", "STATUS": "holding 38 tendons"},
        {"STATUS": "a fault with a second line"},
        {"WATCHDOG": "1"},
        {"EXTEND_TIMEOUT_USEC": "12500000"},
        {"STOPPING": "1", "STATUS": ""},
    ]
    notifier.close()
    notifier.close()
    assert not notifier.ping()


@given(st.text())
def test_a_status_can_never_smuggle_in_another_key(text: str) -> None:
    name = f"@flexor-smuggle-{os.getpid()}"
    manager = Manager(name)
    try:
        if Notifier({"NOTIFY_SOCKET": name}).status(text.encode("utf-8", "ignore").decode()):
            (message,) = manager.messages()
            assert set(message) == {"STATUS"}
    finally:
        manager.socket.close()


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_no_manager_or_a_dead_one_never_raises(address: str) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": address})
    assert not notifier.ready("x")
    assert notifier.lost == (1 if address.startswith("/") else 0)


def test_a_full_socket_never_blocks(manager: Manager) -> None:
    notifier = Notifier(environ(manager))
    for _ in range(5000):
        if not notifier.ping():
            break
    assert notifier.lost == 1


@pytest.mark.parametrize(
    ("usec", "pid", "expected"),
    [
        ("2000000", "", 2.0),
        ("2000000", str(os.getpid()), 2.0),
        ("2000000", str(os.getpid() + 1), None),
        ("0", "", None),
        ("soon", "", None),
        ("", "", None),
    ],
    ids=["for_all", "for_us", "for_another", "zero", "no_number", "empty"],
)
def test_a_watchdog_counts_for_the_process_it_is_meant_for(
    usec: str, pid: str, expected: float | None
) -> None:
    assert Notifier({"WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}).watchdog_s == expected


@given(st.lists(st.tuples(st.integers(0, 300_000_000), st.booleans()), max_size=60))
def test_pings_stop_with_the_heartbeat_and_never_flood(looks: list[tuple[int, bool]]) -> None:
    sent: list[int] = []
    now = [0]

    class Recording(Notifier):
        def ping(self) -> bool:
            sent.append(now[0])
            return True

    notifier = Recording({"WATCHDOG_USEC": "1000000"})
    watchdog = Watchdog(notifier, clock=lambda: now[0])
    watchdog.look(0)
    beat, frozen_since = 0, 0
    for step, alive in looks:
        now[0] += step
        beat += alive
        pinged = watchdog.look(beat)
        if alive:
            frozen_since = now[0]
        assert not pinged or beat != 0
    interval = 1_000_000_000 // PINGS_PER_WATCHDOG
    assert all(b - a >= interval for a, b in zip(sent, sent[1:], strict=False))
    # after the last beat at most one ping is still owed to it
    assert sum(t > frozen_since for t in sent) <= 1


def test_a_living_loop_is_pinged_often_enough_for_the_watchdog() -> None:
    sent: list[int] = []
    now = [0]

    class Recording(Notifier):
        def ping(self) -> bool:
            sent.append(now[0])
            return True

    watchdog = Watchdog(Recording({"WATCHDOG_USEC": "900000"}), clock=lambda: now[0])
    for k in range(1000):
        now[0] = k * 20_000_000
        watchdog.look(k)
    assert max(b - a for a, b in zip(sent, sent[1:], strict=False)) <= 900_000_000 / 2
