"""The io process: ring -> sockets, score and recorder; commands -> mailbox. Started by the supervisor.

``python -m runtime.processes.io SEGMENT OPTIONS_JSON PARENT_PID [TEXTS]``; one JSON object on stdout
at the end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import zmq

from hand.drawing import drawing_of, ranges_of
from hand.hand import Hand
from hand.options import RunOptions
from reports.report import Audience, add_picture, default_buffer, make_report
from runtime.backends import backend_of, motor_setups, unproven
from runtime.interrupts import ENDING
from runtime.logs import versions
from runtime.processes.child import call_itself, take_over
from runtime.processes.keeping import Keeping
from runtime.processes.phases import BEAT_LOST_NS, Phase, Stop
from runtime.realtime import die_with_parent, prefer_io
from runtime.setup import read_hand
from signals.clock import now_ns
from signals.records import FRAME, RecordArray
from telemetry.command.bounds import goal_bounds
from telemetry.command.reception import Reception
from telemetry.command.server import CommandServer, hand_file_of
from telemetry.keys import load_keyring
from telemetry.publish.bulletin import Bulletin, Sparing, health_map
from telemetry.publish.heat import HeatWatch
from telemetry.publish.publisher import Publisher
from telemetry.shm.segment import Segment
from telemetry.sockets import PortBusy, places_of

BATCH = 256
"""Frames of one turn: a backlog is worked off with signs of life in between, and in little memory."""
TURN_MS, START_MS = 4, 40
"""Longest wait of one turn: the ring is looked at 250 times a second; while control starts nothing comes."""


class IoProcess:
    """The parts of the io process and their turn.

    Args:
        segment: shared memory of the run.
        options: options of the run.
        hand: the hand.

    Raises:
        PortBusy: a port is taken.
    """

    def __init__(self, segment: Segment, options: RunOptions, hand: Hand) -> None:
        self.segment, self.options, self.hand = segment, options, hand
        self.backend, has_truth = backend_of(options)
        self.context = zmq.Context()
        facts = {
            "hand": hand.name,
            "hand_sha256": hand.sha256,
            "rate_hz": hand.rate_hz,
            "backend": self.backend,
            "motion": options.motion or "",
            "seed": options.seed,
            "versions": versions(),
            **drawing_of(hand),
            "ranges": ranges_of(hand.names, goal_bounds(hand.model).ranges),
        }
        places = places_of(options.transport, options.port_base, options.address)
        ring = None if options.keys is None else load_keyring(Path(options.keys))
        self.reception = Reception(self.context, places, ring)
        self.publisher = Publisher(
            self.context,
            hand.names,
            hand.model,
            facts,
            places=places,
            ring=ring,
            has_truth=has_truth,
            plotjuggler=options.plotjuggler,
        )
        self.server = CommandServer(
            hand.names,
            hand.model,
            segment,
            Sparing(self._note),
            motion=options.motion,
            pretension_n=options.pretension_n,
        )
        self.server.hand_file = hand_file_of(hand.name, hand.text, options.settings)
        self.unproven = () if options.readonly else unproven(options.bus, hand.names, motor_setups(hand))
        self.notices: list[str] = list(self.unproven)
        self._newest: Any = None
        self._first_ns = 0
        self.keeping = Keeping(segment, options, hand, self.publisher.wall.offset_ns, self._event)
        self.recordings = self.server.recordings = self.keeping.recordings
        record = self.recordings.add
        self.audience = Audience(hand, has_truth=has_truth, keep=default_buffer(hand), record=record)
        self.reader = segment.reader(BATCH, start=0)
        self.poller = zmq.Poller()
        self.reception.register(self.poller)
        self.poller.register(self.publisher.socket, zmq.POLLIN)
        self._stats, self._beat, self._phase = map(segment.field, ("stats", "io_beat_ns", "control_phase"))
        self.bulletin = Bulletin(self._event, self.publisher.wall, hand.names)
        for text in self.unproven:
            self._event("unproven", "warning", text, "docs/drivers.md tells how it is proven")
        self.heat = HeatWatch(self._event, hand.names, hand.model)

    def _note(self, kind: str, text: str, hint: str) -> None:
        self._event(kind, "info", text, hint)

    def _event(self, kind: str, level: str, text: str, hint: str = "", **more: Any) -> None:
        message = self.publisher.event(now_ns(), kind, level, text, hint, **more)
        recordings = getattr(self, "recordings", None)  # none yet while it is made
        if recordings is not None:
            recordings.event(message)

    def turn(self) -> int:
        """One turn: commands, frames, health; returns the frames seen."""
        self.poller.poll(TURN_MS if int(self._phase[0]) >= Phase.PREPARING else START_MS)
        now = self.beat()
        self.reception.serve(self.server, now)
        self.publisher.greet()
        frames = self.reader.read()
        self._see(frames)
        self.beat()
        drop = {"pub": self.reader.lost, "log": self.reader.lost if self.recordings.recording else 0}
        self.publisher.frames(frames, now, self._stats, drop)
        self.beat()
        self.segment.field("reader")[0] = self.reader.next
        self.keeping.turn(now)
        self.publisher.health(now, self._health)
        self.server.flush(now)
        self.bulletin.look_at_clock(now)
        return len(frames)

    def beat(self) -> int:
        """Sign of life; several in a turn, because a turn is long when the processor is scarce."""
        now = now_ns()
        self._beat[0] = now
        return now

    def _see(self, frames: RecordArray) -> None:
        end = int(self.segment.field("run_end")[0])
        if not len(frames):
            return
        self._newest = frames[-1].copy()
        self._first_ns = self._first_ns or int(frames["state"]["time_ns"][0])
        self.server.see(self._newest)
        self.server.view = self.publisher.view
        first = self.reader.next - len(frames)
        scored = frames if not end else frames[: max(end - first, 0)]
        for fault in self.audience.see(scored):
            self._event("fault", "error", fault.text, fault.hint, fault=fault.as_dict())
            self.keeping.fault(fault.cause)
        self.bulletin.see(frames)
        self.heat.see(frames["state"][-1])
        self.keeping.wear.see(frames)

    def _health(self) -> dict[str, Any]:
        lease, recordings, lost = self.server.lease, self.recordings, self.reader.lost
        n_motors = len(self.hand.names.motors)
        return {
            **health_map(self._newest, self.bulletin.machine, self._stats, self.hand.rate_hz, n_motors),
            "drop": {"pub": lost, "log": lost if recordings.recording else 0},
            "commands": {"refused": self.server.refused},
            "lease": {"holder": lease.holder, "epoch": lease.epoch},
            "unproven": list(self.unproven),
            "faults": [fault.text for fault in self.audience.faults.all[-20:]],
            "latched": [fault.as_dict() for fault in self.audience.faults.standing()],
            **recordings.health(),
        }

    def _run(self) -> dict[str, int]:
        """How the loop went: what control left at its end, or what its frames say when it died before."""
        keys = ("end", "missed", "late", "elapsed_ns")
        run = {key: int(self.segment.field(f"run_{key}")[0]) for key in keys}
        if not run["end"] and self._newest is not None:
            timing, time_ns = self._newest["timing"], int(self._newest["state"]["time_ns"])
            run["end"] = int(self.segment.field("head")[0])
            run["missed"], run["late"] = int(timing["missed"]), int(timing["late"])
            run["elapsed_ns"] = time_ns - self._first_ns + round(1e9 / self.hand.rate_hz)
        return run

    def finish(self) -> dict[str, Any]:
        """Drain the ring, close everything, make the report."""
        while self.turn():
            pass
        run = self._run()
        report = make_report(
            self.audience,
            self.options,
            self._stats,
            backend=self.backend,
            cycles=run["end"],
            missed=run["missed"],
            late=run["late"],
            elapsed_s=run["elapsed_ns"] / 1e9,
        )
        report["notices"] += self.notices
        self.keeping.close(report)
        self.publisher.close()
        self.reception.close()
        self.context.term()
        return report


def warm(hand: Hand) -> None:
    """Load the compiled functions before the first frame comes."""
    import numpy as np

    from telemetry.shm.ring import RingReader, new_slots

    scratch = replace(hand, model=hand.model.copy())
    Audience(scratch).see(np.zeros(2, dtype=FRAME))
    RingReader(new_slots(4), np.zeros(1, np.uint64)).read()


def run(segment: Segment, options: RunOptions, hand: Hand | None) -> dict[str, Any]:
    """From the start to the report."""
    phase, beat = segment.field("io_phase"), segment.field("io_beat_ns")
    control_phase, control_beat = segment.field("control_phase"), segment.field("control_beat_ns")
    stop = segment.field("stop")
    beat[0] = now_ns()
    lack = prefer_io()  # before the sockets make their thread, which inherits it
    if lack is not None:
        print(f"warning: {lack}", file=sys.stderr)
    hand = hand or read_hand(options)
    warm(hand)
    io = IoProcess(segment, options, hand)
    beat[0] = now_ns()
    phase[0] = int(Phase.READY)
    told = False
    while int(control_phase[0]) < Phase.DONE and not (stop[0] and int(control_phase[0]) < Phase.PREPARING):
        io.turn()
        running = Phase.RUNNING <= int(control_phase[0]) < Phase.DONE
        silent = running and now_ns() - int(control_beat[0]) > 2 * BEAT_LOST_NS
        if silent and not told:
            io._event("control", "error", "the control process is silent", "the supervisor ends the run")
        told = silent
    return _conclude(io, options)


def _conclude(io: IoProcess, options: RunOptions) -> dict[str, Any]:
    keep = io.audience.keep
    report = io.finish()
    if options.out is not None and options.picture and keep is not None and len(keep.frames()):
        print(json.dumps(report), flush=True)  # counts if the picture takes this process down
        from reports.picture import draw_run

        stats, folder = io.segment.field("stats"), Path(options.out)
        add_picture(report, lambda: draw_run(keep.frames(), io.hand, stats, report, folder))
    return report


def live(segment: Segment, options: RunOptions, parent: int, hand: Hand | None = None) -> None:
    """Whole life of the io process; its report goes to stdout.

    Args:
        segment: shared memory of the run.
        options: options of the run.
        parent: process id of the supervisor.
        hand: the hand, if it is read already.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    call_itself("io")
    if not die_with_parent(parent, signal.SIGKILL):
        os._exit(1)
    try:
        report = run(segment, options, hand)
    except Exception as error:
        segment.field("io_phase")[0] = int(Phase.FAILED)
        segment.field("stop")[0] = max(int(segment.field("stop")[0]), int(Stop.GENTLE))
        code = "port_busy" if isinstance(error, PortBusy) else type(error).__name__
        print(json.dumps({"error": str(error), "kind": code}))
        if os.environ.get("FLEXOR_DEBUG"):
            raise
        sys.exit(1)
    segment.field("io_phase")[0] = int(Phase.DONE)
    print(json.dumps(report))


def main() -> None:
    """Entry point of a process of its own."""
    name, options_text, parent = sys.argv[1:4]
    take_over(sys.argv)
    live(Segment.attach(name), RunOptions.from_json(options_text), int(parent))


if __name__ == "__main__":
    main()
