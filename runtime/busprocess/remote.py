"""The control process' side of a bus process: a ``Bus`` whose exchange is two copies in shared memory."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from typing import Any, Final

from drivers.errors import BusLost, DriverError
from drivers.family import BusSettings
from drivers.hal import BusReport, Capabilities, MotorSetup
from drivers.slots import channels_of
from runtime.busprocess.block import Block, Phase
from runtime.busprocess.calls import Line, raised, setups_json
from runtime.effort import IDLE_S, Effort
from signals.clock import now_ns
from signals.modes import BusStatus, MotorMode
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, RecordArray, new

CALL_S: Final = 20.0
LOOK_S: Final = 0.1
"""How often a caller looks whether the process that should answer still lives."""
COMMAND_AGE_S: Final = 0.05
SILENT_NS: Final = 50_000_000
"""Time without a new record above which the bus counts as lost; a dead, hung or busy process posts none."""
FIRST_S: Final = 2.0
LOST, PARTIAL = int(BusStatus.LOST), int(BusStatus.PARTIAL)


class RemoteBus:
    """One bus in a process of its own; implements ``drivers.hal.Bus``.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: never write to the bus.
        realtime: ask for real-time priority.
        wait: wait until it is open; else ``wait_ready`` has to be called.
        command_age_s: age above which a command counts for nothing.

    Raises:
        DriverError: what the driver said when it opened the bus.
    """

    def __init__(
        self,
        settings: BusSettings,
        names: HandNames,
        readonly: bool = False,
        realtime: bool = True,
        wait: bool = True,
        command_age_s: float = COMMAND_AGE_S,
    ) -> None:
        self.settings = settings
        self._channels = channels_of(settings, names)
        self.block = Block.create()
        ours, theirs = socket.socketpair()
        self._line = Line(ours)
        spec = {
            "settings": json.loads(settings.model_dump_json()),
            "names": asdict(names),
            "readonly": readonly,
            "realtime": realtime,
            "command_age_s": command_age_s,
        }
        self._process = self._started(theirs, spec)
        theirs.close()
        self._status = self.block.field("status")
        self._fresh_ns = self._asked = 0
        self._control_beat = self.block.field("control_beat_ns")
        self._newest = new(MEASUREMENT)
        self._warm_up()
        if wait:
            try:
                self.wait_ready()
            except BaseException:
                self.close()
                raise

    def _started(self, theirs: socket.socket, spec: dict[str, Any]) -> subprocess.Popen[bytes]:
        descriptors = (self.block.descriptor, theirs.fileno())
        words = [sys.executable, "-m", "runtime.busprocess.guardian", *map(str, descriptors)]
        words += [str(os.getpid()), json.dumps(spec)]
        return subprocess.Popen(words, pass_fds=descriptors, stdin=subprocess.DEVNULL)

    def _warm_up(self) -> None:
        command, measurement = new(COMMAND), new(MEASUREMENT)
        self.block.post_command(command)
        self.block.post_measurement(measurement)
        self.block.take_measurement(measurement)
        self._channels.mark_stale(measurement)
        self._channels.merge(measurement, self._newest)
        self._newest = new(MEASUREMENT)

    def wait_ready(self) -> None:
        """Wait until the bus is open; raises what its driver said if it does not open."""
        phase, effort = self.block.field("phase"), Effort(IDLE_S)
        while int(phase[0]) == Phase.STARTING and effort.look(
            int(self.block.field("worker_pid")[0]) or self._process.pid
        ):
            time.sleep(0.005)
        if int(phase[0]) == Phase.FAILED:
            kind, _, text = self.block.said("reason").partition("\n")
            raise raised(kind, text)
        if int(phase[0]) == Phase.STARTING:
            doing = self.block.said("doing") or "starting Python"
            text = f"its process is not ready {effort.sentence()}; its last word was {doing!r}"
            hint = "flexor doctor looks at cache and computer, flexor scan at the devices"
            raise BusLost(self.settings.name, text, hint)

    @property
    def capabilities(self) -> Capabilities:
        """What the control process gets: newest records, whatever the rate of the bus."""
        return Capabilities(
            family=self.settings.family,
            n_motors=int((self._channels.motors >= 0).sum()),
            n_halls=int((self._channels.halls >= 0).sum()),
            n_axes=int((self._channels.axes >= 0).sum()),
            motor_modes=frozenset(MotorMode),
            rate_max_hz=1e5,
            in_control_process=True,
            device_watchdog_s=None,
        )

    def _call(self, message: dict[str, Any]) -> Any:
        self._send(message)
        return self._answer(message)

    def _send(self, message: dict[str, Any]) -> None:
        self._asked += 1
        try:
            self._line.send(message | {"number": self._asked})
        except OSError:
            raise self._gone(message["call"]) from None

    def _gone(self, call: str) -> BusLost:
        reason = " ".join(self.block.said("reason").split()) or "nothing said why"
        return BusLost(self.settings.name, f"its process ended before {call}: {reason}", "start anew")

    def _answer(self, message: dict[str, Any]) -> Any:
        answer, until = None, time.monotonic() + CALL_S
        restarts = int(self.block.field("restarts")[0])
        while answer is None and time.monotonic() < until:
            ended = self._process.poll() is not None  # asked first: an answer may still be on the line
            answer = self._line.receive(LOOK_S)
            if answer is not None and answer["number"] != self._asked:
                answer = None  # to a call that nobody waited for, because another bus had refused
                continue
            if answer is None and (ended or int(self.block.field("restarts")[0]) != restarts):
                raise self._gone(message["call"])
        if answer is None:
            raise BusLost(self.settings.name, f"its process did not answer {message['call']}", "see its log")
        if "error" in answer:
            raise raised(answer["error"], answer["text"])
        return answer["ok"]

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Write the set-ups of this bus' motors."""
        self.begin_configure(setups)
        self.end_configure()

    def begin_configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Send the set-ups; several buses work on theirs at the same time."""
        mine = tuple(s for s in setups if s.index in self._channels.motors)
        self._send({"call": "configure", "setups": setups_json(mine)})

    def end_configure(self) -> None:
        """Wait for the answer of ``begin_configure``."""
        self._answer({"call": "configure"})

    def activate(self) -> None:
        """Torque on with zero goals; the cycle of the bus begins."""
        self.begin_activate()
        self.end_activate()

    def begin_activate(self) -> None:
        """Send the call."""
        self._control_beat[0] = now_ns()
        self._send({"call": "activate"})

    def end_activate(self) -> None:
        """Wait for the answer of ``begin_activate`` and for the first record."""
        self._answer({"call": "activate"})
        until = time.monotonic() + FIRST_S
        while not self.block.take_measurement(self._newest):
            if time.monotonic() > until:
                raise BusLost(
                    self.settings.name, f"no measurement within {FIRST_S:.0f} s", "see its messages"
                )
            self._control_beat[0] = now_ns()
            time.sleep(0.0005)
        self._fresh_ns = now_ns()

    def deactivate(self) -> bool:
        """Zero torque; True if the devices confirmed it."""
        try:
            return bool(self._call({"call": "deactivate"}))
        except DriverError:
            return False

    def recover(self) -> None:
        """Have the bus opened again at once (its process tries by itself, with growing pauses)."""
        self._call({"call": "recover"})

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Newest command there, newest measurement here; see ``drivers.hal.Bus``."""
        self._control_beat[0] = now_ns
        self.block.post_command(command)
        if self.block.take_measurement(self._newest):
            self._fresh_ns = now_ns
        bad = self._channels.merge(self._newest, measurement)
        measurement["time_ns"][0] = now_ns
        silent = now_ns - self._fresh_ns > SILENT_NS
        status = LOST if silent else int(self._status[0]) & ~PARTIAL | (PARTIAL if bad else 0)
        if status & LOST:  # the word may be newer than the samples
            self._channels.mark_stale(measurement)
        return status

    def forward(self, command: RecordArray) -> None:
        """Newest command there at once; see ``drivers.hal.Forwarding``."""
        self.block.post_command(command)

    def report(self) -> BusReport:
        """Counts and state since the start."""
        text = self.block.said("report")
        found: dict[str, Any] = json.loads(text) if text else {}
        counts = dict(found.get("counts", {}))
        counts["restarts"] = int(self.block.field("restarts")[0])
        counts["recoveries"] = int(self.block.field("recoveries")[0])
        return BusReport(
            name=self.settings.name,
            family=self.settings.family,
            place=str(found.get("place", "")),
            exchanges=int(self.block.field("exchanges")[0]),
            lost=int(self.block.field("phase")[0]) not in (Phase.RUNNING, Phase.READY),
            reason=self.block.said("reason"),
            counts=counts,
        )

    def close(self) -> None:
        """End the bus process; it releases its motors first."""
        self.block.field("stop")[0] = 1
        try:
            self._process.wait(4.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode < 0:  # it was killed: nobody else ends a worker that is frozen
            worker = int(self.block.field("worker_pid")[0])
            if worker:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        self._line.close()
        self.block.close()
