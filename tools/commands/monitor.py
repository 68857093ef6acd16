"""``flexor monitor``: a live screen of a running hand, a plain client of its sockets."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """Keys: 1 to 5 pages, / search, p pause, ? help, q quit.

From another computer: ssh -t lab-pc flexor monitor

Example: flexor monitor
"""


@app.command(epilog=EPILOG)
def monitor(
    host: Annotated[str, typer.Option(help="Machine on which flexor run runs.")] = "127.0.0.1",
    port_base: Annotated[int | None, typer.Option(help="Default: of the hand that runs.")] = None,
    name: Annotated[str | None, typer.Option("--hand", help="Which, where several run.")] = None,
    page: Annotated[int, typer.Option(min=1, max=5, help="Page to begin with.")] = 1,
    rate: Annotated[float, typer.Option(min=0.2, max=30.0, help="Pictures per second.")] = 10.0,
    seconds: Annotated[float | None, typer.Option("--for", help="End after so many seconds.")] = None,
    once: Annotated[bool, typer.Option(help="Print one picture and end.")] = False,
) -> None:
    """Watch a running hand: faults first; fingers, tendons, joints, motors, loop."""
    import flexor
    from flexor.runs import chosen
    from tools.monitor.screen import Screen
    from tools.monitor.watched import Watched

    port_base, _ = chosen(port_base, name)
    with flexor.Hand(host, port_base=port_base, timeout_s=2.0 if once else 0.3) as hand:
        hand.listen("view", "health", "event", "meta")
        watched, screen = Watched(), Screen(page - 1)
        if once:
            _print_once(hand, watched, screen)
        else:
            _live(hand, watched, screen, rate, seconds)


def _print_once(hand: Any, watched: Any, screen: Any) -> None:
    from rich.console import Console

    watched.meta = hand.meta
    hand.view()
    watched.health = hand.health()
    watched.take(hand)
    console = Console()
    console.print(screen.lines(watched, hand.publish, console.width, max(console.height, 24) - 1))


def _live(hand: Any, watched: Any, screen: Any, rate: float, seconds: float | None) -> None:
    from rich.console import Console
    from rich.live import Live

    from tools.monitor.keys import Keys

    console = Console()
    until = None if seconds is None else time.monotonic() + seconds

    def picture() -> Any:
        return screen.lines(watched, hand.publish, console.width, console.height)

    with Keys() as keys, Live(picture(), console=console, screen=True, auto_refresh=False) as live:
        while until is None or time.monotonic() < until:
            begun = time.monotonic()
            if not screen.paused:
                watched.take(hand)
            live.update(picture(), refresh=True)
            for key in keys.wait(1.0 / rate - (time.monotonic() - begun)):
                if not screen.key(key):
                    return
