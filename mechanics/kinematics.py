"""Kinematics of the hand's body tree in the palm frame: body poses, fingertips, fingertip Jacobians.

Body 0 is the palm. Body b hangs on its parent by

    X_pb = Trans(body_origin) body_rotation Rot(body_axis, body_ratio q)

Bodies with the same joint coordinate are coupled (PIP and DIP of ring and fifth finger, eq. 5.16-5.17).
The bodies of a finger come from ``finger_bodies`` (Table 5.1).
"""

from __future__ import annotations

import math

from mechanics.bodies import Body, FingerShape, finger_bodies, place_bodies
from mechanics.frames import rotated, set_identity
from mechanics.sine import HALF_PI, near_sine, sine_cosine
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model

__all__ = [
    "Body",
    "FingerShape",
    "body_poses",
    "body_poses_by",
    "finger_bodies",
    "fingertips",
    "place_bodies",
    "tip_jacobian",
    "tips_by_chain",
    "tips_of",
]


@law
def hang_body(m: Model, b: int, s: float, c: float, R_out: FloatArray, p_out: FloatArray) -> None:
    """Pose of body ``b`` from that of its parent, turned by an angle of sine ``s`` and cosine ``c``."""
    rotation, origin, axis = m.body_rotation, m.body_origin_m, m.body_axis
    x, y, z = axis[b, 0], axis[b, 1], axis[b, 2]
    a = m.body_parent[b]
    turned = rotation[b, 0, 0] != 1.0 or rotation[b, 1, 1] != 1.0  # most bodies hang on straight
    for i in range(3):
        r0, r1, r2 = R_out[a, i, 0], R_out[a, i, 1], R_out[a, i, 2]
        p_out[b, i] = p_out[a, i] + r0 * origin[b, 0] + r1 * origin[b, 1] + r2 * origin[b, 2]
        t0, t1, t2 = r0, r1, r2
        if turned:
            t0 = r0 * rotation[b, 0, 0] + r1 * rotation[b, 1, 0] + r2 * rotation[b, 2, 0]
            t1 = r0 * rotation[b, 0, 1] + r1 * rotation[b, 1, 1] + r2 * rotation[b, 2, 1]
            t2 = r0 * rotation[b, 0, 2] + r1 * rotation[b, 1, 2] + r2 * rotation[b, 2, 2]
        if z == 1.0:
            R_out[b, i, 0] = c * t0 + s * t1
            R_out[b, i, 1] = c * t1 - s * t0
            R_out[b, i, 2] = t2
        else:
            # t Rot = c t + (1 - c)(t.a) a + s (t x a), row by row
            along = (1.0 - c) * (t0 * x + t1 * y + t2 * z)
            R_out[b, i, 0] = c * t0 + along * x + s * (t1 * z - t2 * y)
            R_out[b, i, 1] = c * t1 + along * y + s * (t2 * x - t0 * z)
            R_out[b, i, 2] = c * t2 + along * z + s * (t0 * y - t1 * x)


@law
def body_poses(m: Model, q_rad: FloatArray, R_out: FloatArray, p_out: FloatArray) -> None:
    """Poses of all bodies in the palm frame.

    Args:
        m: model record; parents come before their children.
        q_rad: joint angles, shape (J,).
        R_out: receives R_Pb, shape (B, 3, 3); entry 0 is the identity.
        p_out: receives the bodies' origins [m], shape (B, 3).
    """
    joints, ratio = m.body_joint, m.body_ratio
    set_identity(R_out[0])
    p_out[0, 0] = p_out[0, 1] = p_out[0, 2] = 0.0
    for b in range(1, m.n_bodies):
        angle = ratio[b] * q_rad[joints[b]] if joints[b] >= 0 else 0.0
        hang_body(m, b, math.sin(angle), math.cos(angle), R_out, p_out)


@law
def body_poses_by(
    m: Model, q_rad: FloatArray, sines: FloatArray, cosines: FloatArray, R_out: FloatArray, p_out: FloatArray
) -> None:
    """As ``body_poses``, with sines and cosines of all bodies side by side in scratch of shape (B,) each."""
    joints, ratio = m.body_joint, m.body_ratio
    for b in range(1, m.n_bodies):
        sines[b] = ratio[b] * q_rad[joints[b]] if joints[b] >= 0 else 0.0
    for b in range(m.n_bodies):
        angle = sines[b]
        cosines[b] = near_sine(angle + HALF_PI)
        sines[b] = near_sine(angle)
    set_identity(R_out[0])
    p_out[0, 0] = p_out[0, 1] = p_out[0, 2] = 0.0
    for b in range(1, m.n_bodies):
        hang_body(m, b, sines[b], cosines[b], R_out, p_out)


@law
def tips_of(m: Model, R: FloatArray, p: FloatArray, tips_out: FloatArray) -> None:
    """Fingertips in the palm frame [m] into ``tips_out``, shape (F, 3), from the poses of ``body_poses``.

    A finger without a tip (the HMC) gets zeros.
    """
    body, tip = m.finger_tip_body, m.finger_tip_m
    for f in range(m.n_fingers):
        b = body[f]
        if b < 0:
            tips_out[f, 0] = tips_out[f, 1] = tips_out[f, 2] = 0.0
        else:
            for i in range(3):
                tips_out[f, i] = (
                    p[b, i] + R[b, i, 0] * tip[f, 0] + R[b, i, 1] * tip[f, 1] + R[b, i, 2] * tip[f, 2]
                )


@law
def fingertips(m: Model, q_rad: FloatArray, R: FloatArray, p: FloatArray, tips_out: FloatArray) -> None:
    """Body poses into ``R`` (B, 3, 3) and ``p`` (B, 3), then fingertips [m] into ``tips_out`` (F, 3)."""
    body_poses(m, q_rad, R, p)
    tips_of(m, R, p, tips_out)


@law
def tips_by_chain(
    m: Model, q_rad: FloatArray, sin: FloatArray, cos: FloatArray, tips_out: FloatArray
) -> None:
    """Fingertips in the palm frame [m] as by ``fingertips``, without the poses on the way.

    A point is carried from the tip down to the palm: a third of the work of a pose's three axes.

    Args:
        m: model record.
        q_rad: joint angles, shape (J,).
        sin: scratch, shape (B,).
        cos: scratch, shape (B,).
        tips_out: receives the tips, shape (F, 3); their error is that of ``sine_cosine`` times the chain.
    """
    rotation, origin, axis = m.body_rotation, m.body_origin_m, m.body_axis
    for b in range(m.n_bodies):
        sin[b] = m.body_ratio[b] * q_rad[m.body_joint[b]] if m.body_joint[b] >= 0 else 0.0
    for b in range(m.n_bodies):
        sin[b], cos[b] = sine_cosine(sin[b])
    for f in range(m.n_fingers):
        b = m.finger_tip_body[f]
        x = y = z = 0.0
        if b >= 0:
            x, y, z = m.finger_tip_m[f, 0], m.finger_tip_m[f, 1], m.finger_tip_m[f, 2]
        while b > 0:
            s, c = sin[b], cos[b]
            if axis[b, 2] == 1.0:
                x, y = c * x - s * y, s * x + c * y
            else:  # Rot v = c v + (1 - c)(a.v) a + s (a x v)
                u, v, w = axis[b, 0], axis[b, 1], axis[b, 2]
                along = (1.0 - c) * (u * x + v * y + w * z)
                x, y, z = (
                    c * x + along * u + s * (v * z - w * y),
                    c * y + along * v + s * (w * x - u * z),
                    c * z + along * w + s * (u * y - v * x),
                )
            if rotation[b, 0, 0] != 1.0 or rotation[b, 1, 1] != 1.0:  # most bodies hang on straight
                x, y, z = rotated(rotation[b], x, y, z)
            x, y, z = x + origin[b, 0], y + origin[b, 1], z + origin[b, 2]
            b = m.body_parent[b]
        tips_out[f, 0], tips_out[f, 1], tips_out[f, 2] = x, y, z


@law
def tip_jacobian(m: Model, finger: int, R: FloatArray, p: FloatArray, jac_out: FloatArray) -> None:
    """Jacobian of one fingertip in the palm frame [m/rad] into ``jac_out``, shape (3, J).

    ``R``, ``p`` come from ``body_poses``. Column j is the sum over the bodies of joint j between the palm and
    the tip of ratio * axis x (tip - origin).
    """
    for i in range(3):
        for j in range(m.n_joints):
            jac_out[i, j] = 0.0
    b = m.finger_tip_body[finger]
    if b < 0:
        return
    tip = m.finger_tip_m
    ex, ey, ez = rotated(R[b], tip[finger, 0], tip[finger, 1], tip[finger, 2])
    tx, ty, tz = p[b, 0] + ex, p[b, 1] + ey, p[b, 2] + ez
    while b > 0:
        j = m.body_joint[b]
        if j >= 0:
            ux, uy, uz = rotated(R[b], m.body_axis[b, 0], m.body_axis[b, 1], m.body_axis[b, 2])
            dx, dy, dz = tx - p[b, 0], ty - p[b, 1], tz - p[b, 2]
            k = m.body_ratio[b]
            jac_out[0, j] += k * (uy * dz - uz * dy)
            jac_out[1, j] += k * (uz * dx - ux * dz)
            jac_out[2, j] += k * (ux * dy - uy * dx)
        b = m.body_parent[b]
