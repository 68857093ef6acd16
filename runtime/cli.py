"""The command ``flexor``: a table of commands whose modules are imported only when they are called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run", "Run a hand: simulated or real, in real time or in lockstep."),
    "check": ("check", "Check a hand file; print the effective hand, its hash and what is assumed."),
    "stop": ("stop", "Stop a running hand now; needs no lease."),
    "monitor": ("monitor", "Watch a running hand: tensions, joints, state, faults, loop."),
    "log": ("log", "Look into a recorded log; write columns of it as CSV."),
    "signals": ("signals", "Print the table of every signal as Markdown."),
    "doctor": ("doctor", "Check this machine for real-time use."),
    "bench": ("bench", "Measure the loop against cyclictest and a C loop."),
    "simulate": ("simulate", "Run another mechanism of the simulator."),
    "faults": ("faults", "Inject every fault into the simulated hand and print the matrix."),
    "emulate": ("emulate", "Emulate devices on a virtual port or bus."),
    "scan": ("scan", "Find devices on a bus."),
    "bus": ("bus", "Speak with devices of a bus."),
}
"""Command -> module of ``runtime.commands`` and a line of help. A module holds a typer app called ``app``."""

USAGE_ERROR: Final[Any] = typer.BadParameter.__mro__[1]
CLICK_ERROR: Final[Any] = USAGE_ERROR.__mro__[1]
"""typer's own classes: it brings its copy of click."""

EPILOG: Final = "Example: flexor run finger_bench --motion open_close --for 10"


class _Lazy(TyperGroup):
    """A group that imports a command's module only when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Commands whose module exists."""
        return [name for name, (module, _) in COMMANDS.items() if _exists(module)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; for the list of commands a line without import."""
        entry = COMMANDS.get(cmd_name)
        if entry is None or not _exists(entry[0]):
            return None
        if ctx.resilient_parsing or _only_listing():
            return TyperCommand(cmd_name, help=entry[1])
        command = typer.main.get_command(importlib.import_module(f"runtime.commands.{entry[0]}").app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As usual, with the nearest name for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except USAGE_ERROR as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1, cutoff=0.5)
            if near and "Did you mean" not in error.message:
                error.message += f" Did you mean {near[0]!r}?"
            raise


def _exists(module: str) -> bool:
    folder = os.path.join(os.path.dirname(__file__), "commands", module)
    return os.path.exists(folder + ".py") or os.path.exists(os.path.join(folder, "__init__.py"))


def _only_listing() -> bool:
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    return not words


def _stop(words: list[str]) -> int:
    """An emergency command does not wait for anything that it does not need."""
    from runtime.commands.stop import stop

    return stop(words)


app = typer.Typer(
    cls=_Lazy,
    name="flexor",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
)


@app.callback()
def flexor(debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error.")) -> None:
    """Real-time runtime and simulator of tendon-driven robot hands."""
    if debug:
        os.environ["FLEXOR_DEBUG"] = "1"


def main(arguments: list[str] | None = None) -> Any:
    """Entry point: one clear line on stderr and a non-zero exit code for every error."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["stop"]:
        sys.exit(_stop(words[1:]))
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="flexor", standalone_mode=False)
    except typer.Abort:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except CLICK_ERROR as error:
        error.show()
        sys.exit(error.exit_code)
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (ValueError, OSError, RuntimeError) as error:
        if os.environ.get("FLEXOR_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ValueError) else 1)
    except Exception as error:  # the border of the process: a bug, told in one line
        if os.environ.get("FLEXOR_DEBUG"):
            raise
        if type(error).__module__.startswith("drivers."):
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print("this is a bug; flexor --debug ... shows where", file=sys.stderr)
        sys.exit(70)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
