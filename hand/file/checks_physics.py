"""Values that are legal one by one but not together: springs that cannot be built, limits out of order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hand.file.drives import PmsmDrive, ServoDrive
from hand.file.hand import HandFile
from hand.file.locate import Path, dotted
from hand.file.raw import dict_at, number_of
from hand.file.refusals import Refusal
from hand.file.sensors import Sensor
from hand.file.springs import LeverSpring, LinearSpring, PolynomialSpring
from hand.file.tendons import Hall
from mechanics.lever import SpringGeometry
from mechanics.levercurve import ImpossibleGeometry, LeverCurve
from mechanics.leverpolynomials import LeverPolynomials

GEOMETRY_KEYS: Final[dict[str, str]] = {
    "motor_pulley_center": "motor_pulley_center_m",
    "R_motor": "motor_pulley_radius_m",
    "fixed_pulley_center": "fixed_pulley_center_m",
    "R_fixed": "fixed_pulley_radius_m",
    "lever_pivot": "lever_pivot_m",
    "lever_length": "lever_length_m",
    "R_lever": "lever_pulley_radius_m",
    "spring_attach_radius": "spring_attach_radius_m",
    "spring_fixed_point": "spring_fixed_point_m",
    "K": "spring_constant_n_m",
    "spring_free_length": "spring_free_length_m",
    "theta_slack_deg": "lever_slack_deg",
    "theta_max_deg": "lever_max_deg",
    "theta_hard_stop_deg": "lever_hard_stop_deg",
}
"""Name in Table 4.1 (mechanics.springs) -> key of the hand file."""


STOP_KEYS: Final = ("theta_slack_deg", "theta_max_deg", "theta_hard_stop_deg")
POLYNOMIAL_KEYS: Final[dict[str, str]] = {"ln_force": "ln_force", "path": "path_m"} | {
    name: GEOMETRY_KEYS[name] for name in STOP_KEYS
}
"""Name in ``LeverPolynomials`` -> key of the hand file."""


def lever_curve(spring: LeverSpring | PolynomialSpring) -> LeverCurve:
    """Force and path of a spring table with a lever."""
    if isinstance(spring, LeverSpring):
        return SpringGeometry.of({name: getattr(spring, key) for name, key in GEOMETRY_KEYS.items()})
    return _polynomials_of({name: getattr(spring, key) for name, key in POLYNOMIAL_KEYS.items()})


def _polynomials_of(values: dict[str, Any]) -> LeverPolynomials:
    rows: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return LeverPolynomials(**rows)


def spring_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """Mechanisms that cannot be built, calibrations that no mechanism has."""
    for name, table in dict_at(raw, "springs").items():
        if not isinstance(table, dict):
            continue
        measured = table.get("kind") == "polynomial"
        keys = POLYNOMIAL_KEYS if measured else GEOMETRY_KEYS
        values = {n: table.get(k) for n, k in keys.items()}
        if not all(_readable(n, v) for n, v in values.items()):
            continue
        slack, tight, hard = (values[n] for n in STOP_KEYS)
        if not hard < tight < slack:  # type: ignore[operator]  # readable numbers; the schema tells of it
            continue
        try:
            _polynomials_of(values) if measured else SpringGeometry.of(values)
        except ImpossibleGeometry as error:
            change = error.change
            for short, key in GEOMETRY_KEYS.items():
                change = change.replace(short, key) if len(short) > 1 else change
            place = "" if error.lever_deg is None else f" at {error.lever_deg:.1f} deg"
            yield Refusal(path=("springs", name), found=error.what + place, legal=change)


_POINTS: Final = ("motor_pulley_center", "fixed_pulley_center", "lever_pivot", "spring_fixed_point")


def _readable(name: str, value: Any) -> bool:
    numbers = isinstance(value, list) and all(number_of(v) is not None for v in value)
    if name in ("ln_force", "path"):
        return numbers and len(value) > 1  # the schema tells of fewer
    if name in _POINTS:
        return numbers and len(value) == 2
    return number_of(value) is not None


ENCODER_COUNTS_PER_PERIOD: Final = 4
"""Encoder counts in a period of a harmonic below which the angle does not tell its phase."""


def ripple_refusals(hand: HandFile) -> Iterator[Refusal]:
    """Harmonics that would be applied twice, or whose phase the encoder cannot tell."""
    for name, drive in hand.drive_types.items():
        if isinstance(drive, PmsmDrive):
            yield from _ripple_refusals(() if hand.drives is None else ("drives", name), drive)


def _ripple_refusals(at: Path, drive: PmsmDrive) -> Iterator[Refusal]:
    seen: dict[tuple[str, int], int] = {}
    for k, ripple in enumerate(drive.ripple):
        key, path = (ripple.shaft, ripple.order), (*at, "ripple", k, "order")
        if key in seen:
            found = f"order {ripple.order} of the {ripple.shaft} shaft again"
            yield Refusal(
                path=path,
                found=found,
                legal="each order of a shaft once: both would be compensated",
                also=(*at, "ripple", seen[key], "order"),
            )
        seen.setdefault(key, k)
        periods = ripple.order * (drive.gear.ratio if ripple.shaft == "input" else 1.0)
        counts = drive.motor.encoder_counts_per_output_turn / periods
        if counts < ENCODER_COUNTS_PER_PERIOD:
            found = f"order {ripple.order}: {counts:.1f} encoder counts in a period"
            legal = f"at least {ENCODER_COUNTS_PER_PERIOD}, or its phase is not known"
            yield Refusal(path=path, found=found, legal=legal)


def _current_refusals(hand: HandFile) -> Iterator[Refusal]:
    """A current limit beyond what a drive can give, or a servo's beyond its stall torque."""
    limit = hand.limits.device_current_a
    for name, drive in hand.drive_types.items():
        at: Path = () if hand.drives is None else ("drives", name)
        if isinstance(drive, ServoDrive):
            most = drive.torque_stall_nm / drive.torque_constant_output_nm_a
            if drive.current_limit_a > most:
                legal = f"at most torque_stall_nm / torque_constant_output_nm_a ({most:.3g})"
                path: Path = (*at, "current_limit_a")
                yield Refusal(path=path, found=f"{drive.current_limit_a:g}", legal=legal)
        elif limit is not None and limit > drive.motor.current_limit_peak_a:
            peak = dotted((*at, "motor", "current_limit_peak_a"))
            legal = f"at most {peak} ({drive.motor.current_limit_peak_a:g})"
            yield Refusal(path=("limits", "device_current_a"), found=f"{limit:g}", legal=legal)


def order_refusals(hand: HandFile) -> Iterator[Refusal]:
    """Limits that contradict each other."""
    tendon = hand.tendon
    path: Path
    steps: tuple[tuple[str, float], ...] = (
        ("force_min_n", tendon.force_min_n),
        ("pretension_n", tendon.pretension_n),
        ("force_max_n", tendon.force_max_n),
        ("force_limit_n", tendon.force_limit_n),
        ("break_force_n", tendon.break_force_n),
    )
    for (low, a), (high, b) in zip(steps, steps[1:], strict=False):
        if a >= b:
            yield Refusal(path=("tendon", high), found=f"{b:g}", legal=f"more than {low} ({a:g})")
    yield from _current_refusals(hand)
    for name, spring in hand.springs.items():
        if isinstance(spring, LinearSpring) and spring.force_max_n <= tendon.force_max_n:
            legal = f"more than tendon.force_max_n ({tendon.force_max_n:g})"
            yield Refusal(path=("springs", name, "force_max_n"), found=f"{spring.force_max_n:g}", legal=legal)
    scales: list[tuple[Path, Hall | Sensor]] = [
        (("sensors", k, "zero_count"), s) for k, s in enumerate(hand.sensors)
    ]
    if hand.hall is not None:
        scales.append((("hall", "zero_count"), hand.hall))
    for path, sensor in scales:
        if sensor.zero_count >= 2**sensor.bits:
            legal = f"less than 2^bits ({2**sensor.bits})"
            yield Refusal(path=path, found=f"{sensor.zero_count:g}", legal=legal)
    yield from ripple_refusals(hand)
    guide = hand.guides.pairs[hand.guides.pair]
    if guide.c0_frac >= 1.0:
        path = ("guides", "pairs", hand.guides.pair, "c0_frac")
        yield Refusal(path=path, found=f"{guide.c0_frac:g}", legal="less than 1")
