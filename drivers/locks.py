"""One owner per physical bus: an advisory lock that names its holder's process and dies with it.

The lock file is named by the hardware, not by the path that someone used to reach it: device number of a
serial line, interface of a CAN bus, address of a board. ``flock`` is released by the kernel when the
holder ends, however it ends; the file stays and is reused.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import IO

from drivers.errors import BusBusy


def lock_folder() -> Path:
    """Folder that every user of this machine shares; ``FLEXOR_LOCK_DIR`` for containers and tests."""
    chosen = os.environ.get("FLEXOR_LOCK_DIR")
    if chosen:
        return Path(chosen)
    for base in (Path("/run/lock"), Path("/var/lock")):
        if base.is_dir() and os.access(base, os.W_OK):
            return base / "flexor"
    return Path(tempfile.gettempdir()) / "flexor-locks"


def serial_identity(path: str) -> str:
    """Name of a serial line that is the same through every link and device node."""
    real = os.path.realpath(path)
    try:
        device = os.stat(real).st_rdev
    except OSError:
        device = 0
    if device:
        return f"tty-{os.major(device)}-{os.minor(device)}"
    return "tty-" + re.sub(r"\W+", "-", real)


def can_identity(interface: str, channel: str) -> str:
    """Name of a CAN bus."""
    return "can-" + re.sub(r"\W+", "-", f"{interface}-{channel}")


def address_identity(host: str, port: int) -> str:
    """Name of a board behind a network address."""
    return "udp-" + re.sub(r"[^0-9A-Za-z]+", "-", host) + f"-{port}"


class BusLock:
    """Exclusive lock on one physical bus.

    Args:
        identity: name of the bus by one of the functions above.
        shown: how the user called it, for the message.

    Raises:
        BusBusy: with the holder's process id.
    """

    def __init__(self, identity: str, shown: str = "") -> None:
        folder = lock_folder()
        folder.mkdir(parents=True, exist_ok=True)
        if folder.stat().st_uid == os.getuid():
            folder.chmod(0o1777)
        self.path = folder / f"{identity}.lock"
        self._file: IO[str] | None = self._opened()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = holder_of(identity)
            self._file.close()
            self._file = None
            raise BusBusy(shown or identity, holder) from None
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def _opened(self) -> IO[str]:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if os.fstat(descriptor).st_uid == os.getuid():
            os.fchmod(descriptor, 0o666)
        return os.fdopen(descriptor, "r+", encoding="ascii")

    def release(self) -> None:
        """Give the bus back; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> BusLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder_of(identity: str) -> int | None:
    """Process that holds a bus, or None: nobody, or unknown."""
    path = lock_folder() / f"{identity}.lock"
    try:
        with path.open("r+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = file.read().strip()
                return int(text) if text.isdigit() else None
    except OSError:
        return None
    return None
