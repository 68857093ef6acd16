"""Command a hand under a lease: one client at a time, and the hand holds still when that one falls silent.

The lease lives one second after the last message. There is no thread behind it on purpose: a program that
hangs must lose the hand. ``move`` and ``sleep`` send often enough by themselves. A notebook asks for such a
thread: between two of its cells nobody else would send.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from threading import RLock
from types import TracebackType
from typing import Any, Final, Self

from flexor.again import ALIVE_EVERY_S, Again
from flexor.connection import Connection
from flexor.effect import numbers, situation, what_holds, what_holds_fingers
from flexor.errors import HandError, HandSilent, Refused
from flexor.recording import Record
from flexor.stream import Stream
from signals.minimum_jerk import rise, slope

RATE_HZ: Final = 100.0
"""Rate at which ``move`` and ``sleep`` send."""
_ACTIVE_WITHIN_S: Final = 2.0
_DONE_WITHIN_S: Final = 0.5
_SETTLED: Final = 5
"""Goals of a move after which a mode set just before it must have been taken."""
_AGAIN: Final = "goals came too late, or another request: activate() again"
_NEXT: Final = {"fault": "look at its faults, then rearm() and activate()"}


class Control:
    """The right to command; made by ``Hand.control``.

    Args:
        hand: the connection.
        name: who commands.
        take: reason to take the lease by force.
    """

    def __init__(self, hand: Connection, name: str, take: str | None = None) -> None:
        self.hand, self.name = hand, name
        self._take = take
        self._lease = 0
        self._goal: dict[str, dict[str, float]] = {}
        self._active = False
        self._meta: dict[str, Any] = {}
        self._turn = RLock()
        self._alive: Again | None = None
        self._said_s = 0.0

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, *, keep_alive: bool = False) -> Self:
        """Take the lease; ``with`` does it by itself.

        Args:
            keep_alive: a thread keeps lease and last goal alive until ``close``, for notebooks. The hand then
                goes on holding its goal while your program hangs.

        Raises:
            Refused: somebody else holds the hand.
            HandSilent: no answer.
        """
        with suppress(HandSilent):  # now: once the hand is active there is no time to wait for them
            self.hand.listen("view")
            self._meta = self.hand.meta
        if self._take is None:
            answer = self.hand.request("lease", do="acquire", holder=self.name)
        else:
            answer = self.hand.request("lease", do="take", holder=self.name, why=self._take)
        self._lease = int(answer["lease"])
        if keep_alive:
            self._alive = Again(self._say_again, self.name)
        return self

    def close(self) -> None:
        """Let an active hand go over to holding, and return the lease; safe to call twice."""
        if self._alive is not None:
            self._alive.end()
        self._alive = None
        if not self._lease:
            return
        active, self._active = self._active, False
        with suppress(HandError):  # lost already, or in fault: the hand holds by itself
            if active:
                self.said("arm")
                self._until("close", "not_holding", lambda machine: machine != "active")
        with suppress(HandError):
            self.said("lease", do="return")
        self._lease = 0

    @property
    def meta(self) -> dict[str, Any]:
        """Names, units, codes of the hand; empty where it did not tell them."""
        return self._meta

    def forget(self, *arguments: str) -> None:
        """Say these arguments of the last goal no longer."""
        with self._turn:
            for key in arguments:
                self._goal.pop(key, None)

    def remember(self, **arguments: dict[str, float]) -> None:
        """Say these from now on, as after a ``goal``."""
        with self._turn:
            for key, values in arguments.items():
                self._goal.setdefault(key, {}).update(values)

    def _say_again(self) -> None:
        """What was said last, if that is some time ago; whoever calls next hears what has become of it."""
        with suppress(HandError), self._turn:
            if time.monotonic() - self._said_s < ALIVE_EVERY_S:
                return
            if self._active:
                self.said("goal", **self._goal)
            else:
                self.said("lease", do="keep")

    def arm(self) -> None:
        """Hold the measured pose: from off or ready, and from active.

        Raises:
            Refused: not the holder, or the hand is in fault (``rearm`` first).
        """
        self._active = False
        self.said("arm")

    def activate(self) -> None:
        """Arm and activate; the hand starts from where it is.

        Raises:
            Refused: not the holder, or the hand is in fault (``rearm`` first).
        """
        state = self.said("arm")["state"]
        if state["machine"] == "fault":
            raise Refused("activate", "in_fault", situation(state), "look at its faults, then rearm()")
        self.said("activate")
        until = time.monotonic() + _ACTIVE_WITHIN_S
        while (state := self.said("lease", do="keep")["state"])["machine"] != "active":
            if time.monotonic() > until:
                raise Refused("activate", "not_active", situation(state), "look at its faults")
            time.sleep(0.005)
            self.said("activate")
        self._active = True

    def goal(
        self,
        joints: Mapping[str, float] | None = None,
        *,
        tensions: Mapping[str, float] | None = None,
        motors: Mapping[str, float] | None = None,
        **more: Mapping[str, float],
    ) -> None:
        """Send one goal, name -> value in SI; what is not named stays. Send again within 100 ms.

        Args:
            joints: joint angles [rad].
            tensions: tendon tensions [N].
            motors: motor angles [rad].
            more: any other argument of ``goal`` in docs/telemetry.md, as ``impedances`` or ``axes``.

        Raises:
            Refused: nothing of the goal was applied, or (``not_active``) the hand no longer follows goals: it
                has fallen to holding or is in fault since ``activate``; the text says why.
            TypeError: a value is no number.
        """
        named = {"joints": joints, "tensions": tensions, "motors": motors, **more}
        args = {k: numbers(k, v) for k, v in named.items() if v}
        self._send_goal("goal", args, self._active)

    def _send_goal(self, op: str, args: dict[str, dict[str, float]], active: bool) -> dict[str, Any]:
        """Send a goal and remember it; raise if the hand should follow it and does not."""
        with self._turn:
            state: dict[str, Any] = self.said("goal", **args)["state"]
            self.remember(**args)
        held = what_holds(state) if active else ""
        if held:
            raise Refused(
                op, "not_active", f"{held}, and does not follow", _NEXT.get(state["machine"], _AGAIN)
            )
        return state

    def stream(
        self, rate_hz: float = 60.0, *, ramp_s: float = 1.0, speed_rad_s: float = inf, jump_rad: float = 0.6
    ) -> Stream:
        """Follow a person's hand or a script that sends poses with times; use as a context manager.

        Args:
            rate_hz: how often you send, roughly (10 to 500).
            ramp_s: time in which the hand goes from where it is to the poses.
            speed_rad_s: greatest speed of a joint; the hand's own limits count as well.
            jump_rad: a step between two poses that is passed over, until the next pose confirms it.
        """
        return Stream(self, rate_hz=rate_hz, ramp_s=ramp_s, speed_rad_s=speed_rad_s, jump_rad=jump_rad)

    @property
    def record(self) -> Record:
        """``record.start()`` and ``record.stop()``: a log at full rate on the hand's computer."""
        return Record(lambda do: str(self.said("record", do=do)["file"]), self.hand.snapshot)

    def mode(self, mode: str, finger: str = "*") -> None:
        """Mode of a finger or of all: joint_impedance, joint_torque, tendon_force, motor_position, ...

        An active finger takes it at once; any other when it is activated.
        """
        self.said("mode", fingers={finger: mode})

    def move(self, joints: Mapping[str, float], seconds: float = 1.0) -> None:
        """Move joints [rad] from the last goal (or from where they are) smoothly, and wait for the end.

        Raises:
            Refused: ``not_active``: the hand, or the finger of a joint, does not follow, now or in between;
                the text says what it is doing. Other codes: the goal was refused.
        """
        joints = numbers("joints", joints)
        view = self.hand.view()
        sent = self._goal.get("joints", {})
        start = {name: sent.get(name, float(view.pos.get(name, 0.0))) for name in joints}
        steps = max(1, round(seconds * RATE_HZ))
        begun = time.monotonic()
        for k in range(1, steps + 1):
            x = k / steps
            share, pace = rise(x), slope(x) / max(seconds, 1.0 / RATE_HZ)
            way = {name: target - start[name] for name, target in joints.items()}
            goal = {
                "joints": {name: start[name] + share * d for name, d in way.items()},
                "joint_speeds": {name: pace * d for name, d in way.items()},
            }
            state = self._send_goal("move", goal, True)
            if k > _SETTLED:
                self._must_follow(state, joints)
            time.sleep(max(0.0, begun + k / RATE_HZ - time.monotonic()))
        self._must_follow(self._send_goal("move", self._goal, True), joints)

    def _must_follow(self, state: dict[str, Any], joints: Mapping[str, float]) -> None:
        held = what_holds_fingers(state, self._meta, joints)
        if held:
            hint = "choose its mode, activate() again, or look at its faults and rearm()"
            raise Refused("move", "not_active", held, hint)

    def sleep(self, seconds: float) -> None:
        """Wait; lease and last goal stay alive.

        Raises:
            Refused: ``not_active``: the hand was active, and no longer follows its goal.
        """
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._send_goal("sleep", self._goal, self._active)
            time.sleep(min(1.0 / RATE_HZ, max(0.0, until - time.monotonic())))

    def rearm(self) -> None:
        """Clear latched faults; the hand then holds the measured pose.

        Raises:
            Refused: ``in_fault``: the fault is back, its cause is still there.
        """
        self._active = False
        self.said("rearm")
        self._until("rearm", "in_fault", lambda machine: machine != "fault")

    def off(self) -> None:
        """Switch the motors off.

        Raises:
            Refused: ``not_off``: the hand did not let go.
        """
        self._active = False
        self.said("off")
        self._until("off", "not_off", lambda machine: machine not in ("holding", "active"))

    def stop(self) -> None:
        """Stop the hand."""
        self._active = False
        self.hand.stop(by=self.name)

    def _until(self, op: str, code: str, reached: Callable[[str], bool]) -> None:
        """Wait until the hand has done what it acknowledged."""
        until = time.monotonic() + _DONE_WITHIN_S
        while not reached((state := self.said("lease", do="keep")["state"]).get("machine", "")):
            if time.monotonic() > until:
                raise Refused(op, code, f"{situation(state)} still", "look at its faults")
            time.sleep(0.005)

    def said(self, op: str, **args: Any) -> dict[str, Any]:
        """One request under the lease, and its answer."""
        with self._turn:
            self._said_s = time.monotonic()
            return self.hand.request(op, lease=self._lease, **args)
