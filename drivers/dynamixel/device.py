"""Driver of a chain of Dynamixel servos: one sync write and one fast sync read per cycle.

A servo that stays silent is taken out of the chain after one deadline and pinged between the cycles; one that
comes back is set up again step by step and waits for the hand-shake of ``drivers.hal``. A slow block (errors,
torque, watchdog, temperature) is read every 50 ms.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from drivers.dynamixel.cycle import BLOCK_BYTES, Chain, Reply, Requests
from drivers.dynamixel.laws import BLOCK
from drivers.dynamixel.listening import Listener
from drivers.dynamixel.models import servo_model
from drivers.dynamixel.port import ServoPort
from drivers.dynamixel.search import SEARCH
from drivers.dynamixel.servo import CHECKED, HAL_MODES, Servo, operating_mode
from drivers.dynamixel.settings import DynamixelSettings
from drivers.dynamixel.tracking import Tracking
from drivers.errors import BusLost, ConfigureError, DriverError, ReadOnly, TurnsUnknown
from drivers.family import Family
from drivers.hal import BusReport, Capabilities, MotorSetup
from drivers.motors import MotorMap
from drivers.serialport import Clock, LineMaker
from drivers.slots import NONE, indices, mark
from signals.layout import BoolArray
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.names import HandNames
from signals.records import MEASUREMENT, RecordArray, new

SLOW_NS: Final = 50_000_000
STALE: Final = int(ChannelStatus.STALE)


class DynamixelBus:
    """One chain of servos.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: refuse every write; servos answer only when asked, so only what another computer asks on
            the same wires is seen.
        clock: monotonic nanoseconds.
        line: makes the line of a chain that is not on a port of this computer.

    Raises:
        BusBusy, BusLost: the line is taken or missing.
        ReplyTimeout, WrongDevice, DuplicateId: a servo is silent, another model, or there twice.
    """

    def __init__(
        self,
        settings: DynamixelSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        line: LineMaker | None = None,
    ) -> None:
        self.settings, self.readonly, self._clock = settings, readonly, clock
        turnaround_ns = (settings.adapter_latency_us + settings.reply_margin_us) * 1000
        spin_ns = settings.spin_us * 1000
        self._port = ServoPort(
            settings.port, settings.baud, settings.name, turnaround_ns, readonly, clock, spin_ns, line
        )
        self._motors = indices(settings.motors(names), names.motors)
        motors = MotorMap(settings.device, self._motors)
        self.servos = tuple(
            Servo(d, i, servo_model(d.model), self._port) for i, d in enumerate(settings.device)
        )
        self._chain = Chain(self.servos, motors)
        self._port.rehearse = self._chain.rehearse
        self._track = Tracking(self.servos, self._port, motors, settings.watchdog_ms)
        self._slow_ns = self._slow_turn = self._exchanges = self.round_trip_ns = 0
        self._block_ns = self._port.wire_ns(BLOCK)
        self._lost, self._lost_why = False, ""
        self._listener = Listener(self._chain, self._port, motors, self._block_ns) if readonly else None
        try:
            if not readonly:
                self._identify()
        except BaseException:
            self._port.close()
            raise
        self.capabilities = self._capabilities()
        mark(new(MEASUREMENT), self._motors, NONE, NONE, STALE)  # compiled before the first cycle

    def _identify(self) -> None:
        for servo in self.servos:
            servo.identify()
            servo.have_it_answer()
        self._chain.fast = all(s.fast for s in self.servos)
        self._block_ns = self._port.wire_ns(self._chain.block_bytes)

    def _capabilities(self) -> Capabilities:
        request, reply, _ = self._chain.requests(self._track.present)
        goals = 14 + 3 * len(self.servos)
        models = [s.model for s in self.servos]
        offered = [m for m in HAL_MODES if all(operating_mode(model, m) is not None for model in models)]
        lsb_a = float(self._chain.lsb_a.min())
        return Capabilities(
            family="dynamixel",
            n_motors=len(self.servos),
            n_halls=0,
            n_axes=0,
            motor_modes=frozenset([MotorMode.OFF, *offered]),
            rate_max_hz=1e9 / self._port.wire_ns(goals + len(request) + reply),
            in_control_process=False,
            device_watchdog_s=self.settings.watchdog_ms * 1e-3,
            own_position_loop=True,
            current_max_a=lsb_a * 32767 if lsb_a > 0.0 else None,
        )

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Write limits and modes into every servo and read them back."""
        if self.readonly:
            return
        for setup in setups:
            found = np.nonzero(self._motors == setup.index)[0]
            if found.size == 0:
                raise ConfigureError(f"motor {setup.name}", "servo", "one of this chain", None)
            self.servos[found[0]].setup = setup
            self._track.configure(int(found[0]))
        self._chain.remember_setups()

    def activate(self) -> None:
        """Torque on with zero goals, watchdogs armed."""
        if self.readonly:
            raise ReadOnly(self.settings.name)
        self._track.activate()

    def deactivate(self) -> bool:
        """Torque off in every servo; True if all confirmed it."""
        self._track.active = False
        self._track.enabled[:] = False
        if self.readonly:
            return True
        confirmed = True
        for servo in self.servos:
            try:
                for name in ("bus_watchdog", "torque_enable"):
                    self._port.set(servo.id, servo.model.registers[name], 0, servo.label, name)
            except DriverError as error:
                self._track.reason, confirmed = str(error), False
        return confirmed

    def recover(self) -> None:
        """Open the line again and set every servo up as before; torque stays off until the hand-shake."""
        self._port.serial.open()
        self._port.give_up()
        if self.readonly:
            self._lost = False
            return
        self._identify()
        homeless = {}
        for i, servo in enumerate(self.servos):
            try:
                if servo.setup is not None:
                    self._track.configure(i)
            except TurnsUnknown as error:
                homeless[i] = error
        self._track.restart(homeless)
        self._lost = False

    def close(self) -> None:
        """Close the line and its lock."""
        self._port.close()

    def report(self) -> BusReport:
        """Counts and state for the slow path."""
        return BusReport(
            name=self.settings.name,
            family="dynamixel",
            place=f"{self.settings.port} at {self.settings.baud} baud",
            exchanges=self._exchanges,
            lost=self._lost,
            reason=self._lost_why if self._lost else (self._listener or self._track).reason,
            counts=self._port.counts.as_dict(),
            round_trip_ns=self.round_trip_ns,
        )

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Goals out, measurements in; see ``drivers.hal.Bus``."""
        self._exchanges += 1
        read_only = int(BusStatus.READ_ONLY) if self.readonly else 0
        if self._lost:
            mark(measurement, self._motors, NONE, NONE, STALE)
            return int(BusStatus.LOST) | read_only
        try:
            if self._listener is not None:
                return self._listener.exchange(measurement, self._exchanges)
            status = self._cycle(command, measurement)
            self._track.chore(self._clock())
        except BusLost as error:
            self._lost, self._lost_why = True, str(error)
            mark(measurement, self._motors, NONE, NONE, STALE)
            return int(BusStatus.LOST) | read_only
        measurement["seq"][0] = self._exchanges
        return int(status)

    def _cycle(self, command: RecordArray, measurement: RecordArray) -> BusStatus:
        track, chain = self._track, self._chain
        now = track.now()
        if now.held:
            track.release(command)
            now = track.now()
        if not now.rows.size:
            mark(measurement, self._motors, NONE, NONE, STALE)
            return BusStatus.TIMEOUT
        goals = chain.goals(command, now.may_pull, now.enabled, track.shake.bits)
        reads = chain.requests(track.present)
        begun_ns, errors = self._clock(), self._port.counts.errors()
        reply = self._ask(goals + reads.fast, reads.reply_bytes, BLOCK_BYTES, now.rows.size)
        arrived_ns = self._clock()
        self.round_trip_ns = arrived_ns - begun_ns
        times_ns = (arrived_ns, self._block_ns)
        answered = chain.fill(
            reply, now.rows, measurement, times_ns, track.shake.bits, track.temperature_degc
        )
        if answered is None:  # also while a servo is out of the chain: the others' health goes on
            self._check_some(reads, arrived_ns)
            if now.rows.size == len(self.servos):
                return BusStatus.OK
        return self._incomplete(answered, reply, errors, measurement)

    def _check_some(self, reads: Requests, now_ns: int) -> None:
        """Read the slow block of the servos that have it at one place, in turn; each once in ``SLOW_NS``."""
        if now_ns < self._slow_ns:
            return
        self._slow_ns = now_ns + SLOW_NS // len(reads.slow)
        self._slow_turn += 1
        request, wanted = reads.slow[self._slow_turn % len(reads.slow)]
        self._track.check(self._ask(request, reads.reply_bytes, len(CHECKED), wanted))

    def _incomplete(
        self, answered: BoolArray | None, reply: Reply, errors: int, measurement: RecordArray
    ) -> BusStatus:
        """Some servo did not answer, or is out of the chain."""
        present = self._track.present
        answered = present if answered is None else answered
        mark(measurement, self._motors[~answered], NONE, NONE, STALE)
        if self._port.counts.errors() > errors:
            return BusStatus.CORRUPT | BusStatus.PARTIAL
        if not answered[present].all():
            self._track.exclude(reply)
            return BusStatus.TIMEOUT | BusStatus.PARTIAL
        return BusStatus.PARTIAL

    def _ask(self, request: bytes, reply_bytes: int, length: int, wanted: int) -> Reply:
        """Send, and collect until ``wanted`` servos answered or the deadline passed."""
        reply = Reply(length)
        until_ns = self._port.begin(request, reply_bytes)
        while len(reply.parts) < wanted and self._clock() < until_ns:
            found = self._port.whole(until_ns)
            if isinstance(found, bytes):
                reply.whole = found
                return reply
            if reply.take(found):
                return reply
            if self._port.parser.damaged:
                break
        if len(reply.parts) < wanted:
            if self._chain.fast:
                reply.salvage(self._port.parser.damaged or self._port.parser.pending)
            self._port.give_up()
        return reply


FAMILY: Final = Family(
    name="dynamixel", settings=DynamixelSettings, open=DynamixelBus, in_control_process=False, search=SEARCH
)
