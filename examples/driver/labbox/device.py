"""The box as a bus of flexor: one request and one reply in every exchange."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from drivers.errors import BusLost, ConfigureError, ReadOnly
from drivers.family import Family
from drivers.hal import Bus, BusReport, Capabilities, MotorSetup
from drivers.handshake import Handshake
from drivers.locks import BusLock
from drivers.slots import indices, mark
from labbox import codec
from labbox.search import SEARCH
from labbox.settings import BoxSettings
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.names import HandNames
from signals.records import RecordArray

NONE: Final = np.zeros(0, dtype=np.int64)
STALE: Final = int(ChannelStatus.STALE)
START_S: Final = 1.0


class BoxBus:
    """One box; see ``drivers.hal.Bus``.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: never write. This box talks only when asked, so a watcher of it sees nothing.
        clock: monotonic nanoseconds.

    Raises:
        BusBusy, BusLost: somebody else has it, or it does not answer.
    """

    def __init__(
        self,
        settings: BoxSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.settings, self.readonly, self._clock = settings, readonly, clock
        self._motors = indices(settings.motor, names.motors)
        self._halls = indices(settings.hall, names.tendons)
        n = self._motors.shape[0]
        self._limit_a, self._current_a = np.zeros(n), np.zeros(n)
        self._hands = Handshake(self._motors)
        self._boot: int | None = None
        self._seq = self._bad = 0
        self._active = False
        self._lock: BusLock | None = None
        self._socket: socket.socket | None = None
        self.capabilities = Capabilities(
            family=settings.family,
            n_motors=n,
            n_halls=self._halls.shape[0],
            n_axes=0,
            motor_modes=frozenset({MotorMode.OFF, MotorMode.CURRENT}),
            rate_max_hz=1000.0,
            in_control_process=False,
            device_watchdog_s=codec.WATCHDOG_S,
        )
        self._lock = BusLock(settings.identity(), settings.name)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((settings.host, settings.port))
        self._socket.setblocking(False)
        self._heard_ns = clock()
        if not readonly:
            self.recover()

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Limits go with every request; the box keeps none."""
        for setup in setups:
            found = np.nonzero(self._motors == setup.index)[0]
            if found.size == 0:
                raise ConfigureError(f"motor {setup.name}", "bus", "one of this box", None)
            self._limit_a[found[0]] = setup.current_limit_a

    def activate(self) -> None:
        """Currents may flow from the next command on."""
        if self.readonly:
            raise ReadOnly(self.settings.name)
        self._hands.begin()
        self._active = True

    def deactivate(self) -> bool:
        """Zero current; True if the box shows it."""
        self._active = False
        self._current_a[:] = 0.0
        if self.readonly:
            return True
        found = self._asked(self._clock() + int(START_S * 1e9))
        return found is not None and not found.motors["current_a"].any()

    def recover(self) -> None:
        """Wait for an answer; raises ``BusLost`` if none comes."""
        until_ns = self._clock() + int(START_S * 1e9)
        while self._clock() < until_ns:
            found = self._asked(self._clock() + self._timeout_ns)
            if found is not None:
                bits = ChannelStatus.HELD if found.boot == self._boot else ChannelStatus.RESET
                self._heard_ns, self._boot = self._clock(), found.boot
                self._hands.begin(held=True, bits=int(bits))
                return
        place = f"{self.settings.host}:{self.settings.port}"
        raise BusLost(self.settings.name, f"{place}: no answer", "check the cable and the box's supply")

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """One request, one reply; never raises, never waits longer than ``reply_timeout_ms``."""
        if self.readonly:
            mark(measurement, self._motors, self._halls, NONE, STALE)
            return int(BusStatus.READ_ONLY | BusStatus.TIMEOUT)
        self._hands.released(command)
        mode, wanted_a = command["motor_mode"][0], command["motor_current_a"][0]
        pulling = self._active & ~self._hands.held & (mode[self._motors] == MotorMode.CURRENT)
        self._current_a[:] = np.where(pulling, wanted_a[self._motors], 0.0)
        begun_ns = self._clock()
        found = self._asked(begun_ns + self._timeout_ns)
        if found is None:
            mark(measurement, self._motors, self._halls, NONE, STALE)
            return int(BusStatus.TIMEOUT | BusStatus.LOST if self._lost else BusStatus.TIMEOUT)
        self._heard_ns = self._clock()
        self._look_for_trouble(found)
        self._fill(found, measurement, begun_ns)
        return int(BusStatus.PARTIAL) if self._hands.bits.any() else 0

    def report(self) -> BusReport:
        """State for the slow path."""
        silent_ms = (self._clock() - self._heard_ns) * 1e-6
        return BusReport(
            name=self.settings.name,
            family=self.settings.family,
            place=f"{self.settings.host}:{self.settings.port}",
            exchanges=self._seq,
            lost=self._lost,
            reason=f"silent for {silent_ms:.0f} ms" if self._lost else "",
            counts={"damaged": self._bad},
        )

    def close(self) -> None:
        """Release socket and lock; safe to call twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._lock is not None:
            self._lock.release()

    @property
    def _timeout_ns(self) -> int:
        return int(self.settings.reply_timeout_ms * 1e6)

    @property
    def _lost(self) -> bool:
        return self._clock() - self._heard_ns > self.settings.lost_ms * 1e6

    def _look_for_trouble(self, found: codec.Reply) -> None:
        """A box that restarted, or whose watchdog tripped, holds its motors until the command is at rest."""
        bits = int(ChannelStatus.RESET) if found.boot != self._boot else 0
        bits |= int(ChannelStatus.HELD) if found.tripped else 0  # the computer was silent: no reset
        self._boot = found.boot
        for i in range(self._motors.shape[0]) if bits else ():
            self._hands.hold(i, bits, checked=True)  # the box forgets nothing that would have to be checked

    def _fill(self, found: codec.Reply, measurement: RecordArray, time_ns: int) -> None:
        x, motors, halls = measurement[0], self._motors, self._halls
        x["motor_angle_rad"][motors] = found.motors["angle_rad"]
        x["motor_speed_rad_s"][motors] = found.motors["speed_rad_s"]
        x["motor_current_a"][motors] = found.motors["current_a"]
        x["motor_time_ns"][motors] = x["hall_time_ns"][halls] = time_ns
        x["motor_status"][motors] = self._hands.bits
        x["hall_count"][halls] = x["hall_fine_count"][halls] = found.halls
        x["hall_status"][halls] = 0
        x["seq"], x["time_ns"] = self._seq, time_ns

    def _asked(self, until_ns: int) -> codec.Reply | None:
        """Send the present currents, wait for the answer to them."""
        if self._socket is None:
            return None
        self._seq += 1
        try:
            self._socket.send(codec.request(self._seq, self._current_a, self._limit_a))
            while (left_ns := until_ns - self._clock()) > 0:
                if not select.select([self._socket], [], [], left_ns * 1e-9)[0]:
                    break
                datagram = self._socket.recv(codec.LONGEST)
                found = codec.replied(datagram, self._motors.shape[0], self._halls.shape[0])
                self._bad += found is None
                if found is not None and found.seq == self._seq:
                    return found
        except OSError:  # nobody listens there
            return None
        return None


def open_box(settings: BoxSettings, names: HandNames, readonly: bool) -> Bus:
    """Open a box for a hand."""
    return BoxBus(settings, names, readonly)


FAMILY: Final = Family(
    name="lab-box", settings=BoxSettings, open=open_box, in_control_process=False, search=SEARCH
)
