"""The control process: one thread, real-time rights, the loop, the stop sequence. Started by the supervisor.

``python -m runtime.processes.control SEGMENT OPTIONS_JSON PARENT_PID [TEXTS]``; one JSON object on stdout
at the end.
"""

# ruff: noqa: E402 - the guard of the start-up begins before the longer imports
from __future__ import annotations

import sys

from runtime.processes.early import StartGuard

_GUARD = StartGuard(sys.argv[1], int(sys.argv[3])) if __name__ == "__main__" else None

import json
import os
import signal
import time
from typing import Any

from hand.hand import Hand
from hand.options import RunOptions
from runtime.backends import said_by
from runtime.interrupts import ENDING
from runtime.keyframes import BEFORE_FIRST
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.processes.child import call_itself, take_over
from runtime.processes.phases import BEAT_LOST_NS, STOP_SEQUENCE_S, Phase, Released, Stop
from runtime.processes.watch import Backpressure, StopAsked, Watch
from runtime.realtime import die_with_parent, quiet, request_rights
from runtime.setup import Rig, build, prepare, read_hand
from runtime.stretch import Stretch
from runtime.warmup import warm_up
from signals.clock import SPIN_NS, now_ns
from signals.faults import Cause
from signals.foreign import told
from signals.modes import Request
from telemetry.shm.channel import Channel
from telemetry.shm.segment import Segment, parent_gone


def stop_sequence(loop: Loop, rig: Rig, segment: Segment, urgent: bool) -> bool:
    """Let go in order: guard's reaction, then off, then zero torque read back from the devices.

    Returns:
        True if the devices confirmed zero torque.
    """
    segment.field("control_phase")[0] = int(Phase.STOPPING)
    stop, beat, backpressure = segment.field("stop"), segment.field("control_beat_ns"), Backpressure(segment)

    def patient() -> bool:
        return int(stop[0]) < Stop.NOW

    def patience() -> bool:
        beat[0] = now_ns()
        if rig.options.lockstep:
            backpressure.wait(patient)
        return patient()

    run = loop.run_lockstep if rig.options.lockstep else loop.run
    cycles = round(STOP_SEQUENCE_S * rig.hand.rate_hz)
    try:
        if not urgent:
            rig.goals.request(Request.STOP)
            run(cycles, patience)
        rig.goals.request(Request.OFF)
        run(2, lambda: True)
    finally:
        confirmed = _release(rig, segment)
    return confirmed


def _release(rig: Rig, segment: Segment) -> bool:
    """Zero torque; True if the devices confirmed it."""
    confirmed = rig.bus.deactivate()
    segment.field("released")[0] = int(Released.CONFIRMED if confirmed else Released.NO)
    return confirmed


def _serve(rig: Rig, loop: Loop, watch: Watch) -> None:
    """The run itself, until its time is up or ``watch`` ends it."""
    options = rig.options
    slots = 2**62 if options.seconds is None else round(options.seconds * rig.hand.rate_hz)
    if options.lockstep:
        loop.run_lockstep(slots, watch.proceed)
    else:
        loop.run(slots, watch.proceed)
    watch.at_end()
    if watch.why == "io lost":
        since_s = (now_ns() - int(watch.segment.field("io_beat_ns")[0])) / 1e9
        rig.pipeline.blame(Cause.IO_LOST, since_s, BEAT_LOST_NS / 1e9)


def run(segment: Segment, options: RunOptions, guard: StartGuard, hand: Hand | None) -> dict[str, Any]:
    """From the start to the end of the loop; returns the account."""
    phase, beat, stop = (
        segment.field("control_phase"),
        segment.field("control_beat_ns"),
        segment.field("stop"),
    )
    phase[0] = int(Phase.WARMING)
    hand = hand or read_hand(options)
    window = round(hand.rate_hz)
    channel = Channel(segment.slots, segment.field("head"), segment.field("stats"), window)
    warm_up(options, hand, beat=lambda: beat.__setitem__(0, now_ns()))
    rig = build(options, hand, channel, segment=segment, start=options.starts)
    ahead = Stretch(rig.pipeline) if options.lockstep else None
    loop = Loop(rig.pipeline.tick, hand.rate_hz, spin_ns=SPIN_NS if options.hybrid else 0, ahead=ahead)
    granted = request_rights() if not options.lockstep else None
    if granted is not None:
        if not options.rights_told:
            print(granted.sentence(), file=sys.stderr)
            for lack in granted.lacks:
                print(f"warning: {lack}", file=sys.stderr)
        if options.require_realtime:
            granted.require()
    phase[0] = int(Phase.READY)
    watched, io_phase = segment.field("watched"), segment.field("io_phase")
    while not (stop[0] or (watched[0] and int(io_phase[0]) >= Phase.READY)):
        beat[0] = now_ns()
        time.sleep(0.005)
    guard.end()
    beat[0] = now_ns()
    phase[0] = int(Phase.PREPARING)
    watch = Watch(segment, rig, loop)
    if stop[0]:  # asked after the phase is told: whoever stops us sees one or the other
        rig.bus.close()
        watch.why, confirmed, said = "stop", True, []
        moved = _moved(segment, loop, 0.0) | {"in_fault": False}
    else:
        confirmed, moved = _live(segment, rig, loop, watch)
        said = [] if options.lockstep else list(said_by(rig.bus))
        rig.bus.close()
    phase[0] = int(Phase.DONE)
    return {
        **moved,
        "backend": rig.backend,
        "confirmed": confirmed,
        "why": watch.why,
        "reason": watch.reason,
        "said": said,
        "realtime": granted.sentence() if granted is not None else "lockstep",
    }


def _live(segment: Segment, rig: Rig, loop: Loop, watch: Watch) -> tuple[bool, dict[str, Any]]:
    """Switch on, run, let go; whether zero torque was confirmed, and how the run went."""
    options = rig.options
    with quiet():
        segment.field("released")[0] = int(Released.UNKNOWN)
        try:
            prepare(rig, LOCKSTEP_START_NS if options.lockstep else now_ns(), watch.sign)
        except StopAsked:
            confirmed, watch.why = _release(rig, segment), "stop"
            return confirmed, _moved(segment, loop, 0.0) | {"in_fault": False}
        except BaseException:
            _release(rig, segment)
            raise
        watch.sign(stops=False)
        rig.leave_keyframe(BEFORE_FIRST)
        segment.field("control_phase")[0] = int(Phase.RUNNING)
        begun = time.perf_counter()
        try:
            _serve(rig, loop, watch)
        finally:
            whole = loop.progress.ended_ns > loop.progress.started_ns  # not if a stage raised
            lasted_s = loop.progress.elapsed_s if whole else time.perf_counter() - begun
            moved = _moved(segment, loop, lasted_s) | {"in_fault": rig.in_fault()}
            confirmed = stop_sequence(loop, rig, segment, int(segment.field("stop")[0]) >= Stop.NOW)
    return confirmed, moved


def _moved(segment: Segment, loop: Loop, elapsed_s: float) -> dict[str, Any]:
    """How the loop went, up to the stop sequence; also into shared memory, for io and the supervisor."""
    cycles, missed, late = loop.progress.cycles, loop.progress.missed, loop.progress.late
    elapsed_s = max(elapsed_s, 0.0)
    segment.field("run_missed")[0], segment.field("run_late")[0] = missed, late
    segment.field("run_elapsed_ns")[0] = round(elapsed_s * 1e9)
    segment.field("run_end")[0] = segment.field("head")[0]
    return {"cycles": cycles, "missed": missed, "late": late, "elapsed_s": elapsed_s}


def live(
    segment: Segment,
    options: RunOptions,
    parent: int,
    hand: Hand | None = None,
    guard: StartGuard | None = None,
) -> None:
    """Whole life of the control process; its account goes to stdout.

    Args:
        segment: shared memory of the run.
        options: options of the run.
        parent: process id of the supervisor.
        hand: the hand, if it is read already.
        guard: the guard of the start-up, if it has begun.
    """
    stop = segment.field("stop")

    def on_signal(_number: int, _frame: Any) -> None:
        if parent_gone(parent):  # the kernel tells it once per thread of the supervisor
            stop[0] = max(int(stop[0]), int(Stop.GENTLE))
        else:
            stop[0] = min(int(stop[0]) + 1, int(Stop.NOW))

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, on_signal)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    call_itself("control")
    if not die_with_parent(parent, signal.SIGTERM):
        segment.unlink()
        os._exit(1)
    if guard is None:
        guard = StartGuard(segment.name, parent)
    try:
        account = run(segment, options, guard, hand)
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # a callback may raise those too
        segment.field("control_phase")[0] = int(Phase.FAILED)
        text = told(error) or f"{type(error).__name__}: {error}"
        print(json.dumps({"error": text, "kind": type(error).__name__}))
        if os.environ.get("FLEXOR_DEBUG"):
            raise
        sys.exit(1)
    finally:
        if parent_gone(parent):
            segment.unlink()
    print(json.dumps(account))


def main() -> None:
    """Entry point of a process of its own."""
    name, options_text, parent = sys.argv[1:4]
    take_over(sys.argv)
    live(Segment.attach(name), RunOptions.from_json(options_text), int(parent), guard=_GUARD)


if __name__ == "__main__":
    main()
