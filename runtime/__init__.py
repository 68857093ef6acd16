"""Time, processes, people: loop, assembly, telemetry, commands, recorder, reports, command line."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

_ROOMS: Final = ("signals", "mechanics", "drivers", "estimators", "controllers", "sim", "flexor", "configs")


def _check_rooms() -> None:
    """Refuse to start when a file beside the user's script hides one of our rooms.

    Raises:
        ImportError: naming the file that hides the room, and what to do.
    """
    home = Path(__file__).parent.parent
    for room in _ROOMS:
        spec = find_spec(room)
        origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
        if origin is None or origin.parent.parent != home:
            raise ImportError(
                f"room {room!r} of flexor is hidden by {origin}; rename that file, or start Python with -P "
                "so that the script's folder is not searched first"
            )


_check_rooms()
