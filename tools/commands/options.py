"""Options that several commands have; each is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HandOption = Annotated[str, typer.Option("--hand", help="A shipped hand, or a hand file.")]
Bus = Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")]
Wiring = Annotated[
    str | None, typer.Option(help="With --lockstep: emulated devices: collector, dynamixel or a bus file.")
]
Lockstep = Annotated[bool, typer.Option(help="In simulated time.")]
Results = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder of the results.")]
TendonsOff = Annotated[bool, typer.Option("--tendons-off", help="The tendons are off.")]
Plant = Annotated[str | None, typer.Option(help="Hand file of the simulated hand, if another.")]
Mismatch = Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")]
Seed = Annotated[int, typer.Option(help="Seed of the sensors' noise.")]
PortBase = Annotated[int, typer.Option(help="First of the two ports.")]
View = Annotated[bool, typer.Option("--view", help="Show it in the browser meanwhile.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
