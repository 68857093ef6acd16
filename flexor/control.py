"""Command a hand under a lease: one client at a time, and the hand holds still when that one falls silent.

The lease lives one second after the last message. There is no thread behind it on purpose: a program that
hangs must lose the hand. ``move`` and ``sleep`` send often enough by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from flexor.errors import HandError, Refused

if TYPE_CHECKING:
    from flexor.client import Hand

RATE_HZ: Final = 100.0
"""Rate at which ``move`` and ``sleep`` send."""
_ACTIVE_WITHIN_S: Final = 2.0


class Control:
    """The right to command; made by ``Hand.control``.

    Args:
        hand: the connection.
        name: who commands.
        take: reason to take the lease by force.
    """

    def __init__(self, hand: Hand, name: str, take: str | None = None) -> None:
        self.hand, self.name = hand, name
        self._take = take
        self._lease = 0
        self._goal: dict[str, dict[str, float]] = {}

    def __enter__(self) -> Self:
        if self._take is None:
            answer = self.hand.request("lease", do="acquire", holder=self.name)
        else:
            answer = self.hand.request("lease", do="take", holder=self.name, why=self._take)
        self._lease = int(answer["lease"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.hand.request("lease", lease=self._lease, do="return")
        except HandError:
            pass  # lost already: the hand holds by itself
        self._lease = 0

    def activate(self) -> None:
        """Arm and activate; the hand starts from where it is.

        Raises:
            Refused: not the holder, or the hand is in fault (``rearm`` first).
        """
        state = self._ask("arm")["state"]
        if state["machine"] == "fault":
            raise Refused("activate", "in_fault", "the hand is in fault", "look at its faults, then rearm()")
        self._ask("activate")
        until = time.monotonic() + _ACTIVE_WITHIN_S
        while (machine := self._ask("lease", do="keep")["state"]["machine"]) != "active":
            if time.monotonic() > until:
                raise Refused("activate", "not_active", f"the hand is {machine}", "look at its faults")
            time.sleep(0.005)
            self._ask("activate")

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
            Refused: nothing of the goal was applied; the text says why.
        """
        named: dict[str, Mapping[str, float] | None] = {
            "joints": joints,
            "tensions": tensions,
            "motors": motors,
        }
        args = {k: dict(v) for k, v in {**named, **more}.items() if v}
        self._ask("goal", **args)
        for key, values in args.items():
            self._goal.setdefault(key, {}).update(values)

    def mode(self, mode: str, finger: str = "*") -> None:
        """Mode of a finger or of all: joint_impedance, joint_torque, tendon_force, motor_position, ..."""
        self._ask("mode", fingers={finger: mode})

    def move(self, joints: Mapping[str, float], seconds: float = 1.0) -> None:
        """Move joints [rad] from the last goal (or from where they are) smoothly, and wait for the end."""
        view = self.hand.view()
        sent = self._goal.get("joints", {})
        start = {name: sent.get(name, float(view.pos.get(name, 0.0))) for name in joints}
        steps = max(1, round(seconds * RATE_HZ))
        begun = time.monotonic()
        for k in range(1, steps + 1):
            x = k / steps
            share = x * x * x * (10.0 + x * (6.0 * x - 15.0))
            slope = 30.0 * x * x * (1.0 - x) * (1.0 - x) / max(seconds, 1.0 / RATE_HZ)
            way = {name: target - start[name] for name, target in joints.items()}
            self.goal(
                {name: start[name] + share * d for name, d in way.items()},
                joint_speeds={name: slope * d for name, d in way.items()},
            )
            time.sleep(max(0.0, begun + k / RATE_HZ - time.monotonic()))

    def sleep(self, seconds: float) -> None:
        """Wait; lease and last goal stay alive."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._ask("goal", **self._goal)
            time.sleep(min(1.0 / RATE_HZ, max(0.0, until - time.monotonic())))

    def rearm(self) -> None:
        """Clear latched faults; the hand then holds the measured pose."""
        self._ask("rearm")

    def off(self) -> None:
        """Switch the motors off."""
        self._ask("off")

    def stop(self) -> None:
        """Stop the hand."""
        self.hand.stop()

    def _ask(self, op: str, **args: Any) -> dict[str, Any]:
        return self.hand.request(op, lease=self._lease, **args)
