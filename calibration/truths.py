"""What a drawn hand truly is, in the unit in which the hand itself can measure it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from calibration.part import Part
from hand.hand import Hand


def truth(hand: Hand, plant: np.void, part: Part, axis_zeros_rad: Sequence[float] = ()) -> float:
    """True value of a part in the unit in which the hand measures it; not a number where there is none.

    Args:
        hand: the hand, as it is measured.
        plant: model record of the drawn hand.
        part: what was found.
        axis_zeros_rad: zeros of the wrist axes' sensors of the drawn hand, which are in no record.
    """
    m, names, key = hand.model[0], hand.names, part.parameter
    if part.name in names.axes:
        zero = math.degrees(axis_zeros_rad[names.axes.index(part.name)])
        return {"sensor_zero_deg": zero, "sensor_gain": 1.0}.get(key, math.nan)
    if key == "guide_loss_frac":
        return float(np.mean([plant[key][names.tendons.index(name)] for name in part.name.split()]))
    if key == "coulomb_nm":
        return float(plant["joint_coulomb_nm"][names.joints.index(part.name)])
    if part.name in names.tendons:
        t = names.tendons.index(part.name)
        if key.startswith("dh_dq_m_rad."):
            return float(plant["P_tj_m"][t, names.joints.index(key.partition(".")[2])])
        if key == "spool_radius_m":
            return float(plant[key][t])
        spools = float(plant["spool_radius_m"][t] / m["spool_radius_m"][t])
        return _of_tendon(plant, t, key, spools * _unit(m, plant, int(m["tendon_motor"][t])))
    i = names.motors.index(part.name)
    return _of_motor(plant, i, key, _unit(m, plant, i))


def _unit(m: np.void, plant: np.void, i: int) -> float:
    """Torque of a motor in the unit of its file's torque constant, over the true one."""
    return float(m["motor_torque_constant_nm_a"][i] / plant["motor_torque_constant_nm_a"][i])


def _of_tendon(plant: np.void, t: int, key: str, unit: float) -> float:
    known = {
        "spring_scale": float(plant["spring_scale"][t]) * unit,
        "hall_zero_count": float(plant["hall_zero_count"][t]),
        "relative_half_width_frac": float(plant["lever_friction_frac"][t]),
        "presliding_lever_deg": math.degrees(float(plant["lever_presliding_rad"][t])),
    }
    return known.get(key, math.nan)


def _of_motor(plant: np.void, i: int, key: str, unit: float) -> float:
    if key.startswith("ripple."):
        shaft, _, order = key.split(".")[1].partition("_")
        rows = zip(plant["ripple_is_input"], plant["ripple_order"], strict=True)
        kinds = [(bool(of_input), int(n)) for of_input, n in rows]
        k = kinds.index((shaft == "input", int(order)))
        if key.endswith("_nm"):
            return float(plant["ripple_amplitude_nm"][i, k]) * unit
        return math.degrees(float(plant["ripple_phase_rad"][i, k]))
    if key == "force_friction_gain":
        return math.nan
    if key == "gamma_1_s_rad":
        return float(plant["friction_gamma_1_s_rad"][i])
    field = key if key == "motor_inertia_kg_m2" else f"friction_{key}"
    return float(plant[field][i]) * unit
