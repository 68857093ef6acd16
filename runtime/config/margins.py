"""Suspicions about gains: loops that are unstable or nearly, too weak for their friction, or barely damped.

Computed from the file's own figures (``runtime.config.loops``), at the least, usual and greatest tension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from runtime.config.hand import HandFile
from runtime.config.locate import Path
from runtime.config.loops import Law, Plant, growth_1_s, held, plant_of, tension_gains

MARGIN: Final = 1.5
"""Factor of all gains at which a loop still has to be stable, a period later than the file says."""
GROWTH_1_S: Final = 20.0
"""Growth of a motion that counts as unstable; dry friction, which the loops leave out, stops slower ones."""
LEAST_DAMPING: Final = 0.1
"""Damping ratio of a motor against its tendon, or its position gain."""
SLOPPY_DEG: Final = 5.0
"""Error of a joint that friction may cause at rest."""
BETWEEN: Final = 0.5
"""Longest speed filter as a share of the rate: above it nothing is left to filter."""

Found = Iterator[tuple[Path, str]]
Change = tuple[Path, Callable[[Law], Law]]
"""A gain's path, and the law without it."""


def loop_suspicions(hand: HandFile) -> Found:
    """All about the loops of a hand."""
    yield from _unstable(hand)
    yield from _weak(hand)
    yield from _undamped(hand)
    cutoff, rate = hand.gains.velocity_filter_hz, hand.control.rate_hz
    if cutoff > BETWEEN * rate:
        text = f"{cutoff:g} Hz filters nothing at {rate:g} Hz: speeds are as coarse as an encoder step"
        yield ("gains", "velocity_filter_hz"), text


def _unstable(hand: HandFile) -> Found:
    from runtime.assemble import model_of

    model = model_of(hand)
    blamed: dict[Path, tuple[float, str]] = {}
    for f, name in enumerate(hand.fingers):
        for tension_n in (hand.tendon.force_min_n, hand.tendon.pretension_n, hand.tendon.force_max_n):
            plant = plant_of(model, f, tension_n, hand.hall.filter_hz, hand.control.command_delay_cycles + 1)
            for what, at, law, changes in _modes(hand, name, model, plant):
                growth = growth_1_s(at, law.times(MARGIN))
                if growth > GROWTH_1_S:
                    path = next((p for p, change in changes if _calm(at, change(law))), changes[0][0])
                    text = f"{what} of {name} at {tension_n:g} N: {_words(at, law, growth)}"
                    if growth > blamed.get(path, (0.0, ""))[0]:
                        blamed[path] = growth, text
                    break  # what follows contains this loop
    yield from ((path, text) for path, (_, text) in blamed.items())


def _calm(plant: Plant, law: Law) -> bool:
    return growth_1_s(plant, law.times(MARGIN)) <= GROWTH_1_S


def _words(plant: Plant, law: Law, growth_1_s: float) -> str:
    figures = (
        f"motor inertia {plant.inertia[0]:.3g} kg m2 at the spool, spool radius {plant.radius[0]:.3g} m, "
        f"tendon stiffness {plant.stiffness[0]:.3g} N/m, delay {plant.delay * plant.dt_s * 1e3:.2g} ms, "
        f"speed filter {law.filter_hz:g} Hz"
    )
    if growth_1_s < math.inf and _calm_at(plant, law):
        return f"stable by less than a factor of {MARGIN:g} ({figures})"
    return f"unstable ({figures})"


def _calm_at(plant: Plant, law: Law) -> bool:
    return growth_1_s(plant, law) <= GROWTH_1_S


def _modes(
    hand: HandFile, name: str, model: Any, plant: Plant
) -> Iterator[tuple[str, Plant, Law, list[Change]]]:
    """Loop in words, plant, law, and what may be at fault."""
    gains, joints = hand.gains, hand.fingers[name].joints
    nt, nj = plant.P.shape
    none = Law(
        tension=np.zeros(nt),
        position=0.0,
        damping=0.0,
        filter_hz=gains.velocity_filter_hz,
        impedance=np.zeros(nj),
        joint_damping=np.zeros(nj),
    )
    position = replace(none, position=gains.position_kp_nm_rad, damping=gains.position_kd_nms_rad)
    tension = replace(none, tension=tension_gains(model, plant.stiffness), damping=gains.tension_kd_nms_rad)
    stiff = np.array([j.impedance_nm_rad for j in joints])
    impedance = replace(tension, impedance=stiff, joint_damping=np.array([j.damping_nms_rad for j in joints]))
    unfiltered: Change = ("gains", "velocity_filter_hz"), lambda law: replace(law, filter_hz=1e9)
    own: list[Change] = [
        unfiltered,
        (("gains", "tension_kp_nm_n"), lambda law: replace(law, tension=np.zeros(nt))),
        (("gains", "tension_kd_nms_rad"), lambda law: replace(law, damping=0.0)),
    ]
    yield "tension loop, joints held,", held(plant), tension, own
    yield "tension loop", plant, tension, own
    yield (
        "position loop",
        plant,
        position,
        [
            unfiltered,
            (("gains", "position_kp_nm_rad"), lambda law: replace(law, position=0.0)),
            (("gains", "position_kd_nms_rad"), lambda law: replace(law, damping=0.0)),
        ],
    )
    path: Path = ("fingers", name, "joints")
    single: list[Change] = []
    for j in range(nj):
        rest = np.arange(nj) != j
        single.append(((*path, j, "impedance_nm_rad"), _without("impedance", rest)))
        single.append(((*path, j, "damping_nms_rad"), _without("joint_damping", rest)))
    yield (
        "joint impedance",
        plant,
        impedance,
        [
            *single,
            (path, lambda law: replace(law, impedance=np.zeros(nj))),
        ],
    )


def _without(field: str, rest: NDArray[np.bool_]) -> Callable[[Law], Law]:
    def change(law: Law) -> Law:
        changed: dict[str, Any] = {field: getattr(law, field) * rest}
        return replace(law, **changed)

    return change


def _weak(hand: HandFile) -> Found:
    """Gains so low that dry friction alone keeps motor or joint where it should not be."""
    gains, tendon, radius = hand.gains, hand.tendon, hand.spool.radius_m
    friction = math.pi / 2.0 * hand.friction.gamma_2_nm
    missing = friction / (radius + gains.tension_kp_nm_n)
    if missing > tendon.pretension_n:
        text = f"{gains.tension_kp_nm_n:g}: a motor's friction of {friction:.3g} N m may hold a tension "
        yield ("gains", "tension_kp_nm_n"), text + f"{missing:.3g} N off, beyond the pretension"
    arms = [abs(v) for t in hand.tendons for v in (t.dh_dq_m_rad or {}).values() if v]
    if arms and gains.position_kp_nm_rad > 0.0:
        off = math.degrees(friction / gains.position_kp_nm_rad * radius / min(arms))
        if off > SLOPPY_DEG:
            text = f"{gains.position_kp_nm_rad:g}: a motor's friction of {friction:.3g} N m may hold a joint "
            yield ("gains", "position_kp_nm_rad"), text + f"{off:.3g} deg off"
    for name, finger in hand.fingers.items():
        for k, joint in enumerate(finger.joints):
            gain = joint.impedance_nm_rad
            off = math.degrees(joint.coulomb_nm / gain) if gain > 0.0 else 0.0
            if off > SLOPPY_DEG:
                text = f"{gain:g}: the joint's friction of {joint.coulomb_nm:g} N m may hold it "
                yield ("fingers", name, "joints", k, "impedance_nm_rad"), text + f"{off:.3g} deg off"


def _undamped(hand: HandFile) -> Found:
    """A motor that swings against its tendon, or about its goal."""
    from mechanics.springs import stiffness_of_force
    from runtime.assemble import model_of

    model = model_of(hand)
    m, gains = model[0], hand.gains
    inertia, radius = float(m["motor_inertia_kg_m2"][0]), hand.spool.radius_m
    k = float(stiffness_of_force(m, 0, hand.tendon.pretension_n))
    loops = (
        ("tension_kd_nms_rad", gains.tension_kd_nms_rad, k * radius * (radius + gains.tension_kp_nm_n)),
        ("position_kd_nms_rad", gains.position_kd_nms_rad, gains.position_kp_nm_rad),
    )
    for key, damping, stiffness in loops:
        ratio = (damping + hand.friction.gamma_3_nms_rad) / (2.0 * math.sqrt(inertia * stiffness + 1e-300))
        if ratio < LEAST_DAMPING:
            text = (
                f"{damping:g}: the motor (inertia {inertia:.3g} kg m2 at the spool) is damped by a ratio of "
            )
            yield ("gains", key), text + f"{ratio:.2g} only"
