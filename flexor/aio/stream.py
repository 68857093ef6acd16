"""Poses with times, for asyncio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from flexor.commanding import Commanding, Steps
from flexor.errors import HandError
from flexor.following import Following


class AsyncStream:
    """A stream of poses, as ``flexor.Stream``; made by ``AsyncControl.stream``.

    Args:
        core: who commands.
        run: carries out the steps of a procedure.
        options: of ``Control.stream``.
    """

    def __init__(
        self,
        core: Commanding,
        run: Callable[[Steps[Any]], Coroutine[Any, Any, Any]],
        options: Mapping[str, float],
    ) -> None:
        self._core, self._run, self._options = core, run, options

    async def __aenter__(self) -> Self:
        await self.engage()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(HandError):
            await self.end()

    async def engage(self) -> None:
        """As ``Stream.engage``."""
        await self._run(self._core.engaging(self._options))

    async def send(
        self,
        t: float | None = None,
        joints: Mapping[str, float] | None = None,
        *,
        axes: Mapping[str, float] | None = None,
    ) -> Following:
        """As ``Stream.send``."""
        found: Following = await self._run(self._core.streaming(t, {"joints": joints, "axes": axes}))
        return found

    async def end(self) -> None:
        """As ``Stream.end``."""
        await self._run(self._core.ending())
