"""Figures of guard and controllers that belong to the hand: derived from its model by similitude.

A figure was found on the reference hand, by campaigns. Another hand gets it in the proportion of the quantity
that it goes by, whose unit it has:

    figure = figure of the reference hand * (quantity of this hand / that of the reference hand)

So a hand that is scaled in force, length and time gets figures that are scaled as their units say, and the
reference hand gets its own, bit for bit. The ratio of the two numbers in a row is the law's dimensionless
factor: the release torque is 0.82 of what a drive resists with, the probe's speed 0.18 of the no-load speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from signals.records import RecordArray

RESISTANCE_SHARE: Final = 0.1
"""Share of its greatest torque by which a motor's torque constant may err: what resists beside friction."""
Q = Callable[[Any], float]


def torque_nm(m: Any) -> float:
    """Greatest torque of the strongest motor [N m]."""
    return float(m["motor_torque_limit_nm"][: m["n_motors"]].max())


def speed_rad_s(m: Any) -> float:
    """No-load speed of the slowest motor [rad/s]."""
    return float(m["motor_speed_limit_rad_s"][: m["n_motors"]].min())


def resistance_nm(m: Any) -> float:
    """What a drive resists with at its no-load speed [N m]: eq. (3.8), and the error of its torque."""
    used = slice(0, int(m["n_motors"]))
    coulomb = 0.5 * math.pi * m["friction_gamma_2_nm"][used]
    viscous = m["friction_gamma_3_nms_rad"][used] * m["motor_speed_limit_rad_s"][used]
    return float((coulomb + viscous + RESISTANCE_SHARE * m["motor_torque_limit_nm"][used]).max())


def damping_nms_rad(m: Any) -> float:
    """Slope of a motor's torque over its speed [N m s/rad]."""
    return torque_nm(m) / speed_rad_s(m)


def sliding_rad_s(m: Any) -> float:
    """Speed at which the friction of every gear is half its way up the arctangent of eq. (3.8) [rad/s]."""
    return 1.0 / float(m["friction_gamma_1_s_rad"][: m["n_motors"]].min())


def axis_rad_s(m: Any) -> float:
    """Speed of the slower wrist drive [rad/s]."""
    return float(m["axis_speed_limit_rad_s"][: m["n_axes"]].min())


def least_n(m: Any) -> float:
    """Least tension that the distribution asks for [N]."""
    return float(m["tension_min_n"][: m["n_tendons"]].max())


def most_n(m: Any) -> float:
    """Greatest tension that the distribution asks for [N]."""
    return float(m["tension_max_n"][: m["n_tendons"]].max())


def rate_n_s(m: Any) -> float:
    """Greatest tension, times the no-load speed [N/s]."""
    return most_n(m) * speed_rad_s(m)


def spool_m(m: Any) -> float:
    """Radius of the largest spool [m]: the way of a tendon per turn of its motor."""
    return float(abs(m["spool_radius_m"][: m["n_tendons"]]).max())


def resolution_count(m: Any) -> float:
    """Counts of the finest Hall sensor per lever angle [count/rad]."""
    return float(abs(m["hall_counts_rad"][: m["n_tendons"]]).max())


def softness_1_n(m: Any) -> float:
    """Lever angle per tension [rad/N]: of the whole way of the softest lever."""
    used = slice(0, int(m["n_springs"]))
    return float(((m["lever_max_rad"] - m["lever_min_rad"])[used] / m["force_max_n"][used]).max())


def resolution_count_n(m: Any) -> float:
    """Counts per tension [count/N]."""
    return resolution_count(m) * softness_1_n(m)


def count_path_m(m: Any) -> float:
    """Path of a tendon per count, the mean over the lever's way [m]; of the mechanism with most of it."""
    used = slice(0, int(m["n_springs"]))
    path = abs(m["spring_path_m"][used]).max(axis=1) / (m["lever_max_rad"] - m["lever_min_rad"])[used]
    return float(path.max()) / float(abs(m["hall_counts_rad"][: m["n_tendons"]]).min())


def compliance_m_n(m: Any) -> float:
    """Path of a tendon through its spring per tension, the mean over the lever's way [m/N]."""
    used = slice(0, int(m["n_springs"]))
    return float((abs(m["spring_path_m"][used]).max(axis=1) / m["force_max_n"][used]).max())


def stiffness_n_m(m: Any) -> float:
    """Stiffness of the softest tendon at a sixth of its greatest tension [N/m]."""
    found = []
    for t in range(int(m["n_tendons"])):
        s, force = int(m["tendon_spring"][t]), m["tension_max_n"][t] / 6.0 / m["spring_scale"][t]
        nodes = np.linspace(0.0, m["force_max_n"][s], m["stiffness_n_m"].shape[1])
        mechanism = m["spring_scale"][t] * np.interp(force, nodes, m["stiffness_n_m"][s])
        found.append(mechanism / (1.0 + mechanism * m["tendon_compliance_m_n"][t]))
    return float(min(found))


def winding_m_s(m: Any) -> float:
    """Speed of a tendon at the no-load speed [m/s]."""
    return spool_m(m) * speed_rad_s(m)


def wrist_m2(m: Any) -> float:
    """Square of the greatest lever arm of a tendon at the wrist [m^2/rad^2]."""
    return float((m["wrist_arm_m"] ** 2).max())


REFERENCE: Final[dict[Q, float]] = {
    torque_nm: 2.94,
    speed_rad_s: 14.139190265868386,
    resistance_nm: 1.6748020016125438,
    damping_nms_rad: 0.2079326994486437,
    sliding_rad_s: 0.1,
    axis_rad_s: 2.0943951023931953,
    least_n: 5.0,
    most_n: 120.0,
    rate_n_s: 1696.7028319042063,
    spool_m: 0.01,
    resolution_count: 2607.5945876176133,
    resolution_count_n: 9.394290113127822,
    count_path_m: 3.634352685698575e-06,
    compliance_m_n: 3.414216350287767e-05,
    stiffness_n_m: 6995.4793754627535,
    winding_m_s: 0.14139190265868387,
    wrist_m2: 0.0009840461645544034,
}
"""These quantities of the reference hand."""


OF_A_WRIST: Final = (axis_rad_s, wrist_m2)


class Figure(NamedTuple):
    """A field of the model record: the reference hand's value, and the quantity that it goes by."""

    reference: float
    quantity: Q
    inverse: bool = False
    """The figure is one per unit of the quantity."""


FIGURES: Final[dict[str, Figure]] = {
    # ten times less than the squares of abduction's columns over all fingers near neutral, and ten times more
    # than those of flexion, which hardly shows there
    "wrist_regularisation_m2": Figure(4.0e-5, wrist_m2),
    # as the rods of the bones
    "tip_radius_m": Figure(0.008, spool_m),
    "slip_speed_m_s": Figure(0.005, winding_m_s),
    # the gain falls with the root of the stiffness, so that the loop's frequency stays
    "tension_kp_stiffness_n_m": Figure(7200.0, stiffness_n_m),
    # friction and its spread have to be overcome, ripple too; on a sound tendon it makes less than 100 N
    "release_torque_nm": Figure(1.37, resistance_nm),
    # several times what ripple and errors can hold
    "excess_torque_nm": Figure(0.5, resistance_nm),
    "friction_energy_j": Figure(0.05, resistance_nm),  # in a radian
    "rest_torque_nm": Figure(1.0, torque_nm),
    "rest_damping_nms_rad": Figure(0.5, damping_nms_rad),
    "probe_damping_nms_rad": Figure(0.3, damping_nms_rad),
    # a motor that is too fast by a fourteenth of its no-load speed is braked with all its torque
    "envelope_damping_nms_rad": Figure(3.0, damping_nms_rad),
    "probe_speed_rad_s": Figure(2.5, speed_rad_s),
    "rest_speed_rad_s": Figure(0.5, speed_rad_s),
    "standing_speed_rad_s": Figure(0.02, speed_rad_s),
    "running_speed_rad_s": Figure(2.0, speed_rad_s),
    "turning_speed_rad_s": Figure(0.3, sliding_rad_s),
    "stop_speed_rad_s": Figure(0.3, speed_rad_s),
    "joint_noise_rad_s": Figure(0.5, speed_rad_s),
    "unrest_speed_m_s": Figure(0.010, winding_m_s),
    "wrist_wind_rad_s": Figure(10.0, speed_rad_s),
    "hit_speed_rad_s": Figure(2.0, speed_rad_s),
    "spared_speed_rad_s": Figure(1.0, speed_rad_s),
    "sure_speed_rad_s": Figure(5.0, speed_rad_s),
    "softer_s_rad": Figure(1e-4, speed_rad_s, inverse=True),
    "enter_joint_rad_s": Figure(2.0, speed_rad_s),
    "enter_motor_rad_s": Figure(2.0, speed_rad_s),
    "enter_tension_n_s": Figure(200.0, rate_n_s),
    "enter_axis_rad_s": Figure(0.5, axis_rad_s),
    "axis_standing_rad_s": Figure(1e-4, axis_rad_s),
    "release_rate_n_s": Figure(500.0, rate_n_s),
    "dip_tension_n": Figure(9.0, least_n),
    "least_wanted_n": Figure(4.0, least_n),
    "moving_tension_n": Figure(2.0, least_n),
    "released_tension_n": Figure(1.0, least_n),
    "step_share_1_n": Figure(0.28 * 0.01, most_n, inverse=True),
    "probe_way_m": Figure(0.003, spool_m),
    "probe_under_way_m": Figure(0.0002, spool_m),
    "stuck_moved_m": Figure(0.00005, count_path_m),
    "stuck_way_m": Figure(0.001, count_path_m),
    # beyond what counts can round
    "stuck_residual_m": Figure(0.00004, count_path_m),
    "still_residual_m": Figure(0.00015, count_path_m),
    # what the lever's friction loop adds to a residual as it turns; a motor that truly stands leaves a sixth
    "still_residual_m_n": Figure(3.0e-6, compliance_m_n),
    "jump_count": Figure(40.0, resolution_count),
    # the lever's friction loop, as it turns, can move the lever by 80 counts at 100 N
    "jump_count_n": Figure(0.4, resolution_count_n),
    # a slip at a high tension, or of a joint at its stop, moves the other counts by no more than 9 to 16
    "others_count": Figure(4.0, resolution_count),
    "near_count": Figure(20.0, resolution_count),
}


def store_figures(model: RecordArray) -> None:
    """All figures from what the model record holds already: motors, tendons, springs, wrist.

    Args:
        model: model record, shape (1,); fields of ``FIGURES`` are written.
    """
    m = model[0]
    for name, figure in FIGURES.items():
        if figure.quantity in OF_A_WRIST and int(m["n_axes"]) == 0:
            m[name] = figure.reference
            continue
        share = figure.quantity(m) / REFERENCE[figure.quantity]
        m[name] = figure.reference / share if figure.inverse else figure.reference * share


def store_reference_figures(model: RecordArray) -> None:
    """Those of the reference hand, for what has no tendons that they could be derived from."""
    for name, figure in FIGURES.items():
        model[name] = figure.reference
