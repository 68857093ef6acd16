"""The command ``flexor``: a table of commands whose modules are imported only when they are called."""

# ruff: noqa: E402 - a signal has to be dealt with before the longer imports
from __future__ import annotations

import _signal  # type: ignore[import-not-found]

_PYTHONS = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _PYTHONS:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # Ctrl-C during the imports: no traceback

import errno
import gc
import importlib
import io
import os
import signal
import sys
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from runtime.interrupts import EARLIER
from signals.choices import nearest
from signals.extras import missing
from signals.rooms import ROOMS
from tools.command_table import COMMANDS, command_of, help_line, packaged

USAGE_ERROR: Final[Any] = typer.BadParameter.__mro__[1]
CLICK_ERROR: Final[Any] = USAGE_ERROR.__mro__[1]
"""typer's own classes: it brings its copy of click."""

gc.set_threshold(100_000, 20, 100)
"""What imports and compilers make stays: looking through it again and again takes a tenth of a start."""

EPILOG: Final = "Example: flexor run finger_bench --motion open_close --for 10"


_CALLED: Final = "flexor.called"
"""Mark in the context: a command is being called, not listed, so its module has to be imported."""


class _Lazy(TyperGroup):
    """A group that imports a command's module only when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Our commands whose module exists, then those of other people's packages."""
        ours = [name for name, (module, _) in COMMANDS.items() if _exists(module)]
        return ours + [plugin.name for plugin in packaged()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; for the list of commands a line without import."""
        listed = ctx.resilient_parsing or not ctx.meta.get(_CALLED)
        entry = COMMANDS.get(cmd_name)
        if entry is None and listed:
            return next(
                (TyperCommand(p.name, help=help_line(p)) for p in packaged() if p.name == cmd_name), None
            )
        if entry is None:
            return command_of(cmd_name)
        if not _exists(entry[0]):
            return None
        if listed:
            return TyperCommand(cmd_name, help=entry[1])
        command = typer.main.get_command(importlib.import_module(f"tools.commands.{entry[0]}").app)
        if EARLIER:  # an import has swallowed it
            raise KeyboardInterrupt
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As usual, with the nearest name for an unknown one."""
        ctx.meta[_CALLED] = True
        try:
            return super().resolve_command(ctx, args)
        except USAGE_ERROR as error:
            near = nearest(args[0], self.list_commands(ctx))
            if near is not None and "Did you mean" not in error.message:
                error.message += f" Did you mean {near!r}?"
            raise


def _exists(module: str) -> bool:
    folder = os.path.join(os.path.dirname(__file__), "commands", module)
    return os.path.exists(folder + ".py") or os.path.exists(os.path.join(folder, "__init__.py"))


def _stop(words: list[str]) -> int:
    """An emergency command does not wait for anything that it does not need."""
    from tools.commands.stop import stop

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


_SURROUNDINGS: Final = frozenset(
    (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.EEXIST)
    + (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENAMETOOLONG, errno.ENODEV, errno.ENXIO)
    + (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EBUSY)
)
"""Errors that the machine answers with, not the program."""


def _users(error: BaseException) -> bool:
    """One of the project's own error classes: foreseen, and worded for the user."""
    return type(error).__module__.partition(".")[0] in ROOMS


def _machines(error: BaseException) -> str:
    """A refusal of the machine (no such file, no right, disk full) as a line; empty: it is none."""
    if not isinstance(error, OSError) or error.errno not in _SURROUNDINGS:
        return ""
    return f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"


def _strangers(error: BaseException) -> str:
    """The sentence about an error in a user's own driver; empty: it is none."""
    foreign = sys.modules.get("signals.foreign")
    return foreign.told(error) if foreign is not None else ""


def _open_streams() -> None:
    """A closed stdin, stdout or stderr leads nowhere; no file opened later shall take its place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal has not costs its look alone
            stream.reconfigure(errors="backslashreplace")


def _code(command: Any, words: list[str]) -> int:
    """Run a command; every error becomes one clear line on stderr and an exit code."""
    EARLIER.clear()

    def on_interrupt(number: int, frame: Any) -> None:
        EARLIER.append(number)
        signal.default_int_handler(number, frame)

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        with command.make_context("flexor", words) as context:
            code = command.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.Exit as done:
        sys.stdout.flush()
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("stopped", file=sys.stderr)
        return 130
    except CLICK_ERROR as error:
        error.show()
        return int(error.exit_code)
    except BrokenPipeError:
        raise
    except SystemExit as error:
        if not _strangers(error):
            raise
        return _told(error)
    except Exception as error:  # the border of the process: whatever it is, it is told in a line
        if EARLIER:  # a library made something else of it
            print("stopped", file=sys.stderr)
            return 130
        if os.environ.get("FLEXOR_DEBUG"):
            raise
        return _told(error)
    finally:
        signal.signal(signal.SIGINT, before)


def _told(error: BaseException) -> int:
    if lack := missing(error):
        print(f"error: {lack}", file=sys.stderr)
        return 1
    if _users(error):
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    for line, code in ((_machines(error), 1), (_strangers(error), 2)):
        if line:
            print(f"error: {line}", file=sys.stderr)
            return code
    print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
    print("this is a bug; flexor --debug ... shows where", file=sys.stderr)
    return 70


def main(arguments: list[str] | None = None) -> Any:
    """Entry point: one clear line on stderr and a non-zero exit code for every error."""
    _open_streams()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words[:1] == ["stop"]:
            code = _stop(words[1:])
            sys.stdout.flush()
        else:
            code = _code(typer.main.get_command(app), list(words))
    except BrokenPipeError:  # the reader of a pipe has gone, as head does
        code = 141
    code = _emptied(code)
    if arguments is None:
        gc.freeze()  # the process ends: the last look through all that was loaded takes half a second
    sys.exit(code)


def _emptied(code: int) -> int:
    """Flush both streams; what cannot be written is dropped, or the interpreter's end would fail on it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            code = code or 1
    return code


if _PYTHONS:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    main()
