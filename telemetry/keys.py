"""Whom a hand lets in: its keys, and those of viewers and commanders."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import zmq

from flexor.keys import Key, KeyProblem, is_half, pair, tables_of

VIEWER, COMMANDER = "viewer", "commander"
ROLES: Final = (VIEWER, COMMANDER)
DOMAIN: Final = "hand"


@dataclass(slots=True)
class Keyring:
    """Keys of a hand.

    Attributes:
        public: the hand's own.
        secret: the other half.
        clients: name -> (role, public key).
    """

    public: str
    secret: str = field(repr=False)
    clients: dict[str, tuple[str, str]] = field(default_factory=dict)

    def role_of(self, public: str) -> str:
        """``viewer`` or ``commander``; empty: nobody whom the hand knows."""
        if public == self.public:
            return VIEWER
        return next((role for role, known in self.clients.values() if known == public), "")

    def own_key(self) -> Key:
        """The hand's own: who may read its file may watch it."""
        return Key("the hand itself", VIEWER, self.public, self.secret, self.public)

    def add(self, name: str, role: str) -> Key:
        """A new client's key; the hand keeps its public half alone.

        Raises:
            KeyProblem: there is one of that name, or no such role.
        """
        if role not in ROLES:
            raise KeyProblem(f"no role {role!r}; legal are {', '.join(ROLES)}")
        if name in self.clients:
            raise KeyProblem(f"{name!r} has a {self.clients[name][0]}'s key already; remove it first")
        public, secret = pair()
        self.clients[name] = (role, public)
        return Key(name, role, public, secret, self.public)

    def remove(self, name: str) -> None:
        """Forget a client.

        Raises:
            KeyProblem: there is none of that name.
        """
        if self.clients.pop(name, None) is None:
            raise KeyProblem(f"no client {name!r}; there are {', '.join(self.clients) or 'none'}")


def new_keyring() -> Keyring:
    """Keys of a hand that nobody has a key for yet."""
    return Keyring(*pair())


def load_keyring(path: Path) -> Keyring:
    """A hand's file of keys.

    Raises:
        KeyProblem: it is none; says why.
    """
    found = tables_of(path)
    hand, clients = found.get("hand"), found.get("clients", {})
    if not isinstance(hand, dict) or not isinstance(clients, dict):
        raise KeyProblem(f"{path}: no keys of a hand: [hand] is missing; flexor keys add makes such a file")
    ring = Keyring(_half(path, hand, "public"), _half(path, hand, "secret"))
    for name, client in clients.items():
        role = client.get("role") if isinstance(client, dict) else None
        if role not in ROLES:
            raise KeyProblem(f"{path}: clients.{name}.role is {role!r}; legal are {', '.join(ROLES)}")
        ring.clients[name] = (role, _half(path, client, "public"))
    return ring


def _half(path: Path, table: dict[str, Any], key: str) -> str:
    found = table.get(key)
    if not is_half(found):
        raise KeyProblem(f"{path}: {key} is no key; legal are 40 characters of Z85")
    return str(found)


def save_keyring(path: Path, ring: Keyring) -> None:
    """Write a hand's file of keys, for its owner alone.

    Raises:
        OSError: it cannot be written.
    """
    clients = {name: {"role": role, "public": public} for name, (role, public) in ring.clients.items()}
    import tomlkit  # a run reads keys alone

    hand = {"public": ring.public, "secret": ring.secret}
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # of one that was killed
    write_private(part, tomlkit.dumps({"hand": hand, "clients": clients}))
    part.replace(path)
    _to_disk(path.parent)


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """While the file of keys is read, changed and written: somebody else's change waits.

    Raises:
        OSError: its folder is not there.
    """
    folder = os.open(path.parent, os.O_RDONLY)  # the file itself is replaced, and a lock with it
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _to_disk(folder: Path) -> None:
    """A power cut does not undo what was just renamed or made there."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone may read.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def serve(made: Any, ring: Keyring | None) -> None:
    """Let a ZeroMQ socket ask for keys, before it is bound."""
    if ring is not None:
        made.curve_server = True
        made.curve_secretkey = ring.secret.encode()
        made.zap_domain = DOMAIN.encode()
        made.zap_enforce_domain = True  # a gate that is gone lets nobody in


def role_of(part: Any) -> str:
    """Role of who sent a part of a message, as the gate has told it; empty: nobody asked."""
    try:
        return str(part.get("User-Id"))
    except zmq.ZMQError:
        return ""
