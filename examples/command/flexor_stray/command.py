"""``flexor stray HAND``: which joint follows its goal worst?"""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor stray finger_bench --motion finger_wave")
def stray(
    hand: Annotated[str, typer.Argument(help="Name of an installed hand, or path of a hand file.")],
    motion: Annotated[str, typer.Option(help="Motion to run.")] = "finger_wave",
    seconds: Annotated[float, typer.Option("--for", help="Simulated time [s].", min=1.1)] = 3.0,
) -> None:
    """Run a motion in lockstep and print the joint that strays most from its goal."""
    from runtime.session import run_lockstep  # here, so that flexor --help need not wait for it

    report = run_lockstep(hand, motion=motion, seconds=seconds).report
    by_joint = {j: e for j, e in report["tracking_error_deg"]["by_joint"].items() if e is not None}
    worst = max(by_joint, key=by_joint.get)
    print(f"{worst}: {by_joint[worst]:.2f} deg rms")
