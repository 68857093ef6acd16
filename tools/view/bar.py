"""The bar over the page: how the hand is, and the way to stop it, on a connection of its own.

The library's page takes what it is sent picture by picture. Drawn without a graphics card a picture takes
long, and words and stop would wait for it. So the page gets a script that speaks to ``PATH``, at the same
port: texts go out the moment they change, "stop" comes back.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tools.view.banner import Told, as_message, between_runs

PATH: Final = "/flexor"
BEAT_S: Final = 0.5
"""Time between two signs of life."""
TURNED_S: Final = 1.5
"""They end when the page has not turned for so long; the script then says so."""
_HERE: Final = Path(__file__).parent
_HEAD: Final = b"<head>"


class Bar:
    """Words of one page for all browsers that look at it.

    Attributes:
        stop: stops the hand; ``None``: there is none to stop.
    """

    def __init__(self) -> None:
        self.stop: Callable[[], None] | None = None
        self._hand = self._use = self._text = ""
        self._turned_s = time.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()

    def name(self, hand: str) -> None:
        """Whose page it is."""
        self._hand = hand

    def use(self, line: str) -> None:
        """What the hand is used for: a command and how far it is."""
        self._use = line

    def tell(self, state: Told) -> None:
        """Say how the hand is, at once; to be called at every turn, so that its end is seen."""
        self._turned_s = time.monotonic()
        hand = f"{self._hand}, {self._use}" if self._use else self._hand
        if self._use and state.kind == "gone":
            state = between_runs(state)
        text = json.dumps(as_message(state, hand, self.stop is not None))
        if text != self._text:
            self._text = text
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for event in self._waiting:
            event.set()

    async def serve(self, connection: Any) -> None:
        """One browser, until it leaves.

        Args:
            connection: of ``websockets``.
        """
        from websockets.exceptions import ConnectionClosed

        self._loop, event = asyncio.get_running_loop(), asyncio.Event()
        self._waiting.add(event)
        hearing = self._loop.create_task(self._hear(connection))
        try:
            await self._say(connection, event)
        except ConnectionClosed:
            pass
        finally:
            self._waiting.discard(event)
            hearing.cancel()

    async def _say(self, connection: Any, event: asyncio.Event) -> None:
        """The newest text, whenever it is another; a sign of life between."""
        said = ""
        while True:
            event.clear()
            text = self._text
            if text != said or time.monotonic() - self._turned_s < TURNED_S:
                await connection.send("" if text == said else text)
                said = text
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), BEAT_S)

    async def _hear(self, connection: Any) -> None:
        async for word in connection:
            if word == "stop" and self.stop is not None:
                await asyncio.get_running_loop().run_in_executor(None, self.stop)

    @staticmethod
    def put_into(page: bytes) -> bytes:
        """The library's page with the bar's script and style, before everything else in it."""
        script, style = ((_HERE / f"bar.{kind}").read_bytes() for kind in ("js", "css"))
        return page.replace(_HEAD, b"%s<style>%s</style><script>%s</script>" % (_HEAD, style, script), 1)
