"""A client of a hand in lockstep: its bytes go through the same server and mailbox as those of a real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self

import msgspec
import numpy as np

from hand.hand import Hand
from signals.minimum_jerk import rise
from signals.records import RecordArray
from telemetry.command.requests import VERSION
from telemetry.command.server import CommandServer
from telemetry.shm.channel import Channel
from telemetry.shm.segment import Segment
from trials.record import Recorder
from trials.rules import KINDS
from trials.scene import SETTLE_S, SLOTS, Run, Scene
from trials.storm import CALM_S, storm_of
from trials.trial import Trial

NAME: Final = "trial"
MOVES: Final = 6
"""Poses between which the hand moves while states are kept."""
MOVE_S: Final = 0.4
SENT_S: Final = 0.010
SUBSTEPS: Final = 8
"""Of the plant per cycle. Between tendons of 100 N, as goals make them, a fingertip shakes at 17 rad/s with
the four that a run has; with 8 and with 16 it stands."""
LATE_S: Final = 1.0
"""Deadline of a request that comes too late: this long after 1970."""
_ENCODE: Final = msgspec.msgpack.Encoder().encode
See = Callable[[RecordArray], None]


class Mailbox(Segment):
    """A block of this process's own whose control side runs on while the server waits for it.

    Attributes:
        step: makes one cycle.
    """

    step: Callable[[], None]

    def goal_arrived(self) -> bool:
        """The loop has taken the newest goal; it gets one cycle for it, and for the frame that follows."""
        self.step()
        return super().goal_arrived()


class CommandedScene(Scene):
    """A hand that clients command.

    Args:
        hand: the hand, read.
        mismatch: seed of the drawn plant; 0: as the file says.
    """

    def __init__(self, hand: Hand, *, mismatch: int = 0) -> None:
        self.mailbox = Mailbox.local(SLOTS)
        head, stats = self.mailbox.field("head"), self.mailbox.field("stats")
        channel = Channel(self.mailbox.slots, head, stats, round(hand.rate_hz))
        super().__init__(
            hand, None, mismatch=mismatch, channel=channel, segment=self.mailbox, substeps=SUBSTEPS
        )
        self.mailbox.step = lambda: self.run(1)
        self.period_s = MOVES * MOVE_S
        self._mover: Client | None = None

    def go_back(self, cycle: int, seed: int | None = None) -> None:
        """As ``Scene.go_back``; what was posted last is taken before it."""
        self.mailbox.step = lambda: self.run(1)
        while not self.mailbox.goal_arrived():
            pass
        super().go_back(cycle, seed)

    def cruise(self, cycles: int) -> None:
        """Slow moves from pose to pose."""
        joints = self.hand.names.joints
        m, first = self.hand.model[0], self.cycles_of(SETTLE_S)
        if self._mover is None:
            self._mover = Client(self).__enter__()
        end = self.cycle + cycles
        while self.cycle < end:
            move, share = divmod((self.cycle - first) / self.cycles_of(MOVE_S), 1.0)
            share = rise(share)
            one, other = (self._pose(int(move) + k) for k in (0, 1))
            low, high = m["joint_min_rad"][: len(joints)], m["joint_max_rad"][: len(joints)]
            goal = low + (one + share * (other - one)) * (high - low)
            self._mover.ask("goal", joints=dict(zip(joints, goal.tolist(), strict=True)))
            self.run(min(self.cycles_of(SENT_S), end - self.cycle))

    def _playing(self, trial: Trial, recorder: Recorder, lead: int) -> tuple[Run, int, float]:
        """A storm begins at the restored state; its fault, if there is one, strikes within it."""
        seconds, strike_s, asked = storm_of(trial.storm, trial.drawn_from, self.hand)
        watch_s = max((f.at_s + KINDS[f.kind].watch_s for f in trial.faults), default=0.0)
        storm = Storm(self, asked, recorder.add)
        begun_s = strike_s if trial.faults else 0.0
        return storm.run, self.cycles_of(begun_s), max(watch_s, seconds - begun_s + CALM_S)

    def _pose(self, k: int) -> Any:
        """Shares of the joints' ranges; the first pose is the start's."""
        m, n = self.hand.model[0], len(self.hand.names.joints)
        low, high = m["joint_min_rad"][:n], m["joint_max_rad"][:n]
        if k == 0:
            return -low / np.maximum(high - low, 1e-9)
        return np.random.default_rng(k).uniform(0.15, 0.85, n)


class Client:
    """Holds the hand and commands it.

    Args:
        scene: the hand; it has made a cycle since its last state was restored.

    Attributes:
        refused: codes and texts of what was refused, in order.
    """

    def __init__(self, scene: CommandedScene) -> None:
        self.scene, self._lease = scene, 0
        self.server = CommandServer(scene.hand.names, scene.hand.model, scene.mailbox, lambda *_: None)
        self.refused: list[str] = []

    def __enter__(self) -> Self:
        self._lease = int(self.ask("lease", do="acquire", holder=NAME)["lease"])
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("lease", do="return")

    def ask(self, op: str, *, deadline: float = 0.0, **args: Any) -> Any:
        """One request now; returns the answer, and notes a refusal.

        Args:
            op: operation of docs/telemetry.md.
            deadline: Unix time [s] after which it is refused; 0: none.
            args: the operation's arguments.
        """
        now_ns = int(self.scene.rig.views["state"]["time_ns"][0])
        request = {"v": VERSION, "id": 1, "op": op, "args": args, "lease": self._lease, "deadline": deadline}
        answer = msgspec.msgpack.decode(self.server.handle(_ENCODE(request), now_ns, b"one"))
        self.server.flush(now_ns)
        if not answer["ok"]:
            self.refused.append(f"{answer['error']['code']}: {answer['error']['msg']}")
        return answer

    def replace(self) -> None:
        """This one dies without a word; another one takes the hand."""
        answer = self.ask("lease", do="take", holder=f"{NAME} 2", why="the other one died")
        self._lease = int(answer["lease"])


class Storm:
    """Plays a storm on a scene while that runs.

    Args:
        scene: the hand, a state restored.
        asked: what is asked for and when (``storm.storm_of``).
        see: gets every frame.
    """

    def __init__(
        self, scene: CommandedScene, asked: list[tuple[float, str, dict[str, Any]]], see: See
    ) -> None:
        self._scene, self._see, self._waiting = scene, see, asked
        scene.mailbox.step = lambda: scene.run(1, see)
        scene.run(1, see)  # the ring's newest frame is this state's
        self._begun, self.client = scene.cycle, Client(scene).__enter__()
        self._next, self._end = 0, scene.cycle

    def run(self, cycles: int, _see: See | None = None) -> None:
        """As ``Scene.run``; cycles that requests took before count among them."""
        scene = self._scene
        end = self._end = self._end + cycles
        while scene.cycle < end:
            due = end
            if self._next < len(self._waiting):
                time_s, op, args = self._waiting[self._next]
                due = self._begun + scene.cycles_of(time_s)
                if due <= scene.cycle:
                    self._next += 1
                    self._do(op, args)
                    continue
            scene.run(min(due, end) - scene.cycle, self._see)

    def _do(self, op: str, args: dict[str, Any]) -> None:
        if "motors" in args:
            angle, names = self._scene.rig.views["measurement"]["motor_angle_rad"][0], self._scene.hand.names
            moved = {k: way + float(angle[names.index("motor", k)]) for k, way in args["motors"].items()}
            args = args | {"motors": moved}
        if op == "late":
            self.client.ask("goal", deadline=LATE_S, **args)
        elif op == "replace":
            self.client.replace()
        else:
            self.client.ask(op, **args)
