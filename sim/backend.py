"""The simulated hand behind the HAL: same contract, same records as every driver, exact time.

In lockstep every exchange advances the plant by exactly one period; in real time by the time that passed
between the two ``now_ns``. The command given in one exchange acts until the next: one cycle of delay, as on
the real bus.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from drivers.errors import BusLost
from drivers.hal import Capabilities, MotorSetup
from mechanics.handtree import new_work
from signals.modes import BusStatus, FaultKind, MotorMode, mode_of
from signals.pointers import address_of
from signals.records import TRUTH as TRUTH_DTYPE
from signals.records import RecordArray, new
from sim.cycle import PARTS, advance_at, observe
from sim.finite import AXIS, JOINT, MOTOR, TENDON
from sim.options import FAULT_EFFECTS, Fault, SimOptions
from sim.plant_record import new_plant
from sim.randomness import seed_state
from sim.silence import nothing_answers
from sim.start import start_pose

WATCHDOG_S: Final = 0.02
"""Real time without a command after which the simulated drives go to zero torque, as real ones do."""
MAX_STEP_S: Final = 0.25
"""Longest time that the plant catches up in one exchange; after a longer stall its clock slips."""


class Course(NamedTuple):
    """Plain steps by ``sim.cycle.advance_at``, as long as the plant's clock is before ``until_s``."""

    plant_parts: int
    elapsed_s: float
    substeps: int
    clock_s: float
    until_s: float


class SimulatedBus:
    """A simulated hand; implements ``drivers.hal.Bus``.

    Args:
        model: the plant's own parameters, MODEL record, shape (1,); may differ from the controller's.
        options: sensors, guides, seed, faults.
        truth: TRUTH record to fill, shape (1,), e.g. the view in a ring frame; a new one if None.
    """

    def __init__(self, model: RecordArray, options: SimOptions, truth: RecordArray | None = None) -> None:
        self.model = model
        self.options = options
        self.truth = new(TRUTH_DTYPE) if truth is None else truth
        self.plant = new_plant()
        self.work = new_work(model)
        self.diagnosis = ""
        self._dt_s = float(model["dt_s"][0])
        self._pending = sorted(options.faults, key=lambda f: f.time_s)
        self._next_fault_s = self._pending[0].time_s if self._pending else np.inf
        self._last_ns: int | None = None
        self._clock_s = 0.0
        self._active = False
        self._closed = False
        self._command: RecordArray | None = None
        self._measurement: RecordArray | None = None
        self._parts = np.zeros(len(PARTS), dtype=np.int64)
        self._parts_address = address_of(self._parts)
        start_pose(model, self.plant, options, seed_state(options.seed))
        if self._pending and self._pending[0].kind is FaultKind.TENDON_OFF:
            self._inject_due()

    @property
    def capabilities(self) -> Capabilities:
        """Fixed after construction."""
        m = self.model[0]
        commands = m["motor_command"][: m["n_motors"]]
        return Capabilities(
            family="simulated",
            n_motors=int(m["n_motors"]),
            n_halls=int(m["n_tendons"]),
            n_axes=int(m["n_axes"]),
            motor_modes=frozenset({MotorMode.OFF} | {mode_of(int(c)) for c in commands}),
            own_position_loop=True,
            rate_max_hz=1e5,
            in_control_process=True,
            device_watchdog_s=WATCHDOG_S if self.options.realtime else None,
            lockstep=not self.options.realtime,
        )

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Set the drives' current limits.

        Raises:
            ConfigureError: a mode or an index that this bus does not have.
        """
        for setup in setups:
            self.capabilities.must_take(setup)
            self.model["motor_current_limit_a"][0, setup.index] = setup.current_limit_a

    def activate(self) -> None:
        """Allow motion.

        Raises:
            BusLost: after ``close``.
        """
        if self._closed:
            raise BusLost("simulated", "it was closed", "make a new one")
        self._active = True

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Advance the plant to ``now_ns``, sample it, take the command; see ``drivers.hal.Bus``."""
        if self._closed or self.diagnosis:
            return nothing_answers(measurement)
        if self._last_ns is None:
            self._last_ns = now_ns
            observe(self.model, self.plant, self.work, measurement, self.truth, now_ns)
            return 0
        if self.options.realtime:
            elapsed_s = min(max((now_ns - self._last_ns) * 1e-9, 1e-6), MAX_STEP_S)
            substeps = max(1, math.ceil(elapsed_s / self._dt_s * self.options.substeps - 1e-3))
        else:
            elapsed_s = self._dt_s
            substeps = self.options.substeps
        self._last_ns = now_ns
        self._clock_s += elapsed_s
        if self._clock_s >= self._next_fault_s:
            self._inject_due()
        if command is not self._command or measurement is not self._measurement:
            self._bind(command, measurement)
        if elapsed_s > WATCHDOG_S and self.options.realtime:
            share = WATCHDOG_S / elapsed_s
            substeps -= self._run_out(max(1, round(share * substeps)), now_ns)
            elapsed_s -= WATCHDOG_S
            substeps = max(substeps, 1)
        diverged = self._advance(elapsed_s, substeps, now_ns)
        if diverged:
            self._diagnose(diverged)
            return int(BusStatus.LOST)
        return 0

    def course(self, command: RecordArray, measurement: RecordArray) -> Course | None:
        """The exchanges to come, where each is a plain step of one period; ``None``: the next one is not."""
        if self._closed or self.diagnosis or self._last_ns is None or self.options.realtime:
            return None
        if command is not self._command or measurement is not self._measurement:
            self._bind(command, measurement)
        return Course(
            self._parts_address, self._dt_s, self.options.substeps, self._clock_s, self._next_fault_s
        )

    def came(self, clock_s: float, last_ns: int, diverged: int) -> None:
        """Steps of the course were made by somebody else.

        Args:
            clock_s: time of the plant's clock now.
            last_ns: time of the last exchange.
            diverged: what the last step returned.
        """
        self._clock_s, self._last_ns = clock_s, last_ns
        if diverged:
            self._diagnose(diverged)

    def deactivate(self) -> bool:
        """Zero torque at once; the simulation confirms."""
        self.plant["current_a"] = 0.0
        self.plant["motor_enabled"] = 0
        self._active = False
        return True

    def recover(self) -> None:
        """A reset motor takes its settings again; a lost one comes back."""
        self.plant["motor_reset"] = 0
        self.plant["motor_lost"] = 0

    def close(self) -> None:
        """Forget the hand; safe to call twice."""
        self._closed = True

    def apply_wrench(
        self, finger: int, force_n: tuple[float, ...], moment_nm: tuple[float, ...] = (0, 0, 0)
    ) -> None:
        """External wrench on a fingertip from now on, palm frame [N], [N m]; zeros end it."""
        self.plant["tip_force_n"][0, finger] = force_n
        self.plant["tip_moment_nm"][0, finger] = moment_nm

    def inject(self, fault: Fault) -> None:
        """Make a fault happen now."""
        _apply_fault(self.plant, fault)

    def _run_out(self, substeps: int, now_ns: int) -> int:
        """The last command acts until the drives' watchdog ends it; returns the substeps used."""
        self._advance(WATCHDOG_S, substeps, now_ns)
        self.plant["motor_enabled"] = 0
        return substeps

    def _advance(self, elapsed_s: float, substeps: int, now_ns: int) -> int:
        return int(advance_at(self._parts_address, elapsed_s, substeps, now_ns))

    def _bind(self, command: RecordArray, measurement: RecordArray) -> None:
        """Note the addresses of the records; they are kept alive here."""
        self._command, self._measurement = command, measurement
        records = (self.model, self.plant, self.work, command, measurement, self.truth)
        self._parts[:] = [address_of(r) for r in records]

    def _inject_due(self) -> None:
        while self._pending and self._pending[0].time_s <= self._clock_s:
            self.inject(self._pending.pop(0))
        self._next_fault_s = self._pending[0].time_s if self._pending else np.inf

    def _diagnose(self, what: int) -> None:
        index = int(self.plant["diverged_index"][0])
        part = self._part(what, index)
        self.diagnosis = (
            f"the simulation diverged at step {int(self.plant['cycle'][0])} "
            f"(t = {float(self.plant['time_s'][0]):.4f} s) at {part}: above 1e4 rad/s or not finite; "
            "likely a gain, an inertia or a period far from the reference hand's; try more substeps"
        )

    def _part(self, what: int, index: int) -> str:
        return f"{_DIVERGED[what]} {index}"


_DIVERGED: Final = {JOINT: "joint", MOTOR: "motor", AXIS: "wrist axis", TENDON: "tendon"}


def _apply_fault(plant: RecordArray, fault: Fault) -> None:
    effect = FAULT_EFFECTS[fault.kind]
    size = fault.value if effect.sized else effect.size
    struck = plant[effect.field][0]
    struck[fault.index] = struck[fault.index] + effect.added * size if effect.added else size
