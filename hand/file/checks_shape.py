"""Shape of a hand file: bones and joints that fit, insertion points, wrist points, capacities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hand.file.checks_names import joint_entries, reference
from hand.file.errors import shown
from hand.file.fingers import CHAIN_BONES
from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import Refusal
from signals import sizes

Raw = dict[str, Any]


def bones_of_chains(raw: Raw) -> Iterator[Refusal]:
    """Four bones, proximal first, on the finger's joints in their order."""
    for name, finger in dict_at(raw, "fingers").items():
        if not isinstance(finger, dict) or finger.get("kind") not in ("chain", "tensegrity_base"):
            continue
        joints = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
        bones = dict(dicts_at(finger, "bones"))
        at: Path = ("fingers", name)
        for k, bone in bones.items():
            yield from reference(
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


def insertions(raw: Raw) -> Iterator[Refusal]:
    """Insertion points where a tensegrity base needs them, and nowhere else."""
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
            yield from reference(("fingers", name, "insertion_set"), chosen, sets, "an insertion set")
        for label in sets:
            points = dict_at(finger["insertions"], label)
            palm, bone = dict_at(points, "palm_m"), dict_at(points, "bone_m")
            for letter in sorted(set(palm) ^ set(bone)):
                side = "bone_m" if letter in palm else "palm_m"
                at = ("fingers", name, "insertions", label, side)
                yield Refusal(
                    path=at, found=f"no point {letter}", legal="the same letters in palm_m and bone_m"
                )


def wrist_points(raw: Raw) -> Iterator[Refusal]:
    """A tendon's points at the wrist, in a hand that has one."""
    wrist = isinstance(raw.get("wrist"), dict)
    for k, tendon in dicts_at(raw, "tendons"):
        for key in ("forearm_m", "palm_m"):
            if wrist and key not in tendon:
                legal = "the tendon's points at the wrist: this hand has one"
                yield Refusal(path=("tendons", k, key), found="nothing", legal=legal)
            if not wrist and key in tendon:
                legal = f"no {key}: this hand has no [wrist]"
                yield Refusal(path=("tendons", k, key), found=f"a key {key}", legal=legal)


def left_hands(raw: Raw) -> Iterator[Refusal]:
    """A mirror image is made of bones alone: not of points that tendons run between."""
    if raw.get("side") != "left":
        return
    legal = "a wrist of joints (a finger of kind tree), or a file that is written for the left hand"
    if isinstance(raw.get("wrist"), dict):
        yield Refusal(path=("wrist",), found='a [wrist] in a file with side = "left"', legal=legal)
    for name, finger in dict_at(raw, "fingers").items():
        if text_of(finger, "kind") == "tensegrity_base":
            found = 'a tensegrity_base in a file with side = "left"'
            yield Refusal(path=("fingers", name, "kind"), found=found, legal="chain, hinge or tree")


_CAPACITIES: Final = (("motors", sizes.MOTORS), ("tendons", sizes.TENDONS), ("fingers", sizes.FINGERS))
_CAPACITIES_MORE: Final = (("ripple", sizes.RIPPLES), ("springs", sizes.SPRINGS), ("passive", sizes.PASSIVES))


def capacities(raw: Raw) -> Iterator[Refusal]:
    """More parts than the records have room for."""

    def over(path: Path, count: int, capacity: int, what: str) -> Iterator[Refusal]:
        if count > capacity:
            legal = f"at most {capacity} (signals/sizes.py)"
            yield Refusal(path=path, found=f"{count} {what}", legal=legal)

    for key, capacity in (*_CAPACITIES, *_CAPACITIES_MORE):
        value = raw.get(key)
        yield from over((key,), len(value) if isinstance(value, (list, dict)) else 0, capacity, key)
    fingers = dict_at(raw, "fingers")
    yield from over(("fingers",), len(joint_entries(raw)), sizes.JOINTS, "joints in the hand")
    bodies = 1 + sum(max(len(list(dicts_at(table, "bones"))), 1) for table in fingers.values())
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
