"""The plant of a run: parameters as its options draw them, sensors, guides and faults."""

from __future__ import annotations

from dataclasses import replace

from hand.assembly.mismatch import draw_mismatch
from hand.hand import Hand, read_tendon_hand
from hand.motion.load import Motion
from hand.options import OptionError, RunOptions
from signals.modes import FaultKind, SensorLevel
from signals.records import RecordArray
from sim.options import Fault, SimOptions, substeps_of


def plant_of(
    hand: Hand, options: RunOptions, motion: Motion | None, homing_s: float
) -> tuple[RecordArray, SimOptions]:
    """Parameters of the plant in the place of the hardware, and what it is to simulate.

    Args:
        hand: the controller's hand.
        options: of the run.
        motion: of the run; it may take tendons off.
        homing_s: time before the first cycle, from which faults do not count.
    """
    real = hand if options.plant is None else _other(hand, options)
    plant_model = real.model.copy()
    if options.mismatch is not None:
        plant_model = draw_mismatch(real.model, options.mismatch, real.file.tolerances)
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
