"""The page's server: loopback alone, nothing from the net, and no other site's page may speak to it."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from typing import Any, Final

from flexor.places import LOOPBACK

OWN: Final = re.compile(r"http://(127\.0\.0\.1|localhost)(:\d+)?")
"""Origins of the page itself, also behind a tunnel; a program that is no browser has none."""


class ViewMissing(RuntimeError):
    """The extra is not installed."""


def check_viser() -> None:
    """Refuse before anything is started; imports nothing.

    Raises:
        ViewMissing: viser is not there.
    """
    if find_spec("viser") is None:
        raise ViewMissing("flexor view needs viser: pip install 'flexor[view]'")


def make_server(port: int) -> Any:
    """Viser's server on loopback, at the port or the next free one.

    Raises:
        ViewMissing: viser is not there.
    """
    check_viser()
    import viser

    with _own_pages_only(), redirect_stdout(io.StringIO()):  # it prints a box of its own
        return viser.ViserServer(LOOPBACK, port, verbose=False)


@contextmanager
def _own_pages_only() -> Iterator[None]:
    """While the server starts: any web page in the user's browser may open a socket to loopback; not here."""
    import websockets.asyncio.server as library

    serve = library.serve
    library.serve = functools.partial(serve, origins=[None, OWN])  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        library.serve = serve  # type: ignore[misc]
