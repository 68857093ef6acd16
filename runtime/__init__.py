"""What keeps time: the loop, the pipeline of a tick, the processes of a run and of its buses."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path


def _check_rooms() -> None:
    """Refuse to start when a file beside the user's script hides one of our rooms.

    Raises:
        ImportError: naming the file that hides the room, and what to do.
    """
    home = Path(__file__).parent.parent
    rooms: tuple[str, ...] = ("signals",)
    with suppress(ImportError):  # that room may be hidden itself
        from signals.rooms import ROOMS

        rooms = ROOMS
    for room in (*rooms, "configs"):
        spec = find_spec(room)
        origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
        if origin is None or origin.parent.parent != home:
            raise ImportError(
                f"room {room!r} of flexor is hidden by {origin}; rename that file, or start Python with -P "
                "so that the script's folder is not searched first"
            )


_check_rooms()
