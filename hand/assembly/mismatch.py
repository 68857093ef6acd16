"""A plant that differs from the controller's model: one hand drawn from the tolerances of its file.

Drawn, each part by itself, normal with the file's sigma (relative, cut at 3 sigma, never below a fifth):
motor friction (plateau and viscous part together), motor inertia, torque constant, ripple amplitudes;
ripple phases (absolute); spool radii; every entry of P, as each tendon runs in a groove of its own; insertion
points of tensegrity bases (their distance from the bone's axis, as the pulleys); spring constants; guide
losses; bone lengths (origins, centres of mass and fingertips with them); where the file says their spread,
play of gears, and zeros of the wrist axes' sensors, which are in no model record (``draw_axis_zeros_rad``).
Not drawn: other sensors and their calibration, tendon compliance, joint friction, wrist, masses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hand.assembly.straight import set_start
from hand.assembly.tendons import refresh_pseudo_inverse
from hand.file.control import Tolerances
from signals.layout import FloatArray
from signals.records import RecordArray

CUT_SIGMA = 3.0
LEAST_FACTOR = 0.2


def draw_mismatch(model: RecordArray, seed: int, tolerances: Tolerances) -> RecordArray:
    """A second model record for the plant.

    Args:
        model: The controller's model, unchanged.
        seed: Same seed, same hand; each kind of quantity has a stream of its own.
        tolerances: Spreads, from the hand file.
    """
    plant = model.copy()
    draws = _Draws(seed)
    _motors(plant, draws, tolerances)
    _tendons(plant, draws, tolerances)
    _bones(plant, draws, tolerances)
    refresh_pseudo_inverse(plant)
    set_start(plant, float(plant["pretension_n"][0, 0]))
    return plant


def draw_axis_zeros_rad(zeros_rad: Sequence[float], seed: int, tolerances: Tolerances) -> tuple[float, ...]:
    """Zeros of the wrist axes' sensors [rad] of the hand that ``draw_mismatch`` draws with this seed.

    Args:
        zeros_rad: those of the hand file, for each axis.
        seed: Same seed, same hand.
        tolerances: Spreads, from the hand file; without ``wrist_zero_deg`` zeros are as the file has them.
    """
    spread = math.radians(tolerances.wrist_zero_deg or 0.0)
    away = spread * _Draws(seed).normal("wrist zero", (len(zeros_rad),))
    return tuple(float(zero + more) for zero, more in zip(zeros_rad, away, strict=True))


class _Draws:
    """Independent streams by name, so that a new quantity never changes the others."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def normal(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        stream = np.random.default_rng([self.seed, *name.encode()])
        return np.clip(stream.standard_normal(shape), -CUT_SIGMA, CUT_SIGMA)

    def factor(self, name: str, sigma: float, shape: tuple[int, ...]) -> FloatArray:
        return np.maximum(1.0 + sigma * self.normal(name, shape), LEAST_FACTOR)


def _motors(plant: RecordArray, draws: _Draws, spread: Tolerances) -> None:
    m = plant[0]
    n, ripples = int(m["n_motors"]), int(m["n_ripples"])
    friction = draws.factor("friction", spread.friction, (n,))
    m["friction_gamma_2_nm"][:n] *= friction
    m["friction_gamma_3_nms_rad"][:n] *= friction
    m["motor_inertia_kg_m2"][:n] *= draws.factor("inertia", spread.inertia, (n,))
    m["motor_torque_constant_nm_a"][:n] *= draws.factor("torque constant", spread.torque_constant, (n,))
    m["motor_torque_limit_nm"] = m["motor_current_limit_a"] * m["motor_torque_constant_nm_a"]
    amplitude = draws.factor("ripple amplitude", spread.ripple_amplitude, (n, ripples))
    m["ripple_amplitude_nm"][:n, :ripples] *= amplitude
    phase = np.radians(spread.ripple_phase_deg) * draws.normal("ripple phase", (n, ripples))
    m["ripple_phase_rad"][:n, :ripples] += phase
    m["backlash_rad"][:n] *= draws.factor("backlash", spread.backlash or 0.0, (n,))


def _tendons(plant: RecordArray, draws: _Draws, spread: Tolerances) -> None:
    m = plant[0]
    nt, nj = int(m["n_tendons"]), int(m["n_joints"])
    m["spool_radius_m"][:nt] *= draws.factor("spool", spread.pulley_radius, (nt,))
    pulley = draws.factor("pulley", spread.pulley_radius, (nt, nj))
    m["P_tj_m"][:nt, :nj] *= pulley
    m["curve_m"][:nt, :nj] *= pulley[..., np.newaxis]
    m["insertion_bone_m"][:nt, 1:] *= draws.factor("insertion", spread.pulley_radius, (nt, 2))
    m["joint_spring_nm_rad"][:nj] *= draws.factor("joint spring", spread.spring_constant, (nj,))
    row = draws.factor("passive row", spread.spring_constant, (len(m["passive_stiffness_n_m"]),))
    m["passive_stiffness_n_m"] *= row
    m["passive_preload_n"] *= row
    m["spring_scale"][:nt] *= draws.factor("spring", spread.spring_constant, (nt,))
    guides = draws.factor("guides", spread.guide_coefficient, (nt,))
    m["guide_loss_frac"][:nt] *= guides
    m["guide_bending_n"][:nt] *= guides


def _bones(plant: RecordArray, draws: _Draws, spread: Tolerances) -> None:
    """One factor per bone; a bone is the body whose end carries the next body or the fingertip."""
    m = plant[0]
    count = int(m["n_bodies"])
    factor = draws.factor("bone", spread.bone_length, (count,))
    factor[0] = 1.0  # the palm: where the fingers stand on it is not a bone
    for body in range(1, count):
        m["body_origin_m"][body] *= factor[m["body_parent"][body]]
        m["body_com_m"][body] *= factor[body]
    for f in range(int(m["n_fingers"])):
        tip = int(m["finger_tip_body"][f])
        if tip >= 0:
            m["finger_tip_m"][f] *= factor[tip]
        if m["thumb_metacarpal_m"][f] > 0.0:
            cross = int(m["body_parent"][int(m["body_parent"][int(m["body_parent"][tip])])])
            m["thumb_base_offset_m"][f] *= factor[cross]
            m["thumb_metacarpal_m"][f] *= factor[cross + 1]
