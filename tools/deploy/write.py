"""Fill the templates and write them into a folder for review; the system itself is never touched."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

SYSTEM: Final = ("/etc", "/usr", "/lib", "/lib64", "/run", "/boot", "/bin", "/sbin", "/proc", "/sys", "/dev")


class DeployRefused(ValueError):
    """The folder is none that may be written to, or holds other files of these names."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """One file written for review."""

    path: Path
    installs_to: str
    command: str
    """What installs it, to be run by a person."""


_FILES: Final[dict[str, tuple[str, str]]] = {
    "72-flexor.rules": (
        "/etc/udev/rules.d",
        "sudo groupadd -f --system realtime && sudo cp {path} {to}/ && "
        "sudo udevadm control --reload && sudo udevadm trigger",
    ),
    "flexor.conf": (
        "/etc/security/limits.d",
        "sudo cp {path} {to}/ && sudo usermod -aG realtime {user}   (then log in again)",
    ),
    "flexor@.service": (
        "/etc/systemd/system",
        "sudo cp {path} {to}/ && sudo systemctl daemon-reload && sudo systemctl enable --now flexor@HAND",
    ),
}
"""Template -> (folder of the system, command that installs it)."""


def filled(name: str, values: Mapping[str, str]) -> str:
    """Text of a template with its values; a template without any stays as it is."""
    text = (files("tools.deploy") / name).read_text(encoding="utf-8")
    if not name.endswith(".service"):
        return text
    return Template(text).substitute(values)


def executable() -> str:
    """Path of the ``flexor`` command of this environment."""
    return str(Path(sys.executable).with_name("flexor"))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user of a container: a number without a name
        return str(os.getuid())


def write_all(folder: Path, user: str | None = None) -> list[Deployed]:
    """Write udev rule, limits and unit into ``folder``, made if it is not there.

    Raises:
        DeployRefused: the folder belongs to the system, or holds a different file of the same name.
    """
    resolved = folder.resolve()
    if any(resolved.is_relative_to(place) for place in SYSTEM) or resolved == Path("/"):
        raise DeployRefused(
            f"{folder} belongs to the system; give a folder of yours, read the files there, then install them"
        )
    user = user or os.environ.get("SUDO_USER") or _user()
    texts = {name: filled(name, {"flexor": executable(), "user": user}) for name in _FILES}
    for name, text in texts.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise DeployRefused(f"{path} exists and differs; move it away or give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    done = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        to, command = _FILES[name]
        done.append(Deployed(path, to, command.format(path=path, to=to, user=user)))
    return done
