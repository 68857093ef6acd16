"""Suspicions about sensors: what a Hall sensor, a force sensor or a joint's own cannot see of its part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hand.file.hand import HandFile
from hand.file.locate import Path
from hand.file.sensors import DifferenceSensor, ForceSensor, JointSensor
from hand.file.springs import LEVER_SPRINGS

Found = Iterator[tuple[Path, str]]
COARSE_SHARE: Final = 0.2
"""Share of the least tension, or of a joint's range, that a sensor may not tell from nothing."""


def hall_scales(hand: HandFile) -> Found:
    """The whole travel of a lever has to lie on its sensor's scale."""
    hall = hand.hall
    for tendon in hand.tendons:
        spring = hand.springs[tendon.spring or hand.tendon.spring]
        if hall is None or tendon.hall_channel is None or not isinstance(spring, LEVER_SPRINGS):
            continue
        zero = hall.zero_count if tendon.hall_zero_count is None else tendon.hall_zero_count
        levers = (spring.lever_hard_stop_deg, spring.lever_slack_deg)
        counts = [zero + hall.direction * lever * 2**hall.bits / hall.span_deg for lever in levers]
        if min(counts) < 0.0 or max(counts) >= 2**hall.bits:
            own: Path = ("tendons", hand.tendons.index(tendon), "hall_zero_count")
            path: Path = ("hall", "zero_count") if tendon.hall_zero_count is None else own
            text = (
                f"the lever's travel of {tendon.name} reads {min(counts):.0f} to {max(counts):.0f} counts, "
            )
            yield path, text + f"beyond the sensor's 0 to {2**hall.bits - 1}"
            return


def force_scales(hand: HandFile) -> Found:
    """A force sensor has to see what tendons bear, and to tell the least tension from nothing."""
    tendon = hand.tendon
    for k, sensor in enumerate(hand.sensors):
        if not isinstance(sensor, ForceSensor):
            continue
        up = 2**sensor.bits - 1 - sensor.zero_count if sensor.direction > 0 else sensor.zero_count
        most = sensor.span_n * up / 2**sensor.bits
        if most < tendon.force_limit_n:
            text = f"it sees up to {most:.3g} N, less than tendon.force_limit_n ({tendon.force_limit_n:g})"
            yield ("sensors", k, "span_n"), text
        yield from _coarse(("sensors", k, "span_n"), sensor, tendon.force_min_n)


def _coarse(path: Path, sensor: ForceSensor | DifferenceSensor, least_n: float) -> Found:
    """What a sensor tells apart, if that is much of the least tension [N]."""
    coarse = max(sensor.noise_counts_rms, 1.0) * sensor.span_n / 2**sensor.bits
    if coarse > COARSE_SHARE * least_n:
        yield path, f"{coarse:.3g} N is what it tells apart, of a least tension of {least_n:g} N"


def difference_scales(hand: HandFile) -> Found:
    """A sensor of a difference has to see one tendon at its most and the other at its least, both ways."""
    tendon = hand.tendon
    for k, sensor in enumerate(hand.sensors):
        if not isinstance(sensor, DifferenceSensor):
            continue
        count_n = sensor.span_n / 2**sensor.bits
        most = count_n * min(sensor.zero_count, 2**sensor.bits - 1 - sensor.zero_count)
        if most < tendon.force_max_n - tendon.force_min_n:
            text = f"it sees differences up to {most:.3g} N, less than tendon.force_max_n - force_min_n"
            yield ("sensors", k, "span_n"), f"{text} ({tendon.force_max_n - tendon.force_min_n:g})"
        yield from _coarse(("sensors", k, "span_n"), sensor, tendon.force_min_n)


def joint_scales(hand: HandFile) -> Found:
    """The whole range of a joint has to lie on its sensor's scale, and to be far more than it leaves open."""
    for k, sensor in enumerate(hand.sensors):
        if not isinstance(sensor, JointSensor):
            continue
        ends = next(j.range_deg for j in hand.joints if j.name == sensor.at)
        scale = sensor.direction * 2**sensor.bits / sensor.span_deg
        counts = sorted(sensor.zero_count + scale * q for q in ends)
        if sensor.span_deg < 360.0 and not 0.0 <= counts[0] <= counts[1] < 2**sensor.bits:
            text = f"{sensor.at} reads {counts[0]:.0f} to {counts[1]:.0f} counts, beyond "
            yield ("sensors", k, "zero_count"), text + f"0 to {2**sensor.bits - 1}"
        open_deg = max(sensor.accuracy_deg, sensor.noise_counts_rms * sensor.span_deg / 2**sensor.bits)
        if open_deg > COARSE_SHARE * (ends[1] - ends[0]):
            text = f"{open_deg:.3g} deg is what it leaves open, of a range of {ends[1] - ends[0]:g} deg"
            yield ("sensors", k, "accuracy_deg"), text
