"""What ``flexor run`` does with its options: in this process or with processes of their own; the report."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from runtime.interrupts import Interrupted, Interrupts, stopped_by
from tools.commands.telling import Teller, gathered, progress, shown, told_as_it_happens

PICTURE_FRAMES: Final = 4000
"""Frames of a lockstep run that its picture is drawn from; without ``--out`` none are kept."""
Ended = tuple[int, str, dict[str, Any] | None]
"""Exit code, message, report."""


def carry_out(options: Any, interrupts: Interrupts) -> Ended:
    """Make the run; every file that it takes is read once, also by the processes that it starts."""
    try:
        from hand.file.text import read_once

        interrupts.check()
        check_places(options)
        with read_once():
            return (_with_processes if options.publish else _in_process)(options, interrupts)
    except (Interrupted, Exception):
        if not interrupts.number or interrupts.moving:
            raise
        # also when a library has made something else of it: nothing was switched on
        return _never_started(options, interrupts.number)


def place(out: Path | None) -> Path | None:
    """Folder of the results: never one that holds another run's."""
    from tools.commands.folder import free_folder

    if out is None:
        return None
    found = free_folder(out)
    if found != out:
        tell(f"{out} holds the results of an earlier run; those of this one go into {found}")
    return found


def check_places(options: Any) -> None:
    """Refuse a folder that cannot be made or does not hold a recording, before anything is started."""
    if options.out is not None:
        Path(options.out).mkdir(parents=True, exist_ok=True)
    if options.record:
        from telemetry.record.recorder import check_room

        check_room(Path(options.out or "."))


def _never_started(options: Any, number: int) -> Ended:
    from reports.bare import bare_report, ended

    text = f"{stopped_by(number)} before the hand was started; the motors were never switched on"
    report = bare_report(options, options.rate_hz)
    report["ended"] = ended("signal", text)
    return 128 + number, text, report


def tell(text: str) -> None:
    """A sentence for people."""
    print(text, file=sys.stderr)


def _in_process(options: Any, interrupts: Interrupts) -> Ended:
    from reports.report import add_picture
    from runtime.processes.phases import Exit
    from runtime.processes.supervisor import IN_FAULT
    from runtime.session import run_options
    from runtime.setup import read_hand, with_length
    from runtime.warmup import begin_beside, warm_up

    begin_beside(options)
    hand = read_hand(options)
    _warn(options, hand)
    options = with_length(options, hand)
    warm_up(options, hand)
    log = _log_path(options, hand.name) if options.record else None
    every = 0 if options.out is None else max(1, round(options.seconds * hand.rate_hz / PICTURE_FRAMES))
    with progress("lockstep") as told:
        watch = told.share if told is not None else None
        result = run_options(options, every=every, record=log, watch=watch, interrupts=interrupts)
    report = result.report
    if log is not None:
        report["log"] = str(log)
    if options.out is not None:
        from reports.picture import draw_run

        stats, folder = result.rig.pipeline.channel.stats, Path(options.out)
        add_picture(report, lambda: draw_run(result.frames, hand, stats, report, folder))
    ended = report["ended"]
    if ended["why"] == "signal":
        return 128 + interrupts.number, f"{ended['text']}; the simulated hand was let go", report
    if ended["why"] == "not started":
        return Exit.NOT_STARTED, ended["text"], report
    if result.in_fault:
        report["ended"] = {"why": "fault", "text": IN_FAULT}
        return Exit.FAULT, IN_FAULT, report
    return Exit.GOOD, "", report


def _warn(options: Any, hand: Any) -> None:
    """What is hard to believe in the hand file, before anything moves."""
    from hand.mechanism_file import read_mechanism_hand
    from hand.review import mechanism as margins
    from hand.review.suspicions import suspicions

    if hand.mechanism is None:
        path, found = hand.file.path, suspicions(hand.file, options.rate_hz)
    else:
        read = read_mechanism_hand(options.hand)
        path, found = read.path, margins.suspicions(read, options.rate_hz)
    for suspicion in found:
        tell(f"warning: {path}: {suspicion}")


def _log_path(options: Any, name: str) -> Path:
    from telemetry.record.recorder import free_path

    motion = Path(options.motion).stem if options.motion else "hold"  # a name, or the path of a file
    return free_path(Path(options.out or "."), f"{name}-{motion}")


def _with_processes(options: Any, interrupts: Interrupts) -> Ended:
    from flexor.runs import RUN, announced
    from runtime.backends import motor_setups, unproven
    from runtime.processes.phases import Phase
    from runtime.processes.supervisor import Supervisor
    from runtime.setup import check, read_hand, with_length
    from runtime.warmup import begin_beside
    from telemetry.keys import load_keyring
    from telemetry.sockets import places_of

    cold = begin_beside(options)
    hand = read_hand(options)
    options = with_length(options, hand)
    check(options, hand)  # refused here, before a child starts
    places = places_of(options.transport, options.port_base, options.address)
    if options.keys is not None:
        load_keyring(Path(options.keys))  # refused here too
    tell(
        f"{hand.name} at {hand.rate_hz:g} Hz, state on {places.publish}, "
        f"commands on {places.command}"
        + ("; watches, writes nothing" if options.readonly else "")
        + ("" if options.seconds else "; Ctrl-C ends the run")
    )
    for text in () if options.readonly else unproven(options.bus, hand.names, motor_setups(hand)):
        tell(f"warning: {text}")
    about = {"port_base": options.port_base, "transport": options.transport, "places": options.bus or ""}
    title = hand.name if options.seconds else ""
    with (
        announced(RUN, hand.name, **about),
        gathered(title) as lines,
        Supervisor(options, hand.rate_hz, tell, hand=hand) as run,  # before there is another thread
        shown(lines, title) as told,
        told_as_it_happens(options, teller := Teller(told, hand.name, sys.stderr.isatty())),
    ):
        run.watch = told.share if told is not None else None

        def enter(phase: Phase) -> None:
            if phase == Phase.RUNNING:
                teller.begin()
            if text := _does(options, phase, cold):
                teller.phase(text)

        _warn(options, hand)  # while the children load: nothing moves before they are supervised
        run.enter = enter
        outcome = run.supervise()
    return outcome.code, outcome.message, outcome.report


def _does(options: Any, phase: Any, cold: bool) -> str:
    """What a run does in a phase, in words; empty: nothing that somebody waits for."""
    from runtime.processes.phases import Phase

    if phase == Phase.WARMING:
        return "compiling, once on this machine" if cold else "loading"
    if phase == Phase.PREPARING:
        return "homing"
    if phase != Phase.RUNNING:
        return ""
    if options.readonly:
        return "watching; nothing is ever written"
    if options.motion:
        return f"playing {options.motion}"
    return "holding the start pose" if options.starts else "waiting for clients"


def keep(report: dict[str, Any], out: Path | None, code: int, message: str) -> tuple[int, str]:
    """Report into its folder, before it is shown; a folder that takes no file is an error, but a late one."""
    if out is None:
        return code, message
    report["out"] = str(out)
    try:
        (out / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="ascii")
    except OSError as error:
        from telemetry.record.recorder import free_bytes

        with suppress(OSError):
            (out / "report.json").unlink()  # a part of a report is none
        free = free_bytes(out) / 2**20
        text = f"{out / 'report.json'} could not be written: {error.strerror} ({free:.0f} MB free there)"
        return (code or 1), (f"{message}; {text}" if message else text)
    return code, message


def show(report: dict[str, Any], as_json: bool) -> None:
    """Report on stdout."""
    if as_json:
        print(json.dumps(report))
    elif "incomplete" not in report:
        from reports.text import lines

        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print("\n".join(lines(report, color)))
    sys.stdout.flush()
