"""Pages of the monitor; each fits into 80 x 24 and uses what a larger terminal has."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tools.monitor.watched import STALE_S, Watched

STYLES: Final = {
    "off": "dim",
    "ready": "cyan",
    "holding": "yellow",
    "active": "green",
    "fault": "bold white on red",
}
LEVELS: Final = {"error": "red", "warning": "yellow", "info": "none"}
LEAST: Final = 1.0
"""Tension [N] below which a tendon is shown as slack where its band is not known."""
WIDE: Final = 120
"""Columns from which a page shows more than one thing."""


def bar(value: float, low: float, high: float, width: int) -> str:
    """A bar of eighths; empty at ``low``, full at ``high``."""
    share = min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0
    whole, rest = divmod(round(share * width * 8), 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)


def head(watched: Watched, endpoint: str, paused: bool, width: int) -> Text:
    """Two lines: hand, state, who commands; then the loop."""
    view, health = watched.view, watched.health
    text = Text(no_wrap=True, overflow="ellipsis")
    state = view.machine.name
    text.append(f"{watched.meta.get('hand', 'hand')} ", style="bold")
    count = len(watched.faults)
    if state == "fault" or not count:
        text.append(f" {state.upper() if state == 'fault' else state} ", style=STYLES.get(state, "none"))
    else:  # a finger is lost, the others go on
        text.append(f" {state}, {count} {'FAULT' if count == 1 else 'FAULTS'} ", style=STYLES["fault"])
    if watched.age_s > STALE_S:
        text.append(f" STALE {watched.age_s:.0f} s", style="bold white on red")
    elif paused:
        text.append(" paused", style="bold yellow")
    holder = health.get("lease", {}).get("holder", "")
    text.append(f"  {'by ' + holder if holder else 'nobody commands'}", style="none" if holder else "dim")
    text.append("  recording" if health.get("recording") else "", style="magenta")
    text.append(f"  {endpoint}\n", style="dim")
    stages = health.get("stages_us")
    if stages:
        wake, tick = stages["wake"], stages["tick"]
        lost = f"  lost {watched.lost}" if watched.lost else ""
        parts = f"{health['rate_hz']:g} Hz  cycle {health['cycles']}  missed {health['missed']}{lost}  "
        parts += f"late {health['late']}  wake p99 {wake['p99']:.0f}  tick p99 {tick['p99']:.0f} us"
        if width >= WIDE:
            parts += f"  worst wake {wake['max']:.0f}, tick {tick['max']:.0f} us"
        text.append(parts + "\n", style="dim")
    return text


def faults(watched: Watched, most: int = 6) -> Text:
    """What is latched, red and first; empty if nothing is."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for fault in watched.faults[:most]:
        where = fault["finger"] or "hand"
        text.append(f" {where}: {fault['cause']} ", style="bold white on red")
        text.append(f" {fault['text']}\n", style="red")
        text.append(f"   next: {fault['hint']}\n", style="dim")
    if len(watched.faults) > most:
        text.append(f"   and {len(watched.faults) - most} more (page 1)\n", style="red")
    return text


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for title, side in columns:
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    return table


def _side_by_side(tables: list[Table]) -> Any:
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_row(*tables)
    return grid


def _split(names: list[str], rows: int) -> Iterator[list[str]]:
    for k in range(0, len(names), max(rows, 1)):
        yield names[k : k + max(rows, 1)]


def _shown(names: Any, search: str) -> list[str]:
    return [name for name in names if search in name]


def _band(watched: Watched, tendon: str) -> tuple[float, float, float]:
    return watched.bands.tension_n.get(tendon, (LEAST, 100.0, 135.0))


def _tension_style(watched: Watched, tendon: str) -> str:
    low, high, limit = _band(watched, tendon)
    tension = watched.view["tension"][tendon]
    if not math.isfinite(tension) or tension < 0.8 * low or tension > limit:
        return "bold red"
    return "yellow" if tension < low or tension > high else "none"


def fingers(watched: Watched, search: str, width: int, rows: int) -> Any:
    """Page 1: one line a finger: state, cause, joints against their goals, tendons against their bands."""
    view, by_joint = watched.view, watched.meta.get("finger_of_joint", {})
    by_tendon = watched.bands.finger_of_tendon
    table = _table(
        ("finger", "left"), ("state", "left"), ("mode", "left"), ("off goal", "right"),
        ("N least", "right"), ("most", "right"), ("cause", "left"),
    )  # fmt: skip
    for finger in _shown(view["finger"], search):
        state, cause = view["finger"][finger].name, view["cause"][finger]
        away = [abs(view["track"][j]) for j, f in by_joint.items() if f == finger]
        tendons = [view["tension"][t] for t, f in by_tendon.items() if f == finger]
        mode = view.get("finger_mode", {}).get(finger)
        table.add_row(
            finger,
            Text(state, style=STYLES.get(state, "none")),
            mode.name if mode is not None else "",
            f"{math.degrees(max(away)):.1f} deg" if away else "",
            f"{min(tendons):.1f}" if tendons else "",
            f"{max(tendons):.1f}" if tendons else "",
            Text(cause.name if cause else "", style="red"),
        )
    angles = watched.palm_rad() or view.get("axis", {})
    wrist = "   ".join(f"{name} {math.degrees(value):z.1f} deg" for name, value in angles.items())
    return Group(table, Text(wrist, style="dim")) if angles else table


def tendons(watched: Watched, search: str, width: int, rows: int) -> Any:
    """Page 2: every tendon against its band."""
    view, names = watched.view, _shown(watched.view["tension"], search)
    across = max(1, width // 40)
    length = max(rows, -(-len(names) // across))
    tables = []
    for part in _split(names, length):
        table = _table(("tendon", "left"), ("N", "right"), ("want", "right"), ("", "left"))
        for name in part:
            tension, wanted = view["tension"][name], view["tension_cmd"][name]
            high = _band(watched, name)[1]
            shape = bar(tension, 0.0, high, 10)
            style = _tension_style(watched, name)
            table.add_row(name, f"{tension:.1f}", f"{wanted:.1f}" if wanted else "", shape, style=style)
        tables.append(table)
    return _side_by_side(tables)


def joints(watched: Watched, search: str, width: int, rows: int) -> Any:
    """Page 3: every joint within its range, and the wrist's axes."""
    view = watched.view
    bands = watched.bands
    lines = [(n, view["pos"][n], view["cmd"][n], view["vel"][n], view["torque"][n], bands.joint_rad)
             for n in _shown(view["pos"], search)]  # fmt: skip
    lines += [
        (n, v, None, None, None, bands.axis_rad) for n, v in view.get("axis", {}).items() if search in n
    ]
    across = max(1, width // 62)
    tables = []
    for k in range(0, len(lines), max(rows, -(-len(lines) // across))):
        table = _table(
            ("joint", "left"), ("deg", "right"), ("want", "right"), ("deg/s", "right"), ("N m", "right"),
            ("", "left"),
        )  # fmt: skip
        for name, angle, wanted, speed, torque, ranges in lines[k : k + max(rows, -(-len(lines) // across))]:
            low, high = ranges.get(name, (-1.0, 1.0))
            outside = not low - 0.02 <= angle <= high + 0.02
            table.add_row(
                name,
                f"{math.degrees(angle):.1f}",
                "" if wanted is None else f"{math.degrees(wanted):.1f}",
                "" if speed is None else f"{math.degrees(speed):.0f}",
                "" if torque is None else f"{torque:.3f}",
                bar(angle, low, high, 12),
                style="bold red" if outside else "none",
            )
        tables.append(table)
    return _side_by_side(tables)


def motors(watched: Watched, search: str, width: int, rows: int) -> Any:
    """Page 4: every motor: temperature, current, torque, what the guard cut, status."""
    view = watched.view
    names = sorted(_shown(view["temp"], search), key=lambda name: -view["temp"][name])
    warm, hot = watched.bands.winding_degc
    across = max(1, width // 40)
    tables = []
    for part in _split(names, max(rows, -(-len(names) // across))):
        table = _table(("motor", "left"), ("degC", "right"), ("A", "right"), ("N m", "right"), ("", "left"))
        for name in part:
            temperature, cut, bad = view["temp"][name], view["sat"][name], view["mfault"][name]
            style = "bold red" if bad or temperature > hot else "yellow" if temperature > warm else "none"
            note = f"status {bad}" if bad else f"cut {cut}" if cut else ""
            figures = f"{view['current'][name]:.2f}", f"{view['motor_torque'][name]:.2f}"
            table.add_row(name, f"{temperature:.0f}", *figures, note, style=style)
        tables.append(table)
    return _side_by_side(tables)


def loop(watched: Watched, search: str, width: int, rows: int) -> Any:
    """Page 5: the loop's stages, repeated warnings as counts, the newest events."""
    stages = _table(("stage [us]", "left"), *((k, "right") for k in ("p50", "p99", "p999", "max")))
    for stage, figures in watched.health.get("stages_us", {}).items():
        stages.add_row(stage, *(f"{figures[k]:.1f}" for k in ("p50", "p99", "p999", "max")))
    text = Text(no_wrap=True, overflow="ellipsis")
    for kind, (count, newest) in watched.counted.items():
        text.append(f"{count} x {kind}: {newest}\n", style="yellow")
    room = max(rows - 9 - len(watched.counted), 3)
    for event in [e for e in watched.events if search in e["text"]][-room:]:
        at = time.strftime("%H:%M:%S", time.localtime(event["timestamp"]))
        text.append(f"{at} {event['text']}\n", style=LEVELS.get(event["level"], "none"))
    return Group(stages, text)


Page = Callable[[Watched, str, int, int], Any]
PAGES: Final[tuple[tuple[str, Page], ...]] = (
    ("fingers", fingers),
    ("tendons", tendons),
    ("joints", joints),
    ("motors", motors),
    ("loop", loop),
)
"""Title and page; key 1 is the first."""

HELP: Final = """
 1 - 5    pages: fingers, tendons, joints, motors, loop and events
 p        pause and go on: the picture stands still, the hand does not
 /        show only names with this text; Enter ends it, Esc forgets it
 up down  scroll a page that is longer than the screen
 ?        this help
 q        quit; the hand runs on

 Yellow: near the end of its band. Red: outside, slack, broken, or in fault.
 flexor stop stops the hand; flexor ps lists what runs.
"""
