"""Poses with times, as a glove or a script sends them: the hand follows smoothly, a little later."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol, Self

from flexor.effect import numbers, what_holds, what_holds_fingers
from flexor.errors import HandError, Refused

_AGAIN: Final = "engage() begins anew, with a ramp from the measured pose"


class Commander(Protocol):
    """What a stream needs of ``flexor.Control``."""

    def activate(self) -> None:
        """Arm and activate."""

    def said(self, op: str, **args: Any) -> dict[str, Any]:
        """A request under the lease."""

    def forget(self, *arguments: str) -> None:
        """Say these arguments of the last goal no longer."""

    def remember(self, **arguments: dict[str, float]) -> None:
        """Say these from now on."""

    @property
    def meta(self) -> dict[str, Any]:
        """Names, units, codes of the hand."""


@dataclass(frozen=True, slots=True)
class Following:
    """How the hand follows a stream.

    Attributes:
        delay_s: how much later than you it moves, beside the way of your messages.
        share: how far the ramp at the beginning has come, 0 to 1.
        late: poses that came too late or out of order and were passed over.
        jumps: poses that jumped.
        clamped: joints and axes of the last pose that are beyond the hand's range; they stay at its end.
    """

    delay_s: float
    share: float
    late: int
    jumps: int
    clamped: tuple[str, ...]


class Stream:
    """A stream of poses; made by ``Control.stream``.

    Args:
        control: who holds the lease.
        options: of ``Control.stream``.
    """

    def __init__(self, control: Commander, **options: float) -> None:
        self._control = control
        self._options = {key: float(value) for key, value in options.items()}

    def __enter__(self) -> Self:
        self.engage()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(HandError):  # it has ended already: the hand holds by itself
            self.end()

    def engage(self) -> None:
        """Activate the hand and begin: the next poses are reached by a ramp from where the hand is.

        Raises:
            Refused: not the holder, or the hand is in fault.
        """
        self._control.activate()
        self._control.forget("joints", "joint_speeds", "axes", "axis_speeds")
        self._control.said("stream", do="begin", **self._options)

    def send(
        self,
        t: float | None = None,
        joints: Mapping[str, float] | None = None,
        *,
        axes: Mapping[str, float] | None = None,
    ) -> Following:
        """One pose; send the next within 100 ms.

        Args:
            t: when it was taken [s], by any clock that runs evenly; ``None``: now.
            joints: joint angles [rad]; what is not named stays.
            axes: wrist angles [rad].

        Raises:
            Refused: ``no_stream``: poses stayed away for longer than a goal lives. ``not_active``: the hand
                or a finger does not follow. ``engage()`` begins anew. Other codes: this pose was refused.
        """
        given = {
            key: numbers(key, values)
            for key, values in (("joints", joints), ("axes", axes))
            if values is not None
        }
        taken = time.monotonic() if t is None else float(t)
        answer = self._control.said("stream", do="send", t=taken, **given)
        state = answer["state"]
        held = what_holds(state) or what_holds_fingers(state, self._control.meta, given.get("joints", ()))
        if held:
            raise Refused("stream", "not_active", f"{held}, and does not follow", _AGAIN)
        told = answer["stream"]
        return Following(told["delay_s"], told["share"], told["late"], told["jumps"], tuple(told["clamped"]))

    def end(self) -> None:
        """End the stream; the hand goes on holding the pose it has reached, as after a ``goal``."""
        left = self._control.said("stream", do="end")["stream"]
        self._control.remember(joints=left["joints"], axes=left["axes"])
