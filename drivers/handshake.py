"""The hand-shake of ``drivers.hal``: a motor that came back moves only after its command has been at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from signals.layout import BoolArray, IntArray
from signals.modes import MotorMode
from signals.records import RecordArray


class Handshake:
    """Which motors of one bus may pull, and the Channel bits of those that may not; arrays of shape (n,).

    Args:
        motors: index of every device's motor in the hand.
    """

    def __init__(self, motors: IntArray) -> None:
        n = motors.shape[0]
        self._motors = motors
        self.held: BoolArray = np.ones(n, dtype=np.bool_)
        """No torque until the command has been at rest."""
        self.checked: BoolArray = np.ones(n, dtype=np.bool_)
        """The device is set up as it should be."""
        self.bits: NDArray[np.uint32] = np.zeros(n, dtype=np.uint32)

    def at_rest(self, command: RecordArray) -> BoolArray:
        """Motors whose command asks for no torque: OFF, or CURRENT with 0 A; shape (n,)."""
        c = command[0]
        mode, current_a = c["motor_mode"][self._motors], c["motor_current_a"][self._motors]
        rest: BoolArray = (mode == MotorMode.OFF) | ((mode == MotorMode.CURRENT) & (current_a == 0.0))
        return rest

    def hold(self, i: int, bits: int, checked: bool = False) -> None:
        """Motor ``i`` came back or misbehaved: no torque, and why."""
        self.held[i], self.checked[i] = True, checked
        self.bits[i] |= bits

    def released(self, command: RecordArray) -> list[int]:
        """Motors that may pull from now on; their bits are clear."""
        if not self.held.any():
            return []
        ready = self.held & self.checked & self.at_rest(command)
        self.held[ready] = False
        self.bits[ready] = 0
        return [int(i) for i in np.nonzero(ready)[0]]

    def begin(self, held: bool = False, bits: int = 0) -> None:
        """All motors are set up: by an explicit ``activate``, or held after a loss."""
        self.held[:], self.checked[:], self.bits[:] = held, True, bits
