"""Driver of the Hall bridge (HB1): info first, then samples; device time mapped to this computer's clock."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from drivers.clocks import DeviceClock
from drivers.counts import WireCounts
from drivers.errors import BusLost, WrongDevice
from drivers.family import Family
from drivers.hallbridge import codec
from drivers.hallbridge.codec import HallParser, Info, Sample, Type
from drivers.hallbridge.laws import opened_words
from drivers.hallbridge.search import BRIDGE
from drivers.hallbridge.settings import HallBridgeSettings
from drivers.hallbridge.stream import Newest, StreamBus
from drivers.serialport import Clock, LineMaker
from signals.names import HandNames

INFO_S: Final = 1.5
"""A bridge repeats its info every second by itself."""
ASK_NS: Final = 100_000_000
MASKS: Final = (codec.VALUE_MASK, codec.SENSOR_ERROR, codec.STALE)


class HallBridgeBus(StreamBus):
    """One bridge.

    Raises:
        BusLost: no info comes.
        WrongDevice: it has another number of channels, or another serial number.
    """

    def __init__(
        self,
        settings: HallBridgeSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        line: LineMaker | None = None,
    ) -> None:
        self.settings = settings
        self._parser = HallParser()
        self._device_clock = DeviceClock(tick_ns=1000, bits=32)
        self._period_us = 0
        channels = len(settings.channels)
        self._counts_now = np.zeros(channels, dtype=np.int64)
        self._bits_now = np.zeros(channels, dtype=np.uint32)
        blank = np.frombuffer(bytes(2 * channels), dtype="<u2").reshape(1, channels)
        opened_words(blank[-1], *MASKS, self._counts_now, self._bits_now)  # compiled before the first cycle
        super().__init__(settings, names, readonly, clock, line)
        try:
            self.info = self._introduced()
        except BaseException:
            self._port.close()
            raise

    @property
    def counts(self) -> WireCounts:
        """Counts of the parser."""
        return self._parser.counts

    def _introduced(self) -> Info:
        """Wait for the bridge's info, asking for it unless read-only; then check it."""
        until_ns = self._clock() + int(INFO_S * 1e9)
        ask_ns = 0
        while self._clock() < until_ns:
            if not self.readonly and self._clock() >= ask_ns:
                ask_ns = self._clock() + ASK_NS
                self._port.write(codec.ask(Type.ASK_INFO))
            data = self._port.read(min(until_ns, self._clock() + ASK_NS))
            for message in self._parser.feed(data, self._clock()) if data else []:
                if isinstance(message, Info):
                    self._judge(message)
                    return message
        place = f"{self.settings.port}: no Hall bridge answers"
        raise BusLost(self.settings.name, place, "check firmware, cable and baud rate")

    def _judge(self, info: Info) -> None:
        name, channels = self.settings.name, len(self.settings.channels)
        if info.channels != channels:
            raise WrongDevice(name, f"{channels} channels", f"{info.channels} channels")
        if self.settings.serial and info.serial != self.settings.serial:
            raise WrongDevice(name, f"serial {self.settings.serial}", f"serial {info.serial}")
        self._period_us = info.period_us
        self.pace(info.samples * info.period_us * 1000)

    def start(self) -> None:
        """Ask the bridge to stream."""
        self._port.write(codec.ask(Type.START))

    def forget(self) -> None:
        """Half frames, the numbering, the bridge's clock."""
        self._parser.forget()
        self._device_clock.forget()

    def restarted(self) -> None:
        """Another line, perhaps another bridge: introduce it again."""
        self.forget()
        self._introduced()

    def parse(self, data: bytes, now_ns: int) -> Newest | None:
        """Newest batch of what came."""
        newest: Sample | None = None
        for message in self._parser.feed(data, now_ns):
            if isinstance(message, Sample):
                if message.words.shape[1] != len(self.settings.channels):
                    self._parser.counts.unexpected += 1
                    continue
                newest = message
        if newest is None:
            return None
        behind_ns = (newest.words.shape[0] - 1) * self._period_us * 1000
        first_ns = self._device_clock.host_ns(newest.t_us, now_ns - behind_ns)
        opened_words(newest.words[-1], *MASKS, self._counts_now, self._bits_now)
        return Newest(first_ns + behind_ns, self._counts_now, self._bits_now)


FAMILY: Final = Family(
    name="hall-bridge",
    settings=HallBridgeSettings,
    open=HallBridgeBus,
    in_control_process=False,
    search=BRIDGE,
)
