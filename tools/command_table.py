"""The commands of ``flexor``: ours, and those that other people's packages add."""

from __future__ import annotations

from typing import Any, Final

import typer

from signals import plugins
from signals.plugins import Plugin, PluginError

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run", "Run a hand: simulated or real, in real time or in lockstep."),
    "check": ("check", "Check a hand file; print the effective hand, its hash and what is assumed."),
    "stop": ("stop", "Stop a running hand now; needs no lease."),
    "ps": ("ps", "List the hands that run on this machine, and emulations."),
    "view": ("view", "The hand in the browser, in 3-D: live, under a lease, or from a log."),
    "monitor": ("monitor", "Watch a running hand: tensions, joints, state, faults, loop."),
    "keys": ("keys", "Keys for those who watch or command a hand from another machine."),
    "snapshot": ("snapshot", "Keep the last seconds of a running hand at full rate."),
    "replay": ("replay", "Tick a recorded log again; compare bit for bit, or with another hand file."),
    "report": ("report", "Write a recorded run as one page: faults first, curves, sensors."),
    "log": ("log", "Look into a recorded log; judge its Hall sensors; write columns of it as CSV."),
    "signals": ("signals", "Print the table of every signal as Markdown."),
    "doctor": ("doctor", "Check this machine for real-time use."),
    "cache": ("cache", "Carry what is compiled to other machines of the same kind."),
    "bench": ("bench", "Measure the loop against cyclictest and a C loop."),
    "simulate": ("simulate", "Run another mechanism of the simulator."),
    "faults": ("faults", "Inject every fault into the simulated hand and print the matrix."),
    "identify": ("identify", "Measure friction, inertia, ripple of the drives; levers and guides."),
    "calibrate": ("calibrate", "Look at connections, tension a hand, find its zeros and its sensors'."),
    "commission": ("commission", "Measure all of a hand in the right order; goes on where it was stopped."),
    "apply": ("apply", "Write what a run has identified into the hand file."),
    "history": ("history", "List what was applied to a hand file."),
    "revert": ("revert", "Put a hand file back to what it was."),
    "odometer": ("odometer", "What a hand's tendons and joints have done so far, and what they last."),
    "compare": ("compare", "List what changed between two identification runs."),
    "design": ("design", "What a geometry gives: springs, guides, wrist, coupling; what a break asks for."),
    "emulate": ("emulate", "Emulate devices on a virtual port or bus."),
    "scan": ("scan", "Find devices on a bus."),
    "bus": ("bus", "Speak with devices of a bus."),
}
"""Command -> module of ``tools.commands`` and a line of help. A module holds a typer app called ``app``.

Others add a command by an entry point in the group ``flexor.commands`` whose value is such an app.
"""


def packaged() -> tuple[Plugin, ...]:
    """Commands of packages, by name; nothing is imported. A name of ours stays ours."""
    return tuple(p for p in plugins.offered(plugins.COMMANDS) if p.name not in COMMANDS)


def help_line(plugin: Plugin) -> str:
    """Its line in the list of commands: what its package says about itself."""
    return f"[{plugin.package}] {plugin.summary or 'No word about itself.'}"


def command_of(name: str) -> Any:
    """A command of a package, imported now; None: nobody offers it.

    Raises:
        PluginError: it is broken, or offered twice.
    """
    plugin = plugins.named(plugins.COMMANDS, name, COMMANDS)
    if plugin is None:
        return None
    try:
        command = typer.main.get_command(plugins.load(plugin, typer.Typer))
    except RuntimeError as error:  # an app without a command
        raise PluginError(f"{plugin}: {plugins.where(plugin)}{error}") from error
    command.name = name
    return command
