"""What the driver knows of every axis: newest feedback, heartbeat, foreign commands; arrays of shape (n,)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from drivers.counts import WireCounts
from drivers.errors import TurnsUnknown
from drivers.handshake import Handshake
from drivers.motors import TURN_RAD, MotorMap
from drivers.odrive import codec
from drivers.odrive.codec import AxisState, Command, Frame
from drivers.odrive.settings import OdriveSettings
from signals.layout import BoolArray, IntArray
from signals.modes import ChannelStatus
from signals.records import RecordArray

STALE, RESET = int(ChannelStatus.STALE), int(ChannelStatus.RESET)
HELD, DEVICE_ERROR = int(ChannelStatus.HELD), int(ChannelStatus.DEVICE_ERROR)
MISSING: Final = int(ChannelStatus.MISSING)
FOREIGN: Final = codec.SETPOINTS | {
    Command.AXIS_STATE,
    Command.CONTROLLER_MODE,
    Command.LIMITS,
    Command.ESTOP,
    Command.REBOOT,
}
"""Commands that only the owner of a bus sends; seen on the bus, somebody else drives our motors."""
HEARTBEATS_MISSED: Final = 4
HEARTBEATS_TO_CLOSE: Final = 4
"""Heartbeats within which an axis has to show the closed loop that it was asked for."""
HEARTBEATS_TO_REPAIR: Final = 2
"""Heartbeats after which a set-up that changed nothing is written again."""
HEARTBEATS_TO_STARVE: Final = 3
"""Heartbeats beyond the watchdog's time within which an axis without frames has to show that it let go."""
Int64s = IntArray


class Axes:
    """Feedback of all axes of one bus.

    Args:
        settings: the bus.
        motors: map of angles.
        counts: counts of the bus.
    """

    def __init__(self, settings: OdriveSettings, motors: MotorMap, counts: WireCounts) -> None:
        n = len(settings.device)
        self.settings, self.map, self.counts = settings, motors, counts
        self.row = {d.node: i for i, d in enumerate(settings.device)}
        self.shake = Handshake(motors.motors)
        self.turns, self.turns_s = np.zeros(n), np.zeros(n)
        self.iq_a, self.degc = np.zeros(n), np.zeros(n)
        self.time_ns: Int64s = np.zeros(n, dtype=np.int64)
        self.beat_ns: Int64s = np.zeros(n, dtype=np.int64)
        self.beats: Int64s = np.zeros(n, dtype=np.int64)
        self.state: Int64s = np.zeros(n, dtype=np.int64)
        self.error: Int64s = np.zeros(n, dtype=np.int64)
        self.fresh: BoolArray = np.zeros(n, dtype=np.bool_)
        """Encoder message seen since the last exchange."""
        self.firmware: list[tuple[int, int, int] | None] = [None] * n
        self.replies: dict[tuple[int, int], bytes] = {}
        """Newest value of an endpoint, by (row, endpoint)."""
        self._endpoints = frozenset(settings.endpoints.values())
        self.pulling = False
        """Whether the axes are meant to be in closed loop."""
        self.closing_ns: Int64s = np.zeros(n, dtype=np.int64)
        """When closed loop was asked for that no heartbeat has shown yet; 0: not asked."""
        self.repaired_ns: Int64s = np.zeros(n, dtype=np.int64)
        """When a set-up was written again that no heartbeat has confirmed yet; 0: not written."""
        self.proven: BoolArray = np.zeros(n, dtype=np.bool_)
        """Its own watchdog was read back or seen at work since its last reset."""
        self.refused: BoolArray = np.zeros(n, dtype=np.bool_)
        """It cannot be trusted again in this run; the reason says why."""
        self._absent: BoolArray = np.zeros(n, dtype=np.bool_)
        """Was silent; its next heartbeat tells whether it was reset."""
        self.turns_lost: BoolArray = np.zeros(n, dtype=np.bool_)
        """Was reset since its turns were chosen."""
        self._watchdog = settings.watchdog_values()
        self.expired = codec.WATCHDOG_EXPIRED[settings.firmware]
        self.starve_ns = int(settings.watchdog_ms * 1e6) + self._beats_ns(HEARTBEATS_TO_STARVE)
        """Time without frames after which an axis must have let go by itself."""
        self.reason = ""

    def take(self, frames: list[Frame], now_ns: int) -> None:
        """Take everything that came over the bus."""
        for frame in frames:
            i = self.row.get(frame.node)
            if i is None:
                continue
            command = frame.command
            if command == Command.ENCODER:
                self._encoder(i, frame, now_ns)
            elif command == Command.HEARTBEAT:
                self._heartbeat(i, frame, now_ns)
            elif command in (Command.IQ, Command.TEMPERATURE):
                self._pair(i, frame)
            elif command == Command.TX_SDO and len(frame.data) == 8:
                endpoint = frame.data[1] | frame.data[2] << 8
                if endpoint in self._endpoints:  # a node that babbles must not fill the memory
                    self.replies[i, endpoint] = frame.data[4:]
            elif command == Command.VERSION:
                self.firmware[i] = codec.firmware_of(frame)
            elif command in FOREIGN:
                self.counts.unexpected += 1
                self.reason = f"somebody else commands node {frame.node} ({Command(command).name.lower()})"
                self.hold(i, DEVICE_ERROR, checked=bool(self.shake.checked[i]))

    def _encoder(self, i: int, frame: Frame, now_ns: int) -> None:
        pair = codec.pair_of(frame)
        if pair is None:
            self.counts.length += 1
            return
        self.turns[i], self.turns_s[i] = pair
        self.time_ns[i] = now_ns
        self.fresh[i] = True

    def _pair(self, i: int, frame: Frame) -> None:
        pair = codec.pair_of(frame)
        if pair is None:
            self.counts.length += 1
        elif frame.command == Command.IQ:
            self.iq_a[i] = pair[1]
        else:
            self.degc[i] = pair[1]

    def _heartbeat(self, i: int, frame: Frame, now_ns: int) -> None:
        beat = codec.heartbeat_of(frame)
        if beat is None:
            self.counts.length += 1
            return
        self.beat_ns[i], self.error[i], self.state[i] = now_ns, beat.error, beat.state
        self.beats[i] += 1
        if self._absent[i]:  # without power it forgets its error, its watchdog and its whole turns
            self._absent[i] = False
            self._was_reset(i, not beat.error and beat.state != AxisState.CLOSED_LOOP)
        if not self.pulling:
            return
        if self.shake.held[i]:
            if self.repaired_ns[i] and not beat.error and beat.state == AxisState.IDLE:
                self._check_again(i)
        elif beat.error:
            self._stopped(i, beat.error)
        elif beat.state != AxisState.CLOSED_LOOP:
            if self.closing_ns[i] and now_ns - self.closing_ns[i] <= self._beats_ns(HEARTBEATS_TO_CLOSE):
                return
            did = "did not enter" if self.closing_ns[i] else "left"
            self.reason = f"{self._label(i)}: {did} closed loop (state {beat.state})"
            self._was_reset(i, not self.closing_ns[i])
            self.hold(i, RESET)
        elif self.proven[i]:
            self.closing_ns[i] = 0
        elif now_ns - self.closing_ns[i] > self.starve_ns:
            self.refused[i] = True
            self.reason = f"{self._label(i)}: its own watchdog is off since its reset"
            self.hold(i, DEVICE_ERROR)

    def _label(self, i: int) -> str:
        device = self.settings.device[i]
        return f"motor {device.motor} (node {device.node})"

    def _stopped(self, i: int, error: int) -> None:
        """An axis that should pull shows an error."""
        if self.closing_ns[i] and not self.proven[i] and error & self.expired:
            self.proven[i] = True  # it was left without frames to see just that
            self.hold(i, RESET)
            return
        self.reason = f"{self._label(i)}: error {error:#x}"
        self.hold(i, DEVICE_ERROR if error & ~self.expired else HELD)

    def _was_reset(self, i: int, reset: bool) -> None:
        if reset:
            self.turns_lost[i] = True
            if self.shake.held[i]:
                self.shake.bits[i] |= RESET
            self.proven[i] = self.settings.without_watchdog

    def _check_again(self, i: int) -> None:
        """A held axis took its set-up: is its watchdog on, are its turns known?"""
        if self.refused[i]:
            return
        if any(self.replies.get((i, e), b"")[: len(v)] != v for e, v in self._watchdog.items()):
            return
        self.proven[i] |= bool(self._watchdog)
        if not self.take_home(i):
            return
        self.repaired_ns[i], self.shake.checked[i] = 0, True

    def take_home(self, i: int) -> bool:
        """Choose the whole turns of an axis that came back; if that cannot be it stays without torque."""
        try:
            self.choose_turns(i)
        except TurnsUnknown as error:
            self.refused[i], self.reason = True, str(error)
            self.hold(i, RESET)
        return not self.refused[i]

    def choose_turns(self, i: int) -> None:
        """Whole turns of axis ``i`` by its travel; raises TurnsUnknown."""
        self.map.resolve(i, float(self.turns[i]), bool(self.turns_lost[i]))
        self.turns_lost[i] = False

    def _beats_ns(self, n: int) -> int:
        """Duration of n heartbeats."""
        return n * self.settings.heartbeat_ms * 1_000_000

    def begin(self, held: bool = False, bits: int = 0) -> None:
        """All axes were set up and closed: by ``activate``, or held after a loss."""
        self.closing_ns[:] = self.repaired_ns[:] = 0
        self.refused[:] = False
        self.shake.begin(held, bits)

    def hold(self, i: int, bits: int, checked: bool = False) -> None:
        """No torque for axis ``i``, and why; what was asked of it before is forgotten."""
        self.closing_ns[i] = self.repaired_ns[i] = 0
        self.shake.hold(i, bits, checked)

    def needs_set_up(self, i: int, now_ns: int) -> bool:
        """Whether the set-up of a held axis has to be written (again) now; its heartbeat confirms it later.

        The answer to a set-up may wait behind other frames: an axis that is asked to close its loop before
        it came would seem to have left it at once.
        """
        due = now_ns - self.repaired_ns[i] > self._beats_ns(HEARTBEATS_TO_REPAIR)
        if self.shake.checked[i] or not due:
            return False
        self.repaired_ns[i] = now_ns
        return True

    def lost(self) -> None:
        """The bus is gone: how each axis comes back tells whether it was reset."""
        self._absent[:] = self.pulling

    def went_silent(self, i: int) -> None:
        """No heartbeat for too long: no torque, and a look at how it comes back."""
        if not self.shake.held[i]:
            self.reason = f"{self._label(i)} is silent"
        self._absent[i] = True
        self.hold(i, HELD)

    def silent(self, now_ns: int) -> BoolArray:
        """Axes without a heartbeat for too long."""
        quiet: BoolArray = (now_ns - self.beat_ns) > self._beats_ns(HEARTBEATS_MISSED)
        return quiet

    def fill(self, measurement: RecordArray, now_ns: int) -> int:
        """Write the newest feedback into the measurement; returns channels with a status."""
        x, m, ratio = measurement[0], self.map.motors, self.map
        stale_ns = 3 * self.settings.feedback_ms * 1_000_000
        bits: NDArray[Any] = self.shake.bits.copy()
        bits |= np.where((now_ns - self.time_ns) > stale_ns, STALE, 0).astype(np.uint32)
        seen = self.time_ns > 0
        bits = np.where(seen, bits, bits | MISSING).astype(np.uint32)
        use = m[seen]
        x["motor_angle_rad"][use] = ratio.angle_rad(self.turns)[seen]
        x["motor_speed_rad_s"][use] = (self.turns_s * TURN_RAD * ratio.sign / ratio.ratio)[seen]
        x["motor_current_a"][use] = (self.iq_a * ratio.sign)[seen]
        x["motor_temperature_degc"][use] = self.degc[seen]
        x["motor_time_ns"][use] = self.time_ns[seen]
        x["motor_status"][m] = bits
        x["time_ns"] = now_ns
        return int((bits != 0).sum())
