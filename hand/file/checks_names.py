"""Names of a hand file: nothing twice, everything that is named is there, parents end at the palm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hand.file.errors import shown
from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, number_of, text_of, whole_of
from hand.file.refusals import Refusal
from signals.choices import nearest

Raw = dict[str, Any]


def joint_entries(raw: Raw) -> list[tuple[Path, str, str]]:
    """(path of the name, joint, finger) of all joints."""
    return [
        (("fingers", finger, "joints", k, "name"), text_of(joint, "name"), finger)
        for finger, table in dict_at(raw, "fingers").items()
        for k, joint in dicts_at(table, "joints")
        if text_of(joint, "name")
    ]


def _twice(entries: list[tuple[Path, Any]], what: str) -> Iterator[Refusal]:
    first: dict[Any, Path] = {}
    for path, value in entries:
        if value in first:
            yield Refusal(path=path, found=f"{shown(value)} a second time", legal=what, also=first[value])
        else:
            first[value] = path


def shared_motors(tendons: list[tuple[int, Raw]]) -> Iterator[Refusal]:
    """Motors that several tendons name without a word on how it winds each, or in several fingers."""
    first: dict[str, tuple[int, Raw]] = {}
    for k, tendon in tendons:
        motor = text_of(tendon, "motor")
        if not motor or motor not in first:
            first[motor] = k, tendon
            continue
        n, before = first[motor]
        path, also = ("tendons", k, "motor"), ("tendons", n, "motor")
        found = f"{shown(motor)} a second time"
        if any(number_of(row.get("spool_radius_m")) is None for row in (before, tendon)):
            legal = "every motor winds one tendon, or each tendon of it has its own signed spool_radius_m"
            yield Refusal(path=path, found=found, legal=legal, also=also)
        elif text_of(tendon, "finger") != text_of(before, "finger"):
            yield Refusal(path=path, found=found, legal="a motor winds tendons of one finger", also=also)


def duplicates(raw: Raw) -> Iterator[Refusal]:
    """Names, device ids and sensor channels that come twice, each with the entry that has it first."""
    tendons = list(dicts_at(raw, "tendons"))

    def of(key: str) -> list[tuple[Path, Any]]:
        return [(("tendons", k, key), t[key]) for k, t in tendons if isinstance(t.get(key), (str, int))]

    yield from _twice(of("name"), "every tendon name once")
    causes: list[tuple[Path, Any]] = [
        (("detectors", k, "cause"), d["cause"])
        for k, d in dicts_at(raw, "detectors")
        if isinstance(d.get("cause"), str)
    ]
    yield from _twice(causes, "every cause once")
    yield from shared_motors(tendons)
    channels: list[tuple[Path, Any]] = [
        (("sensors", k, "channel"), s["channel"])
        for k, s in dicts_at(raw, "sensors")
        if whole_of(s.get("channel")) is not None
    ]
    yield from _twice([*of("hall_channel"), *channels], "every sensor channel once")
    yield from _twice([(p, n) for p, n, _ in joint_entries(raw)], "every joint name once in the hand")
    ids: list[tuple[Path, Any]] = [
        (("motors", name), i) for name, i in dict_at(raw, "motors").items() if whole_of(i) is not None
    ]
    ids += [
        (("motors", name, "id"), entry["id"])
        for name, entry in dict_at(raw, "motors").items()
        if isinstance(entry, dict) and whole_of(entry.get("id")) is not None
    ]
    drive = dict_at(dict_at(raw, "wrist"), "drive").get("motor_ids")
    if isinstance(drive, list):
        ids += [
            (("wrist", "drive", "motor_ids", k), i) for k, i in enumerate(drive) if whole_of(i) is not None
        ]
    yield from _twice(ids, "every device id once")
    numbers: list[tuple[Path, Any]] = [
        (("fingers", name, "number"), table["number"])
        for name, table in dict_at(raw, "fingers").items()
        if isinstance(table, dict) and whole_of(table.get("number")) is not None
    ]
    yield from _twice(numbers, "every finger number once")


def reference(path: Path, name: str, legal: list[str], what: str) -> Iterator[Refusal]:
    """A name that is not among the legal ones; an empty name is left to the schema."""
    if name and name not in legal:
        yield Refusal(
            path=path,
            found=shown(name),
            legal=f"{what}: {', '.join(legal) or 'none is there'}",
            nearest=nearest(name, legal),
        )


def references(raw: Raw) -> Iterator[Refusal]:
    """Everything that names another part, and motors that nobody names."""
    fingers, springs = dict_at(raw, "fingers"), list(dict_at(raw, "springs"))
    motors = list(dict_at(raw, "motors"))
    yield from reference(
        ("tendon", "spring"), text_of(dict_at(raw, "tendon"), "spring"), springs, "a spring mechanism"
    )
    guides = dict_at(raw, "guides")
    yield from reference(
        ("guides", "pair"), text_of(guides, "pair"), list(dict_at(guides, "pairs")), "a pair"
    )
    used = set()
    for k, tendon in dicts_at(raw, "tendons"):
        at: Path = ("tendons", k)
        used.add(text_of(tendon, "motor"))
        finger = text_of(tendon, "finger")
        yield from reference((*at, "finger"), finger, list(fingers), "a finger")
        yield from reference((*at, "motor"), text_of(tendon, "motor"), motors, "a motor")
        yield from reference((*at, "spring"), text_of(tendon, "spring"), springs, "a spring mechanism")
        yield from _tendon_path(at, tendon, fingers)
    for motor in motors:
        if motor not in used:
            yield Refusal(
                path=("motors", motor), found="a motor without tendon", legal="a tendon that it winds"
            )
    for name, table in fingers.items():
        carriers = [n for n, f in fingers.items() if text_of(f, "kind") in CARRIERS and n != name]
        yield from reference(
            ("fingers", name, "parent"),
            text_of(table, "parent"),
            ["palm", *carriers],
            "the palm or a finger of kind hinge or tree",
        )


CARRIERS = ("hinge", "tree")
"""Kinds of finger that others can stand on."""


def carriers_of(fingers: Raw, name: str) -> list[str]:
    """The fingers that carry a finger, from the palm on."""
    chain: list[str] = []
    at = text_of(fingers.get(name), "parent")
    while at in fingers and at not in chain:
        chain.insert(0, at)
        at = text_of(fingers[at], "parent")
    return chain


def carried_joints(fingers: Raw, name: str) -> list[str]:
    """Joints of the fingers that carry a finger."""
    return [text_of(j, "name") for c in carriers_of(fingers, name) for _, j in dicts_at(fingers[c], "joints")]


def parents(raw: Raw) -> Iterator[Refusal]:
    """Fingers that stand on each other in a circle."""
    fingers = dict_at(raw, "fingers")
    for name in fingers:
        seen, at = {name}, text_of(fingers[name], "parent")
        while at in fingers and at not in seen:
            seen.add(at)
            at = text_of(fingers[at], "parent")
        if at == name:
            found = "a circle of " + ", ".join(sorted(seen))
            yield Refusal(path=("fingers", name, "parent"), found=found, legal="parents that end at the palm")


def base_tendons(raw: Raw) -> Iterator[Refusal]:
    """The base of a tensegrity finger is found from its straight tendons alone."""
    fingers = dict_at(raw, "fingers")
    for k, tendon in dicts_at(raw, "tendons"):
        finger = fingers.get(text_of(tendon, "finger"))
        if not isinstance(finger, dict) or finger.get("kind") != "tensegrity_base":
            continue
        base = [text_of(j, "name") for i, j in dicts_at(finger, "joints") if i < 2]
        for joint in dict_at(tendon, "dh_dq_m_rad"):
            if joint in base:
                legal = "joints after the base: it is moved by tendons with an insertion point"
                yield Refusal(path=("tendons", k, "dh_dq_m_rad", joint), found=shown(joint), legal=legal)


def _tendon_path(at: Path, tendon: Raw, fingers: Raw) -> Iterator[Refusal]:
    finger = fingers.get(text_of(tendon, "finger"))
    if not isinstance(finger, dict):
        return
    name = text_of(tendon, "finger")
    own = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
    carried = carried_joints(fingers, name)
    row = tendon.get("dh_dq_m_rad")
    what = "a joint of the tendon's finger" + (" or of what carries it" if carried else "")
    for joint in row if isinstance(row, dict) else ():
        yield from reference((*at, "dh_dq_m_rad", joint), joint, [*own, *carried], what)
        after = list(fingers)[list(fingers).index(name) :]
        if joint in carried and any(c in after for c in carriers_of(fingers, name)):
            legal = f"the table of each finger that carries {name} above its own: its joints are found first"
            yield Refusal(path=("fingers", name), found=f"a tendon of {name} over {joint}", legal=legal)
    letter = text_of(tendon, "insertion")
    if letter:
        chosen = dict_at(dict_at(finger, "insertions"), text_of(finger, "insertion_set"))
        points = sorted(set(dict_at(chosen, "palm_m")) & set(dict_at(chosen, "bone_m")))
        yield from reference((*at, "insertion"), letter, points, "a point of the finger's insertion set")
