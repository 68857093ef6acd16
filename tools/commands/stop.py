"""``flexor stop``: stop a running hand now. Imports the light client alone, not even the option parser."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexor.runs import Running

HELP = """Usage: flexor stop [--hand NAME] [--port-base PORT]

  Stop a running hand now: it lets go in order and latches OPERATOR_STOP. Needs no lease.
  One that is still starting is ended. Where several hands run, say which; flexor ps lists them.

  Of another machine, stop it there, or through a tunnel that leads to it:

  ssh -L 5600:127.0.0.1:5600 -L 5601:127.0.0.1:5601 lab-pc
  flexor stop --port-base 5600

  One that runs with --address and --keys takes a stop from everybody who reaches it:

  flexor stop --host lab-pc"""


def _options(words: list[str]) -> dict[str, str]:
    found = {"--host": "127.0.0.1", "--port-base": "", "--hand": ""}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        key, equals, value = word.partition("=")
        if key not in found or (not equals and not rest):
            raise ValueError(f"unknown or incomplete option {word!r}; legal: {', '.join(found)}")
        found[key] = value if equals else rest.pop(0)
    return found


def stop(words: list[str]) -> int:
    """Send the stop; returns the exit code."""
    if "--help" in words:
        print(HELP)
        return 0
    from flexor.runs import asker, chosen

    try:
        options = _options(words)
        text = options["--port-base"]
        if text and not (text.isdigit() and 1024 <= int(text) <= 65_000):
            raise ValueError(f"--port-base is {text}; legal are 1024 to 65000")
        port_base, run = chosen(int(text) if text else None, options["--hand"] or None)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    import flexor

    _leave_a_bad_key()
    try:
        with flexor.Hand(options["--host"], port_base=port_base, timeout_s=1.0) as hand:
            answer = hand.stop(by=asker("flexor stop"))
    except flexor.HandError as error:
        return _end(run, str(error))
    target = f"{answer.get('hand', 'the hand')} (process {answer.get('pid', '?')})"
    print(
        f"stop accepted by {target} at {options['--host']}:{port_base}; it was {answer['state']['machine']}"
    )
    return 0


def _leave_a_bad_key() -> None:
    """A stop needs no key, so one that cannot be read shall not hold it up."""
    from flexor.keys import ENVIRONMENT, KeyProblem, chosen

    try:
        chosen(None)
    except KeyProblem as error:
        print(f"warning: {error}; stopping without it", file=sys.stderr)
        del os.environ[ENVIRONMENT]


def _end(run: Running | None, silence: str) -> int:
    """A run that does not answer is starting, or stuck: its own way to end is a signal."""
    if run is None:
        print(f"error: {silence}", file=sys.stderr)
        return 1
    try:
        os.kill(run.pid, signal.SIGINT)
    except OSError as error:
        print(f"error: {silence}; process {run.pid} of {run.hand}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{run.hand} (process {run.pid}) answers nobody yet; it was told to end")
    return 0
