"""A mechanism behind the HAL: joint motors (or a muscle's current) in, joint sensors out, exact time.

The contract of ``drivers.hal.Bus`` as ``sim.backend`` keeps it: in lockstep every exchange advances one
period, in real time what passed; the command given in one exchange acts until the next. Motor i drives
coordinate i with its torque constant times its current; a muscle takes the current itself. Joint angles come
on Hall channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from drivers.errors import BusLost
from drivers.hal import Capabilities, MotorSetup
from mechanics.dynamics.inputs import Arrays
from mechanics.dynamics.integrate import N_ROWS
from mechanics.dynamics.systems import Kind, System
from signals.layout import FloatArray
from signals.modes import MotorMode
from signals.records import TRUTH as TRUTH_DTYPE
from signals.records import RecordArray, new
from sim.mechanisms.cycle import PLANT, exchange
from sim.silence import nothing_answers

MAX_STEP_S: Final = 0.25
"""Longest time that is caught up in one exchange."""
FAMILY: Final = "simulated mechanism"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MechanismSetup:
    """How a mechanism stands behind the HAL."""

    home: FloatArray
    """Coordinates where the hand's joint angles are 0, shape (n,)."""
    rest_z: float
    """Start of the further state."""
    step_s: float
    """Longest step of the plant."""
    count_fraction: float
    """Parts of a count that the joint sensors resolve."""
    realtime: bool
    seed: int = 0


class MechanismBus:
    """A simulated mechanism; implements ``drivers.hal.Bus``.

    Args:
        system: equations of motion, the plant's own.
        model: MODEL record of the hand, shape (1,): motors, sensors, period.
        setup: how it stands behind the HAL.
        truth: TRUTH record to fill, shape (1,).
    """

    def __init__(
        self, system: System, model: RecordArray, setup: MechanismSetup, truth: RecordArray | None = None
    ) -> None:
        self.system, self.setup, self.model = system, setup, model
        self.truth = new(TRUTH_DTYPE) if truth is None else truth
        n, n_motors = system.n_dofs, int(model["n_motors"][0])
        self.plant = np.zeros(1, dtype=PLANT)
        p = self.plant[0]
        p["n"], p["n_motors"], p["muscle"] = n, n_motors, system.kind == Kind.FINGER
        p["random"], p["count_fraction"] = 0x9E3779B97F4A7C15 + setup.seed, setup.count_fraction
        p["home"][:n] = setup.home
        p["limit_a"][:n_motors] = model["motor_current_limit_a"][0, :n_motors]
        self.q, self.qd, self.z = setup.home.copy(), np.zeros(n), np.array([setup.rest_z])
        self._inputs: Arrays = (np.zeros(1), np.zeros((1, n + 1)), np.zeros(0, dtype=np.int64))
        loads = np.zeros((len(system.frames), 6))
        self._scratch = (np.zeros((N_ROWS, n + 1)), loads, np.zeros((1, 4 * n + 5)))
        self._state, self._kind = (self.q, self.qd, self.z), int(system.kind)
        self._dt_s, self._step_s = float(model["dt_s"][0]), setup.step_s
        self._last_ns: int | None = None
        self._closed, self._bad = False, -1

    @property
    def capabilities(self) -> Capabilities:
        """Fixed after construction."""
        return Capabilities(
            family=FAMILY,
            n_motors=int(self.plant["n_motors"][0]),
            n_halls=self.system.n_dofs,
            n_axes=0,
            motor_modes=frozenset({MotorMode.OFF, MotorMode.CURRENT}),
            rate_max_hz=1e5,
            in_control_process=True,
            device_watchdog_s=None,
            lockstep=not self.setup.realtime,
        )

    @property
    def diagnosis(self) -> str:
        """What went wrong with the equations, empty: nothing."""
        if self._bad < 0:
            return ""
        name = (*self.system.dofs, "further state")[self._bad]
        return f"the mechanism diverged at {float(self.plant['time_s'][0]):.3f} s: {name}"

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Set the drives' current limits; raises ``ConfigureError`` for a mode or index that is not there."""
        for setup in setups:
            self.capabilities.must_take(setup)
            self.plant["limit_a"][0, setup.index] = setup.current_limit_a

    def activate(self) -> None:
        """Allow motion; raises ``BusLost`` after ``close``."""
        if self._closed:
            raise BusLost(FAMILY, "it was closed", "make a new one")
        self.plant["active"] = 1

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Advance to ``now_ns``, sample, take the command; see ``drivers.hal.Bus``."""
        if self._closed or self._bad >= 0:
            return nothing_answers(measurement)
        elapsed_s = 0.0
        if self._last_ns is not None:
            elapsed_s = self._dt_s
            if self.setup.realtime:
                elapsed_s = min(max((now_ns - self._last_ns) * 1e-9, 1e-6), MAX_STEP_S)
        self._last_ns = now_ns
        self._bad = exchange(
            self._kind,
            self.system.parts,
            self._inputs,
            self.plant,
            self.model,
            command,
            measurement,
            self.truth,
            self._state,
            self._scratch,
            elapsed_s,
            self._step_s,
            now_ns,
        )
        return 0 if self._bad < 0 else nothing_answers(measurement)

    def deactivate(self) -> bool:
        """No current any more."""
        self.plant["active"] = 0
        self.plant["current_a"] = 0.0
        return True

    def recover(self) -> None:
        """Nothing to open again; raises ``BusLost`` if the mechanism diverged."""
        if self._bad >= 0:
            raise BusLost(FAMILY, self.diagnosis, "look at gains and step, then start again")

    def close(self) -> None:
        """Safe to call twice."""
        self._closed = True
