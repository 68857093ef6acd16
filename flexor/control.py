"""Command a hand under a lease: one client at a time, and the hand holds still when that one falls silent.

The lease lives one second after the last message. There is no thread behind it on purpose: a program that
hangs must lose the hand. ``move`` and ``sleep`` send often enough by themselves. A notebook asks for such a
thread: between two of its cells nobody else would send.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from threading import RLock
from types import TracebackType
from typing import Any, Protocol, Self

from flexor.again import Again
from flexor.commanding import ALIVE_EVERY_S, Commanding, Done, Look, Say, Steps, T, Wait, advance
from flexor.errors import HandError, HandSilent
from flexor.recording import Record
from flexor.stream import Stream
from flexor.views import View


class Connection(Protocol):
    """What commanding needs of a hand's connection: ``flexor.Hand``."""

    @property
    def meta(self) -> dict[str, Any]:
        """Names, units, codes of the hand."""

    def view(self) -> View:
        """The newest view."""

    def listen(self, *topics: str) -> None:
        """Subscribe now."""

    def request(self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any) -> dict[str, Any]:
        """One request and its answer."""

    def stop(self, by: str = "") -> dict[str, Any]:
        """Stop the hand now."""

    def snapshot(self) -> str:
        """Write down the last seconds."""


class Control:
    """The right to command; made by ``Hand.control``.

    Args:
        hand: the connection.
        name: who commands.
        take: reason to take the lease by force.
    """

    def __init__(self, hand: Connection, name: str, take: str | None = None) -> None:
        self.hand, self.name = hand, name
        self._core = Commanding(name, take)
        self._turn = RLock()
        self._alive: Again | None = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def lease(self) -> int:
        """Number that requests under the lease carry; 0: not held."""
        return self._core.lease

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
            self._core.meta = self.hand.meta
        self._run(self._core.opening())
        if keep_alive:
            self._alive = Again(lambda: self._run(self._core.saying_again()), self.name, ALIVE_EVERY_S)
        return self

    def close(self) -> None:
        """Let an active hand go over to holding, and return the lease; safe to call twice."""
        if self._alive is not None:
            self._alive.end()
        self._alive = None
        self._run(self._core.closing())

    def arm(self) -> None:
        """Hold the measured pose: from off or ready, and from active.

        Raises:
            Refused: not the holder, or the hand is in fault (``rearm`` first).
        """
        self._run(self._core.arming())

    def activate(self) -> None:
        """Arm and activate; the hand starts from where it is.

        Raises:
            Refused: not the holder, or the hand is in fault (``rearm`` first).
        """
        self._run(self._core.activating())

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
        self._run(self._core.sending(named))

    def stream(
        self, rate_hz: float = 60.0, *, ramp_s: float = 1.0, speed_rad_s: float = inf, jump_rad: float = 0.6
    ) -> Stream:
        """Follow a person's hand or a script that sends poses with times; use as a context manager.

        Args:
            rate_hz: how often you send, roughly: from twice in the time that a goal lives (20, where that is
                100 ms) to 500.
            ramp_s: time in which the hand goes from where it is to the poses.
            speed_rad_s: greatest speed of a joint; the hand's own limits count as well.
            jump_rad: a step between two poses that is passed over, until the next pose confirms it.
        """
        options = {"rate_hz": rate_hz, "ramp_s": ramp_s, "speed_rad_s": speed_rad_s, "jump_rad": jump_rad}
        return Stream(self._core, self._run, {key: float(value) for key, value in options.items()})

    @property
    def record(self) -> Record[str]:
        """``record.start()`` and ``record.stop()``: a log at full rate on the hand's computer."""
        return Record(lambda do: self._run(self._core.recording(do)), self.hand.snapshot)

    def mode(self, mode: str, finger: str = "*") -> None:
        """Mode of a finger or of all: joint_impedance, joint_torque, tendon_force, motor_position, ...

        An active finger takes it at once; any other when it is activated.
        """
        self._run(self._core.setting_mode(mode, finger))

    def move(self, joints: Mapping[str, float], seconds: float = 1.0) -> None:
        """Move joints [rad] from the last goal (or from where they are) smoothly, and wait for the end.

        Raises:
            Refused: ``not_active``: the hand, or the finger of a joint, does not follow, now or in between;
                the text says what it is doing. Other codes: the goal was refused.
        """
        self._run(self._core.moving(joints, seconds))

    def sleep(self, seconds: float) -> None:
        """Wait; lease and last goal stay alive.

        Raises:
            Refused: ``not_active``: the hand was active, and no longer follows its goal.
        """
        self._run(self._core.sleeping(seconds))

    def rearm(self) -> None:
        """Clear latched faults; the hand then holds the measured pose.

        Raises:
            Refused: ``in_fault``: the fault is back, its cause is still there.
        """
        self._run(self._core.rearming())

    def off(self) -> None:
        """Switch the motors off.

        Raises:
            Refused: ``not_off``: the hand did not let go.
        """
        self._run(self._core.letting_go())

    def stop(self) -> None:
        """Stop the hand."""
        self._core.active = False
        self.hand.stop(by=self.name)

    def _run(self, steps: Steps[T]) -> T:
        """Carry out a procedure; what it says and remembers in one go is not mixed with another thread's."""
        answer, error = None, None
        while True:
            with self._turn:
                step = advance(steps, answer, error)
                while isinstance(step, Say):
                    step = advance(steps, *self._result(step))
            if isinstance(step, Done):
                return step.value
            answer, error = self._result(step)

    def _result(self, step: Say | Wait | Look) -> tuple[Any, HandError | None]:
        """What a step gives, or raises."""
        try:
            if isinstance(step, Wait):
                time.sleep(step.seconds)
                return None, None
            if isinstance(step, Look):
                return self.hand.view(), None
            self._core.said_s = time.monotonic()
            return self.hand.request(step.op, lease=self._core.lease, **step.args), None
        except HandError as error:
            return None, error
