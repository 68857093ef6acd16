"""``flexor monitor``: a live table of a running hand, a plain client of its sockets."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

STALE_S = 0.5
_STATES = {0: "off", 1: "ready", 2: "holding", 3: "active", 4: "FAULT"}
_STYLE = {0: "dim", 1: "cyan", 2: "yellow", 3: "green", 4: "bold red"}


class Watched:
    """The newest of everything that came from the hand."""

    def __init__(self) -> None:
        self.view: Any = None
        self.health: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.lost = 0
        self.came_s = time.monotonic()

    @property
    def age_s(self) -> float:
        """Time since anything came [s]."""
        return time.monotonic() - self.came_s


def _bar(value: float, full: float, width: int = 18) -> str:
    share = min(max(value / full, 0.0), 1.0) if full > 0.0 else 0.0
    eighths = round(share * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)


def _tendons(view: Any) -> Any:
    from rich.table import Table

    table = Table(title="tendons", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for title, side in (("", "left"), ("N", "right"), ("wanted", "right"), ("", "left")):
        table.add_column(title, justify=side)  # type: ignore[arg-type]
    full = max([60.0, *view["tension"].values()])
    for name, tension in view["tension"].items():
        style = "red" if tension > 0.8 * full or tension < 1.0 else "none"
        wanted = view["tension_cmd"][name]
        table.add_row(name, f"{tension:6.1f}", f"{wanted:6.1f}", _bar(tension, full), style=style)
    return table


def _joints(view: Any) -> Any:
    import math

    from rich.table import Table

    table = Table(title="joints", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for title in ("", "deg", "wanted", "deg/s", "N m"):
        table.add_column(title, justify="left" if not title else "right")
    for name, angle in view["pos"].items():
        figures = (math.degrees(v) for v in (angle, view["cmd"][name], view["vel"][name]))
        table.add_row(name, *(f"{f:7.2f}" for f in figures), f"{view['torque'][name]:7.3f}")
    for name, angle in view["axis"].items():
        table.add_row(name, f"{math.degrees(angle):7.2f}", "", "", "")
    return table


def _motors(view: Any, limit: int = 12) -> Any:
    from rich.table import Table

    table = Table(title="hottest motors", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for title in ("", "degC", "A", "N m", "clip"):
        table.add_column(title, justify="left" if not title else "right")
    order = sorted(view["temp"], key=lambda n: -view["temp"][n])[:limit]
    for name in order:
        clip = view["sat"][name]
        table.add_row(
            name,
            f"{view['temp'][name]:.0f}",
            f"{view['current'][name]:.2f}",
            f"{view['motor_torque'][name]:.2f}",
            str(clip) if clip else "",
            style="yellow" if clip else "none",
        )
    return table


def _head(watched: Watched, endpoint: str, hand: str) -> Any:
    from rich.text import Text

    view, health = watched.view, watched.health
    text = Text()
    state = int(view["machine"])
    text.append(f"{hand}  ", style="bold")
    text.append(_STATES.get(state, str(state)), style=_STYLE.get(state, "none"))
    text.append(f"   {endpoint}   ", style="dim")
    if watched.age_s > STALE_S:
        text.append(f"STALE {watched.age_s:.1f} s", style="bold white on red")
    else:
        text.append("live", style="green")
    holder = health.get("lease", {}).get("holder", "")
    text.append(
        f"   commanded by {holder}" if holder else "   nobody commands", style="none" if holder else "dim"
    )
    text.append("   recording" if health.get("recording") else "", style="bold magenta")
    text.append("\n")
    stages = health.get("stages_us", {})
    if stages:
        wake, tick = stages["wake"], stages["tick"]
        text.append(
            f"{health['rate_hz']:g} Hz  cycle {health['cycles']}  "
            f"missed {health['missed']}  late {health['late']}   "
            f"wake p50 {wake['p50']:.0f} p99 {wake['p99']:.0f} max {wake['max']:.0f} us   "
            f"tick p50 {tick['p50']:.1f} p99 {tick['p99']:.1f} max {tick['max']:.0f} us   "
            f"messages lost {watched.lost}"
        )
    return text


def _events(watched: Watched, count: int = 6) -> Any:
    from rich.text import Text

    styles = {"error": "red", "warning": "yellow"}
    text = Text()
    told = {event["text"] for event in watched.events}
    for earlier in watched.health.get("faults", []):
        if earlier not in told:
            text.append(f"earlier   {earlier}\n", style="red")
    for event in watched.events[-count:]:
        at = time.strftime("%H:%M:%S", time.localtime(event["timestamp"]))
        text.append(f"{at}  {event['text']}", style=styles.get(event["level"], "none"))
        if event["hint"] and event["level"] != "info":
            text.append(f"   next: {event['hint']}", style="dim")
        text.append("\n")
    return text


def screen(watched: Watched, endpoint: str, hand: str) -> Any:
    """Everything as one rich renderable."""
    from rich.columns import Columns
    from rich.console import Group
    from rich.text import Text

    if watched.view is None:
        return Text(f"waiting for {endpoint} ... (flexor run HAND starts a hand)", style="yellow")
    view = watched.view
    return Group(
        _head(watched, endpoint, hand),
        Columns([_tendons(view), _joints(view), _motors(view)], padding=(1, 4)),
        _events(watched),
    )


def _take(hand: Any, watched: Watched) -> None:
    """Drain every topic to its newest message."""
    from flexor.errors import HandSilent

    try:
        watched.view = hand.view()
        watched.lost += watched.view.lost
        watched.came_s = time.monotonic()
    except HandSilent:
        return
    watched.events += hand.waiting_events()
    watched.health = hand.newest_health() or watched.health


@app.command(epilog="Example: flexor monitor --host 192.168.1.20")
def monitor(
    host: Annotated[str, typer.Option(help="Machine on which flexor run runs.")] = "127.0.0.1",
    port_base: Annotated[int, typer.Option(help="Its --port-base.")] = 5600,
    rate: Annotated[float, typer.Option(min=0.2, max=30.0, help="Pictures per second.")] = 10.0,
    seconds: Annotated[float | None, typer.Option("--for", help="End after so many seconds.")] = None,
    once: Annotated[bool, typer.Option(help="Print one picture and end.")] = False,
) -> None:
    """Watch a running hand: tensions, joints, motors, state, faults, loop."""
    import flexor

    with flexor.Hand(host, port_base=port_base, timeout_s=2.0 if once else 0.3) as hand:
        hand.listen("view", "health", "event")
        watched = Watched()
        if once:
            _print_once(hand, watched)
            return
        _live(hand, watched, rate, seconds)


def _print_once(hand: Any, watched: Watched) -> None:
    from rich.console import Console

    meta = hand.meta
    hand.view()
    watched.health = hand.health()
    _take(hand, watched)
    Console().print(screen(watched, hand.publish, str(meta["hand"])))


def _live(hand: Any, watched: Watched, rate: float, seconds: float | None) -> None:
    from rich.live import Live

    from flexor.errors import HandSilent

    name, until = "hand", None if seconds is None else time.monotonic() + seconds
    with Live(screen(watched, hand.publish, name), screen=True, auto_refresh=False) as live:
        while until is None or time.monotonic() < until:
            begun = time.monotonic()
            _take(hand, watched)
            if name == "hand" and watched.view is not None:
                try:
                    name = str(hand.meta["hand"])
                except HandSilent:
                    pass
            live.update(screen(watched, hand.publish, name), refresh=True)
            time.sleep(max(0.0, 1.0 / rate - (time.monotonic() - begun)))
