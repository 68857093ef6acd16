"""Shipped motions on a running hand: the page streams their poses under its lease."""

from __future__ import annotations

import tempfile
import time
import zlib
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import numpy as np

from controllers.motion import ChannelKind, channel_at
from flexor.control import Control
from flexor.errors import HandError
from flexor.following import Following
from flexor.stream import Stream
from hand.hand import Hand
from hand.motion.load import Motion, load_motion, shipped_motion, shipped_motions
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.names import HandNames
from tools.monitor.plain import plain
from tools.view.commander import Commander

Angles = dict[str, float]
RATE_HZ: Final = 60.0
_MODE: Final = "joint_impedance"
_POSES: Final = ("joint_deg", "palm_pitch_deg", "palm_yaw_deg")


def offered(has_palm: bool) -> tuple[str, ...]:
    """Names of the shipped motions that are poses and nothing else.

    Args:
        has_palm: the hand has one that pitches and yaws; without, its motions are left out.
    """
    legal = _POSES if has_palm else _POSES[:1]
    found = []
    for name in shipped_motions():
        motion = shipped_motion(name)
        if motion.mode == _MODE and not motion.modes and not motion.tendons_off:
            if all(track.kind in legal for track in motion.tracks):
                found.append(name)
    return tuple(found)


class Poses:
    """A motion as poses: joint and axis angles by name.

    Args:
        motion: of the hand, in joint angles alone.
        names: of the hand.
    """

    def __init__(self, motion: Motion, names: HandNames) -> None:
        self.duration_s, self._motion = motion.duration_s, motion
        self._head = motion.head.view(np.recarray)[0]
        channels = range(int(self._head.n_channels))
        self.repeats = any(self._head.periodic[c] for c in channels)
        self._joints = [
            (c, names.joints[self._head.index[c]]) for c in channels if self._is(c, ChannelKind.JOINT_ANGLE)
        ]
        self._axes = [
            (c, names.axes[self._head.index[c]]) for c in channels if self._is(c, ChannelKind.AXIS_ANGLE)
        ]

    def _is(self, c: int, kind: ChannelKind) -> bool:
        return bool(self._head.kind[c] == kind)

    def at(self, time_s: float) -> tuple[Angles, Angles]:
        """(joint angles, axis angles) [rad] at a time since the start of the motion."""
        return self._values(self._joints, time_s), self._values(self._axes, time_s)

    def _values(self, channels: list[tuple[int, str]], time_s: float) -> Angles:
        h, values, slopes = self._head, self._motion.values, self._motion.slopes
        return {name: float(plain(channel_at)(h, values, slopes, c, time_s)[0]) for c, name in channels}


class Motions:
    """Plays one motion at a time, in a thread of its own.

    Args:
        commander: who has the lease.
        tell: takes what goes on, in words.
    """

    def __init__(self, commander: Commander, tell: Callable[[str], None]) -> None:
        self._commander, self._tell = commander, tell
        self._thread: Thread | None = None
        self._over = Event()

    @property
    def playing(self) -> bool:
        """A motion moves the hand, or is about to."""
        return self._thread is not None and self._thread.is_alive()

    def play(self, name: str) -> None:
        """Play a shipped motion from where the hand is, after the one that plays now."""
        self.halt()
        if not self._commander.holds:
            self._commander.do(lambda _: None)  # says what is missing
            return
        self._over = Event()
        self._thread = Thread(target=self._play, args=(name, self._over), name="motion", daemon=True)
        self._thread.start()

    def halt(self) -> None:
        """Let the motion end where it is; the hand holds the last pose."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(2.0)
        self._thread = None

    @cached_property
    def _hand(self) -> Hand:
        return hand_of(self._commander.ask("hand")["hand_file"])

    def _play(self, name: str, over: Event) -> None:
        self._tell(f"{name}: being prepared for this hand")
        try:
            poses = Poses(load_motion(name, self._hand.names, self._hand.model), self._hand.names)
        except (HandError, ValueError) as error:
            self._tell(f"{name} is not for this hand: {error}")
            return
        stream = self._commander.do(_engaged)
        if stream is None:
            self._tell("")
            return
        self._tell(f"{name}, {'repeats every' if poses.repeats else 'ends after'} {poses.duration_s:.3g} s")
        ended = self._follow(stream, poses, over)
        self._tell(f"{name} is over" if ended else f"{name} was ended by the hand")

    def _follow(self, stream: Stream, poses: Poses, over: Event) -> bool:
        """Send poses until the motion or its time is over; false: the hand follows no longer."""
        begun = due = time.monotonic()
        while not over.is_set() and (poses.repeats or due - begun < poses.duration_s):
            if self._commander.do(partial(_sent, stream, due, poses.at(due - begun))) is None:
                return False
            due = max(due + 1.0 / RATE_HZ, time.monotonic() - 0.05)
            over.wait(max(0.0, due - time.monotonic()))
        return self._commander.do(partial(_ended, stream)) is not None


def _engaged(control: Control) -> Stream:
    control.mode(_MODE)
    stream = control.stream(RATE_HZ)
    stream.engage()
    return stream


def _sent(stream: Stream, time_s: float, pose: tuple[Angles, Angles], _: Control) -> Following:
    joints, axes = pose
    return stream.send(time_s, joints, axes=axes or None)


def _ended(stream: Stream, _: Control) -> bool:
    stream.end()
    return True


def hand_of(found: dict[str, Any]) -> Hand:
    """The hand that a running one's answer to ``hand`` tells, read here.

    Raises:
        ValueError: this version refuses the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{found['name']}.toml"
        path.write_bytes(zlib.decompress(found["text_zlib"]))
        return read_hand(RunOptions(hand=str(path), settings=tuple(found["settings"])))
