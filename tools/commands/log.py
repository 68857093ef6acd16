"""``flexor log``: look into a recorded log, judge the sensors in it, or write it as CSV or Parquet."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)


EXAMPLES = """Examples:

flexor log info run.mcap

flexor log sensors run.mcap

flexor log csv run.mcap state.tension_n --from 1 --to 2 > out.csv

flexor log parquet run.mcap --out run.parquet

flexor log layouts hasy
"""


@app.callback(epilog=EXAMPLES)
def log() -> None:
    """Look into a recorded log; judge its Hall sensors; write columns of it as CSV or Parquet."""


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _say_damage(path: Path, log: Any) -> None:
    """What of a log is not in what follows, on stderr: stdout is for values."""
    for part in log.damage:
        print(f"warning: {path}: {part}", file=sys.stderr)


def _facts(path: Path, log: Any) -> dict[str, Any]:
    frames = log.frames
    seconds, missed, absent = 0.0, 0, 0
    if len(frames):
        cycles = frames["timing"]["cycle"]
        absent = int(cycles[-1] - cycles[0]) + 1 - len(frames)
        times = frames["state"]["time_ns"]
        seconds = float(times[-1] - times[0]) / 1e9
        missed = int(frames["timing"]["missed"][-1])
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "complete": log.complete,
        "damage": [str(part) for part in log.damage],
        "hand": log.run.get("hand", ""),
        "hand_sha256": log.run.get("hand_sha256", ""),
        "seed": log.run.get("seed", ""),
        "rate_hz": _number(log.run.get("rate_hz", "")),
        "frames": len(frames),
        "absent": absent,
        "seconds": seconds,
        "missed": missed,
        "events": log.events,
        "attachments": {name: len(data) for name, data in log.attachments.items()},
        "versions": {k[8:]: v for k, v in log.run.items() if k.startswith("version.")},
        "counts": log.counts,
    }


@app.command(epilog="Example: flexor log info run.mcap")
def info(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """What a log holds: hand, length, events, attachments, versions."""
    from telemetry.record.reader import read_log

    facts = _facts(file, read_log(file))
    if as_json:
        print(json.dumps(facts))
        return
    print(f"{file}: {facts['frames']} frames, {facts['seconds']:.3f} s at {facts['rate_hz']:g} Hz, "
          f"{facts['bytes'] / 1e6:.1f} MB{'' if facts['complete'] else ', DAMAGED'}")  # fmt: skip
    for part in facts["damage"]:
        print(f"  damaged     {part}")
    if facts["absent"]:
        print(f"  absent      {facts['absent']} frames between the first and the last")
    print(
        f"  hand {facts['hand']}  sha256 {facts['hand_sha256'][:12]}  seed {facts['seed']}  "
        f"missed {facts['missed']}"
    )
    print(f"  attachments {', '.join(f'{k} ({n} B)' for k, n in facts['attachments'].items()) or 'none'}")
    print(f"  versions    {', '.join(f'{k} {v}' for k, v in facts['versions'].items())}")
    print(f"  events      {len(facts['events'])}")
    start = facts["events"][0]["timestamp"] if facts["events"] else 0.0
    for event in facts["events"]:
        print(
            f"    {event['timestamp'] - start:9.3f} s  {event['level']:<8} {event['kind']:<9} {event['text']}"
        )


SENSORS = """Exit code 0: no sensor fails (warnings are possible); 1: one does; 2: no log to judge them by.

Record a run that holds still, then sweeps the tensions there and back; docs/running.md has a motion for it.

Example: flexor log sensors run.mcap --out sensors
"""


@app.command(epilog=SENSORS)
def sensors(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write sensors.json and sensors.png into DIR.")
    ] = None,
) -> None:
    """Judge every Hall sensor of a recorded run: noise, usable range, slope, saturation, what to do."""
    from tools.commands.log_sensors import judge_sensors

    raise typer.Exit(judge_sensors(file, as_json, out))


@app.command(
    epilog="Example: flexor log csv run.mcap state.tension_n state.joint_angle_rad/index_pip > out.csv"
)
def csv(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    signals: Annotated[list[str], typer.Argument(help="RECORD.SIGNAL or RECORD.SIGNAL/NAME.")],
    begin: Annotated[float, typer.Option("--from", help="First second.")] = 0.0,
    end: Annotated[float | None, typer.Option("--to", help="Last second.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Every n-th frame.")] = 1,
) -> None:
    """Write signals of a log as CSV on stdout; the first column is time [s]."""
    from telemetry.record.reader import read_log
    from tools.commands.log_table import table_of

    log = read_log(file)
    _say_damage(file, log)
    table = table_of(log, signals, begin, end, every)
    out = sys.stdout
    out.write(",".join(table) + "\n")
    for seconds, *values in zip(*table.values(), strict=True):
        out.write(",".join([f"{seconds:.6f}", *(f"{v:.9g}" for v in values)]) + "\n")


@app.command(epilog="Example: flexor log parquet run.mcap --out run.parquet")
def parquet(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    signals: Annotated[
        list[str] | None, typer.Argument(help="RECORD.SIGNAL or RECORD.SIGNAL/NAME; none: all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write; default: beside the log.")
    ] = None,
    begin: Annotated[float, typer.Option("--from", help="First second.")] = 0.0,
    end: Annotated[float | None, typer.Option("--to", help="Last second.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Every n-th frame.")] = 1,
) -> None:
    """Write signals of a log as a Parquet file, for pandas, polars, DuckDB and others."""
    from reports.parquet import write_parquet
    from telemetry.record.reader import read_log
    from tools.commands.log_table import table_of

    log = read_log(file)
    _say_damage(file, log)
    table = table_of(log, signals or None, begin, end, every)
    path = out or file.with_suffix(".parquet")
    write_parquet(path, table, log.run)
    print(f"{path}: {len(table['time_s'])} rows, {len(table)} columns, {path.stat().st_size / 1e6:.1f} MB")


LAYOUTS = """Foxglove or Lichtblick: Layouts, Import from file, HAND.foxglove.json; then open a log.

PlotJuggler: open a log, then the layout HAND.plotjuggler.xml; HAND.plotjuggler_live.xml for a running hand.

Example: flexor log layouts hasy --out layouts
"""


@app.command(epilog=LAYOUTS)
def layouts(
    hand: Annotated[str, typer.Argument(help="Hand file, or the name of a hand.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into.")] = Path("."),
) -> None:
    """Write layouts for Foxglove and PlotJuggler, with the names of the hand's parts."""
    from hand.options import RunOptions
    from reports import layouts as made
    from reports.files import write_text
    from runtime.setup import read_hand

    read = read_hand(RunOptions(hand=hand))
    tabs = made.tabs_of(read.names, read.model)
    out.mkdir(parents=True, exist_ok=True)
    for ending, text in (
        ("foxglove.json", made.foxglove(tabs)),
        ("plotjuggler.xml", made.plotjuggler(tabs, live=False)),
        ("plotjuggler_live.xml", made.plotjuggler(tabs, live=True)),
    ):
        path = out / f"{read.name}.{ending}"
        write_text(path, text)
        print(path)
