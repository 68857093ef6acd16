"""``flexor doctor``: the machine's real-time fitness, line by line, with the fix for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Fix = Annotated[
    Path | None,
    typer.Option(
        "--fix",
        metavar="DIR",
        help="Write udev rule, limits file and systemd unit into DIR for review; nothing is installed.",
    ),
]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor doctor

flexor doctor --fix fixes
"""


@app.command(epilog=EXAMPLES)
def doctor(json_: Json = False, fix: Fix = None) -> None:
    """Check this machine: kernel, cores, rights, ports, room. Every [Warn] and [Fail] names its fix.

    Exit code 0: nothing fails (warnings are possible); 1: something fails; 2: --fix was refused.
    """
    from tools.deploy.write import DeployRefused, write_all
    from tools.doctor import Level, Machine, examine
    from tools.doctor.examine import worst
    from tools.doctor.show import counts, print_deployed, print_findings

    deployed = []
    if fix is not None:
        try:
            deployed = write_all(fix)
        except (DeployRefused, OSError) as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(2) from None
    findings = examine(Machine())
    if json_:
        out = {
            "findings": [f.to_dict() for f in findings],
            "counts": counts(findings),
            "written": [str(d.path) for d in deployed],
        }
        typer.echo(json.dumps(out, indent=2))
    else:
        print_findings(findings)
        print_deployed(deployed)
    raise typer.Exit(1 if worst(findings) is Level.FAIL else 0)
