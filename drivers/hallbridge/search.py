"""Sensor streams that talk by themselves: the Hall bridge, the ORCA encoders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from drivers.family import Finding, Search
from drivers.hallbridge.codec import HallParser, Info, Sample, Type, ask
from drivers.hallbridge.orca import OrcaParser
from drivers.places import SerialPlace

FRAMES: Final = 3
"""ORCA frames that chance may make of other bytes while a scan listens."""


class BridgeListener:
    """Messages of a Hall bridge."""

    hello: Final = ask(Type.ASK_INFO)

    def __init__(self) -> None:
        self._parser = HallParser()
        self._info: Info | None = None

    @property
    def certain(self) -> bool:
        """It has said who it is."""
        return self._info is not None

    def lines(self, data: bytes, now_ns: int) -> Iterable[str]:
        """A line for every sample, and for what the bridge says of itself."""
        told = []
        for message in self._parser.feed(data, now_ns):
            if isinstance(message, Sample):
                told.append(f"hall {message.seq} {message.words[-1].tolist()}")
            elif isinstance(message, Info):
                self._info = message
                told.append(f"hall info {message}")
        return told

    def findings(self, place: str, seconds: float) -> Iterable[Finding]:
        """The bridge, if it has said who it is."""
        if self._info is not None:
            about = self._info
            detail = (
                f"{about.channels} channels, {1e6 / max(about.period_us, 1):.0f} Hz, serial {about.serial}"
            )
            yield Finding(family="hall-bridge", place=place, device="Hall bridge", detail=detail)


class EncoderListener:
    """Frames of ORCA encoders, told only by their number: eight bits of a sum prove little."""

    hello: Final = b""
    certain: Final = False

    def __init__(self) -> None:
        self._parser = OrcaParser()

    def lines(self, data: bytes, now_ns: int) -> Iterable[str]:
        """None: counted alone."""
        self._parser.feed(data, now_ns)
        return ()

    def findings(self, place: str, seconds: float) -> Iterable[Finding]:
        """The encoders, if there were more frames than chance makes."""
        frames = self._parser.counts.frames
        if frames > FRAMES:
            detail = f"{frames} frames in {seconds:.1f} s"
            yield Finding(family="orca-encoders", place=place, device="ORCA encoders", detail=detail)


BRIDGE: Final = Search(place=SerialPlace, listener=BridgeListener)
ENCODERS: Final = Search(place=SerialPlace, listener=EncoderListener)
