"""Fingers of kind tree: bones in order, joints that turn them, how much may hang on one place of the palm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hand.file.checks_names import carriers_of, reference
from hand.file.errors import shown
from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import Refusal
from signals.sizes import BRANCH_JOINTS

Raw = dict[str, Any]


def tree_refusals(raw: Raw) -> Iterator[Refusal]:
    """Refusals of all trees of a file, and of branches with too many joints."""
    fingers = dict_at(raw, "fingers")
    for name, finger in fingers.items():
        if text_of(finger, "kind") == "tree":
            yield from _bones(("fingers", name), finger)
    roots = {name: [*carriers_of(fingers, name), name][0] for name in fingers}
    for root in dict.fromkeys(roots.values()):
        on_it = [name for name in fingers if roots[name] == root]
        joints = sum(len(list(dicts_at(fingers[name], "joints"))) for name in on_it)
        if len(on_it) > 1 and joints > BRANCH_JOINTS:
            yield Refusal(
                path=("fingers", root),
                found=f"{joints} joints on {root} and on what it carries ({', '.join(on_it[1:])})",
                legal=f"at most {BRANCH_JOINTS} (signals/sizes.py)",
            )


def _bones(at: Path, finger: Raw) -> Iterator[Refusal]:
    joints = [text_of(j, "name") for _, j in dicts_at(finger, "joints")]
    above: dict[str, str] = {}
    turned: dict[str, list[str]] = {}
    before = ""
    for k, bone in dicts_at(finger, "bones"):
        here: Path = (*at, "bones", k)
        name, joint = text_of(bone, "name"), text_of(bone, "joint")
        if name in above:
            legal = "every bone of a finger with a name of its own"
            yield Refusal(path=(*here, "name"), found=f"{shown(name)} a second time", legal=legal)
        if "parent" in bone:
            listed = "a bone that is listed before it"
            yield from reference((*here, "parent"), text_of(bone, "parent"), list(above), listed)
        yield from reference((*here, "joint"), joint, joints, "a joint of the finger")
        above[name] = text_of(bone, "parent") or before
        before = name
        if joint in joints:
            turned.setdefault(joint, []).append(name)
    for k, joint in enumerate(joints):
        where: Path = (*at, "joints", k)
        if joint and joint not in turned:
            legal = f"a bone with joint = {shown(joint)}"
            yield Refusal(path=where, found=f"{joint} turns no bone", legal=legal)
        stray = [b for b in turned.get(joint, []) if b not in _way(above, turned[joint][-1])]
        if stray:
            found = f"{joint} turns {', '.join(stray)} and, on another branch, {turned[joint][-1]}"
            legal = "a joint that turns bones of one branch, each beyond the one before"
            yield Refusal(path=where, found=found, legal=legal)


def _way(above: dict[str, str], bone: str) -> list[str]:
    """A bone and those between it and the finger's root."""
    way: list[str] = []
    while bone in above and bone not in way:
        way.append(bone)
        bone = above[bone]
    return way
