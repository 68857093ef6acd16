"""Suspicions about gains: loops that are unstable or nearly, too weak for their friction, or barely damped.

Computed from the file's own figures (``hand.review.loops``), at the least, usual and greatest tension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hand.file.drive import Friction
from hand.file.hand import HandFile
from hand.file.locate import Path
from hand.review.loops import Law, Plant, growth_1_s, held, plant_of, tension_gains
from mechanics.sources import channels_used
from signals.layout import BoolArray
from signals.modes import DriveCommand
from signals.records import RecordArray

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

_NONE_HZ: Final = 1e9
SHARES: Final = (0.5, 0.2, 0.05, 0.01, 0.0)
"""Of a gain that may be at fault: the one with the least change that calms the loop is named."""

Found = Iterator[tuple[Path, str]]
Suspect = tuple[Path, Callable[[Law, float], Law]]
"""A gain's path, and the law with a share of it."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop in words, what it consists of, and whose gains may be at fault."""

    what: str
    plant: Plant
    law: Law
    suspects: list[Suspect]


def loop_suspicions(hand: HandFile) -> Found:
    """All about the loops of a hand; a drive that takes angles closes its own."""
    if not _friction(hand):
        return
    from hand.assembly.assemble import model_of

    model = model_of(hand)
    yield from _unstable(hand, model)
    yield from _weak(hand)
    yield from _undamped(hand, model)
    cutoff, rate = hand.gains.velocity_filter_hz, hand.control.rate_hz
    if cutoff > BETWEEN * rate:
        text = f"{cutoff:g} Hz filters nothing at {rate:g} Hz: speeds are as coarse as an encoder step"
        yield ("gains", "velocity_filter_hz"), text


def _unstable(hand: HandFile, model: RecordArray) -> Found:
    worst: dict[str, tuple[float, Path, str]] = {}
    for f, name in enumerate(hand.fingers):
        for tension_n in (hand.tendon.force_min_n, hand.tendon.pretension_n, hand.tendon.force_max_n):
            plant = plant_of(
                model, f, tension_n, _slowest_hz(model, f), hand.control.command_delay_cycles + 1
            )
            for loop in _loops(hand, name, model, plant):
                growth = growth_1_s(loop.plant, loop.law.times(MARGIN))
                if growth <= GROWTH_1_S:
                    continue
                where = f"{loop.what} of {name} at {tension_n:g} N"
                kind = f"{name} {loop.what}" if loop.law.impedance.any() else loop.what
                if growth > worst.get(kind, (0.0,))[0]:
                    worst[kind] = growth, _at_fault(loop), f"{where}: {_words(loop)}"
                if loop.law.tension.any():
                    break  # joint impedance contains the tension loop
    yield from dict.fromkeys((path, text) for _, path, text in worst.values())


def _slowest_hz(model: Any, f: int) -> float:
    """Low-pass of the slowest tension sensor of a finger."""
    m = model[0]
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    return float(m["hall_filter_hz"][tendons[channels_used(m, tendons)]].min(initial=_NONE_HZ))


def _calm(plant: Plant, law: Law) -> bool:
    return growth_1_s(plant, law) <= GROWTH_1_S


def _at_fault(loop: Loop) -> Path:
    if _slow_filter(loop.plant, loop.law):
        return ("gains", "velocity_filter_hz")
    for share in SHARES:
        for path, shrunk in loop.suspects:
            if _calm(loop.plant, shrunk(loop.law, share).times(MARGIN)):
                return path
    return loop.suspects[0][0]


def _words(loop: Loop) -> str:
    plant = loop.plant
    figures = (
        f"motor inertia {plant.inertia[0]:.3g} kg m2 at the spool, spool radius {plant.radius[0]:.3g} m, "
        f"tendon stiffness {plant.stiffness[0]:.3g} N/m, delay {plant.delay * plant.dt_s * 1e3:.2g} ms, "
        f"speed filter {loop.law.filter_hz:g} Hz"
    )
    if _calm(plant, loop.law):
        return f"stable by less than a factor of {MARGIN:g} ({figures})"
    return f"unstable ({figures})"


def _loops(hand: HandFile, name: str, model: Any, plant: Plant) -> Iterator[Loop]:
    """The loops of a finger; those that others contain come last but one, the joints' last."""
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
    suspects = [_gain("position_kp_nm_rad", "position"), _gain("position_kd_nms_rad", "damping")]
    yield Loop("position loop", plant, position, suspects)
    tension = replace(none, tension=tension_gains(model, plant.stiffness), damping=gains.tension_kd_nms_rad)
    suspects = [_gain("tension_kp_nm_n", "tension"), _gain("tension_kd_nms_rad", "damping")]
    yield Loop("tension loop, joints held,", held(plant), tension, suspects)
    yield Loop("tension loop", plant, tension, suspects)
    stiff, damped = [j.impedance_nm_rad for j in joints], [j.damping_nms_rad for j in joints]
    impedance = replace(tension, impedance=np.array(stiff), joint_damping=np.array(damped))
    path: Path = ("fingers", name, "joints")
    suspects = []
    for j in range(nj):
        one = np.arange(nj) == j
        suspects.append(((*path, j, "impedance_nm_rad"), _share_of("impedance", one)))
        suspects.append(((*path, j, "damping_nms_rad"), _share_of("joint_damping", one)))
    suspects.append((path, _share_of("impedance", np.ones(nj, dtype=bool))))
    yield Loop("joint impedance", plant, impedance, suspects)


def _gain(key: str, field: str) -> Suspect:
    return ("gains", key), _share_of(field, True)


def _share_of(field: str, which: bool | BoolArray) -> Callable[[Law, float], Law]:
    """A law with a share of one of its gains, or of some of their entries."""

    def shrunk(law: Law, share: float) -> Law:
        value = getattr(law, field)
        changed: dict[str, Any] = {field: np.where(which, share * value, value)}
        return replace(law, **changed)

    return shrunk


def _slow_filter(plant: Plant, law: Law) -> bool:
    """The speed filter is slower than the loop, and the loop is calm without it."""
    spring = law.position + float((plant.stiffness * plant.radius * law.tension).max())
    natural_hz = math.sqrt(spring / float(plant.inertia.min())) / (2.0 * math.pi)
    return law.filter_hz < natural_hz and _calm(plant, replace(law.times(MARGIN), filter_hz=_NONE_HZ))


def _friction(hand: HandFile) -> list[Friction]:
    """Friction of every type of drive that takes currents."""
    types = hand.drive_types.values()
    return [drive.friction for drive in types if drive.commanded is DriveCommand.CURRENT]


def _weak(hand: HandFile) -> Found:
    """Gains so low that dry friction alone keeps motor or joint where it should not be."""
    gains, tendon, radius = hand.gains, hand.tendon, hand.spool.radius_m
    friction = math.pi / 2.0 * max(f.gamma_2_nm for f in _friction(hand))
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


def _undamped(hand: HandFile, model: RecordArray) -> Found:
    """A motor that swings against its tendon, or about its goal."""
    from mechanics.springs import stiffness_of_force

    m, gains = model[0], hand.gains
    inertia, radius = float(m["motor_inertia_kg_m2"][0]), hand.spool.radius_m
    k = float(stiffness_of_force(m, 0, hand.tendon.pretension_n))
    loops = (
        ("tension_kd_nms_rad", gains.tension_kd_nms_rad, k * radius * (radius + gains.tension_kp_nm_n)),
        ("position_kd_nms_rad", gains.position_kd_nms_rad, gains.position_kp_nm_rad),
    )
    viscous = min(f.gamma_3_nms_rad for f in _friction(hand))
    for key, damping, stiffness in loops:
        ratio = (damping + viscous) / (2.0 * math.sqrt(inertia * stiffness + 1e-300))
        if ratio < LEAST_DAMPING:
            text = (
                f"{damping:g}: the motor (inertia {inertia:.3g} kg m2 at the spool) is damped by a ratio of "
            )
            yield ("gains", key), text + f"{ratio:.2g} only"
