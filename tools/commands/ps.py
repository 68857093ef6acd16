"""``flexor ps``: which hands run on this machine."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

ANSWER_S = 0.3
"""Longest wait for a hand's state."""


def _state(run: Any) -> str:
    from flexor import Hand, HandError, HandSilent

    if not run.port_base:
        return "emulates"
    try:
        with Hand(port_base=run.port_base, timeout_s=ANSWER_S) as hand:
            return str(hand.request("ping")["state"]["machine"])
    except HandSilent as error:
        return "locked" if error.why else "starting"
    except HandError:  # a key that cannot be read
        return "locked"


def _since(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@app.command(epilog="Example: flexor ps")
def ps(as_json: Annotated[bool, typer.Option("--json", help="One JSON array on stdout.")] = False) -> None:
    """List this user's runs and emulations: hand, process, ports, since when, state."""
    from flexor.runs import running

    rows = [asdict(run) | {"state": _state(run)} for run in running()]
    if as_json:
        print(json.dumps(rows))
        return
    if not rows:
        print("no hand runs (flexor run HAND starts one)")
        return
    print(f"{'HAND':16} {'STATE':10} {'PROCESS':>8}  {'SINCE':>8}  {'PORTS':12} WHERE")
    for row in rows:
        base = row["port_base"]
        ports = f"{base}, {base + 1}" if row["transport"] == "tcp" else row["transport"]
        where = row["places"] or ("simulated" if row["what"] == "run" else "")
        since = _since(time.time() - row["since"])
        print(f"{row['hand']:16} {row['state']:10} {row['pid']:8}  {since:>8}  {ports:12} {where}")
