"""What the driver knows of every servo between cycles: present, set up, pulling - and the work to get there.

Work on one servo is a generator that yields after each transaction; at most one step is done per cycle, so a
servo that comes back costs the others a millisecond a cycle, not a pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from drivers.dynamixel.cycle import Reply
from drivers.dynamixel.health import found_in
from drivers.dynamixel.port import ServoPort
from drivers.dynamixel.servo import Servo
from drivers.errors import BusLost, ConfigureError, DriverError, TurnsUnknown
from drivers.handshake import Handshake
from drivers.motors import MotorMap
from signals.layout import BoolArray, IntArray
from signals.modes import ChannelStatus
from signals.records import RecordArray

PROBE_NS: Final = 100_000_000
"""Pause between two pings of servos that are silent."""
DOUBTS: Final = 2
"""Pings without an answer after which a servo is silent."""
REBOOTS_MAX: Final = 3
"""Reboots of one servo in a run; each needs a command at rest, so an operator stands behind it."""
RESET: Final = int(ChannelStatus.RESET)
HELD: Final = int(ChannelStatus.HELD)


class Now(NamedTuple):
    """Who takes part in the present cycle."""

    rows: IntArray
    """Servos in the chain, shape (k,)."""
    enabled: BoolArray
    """In the chain with torque on, or silent and perhaps with torque on, shape (n,): they get a goal."""
    may_pull: BoolArray
    """In the chain, enabled and not held, shape (n,)."""
    held: bool
    """Any servo is held."""


class Tracking:
    """State of all servos of a chain; arrays of shape (n,).

    Args:
        servos: the servos.
        port: their line.
        motors: map of angles; whole turns are chosen in it.
        watchdog_ms: their own watchdog.
    """

    def __init__(
        self, servos: tuple[Servo, ...], port: ServoPort, motors: MotorMap, watchdog_ms: int
    ) -> None:
        self.servos, self._port, self._map, self._watchdog_ms = servos, port, motors, watchdog_ms
        n = len(servos)
        self.shake = Handshake(motors.motors)
        self.present: BoolArray = np.ones(n, dtype=np.bool_)
        self.enabled: BoolArray = np.zeros(n, dtype=np.bool_)
        self._unsure: BoolArray = np.zeros(n, dtype=np.bool_)
        """Silent, its torque perhaps on: packets for others feed its watchdog too, so it is told goals of
        nothing until it is set up again."""
        self.temperature_degc = np.zeros(n)
        self._reboot: BoolArray = np.zeros(n, dtype=np.bool_)
        self._reboots = np.zeros(n, dtype=np.int64)
        self._homeless: BoolArray = np.zeros(n, dtype=np.bool_)
        """Whole turns unknown: shown, but no torque until the hand is homed anew."""
        self._doubts = np.zeros(n, dtype=np.int64)
        self._doubted = False
        self._key = b""
        self._now = Now(np.arange(n), self.enabled, self.enabled, True)
        self._chores: deque[tuple[int, Iterator[None]]] = deque()
        self._probe_ns = self._probes = 0
        self.active = False
        self.reason = ""

    def configure(self, i: int) -> None:
        """Set servo ``i`` up at once (not in the loop)."""
        servo = self.servos[i]
        if servo.setup is None:
            raise ConfigureError(servo.label, "set-up", "written before activate", "nothing")
        for _ in servo.setup_steps(servo.setup, self._map):
            pass
        self._unsure[i] = False

    def activate(self) -> None:
        """Torque on with zero goals in every servo."""
        for servo in self.servos:
            if servo.setup is None:
                raise ConfigureError(servo.label, "set-up", "written before activate", "nothing")
            for _ in servo.enable_steps(self._watchdog_ms):
                pass
        self.present[:], self.enabled[:] = True, True
        self.shake.begin()
        self.active = True

    def restart(self, homeless: dict[int, TurnsUnknown]) -> None:
        """All servos were found and set up again after a loss, but for those whose turns are unknown."""
        self._chores.clear()
        self._doubts[:], self._homeless[:] = 0, False
        self.present[:], self.enabled[:] = True, False
        self.shake.begin(held=True, bits=HELD)
        for i in range(len(self.servos)):
            self._note_reset(i)
        for i, error in homeless.items():
            self._set_homeless(i, error)

    def _note_reset(self, i: int) -> None:
        """What the set-up of a servo that is held has found: it was reset, or silent alone."""
        if self.servos[i].was_reset:
            self.shake.bits[i] |= RESET

    def _set_homeless(self, i: int, error: TurnsUnknown) -> None:
        self.reason = str(error)
        self.present[i] = self._homeless[i] = True
        self._unsure[i] = False
        self.shake.hold(i, RESET)

    def now(self) -> Now:
        """Who takes part; computed only when something changed."""
        held, unsure = self.shake.held, self._unsure
        key = self.present.tobytes() + self.enabled.tobytes() + held.tobytes() + unsure.tobytes()
        if key != self._key:
            enabled = self.enabled & self.present
            rows = np.nonzero(self.present)[0]
            may_pull = enabled & ~held & ~unsure
            self._key, self._now = key, Now(rows, enabled | unsure, may_pull, bool(held.any()))
        return self._now

    def release(self, command: RecordArray) -> None:
        """Hand-shake: begin to enable servos whose command is at rest, to repair those that need it."""
        busy = {i for i, _ in self._chores}
        for i in self.shake.released(command):
            if self.active and not self.enabled[i] and i not in busy:
                self._chores.append((i, self._enabling(i)))
        broken = self.shake.held & ~self.shake.checked & self.present & ~self._homeless
        broken &= self.shake.at_rest(command)
        for j in np.nonzero(broken)[0].tolist():
            if j not in busy and self._reboots[j] < REBOOTS_MAX:
                self._chores.append((j, self._returning(j)))

    def exclude(self, reply: Reply) -> None:
        """Take the first servo that broke the chain out of it; pings decide whether it is really silent."""
        for i in np.nonzero(self.present)[0]:
            if self.servos[i].id not in reply.by_id():
                self.present[i], self._doubts[i] = False, DOUBTS
                self._doubted = True
                return

    def _doubt(self, i: int) -> None:
        """Ping a servo whose reply was missing: a lost reply costs it a cycle, silence its torque."""
        if self._port.answers(self.servos[i].id):
            self.present[i], self._doubts[i] = True, 0
            return
        self._doubts[i] -= 1
        if not self._doubts[i]:
            self._unsure[i] |= self.enabled[i]
            self.enabled[i] = False
            self.shake.hold(i, HELD)
            self.reason = f"{self.servos[i].label} is silent"

    def check(self, reply: Reply) -> None:
        """Compare the slow block with what it should be."""
        for i, servo in enumerate(self.servos):
            part = reply.by_id().get(servo.id)
            if part is None:
                continue
            found = found_in(servo, part[1], bool(self.enabled[i]) and servo.torque_on)
            self.temperature_degc[i] = found.temperature_degc
            news = not self.shake.held[i] or (found.reboot and not self._reboot[i])
            if found.problem and news:
                self.reason = f"{servo.label}: {found.problem}"
                self.enabled[i] = False
                self._reboot[i] = found.reboot
                self.shake.hold(i, found.bits)

    def chore(self, now_ns: int) -> None:
        """At most one transaction for a servo that is not (yet) part of the cycle; raises BusLost."""
        if self._doubted:
            doubted = np.nonzero(self._doubts)[0]
            self._doubted = doubted.size > 0
            if self._doubted:
                self._doubt(int(doubted[0]))
        elif self._chores:
            i, steps = self._chores[0]
            try:
                next(steps)
            except StopIteration:
                self._chores.popleft()
            except BusLost:
                raise
            except TurnsUnknown as error:
                self._chores.popleft()
                self._set_homeless(i, error)
            except DriverError as error:
                self._chores.popleft()
                self.reason = str(error)
                self.present[i], self._unsure[i] = False, True
                self.shake.hold(i, HELD)
        elif now_ns >= self._probe_ns and self.now().rows.size < len(self.servos):
            self._probe_ns, self._probes = now_ns + PROBE_NS, self._probes + 1
            absent = np.nonzero(~self.present)[0]
            i = int(absent[self._probes % absent.size])
            if self._port.answers(self.servos[i].id):
                self._chores.append((i, self._returning(i)))

    def _enabling(self, i: int) -> Iterator[None]:
        yield from self.servos[i].enable_steps(self._watchdog_ms)
        self.enabled[i] = True

    def _returning(self, i: int) -> Iterator[None]:
        servo = self.servos[i]
        if self._reboot[i]:
            self._reboots[i] += 1
            self._reboot[i] = False
            yield from servo.reboot_steps()
        if servo.setup is not None:
            yield from servo.setup_steps(servo.setup, self._map)
            self._note_reset(i)
        self._unsure[i] = False
        self.shake.checked[i] = self.present[i] = True
