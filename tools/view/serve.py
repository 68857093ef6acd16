"""The page's server: loopback alone, nothing from the net, and no other site's page may speak to it."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from flexor.places import LOOPBACK
from signals.extras import how_to_get
from tools.view.bar import PATH, Bar

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
        raise ViewMissing(f"flexor view needs viser: {how_to_get('viser')}")


def make_server(port: int, bar: Bar) -> Any:
    """Viser's server on loopback, at the port or the next free one, its page dressed and under the bar.

    Raises:
        ViewMissing: viser is not there.
    """
    check_viser()
    import viser

    with _made_ours(bar), redirect_stdout(io.StringIO()):  # it prints a box of its own
        server = viser.ViserServer(LOOPBACK, port, verbose=False)
    server.gui.configure_theme(
        dark_mode=True, show_logo=False, show_share_button=False, control_width="medium"
    )
    server.gui.main_panel.dock_right()
    server.gui.set_panel_label("flexor")
    server.gui.add_html('<div id="fx-room"></div>')  # the bar lies over the panel's top
    server.scene.set_background_image(_background())
    return server


def end(server: Any) -> None:
    """Stop a server of ``make_server``; it has a line of its own to say about that."""
    with redirect_stdout(io.StringIO()):
        server.stop()


@contextmanager
def _made_ours(bar: Bar) -> Iterator[None]:
    """While the server starts: any web page in the user's browser may open a socket to loopback; not here.

    The bar has its connection at the same port, and its script in the page.
    """
    import websockets.asyncio.server as library

    library_serve = library.serve

    def serve(handler: Any, *place: Any, process_request: Any, **more: Any) -> Any:
        async def either(connection: Any) -> None:
            await (bar.serve if connection.request.path == PATH else handler)(connection)

        def answer(connection: Any, request: Any) -> Any:
            return _with_bar(process_request(connection, request))

        return library_serve(either, *place, process_request=answer, origins=[None, OWN], **more)

    library.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        library.serve = library_serve  # type: ignore[misc]


def _with_bar(response: Any) -> Any:
    """An answer of the library's; its page gets the bar."""
    if response is None or not response.headers.get("Content-Type", "").startswith("text/html"):
        return response
    packed = response.headers["Content-Encoding"] == "gzip"
    response.body = Bar.put_into(gzip.decompress(response.body) if packed else response.body)
    for key, value in {"Content-Encoding": "identity", "Content-Length": str(len(response.body))}.items():
        del response.headers[key]
        response.headers[key] = value
    return response


def _background() -> Any:
    top, low = np.array((24, 29, 38)), np.array((44, 52, 66))
    share = np.linspace(0.0, 1.0, 64)[:, None, None]
    return np.broadcast_to((top + share * (low - top)).astype(np.uint8), (64, 2, 3)).copy()
