"""One motor behind a device of its own: how the device's angle and current map to the hand's motor.

``angle = direction * (device_turns / gear_ratio) * 2 pi - zero`` with whole turns of the device added so that
the angle lies in the motor's travel (a device that forgets its turn count without power).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from drivers.errors import TurnsUnknown
from drivers.family import FROM_HAND
from signals.layout import FloatArray, IntArray
from signals.names import HandNames
from signals.tables import Table

TURN_RAD = 2.0 * math.pi


class MotorDevice(Table):
    """Keys that every ``[[bus.device]]`` of a motor has."""

    motor: Annotated[str, Field(min_length=1)]
    direction: Literal[1, -1] = 1
    """-1: the device counts up while the tendon unwinds."""
    gear_ratio: Annotated[float, Field(gt=0.0)] = 1.0
    """Turns of the device per turn of the spool."""
    zero_rad: float = 0.0
    """Spool angle that the device shows at the hand's zero."""
    travel_rad: tuple[float, float] | None = None
    """Angles that the spool can have, shorter than a turn of the device; without it a device that was reset
    and forgot its turns stays without torque until the hand is homed anew."""

    @model_validator(mode="after")
    def _ordered(self) -> MotorDevice:
        if self.travel_rad is not None and not self.travel_rad[0] < self.travel_rad[1]:
            raise ValueError(f"travel_rad is {list(self.travel_rad)}; legal is [lower, upper]")
        return self


def numbered(devices: Sequence[MotorDevice], key: str, names: HandNames) -> tuple[dict[str, object], ...]:
    """The tables of devices; where one leaves ``key`` out, with the hand file's id of its motor."""
    return tuple(
        dict(d) | ({key: names.id_of(d.motor)} if getattr(d, key) == FROM_HAND else {}) for d in devices
    )


def turn_of(angle_rad: float, turn_rad: float, travel_rad: tuple[float, float]) -> list[int]:
    """Whole turns k for which ``angle + k turn`` lies in the travel (edges included to 1e-9 of a turn)."""
    slack = 1e-9 * turn_rad
    low = math.ceil((travel_rad[0] - angle_rad - slack) / turn_rad)
    high = math.floor((travel_rad[1] - angle_rad + slack) / turn_rad)
    return list(range(low, high + 1))


class MotorMap:
    """Factors and offsets of the motors of one bus, in the order of its devices; arrays of shape (n,).

    Args:
        devices: the tables of the bus file.
        motors: index of every device's motor in the hand.
    """

    def __init__(self, devices: Sequence[MotorDevice], motors: IntArray) -> None:
        self.devices, self.motors = tuple(devices), motors
        self.sign: FloatArray = np.array([float(d.direction) for d in devices])
        self.ratio: FloatArray = np.array([d.gear_ratio for d in devices])
        self.zero_rad: FloatArray = np.array([d.zero_rad for d in devices])
        self.rad_per_turn: FloatArray = self.sign * TURN_RAD / self.ratio
        """Spool angle per turn of the device."""

    def __len__(self) -> int:
        return len(self.devices)

    def angle_rad(self, turns: FloatArray) -> FloatArray:
        """Spool angles from device turns, both shape (n,)."""
        return turns * self.rad_per_turn - self.zero_rad

    def turns(self, angle_rad: FloatArray) -> FloatArray:
        """Device turns from spool angles, both shape (n,)."""
        return (angle_rad + self.zero_rad) / self.rad_per_turn

    def resolve(self, i: int, turns: float, lost: bool = False) -> None:
        """Choose the whole turns of device ``i`` so that its angle lies in the travel.

        Args:
            i: device.
            turns: what it shows.
            lost: it was reset in the middle of a run: what it shows no longer belongs to the hand's homing.

        Raises:
            TurnsUnknown: none or several turns fit, or they are lost and there is no travel to choose by.
        """
        device = self.devices[i]
        angle_rad = turns * float(self.rad_per_turn[i]) - device.zero_rad
        if device.travel_rad is None:
            if lost:
                raise TurnsUnknown(f"motor {device.motor}", angle_rad, None)
            return
        turn_rad = TURN_RAD / device.gear_ratio
        fitting = turn_of(angle_rad, turn_rad, device.travel_rad)
        if len(fitting) != 1:
            raise TurnsUnknown(f"motor {device.motor}", angle_rad, len(fitting))
        self.zero_rad[i] = device.zero_rad - fitting[0] * turn_rad
