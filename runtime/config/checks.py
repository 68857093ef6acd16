"""What the schema alone cannot see: duplicates, references, capacities, coupling, consistency.

Every check reads the raw file and steps over what is missing or of the wrong type (the schema reports that),
so that one run finds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from runtime.config import checks_coupling, checks_physics
from runtime.config.errors import nearest, shown
from runtime.config.fingers import CHAIN_BONES
from runtime.config.hand import HandFile
from runtime.config.locate import Path
from runtime.config.raw import dict_at, dicts_at, text_of, whole_of
from runtime.config.refusals import Refusal
from signals import sizes

Raw = dict[str, Any]


def check_all(raw: Raw, hand: HandFile | None) -> list[Refusal]:
    """All checks; ``hand`` is the validated file, or None while the schema refuses it."""
    found = [r for check in _RAW_CHECKS for r in check(raw)]
    found += checks_coupling.coupling_refusals(raw)
    found += checks_physics.spring_refusals(raw)
    if hand is not None and not found:
        found += checks_physics.order_refusals(hand)
    return found


def _joint_entries(raw: Raw) -> list[tuple[Path, str, str]]:
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


def _duplicates(raw: Raw) -> Iterator[Refusal]:
    tendons = list(dicts_at(raw, "tendons"))

    def of(key: str) -> list[tuple[Path, Any]]:
        return [(("tendons", k, key), t[key]) for k, t in tendons if isinstance(t.get(key), (str, int))]

    yield from _twice(of("name"), "every tendon name once")
    yield from _twice(of("motor"), "every motor winds one tendon")
    yield from _twice(of("hall_channel"), "every Hall channel at one tendon")
    yield from _twice([(p, n) for p, n, _ in _joint_entries(raw)], "every joint name once in the hand")
    ids: list[tuple[Path, Any]] = [
        (("motors", name), i) for name, i in dict_at(raw, "motors").items() if whole_of(i) is not None
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


def _reference(path: Path, name: str, legal: list[str], what: str) -> Iterator[Refusal]:
    if name and name not in legal:
        yield Refusal(
            path=path,
            found=shown(name),
            legal=f"{what}: {', '.join(legal) or 'none is there'}",
            nearest=nearest(name, legal),
        )


def _references(raw: Raw) -> Iterator[Refusal]:
    fingers, springs = dict_at(raw, "fingers"), list(dict_at(raw, "springs"))
    motors = list(dict_at(raw, "motors"))
    yield from _reference(
        ("tendon", "spring"), text_of(dict_at(raw, "tendon"), "spring"), springs, "a spring mechanism"
    )
    guides = dict_at(raw, "guides")
    yield from _reference(
        ("guides", "pair"), text_of(guides, "pair"), list(dict_at(guides, "pairs")), "a pair"
    )
    used = set()
    for k, tendon in dicts_at(raw, "tendons"):
        at: Path = ("tendons", k)
        used.add(text_of(tendon, "motor"))
        finger = text_of(tendon, "finger")
        yield from _reference((*at, "finger"), finger, list(fingers), "a finger")
        yield from _reference((*at, "motor"), text_of(tendon, "motor"), motors, "a motor")
        yield from _reference((*at, "spring"), text_of(tendon, "spring"), springs, "a spring mechanism")
        yield from _tendon_path(at, tendon, fingers)
    for motor in motors:
        if motor not in used:
            yield Refusal(
                path=("motors", motor), found="a motor without tendon", legal="a tendon that it winds"
            )
    for name, table in fingers.items():
        hinges = [
            n for n, f in fingers.items() if isinstance(f, dict) and f.get("kind") == "hinge" and n != name
        ]
        parents = ["palm", *hinges]
        yield from _reference(
            ("fingers", name, "parent"), text_of(table, "parent"), parents, "the palm or a hinge finger"
        )


def _tendon_path(at: Path, tendon: Raw, fingers: Raw) -> Iterator[Refusal]:
    finger = fingers.get(text_of(tendon, "finger"))
    if not isinstance(finger, dict):
        return
    joints = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
    row = tendon.get("dh_dq_m_rad")
    for joint in row if isinstance(row, dict) else ():
        yield from _reference((*at, "dh_dq_m_rad", joint), joint, joints, "a joint of the tendon's finger")
    letter = text_of(tendon, "insertion")
    if letter:
        chosen = dict_at(dict_at(finger, "insertions"), text_of(finger, "insertion_set"))
        points = sorted(set(dict_at(chosen, "palm_m")) & set(dict_at(chosen, "bone_m")))
        yield from _reference((*at, "insertion"), letter, points, "a point of the finger's insertion set")


def _bones(raw: Raw) -> Iterator[Refusal]:
    """Four bones, proximal first, on the finger's joints in their order."""
    for name, finger in dict_at(raw, "fingers").items():
        if not isinstance(finger, dict) or finger.get("kind") not in ("chain", "tensegrity_base"):
            continue
        joints = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
        bones = dict(dicts_at(finger, "bones"))
        at: Path = ("fingers", name)
        for k, bone in bones.items():
            yield from _reference(
                (*at, "bones", k, "joint"), text_of(bone, "joint"), joints, "a joint of the finger"
            )
            if (
                k < len(CHAIN_BONES)
                and text_of(bone, "name") in CHAIN_BONES
                and bone["name"] != CHAIN_BONES[k]
            ):
                legal = f'"{CHAIN_BONES[k]}" in this place ({", ".join(CHAIN_BONES)})'
                yield Refusal(path=(*at, "bones", k, "name"), found=shown(bone["name"]), legal=legal)
        if len(bones) != len(CHAIN_BONES) or not all(joints):
            continue
        turned = [text_of(bones[k], "joint") for k in range(4)]
        coupled = [*joints, joints[-1]] if len(joints) == 3 else joints
        if all(t in joints for t in turned) and turned != coupled:
            legal = "one joint per bone, proximal first; the last joint may turn middle and distal"
            yield Refusal(path=(*at, "bones"), found="bones turned by " + ", ".join(turned), legal=legal)
        for k in range(4 if len(joints) == 4 else 3):
            if isinstance(bones[k].get("ratio"), float) and bones[k]["ratio"] != 1.0:
                legal = "1.0: only the distal bone of a coupled finger has another ratio"
                yield Refusal(path=(*at, "bones", k, "ratio"), found=shown(bones[k]["ratio"]), legal=legal)


def _insertions(raw: Raw) -> Iterator[Refusal]:
    for name, finger in dict_at(raw, "fingers").items():
        if not isinstance(finger, dict) or finger.get("kind") not in ("chain", "tensegrity_base"):
            continue
        wants = finger["kind"] == "tensegrity_base"
        for key in ("insertion_set", "insertions"):
            if wants and key not in finger:
                legal = "the insertion points of a tensegrity_base"
                yield Refusal(path=("fingers", name, key), found="nothing", legal=legal)
            if not wants and key in finger:
                legal = f'no {key} in a finger of kind "chain"'
                yield Refusal(path=("fingers", name, key), found=f"a key {key}", legal=legal)
        chosen = text_of(finger, "insertion_set")
        sets = list(dict_at(finger, "insertions"))
        if wants and sets:
            yield from _reference(("fingers", name, "insertion_set"), chosen, sets, "an insertion set")
        for label in sets:
            points = dict_at(finger["insertions"], label)
            palm, bone = dict_at(points, "palm_m"), dict_at(points, "bone_m")
            for letter in sorted(set(palm) ^ set(bone)):
                side = "bone_m" if letter in palm else "palm_m"
                at = ("fingers", name, "insertions", label, side)
                yield Refusal(
                    path=at, found=f"no point {letter}", legal="the same letters in palm_m and bone_m"
                )


def _wrist_points(raw: Raw) -> Iterator[Refusal]:
    wrist = isinstance(raw.get("wrist"), dict)
    for k, tendon in dicts_at(raw, "tendons"):
        for key in ("forearm_m", "palm_m"):
            if wrist and key not in tendon:
                legal = "the tendon's points at the wrist: this hand has one"
                yield Refusal(path=("tendons", k, key), found="nothing", legal=legal)
            if not wrist and key in tendon:
                legal = f"no {key}: this hand has no [wrist]"
                yield Refusal(path=("tendons", k, key), found=f"a key {key}", legal=legal)


_CAPACITIES: Final = (("motors", sizes.MOTORS), ("tendons", sizes.TENDONS), ("fingers", sizes.FINGERS))
_CAPACITIES_MORE: Final = (("ripple", sizes.RIPPLES), ("springs", sizes.SPRINGS))


def _capacities(raw: Raw) -> Iterator[Refusal]:
    def over(path: Path, count: int, capacity: int, what: str) -> Iterator[Refusal]:
        if count > capacity:
            legal = f"at most {capacity} (signals/sizes.py)"
            yield Refusal(path=path, found=f"{count} {what}", legal=legal)

    for key, capacity in (*_CAPACITIES, *_CAPACITIES_MORE):
        value = raw.get(key)
        yield from over((key,), len(value) if isinstance(value, (list, dict)) else 0, capacity, key)
    fingers = dict_at(raw, "fingers")
    yield from over(("fingers",), len(_joint_entries(raw)), sizes.JOINTS, "joints in the hand")
    bodies = 1 + sum(
        4 if dict_at(fingers, name).get("kind") in ("chain", "tensegrity_base") else 1 for name in fingers
    )
    yield from over(("fingers",), bodies, sizes.BODIES, "bodies in the hand")
    per_finger: dict[str, int] = {}
    for _, tendon in dicts_at(raw, "tendons"):
        per_finger[text_of(tendon, "finger")] = per_finger.get(text_of(tendon, "finger"), 0) + 1
    for name in fingers:
        joints = len(list(dicts_at(dict_at(fingers, name), "joints")))
        yield from over(("fingers", name, "joints"), joints, sizes.FINGER_JOINTS, "joints in one finger")
        yield from over(
            ("fingers", name), per_finger.get(name, 0), sizes.FINGER_TENDONS, "tendons at one finger"
        )


_RAW_CHECKS: Final[tuple[Callable[[Raw], Iterator[Refusal]], ...]] = (
    _duplicates,
    _references,
    _bones,
    _insertions,
    _wrist_points,
    _capacities,
)
