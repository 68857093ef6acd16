"""Somebody who looks at ``flexor view`` without a screen: ``python -m benchmarks.onlooker URL``.

Speaks the websocket of viser's page as its browser client does: takes scene and panel, moves sliders, presses
buttons. As a program it looks until SIGTERM, then prints as one JSON object how many updates of the picture
came in how many seconds.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import msgspec
import numpy as np

_HEAD: Final = 16
"""Bytes before the packed maps: their size, and their size packed."""
_ALIGNED: Final = 8
_CAMERA: Final = {
    "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 0.0, 1.0), "look_at": (0.0, 0.0, 0.0),
    "up_direction": (1.0, 0.0, 0.0), "fov": 1.0, "near": 0.01, "far": 10.0, "image_height": 600,
    "image_width": 800,
}  # fmt: skip
"""Where it looks from: a client that has not said so counts as not yet connected."""
PICTURE: Final = "batched_positions"
"""What each update of the picture of a hand that moves has."""


@dataclass(slots=True)
class Seen:
    """One message from the page.

    Attributes:
        at: Unix time of its arrival [s].
        kind: name of viser's message class.
        of: what it is about: path of the node in the scene, or the panel part's number.
        props: what is new.
    """

    at: float
    kind: str
    of: str
    props: dict[str, Any] = field(default_factory=dict)


def unpacked(payload: bytes) -> list[dict[str, Any]]:
    """Messages of one websocket frame, arrays as arrays (flat)."""
    import zstandard

    size = int.from_bytes(payload[8:_HEAD], "little")
    packed = payload[_HEAD : _HEAD + size]
    whole = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    arrays, at = [], _HEAD + size
    for length in whole["binaryBufferLengths"]:
        at += -at % _ALIGNED
        arrays.append(payload[at : at + length])
        at += length
    found: list[dict[str, Any]] = _filled(whole["messages"], arrays)
    return found


def _filled(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, list):
        return [_filled(v, arrays) for v in value]
    if isinstance(value, dict):
        if "__binary_index" in value:
            return np.frombuffer(arrays[value["__binary_index"]], dtype=value["dtype"])
        return {k: _filled(v, arrays) for k, v in value.items()}
    return value


class Onlooker:
    """A client of the page.

    Args:
        url: of the page, as a browser has it.

    Attributes:
        parts: number of a part of the panel -> its properties, ``value`` among them.
        nodes: path of a node in the scene -> its properties.
    """

    def __init__(self, url: str) -> None:
        import viser
        from websockets.sync.client import connect

        protocol: Any = f"viser-v{viser.__version__}"
        self._socket = connect(
            url.replace("http", "ws", 1), subprotocols=[protocol], max_size=None, proxy=None
        )
        self.parts: dict[str, dict[str, Any]] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self._commands: dict[str, str] = {}
        self._send("ViewerCameraMessage", **_CAMERA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def look(self, seconds: float) -> Iterator[Seen]:
        """Messages as they come, for some time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0.0:
            try:
                payload = self._socket.recv(timeout=left)
            except TimeoutError:
                return
            assert isinstance(payload, bytes)
            at = time.time()
            for message in unpacked(payload):
                yield self._took(at, message)

    def until(self, label: str, seconds: float, **wanted: Any) -> bool:
        """A part of the panel has these properties, within a time."""

        def so() -> bool:
            return any(wanted.items() <= part.items() for part in self._named(label))

        return so() or any(so() for _ in self.look(seconds))

    def _named(self, label: str) -> list[dict[str, Any]]:
        return [part for part in self.parts.values() if part.get("label") == label]

    def _took(self, at: float, message: dict[str, Any]) -> Seen:
        kind, number = message["type"], message.get("uuid", "")
        props = dict(message.get("updates") or message.get("props") or {})
        if "value" in message:
            props["value"] = message["value"]
        if kind == "RegisterCommandMessage":
            self._commands[props["label"]] = number
        elif kind == "GuiRemoveMessage":
            self.parts.pop(number, None)
        elif number:
            self.parts.setdefault(number, {"uuid": number}).update(props)
        elif name := message.get("name"):
            self.nodes.setdefault(name, {}).update(props)
        return Seen(at, kind, number or message.get("name", ""), props)

    def do(self, label: str, value: Any) -> None:
        """Set a part of the panel: move a slider, choose, press (``True``, or the name of a group's button).

        Raises:
            KeyError: the panel has no such part.
        """
        found = self._named(label)
        if not found:
            raise KeyError(f"no {label!r} on the page; there are {sorted(self.labels)}")
        self._send("GuiUpdateMessage", uuid=found[-1]["uuid"], updates={"value": value})

    def trigger(self, label: str) -> None:
        """A command of the page, as its hot key gives it."""
        self._send("CommandTriggerMessage", uuid=self._commands[label])

    @property
    def labels(self) -> set[str]:
        """Labels of all parts of the panel."""
        return {part["label"] for part in self.parts.values() if part.get("label")}

    def _send(self, kind: str, **what: Any) -> None:
        self._socket.send(msgspec.msgpack.encode({"type": kind, **what}))


def main() -> None:
    """Entry point."""
    from runtime.realtime import leave_loop_core

    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    leave_loop_core()
    pictures, times = 0, [0.0, 0.0]
    with Onlooker(sys.argv[1]) as onlooker:
        while not stopped:
            for seen in onlooker.look(0.2):
                if seen.of == "/hand/balls" and PICTURE in seen.props:
                    pictures += 1
                    if pictures == 1:
                        print("looking", flush=True)
                    times = [times[0] or seen.at, seen.at]
    print(json.dumps({"pictures": pictures, "seconds": round(times[1] - times[0], 3)}))


if __name__ == "__main__":
    main()
