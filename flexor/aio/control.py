"""Command a hand under a lease, for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from math import inf
from types import TracebackType
from typing import Any, Protocol, Self

from flexor.aio.stream import AsyncStream
from flexor.commanding import ALIVE_EVERY_S, Commanding, Done, Look, Say, Steps, T, Wait, advance
from flexor.errors import HandError, HandSilent
from flexor.recording import Record
from flexor.views import View


class AsyncConnection(Protocol):
    """What commanding needs of a hand's connection: ``flexor.aio.AsyncHand``."""

    async def meta(self) -> dict[str, Any]:
        """Names, units, codes of the hand."""

    async def view(self) -> View:
        """The newest view."""

    def listen(self, *topics: str) -> None:
        """Subscribe now."""

    async def request(
        self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any
    ) -> dict[str, Any]:
        """One request and its answer."""

    async def stop(self, by: str = "") -> dict[str, Any]:
        """Stop the hand now."""

    async def snapshot(self) -> str:
        """Write down the last seconds."""


class AsyncControl:
    """The right to command, as ``flexor.Control``; made by ``AsyncHand.control``.

    Args:
        hand: the connection.
        name: who commands.
        take: reason to take the lease by force.
    """

    def __init__(self, hand: AsyncConnection, name: str, take: str | None = None) -> None:
        self.hand, self.name = hand, name
        self._core = Commanding(name, take)
        self._turn = asyncio.Lock()
        self._alive: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, *, keep_alive: bool = False) -> Self:
        """Take the lease, as ``Control.open``; the keep-alive is a task beside yours."""
        with suppress(HandSilent):
            self.hand.listen("view")
            self._core.meta = await self.hand.meta()
        await self._run(self._core.opening())
        if keep_alive:
            self._alive = asyncio.create_task(self._again())
        return self

    async def close(self) -> None:
        """Let an active hand go over to holding, and return the lease; safe to call twice."""
        alive, self._alive = self._alive, None
        if alive is not None:
            alive.cancel()
            await asyncio.wait({alive})  # whatever became of it, the lease is returned
        await self._run(self._core.closing())

    async def arm(self) -> None:
        """As ``Control.arm``."""
        await self._run(self._core.arming())

    async def activate(self) -> None:
        """As ``Control.activate``."""
        await self._run(self._core.activating())

    async def goal(
        self, joints: Mapping[str, float] | None = None, **more: Mapping[str, float] | None
    ) -> None:
        """As ``Control.goal``."""
        await self._run(self._core.sending({"joints": joints, **more}))

    async def mode(self, mode: str, finger: str = "*") -> None:
        """As ``Control.mode``."""
        await self._run(self._core.setting_mode(mode, finger))

    async def move(self, joints: Mapping[str, float], seconds: float = 1.0) -> None:
        """As ``Control.move``; other tasks run meanwhile."""
        await self._run(self._core.moving(joints, seconds))

    async def sleep(self, seconds: float) -> None:
        """As ``Control.sleep``."""
        await self._run(self._core.sleeping(seconds))

    @property
    def record(self) -> Record[Coroutine[Any, Any, str]]:
        """``await record.start()`` and ``await record.stop()``, as ``Control.record``."""
        return Record(lambda do: self._run(self._core.recording(do)), self.hand.snapshot)

    async def rearm(self) -> None:
        """As ``Control.rearm``."""
        await self._run(self._core.rearming())

    async def off(self) -> None:
        """As ``Control.off``."""
        await self._run(self._core.letting_go())

    async def stop(self) -> None:
        """Stop the hand."""
        self._core.active = False
        await self.hand.stop(by=self.name)

    def stream(
        self, rate_hz: float = 60.0, *, ramp_s: float = 1.0, speed_rad_s: float = inf, jump_rad: float = 0.6
    ) -> AsyncStream:
        """As ``Control.stream``; use with ``async with``."""
        options = {"rate_hz": rate_hz, "ramp_s": ramp_s, "speed_rad_s": speed_rad_s, "jump_rad": jump_rad}
        return AsyncStream(self._core, self._run, {key: float(value) for key, value in options.items()})

    async def _again(self) -> None:
        while True:
            await asyncio.sleep(ALIVE_EVERY_S)
            await self._run(self._core.saying_again())

    async def _run(self, steps: Steps[T]) -> T:
        """Carry out a procedure; what it says and remembers in one go is not mixed with another task's."""
        answer, error = None, None
        while True:
            async with self._turn:
                step = advance(steps, answer, error)
                while isinstance(step, Say):
                    step = advance(steps, *await self._result(step))
            if isinstance(step, Done):
                return step.value
            answer, error = await self._result(step)

    async def _result(self, step: Say | Wait | Look) -> tuple[Any, HandError | None]:
        """What a step gives, or raises."""
        try:
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                return None, None
            if isinstance(step, Look):
                return await self.hand.view(), None
            self._core.said_s = time.monotonic()
            return await self.hand.request(step.op, lease=self._core.lease, **step.args), None
        except HandError as error:
            return None, error
