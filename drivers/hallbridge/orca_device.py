"""Driver of the ORCA hand's encoder stream; it has no device time, so a sample's time is its arrival."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from drivers.counts import WireCounts
from drivers.family import Family
from drivers.hallbridge import orca
from drivers.hallbridge.orca import OrcaParser, Plausible, Reading
from drivers.hallbridge.search import ENCODERS
from drivers.hallbridge.settings import OrcaSettings
from drivers.hallbridge.stream import Newest, StreamBus
from drivers.serialport import Clock, LineMaker
from signals.modes import ChannelStatus
from signals.names import HandNames


class OrcaBus(StreamBus):
    """One encoder stream; a word with wrong parity or an unbelievable step keeps its last value."""

    def __init__(
        self,
        settings: OrcaSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        line: LineMaker | None = None,
    ) -> None:
        self._parser = OrcaParser()
        self._step_max = settings.step_max_count
        self._plausible = Plausible(self._step_max)
        super().__init__(settings, names, readonly, clock, line)

    @property
    def counts(self) -> WireCounts:
        """Counts of the parser."""
        return self._parser.counts

    def start(self) -> None:
        """The stream runs by itself."""

    def forget(self) -> None:
        """Half frames and the last values."""
        self._parser.forget()
        self._plausible = Plausible(self._step_max)

    def restarted(self) -> None:
        """Nothing has to be asked."""
        self.forget()

    def parse(self, data: bytes, now_ns: int) -> Newest | None:
        """Newest frame of what came; every frame passes the check of steps."""
        readings = self._parser.feed(data, now_ns)
        if not readings:
            return None
        for reading in readings:
            values, good = self._judged(reading)
        error = (reading.words & orca.ERROR) != 0
        bits = np.where(good, 0, int(ChannelStatus.STALE)) | np.where(
            error, int(ChannelStatus.DEVICE_ERROR), 0
        )
        return Newest(now_ns, values, bits.astype(np.uint32))

    def _judged(self, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
        values = (reading.words & orca.VALUE_MASK).astype(np.int64)
        return values, self._plausible.judge(values) & reading.parity_good


FAMILY: Final = Family(
    name="orca-encoders", settings=OrcaSettings, open=OrcaBus, in_control_process=False, search=ENCODERS
)
