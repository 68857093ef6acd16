"""The same client for programs that run on asyncio: while one task waits for the hand, the others go on.

import asyncio
from flexor import aio

async def main():
    async with aio.AsyncHand() as hand, hand.control("my script") as control:
        await control.activate()
        await control.move({"index_pip": 0.6}, seconds=1.0)

asyncio.run(main())
"""

from flexor.aio.control import AsyncControl
from flexor.aio.hand import AsyncHand
from flexor.aio.stream import AsyncStream

__all__ = ["AsyncControl", "AsyncHand", "AsyncStream"]
