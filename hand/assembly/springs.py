"""Springs of every kind as tables of the model record, and what a count of each tendon's sensor means.

The laws know a spring as force and path over a lever's angle. A spring without a lever gets one that has one
radius: force and path are straight lines over an angle that is 0 at the slack tendon and falls as the force
rises, over the travel of the reference hand's lever. So what laws ask of a lever's angle (a share of a degree
from its stop) means the same share of the travel here.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from hand.file.checks_physics import lever_curve
from hand.file.hand import HandFile
from hand.file.springs import LEVER_SPRINGS, CordSpring, LinearSpring
from mechanics.springtables import SpringTables, spring_tables
from signals.records import RecordArray
from signals.sizes import FORCE_NODES, SPRING_NODES

TRAVEL_RAD: Final = math.radians(39.0)
"""From the slack stop to the hard stop: as the reference hand's lever."""
CALIBRATED_SHARE: Final = 0.95
"""Share of the greatest force up to which a spring without a lever is used."""
CORD_SHARE: Final = 0.9
"""Share of a cord's stretch that is in its table; laws need some outside of it."""
BEYOND_LIMIT: Final = 1.2
"""A cord's table ends here, times ``tendon.force_limit_n``."""
SLACK_SHARE: Final = 0.5
"""Share of ``tendon.force_min_n`` below which a tendon without a lever is slack."""
BITS: Final = 12
"""Of the count that stands for the tension of a tendon without a sensor."""


def plain_tables(stiffness_n_m: float, force_max_n: float) -> SpringTables:
    """Tables of a spring of one stiffness that stops at a force."""
    lever = np.linspace(-TRAVEL_RAD, 0.0, SPRING_NODES)
    share, way_m = -lever / TRAVEL_RAD, force_max_n / stiffness_n_m
    return SpringTables(
        lever_min_rad=-TRAVEL_RAD,
        lever_max_rad=0.0,
        lever_calibrated_min_rad=-CALIBRATED_SHARE * TRAVEL_RAD,
        spring_force_n=force_max_n * share,
        spring_force_slope_n_rad=np.full(SPRING_NODES, -force_max_n / TRAVEL_RAD),
        spring_path_m=-way_m * share,
        spring_path_slope_m_rad=np.full(SPRING_NODES, way_m / TRAVEL_RAD),
        spring_energy_j=0.5 * force_max_n * way_m * share**2,
        force_max_n=force_max_n,
        stiffness_n_m=np.full(FORCE_NODES, stiffness_n_m),
    )


def store_springs(hand: HandFile, model: RecordArray) -> None:
    """Tables of the springs, and which share of a tendon's compliance lies outside of them."""
    m = model[0]
    model["n_springs"] = len(hand.springs)
    places = list(hand.springs)
    softest_m_n = max(t.length_m for t in hand.tendons) / hand.tendon.axial_stiffness_n
    for s, spring in enumerate(hand.springs.values()):
        if isinstance(spring, LEVER_SPRINGS):
            tables = spring_tables(lever_curve(spring))
            margin_rad = math.radians(hand.tendon.slack_margin_deg or 0.0)
        else:
            tables = _tables_of(hand, spring, softest_m_n)
            margin_rad = TRAVEL_RAD * SLACK_SHARE * hand.tendon.force_min_n / tables.force_max_n
        tables.store(model, s)
        m["slack_margin_rad"][s] = margin_rad
    for t, tendon in enumerate(hand.tendons):
        name = tendon.spring or hand.tendon.spring
        m["tendon_spring"][t] = places.index(name)
        m["spring_scale"][t] = hand.measured(tendon.name).spring_scale or tendon.spring_scale or 1.0
        m["tendon_compliance_m_n"][t] = tendon.length_m / hand.tendon.axial_stiffness_n
        if isinstance(hand.springs[name], CordSpring):
            m["spring_scale"][t] *= softest_m_n / m["tendon_compliance_m_n"][t]
            m["tendon_compliance_m_n"][t] *= 1.0 - CORD_SHARE


def _tables_of(hand: HandFile, spring: LinearSpring | CordSpring, softest_m_n: float) -> SpringTables:
    if isinstance(spring, LinearSpring):
        return plain_tables(spring.stiffness_n_m, spring.force_max_n)
    return plain_tables(1.0 / (CORD_SHARE * softest_m_n), BEYOND_LIMIT * hand.tendon.force_limit_n)


def store_sensors(hand: HandFile, model: RecordArray) -> None:
    """What a count says of the lever: of a Hall sensor, of a force sensor, or of no sensor at all."""
    m = model[0]
    m["difference_to"][: len(hand.tendons)] = -1
    hall = hand.hall
    for t, tendon in enumerate(hand.tendons):
        s = int(m["tendon_spring"][t])
        force = hand.force_sensor_at(tendon.name)
        if force is not None:
            stiff_n_rad = float(m["spring_scale"][t] * m["force_max_n"][s]) / TRAVEL_RAD
            m["hall_zero_count"][t] = force.zero_count
            m["hall_counts_rad"][t] = -force.direction * 2**force.bits / force.span_n * stiff_n_rad
            m["hall_count_max"][t] = 2**force.bits - 1
            m["hall_noise_count"][t] = force.noise_counts_rms
            m["hall_filter_hz"][t] = force.filter_hz
        elif hall is not None and tendon.hall_channel is not None:
            counts = (hand.measured(tendon.name).hall_zero_count, tendon.hall_zero_count, hall.zero_count)
            m["hall_zero_count"][t] = next(count for count in counts if count is not None)
            m["hall_counts_rad"][t] = hall.direction * 2**hall.bits / math.radians(hall.span_deg)
            m["hall_count_max"][t] = 2**hall.bits - 1
            own = tendon.hall_noise_counts_rms
            m["hall_noise_count"][t] = hall.noise_counts_rms if own is None else own
            m["hall_hysteresis_rad"][t] = math.radians(hall.hysteresis_deg)
            m["hall_filter_hz"][t] = hall.filter_hz
        else:
            travel_rad = float(m["lever_max_rad"][s] - m["lever_min_rad"][s])
            m["hall_counts_rad"][t] = 2**BITS / travel_rad
            m["hall_zero_count"][t] = -m["hall_counts_rad"][t] * m["lever_min_rad"][s]
            m["hall_count_max"][t] = 2**BITS
            _store_difference(hand, m, t, tendon.name)


def _store_difference(hand: HandFile, m: np.void, t: int, name: str) -> None:
    """What a count says of a difference of forces, in the channel of a tendon without a sensor."""
    sensor = hand.difference_at(name)
    if sensor is None:
        return
    m["n_differences"] += 1
    m["difference_to"][t] = [other.name for other in hand.tendons].index(sensor.against)
    m["difference_zero_count"][t] = sensor.zero_count
    m["difference_counts_n"][t] = sensor.direction * 2**sensor.bits / sensor.span_n
    m["hall_count_max"][t] = 2**sensor.bits - 1
    m["hall_noise_count"][t] = sensor.noise_counts_rms
    m["hall_filter_hz"][t] = sensor.filter_hz
