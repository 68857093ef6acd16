"""The witness of stalls sees one that happens, and forgets it for what begins later."""

import os
import signal
import time

import pytest

from tests.rigs.witness import Witness


@pytest.mark.realtime
def test_a_watcher_that_stood_still_says_for_how_long() -> None:
    witness = Witness()
    try:
        begun_ns = time.monotonic_ns()
        time.sleep(0.5)  # the watchers start
        os.kill(witness.processes[0].pid, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(witness.processes[0].pid, signal.SIGCONT)
        time.sleep(0.2)
        assert witness.longest_ms(begun_ns) >= 190.0
        assert witness.longest_ms(time.monotonic_ns() + 10**9) == 0.0
    finally:
        witness.close()
