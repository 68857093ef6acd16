"""What hands are like: a value far outside is a slip of a unit or of the point, and is said to be one.

Each range reaches some thirty times beyond what human-sized hands have, to both sides: a factor of 57.3
(degrees for radians) or 1000 (mm for m) shows, another person's hand does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, Final

from hand.file.gears import MADE_OF_GEARS
from hand.file.hand import HandFile
from hand.file.locate import Path
from hand.file.schema import unit_of

LENGTHS: Final = (1e-3, 0.2)
RANGES: Final[dict[str, tuple[float, float]]] = {
    "surroundings.gravity_m_s2": (0.1, 30.0),
    "motor.pole_pairs": (1, 60),
    "motor.phase_resistance_ohm": (0.02, 20.0),
    "motor.phase_inductance_h": (5e-6, 5e-3),
    "motor.rotor_inertia_kg_m2": (1e-8, 1e-5),
    "motor.bus_voltage_v": (3.0, 60.0),
    "motor.current_limit_peak_a": (0.2, 100.0),
    "motor.current_limit_continuous_a": (0.1, 60.0),
    "motor.encoder_counts_per_output_turn": (2000, 4_000_000),
    "gear.size": (1, 200),
    "gear.wave_generator_inertia_kg_m2": (1e-8, 1e-5),
    "gear.output_inertia_kg_m2": (1e-7, 5e-5),
    "gear.torque_rated_nm": (0.05, 50.0),
    "gear.torque_peak_nm": (0.1, 100.0),
    "gear.torsional_stiffness_nm_rad": (20.0, 5e4),
    "friction.gamma_1_s_rad": (0.5, 500.0),
    "friction.gamma_2_nm": (0.01, 10.0),
    "friction.gamma_3_nms_rad": (1e-3, 1.0),
    "spool.radius_m": (1e-3, 0.05),
    "thermal.winding_resistance_k_w": (0.2, 100.0),
    "thermal.winding_capacity_j_k": (0.2, 300.0),
    "thermal.case_resistance_k_w": (0.1, 100.0),
    "thermal.case_capacity_j_k": (2.0, 2000.0),
    "tendon.diameter_m": (1e-4, 5e-3),
    "tendon.break_force_n": (20.0, 2e4),
    "tendon.force_min_n": (0.1, 100.0),
    "tendon.slack_margin_deg": (0.02, 10.0),
    "tendon.creep_per_decade": (5e-5, 0.05),
    "guides.bending_angle_rad": (0.05, 20.0),
    "guides.regularisation_speed_m_s": (1e-5, 0.02),
    "guides.pairs.*.c0_frac": (8e-3, 1.0),
    "guides.pairs.*.c1_per_rad": (0.02, 10.0),
    "guides.pairs.*.rope_friction": (5e-3, 2.0),
    "guides.bending.moment_nm": (1e-6, 0.1),
    "guides.bending.radii_m": LENGTHS,
    "hysteresis.relative_half_width_frac": (5e-3, 1.0),
    "hysteresis.presliding_lever_deg": (0.01, 10.0),
    "hall.span_deg": (5.0, 720.0),
    "hall.noise_counts_rms": (0.02, 50.0),
    "hall.hysteresis_deg": (2e-3, 5.0),
    "hall.filter_hz": (20.0, 5e4),
    "springs.*.motor_pulley_center_m": LENGTHS,
    "springs.*.motor_pulley_radius_m": LENGTHS,
    "springs.*.fixed_pulley_center_m": LENGTHS,
    "springs.*.fixed_pulley_radius_m": LENGTHS,
    "springs.*.lever_pivot_m": LENGTHS,
    "springs.*.lever_length_m": LENGTHS,
    "springs.*.lever_pulley_radius_m": LENGTHS,
    "springs.*.lever_inertia_kg_m2": (1e-9, 1e-4),
    "springs.*.spring_attach_radius_m": LENGTHS,
    "springs.*.spring_fixed_point_m": LENGTHS,
    "springs.*.spring_free_length_m": LENGTHS,
    "springs.*.spring_constant_n_m": (200.0, 2e5),
    "springs.*.stiffness_n_m": (350.0, 1e6),
    "springs.*.force_max_n": (5.0, 5000.0),
    "sensors.*.span_n": (5.0, 5000.0),
    "sensors.*.noise_counts_rms": (0.02, 50.0),
    "sensors.*.span_deg": (20.0, 360.0),
    "sensors.*.accuracy_deg": (0.01, 5.0),
    "sensors.*.filter_hz": (20.0, 5e4),
    "fingers.*.base_position_m": (2e-3, 0.4),
    "fingers.*.base_rpy_deg": (2.0, 360.0),
    "fingers.*.position_m": (2e-3, 0.4),
    "fingers.*.residual_limit_m": (1e-4, 0.02),
    "fingers.*.joints.*.range_deg": (5.0, 200.0),
    "fingers.*.joints.*.viscous_nms_rad": (2e-5, 0.05),
    "fingers.*.joints.*.coulomb_nm": (4e-4, 0.2),
    "fingers.*.joints.*.spring.stiffness_nm_rad": (2e-4, 5.0),
    "fingers.*.joints.*.spring.rest_deg": (2.0, 300.0),
    "fingers.*.bones.*.ratio": (0.1, 10.0),
    "fingers.*.bones.*.length_m": LENGTHS,
    "fingers.*.bones.*.offset_z_m": (1e-4, 0.03),
    "fingers.*.bones.*.mass_kg": (1e-4, 0.5),
    "fingers.*.bones.*.position_m": (1e-3, 0.2),
    "fingers.*.bones.*.rpy_deg": (2.0, 360.0),
    "fingers.*.bones.*.com_m": (1e-4, 0.2),
    "fingers.*.bones.*.inertia_kg_m2": (1e-9, 1e-3),
    "fingers.*.tip_m": (1e-3, 0.2),
    "fingers.*.bones.*.com_fraction": (0.05, 1.0),
    "fingers.*.insertions.*.palm_m.*": LENGTHS,
    "fingers.*.insertions.*.bone_m.*": LENGTHS,
    "fingers.*.four_bar.ground_m": LENGTHS,
    "fingers.*.four_bar.crank_m": LENGTHS,
    "fingers.*.four_bar.coupler_m": LENGTHS,
    "fingers.*.four_bar.rocker_m": LENGTHS,
    "fingers.*.four_bar.neutral_crank_deg": (2.0, 360.0),
    "fingers.*.mass_kg": (1e-3, 1.0),
    "fingers.*.com_m": (1e-3, 0.3),
    "fingers.*.inertia_diag_kg_m2": (3e-7, 5e-4),
    "tendons.*.spool_radius_m": (1e-3, 0.05),
    "tendons.*.dh_dq_m_rad.*": (3e-4, 0.05),
    "tendons.*.dh_dq_curve_m.*": (1e-5, 0.1),
    "tendons.*.length_m": (0.02, 3.0),
    "tendons.*.forearm_m": LENGTHS,
    "tendons.*.palm_m": LENGTHS,
    "passive.*.dh_dq_m_rad.*": (3e-4, 0.05),
    "passive.*.stiffness_n_m": (10.0, 1.2e5),
    "passive.*.preload_n": (0.02, 200.0),
    "palm.mass_kg": (0.02, 5.0),
    "palm.com_m": (2e-3, 0.3),
    "palm.inertia_diag_kg_m2": (1e-5, 0.02),
    "forearm.mass_kg": (0.1, 50.0),
    "wrist.length_m": (3e-3, 0.5),
    "wrist.width_m": (3e-3, 0.5),
    "wrist.thickness_m": (3e-3, 0.5),
    "wrist.pitch_range_deg": (5.0, 180.0),
    "wrist.yaw_range_deg": (2.0, 180.0),
    "wrist.design_load_n": (200.0, 2e5),
    "wrist.potentiometer.bits": (6, 32),
    "wrist.potentiometer.range_deg": (10.0, 4000.0),
    "wrist.potentiometer.noise_deg_rms": (5e-4, 0.5),
    "wrist.drive.bandwidth_hz": (0.2, 200.0),
    "wrist.drive.damping_ratio": (0.05, 10.0),
    "wrist.drive.speed_max_deg_s": (5.0, 3000.0),
    "wrist.drive.torque_max_nm": (0.2, 200.0),
    "wrist.drive.springs.lever_arm_m": LENGTHS,
    "wrist.drive.springs.pretension_n": (1.0, 1e4),
    "wrist.drive.springs.force_length_m": (1e-4, 0.2),
    "wrist.drive.springs.damping_nms_rad": (1e-4, 5.0),
    "object.radius_m": (2e-3, 0.5),
    "object.center_palm_m": (3e-3, 0.6),
    "object.stiffness_n_m": (50.0, 1e5),
    "object.damping_ns_m": (0.1, 200.0),
    "object.friction": (0.02, 5.0),
    "object.mass_kg": (2e-3, 5.0),
    "gains.velocity_filter_hz": (5.0, 2e4),
    "limits.torque_rate_nm_s": (10.0, 2e4),
    "limits.tension_rate_n_s": (50.0, 1e5),
    "limits.command_age_ms": (5.0, 5000.0),
    "limits.measurement_age_ms": (5.0, 5000.0),
    "limits.winding_temperature_degc": (40.0, 250.0),
    "joint_stops.stiffness_nm_rad": (0.2, 200.0),
    "joint_stops.damping_nms_rad": (2e-4, 0.5),
    "joint_stops.coulomb_speed_rad_s": (1e-3, 2.0),
    "tolerances.ripple_phase_deg": (0.1, 180.0),
    "tolerances.wrist_zero_deg": (0.01, 10.0),
    "tolerances.*": (0.0, 1.0),
    "drives.*.torque_constant_output_nm_a": (0.02, 20.0),
    "drives.*.torque_stall_nm": (0.03, 30.0),
    "drives.*.speed_no_load_rad_s": (0.3, 200.0),
    "drives.*.voltage_v": (3.0, 60.0),
    "drives.*.inertia_output_kg_m2": (3e-5, 0.05),
    "drives.*.current_limit_a": (0.03, 20.0),
    "drives.*.counts_per_turn": (256, 150_000),
    "drives.*.position_loop.stiffness_nm_rad": (0.1, 150.0),
    "drives.*.position_loop.damping_nms_rad": (5e-4, 2.0),
    "drives.*.position_loop.deadband_deg": (0.01, 5.0),
    "drives.*.position_loop.travel_deg": (20.0, 8000.0),
    "gears.*.stiffness_nm_rad": (1.0, 1000.0),
    "gears.*.backlash_deg": (0.02, 20.0),
    "gears.*.motor_per_joint.*": (0.05, 20.0),
}
"""Key, ``*`` for names and places -> least and greatest size; of a list the largest entry; 0 is none."""
RANGES.update(
    {
        f"drives.*.{k}": r
        for k, r in RANGES.items()
        if k.split(".")[0] in ("motor", "gear", "friction", "thermal")
    }
)
_SPLIT: Final[dict[tuple[str | int, int], list[tuple[tuple[str, ...], tuple[float, float]]]]] = {}
for _pattern, _bounds in RANGES.items():
    _parts = tuple(_pattern.split("."))
    _SPLIT.setdefault((_parts[0], len(_parts)), []).append((_parts, _bounds))

_THOUSANDTHS: Final = {
    "m": "mm",
    "m/rad": "mm/rad",
    "kg": "g",
    "N m": "mN m",
    "N": "mN",
    "A": "mA",
    "V": "mV",
    "H": "mH",
}
_THOUSANDS: Final = {"ms": "s", "N/m": "N/mm", "Hz": "kHz", "m": "km", "Pa": "kPa"}

Found = Iterator[tuple[Path, str]]


def implausible(hand: HandFile) -> Found:
    """Values far from those of any hand."""
    for path, value in sizes(hand.model_dump(), ()):
        bounds = bounds_in(hand, path)
        if hand.gears and path[0] in MADE_OF_GEARS:
            continue
        if bounds is not None and value > 0.0 and not bounds[0] <= value <= bounds[1]:
            yield path, _words(path, value, bounds)


JOINT_GAINS: Final = ("impedance_nm_rad", "damping_nms_rad")
UNLIKE: Final = 30.0
"""How many times the middle one of a hand's joints a gain may be; hands that are known stay below 15."""


def unlike_joints(hand: HandFile) -> Found:
    """A joint with a gain far above all others': a base with long lever arms bears it and is calm."""
    joints = [(name, k, j) for name, f in hand.fingers.items() for k, j in enumerate(f.joints)]
    for key in JOINT_GAINS:
        gains = sorted((float(getattr(j, key)), name, k) for name, k, j in joints if getattr(j, key) > 0.0)
        if len(gains) > 2:
            gain, name, k = gains[-1]
            middle = median(g for g, _, _ in gains[:-1])
            if gain > UNLIKE * middle:
                text = f"{gain:g}, {gain / middle:.0f} times that of most joints ({middle:g})"
                yield ("fingers", name, "joints", k, key), f"{text}; a slip of a unit?"


_OF_A_PALM: Final = {"mass_kg": "mass_kg", "inertia_kg_m2": "inertia_diag_kg_m2"}


def bounds_in(hand: HandFile, path: Path) -> tuple[float, float] | None:
    """``bounds_of``; a bone that carries fingers, as that of a wrist of joints, may be as large as a palm."""
    bounds, key = bounds_of(path), _OF_A_PALM.get(str(path[-1]))
    if bounds is None or key is None or path[0] != "fingers" or "bones" not in path:
        return bounds
    if not any(f.parent == path[1] for f in hand.fingers.values()):
        return bounds
    palm = bounds_of(("palm", key))
    return bounds if palm is None else (bounds[0], palm[1])


def bounds_of(path: Path) -> tuple[float, float] | None:
    """Least and greatest size of the value at a path; ``None``: anything goes."""
    near = _SPLIT.get((path[0], len(path)), ())
    return next((bounds for pattern, bounds in near if fits(pattern, path)), None)


def sizes(value: Any, path: Path) -> Iterator[tuple[Path, float]]:
    """Every number, every list of numbers by its largest entry."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from sizes(item, (*path, key))
    elif isinstance(value, tuple) and value and not isinstance(value[0], (int, float)):
        for k, item in enumerate(value):
            yield from sizes(item, (*path, k))
    elif isinstance(value, tuple) and value:
        yield path, max(abs(float(v)) for v in value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, abs(float(value))


def fits(pattern: tuple[str, ...], path: Path) -> bool:
    """True if a path is one of a pattern's."""
    return len(pattern) == len(path) and all(p in ("*", k) for p, k in zip(pattern, path, strict=True))


def _words(path: Path, value: float, bounds: tuple[float, float]) -> str:
    low, high = bounds
    unit = next((u for u in (unit_of(str(p)) for p in reversed(path) if isinstance(p, str)) if u), "")
    text = f"{value:g} {unit}".rstrip() + f", but hands have {low:g} to {high:g}"
    if unit in ("deg", "rad"):
        other = "rad" if unit == "deg" else "deg"
        factor = 57.29577951 if unit == "deg" else 1.0 / 57.29577951
        if low <= value * factor <= high:
            return f"{text}; is it in {other}?"
    small, large = _THOUSANDTHS.get(unit, ""), _THOUSANDS.get(unit, "")
    if low <= value / 1000.0 <= high and small:
        return f"{text}; is it in {small}?"
    if low <= value * 1000.0 <= high and large:
        return f"{text}; is it in {large}?"
    return text
