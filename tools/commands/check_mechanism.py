"""``flexor check`` of a mechanism with motors: carpal wrist, arm, muscle finger."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.text import Text

from hand.file.errors import FileError
from hand.file.locate import Locator, dotted
from hand.mechanism_file import InverseDynamics, ReadHand, read_mechanism_hand
from hand.options import RunOptions
from hand.review.mechanism import suspicions
from runtime.limb_hand import read_as_hand
from runtime.processes.phases import Exit
from sim.mechanisms.load import load_mechanism
from tools.commands.check_facts import as_dicts, assumed, origin_counts, show_refusal
from tools.commands.check_view import show_origins, table_of


def check_mechanism(name: str, as_json: bool) -> int:
    """Check a mechanism's hand file and show what it means.

    Args:
        name: a shipped name, or a path.
        as_json: one JSON object on stdout instead of tables.

    Returns:
        exit code as of ``tools.commands.check.check``.
    """
    try:
        read = read_mechanism_hand(name)
        sha256 = read_as_hand(RunOptions(hand=name)).sha256
    except FileError as error:
        show_refusal(name, error, as_json)
        return Exit.USAGE
    if as_json:
        print(json.dumps(summary(read, sha256), indent=2))
    else:
        show(read, sha256)
    return 0


def summary(read: ReadHand, sha256: str) -> dict[str, Any]:
    """Everything as one JSON object, with the keys of a tendon hand's."""
    effective = read.file.model_dump(mode="json")
    locator = Locator.of(read.text)
    return {
        "ok": True,
        "hand": read.file.name,
        "file": read.path,
        "hand_sha256": sha256,
        "counts": {"joints": len(read.file.joint), "motors": len(read.file.motor)},
        "origins": origin_counts(read.origins),
        "assumed": [
            {"key": dotted(path), "line": locator.place(path).line, "value": value, "why": why}
            for path, value, why in assumed(effective, read.origins)
        ],
        "warnings": as_dicts(suspicions(read)),
        "facts": [],
        "notices": [],
        "effective": effective,
        "problems": [],
    }


def show(read: ReadHand, sha256: str, console: Console | None = None) -> None:
    """Print the hand and what is assumed in it."""
    out = console or Console(highlight=False)
    file, controller, limits = read.file, read.file.controller, read.file.limits
    out.print(Text(f"{file.name}: {file.description}", style="bold"))
    counts = f"{len(file.joint)} joints, {len(file.motor)} motors; {file.control.rate_hz:g} Hz"
    out.print(Text(f"{read.path}\nsha256 {sha256}\n{counts}"))
    facts = table_of("", "")
    facts.add_row("mechanism", load_mechanism(file.mechanism).path)
    if isinstance(controller, InverseDynamics):
        law = f"inverse dynamics and PD, {controller.bandwidth_hz:g} Hz, damping {controller.damping_ratio:g}"
    else:
        law = f"muscle force, {controller.force_kp_n_rad:g} N/rad, {controller.force_ki_n_rads:g} N/(rad s)"
    facts.add_row("controller", law)
    facts.add_row("torque rate", f"{limits.torque_rate_nm_s:g} N m/s")
    facts.add_row("after a fault", file.hold.reaction)
    motors = table_of("motor", "torque constant [N m/A]", "current limit [A]", "speed limit [rad/s]")
    for motor in file.motor:
        numbers = (motor.torque_constant_nm_a, motor.current_limit_a, motor.speed_limit_rad_s)
        motors.add_row(motor.name, *(f"{n:g}" for n in numbers))
    joints = table_of("joint", "home [rad]", "range from home [deg]")
    for joint in file.joint:
        low, high = joint.range_deg
        joints.add_row(joint.name, f"{joint.home_rad:g}", f"{low:g}..{high:g}")
    out.print(facts, motors, joints)
    show_origins(file.model_dump(mode="json"), read.origins, out)
    for suspicion in suspicions(read):
        out.print(Text(f"warning: {suspicion}", style="yellow"), soft_wrap=True)
