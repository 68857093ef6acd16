"""Tendons, springs, sensors and guides of the model record, and the coupling with its pseudo-inverse."""

from __future__ import annotations

import math

import numpy as np

from hand.assembly.fingers import springs_of
from hand.assembly.springs import store_sensors, store_springs
from hand.assembly.straight import straight_jacobian
from hand.file.checks_coupling import unseen_motion
from hand.file.checks_sprung import are_independent
from hand.file.fingers import ChainFinger
from hand.file.hand import HandFile
from hand.file.passive import holds_all
from hand.file.tendons import Guides
from mechanics.guides import GuideLaw, RopeGuide, SaturatingGuide, bending_loss_n
from mechanics.sources import differing
from signals.layout import FloatArray, IntArray
from signals.modes import FingerKind, TendonKind
from signals.names import HandNames
from signals.records import RecordArray


def guide_law(guides: Guides, pair: str, law: str) -> GuideLaw:
    """Friction law of a pair of tendon and guide."""
    values = guides.pairs[pair]
    if law == "rope":
        return RopeGuide(mu=values.rope_friction)
    return SaturatingGuide(c0=values.c0_frac, c1_rad=values.c1_per_rad)


def guide_of(hand: HandFile) -> GuideLaw:
    """The guides' friction law."""
    return guide_law(hand.guides, hand.guides.pair, hand.guides.law)


def bending_of(guides: Guides) -> float:
    """Force that bending at the guides takes [N]; 0 where the file does not say."""
    bending = guides.bending
    return 0.0 if bending is None else bending_loss_n(bending.moment_nm, bending.radii_m)


def store_tendons(hand: HandFile, names: HandNames, model: RecordArray) -> None:
    """Everything with the index space tendon, and the springs."""
    m = model[0]
    count = len(hand.tendons)
    m["n_tendons"] = count
    _store_common(hand, model, count)
    store_springs(hand, model)
    store_sensors(hand, model)
    for t, tendon in enumerate(hand.tendons):
        finger = hand.fingers[tendon.finger]
        m["tendon_motor"][t] = names.index("motor", tendon.motor)
        m["tendon_finger"][t] = names.index("finger", tendon.finger)
        found = hand.measured(tendon.name)
        radius = found.spool_radius_m or tendon.spool_radius_m
        if radius is not None:
            m["spool_radius_m"][t] = radius
        if tendon.dh_dq_m_rad is not None:
            m["tendon_kind"][t] = TendonKind.PULLEYS
            for joint, value in (tendon.dh_dq_m_rad | (found.dh_dq_m_rad or {})).items():
                j = names.index("joint", joint)
                m["P_tj_m"][t, j] = value
                if m["joint_finger"][j] != m["tendon_finger"][t]:
                    m["finger_carried"][m["tendon_finger"][t]] = 1
                    m["finger_loaded"][m["joint_finger"][j]] = 1
            for joint, curve in (tendon.dh_dq_curve_m or {}).items():
                m["curve_m"][t, names.index("joint", joint)] = curve
                m["finger_kind"][m["tendon_finger"][t]] = FingerKind.CURVED
        elif (
            isinstance(finger, ChainFinger)
            and finger.insertions
            and finger.insertion_set
            and tendon.insertion
        ):
            points = finger.insertions[finger.insertion_set]
            m["tendon_kind"][t] = TendonKind.INSERTION_POINTS
            m["insertion_palm_m"][t] = points.palm_m[tendon.insertion]
            m["insertion_bone_m"][t] = points.bone_m[tendon.insertion]
    _store_shares(model)
    _store_sprung(model)
    _store_weights(hand, model)


def _store_sprung(model: RecordArray) -> None:
    """Fingers whose springs take the place of tendons: nothing is redundant in them."""
    m = model[0]
    for f in range(int(m["n_fingers"])):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        P_tj_m = m["P_tj_m"][np.ix_(tendons, joints)]
        if holds_all(springs_of(m, joints)) and are_independent(P_tj_m):
            m["finger_kind"][f] = FingerKind.SPRUNG
            m["residual_limit_m"][f] = 0.0


def sprung_fingers(model: RecordArray) -> list[int]:
    """Numbers of the fingers whose springs take the place of tendons."""
    m = model[0]
    return [int(f) for f in np.flatnonzero(m["finger_kind"][: m["n_fingers"]] == FingerKind.SPRUNG)]


ROUNDING_COUNT2 = 1.0 / 12.0
"""Variance of rounding to a count."""
LEAST_UNSURE = 0.05
"""Share of a motor's friction that is never known."""


def _store_weights(hand: HandFile, model: RecordArray) -> None:
    """Weight of each tendon's length: the least variance of its finger over its own.

    Of a tendon without a sensor 0 where the sensors of its finger tell all joints; else its motor's current
    tells its tension, with an error of the friction's. A finger without any sensor has nothing redundant.
    Where springs take the place of tendons no length contradicts another: all are met, whatever their errors.
    """
    m = model[0]
    counted = m["hall_noise_count"] ** 2 + ROUNDING_COUNT2
    sees = np.array([hand.sees(t.name) for t in hand.tendons])
    finger, P_tj_m = m["tendon_finger"][: len(sees)], straight_jacobian(model)
    for f in range(int(m["n_fingers"])):
        tendons = np.flatnonzero(finger == f)
        seen, blind = tendons[sees[tendons]], tendons[~sees[tendons]]
        m["hall_weight"][seen] = counted[seen].min(initial=np.inf) / counted[seen]
        m["length_weight"][seen] = m["hall_weight"][seen]
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        names = [str(j) for j in joints]
        if not blind.size or not unseen_motion(P_tj_m[np.ix_(seen, joints)], names):
            continue
        if not seen.size:
            m["residual_limit_m"][f] = 0.0
        differ = tendons[differing(m, tendons)]
        rows = [
            P_tj_m[t, joints] - P_tj_m[m["difference_to"][t], joints] for t in differ if _begins(m, int(t))
        ]
        if rows and not unseen_motion(np.vstack((P_tj_m[np.ix_(seen, joints)], rows)), names):
            tendons = np.union1d(seen, differ)
        error_m = [length_error_m(hand, m, int(t), bool(sees[t])) for t in tendons]
        m["length_weight"][tendons] = (min(error_m) / np.array(error_m)) ** 2
    m["length_weight"][: len(sees)][np.isin(finger, sprung_fingers(model))] = 1.0


def stretch_m_n(m: np.void, t: int) -> float:
    """Stretch of a tendon per tension, the mean over its lever's travel [m/N]."""
    s = m["tendon_spring"][t]
    path = abs(m["spring_path_m"][s]).max() / (m["spring_scale"][t] * m["force_max_n"][s])
    return float(path + m["tendon_compliance_m_n"][t])


def resolved_m(m: np.void, t: int) -> float:
    """Error of a length by its sensor's noise."""
    s = m["tendon_spring"][t]
    travel = (m["lever_max_rad"][s] - m["lever_min_rad"][s]) * abs(m["hall_counts_rad"][t])
    noise = math.sqrt(m["hall_noise_count"][t] ** 2 + ROUNDING_COUNT2)
    return float(noise * abs(m["spring_path_m"][s]).max() / travel)


def unsure_m(hand: HandFile, m: np.void, t: int) -> float:
    """Error of a length by what is not known of its motor's friction."""
    i = m["tendon_motor"][t]
    unsure_nm = max(hand.tolerances.friction, LEAST_UNSURE) * 0.5 * math.pi * m["friction_gamma_2_nm"][i]
    return float(unsure_nm / abs(m["spool_radius_m"][t]) * stretch_m_n(m, t))


def _begins(m: np.void, t: int) -> bool:
    """True if the sensor of a difference is in this tendon's channel."""
    return bool(m["n_differences"] > 0 and m["difference_to"][t] >= 0)


def difference_error_m(m: np.void, t: int) -> float:
    """Error of a length by the noise of the sensors that tell a difference of the tendon's force."""
    told = [o for o in range(int(m["n_tendons"])) if _begins(m, o) and t in (o, int(m["difference_to"][o]))]
    noise = [math.sqrt(m["hall_noise_count"][o] ** 2 + ROUNDING_COUNT2) for o in told]
    errors_n = [n / abs(m["difference_counts_n"][o]) for n, o in zip(noise, told, strict=True)]
    return float(min(errors_n) * stretch_m_n(m, t))


def length_error_m(hand: HandFile, m: np.void, t: int, seen: bool) -> float:
    """Error of a tendon's length by what tells it: its sensor, that of a difference, its motor's current."""
    if seen:
        return resolved_m(m, t)
    return difference_error_m(m, t) if differing(m, np.array([t]))[0] else unsure_m(hand, m, t)


def _store_shares(model: RecordArray) -> None:
    """Which tendons come after another one of their motor, and which fingers have such, or mirrored ones."""
    m = model[0]
    n = int(m["n_tendons"])
    motor = m["tendon_motor"][:n]
    m["tendon_follows"][:n] = [motor[t] in motor[:t] for t in range(n)]
    odd = (m["tendon_follows"][:n] != 0) | (m["spool_radius_m"][:n] < 0.0)
    m["finger_shares"][m["tendon_finger"][:n][odd]] = 1


def _store_common(hand: HandFile, model: RecordArray, count: int) -> None:
    m = model[0]
    loop = hand.hysteresis
    common = {
        "spool_radius_m": hand.spool.radius_m,
        "tension_min_n": hand.tendon.force_min_n,
        "tension_max_n": hand.tendon.force_max_n,
        "tension_limit_n": hand.tendon.force_limit_n,
        "lever_friction_frac": 0.0 if loop is None else loop.relative_half_width_frac,
        "lever_presliding_rad": math.radians(1.0 if loop is None else loop.presliding_lever_deg),
        "guide_loss_frac": guide_of(hand).loss_frac(hand.guides.bending_angle_rad),
        "guide_bending_n": bending_of(hand.guides),
    }
    for name, value in common.items():
        m[name][:count] = value
    m["guide_speed_m_s"] = hand.guides.regularisation_speed_m_s
    for t, tendon in enumerate(hand.tendons):
        found = hand.measured(tendon.name)
        if found.relative_half_width_frac is not None:
            m["lever_friction_frac"][t] = found.relative_half_width_frac
        if found.presliding_lever_deg is not None:
            m["lever_presliding_rad"][t] = math.radians(found.presliding_lever_deg)
        if found.guide_loss_frac is not None:
            m["guide_loss_frac"][t] = found.guide_loss_frac


LEAST_SEEN = 1e-3
"""Singular value of a coupling, relative to the largest, below which a direction of the joints is not
estimated: a hundredth of a millimetre would be radians there."""


def refresh_pseudo_inverse(model: RecordArray) -> None:
    """``pinv_jt_1_m`` from ``P_tj_m``: per finger, of the joints that pulleys move.

    A tensegrity base is no part of it: its two joints come from a search, the rows of its other joints are
    the pseudo-inverse of their pulley tendons alone. In a finger of kind SPRUNG springs weigh it,
    ``K^-1 P^T (P K^-1 P^T)^-1``: of all poses with the lines' lengths that with the least elastic energy.
    q = 0 is one of them (``hand.file.checks_sprung``), so that angles are linear in lengths as elsewhere.
    """
    m = model[0]
    m["pinv_jt_1_m"] = 0.0
    for f in range(int(m["n_fingers"])):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        pulleys = tendons[m["tendon_kind"][tendons] == TendonKind.PULLEYS]
        block = m["P_tj_m"][np.ix_(pulleys, joints)]
        moved = block.any(axis=0)
        if moved.any():
            inverse = _inverse_of(m, f, joints[moved], block[:, moved])
            inverse[np.abs(inverse) < 1e-12 * np.abs(inverse).max()] = 0.0
            m["pinv_jt_1_m"][np.ix_(joints[moved], pulleys)] = inverse


def _inverse_of(m: np.void, f: int, joints: IntArray, P_tj_m: FloatArray) -> FloatArray:
    """Pseudo-inverse of some rows of finger ``f``, weighed by its springs where they take tendons' place.

    With K = L L^T it is ``S (P S)^+``, S = L^-T; of springs at single joints S is a diagonal.
    """
    if m["finger_kind"][f] != FingerKind.SPRUNG:
        return np.asarray(np.linalg.pinv(P_tj_m, rcond=LEAST_SEEN))
    K_nm_rad = springs_of(m, joints)
    if not np.count_nonzero(K_nm_rad - np.diag(np.diag(K_nm_rad))):
        softer = 1.0 / np.sqrt(np.diag(K_nm_rad))
        return np.asarray((np.linalg.pinv(P_tj_m * softer, rcond=LEAST_SEEN).T * softer).T)
    S = np.linalg.inv(np.linalg.cholesky(K_nm_rad)).T
    return np.asarray(S @ np.linalg.pinv(P_tj_m @ S, rcond=LEAST_SEEN))
