"""What commanding a hand takes, without a socket or a clock: each procedure yields what it needs next.

``flexor.Control`` and ``flexor.aio.AsyncControl`` are the two that carry the steps out: one waits, the other
lets others run meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from flexor.effect import numbers, situation, what_holds, what_holds_fingers
from flexor.errors import HandError, Refused
from flexor.following import Following, following_of
from flexor.views import View
from signals.minimum_jerk import rise, slope

RATE_HZ: Final = 100.0
"""Rate at which ``move`` and ``sleep`` send."""
ALIVE_EVERY_S: Final = 0.03
"""Time between two messages of a keep-alive; a goal lives 0.1 s."""
_ACTIVE_WITHIN_S: Final = 2.0
_DONE_WITHIN_S: Final = 0.5
_LOOK_S: Final = 0.005
_SETTLED: Final = 5
"""Goals of a move after which a mode set just before it must have been taken."""
_AGAIN: Final = "goals came too late, or another request: activate() again"
_NEXT: Final = {"fault": "look at its faults, then rearm() and activate()"}
_ENGAGE: Final = "engage() begins anew, with a ramp from the measured pose"


@dataclass(frozen=True, slots=True)
class Say:
    """Make a request under the lease; the step's result is the answer."""

    op: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Look:
    """See the hand; the step's result is the newest view."""


T = TypeVar("T")
Steps = Generator[Say | Wait | Look, Any, T]
"""A procedure; errors of a step are raised where it was yielded."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The procedure is over."""

    value: T


def advance(steps: Steps[T], answer: Any, error: Exception | None) -> Say | Wait | Look | Done[T]:
    """The next step of a procedure.

    Args:
        steps: the procedure.
        answer: result of the step before.
        error: what that step raised, if it did.
    """
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as end:
        return Done(end.value)


class Commanding:
    """What whoever commands knows, and the procedures.

    Args:
        name: who commands.
        take: reason to take the lease by force, or ``None``.

    Attributes:
        lease: number that requests carry; 0: not held.
        goal: the goal so far, argument -> name -> value.
        active: the hand was active when it answered last.
        meta: names, units, codes of the hand; empty where it did not tell them.
        said_s: when something was said last.
    """

    def __init__(self, name: str, take: str | None = None) -> None:
        self.name, self._take = name, take
        self.lease = 0
        self.goal: dict[str, dict[str, float]] = {}
        self.active = False
        self.meta: dict[str, Any] = {}
        self.said_s = 0.0

    def opening(self) -> Steps[None]:
        """Take the lease."""
        by_force = {"do": "take", "why": self._take}
        how = {"do": "acquire"} if self._take is None else by_force
        answer = yield Say("lease", how | {"holder": self.name})
        self.lease = int(answer["lease"])

    def closing(self) -> Steps[None]:
        """Let an active hand go over to holding, and return the lease."""
        if not self.lease:
            return
        active, self.active = self.active, False
        with suppress(HandError):  # lost already, or in fault: the hand holds by itself
            if active:
                yield Say("arm")
                yield from self._until("close", "not_holding", lambda machine: machine != "active")
        with suppress(HandError):
            yield Say("lease", {"do": "return"})
        self.lease = 0

    def saying_again(self) -> Steps[None]:
        """What was said last, if that is some time ago; whoever calls next hears what has become of it."""
        with suppress(HandError):
            if time.monotonic() - self.said_s >= ALIVE_EVERY_S:
                yield Say("goal", dict(self.goal)) if self.active else Say("lease", {"do": "keep"})

    def arming(self) -> Steps[None]:
        """Hold the measured pose."""
        self.active = False
        yield Say("arm")

    def activating(self) -> Steps[None]:
        """Arm and activate, and wait until the hand is active."""
        state = (yield Say("arm"))["state"]
        if state["machine"] == "fault":
            raise Refused("activate", "in_fault", situation(state), "look at its faults, then rearm()")
        yield Say("activate")
        until = time.monotonic() + _ACTIVE_WITHIN_S
        while (state := (yield Say("lease", {"do": "keep"}))["state"])["machine"] != "active":
            if time.monotonic() > until:
                raise Refused("activate", "not_active", situation(state), "look at its faults")
            yield Wait(_LOOK_S)
            yield Say("activate")
        self.active = True

    def sending(self, values: Mapping[str, Mapping[str, float] | None]) -> Steps[None]:
        """One goal, argument -> name -> value."""
        yield from self._goal("goal", {k: numbers(k, v) for k, v in values.items() if v}, self.active)

    def _goal(self, op: str, args: dict[str, dict[str, float]], active: bool) -> Steps[dict[str, Any]]:
        """Send a goal and remember it; raise if the hand should follow it and does not."""
        state: dict[str, Any] = (yield Say("goal", args))["state"]
        self._remember(args)
        held = what_holds(state) if active else ""
        if held:
            raise Refused(
                op, "not_active", f"{held}, and does not follow", _NEXT.get(state["machine"], _AGAIN)
            )
        return state

    def _remember(self, args: Mapping[str, Mapping[str, float]]) -> None:
        for key, values in args.items():
            self.goal.setdefault(key, {}).update(values)

    def moving(self, joints: Mapping[str, float], seconds: float) -> Steps[None]:
        """Move joints smoothly from the last goal, or from where they are."""
        joints = numbers("joints", joints)
        view: View = yield Look()
        sent = self.goal.get("joints", {})
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
            state = yield from self._goal("move", goal, True)
            if k > _SETTLED:
                self._must_follow(state, joints)
            yield Wait(max(0.0, begun + k / RATE_HZ - time.monotonic()))
        self._must_follow((yield from self._goal("move", self.goal, True)), joints)

    def _must_follow(self, state: dict[str, Any], joints: Mapping[str, float]) -> None:
        held = what_holds_fingers(state, self.meta, joints)
        if held:
            hint = "choose its mode, activate() again, or look at its faults and rearm()"
            raise Refused("move", "not_active", held, hint)

    def sleeping(self, seconds: float) -> Steps[None]:
        """Wait; lease and last goal stay alive."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            yield from self._goal("sleep", self.goal, self.active)
            yield Wait(min(1.0 / RATE_HZ, max(0.0, until - time.monotonic())))

    def rearming(self) -> Steps[None]:
        """Clear latched faults."""
        self.active = False
        yield Say("rearm")
        yield from self._until("rearm", "in_fault", lambda machine: machine != "fault")

    def letting_go(self) -> Steps[None]:
        """Switch the motors off."""
        self.active = False
        yield Say("off")
        yield from self._until("off", "not_off", lambda machine: machine not in ("holding", "active"))

    def setting_mode(self, mode: str, finger: str) -> Steps[None]:
        """Mode of a finger, or of all."""
        yield Say("mode", {"fingers": {finger: mode}})

    def recording(self, do: str) -> Steps[str]:
        """Begin or end a log; its path."""
        return str((yield Say("record", {"do": do}))["file"])

    def engaging(self, options: Mapping[str, float]) -> Steps[None]:
        """Activate the hand and begin a stream."""
        yield from self.activating()
        for key in ("joints", "joint_speeds", "axes", "axis_speeds"):
            self.goal.pop(key, None)
        yield Say("stream", {"do": "begin", **options})

    def streaming(
        self, t: float | None, values: Mapping[str, Mapping[str, float] | None]
    ) -> Steps[Following]:
        """One pose of a stream."""
        given = {key: numbers(key, found) for key, found in values.items() if found is not None}
        taken_s = time.monotonic() if t is None else float(t)
        answer = yield Say("stream", {"do": "send", "t": taken_s, **given})
        state = answer["state"]
        held = what_holds(state) or what_holds_fingers(state, self.meta, given.get("joints", ()))
        if held:
            raise Refused("stream", "not_active", f"{held}, and does not follow", _ENGAGE)
        return following_of(answer["stream"])

    def ending(self) -> Steps[None]:
        """End a stream; its last pose is the goal."""
        left = (yield Say("stream", {"do": "end"}))["stream"]
        self._remember({"joints": left["joints"], "axes": left["axes"]})

    def _until(self, op: str, code: str, reached: Callable[[str], bool]) -> Steps[None]:
        """Wait until the hand has done what it acknowledged."""
        until = time.monotonic() + _DONE_WITHIN_S
        while not reached((state := (yield Say("lease", {"do": "keep"}))["state"]).get("machine", "")):
            if time.monotonic() > until:
                raise Refused(op, code, f"{situation(state)} still", "look at its faults")
            yield Wait(_LOOK_S)
