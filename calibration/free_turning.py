"""Motors that turn without load, through the real loop: what is measured then, motor by motor.

Three sines of the motor angle: a slow one over more than a turn both ways (both shafts' ripple, friction near
rest), a faster one (viscous friction), a short quick one (inertia). Tendons of these motors are off their
spools.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration.drive_fit import Turning
from calibration.motion_run import must_be_sound, run_motion
from hand.hand import Hand
from hand.options import RunOptions
from reports.parquet import Table, by_part
from signals.layout import FloatArray, IntArray
from signals.records import RecordArray

LEAD_S: Final = 1.2
"""The start of a run, in which the motion takes over, is left out."""
QUICK_SHARE: Final = 0.25
"""Of a motor's greatest torque that the quick sine takes for the inertia."""
SPEED_SHARE: Final = 0.5
"""Of its greatest speed."""
SAME_S: Final = 2e-6
"""Distance of a sample from an even time that is none."""
FIELDS: Final = ("motor_time_ns", "motor_angle_rad", "motor_current_a")


@dataclass(frozen=True, slots=True)
class Phase:
    """A sine of all motors: amplitude [rad], frequency [Hz], length [s]."""

    amplitude_rad: float
    frequency_hz: float
    seconds: float


@dataclass(slots=True)
class Measured:
    """What the motors measured in the phases.

    Attributes:
        times_s: by phase, shape (n,).
        angles_rad: by phase, shape (n, motors).
        currents_a: by phase, shape (n, motors).
        seconds: simulated or real time of the runs.
    """

    times_s: list[FloatArray]
    angles_rad: list[FloatArray]
    currents_a: list[FloatArray]
    seconds: float

    def turning(self, k: int, torque_constant_nm_a: float) -> list[Turning]:
        """Stretches of the ``k``-th motor."""
        return [
            Turning(times, angles[:, k], currents[:, k] * torque_constant_nm_a)
            for times, angles, currents in zip(self.times_s, self.angles_rad, self.currents_a, strict=True)
        ]

    def tables(self, motors: list[str]) -> dict[str, Table]:
        """Angles and currents of every phase."""
        return {
            f"phase_{k}": {"time_s": times}
            | by_part("angle_rad", motors, self.angles_rad[k])
            | by_part("current_a", motors, self.currents_a[k].astype(np.float32))
            for k, times in enumerate(self.times_s)
        }


def phases_of(hand: Hand, motors: list[int]) -> list[Phase]:
    """Sines that these motors can follow."""
    m = hand.model[0]
    speed = SPEED_SHARE * float(m["motor_speed_limit_rad_s"][motors].min())
    torque = QUICK_SHARE * float(m["motor_torque_limit_nm"][motors].min())
    inertia = float(m["motor_inertia_kg_m2"][motors].max())
    quick_hz = 2.0
    omega = 2.0 * math.pi * quick_hz
    quick = min(0.5, torque / (inertia * omega**2), speed / omega)
    middle_hz = min(0.1, speed / (2.0 * math.pi * 3.3))
    return [Phase(3.3, 0.0125, 80.0), Phase(3.3, middle_hz, 2.0 / middle_hz), Phase(quick, quick_hz, 12.0)]


def motion_text(hand: Hand, motors: list[int], phase: Phase) -> str:
    """A motion file of one phase."""
    names = [hand.names.motors[i] for i in motors]
    of_motor = hand.model[0]["tendon_motor"][: len(hand.names.tendons)].tolist()
    off = [t for t, i in zip(hand.names.tendons, of_motor, strict=True) if i in motors]
    quoted = ", ".join(f'"{name}"' for name in names)
    tendons = ", ".join(f'"{name}"' for name in off)
    sine = f"mean = 0.0, amplitude = {phase.amplitude_rad!r}, frequency_hz = {phase.frequency_hz!r}"
    return (
        f'description = "Drives without load."\ntendons_off = [{tendons}]\nmode = "motor_position"\n\n'
        f'[[tracks]]\nkind = "motor_rad"\nnames = [{quoted}]\n'
        f"sine = {{ {sine} }}\n"
    )


def measure(
    hand: Hand, options: RunOptions, motors: list[int], watch: Callable[[float], None] = lambda _: None
) -> Measured:
    """Run the phases.

    Args:
        hand: the hand, read.
        options: hand, bus, seed, ... of the runs.
        motors: indices of the motors that turn.
        watch: told the share done.

    Raises:
        Faulted: the hand went into fault, or did not start.
    """
    phases = phases_of(hand, motors)
    total = sum(phase.seconds for phase in phases)
    found = Measured([], [], [], 0.0)
    for phase in phases:
        begun, rows = found.seconds, list[list[NDArray[Any]]]()

        def told(share: float, begun: float = begun, length: float = phase.seconds) -> None:
            watch((begun + share * length) / total)

        def keep(batch: RecordArray, rows: list[list[NDArray[Any]]] = rows) -> None:
            rows.append([batch["measurement"][name][:, motors] for name in FIELDS])

        motion = motion_text(hand, motors, phase)
        must_be_sound(run_motion(hand, options, motion, phase.seconds + LEAD_S, keep, told))
        times, angles, currents = even_columns(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))
        found.times_s.append(times)
        found.angles_rad.append(angles)
        found.currents_a.append(currents)
        found.seconds += phase.seconds
    return found


def even_columns(
    stamps_ns: IntArray, angles_rad: FloatArray, currents_a: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(Even times [s], shape (n,); angles and currents then, shape (n, motors)), after the lead.

    Args:
        stamps_ns: when each motor was sampled, shape (cycles, motors); on a bus each where its wire put it,
            and the same again while nothing new has come.
        angles_rad: shape (cycles, motors).
        currents_a: shape (cycles, motors).
    """
    even, columns = np.zeros(0), list[tuple[FloatArray, FloatArray]]()
    for k in range(stamps_ns.shape[1]):
        own = stamps_ns[:, k]
        fresh = np.flatnonzero(np.diff(own, prepend=own[0] - 1) > 0)
        times = (own[fresh] - stamps_ns[0, 0]) / 1e9
        fresh, times = fresh[times >= LEAD_S], times[times >= LEAD_S]
        if not k:
            even = np.linspace(times[0], times[-1], len(times))
        pair = angles_rad[fresh, k], currents_a[fresh, k]
        if len(times) != len(even) or np.max(np.abs(even - times)) > SAME_S:
            pair = np.interp(even, times, pair[0]), np.interp(even, times, pair[1])
        columns.append(pair)
    return even, np.column_stack([a for a, _ in columns]), np.column_stack([c for _, c in columns])
