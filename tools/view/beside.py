"""The page of a hand that another command runs, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

WAIT_S: Final = 1e6
"""How long the page waits for its hand: it ends with the command that it stands beside."""
_END_S: Final = 3.0


@contextmanager
def page_beside(shown: bool, port_base: int) -> Iterator[Callable[[str], None]]:
    """``flexor view`` of the hand at a port, while this lasts.

    Yields:
        What to call with a line about what the hand is used for; it stands beside the hand's name.
    """
    if not shown:
        yield lambda _: None
        return
    from tools.view.serve import check_viser

    check_viser()
    words = ["view", "--port-base", str(port_base), "--wait", str(WAIT_S), "--beside", str(os.getpid())]
    # a session of its own: Ctrl-C ends the hand first, then its page
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.cli", *words], stdin=subprocess.PIPE, stdout=sys.stderr,
        start_new_session=True,
    )  # fmt: skip
    lines = process.stdin
    assert lines is not None

    def tell(line: str) -> None:
        with suppress(OSError):  # the page has ended by itself; its hand goes on
            lines.write(f"{line}\n".encode())
            lines.flush()

    try:
        yield tell
    finally:
        with suppress(OSError):
            lines.close()
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
