"""Sockets of the io process: on loopback or as files, with bounded buffers; a taken place is named."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import Any, Final

import zmq

from flexor.places import LOOPBACK, Places, ipc, listens, make_folder, tcp
from telemetry.keys import Keyring, serve

EVERYWHERE: Final = "0.0.0.0"
PLOTJUGGLER_PORT: Final = 9872
"""PlotJuggler's own default."""
HIGH_WATER: Final = 400
"""Messages queued per subscriber: two seconds of all topics; then that subscriber loses messages."""
KERNEL_BUFFER: Final = 256 * 1024
"""Bytes in the kernel per connection: a slow reader must not see seconds-old data from there."""
ANSWERS: Final = 64
"""Answers queued for a client that does not fetch them."""
MESSAGE_MOST: Final = 128 * 1024
"""Bytes of a part of a message that is taken off the wire; ``commands.SIZE_LIMIT`` is below, and answered."""
TOPIC_MOST: Final = 512
"""The same where only topics are asked for."""
TOPICS: Final = 16
"""Subscriptions of one connection that are queued: all that wait are worked off in one call of ZeroMQ."""
HANDSHAKE_MS: Final = 1000
"""A connection that does not speak ZeroMQ within this time is closed."""

_OPTIONS: Final = {
    zmq.LINGER: 0,
    zmq.SNDHWM: HIGH_WATER,
    zmq.RCVHWM: 0,
    zmq.SNDBUF: KERNEL_BUFFER,
    zmq.RCVBUF: MESSAGE_MOST,
    zmq.MAXMSGSIZE: TOPIC_MOST,
    zmq.HANDSHAKE_IVL: HANDSHAKE_MS,
    zmq.TCP_KEEPALIVE: 1,
    zmq.TCP_KEEPALIVE_IDLE: 5,
    zmq.TCP_KEEPALIVE_INTVL: 1,
    zmq.TCP_KEEPALIVE_CNT: 3,
    zmq.TCP_MAXRT: 5000,
}
"""Not a mark but ``telemetry.door`` bounds requests, and the kernel's signs of life tell who is gone,
not ZeroMQ's: 4.3.5 aborts the process if a peer leaves whose input is held back, and a heartbeat follows.
"""


class PortBusy(OSError):
    """A port or a socket file is in use.

    Attributes:
        port: the port, or the path.
        owner: pid of who listens, if it can be seen.
    """

    def __init__(self, port: int | str, owner: int | None = None) -> None:
        self.port, self.owner = port, owner
        what = f"port {port}" if isinstance(port, int) else f"socket file {port}"
        other = f" {port + 100 - port % 100}" if isinstance(port, int) else ""
        who = f" by process {owner} ({_command(owner)})" if owner else ""
        super().__init__(
            f"{what} is in use{who}; is another flexor running? stop it, or choose another place with "
            f"--port-base{other}"
        )


class NotOurs(OSError):
    """An address that this machine has not."""


def places_of(transport: str, port_base: int, address: str = LOOPBACK) -> Places:
    """Where a run listens; makes the folder of socket files.

    Raises:
        flexor.places.PlaceError: the folder is not this user's alone, or its path is too long.
        OSError: the folder cannot be made.
    """
    if transport == "tcp":
        return tcp(port_base, address)
    make_folder()
    return ipc(port_base)


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "unknown"
    return " ".join(w.decode(errors="replace") for w in words if w)[:60]


def listener(port: int) -> int | None:
    """Pid of the process that listens on a TCP port of this machine, if we may know."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    if not inodes:
        return None
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            if any(os.readlink(file) in inodes for file in folder.iterdir()):
                return int(folder.parent.name)
        except OSError:
            continue
    return None


def bind(context: Any, kind: int, endpoint: str, ring: Keyring | None = None) -> Any:
    """A bound ZeroMQ socket; beyond loopback it listens there too, for the programs of its own machine.

    Args:
        context: ZeroMQ context.
        kind: zmq.ROUTER, zmq.XPUB or zmq.PUB.
        endpoint: ``tcp://`` or ``ipc://``; a socket file that a dead run left is replaced.
        ring: whom to let in; ``None``: everybody who gets there.

    Raises:
        PortBusy: somebody listens there already.
        NotOurs: this machine does not have the address.
    """
    if endpoint.startswith("ipc://") and listens(endpoint):  # ZeroMQ would take the file away from him
        raise PortBusy(endpoint.removeprefix("ipc://"))
    made = context.socket(kind)
    for option, value in _OPTIONS.items():
        made.setsockopt(option, value)
    if kind == zmq.XPUB:
        made.setsockopt(zmq.XPUB_VERBOSE, 1)
        made.setsockopt(zmq.RCVHWM, TOPICS)
    if kind == zmq.ROUTER:
        made.setsockopt(zmq.MAXMSGSIZE, MESSAGE_MOST)
        made.setsockopt(zmq.SNDHWM, ANSWERS)
    serve(made, ring)
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    try:
        made.bind(endpoint)
        if endpoint.startswith("tcp://") and host not in (LOOPBACK, EVERYWHERE):
            made.bind(f"tcp://{LOOPBACK}:{port}")
    except zmq.ZMQError as error:
        made.close()
        if error.errno == zmq.EADDRINUSE:
            raise PortBusy(int(port), listener(int(port))) from None
        if error.errno in (errno.ENODEV, errno.EADDRNOTAVAIL):
            raise NotOurs(f"--address {host} is no address of this machine") from None
        raise
    return made


def bind_datagrams(place: tuple[str, int] | str) -> socket.socket:
    """A bound socket for datagrams that does not wait: UDP, or a socket file.

    Beyond loopback it listens at every address, so that programs of its own machine reach it too.

    Raises:
        PortBusy: somebody has it already.
    """
    file = isinstance(place, str)
    made = socket.socket(socket.AF_UNIX if file else socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    try:
        if isinstance(place, str):
            Path(place).unlink(missing_ok=True)  # of a dead run: whoever lives has the command place too
        made.bind(place if isinstance(place, str) or place[0] == LOOPBACK else (EVERYWHERE, place[1]))
    except OSError as error:
        made.close()
        if error.errno == zmq.EADDRINUSE:
            raise PortBusy(place if isinstance(place, str) else place[1]) from None
        raise
    return made
