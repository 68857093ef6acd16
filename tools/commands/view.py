"""``flexor view``: the hand in the browser, live or from a log."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

AFTER = 2
"""The page's port is the hand's first port and this."""
PORT = 5600 + AFTER
"""Port of a page without a hand, or the next free one."""
EXAMPLES = """From another computer: ssh -L 5602:127.0.0.1:5602 lab-pc flexor view; then open http://127.0.0.1:5602.

Examples:

flexor view

flexor view hasy-20261128-120000.mcap

flexor run hasy --motion open_close --view
"""


@app.command(epilog=EXAMPLES)
def view(
    log: Annotated[Path | None, typer.Argument(help="A log (.mcap) to play; none: a running hand.")] = None,
    host: Annotated[str, typer.Option(help="Machine on which flexor run runs.")] = "127.0.0.1",
    port_base: Annotated[int | None, typer.Option(help="Its --port-base.")] = None,
    hand: Annotated[str | None, typer.Option(help="Name of the hand, if several run here.")] = None,
    port: Annotated[int | None, typer.Option(help="Port of the page; default: the hand's and 2.")] = None,
    wait: Annotated[float, typer.Option(help="Wait so long for a hand to start [s].")] = 0.0,
    beside: Annotated[int, typer.Option(hidden=True)] = 0,
    seconds: Annotated[float | None, typer.Option("--for", help="End after so many seconds.")] = None,
) -> None:
    """Show a running hand, or play a log, in the browser (3-D; extra 'view')."""
    from runtime.realtime import die_with_parent, leave_loop_core
    from tools.view.serve import end, make_server

    leave_loop_core()
    if beside:
        die_with_parent(beside, signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if log is not None:
        from tools.view.source import LogSource

        serve(port or PORT, LogSource(log), seconds)
        return
    import flexor
    from flexor.runs import chosen
    from tools.view.bar import Bar

    base = chosen(port_base, hand)[0] if host == "127.0.0.1" else port_base or 5600
    bar = Bar()
    if beside:
        threading.Thread(target=hear, args=(bar,), daemon=True).start()
    server = make_server(port or base + AFTER, bar)
    try:
        with flexor.Hand(host, port_base=base, timeout_s=0.5) as watching:
            _show_hand(server, bar, watching, (host, base), wait, seconds)
    finally:
        end(server)


def hear(bar: Any) -> None:
    """What the command beside says that it does with the hand."""
    for line in sys.stdin:
        bar.use(line.rstrip())


def _show_hand(
    server: Any, bar: Any, watching: Any, place: tuple[str, int], wait_s: float, seconds: float | None
) -> None:
    """The page of a hand; while that is waited for, address and stop are there already."""
    from tools.view.commander import Commander
    from tools.view.page import Page

    commander = Commander(*place, lambda text: _notify(server, text))
    bar.stop = commander.stop
    try:
        if wait_s > 0.0:
            _tell_address(server)
        source = _live(watching, bar, place, wait_s)
        page = Page(server, bar, source, commander)

        @server.on_client_disconnect  # type: ignore[untyped-decorator]
        def _(_: Any) -> None:
            if not server.get_clients():
                commander.give_back()  # nobody looks any more: the hand holds where it is

        if wait_s <= 0.0:
            _tell_address(server)
        page.run(None if seconds is None else time.monotonic() + seconds)
    finally:
        commander.close()


def _live(hand: Any, bar: Any, place: tuple[str, int], wait_s: float) -> Any:
    """A running hand, waited for while it starts."""
    from flexor.errors import HandSilent
    from flexor.runs import RUN, running
    from tools.view.banner import waiting
    from tools.view.source import LiveSource

    host, base = place
    until, source = time.monotonic() + wait_s, None
    while True:
        here = [run.hand for run in running(RUN) if host == "127.0.0.1" and run.port_base == base]
        bar.tell(waiting(f"{host}, port {base}", here[0] if here else ""))
        try:
            source = source or LiveSource(hand)
        except HandSilent:
            if time.monotonic() > until:
                raise
            continue
        source.take()  # it waits for a view a little, as the first line waits for what the hand is
        if source.view is not None or time.monotonic() > until:
            return source


def _notify(server: Any, text: str) -> None:
    for client in server.get_clients().values():
        client.add_notification("flexor", text, color="red", auto_close_seconds=8.0)


def _tell_address(server: Any) -> None:
    print(f"view: http://127.0.0.1:{server.get_port()}", flush=True)


def serve(port: int, source: Any, seconds: float | None) -> None:
    """The page of what is played, told on stdout, for some time or until it is interrupted."""
    from tools.view.bar import Bar
    from tools.view.page import Page
    from tools.view.serve import end, make_server

    bar = Bar()
    server = make_server(port, bar)
    try:
        page = Page(server, bar, source, None)
        _tell_address(server)
        page.run(None if seconds is None else time.monotonic() + seconds)
    finally:
        end(server)
