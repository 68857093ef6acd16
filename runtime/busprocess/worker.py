"""The bus process: opens one driver and exchanges as fast as its bus allows; started by the guardian.

``python -m runtime.busprocess.worker BLOCK_FD CALLS_FD PARENT_PID SPEC_JSON``. A command that is too old is
taken for none: the motors go limp although this process lives. A lost bus is opened again with growing
pauses; what comes back is held by the hand-shake of ``drivers.hal``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from typing import Any, Final

from drivers.errors import DriverError
from drivers.hal import Bus, Reporting
from drivers.registry import ForeignDriver, family, opened
from drivers.slots import NONE, indices, limp, mark, wanted_on
from runtime.busprocess.block import Block, Phase
from runtime.busprocess.calls import Line, setups_of
from runtime.busprocess.rights import take_rights
from runtime.realtime import die_with_parent, quiet
from signals.clock import now_ns
from signals.foreign import told
from signals.modes import BusStatus, ChannelStatus
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, new

LOST_NS: Final = 200_000_000
"""How long a bus may be lost before it is opened again."""
PAUSES_S: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
REPORT_NS: Final = 200_000_000
IDLE_S: Final = 0.002
HELD: Final = int(ChannelStatus.HELD)


def rehearse() -> None:
    """The cycle's own calls once, on a block of its own: imported and compiled before a motor is switched on.

    From ``activate`` on the devices' watchdogs run; the first look into the mailbox alone would cost more
    than they allow where its laws have to be loaded, or compiled.
    """
    block, command = Block.create(), new(COMMAND)
    block.post_command(command)
    block.take_command(command)
    block.post_measurement(new(MEASUREMENT))
    block.close()
    wanted_on(command, NONE)
    limp(command)
    mark(new(MEASUREMENT), NONE, NONE, NONE, HELD)


class Worker:
    """One driver and its cycle.

    Args:
        block: shared memory.
        line: calls from the control process.
        spec: settings, names, readonly.
    """

    def __init__(self, block: Block, line: Line, spec: dict[str, Any]) -> None:
        self.block, self.line = block, line
        block.say("doing", "loading the compiled laws")
        rehearse()
        block.say("doing", "loading its driver")
        found = family(spec["settings"]["family"])
        settings = found.settings.model_validate_json(json.dumps(spec["settings"]))
        names: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in spec["names"].items()}
        self.readonly = bool(spec["readonly"])
        hand = HandNames(**names)
        block.say("doing", "opening its devices")
        self.bus: Bus = opened(found, settings, hand, self.readonly)
        self._motors = indices(settings.motors(hand), hand.motors)
        self._command_age_ns = int(spec["command_age_s"] * 1e9)
        """Age of the control process' heartbeat above which its command counts for nothing."""
        self._resumed = False
        """A worker before us died, or the control process stalled: HELD until the command was at rest."""
        self._newest, self.command, self.measurement = new(COMMAND), new(COMMAND), new(MEASUREMENT)
        self._phase, self._beat = block.field("phase"), block.field("beat_ns")
        self._status, self._exchanges = block.field("status"), block.field("exchanges")
        self._control_beat = block.field("control_beat_ns")
        self._lost_since_ns = self._retry_ns = self._report_ns = 0
        self._tries = 0
        self._running = False

    def resume(self) -> None:
        """After a crash: the set-up of the worker before us, without torque until the hand-shake."""
        if self.block.field("active")[0] and not self.readonly:
            self.bus.configure(setups_of(self.block.said("setups")))
            self.bus.activate()
            self._running = self._resumed = True

    def enter(self, phase: Phase) -> None:
        """Say where we stand; the heartbeat first, for the guardian judges its age by the phase."""
        self._beat[0] = now_ns()
        self._phase[0] = phase

    def ready(self) -> None:
        """Opened, resumed and about to serve."""
        self.enter(Phase.RUNNING if self._running else Phase.READY)

    def serve(self) -> None:
        """Until the stop flag or a signal; the motors are let go whatever ends it."""
        stop = self.block.field("stop")
        try:
            while not stop[0]:
                message = self.line.receive(0.0)
                if message is not None:
                    self._answer(message)
                self._beat[0] = now_ns()
                if self._running or self.readonly:
                    self._cycle()
                else:
                    time.sleep(IDLE_S)
        finally:
            self.bus.deactivate()

    # --- calls ----------------------------------------------------------------------------------------------

    def _answer(self, message: dict[str, Any]) -> None:
        self._phase[0] = Phase.BUSY
        try:
            answer = {"ok": self._called(message)}
        except Exception as error:  # whatever a driver raises, who asked is told
            kind, text = _said(error)
            answer = {"error": kind, "text": text}
        answer["number"] = message.get("number", 0)
        if self._lost_since_ns:
            self.enter(Phase.LOST)
        else:
            self.ready()
        try:
            self.line.send(answer)
        except OSError:  # who asked is gone, and with it everybody who may command these motors
            self.block.field("stop")[0] = 1

    def _called(self, message: dict[str, Any]) -> Any:
        call = message["call"]
        if call == "configure":
            self.bus.configure(setups_of(message["setups"]))
            self.block.say("setups", message["setups"])
        elif call == "activate":
            self.bus.activate()
            self.block.field("active")[0] = 1
            self._running = True
        elif call == "deactivate":
            self.block.field("active")[0] = 0
            self._running = False
            return self.bus.deactivate()
        elif call == "recover":
            self.bus.recover()
            self._lost_since_ns = 0
        else:
            raise DriverError(f"no call {call!r}")
        return True

    # --- the cycle ------------------------------------------------------------------------------------------

    def _cycle(self) -> None:
        self.block.take_command(self._newest)
        self.command[:] = self._newest
        now = now_ns()
        if now - int(self._control_beat[0]) > self._command_age_ns:
            self._resumed = True
            limp(self.command)
        elif self._resumed:
            self._resumed = wanted_on(self.command, self._motors) > 0
            limp(self.command)
        status = self.bus.exchange(self.command, self.measurement, now)
        if self._resumed:
            mark(self.measurement, self._motors, NONE, NONE, HELD)
        self.block.post_measurement(self.measurement)
        self._beat[0], self._status[0] = now_ns(), status
        self._exchanges[0] += 1
        if status & BusStatus.LOST:
            self._lost(now)
        elif self._lost_since_ns:
            self._found()
        if now >= self._report_ns:
            self._report_ns = now + REPORT_NS
            self._report()

    def _report(self) -> None:
        if isinstance(self.bus, Reporting):
            report = self.bus.report()
            self.block.say("reason", report.reason)
            self.block.say("report", json.dumps({"counts": report.counts, "place": report.place}))

    def _lost(self, now: int) -> None:
        if not self._lost_since_ns:
            self._lost_since_ns = now
            self._retry_ns = now + LOST_NS
            self._tries = 0
            self._phase[0] = Phase.LOST
            self._report()
        time.sleep(IDLE_S)
        if now < self._retry_ns:
            return
        try:
            self.bus.recover()
        except DriverError as error:
            self.block.say("reason", str(error))
            pause_s = PAUSES_S[min(self._tries, len(PAUSES_S) - 1)]
            self._tries += 1
            self._retry_ns = now_ns() + int(pause_s * 1e9)
        else:
            self.block.field("recoveries")[0] += 1
            self._found()

    def _found(self) -> None:
        self._lost_since_ns = 0
        self.ready()


def _said(error: Exception) -> tuple[str, str]:
    """Kind and sentence of an error, for the control process."""
    if isinstance(error, DriverError):
        return type(error).__name__, str(error)
    foreign = told(error)
    if foreign:
        return ForeignDriver.__name__, foreign
    return DriverError.__name__, f"{type(error).__name__}: {error}"


def main() -> None:
    """Entry point of the child process."""
    descriptor, calls, parent = (int(word) for word in sys.argv[1:4])
    spec = json.loads(sys.argv[4])
    block = Block(descriptor)
    stop = block.field("stop")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.__setitem__(0, 1))
    if not die_with_parent(parent, signal.SIGTERM):
        os._exit(1)
    line = Line(socket.socket(fileno=calls))
    block.field("worker_pid")[0] = os.getpid()
    block.field("beat_ns")[0] = now_ns()
    try:
        worker = Worker(block, line, spec)
        worker.resume()
    except Exception as error:
        block.say("reason", "\n".join(_said(error)))
        block.field("phase")[0] = Phase.FAILED
        sys.exit(1)
    take_rights(bool(spec.get("realtime", True)))
    try:
        with quiet():
            worker.ready()
            worker.serve()
    except Exception as error:
        print(f"error: bus {spec['settings']['name']}: {_said(error)[1]}", file=sys.stderr)
        sys.exit(1)
    finally:
        worker.bus.close()
    block.field("phase")[0] = Phase.STOPPED


if __name__ == "__main__":
    main()
