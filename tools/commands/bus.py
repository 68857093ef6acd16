"""``flexor bus log|inject|id``: the bench tools for one bus."""

from __future__ import annotations

import time
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)

PLACE = "/dev/ttyUSB0@1000000, can:socketcan:can0 or udp:192.168.7.2"


EXAMPLES = """Examples:

flexor bus log can:socketcan:can0 --for 2

flexor bus inject can:socketcan:can0 009#

flexor bus id /dev/ttyUSB0@1000000 7
"""


@app.callback(epilog=EXAMPLES)
def bus() -> None:
    """Speak with devices of one bus; nothing else may use it meanwhile."""


@app.command(epilog="Example: flexor bus log /dev/ttyUSB0@1000000 --for 2")
def log(
    place: Annotated[str, typer.Argument(help=PLACE)],
    seconds: Annotated[float | None, typer.Option("--for", help="How long [s]; none: until Ctrl-C.")] = None,
) -> None:
    """Decode what passes on a bus; nothing is written to serial lines and CAN."""
    from drivers.bustools import log as lines
    from drivers.places import parsed

    end = float("inf") if seconds is None else time.monotonic() + seconds
    try:
        for at_s, line in lines(parsed(place), lambda: time.monotonic() < end):
            print(f"{at_s:10.6f}  {line}", flush=True)
    except KeyboardInterrupt:
        return


@app.command(epilog="Example: flexor bus inject can:socketcan:can0 009#")
def inject(
    place: Annotated[str, typer.Argument(help=PLACE)],
    payload: Annotated[str, typer.Argument(help="Hex bytes, or ID#DATA on CAN.")],
) -> None:
    """Send raw bytes once and show what comes back."""
    from drivers.bustools import inject as send
    from drivers.places import parsed

    print(send(parsed(place), payload) or "no answer")


@app.command("id", epilog="Example: flexor bus id /dev/ttyUSB0@1000000 7")
def give_id(
    place: Annotated[str, typer.Argument(help="Serial line with exactly one servo.")],
    new_id: Annotated[int, typer.Argument(help="Its new id.")],
) -> None:
    """Give the one servo on a line another id; refused while several are connected."""
    from drivers.bustools import give_id as give
    from drivers.places import PlaceError, SerialPlace, parsed

    found = parsed(place)
    if not isinstance(found, SerialPlace):
        raise PlaceError(place)
    print(give(found, new_id))
