"""``flexor simulate``: a mechanism of the papers, or any tree of bodies, run without a hand's runtime."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from signals.choices import WrongChoice
from signals.extras import no_picture

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor simulate y_tree --plot

flexor simulate carpal_wrist --scenario springs --for 2 --animate wrist.gif

flexor simulate prosthesis_arm --view

flexor simulate my_tree.toml --integrator implicit --json
"""
VIEW = "Play the run in the browser (3-D; extra 'view'), again and again, until Ctrl-C."


@app.command(epilog=EXAMPLES)
def simulate(
    mechanism: Annotated[
        str | None, typer.Argument(help="Name of a shipped mechanism, or path of a mechanism file.")
    ] = None,
    scenario: Annotated[str | None, typer.Option(help="Scenario of the file; the first without it.")] = None,
    integrator: Annotated[str | None, typer.Option(help="euler, semi-implicit, implicit or rk4.")] = None,
    seconds: Annotated[float | None, typer.Option("--for", help="Simulated time [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Step of the integrator [s].")] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Write a PNG of structure and curves.")] = False,
    animate: Annotated[Path | None, typer.Option(help="Write a moving picture, .gif or .mp4.")] = None,
    table: Annotated[bool, typer.Option("--csv", help="Write all curves as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The summary alone on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the PNG and the CSV; else here.")] = None,
    view: Annotated[bool, typer.Option("--view", help=VIEW)] = False,
    show: Annotated[bool, typer.Option("--list", help="List mechanisms and their scenarios.")] = False,
) -> None:
    """Run another mechanism of the simulator."""
    if show or mechanism is None:
        _list(mechanism, as_json)
        raise typer.Exit(0)
    if integrator is not None and integrator not in ("euler", "semi-implicit", "implicit", "rk4"):
        raise WrongChoice(f"integrator: found {integrator!r}; legal: euler, semi-implicit, implicit, rk4")
    if animate is not None:
        from reports.mechanism_animation import check_format

        check_format(animate)
    if view:
        from tools.view.serve import check_viser

        check_viser()
    from reports.mechanism_summary import lines, summary
    from sim.mechanisms.load import load_mechanism

    loaded = load_mechanism(mechanism)
    name, _ = loaded.mechanism.scenario(scenario)
    begin = time.perf_counter()
    run = loaded.mechanism.run(name, integrator=integrator, duration_s=seconds, step_s=step)
    report = summary(loaded, name, run, time.perf_counter() - begin)
    report["written"] = _write(loaded, name, run, plot, animate, table, out)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        print("\n".join(lines(report, run)))
        for file in report["written"]:
            print(f"  written {file}", flush=True)
    if view:
        _serve(loaded, name, run)
    if run.divergence is not None:
        print(f"error: {run.divergence}", file=sys.stderr)
        raise typer.Exit(1)


def _serve(loaded: Any, scenario: str, run: Any) -> None:
    """The page, until Ctrl-C."""
    from tools.commands.view import PORT, serve
    from tools.view.mechanism import MechanismSource

    serve(PORT, MechanismSource(loaded, scenario, run), None)


def _write(
    loaded: Any, scenario: str, run: Any, plot: bool, animate: Path | None, table: bool, out: Path | None
) -> list[str]:
    """Write what was asked for; without matplotlib pictures are skipped with a notice."""
    folder = Path(".") if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{loaded.mechanism.name}_{scenario}"
    written = []
    if table:
        from reports.mechanism_summary import columns, write_csv

        write_csv(folder / f"{stem}.csv", columns(loaded, run))
        written.append(str(folder / f"{stem}.csv"))
    try:
        if plot:
            from reports.mechanism_picture import picture

            picture(loaded, scenario, run, folder / f"{stem}.png")
            written.append(str(folder / f"{stem}.png"))
        if animate is not None:
            from reports.mechanism_animation import animate as move

            animate.parent.mkdir(parents=True, exist_ok=True)
            move(loaded, run, animate)
            written.append(str(animate))
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "matplotlib":
            raise
        print(no_picture(), file=sys.stderr)
    return written


def _list(only: str | None, as_json: bool) -> None:
    """Mechanisms and scenarios."""
    from sim.mechanisms.load import load_mechanism, mechanism_names

    names = mechanism_names() if only is None else (only,)
    found: dict[str, dict[str, str]] = {}
    for name in names:
        loaded = load_mechanism(name)
        found[name] = {key: s.description for key, s in loaded.mechanism.scenarios.items()}
        if not as_json:
            print(f"{name}: {loaded.mechanism.description}")
            for key, text in found[name].items():
                print(f"  --scenario {key:<16}{text}")
    if as_json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    app()
