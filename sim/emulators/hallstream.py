"""Emulated sensor streams on a pty: the Hall bridge (HB1) and the ORCA encoders, on their own clock."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.hallbridge import codec, orca
from drivers.hallbridge.codec import HallParser, Info, Type
from sim.emulators.damage import Damage
from sim.emulators.laws import hall_words
from sim.emulators.loop import Clock
from sim.emulators.pty_line import OnALine, PtyLine
from sim.emulators.side import DeviceSide
from sim.emulators.wire import Outbox, serial_ns

INFO_NS: Final = 1_000_000_000
CATCH_UP: Final = 64
"""Samples made up for after a pause of the emulator, less than a pty holds; older ones are skipped, and their
frames show as lost."""


@dataclass(slots=True)
class StreamFaults(Damage):
    """Fault hooks of a stream of frames."""

    drop: float = 0.0
    """Share of frames that never arrive."""
    stale_channels: set[int] = field(default_factory=set)
    error_channels: set[int] = field(default_factory=set)
    silent: bool = False
    rng: random.Random = field(default_factory=lambda: random.Random(3))

    def arriving(self, frame: bytes) -> bytes:
        """What arrives of a frame; empty: nothing."""
        return b"" if self.rng.random() < self.drop else self.damaged(frame)


class HallBridgeEmulator(OnALine):
    """One bridge.

    Args:
        side: the hand behind it; channel i shows Hall channel ``tendons[i]``.
        tendons: Hall channel of every channel of the bridge, -1: none.
        link: stable name of its line.
        rate_hz: samples per second.
        samples: samples per frame.
        axes: (channel, axis, zero_count, rad_count) of potentiometers.
        joints: joint whose sensor every channel of the bridge shows, -1: none; empty: no channel does.
        baud: rate of the line; 0: native USB, no time on the wire.
        drift: relative error of its crystal.
        clock: monotonic nanoseconds.
        line: makes its end of the line, in the place of a pty.
    """

    def __init__(
        self,
        side: DeviceSide,
        tendons: list[int],
        link: Path,
        *,
        rate_hz: float = 3000.0,
        samples: int = 1,
        axes: tuple[tuple[int, int, float, float], ...] = (),
        joints: Sequence[int] = (),
        baud: int = 0,
        drift: float = 0.0,
        clock: Clock = time.monotonic_ns,
        line: Callable[[Path], PtyLine] | None = None,
    ) -> None:
        self.side, self.line, self.faults, self._clock = side, (line or PtyLine)(link), StreamFaults(), clock
        self._tendons, self._axes = np.array(tendons, dtype=np.int64), axes
        self._joints = np.array(joints or [-1] * len(tendons), dtype=np.int64)
        self._period_ns, self._samples, self._baud, self._drift = int(1e9 / rate_hz), samples, baud, drift
        self.about = Info(len(tendons), samples, round(1e6 / rate_hz), 12, 1, 1, "EMULATED")
        self._parser = HallParser()
        self._out = Outbox()
        self._batch = np.zeros((samples, len(tendons)), dtype=np.uint16)
        self._fill(self._batch[0])  # compiled before anybody waits
        self._batched = self._batch_ns = 0
        self._began_ns = clock()
        self._due_ns, self._info_ns = self._began_ns, self._began_ns
        self._free_ns = self._seq = self.sent = self.skipped = 0
        self.streaming = True

    def due_ns(self) -> int:
        """Next sample, info, or byte."""
        return min(self._due_ns, self._info_ns, self._out.due_ns(self._due_ns))

    def unplug(self) -> None:
        """Fault hook: the cable is pulled."""
        super().unplug()
        self._out.clear()

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Questions of the driver."""
        data = self.line.read()
        for message in self._parser.feed(data, now_ns) if data else []:
            if message == Type.ASK_INFO:
                self._put(codec.info(self._seq, self._t_us(now_ns), self.about), now_ns)
            elif message in (Type.START, Type.STOP):
                self.streaming = message == Type.START

    def on_time(self, now_ns: int) -> None:
        """Sample, send."""
        if now_ns - self._due_ns > CATCH_UP * self._period_ns:
            skipped = (now_ns - self._due_ns) // self._period_ns
            self._due_ns += skipped * self._period_ns
            self._seq += skipped // self._samples
            self.skipped += skipped // self._samples
        while self._due_ns <= now_ns:
            self._sample(self._due_ns)
            self._due_ns += self._period_ns
        if self._info_ns <= now_ns:
            self._info_ns += INFO_NS
            self._put(codec.info(self._seq, self._t_us(now_ns), self.about), now_ns)
        data = self._out.take(now_ns)
        if data:
            self.line.write(data)

    def _t_us(self, now_ns: int) -> int:
        return int((now_ns - self._began_ns) * (1.0 + self._drift)) // 1000

    def _sample(self, at_ns: int) -> None:
        self.side.advance(at_ns)
        if not self._batched:
            self._batch_ns = at_ns
        self._fill(self._batch[self._batched])
        self._batched += 1
        if self._batched < self._samples:
            return
        self._batched = 0
        self._seq += 1
        if self.streaming and not self.faults.silent:
            frame = codec.sample(self._seq, self._t_us(self._batch_ns), self._batch)
            self.sent += 1
            self._put(self.faults.arriving(frame), at_ns)

    def _fill(self, words: NDArray[np.uint16]) -> None:
        """One sample of all channels into ``words``, shape (channels,)."""
        x = self.side.measurement[0]
        hall_words(self.side.measurement, self._tendons, self._joints, codec.VALUE_MASK, codec.STALE, words)
        for channel, axis, zero_count, rad_count in self._axes:
            count = round(float(x["axis_angle_rad"][axis]) / rad_count + zero_count)
            words[channel] = max(0, min(codec.VALUE_MASK, count))
        for channel in self.faults.stale_channels:
            words[channel] |= codec.STALE
        for channel in self.faults.error_channels:
            words[channel] |= codec.SENSOR_ERROR

    def _put(self, frame: bytes, now_ns: int) -> None:
        if self._baud:
            self._free_ns = max(self._free_ns, now_ns) + serial_ns(len(frame), self._baud)
            self._out.put(self._free_ns, frame)
        else:
            self._out.put(now_ns, frame)


class OrcaEmulator(OnALine):
    """One ORCA encoder stream.

    Args:
        side: the hand behind it; slot i shows Hall channel ``tendons[i]``.
        tendons: Hall channel of every slot, -1: none; 17 entries.
        link: stable name of its line.
        rate_hz: frames per second.
        joints: joint whose sensor every slot shows, -1: none; 17 entries, or empty: no slot does.
        clock: monotonic nanoseconds.
        line: makes its end of the line, in the place of a pty.
    """

    def __init__(
        self,
        side: DeviceSide,
        tendons: list[int],
        link: Path,
        rate_hz: float = 1000.0,
        joints: Sequence[int] = (),
        clock: Clock = time.monotonic_ns,
        line: Callable[[Path], PtyLine] | None = None,
    ) -> None:
        self.side, self.line, self.faults = side, (line or PtyLine)(link), StreamFaults()
        self._tendons, self._period_ns = np.array(tendons), int(1e9 / rate_hz)
        self._joints = np.array(joints or [-1] * orca.SLOTS)
        self._due_ns, self.sent = clock(), 0

    def due_ns(self) -> int:
        """Next frame."""
        return self._due_ns

    def readable(self, descriptor: int, now_ns: int) -> None:
        """The driver has nothing to say."""
        self.line.read()

    def on_time(self, now_ns: int) -> None:
        """Send a frame."""
        self._due_ns = max(self._due_ns + self._period_ns, now_ns - CATCH_UP * self._period_ns)
        self.side.advance(now_ns)
        x, used, own = self.side.measurement[0], self._tendons >= 0, self._joints >= 0
        values = np.zeros(orca.SLOTS, dtype=np.int64)
        values[used] = np.clip(x["hall_count"][self._tendons[used]], 0, orca.VALUE_MASK)
        values[own] = np.clip(x["joint_count"][self._joints[own]], 0, orca.VALUE_MASK)
        wrong = np.isin(np.arange(orca.SLOTS), list(self.faults.error_channels))
        wrong[own] |= x["joint_status"][self._joints[own]] != 0
        if not self.faults.silent:
            self.sent += 1
            self.line.write(self.faults.arriving(orca.frame(values, wrong)))
