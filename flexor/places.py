"""Where a hand listens: ports on loopback, or socket files in a folder of the user's own."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_LOCAL: Final = frozenset({LOOPBACK, "localhost"})
_LONGEST: Final = 107
"""Bytes of a socket file's path: the kernel's limit."""


class PlaceError(OSError):
    """A folder for socket files that cannot be used; names it and says why."""


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses of one hand.

    Attributes:
        publish: ZeroMQ end point of the topics.
        command: ZeroMQ end point of the requests.
        stop: where a datagram stops the hand: host and port, or a path.
    """

    publish: str
    command: str
    stop: tuple[str, int] | str


def tcp(port_base: int, host: str = LOOPBACK) -> Places:
    """Places of ``--transport tcp``."""
    command = f"tcp://{host}:{port_base + 1}"
    return Places(f"tcp://{host}:{port_base}", command, (host, port_base + 1))


def ipc(port_base: int) -> Places:
    """Places of ``--transport ipc`` of this user; makes nothing.

    Raises:
        PlaceError: the path is too long for a socket.
    """
    stem = str(folder() / str(port_base))
    if len(f"{stem}.publish".encode()) > _LONGEST:
        raise PlaceError(
            f"{stem}.publish: more than {_LONGEST} bytes; set XDG_RUNTIME_DIR to a shorter folder"
        )
    return Places(f"ipc://{stem}.publish", f"ipc://{stem}.command", f"{stem}.stop")


def find(host: str, port_base: int) -> Places:
    """Where a hand listens now: this user's socket files if somebody does behind them, else the ports."""
    if host in _LOCAL:
        try:
            places = ipc(port_base)
            check_folder()
        except OSError:
            return tcp(port_base, host)
        if listens(places.command):
            return places
    return tcp(port_base, host)


def folder() -> Path:
    """Folder of this user's socket files: in ``XDG_RUNTIME_DIR``, else beside the temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime):
        return Path(runtime) / "flexor"
    return Path(tempfile.gettempdir()) / f"flexor-{os.getuid()}"


def check_folder() -> None:
    """Nobody else may put a socket into the folder, or use one in it.

    Raises:
        PlaceError: it is not this user's alone.
        OSError: there is none.
    """
    found = folder().lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        owner, mode = found.st_uid, stat.filemode(found.st_mode)
        raise PlaceError(f"{folder()} is {mode} of user {owner}; it must be drwx------ of user {os.getuid()}")


def make_folder() -> None:
    """Make the folder for socket files, for this user alone.

    Raises:
        PlaceError: it is there and somebody else may use it.
        OSError: it cannot be made.
    """
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    check_folder()


def listens(endpoint: str) -> bool:
    """Somebody accepts connections at an ``ipc`` end point; a file that a dead run left has nobody."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        try:
            probe.connect(endpoint.removeprefix("ipc://"))
        except OSError:
            return False
    return True
