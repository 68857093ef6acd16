"""The supervisor: starts control and io, passes signals on, notices deaths, leaves nothing behind.

The supervisor itself never touches the hand. It sets one flag in shared memory to stop the control process,
which runs the stop sequence; a child that does not end within its budget is killed.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hand.hand import Hand
from hand.options import RunOptions
from reports.bare import ended
from runtime.effort import IDLE_S, Effort
from runtime.interrupts import ENDING, stopped_by
from runtime.notify import Notifier, Watchdog
from runtime.processes.child import Child
from runtime.processes.endings import bare, exit_words, released_words
from runtime.processes.phases import (
    BEAT_LOST_NS,
    COMPILE_S,
    CONTROL_SILENT_S,
    PREPARE_S,
    START_UP_STOP_S,
    STOP_BUDGET_S,
    Exit,
    Phase,
    Released,
    Stop,
)
from signals.clock import now_ns
from telemetry.shm.segment import KEYFRAME_BYTES, Segment, remove_orphans

IN_FAULT = "the run ended in fault; see faults in the report"
TURN_S = 0.02
IO_BUDGET_S = 20.0
"""Time that io gets to finish log and picture."""
TELL_PREPARING_S = 3.0
"""A bus that takes longer than this to set up is told, and then as often."""


@dataclass(slots=True)
class Outcome:
    """How a run ended."""

    code: int
    message: str = ""
    report: dict[str, Any] | None = None
    account: dict[str, Any] = field(default_factory=dict)


class Supervisor:
    """One run.

    Args:
        options: options of the run; checked already.
        rate_hz: rate of the hand, for the size of the ring.
        tell: where sentences for people go.
        watch: told the share done now and then; may be set later, as ``enter``, told each phase of control.
        silent_s: age of control's heartbeat at which it is killed while it runs.
        hand: the hand, if it was read and this process has no other thread: see ``Child``.
    """

    def __init__(
        self,
        options: RunOptions,
        rate_hz: float,
        tell: Callable[[str], None],
        watch: Callable[[float], None] | None = None,
        *,
        silent_s: float = CONTROL_SILENT_S,
        hand: Hand | None = None,
    ) -> None:
        self.options, self._rate_hz, self._tell, self.watch = options, rate_hz, tell, watch
        self.enter: Callable[[Phase], None] = lambda _: None
        self._hand = hand
        self._signal, self._signals, self._restarts = 0, 0, 0
        self._io: Child | None = None
        self._control: Child | None = None
        self._notifier = Notifier()
        self._watchdog = Watchdog(self._notifier)
        self._announced = False
        self._silent_s, self._killed, self._io_killed = silent_s, "", ""
        self._ended_early = False
        self._preparing_s, self._told_s = 0.0, 0.0
        self._begun_ns, self._effort = now_ns(), Effort(IDLE_S)

    def _on_signal(self, number: int, _frame: Any) -> None:
        self._signal = self._signal or number
        self._signals += 1

    def __enter__(self) -> Supervisor:
        """Start the children; every way out unlinks the shared memory."""
        for name in remove_orphans():
            self._tell(f"removed shared memory of a dead run: {name}")
        segment = self._segment = Segment.create(self._rate_hz, extra=KEYFRAME_BYTES)
        self._handlers = {n: signal.signal(n, self._on_signal) for n in ENDING}
        try:
            self._io = Child("io", segment, self.options, self._hand)
            self._control = Child("control", segment, self.options, self._hand)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        """Whatever is still running is killed."""
        for child in filter(None, (self._control, self._io)):
            child.kill()
        self._segment.unlink()
        self._notifier.close()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def run(self) -> Outcome:
        """Start, supervise, end."""
        with self:
            return self.supervise()

    def _look_after_io(self, segment: Segment) -> None:
        """A dead io process is started again if the options allow it; else the control process is told.

        One that ended after control was done is not dead: control's process may take longer to go.
        """
        if self._io is None or self._io.running() or segment.field("io_lost_ns")[0]:
            return
        if int(segment.field("control_phase")[0]) >= Phase.DONE:
            return
        if int(segment.field("io_phase")[0]) < Phase.READY or self._restarts >= self.options.io_restarts:
            segment.field("io_lost_ns")[0] = now_ns()
            return
        self._restarts += 1
        self._tell(f"the io process died ({exit_words(self._io.returncode)}); starting it again")
        segment.field("io_phase")[0] = int(Phase.STARTING)
        self._io = Child("io", segment, self.options)

    def supervise(self) -> Outcome:
        """Until the children have ended; nothing is on before, nor once a stop was asked for."""
        segment, control = self._segment, self._control
        assert control is not None
        stop, phase = segment.field("stop"), segment.field("control_phase")
        segment.field("watched")[0], told, last = int(not self._signals), False, -1
        while control.running():
            time.sleep(TURN_S)
            if (now := int(phase[0])) != last:
                last = now
                self.enter(Phase(now))
            if self._signals and not told:
                told = True
                if int(phase[0]) >= Phase.PREPARING:
                    self._tell("stopping: the hand is let go in order (again: at once)")
            if self._signals:
                stop[0] = max(int(stop[0]), int(Stop.NOW if self._signals > 1 else Stop.GENTLE))
            self._look_after_io(segment)
            if self._restarts and int(segment.field("io_phase")[0]) < Phase.READY:
                segment.field("io_beat_ns")[0] = now_ns()
            if stop[0] or segment.field("io_lost_ns")[0]:
                self._notifier.stopping("stop sequence")
                self._wait_for_stop(segment, control)
                break
            self._progress(segment, int(phase[0]))
            self._tell_manager(segment, int(phase[0]))
            self._tell_preparing(segment, int(phase[0]))
            self._end_silent(segment, int(phase[0]), control)
        assert self._io is not None
        return self._outcome(segment, self._io, control)

    def _wait_for_stop(self, segment: Segment, control: Child) -> None:
        """Nothing is switched on before PREPARING; control looks at the flag after it has told that phase."""
        time.sleep(TURN_S)
        if int(segment.field("control_phase")[0]) < Phase.PREPARING:
            self._ended_early = control.running()
            control.kill()
            return
        until = time.monotonic() + STOP_BUDGET_S
        while control.running() and time.monotonic() < until and self._signals < 3:
            time.sleep(TURN_S)
        if control.running():
            self._killed = f"it did not end within {STOP_BUDGET_S:g} s of the request to stop"
        control.kill()

    def _tell_manager(self, segment: Segment, phase: int) -> None:
        """The service manager learns of the start, and of every sign of life of the loop."""
        if phase == Phase.WARMING:
            self._notifier.extend(COMPILE_S)
        elif phase == Phase.PREPARING:
            self._notifier.extend(PREPARE_S)
        elif phase == Phase.RUNNING:
            if not self._announced:
                self._announced = self._notifier.ready(f"{self.options.hand} at {self._rate_hz:g} Hz")
            self._watchdog.look(int(segment.field("control_beat_ns")[0]))

    def _quiet_s(self, segment: Segment) -> float:
        """Age of control's last sign of life."""
        return (now_ns() - max(int(segment.field("control_beat_ns")[0]), self._begun_ns)) / 1e9

    def _tell_preparing(self, segment: Segment, phase: int) -> None:
        """A slow bus: how long it has taken so far, and that control is alive."""
        now_s = time.monotonic()
        if phase != Phase.PREPARING:
            self._preparing_s = self._told_s = now_s
        elif now_s - self._told_s > TELL_PREPARING_S:
            self._told_s = now_s
            text = f"setting up the bus: {now_s - self._preparing_s:.0f} s so far"
            text += f", last sign of life {self._quiet_s(segment):.1f} s ago"
            self._tell(text)
            self._notifier.status(text)

    def _end_silent(self, segment: Segment, phase: int, control: Child) -> None:
        """A control process without a sign of life is killed: nobody else could end it.

        While it starts up, a heartbeat may be minutes away and work is a sign of life too.
        """
        if not control.running():
            return
        limits = {Phase.PREPARING: PREPARE_S, Phase.RUNNING: self._silent_s, Phase.STOPPING: self._silent_s}
        quiet_s, doing = self._quiet_s(segment), Phase(phase).name.lower()
        limit_s = limits.get(Phase(phase))
        if limit_s is not None and quiet_s > limit_s:
            self._killed = f"{doing}, it gave no sign of life for {quiet_s:.1f} s"
        elif limit_s is None and not self._effort.look(control.pid) and quiet_s > IDLE_S:
            self._killed = f"{doing}, it is not ready {self._effort.sentence()}"
        if self._killed:
            control.kill()

    def _progress(self, segment: Segment, phase: int) -> None:
        if self.watch is not None and self.options.seconds and phase == Phase.RUNNING:
            self.watch(min(int(segment.field("head")[0]) / (self.options.seconds * self._rate_hz), 1.0))

    def _outcome(self, segment: Segment, io: Child, control: Child) -> Outcome:
        account = control.result()
        io_lost = bool(segment.field("io_lost_ns")[0]) or account.get("why") == "io lost"
        if int(segment.field("control_phase")[0]) < Phase.DONE:
            segment.field("control_phase")[0] = int(Phase.FAILED)
        never_on = int(segment.field("released")[0]) == Released.NEVER_ON
        early = never_on and (self._signals or not account)
        budget_s = START_UP_STOP_S if early else IO_BUDGET_S
        if early and int(segment.field("io_phase")[0]) < Phase.READY:
            io.kill()
        if io.running() and io_lost:
            self._io_killed = f"no sign of life for {BEAT_LOST_NS / 1e9:g} s; killed"
        if io.running() and (io_lost or not io.wait(budget_s)):
            io.kill()
        report = io.result()
        code, why, text = self._failure(segment, io, control, account, report, io_lost)
        if "error" in report or not report:
            report = bare(segment, self.options, self._rate_hz)
        report["notices"] += account.get("said", ())
        report["ended"] = ended(why, text or "the time was up")
        return Outcome(code, text, report, account)

    def _failure(
        self,
        segment: Segment,
        io: Child,
        control: Child,
        account: dict[str, Any],
        report: dict[str, Any],
        io_lost: bool,
    ) -> tuple[int, str, str]:
        """Exit code, one word for the report, a sentence."""
        released = released_words(int(segment.field("released")[0]))
        if report.get("kind") == "port_busy":
            return Exit.PORT_BUSY, "failed", str(report["error"])
        if "error" in report:
            return Exit.FAILED, "failed", f"io: {report['error']}"
        if "error" in account:
            return Exit.FAILED, "failed", f"control: {account['error']}; {released}"
        if self._signal and not account and int(segment.field("released")[0]) == Released.NEVER_ON:
            text = f"{stopped_by(self._signal)} before the hand was started; {released}"
            return 128 + self._signal, "signal", text
        if not account and not (io_lost and self._ended_early):
            how = f"died ({exit_words(control.returncode)})"
            if self._killed:
                how = f"was killed: {self._killed}"
            return Exit.CONTROL_LOST, "control lost", f"the control process {how}; {released}"
        if io_lost:
            how = self._io_killed or exit_words(io.returncode)
            text = f"the io process was lost ({how}): IO_LOST; {released}"
            return Exit.IO_LOST, "io lost", text
        if not account["confirmed"]:
            return Exit.NOT_RELEASED, "not released", released_words(Released.NO)
        return self._ending(account, released)

    def _ending(self, account: dict[str, Any], released: str) -> tuple[int, str, str]:
        """As ``_failure``, of a run whose processes all came to their end."""
        if self._signal:
            return 128 + self._signal, "signal", f"{stopped_by(self._signal)}; {released}"
        if account["why"] == "stop":
            text = f"the control process was stopped from outside (SIGTERM); {released}"
            return Exit.FAILED, "stopped from outside", text
        if account["why"] == "not started":
            return Exit.NOT_STARTED, "not started", f"{account['reason']}; {released}"
        if account["in_fault"]:
            return Exit.FAULT, "fault", IN_FAULT
        return Exit.GOOD, "time", ""
