"""Poses with times, as a glove or a script sends them: the hand follows smoothly, a little later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from flexor.commanding import Commanding, Steps
from flexor.errors import HandError
from flexor.following import Following


class Stream:
    """A stream of poses; made by ``Control.stream``.

    Args:
        core: who commands.
        run: carries out the steps of a procedure.
        options: of ``Control.stream``.
    """

    def __init__(
        self, core: Commanding, run: Callable[[Steps[Any]], Any], options: Mapping[str, float]
    ) -> None:
        self._core, self._run, self._options = core, run, options

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
        self._run(self._core.engaging(self._options))

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
        found: Following = self._run(self._core.streaming(t, {"joints": joints, "axes": axes}))
        return found

    def end(self) -> None:
        """End the stream; the hand goes on holding the pose it has reached, as after a ``goal``."""
        self._run(self._core.ending())
