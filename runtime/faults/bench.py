"""A hand in motion that can go back: homed and started once, then restored for every trial.

All that a run remembers stands in numpy records - plant, memories, model, frame, motion - so a copy of them
is an exact state: what follows is the same bit by bit. A trial begins from the nearest state before its
moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, cast

import numpy as np

from drivers.hal import Bus
from runtime.faults import rules
from runtime.faults.draw import Trial
from runtime.faults.record import FloatArray, Recorder, Recording
from runtime.faults.rules import KINDS, KindRule
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.options import RunOptions
from runtime.setup import Hand, Rig, build, prepare
from runtime.telemetry.channel import Channel
from runtime.telemetry.columns import counts_of
from runtime.telemetry.segment import Segment
from signals.modes import FaultKind, MachineState, MotorMode
from signals.records import COMMAND, RecordArray, new
from sim.backend import SimulatedBus
from sim.options import Fault
from sim.randomness import seed_state

BATCH: Final = 256
SLOTS: Final = 2 * BATCH
SETTLE_S: Final = 1.0
"""Motion before the first state to go back to: the blend from the start pose (0.8 s) is over."""
STEP_S: Final = 0.2
"""Time between two such states."""
LEAD_S: Final = 0.03
"""Least time between going back and the fault: new noise fills the filters."""
REST_S: Final = 0.05
"""Time that is seen beyond the one at which all unwinding has to be over."""
STILL_S: Final = 0.5
"""Period that a motion without one is given."""


class NotActive(RuntimeError):
    """A hand without a fault did not come to its motion; says the cause."""


class Bench:
    """One hand on one motion, or one that clients command.

    Args:
        hand: the hand, read; its model is copied.
        motion: name of the motion; ``None``: goals come through the mailbox of ``segment``.
        mismatch: seed of the drawn plant; 0: as the file says.
        seed: seed of the sensors' noise until the first trial.
        channel: ring for the frames (``Channel.local(SLOTS)``); may be shared by benches of one process.
        segment: mailbox of clients.
    """

    def __init__(
        self,
        hand: Hand,
        motion: str | None,
        *,
        mismatch: int = 0,
        seed: int = 0,
        channel: Channel,
        segment: Segment | None = None,
    ) -> None:
        self.hand = replace(hand, model=hand.model.copy())
        options = RunOptions(
            hand=hand.name,
            motion=motion,
            lockstep=True,
            seconds=1.0,
            mismatch=mismatch or None,
            seed=seed,
        )
        self.channel = channel
        self.rig: Rig = build(options, self.hand, channel, segment=segment)
        self.loop = Loop(self.rig.pipeline.tick, self.hand.rate_hz)
        self.counts = counts_of(self.hand.model)
        prepare(self.rig, LOCKSTEP_START_NS)
        self.period_s = (self.rig.motion and self.rig.motion.duration_s) or STILL_S
        self._states: list[tuple[int, list[RecordArray]]] = []

    @property
    def bus(self) -> SimulatedBus:
        """The plant behind the HAL."""
        bus: Bus = self.rig.bus
        assert isinstance(bus, SimulatedBus)
        return bus

    @property
    def cycle(self) -> int:
        """Number of the next cycle."""
        return self.loop.progress.cycles

    def _records(self) -> list[RecordArray]:
        return list(self.records().values())

    def records(self) -> dict[str, RecordArray]:
        """All that the run remembers, by name."""
        bus, stages, rig = self.bus, self.rig.stages, self.rig
        found = {
            "frame": rig.frame,
            "model": self.hand.model,
            "plant": bus.plant,
            "work": bus.work,
            "plant_model": bus.model,
            "estimator_memory": stages.estimator_memory,
            "controller_memory": stages.controller_memory,
            "guard_memory": stages.guard_memory,
        }
        return found if rig.motion is None else found | {"motion": rig.motion.head}

    def cycles_of(self, seconds: float) -> int:
        """Cycles in a time [s]."""
        return round(seconds * self.hand.rate_hz)

    def run(self, cycles: int, see: Callable[[RecordArray], None] | None = None) -> None:
        """Run on; ``see`` gets every frame, in batches."""
        reader = self.channel.reader(SLOTS) if see is not None else None
        done = 0
        while done < cycles:
            step = min(BATCH, cycles - done)
            self.loop.run_lockstep(step, _yes)
            done += step
            if reader is not None and see is not None:
                see(reader.read())

    def start(self) -> None:
        """Arm, activate, and move until the motion is under way.

        Raises:
            NotActive: a fault is latched, or the hand does not come to it.
        """
        self.run(self.cycles_of(SETTLE_S))
        machine = int(self.rig.views["state"]["machine"][0])
        if machine != MachineState.ACTIVE:
            causes = self.rig.views["state"]["finger_cause"][0, : self.counts["finger"]]
            raise NotActive(
                f"{self.hand.name} on {self.rig.motion.name if self.rig.motion else 'no motion'}: "
                f"state {MachineState(machine).name.lower()} after {SETTLE_S} s, causes {causes.tolist()}"
            )

    def keep_states(self) -> None:
        """Start, and go through one period of the motion keeping a state every ``STEP_S``."""
        self.start()
        step = self.cycles_of(STEP_S)
        left = self.cycles_of(self.period_s)
        while True:
            self._states.append((self.cycle, [r.copy() for r in self._records()]))
            if left <= 0:
                break
            self.run(min(step, left))
            left -= step

    def go_back(self, cycle: int, seed: int | None = None) -> None:
        """Restore the newest kept state not later than a cycle.

        Args:
            cycle: number of a cycle within the kept period.
            seed: the sensors' noise goes on from it; ``None``: as it went on then.
        """
        place, copies = max((s for s in self._states if s[0] <= cycle), key=lambda s: s[0])
        for record, copy in zip(self._records(), copies, strict=True):
            record[...] = copy
        self.loop.progress.cycles = place
        if seed is not None:
            self.bus.plant["rng"][0] = seed_state(seed)

    def run_trial(
        self,
        trial: Trial,
        *,
        with_fault: bool = True,
        brake: FloatArray | None = None,
        brake_after_s: float = 0.0,
        until_s: float | None = None,
    ) -> Recording:
        """One trial from a kept state.

        Args:
            trial: what to do.
            with_fault: False: the same without its fault.
            brake: currents [A] that motors are given in place of the controller's, shape (n_motors,); NaN
                leaves a motor to the controller.
            brake_after_s: time after the fault from which on [s].
            until_s: time after the fault at which it ends [s], if that is before the kind's own end.
        """
        if not self._states:
            self.keep_states()
        rule = KINDS[trial.kind]
        self.rig.pipeline.bus = self.bus
        first = self._states[0][0]
        at = first + self.cycles_of(LEAD_S + trial.moment * self.period_s)
        self.go_back(at - self.cycles_of(LEAD_S), trial.seed)
        recorder = Recorder(self.counts)
        self.run(at - self.cycle, recorder.add)
        fault_ns = int(self.rig.views["state"]["time_ns"][0])
        if brake is not None:
            full_s = rules.REACT_S + (rule.shows_after_s or brake_after_s)
            times_ns = (fault_ns + round(1e9 * brake_after_s), fault_ns + round(1e9 * full_s))
            m = self.hand.model[0]
            constant = m["motor_torque_constant_nm_a"][: len(brake)]
            limits = (rules.UNWIND_NM / constant, m["torque_rate_nm_s"] * m["dt_s"] / constant)
            self.rig.pipeline.bus = cast(Bus, _Brake(self.bus, brake, limits, times_ns))
        left = self.cycles_of(rule.watch_s if until_s is None else min(until_s, rule.watch_s))
        for k in range(rule.repeat):
            if with_fault:
                self.bus.inject(self.fault_of(trial, rule))
            pause = min(self.cycles_of(rule.gap_s), left) if k + 1 < rule.repeat else left
            self.run(pause, recorder.add)
            left -= pause
        if with_fault and brake is None and until_s is None:
            self._see_it_rest(recorder)
        return recorder.recording(fault_ns)

    def _see_it_rest(self, recorder: Recorder) -> None:
        """Run on where a finger in fault still unwinds, until that has to be over."""
        begun_ns = recorder.unwinds_since_ns(self.hand.model)
        if begun_ns:
            seconds = 1e-9 * (begun_ns - int(self.rig.views["state"]["time_ns"][0])) + rules.UNWIND_S + REST_S
            self.run(max(self.cycles_of(seconds), 0), recorder.add)

    def fault_of(self, trial: Trial, rule: KindRule) -> Fault:
        """The fault of the plant in its present state."""
        size = trial.size
        if rule.fault is FaultKind.TENDON_SLACK:
            size += self.elongation_m(trial.part)
        return Fault(kind=rule.fault, index=trial.part, time_s=0.0, value=size)

    def elongation_m(self, t: int) -> float:
        """Elastic elongation of a tendon now: what it may lose before it is slack [m]."""
        p, m = self.bus.plant[0], self.bus.model[0]
        path = p["length_m"][t] + p["wrist_length_m"][t] - m["wrist_neutral_length_m"][t]
        wound = m["spool_radius_m"][t] * p["theta_rad"][m["tendon_motor"][t]]
        return max(float(path + wound + p["e0_m"][t]), 0.0)


def _yes() -> bool:
    return True


class _Brake:
    """Between the tick and the bus: from a time on its own currents, whatever is commanded.

    Args:
        bus: the plant.
        current_a: currents wanted, shape (n_motors,); NaN: what is commanded.
        limits_a: what may stay once the ramp from the second time on is over, and their greatest change in
            a cycle.
        times_ns: begin, and end of the full currents.
    """

    def __init__(
        self,
        bus: SimulatedBus,
        current_a: FloatArray,
        limits_a: tuple[FloatArray, FloatArray],
        times_ns: tuple[int, int],
    ) -> None:
        self._bus, self._command, self._times_ns = bus, new(COMMAND), times_ns
        weak_a, step_a = limits_a
        self._own = np.flatnonzero(np.isfinite(current_a))
        self._full_a, self._step_a, self._weak_a = current_a[self._own], step_a[self._own], weak_a[self._own]
        self._sent_a = np.zeros(len(self._own))

    def _bounds_a(self, left: float) -> tuple[FloatArray, FloatArray]:
        most: FloatArray = np.maximum(left * abs(self._full_a), self._weak_a)
        return -most, most

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the bus, with these currents."""
        begin_ns, end_ns = self._times_ns
        self._command[:] = command
        current = self._command["motor_current_a"][0]
        if now_ns <= begin_ns:
            self._sent_a[:] = current[self._own]
        else:
            # full, then on the ramp that any torque may have, and what may unwind for longer
            left = min(max(1.0 - 1e-9 * (now_ns - end_ns) / rules.RAMP_S, 0.0), 1.0)
            wanted = np.clip(self._full_a, *self._bounds_a(left))
            self._sent_a += np.clip(wanted - self._sent_a, -self._step_a, self._step_a)
            current[self._own] = self._sent_a
            self._command["motor_mode"][0, self._own] = int(MotorMode.CURRENT)
        return self._bus.exchange(self._command, measurement, now_ns)
