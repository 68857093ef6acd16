"""Drives of a hand file: one type at the top or named types, every motor with its own, loops for angles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hand.file import schema
from hand.file.checks_names import reference
from hand.file.checks_sprung import all_sprung
from hand.file.errors import shown
from hand.file.hand import HandFile
from hand.file.passive import rows_of
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import Refusal

Raw = dict[str, Any]

AT_TOP: Final = ("motor", "gear", "friction", "ripple", "thermal")
"""Tables of the one type of drive of a file without ``drives``."""


def drive_refusals(raw: Raw) -> Iterator[Refusal]:
    """What is wrong with types of drive and with the motors that have them."""
    limit = ("limits", "device_current_a")
    if "drives" not in raw:
        for path in ((key,) for key in AT_TOP):
            if path[0] not in raw:
                yield Refusal(path=path, found="nothing", legal=schema.legal_at(HandFile, raw, path))
        kinds = ["pmsm"]
    else:
        for key in AT_TOP:
            if key in raw:
                legal = "such a table inside a type of drives, as drives.<name>." + key
                yield Refusal(path=(key,), found="a table at the top, beside drives", legal=legal)
        kinds = [text_of(drive, "kind") for drive in dict_at(raw, "drives").values()]
        for name, drive in dict_at(raw, "drives").items():
            yield from _loop_refusals(name, drive)
    if "pmsm" in kinds and isinstance(raw.get("limits"), dict) and limit[1] not in raw["limits"]:
        yield Refusal(path=limit, found="nothing", legal=schema.legal_at(HandFile, raw, limit))
    yield from _motor_refusals(raw)
    yield from _mixed_fingers(raw)
    yield from _sprung_fingers(raw)


def _loop_refusals(name: str, drive: Any) -> Iterator[Refusal]:
    """A drive that takes angles has a position loop, one that takes currents none; all report their angle."""
    if not isinstance(drive, dict):
        return
    command, reports = text_of(drive, "command"), drive.get("reports")
    if "position" in command and "position_loop" not in drive:
        legal = "the loop in the device, of a drive that takes angles"
        yield Refusal(path=("drives", name, "position_loop"), found="nothing", legal=legal)
    if command == "current" and "position_loop" in drive:
        path = ("drives", name, "position_loop")
        legal = 'no loop: with command = "current" the device closes none'
        yield Refusal(path=path, found="a position loop", legal=legal)
    if isinstance(reports, list) and reports and "angle" not in reports:
        legal = '"angle" among them: without it nobody knows where the hand is'
        yield Refusal(path=("drives", name, "reports"), found=shown(reports), legal=legal)


def _motor_refusals(raw: Raw) -> Iterator[Refusal]:
    """Every motor of a file with types of drive names one of them, every type is somebody's."""
    types, used = dict_at(raw, "drives"), set()
    for name, entry in dict_at(raw, "motors").items():
        if "drives" not in raw:
            if isinstance(entry, dict):
                legal = "its device id, or types of drive in a table drives"
                yield Refusal(path=("motors", name), found="a table, but no drives", legal=legal)
        elif isinstance(entry, int):
            legal = f"a table, as {{ id = {entry}, drive = {shown(next(iter(types), '...'))} }}"
            yield Refusal(path=("motors", name), found=shown(entry), legal=legal)
        else:
            used.add(text_of(entry, "drive"))
            path = ("motors", name, "drive")
            yield from reference(path, text_of(entry, "drive"), list(types), "a type of drive")
    for name in types:
        if name not in used:
            yield Refusal(path=("drives", name), found="a type of drive that no motor has", legal="a motor's")


def _mixed_fingers(raw: Raw) -> Iterator[Refusal]:
    """All motors of a finger take currents, or all take angles: they hold its joints together."""
    types, motors = dict_at(raw, "drives"), dict_at(raw, "motors")
    first: dict[str, tuple[bool, int]] = {}
    for k, tendon in dicts_at(raw, "tendons"):
        command = text_of(types.get(text_of(motors.get(text_of(tendon, "motor")), "drive")), "command")
        finger = text_of(tendon, "finger")
        if not command or not finger:
            continue
        angles = command != "current"
        before, at = first.setdefault(finger, (angles, k))
        if before != angles:
            found = f"{shown(text_of(tendon, 'motor'))}, which takes {'angles' if angles else 'currents'}"
            legal = f"one that takes {'currents' if angles else 'angles'} as the others of its finger"
            yield Refusal(
                path=("tendons", k, "motor"), found=found, legal=legal, also=("tendons", at, "motor")
            )


def _sprung_fingers(raw: Raw) -> Iterator[Refusal]:
    """A set-point of a drive that takes angles leaves out what a joint's spring does to opposed tendons."""
    types, motors = dict_at(raw, "drives"), dict_at(raw, "motors")
    by_angle = {
        text_of(tendon, "finger"): text_of(tendon, "motor")
        for _, tendon in dicts_at(raw, "tendons")
        if "position" in text_of(types.get(text_of(motors.get(text_of(tendon, "motor")), "drive")), "command")
    }
    fingers_of = [text_of(tendon, "finger") for _, tendon in dicts_at(raw, "tendons")]
    for name, finger in dict_at(raw, "fingers").items():
        joints = list(dicts_at(finger, "joints"))
        if all_sprung(raw, name) and fingers_of.count(name) <= len(joints):
            continue
        for k, joint in joints:
            if name in by_angle and "spring" in joint:
                found = f"a spring at a joint whose motors take angles, as {shown(by_angle[name])} does"
                legal = "no spring, or drives that take currents"
                yield Refusal(path=("fingers", name, "joints", k, "spring"), found=found, legal=legal)
        for k, _ in rows_of(raw, name) if name in by_angle else ():
            found = f"a passive row at joints whose motors take angles, as {shown(by_angle[name])} does"
            yield Refusal(
                path=("passive", k, "finger"), found=found, legal="none, or drives that take currents"
            )
