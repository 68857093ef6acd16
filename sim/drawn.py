"""The plant of a run: parameters as its options draw them, sensors, guides and faults."""

from __future__ import annotations

from dataclasses import replace

from hand.assembly.mismatch import draw_axis_zeros_rad, draw_mismatch
from hand.hand import Hand, read_tendon_hand
from hand.motion.load import Motion
from hand.options import OptionError, RunOptions
from signals.modes import FaultKind, SensorLevel
from signals.records import RecordArray
from sim.options import Fault, SimOptions, substeps_of


def plant_of(
    hand: Hand, options: RunOptions, motion: Motion | None, homing_s: float, wired: bool = False
) -> tuple[RecordArray, SimOptions]:
    """Parameters of the plant in the place of the hardware, and what it is to simulate.

    Args:
        hand: the controller's hand.
        options: of the run.
        motion: of the run; it may take tendons off.
        homing_s: time before the first cycle, from which faults do not count.
        wired: devices and ``drivers.axis_zeros`` stand between plant and hand; else the plant itself tells
            the angles of the wrist axes less the zeros that the hand knows.
    """
    real = hand if options.plant is None else _other(hand, options)
    plant_model, zeros = real.model.copy(), real.file.axis_zeros_rad
    if options.mismatch is not None:
        plant_model = draw_mismatch(real.model, options.mismatch, real.file.tolerances)
        zeros = draw_axis_zeros_rad(zeros, options.mismatch, real.file.tolerances)
    faults = [Fault.parse(text, hand.names) for text in options.faults]
    off = motion.tendons_off if motion is not None else ()
    faults += [Fault(kind=FaultKind.TENDON_OFF, index=t, time_s=0.0) for t in off]
    pretension = float(hand.model["pretension_n"][0, 0])
    chosen = SimOptions(
        sensors=SensorLevel[options.sensors.upper()],
        substeps=substeps_of(1.0 / hand.rate_hz),
        guides=options.guides == "friction",
        seed=options.seed,
        pretension_n=pretension,
        realtime=not options.lockstep,
        contact=motion.object if motion is not None else False,
        faults=tuple(replace(f, time_s=f.time_s + homing_s) if f.time_s > 0 else f for f in faults),
    )
    known = (0.0,) * len(zeros) if wired else hand.file.axis_zeros_rad
    chosen = replace(chosen, axis_zeros_rad=tuple(a - b for a, b in zip(zeros, known, strict=True)))
    if options.substeps is not None:
        chosen = replace(chosen, substeps=options.substeps)
    return plant_model, chosen


def _other(hand: Hand, options: RunOptions) -> Hand:
    """The hand of ``--plant``.

    Raises:
        OptionError: its parts have other names.
        ValueError: its file is refused.
    """
    assert options.plant is not None
    other = read_tendon_hand(replace(options, hand=options.plant, plant=None, settings=()))
    for space in ("motor", "tendon", "joint", "finger", "axis"):
        if other.names.of(space) != hand.names.of(space):
            raise OptionError(
                f"--plant {options.plant} has other {space}s than {hand.name}; legal: the same names"
            )
    return other
