"""Tensions of a run in its own processes, while it goes on: by its public topic, like any other client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

import flexor
from flexor.errors import HandError, HandSilent
from hand.hand import Hand
from signals.layout import FloatArray

See = Callable[[float, FloatArray], None]
"""Gets a time [s] and the newest tensions [N], shape (tendons,), some times a second."""
TURN_S: Final = 0.1


@contextmanager
def listening(hand: Hand, port_base: int, see: See) -> Iterator[None]:
    """Show the tensions of whatever runs at a port, while this lasts.

    Args:
        hand: whose names count.
        port_base: of its run.
        see: gets the time [s] and tensions [N], shape (tendons,).
    """
    ended = threading.Event()
    thread = threading.Thread(target=_listen, args=(hand, port_base, see, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(2.0)


def _listen(hand: Hand, port_base: int, see: See, ended: threading.Event) -> None:
    with flexor.Hand(port_base=port_base, timeout_s=TURN_S) as seen:
        seen.listen("view")
        while not ended.wait(TURN_S):
            try:
                view = seen.view()
            except HandSilent:
                continue  # it starts, or is made again
            except HandError:
                return
            see(float(view["timestamp"]), np.array([view["tension"][name] for name in hand.names.tendons]))
