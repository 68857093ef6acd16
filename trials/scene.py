"""A hand in motion that can go back: homed and started once, then restored for every trial.

All that a run remembers stands in numpy records - plant, memories, model, frame, motion - so a copy of them
is an exact state: what follows is the same bit by bit. A trial begins from the nearest state before its
moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from drivers.hal import Bus
from hand.hand import Hand
from hand.options import RunOptions
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.setup import Rig, build, prepare
from runtime.stretch import Stretch
from signals.layout import FloatArray
from signals.modes import FaultKind, MachineState
from signals.records import RecordArray
from sim.backend import SimulatedBus
from sim.options import Fault
from sim.randomness import seed_state
from telemetry.columns import counts_of
from telemetry.shm.channel import Channel
from telemetry.shm.ring import frames_of
from telemetry.shm.segment import Segment
from trials import rules
from trials.brake import Brake, Held
from trials.record import Recorder, Recording
from trials.rules import KINDS, KindRule
from trials.touch import AFTER_TOUCH_S, Touching
from trials.trial import EVERY, Struck, Trial

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

Run = Callable[[int, Callable[[RecordArray], None] | None], None]


class NotActive(RuntimeError):
    """A hand without a fault did not come to its motion; says the cause."""


class Scene:
    """One hand on one motion, or one that clients command.

    Args:
        hand: the hand, read; its model is copied.
        motion: name of the motion; ``None``: goals come through the mailbox of ``segment``.
        mismatch: seed of the drawn plant; 0: as the file says.
        seed: seed of the sensors' noise until the first trial.
        channel: ring for the frames (``Channel.local(SLOTS)``); may be shared by benches of one process.
        segment: mailbox of clients.
        substeps: of the plant per cycle; ``None``: as every run has.
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
        substeps: int | None = None,
    ) -> None:
        self.hand = replace(hand, model=hand.model.copy())
        options = RunOptions(
            hand=hand.name,
            motion=motion,
            lockstep=True,
            seconds=1.0,
            mismatch=mismatch or None,
            seed=seed,
            substeps=substeps,
        )
        self.channel, self._frames = channel, frames_of(channel.slots)
        self.rig: Rig = build(options, self.hand, channel, segment=segment)
        self.loop = Loop(self.rig.pipeline.tick, self.hand.rate_hz, ahead=Stretch(self.rig.pipeline))
        self.counts = counts_of(self.hand.model)
        prepare(self.rig, LOCKSTEP_START_NS)
        self.drives: RecordArray | None = None  # model whose drives brake, if those are not the hand's
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
        """Run on; ``see`` gets every frame, in batches that are valid within the call."""
        done, head, frames = 0, self.channel.head, self._frames
        while done < cycles:
            step, first = min(BATCH, cycles - done), int(head[0])
            self.loop.run_lockstep(step, lambda: True, step)
            done += step
            if see is not None:
                for _ in range(2):  # the ring's end lies between two parts
                    row = first % len(frames)
                    part = frames[row : row + int(head[0]) - first]
                    first += len(part)
                    if len(part):
                        see(part)

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
            self._states.append((self.cycle, [r.copy() for r in self.records().values()]))
            if left <= 0:
                break
            self.cruise(min(step, left))
            left -= step

    def cruise(self, cycles: int) -> None:
        """Run on while states are kept."""
        self.run(cycles)

    def go_back(self, cycle: int, seed: int | None = None) -> None:
        """Restore the newest kept state not later than a cycle.

        Args:
            cycle: number of a cycle within the kept period.
            seed: the sensors' noise goes on from it; ``None``: as it went on then.
        """
        place, copies = max((s for s in self._states if s[0] <= cycle), key=lambda s: s[0])
        for record, copy in zip(self.records().values(), copies, strict=True):
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
        held: bool = False,
    ) -> Recording:
        """One trial from a kept state.

        Args:
            trial: what to do.
            with_fault: False: the same without its faults.
            brake: currents [A] that motors are given in place of the controller's, shape (n_motors,); NaN
                leaves a motor to the controller.
            brake_after_s: time after the fault from which on [s].
            until_s: time after the fault at which it ends [s], if that is before the kind's own end.
            held: from the touch on every motor keeps its current.
        """
        if not self._states:
            self.keep_states()
        bus: Any = self.bus
        self.rig.pipeline.bus = bus
        before_s = LEAD_S + (trial.touch.before_s if trial.touch is not None else 0.0)
        at = self._states[0][0] + self.cycles_of(before_s + trial.moment * self.period_s)
        self.go_back(at - self.cycles_of(before_s), trial.seed)
        recorder = Recorder(self.counts)
        run, lead, length_s = self._playing(trial, recorder, at - self.cycle)
        moment_ns = self._at_ns(self.cycle + lead)
        if trial.touch is not None:
            begin_ns = moment_ns - round(1e9 * trial.touch.before_s)
            bus = self.rig.pipeline.bus = cast(Bus, Touching(self.bus, trial.touch, begin_ns))
            if held:
                bus = self.rig.pipeline.bus = cast(Bus, Held(bus, begin_ns))
        run(lead, recorder.add)
        fault_ns = int(self.rig.views["state"]["time_ns"][0])
        if brake is not None:
            self.rig.pipeline.bus = cast(Bus, self._brake(bus, brake, fault_ns, brake_after_s))
        if until_s is not None:
            length_s = min(until_s, length_s)
        done = 0
        for time_s, fault in self._blows(trial) if with_fault else ():
            if time_s >= length_s:
                break
            run(self.cycles_of(time_s) - done, recorder.add)
            done = self.cycles_of(time_s)
            self._strike(fault)
        run(self.cycles_of(length_s) - done, recorder.add)
        if with_fault and trial.faults and brake is None and until_s is None:
            self._see_it_rest(recorder)
        return recorder.recording(fault_ns)

    def _playing(self, trial: Trial, recorder: Recorder, lead: int) -> tuple[Run, int, float]:
        """How the trial is run on, cycles up to its moment, and time that it is watched after it [s]."""
        watch_s = max((f.at_s + KINDS[f.kind].watch_s for f in trial.faults), default=0.0)
        if trial.touch is not None:
            watch_s = max(watch_s, trial.touch.seconds - trial.touch.before_s + AFTER_TOUCH_S)
        return self.run, lead, watch_s

    def _at_ns(self, cycle: int) -> int:
        """Simulated time of the last frame before a cycle."""
        return int(self.rig.views["state"]["time_ns"][0]) + round(
            1e9 * (cycle - self.cycle) / self.hand.rate_hz
        )

    def _brake(self, bus: Bus, brake: FloatArray, fault_ns: int, after_s: float) -> Brake:
        times_ns = (fault_ns + round(1e9 * after_s), fault_ns + round(1e9 * (after_s + rules.REACT_S)))
        m = (self.hand.model if self.drives is None else self.drives)[0]
        constant = m["motor_torque_constant_nm_a"][: len(brake)]
        limits = (rules.UNWIND_NM / constant, m["torque_rate_nm_s"] * m["dt_s"] / constant)
        return Brake(bus, brake, limits, times_ns)

    def _blows(self, trial: Trial) -> list[tuple[float, Struck]]:
        """Every injection and its time after the first one [s]."""
        found = []
        for fault in trial.faults:
            rule = KINDS[fault.kind]
            found += [(fault.at_s + k * rule.gap_s, fault) for k in range(rule.repeat)]
        return sorted(found, key=lambda blow: blow[0])

    def _strike(self, fault: Struck) -> None:
        rule = KINDS[fault.kind]
        parts = range(self.counts[rule.space]) if fault.part == EVERY else (fault.part,)
        for part in parts:
            self.bus.inject(self.fault_of(replace(fault, part=part), rule))

    def _see_it_rest(self, recorder: Recorder) -> None:
        """Run on where a finger in fault still unwinds, until that has to be over."""
        begun_ns = recorder.unwinds_since_ns(self.hand.model)
        if begun_ns:
            seconds = 1e-9 * (begun_ns - int(self.rig.views["state"]["time_ns"][0])) + rules.UNWIND_S + REST_S
            self.run(max(self.cycles_of(seconds), 0), recorder.add)

    def fault_of(self, trial: Trial | Struck, rule: KindRule) -> Fault:
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
