"""A simulated hand under control that tests drive second by second, looking at every frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hand.options import RunOptions
from runtime.session import Session
from signals.faults import Cause
from signals.modes import MachineState, Request
from signals.records import FRAME_RECORDS, RecordArray
from sim.backend import SimulatedBus
from sim.options import Fault
from telemetry.columns import Columns, counts_of


class Driven:
    """A hand in lockstep; without a motion its goals are written by the test.

    Args:
        hand: name of the hand file.
        motion: motion by name, or ``None``.
        plant: called with the plant's model before the first cycle.
        choices: further fields of ``RunOptions``.
    """

    def __init__(
        self,
        hand: str = "finger_bench",
        motion: str | None = None,
        plant: Callable[[np.void], None] | None = None,
        **choices: Any,
    ) -> None:
        options = RunOptions(hand=hand, motion=motion, lockstep=True, seconds=1e5, **choices)
        self._frames: RecordArray | None = None
        self._seen = 0
        self._watch: Callable[[RecordArray], None] | None = None
        self.session = Session(options, buffer=lambda _: None, record=self._see)
        self.rig = self.session.rig
        self.names, self.model = self.session.hand.names, self.session.hand.model
        self.columns = Columns(counts_of(self.model), exact=FRAME_RECORDS)
        if plant is not None:
            plant(self.bus.model[0])

    @property
    def bus(self) -> SimulatedBus:
        """The plant."""
        assert isinstance(self.rig.bus, SimulatedBus)
        return self.rig.bus

    def _see(self, frames: RecordArray) -> None:
        if self._watch is not None:
            self._watch(frames)
        elif self._frames is not None:
            self.columns.take_into(frames, self._frames[self._seen : self._seen + len(frames)])
            self._seen += len(frames)

    def run(self, seconds: float, watch: Callable[[RecordArray], None] | None = None) -> RecordArray:
        """Run on; returns what the hand uses of the frames, or gives them to ``watch`` batch by batch."""
        cycles = 0 if watch else round(seconds * self.session.hand.rate_hz)
        self._frames, self._seen, self._watch = np.empty(cycles, self.columns.dtype), 0, watch
        self.session.run(seconds)
        return self._frames[: self._seen]

    def start(self, seconds: float = 0.3) -> None:
        """Arm and activate by itself; fails if the hand does not come to it."""
        self.run(seconds)
        assert self.machine == MachineState.ACTIVE, self.causes

    @property
    def machine(self) -> MachineState:
        """State of the hand."""
        return MachineState(int(self.rig.views["state"]["machine"][0]))

    def state_of(self, finger: int = 0) -> MachineState:
        """State of a finger."""
        return MachineState(int(self.rig.views["state"]["finger_state"][0, finger]))

    @property
    def causes(self) -> dict[str, tuple[Cause, int]]:
        """Finger -> (latched cause, index of its part)."""
        s = self.rig.views["state"][0]
        return {
            name: (Cause(int(s["finger_cause"][f])), int(s["finger_cause_part"][f]))
            for f, name in enumerate(self.names.fingers)
            if s["finger_cause"][f]
        }

    def inject(self, kind: Any, index: int, value: float = 0.0) -> None:
        """A fault now."""
        self.bus.inject(Fault(kind=kind, index=index, time_s=0.0, value=value))

    def ask(self, wish: Request) -> None:
        """A request of the operator."""
        self.rig.goals.request(wish)

    def state(self, name: str) -> Any:
        """A field of the state now (a view)."""
        return self.rig.views["state"][name][0]

    def truth(self, name: str) -> Any:
        """A field of the truth now (a view)."""
        return self.rig.views["truth"][name][0]

    def goal(self, name: str) -> Any:
        """A field of the goal (a view: write into it)."""
        return self.rig.views["goal"][name][0]
