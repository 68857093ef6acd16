"""A simulated limb behind the HAL: the hand's plant and what carries it, with one tree's dynamics.

The contract of ``sim.backend.SimulatedBus``; the carrier's motors, joint sensors and joints have the rows
behind the hand's. The object of a motion and wrenches on fingertips are the hand's alone: a limb has none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drivers.errors import ConfigureError
from drivers.hal import Capabilities, MotorSetup
from mechanics.dynamics.tree import NO_LOADS, Tree
from signals.layout import FloatArray
from signals.modes import MotorMode
from signals.names import HandNames
from signals.pointers import address_of
from signals.records import RecordArray
from sim.backend import SimulatedBus
from sim.limb.cycle import CARRIER, PARTS, advance_limb_at, observe_carrier
from sim.limb.record import LimbError, new_limb
from sim.options import SimOptions

FAMILY = "simulated limb"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Carrier:
    """What carries the hand."""

    tree: Tree
    """Carrier and hand as one tree, the inertias of the carrier's motors in it."""
    joints: tuple[str, ...]
    """Its coordinates, base first."""
    home: FloatArray
    """Coordinates where its joint angles are 0, shape (n,)."""
    brake_nms_rad: FloatArray
    """Damper of each motor's brake while its drive gives no current, shape (n,)."""
    palm: str | None
    """Frame of the palm, if the hand's tendons run over the carrier's joints."""
    count_fraction: float
    """Parts of a count that its joint sensors resolve."""


class LimbBus(SimulatedBus):
    """A simulated hand on a simulated carrier; implements ``drivers.hal.Bus``.

    Args:
        model: the hand's own parameters, MODEL record, shape (1,).
        whole: those of the whole limb: the rows of the carrier are read.
        carrier: what carries the hand.
        names: of the hand.
        options: as for the hand alone, without contact.
        truth: TRUTH record to fill, shape (1,).

    Raises:
        LimbError: an object in reach of the hand, or more joints than the records have room for.
    """

    def __init__(
        self,
        model: RecordArray,
        whole: RecordArray,
        carrier: Carrier,
        names: HandNames,
        options: SimOptions,
        truth: RecordArray | None = None,
    ) -> None:
        if options.contact:
            raise LimbError("a hand that is carried has no object in reach; choose a motion without one")
        super().__init__(model, options, truth)
        self.whole, self.carrier = whole, carrier
        self.limb = new_limb(carrier.tree, names, carrier.joints, self.plant)
        self.tree, self.tree_work = carrier.tree.record, carrier.tree.work()
        g, m, n = self.limb[0], model[0], len(carrier.joints)
        g["first_motor"], g["first_tendon"] = m["n_motors"], m["n_tendons"]
        g["first_joint"] = m["n_joints"]
        g["random"], g["count_fraction"] = 0x9E3779B97F4A7C15 + options.seed, carrier.count_fraction
        g["home"][:n] = g["q"][:n] = carrier.home
        g["brake_nms_rad"][:n] = carrier.brake_nms_rad
        if carrier.palm is not None:
            g["palm"]["frame"] = carrier.tree.frame(carrier.palm)
        first = int(m["n_motors"])
        g["limit_a"][:n] = whole["motor_current_limit_a"][0, first : first + n]
        self._parts = np.zeros(len(PARTS), dtype=np.int64)
        self._parts_address = address_of(self._parts)

    @property
    def capabilities(self) -> Capabilities:
        """Fixed after construction."""
        own, n = super().capabilities, len(self.carrier.joints)
        modes = own.motor_modes | {MotorMode.CURRENT}
        return replace(
            own, family=FAMILY, n_motors=own.n_motors + n, n_halls=own.n_halls + n, motor_modes=modes
        )

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Set the drives' current limits; raises ``ConfigureError`` for a mode or index that is not there."""
        hands = int(self.model["n_motors"][0])
        for setup in setups:
            if setup.index < hands:
                super().configure((setup,))
                continue
            if setup.mode not in (MotorMode.OFF, MotorMode.CURRENT):
                raise ConfigureError(setup.name, "mode", setup.mode.name, "CURRENT")
            most = self.capabilities.n_motors - 1
            if setup.index > most:
                raise ConfigureError(setup.name, "index", setup.index, f"0..{most}")
            self.limb["limit_a"][0, setup.index - hands] = setup.current_limit_a

    def activate(self) -> None:
        """Allow motion; raises ``BusLost`` after ``close``."""
        super().activate()
        self.limb["active"] = 1

    def deactivate(self) -> bool:
        """Zero torque at once; the simulation confirms."""
        self.limb["active"] = 0
        self.limb["current_a"] = 0.0
        self.limb["braked"] = 1
        return super().deactivate()

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Advance hand and carrier to ``now_ns``, sample them, take the command; see ``drivers.hal.Bus``."""
        first = self._last_ns is None
        status = super().exchange(command, measurement, now_ns)
        if first and not self._closed:
            observe_carrier(self.whole, self.limb, measurement, self.truth, now_ns)
        return status

    def _advance(self, elapsed_s: float, substeps: int, now_ns: int) -> int:
        return int(advance_limb_at(self._parts_address, NO_LOADS, elapsed_s, substeps, now_ns))

    def _run_out(self, substeps: int, now_ns: int) -> int:
        used = super()._run_out(substeps, now_ns)
        self.limb["current_a"] = 0.0
        self.limb["braked"] = 1
        return used

    def _bind(self, command: RecordArray, measurement: RecordArray) -> None:
        """Note the addresses of the records; they are kept alive here."""
        self._command, self._measurement = command, measurement
        records = (self.model, self.plant, self.work, command, measurement, self.truth)
        own = (self.whole, self.limb, self.tree, self.tree_work)
        self._parts[:] = [address_of(r) for r in (*records, *own)]

    def _part(self, what: int, index: int) -> str:
        if what == CARRIER:
            return f"joint {self.carrier.joints[index]} of what carries the hand"
        return super()._part(what, index)
