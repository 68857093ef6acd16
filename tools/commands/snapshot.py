"""``flexor snapshot``: keep the last seconds of a running hand."""

from __future__ import annotations

import json

import typer

from tools.commands.options import Json, PortBase

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor snapshot")
def snapshot(
    port_base: PortBase = 5600,
    as_json: Json = False,
) -> None:
    """Write down the last 20 s of a running hand and the next 10 s, at full rate; needs no lease."""
    from flexor import Hand

    with Hand(port_base=port_base) as hand:
        path = hand.snapshot()
    print(json.dumps({"file": path}) if as_json else f"{path} (complete in 10 s)")
