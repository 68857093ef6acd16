"""The page of a hand that another command runs, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

WAIT_S: Final = 1e6
"""How long the page waits for its hand: it ends with the command that it stands beside."""
_END_S: Final = 3.0


@contextmanager
def page_beside(shown: bool, port_base: int) -> Iterator[None]:
    """``flexor view`` of the hand at a port, while this lasts."""
    if not shown:
        yield
        return
    from tools.view.serve import check_viser

    check_viser()
    words = ["view", "--port-base", str(port_base), "--wait", str(WAIT_S), "--beside", str(os.getpid())]
    # a session of its own: Ctrl-C ends the hand first, then its page
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.cli", *words], stdout=sys.stderr, start_new_session=True
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
