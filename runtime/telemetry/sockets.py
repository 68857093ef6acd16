"""Sockets of the io process: loopback only, bounded buffers, and a clear word when a port is taken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import zmq

LOOPBACK: Final = "127.0.0.1"
PLOTJUGGLER_PORT: Final = 9872
"""PlotJuggler's own default."""
HIGH_WATER: Final = 400
"""Messages queued per subscriber: two seconds of all topics; then that subscriber loses messages."""
KERNEL_BUFFER: Final = 256 * 1024
"""Bytes in the kernel per connection: a slow reader must not see seconds-old data from there."""


class PortBusy(OSError):
    """A port is in use.

    Attributes:
        port: the port.
        owner: pid of who listens, if it can be seen.
    """

    def __init__(self, port: int, owner: int | None) -> None:
        self.port, self.owner = port, owner
        who = f" by process {owner} ({_command(owner)})" if owner else ""
        super().__init__(
            f"port {port} is in use{who}; is another flexor running? stop it, or choose other ports with "
            f"--port-base {port + 100 - port % 100}"
        )


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


def bind(context: Any, kind: int, port: int, host: str = LOOPBACK) -> Any:
    """A bound socket.

    Raises:
        PortBusy: somebody listens there already.
    """
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, HIGH_WATER)
    socket.setsockopt(zmq.SNDBUF, KERNEL_BUFFER)
    socket.setsockopt(zmq.HEARTBEAT_IVL, 500)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 1500)
    socket.setsockopt(zmq.HEARTBEAT_TTL, 2000)
    if kind == zmq.XPUB:
        socket.setsockopt(zmq.XPUB_VERBOSE, 1)
    if kind == zmq.ROUTER:
        socket.setsockopt(zmq.MAXMSGSIZE, 1 << 20)
    try:
        socket.bind(f"tcp://{host}:{port}")
    except zmq.ZMQError as error:
        socket.close()
        if error.errno == zmq.EADDRINUSE:
            raise PortBusy(port, listener(port)) from None
        raise
    return socket
