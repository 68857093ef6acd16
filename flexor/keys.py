"""Keys of a client: a file that ``flexor keys add`` made, for a hand that listens beyond its own machine."""

from __future__ import annotations

import os
import socket
import stat
import struct
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import zmq
from zmq.utils import z85

from flexor.errors import HandError

ENVIRONMENT: Final = "FLEXOR_KEY"
"""Path of the key for clients that are given none, as ``flexor monitor`` and ``flexor stop``."""
_LENGTH: Final = 40
_HANDSHAKE_MS: Final = 500
_GREETING: Final = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0"
_MECHANISM: Final = slice(12, 32)
"""Of ZMTP 3.0: what comes before a side's mechanism, and where that is: it is named before ours is known."""


class KeyProblem(HandError):
    """A file of keys that cannot be used; names it and says why."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a client needs to be let in.

    Attributes:
        name: whose it is.
        role: ``viewer`` or ``commander``.
        public: his own, known to the hand.
        secret: the other half.
        hand: the hand's public key: nobody else can pose as the hand.
    """

    name: str
    role: str
    public: str
    secret: str = field(repr=False)
    hand: str


def tables_of(path: Path) -> dict[str, Any]:
    """A file of keys, which nobody else may read.

    Raises:
        KeyProblem: it is not there, others may read it, or it is no TOML.
    """
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise KeyProblem(f"{path}: others may read it; chmod 600 {path}")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise KeyProblem(f"{path}: no file of keys: {error}") from None


def is_half(text: object) -> bool:
    """Whether a text is a public or a secret key, as far as its characters tell."""
    try:
        return isinstance(text, str) and len(text) == _LENGTH and len(z85.decode(text)) == _LENGTH // 5 * 4
    except (ValueError, KeyError, struct.error):
        return False


def load(path: Path) -> Key:
    """The key in a file.

    Raises:
        KeyProblem: it is none; says what is missing.
    """
    found = tables_of(path)
    wanted = [f.name for f in fields(Key)]
    if sorted(found) != sorted(wanted) or not all(isinstance(text, str) for text in found.values()):
        hint = (
            "; it is the hand's own file, a client's is made by flexor keys add" if "clients" in found else ""
        )
        raise KeyProblem(f"{path}: keys {', '.join(found) or 'none'}; legal are {', '.join(wanted)}{hint}")
    for half in ("public", "secret", "hand"):
        if not is_half(found[half]):
            raise KeyProblem(f"{path}: {half} is no key; legal are {_LENGTH} characters of Z85")
    return Key(**found)


def chosen(path: Key | str | os.PathLike[str] | None) -> Key | None:
    """The key in a file, or in the one that ``FLEXOR_KEY`` names; ``None``: neither is given.

    Raises:
        KeyProblem: the file holds none.
    """
    if isinstance(path, Key):
        return path
    found = path or os.environ.get(ENVIRONMENT)
    return load(Path(found)) if found else None


def fit(made: Any, key: Key | None) -> None:
    """Give a ZeroMQ socket the key, before it connects."""
    if key is not None:
        made.curve_publickey, made.curve_secretkey = key.public.encode(), key.secret.encode()
        made.curve_serverkey = key.hand.encode()


def why_silent(endpoint: str, key: Key | None) -> str:
    """What keys have to do with a hand that does not answer; empty: nothing."""
    asked = _mechanism(endpoint) if endpoint.startswith("tcp://") else ""
    if asked == "CURVE" and key is None:
        return f"it asks for a key: Hand(key=...) or {ENVIRONMENT}=FILE, made by 'flexor keys add'"
    if asked == "CURVE" and key is not None:
        if _lets_in(endpoint, key):
            return "its keys are in order: it does not answer"
        return f"it does not know the key of {key.role} {key.name!r}, or the key is for another hand"
    if asked == "NULL" and key is not None:
        return f"it has no keys: leave key and {ENVIRONMENT} out"
    return ""


def _lets_in(endpoint: str, key: Key) -> bool:
    """Whether who listens takes the key: the handshake tells, whatever else is silent."""
    context = zmq.Context()
    made = context.socket(zmq.DEALER)
    try:
        made.linger = 0
        fit(made, key)
        told = made.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        made.connect(endpoint)
        return bool(told.poll(_HANDSHAKE_MS))
    finally:
        made.disable_monitor()
        context.destroy(0)


def _mechanism(endpoint: str) -> str:
    """How somebody who listens wants to be spoken to: ``NULL``, ``CURVE``; empty: nobody listens."""
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    found = b""
    with suppress(OSError), socket.create_connection((host, int(port)), 0.5) as line:
        line.settimeout(0.5)
        line.sendall(_GREETING)
        while len(found) < _MECHANISM.stop and (part := line.recv(64)):
            found += part
    return found[_MECHANISM].rstrip(b"\0").decode("ascii", "replace")


def pair() -> tuple[str, str]:
    """A new public and secret key."""
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()
