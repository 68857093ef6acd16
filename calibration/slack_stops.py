"""Zeros of Hall sensors while tendons are off: their levers lie at the slack stops, whose angle is known.

A zero that is wrong makes such a tendon look taut. What the hand then takes for tensions and joints disturbs
the drives; so this is looked at before they turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from calibration.eligible import levers_of
from calibration.free_turning import LEAD_S, Phase, motion_text
from calibration.motion_run import Means, must_be_sound, run_motion
from calibration.patching import merged
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand

STAND_S: Final = 1.0
LEAST_COUNTS: Final = 2.0
"""Beyond half of the magnet's play, from which on a zero is taken for wrong."""


def slack_zeros(hand: Hand, options: RunOptions, motors: list[int]) -> dict[str, float]:
    """Count at lever angle zero of each tendon of these motors whose hand file is wrong about it.

    Raises:
        Faulted: the hand went into fault, or did not start.
    """
    m = hand.model[0]
    tendons = [t for t in range(int(m["n_tendons"])) if int(m["tendon_motor"][t]) in motors]
    mine, _ = levers_of(hand, tendons)
    if not mine:
        return {}
    means = Means(("measurement", "hall_count"))
    text = motion_text(hand, motors, Phase(0.0, 1.0, STAND_S))
    faults = run_motion(hand, options, text, STAND_S + LEAD_S, means)
    blocks = means.of("hall_count")
    counts = blocks[len(blocks) // 2 :].mean(axis=0)
    found = {}
    for t in mine:
        slack = float(m["lever_max_rad"][m["tendon_spring"][t]]) * float(m["hall_counts_rad"][t])
        play = float(m["hall_hysteresis_rad"][t]) * abs(float(m["hall_counts_rad"][t]))
        # it came to its stop from the tight side, so the count lags behind by half of the play
        zero = float(counts[t]) - slack + math.copysign(0.5 * play, float(m["hall_counts_rad"][t]))
        if abs(zero - float(m["hall_zero_count"][t])) > 0.5 * play + LEAST_COUNTS:
            found[hand.names.tendons[t]] = zero
    if not found:
        must_be_sound(faults)  # else they come from these zeros: nothing was to move
    return found


def lines_of(zeros: dict[str, float], origin: str) -> str:
    """Lines for the hand file."""
    return "".join(
        f'[identified.{name}]\nhall_zero_count = {zero:.6g}\norigin = "{origin}"\n\n'
        for name, zero in zeros.items()
    )


@contextmanager
def with_zeros(hand: Hand, options: RunOptions, zeros: dict[str, float]) -> Iterator[tuple[Hand, RunOptions]]:
    """The hand with these zeros, and options that name its file; the simulated hand stays."""
    if not zeros:
        yield hand, options
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "zeros.toml"
        path.write_text(merged(hand.text, lines_of(zeros, "assumed: the slack stop"))[0], encoding="utf-8")
        plant = options.plant if options.bus is not None or options.plant else options.hand
        chosen = replace(options, hand=str(path), plant=plant)
        yield read_hand(chosen), chosen
