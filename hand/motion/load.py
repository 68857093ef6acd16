"""Motions by name or path: read, checked against a hand, sampled into tables, ready to run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from controllers.motion import MOTION, ChannelKind, motion_goal, motion_start
from hand.file import text
from hand.file.errors import MotionFileError, Problem
from hand.file.locate import Locator
from hand.file.refusals import Refusal
from hand.motion.balance import balance_refusals
from hand.motion.build import Built, Key, build, limit_refusals
from hand.motion.channels import Table
from hand.motion.schema import MotionFile
from hand.motion.trajectory import trajectory_channels
from signals.layout import FloatArray
from signals.modes import Mode
from signals.names import HandNames
from signals.records import MODEL, RecordArray
from signals.sizes import CHANNELS


@dataclass(slots=True, kw_only=True)
class Motion:
    """A motion on a certain hand; ``write`` is real-time safe.

    ``bind`` it to the state record before the run: as long as the time is 0 or less the goal then follows the
    measured pose, and the motion takes over from there within ``blend_s``.
    """

    name: str
    description: str
    head: RecordArray
    """``controllers.motion.MOTION``, shape (1,)."""
    values: FloatArray
    """Node values [SI], shape (channels, nodes)."""
    slopes: FloatArray
    """Their slopes by time."""
    model: RecordArray
    duration_s: float
    """Longest period or length of its channels."""
    tendons_off: tuple[int, ...] = ()
    """Tendons to take off their spools before the run."""
    object: bool = False
    """The hand's object shall be in reach."""
    _state: RecordArray | None = field(default=None)

    def bind(self, state: RecordArray) -> None:
        """Let the motion start from this state record, shape (1,)."""
        self._state = state

    def write(self, time_s: float, goal: RecordArray) -> None:
        """Fill the goal for a time since the start [s]."""
        if time_s <= 0.0 and self._state is not None:
            motion_start(self.head, self._state)
        motion_goal(self.head, self.values, self.slopes, self.model, time_s, goal)


def shipped_motions() -> tuple[str, ...]:
    """Names of the motions in ``configs/motions``."""
    return text.shipped("motions")


def load_motion(
    name_or_path: str | os.PathLike[str], names: HandNames, model: RecordArray, mode: Mode | None = None
) -> Motion:
    """Read a motion for a hand.

    Args:
        name_or_path: Name of a motion in ``configs/motions``, or a path of a .toml or .csv file.
        names: Names of the hand.
        model: Its model record.
        mode: Mode of all fingers in place of the file's; their tracks of another mode are left out.

    Raises:
        MotionFileError: with everything that is wrong with the file, or with the file on this hand.
    """
    path = text.path_of(os.fspath(name_or_path), "motions", "motion", MotionFileError)
    content = text.text_of_file(path, MotionFileError)
    if path.suffix == ".csv":
        return _of_trajectory(content, str(path), path.stem, names, model)
    return parse_motion(content, str(path), path.stem, names, model, mode)


def parse_motion(
    content: str, file: str, name: str, names: HandNames, model: RecordArray, mode: Mode | None = None
) -> Motion:
    """Check the text of a motion file; as ``load_motion``."""
    motion, built = _checked(content, file, names, model.tobytes(), mode)
    result = _packed(name, motion.description, built, model, motion.blend_s)
    result.tendons_off = tuple(names.index("tendon", t) for t in motion.tendons_off)
    result.object = motion.object
    return result


@lru_cache(maxsize=8)
def _checked(
    content: str, file: str, names: HandNames, model_bytes: bytes, mode: Mode | None
) -> tuple[MotionFile, Built]:
    """What a motion file says on a hand; a run asks three times, before and after its processes begin."""
    model = np.frombuffer(model_bytes, MODEL).copy()
    motion, locator = _read(content, file)
    built = build(motion, names, model, mode)
    found = built.refusals + list(limit_refusals(built, names, model))
    found += balance_refusals(built, names, model)
    if len(built.channels) > CHANNELS:
        legal = f"at most {CHANNELS} (signals/sizes.py)"
        found.append(Refusal(path=(), found=f"{len(built.channels)} channels", legal=legal))
    if found:
        raise text.refused(found, file, locator, MotionFileError)
    return motion, built


def shipped_motion(name: str) -> MotionFile:
    """What the file of a shipped motion says, without a hand."""
    path = text.path_of(name, "motions", "motion", MotionFileError)
    return _read(text.text_of_file(path, MotionFileError), str(path))[0]


def _read(content: str, file: str) -> tuple[MotionFile, Locator]:
    locator = Locator.of(content)
    raw = text.raw_of(content, file, locator, MotionFileError)
    return text.checked(MotionFile, raw, [], file, locator, MotionFileError), locator


_NOTHING = MotionFile(description="hold", tracks=())


def _of_trajectory(content: str, file: str, name: str, names: HandNames, model: RecordArray) -> Motion:
    channels = trajectory_channels(content, file, names)
    built = build(_NOTHING, names, model, None)
    built.channels |= channels
    built.source |= dict.fromkeys(channels, ())
    found = [*limit_refusals(built, names, model), *balance_refusals(built, names, model)]
    if found:
        raise MotionFileError(
            Problem(file=file, line=0, key="trajectory", found=r.found, legal=r.legal) for r in found
        )
    return _packed(name, f"trajectory {name}", built, model, _NOTHING.blend_s)


def _packed(name: str, description: str, built: Built, model: RecordArray, blend_s: float) -> Motion:
    head = np.zeros(1, dtype=MOTION)
    h = head[0]
    nodes = max((len(t.values) for t in built.channels.values()), default=1)
    values = np.zeros((max(len(built.channels), 1), nodes))
    slopes = np.zeros_like(values)
    h["n_channels"], h["blend_s"] = len(built.channels), blend_s
    h["finger_mode"][: len(built.modes)] = built.modes
    for c, (key, table) in enumerate(built.channels.items()):
        _pack(h, c, key, table)
        values[c, : len(table.values)] = table.values
        slopes[c, : len(table.slopes)] = table.slopes
    duration = max((t.duration_s for t in built.channels.values()), default=0.0)
    return Motion(
        name=name,
        description=description,
        head=head,
        values=values,
        slopes=slopes,
        model=model,
        duration_s=duration,
    )


def _pack(h: np.void, c: int, key: Key, table: Table) -> None:
    kind, index = key
    h["kind"][c], h["index"][c] = kind, index
    h["nodes"][c], h["step_s"][c] = len(table.values), table.step_s
    h["periodic"][c], h["hold"][c], h["relative"][c] = table.periodic, table.hold, table.relative
    h["advance"][c] = table.advance
    if kind == ChannelKind.AXIS_ANGLE:
        h["start"][c] = table.values[0]  # without a state to start from: where the motion is
    elif kind == ChannelKind.TENDON_FORCE:
        h["start"][c] = table.values[0]
