"""A file inside a log; apart from the recorder, because the control process knows no MCAP."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Attachment:
    """A file that travels inside the log."""

    name: str
    media_type: str
    data: bytes
