"""Model records of the reference hand and of one finger, for tests: mechanics only, written out by hand.

Independent of the hand files and of their assembly, so that an error there cannot hide an error here.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pinocchio as pin

from mechanics.bodies import Body, FingerShape, finger_bodies, place_bodies
from signals.modes import FingerKind, TendonKind
from signals.records import MODEL, RecordArray, new

NEUTRAL = (0.624023052976757, 0.972465729378196)
FINGERS = ("thumb", "index", "middle", "ring", "fifth", "hmc")
JOINTS = {
    "thumb": [0, 1, 2, 3],
    "index": [4, 5, 6, 7],
    "middle": [8, 9, 10, 11],
    "ring": [12, 13, 14],
    "fifth": [15, 16, 17],
    "hmc": [18],
}
"""The HMC carries the fifth finger although its coordinate comes after: no order may be assumed."""
RADII = {
    "thumb": (0.0, 0.0, 0.0070, 0.0055),
    "index": (0.0065, 0.0065, 0.0055, 0.0045),
    "middle": (0.0065, 0.0065, 0.0055, 0.0045),
    "ring": (0.0065, 0.0065, 0.010),
    "fifth": (0.006, 0.006, 0.009),
    "hmc": (0.008,),
}
BASE = {1: (1, 1), 2: (1, -1), 3: (-1, 1), 4: (-1, -1)}
"""Signs of eq. 5.5, local tendons 1..4."""
SLOTS = [("thumb", n) for n in (1, 3, 5, 7)]
SLOTS += [(f, n) for f in ("index", "middle") for n in (2, 4, 6, 7)]
SLOTS += [(f, n) for f in ("ring", "fifth") for n in (2, 4, 6)]
SLOTS += [("hmc", 2)] + [("thumb", n) for n in (0, 2, 4, 6)]
SLOTS += [(f, n) for f in ("index", "middle") for n in (1, 3, 5, 8)]
SLOTS += [(f, n) for f in ("ring", "fifth") for n in (1, 3, 5)] + [("hmc", 1)]
FOREARM_Y = [7, 8, 10, 11, 13, 15, 16, 18, 19, 21, 23, 24, 26, 27, 29, 31, 32, 34, 35]
FOREARM_Y += [6, 7, 9, 11, 12, 14, 15, 17, 19, 20, 22, 23, 25, 27, 28, 30, 31, 33, 35]
PALM_Y = [-11, -10, -8, -6, -5, -3, -2, 0, 2, 3, 5, 6, 8, 10, 11, 13, 14, 16, 18]
PALM_Y += [-13, -11, -10, -8, -6, -5, -3, -2, 0, 2, 3, 5, 6, 8, 10, 11, 13, 14, 16]

INDEX = FingerShape(
    base_position_m=(0.095, -0.033, 0.0),
    base_rpy_deg=(0.0, 0.0, 0.0),
    base_offset_m=0.006,
    bone_lengths_m=(0.04038, 0.0298, 0.0201),
    bone_z_offsets_m=(0.0, -0.005, -0.0007),
    masses_kg=(0.001, 0.009, 0.006, 0.004),
    com_fraction=(0.5, 0.45, 0.45, 0.45),
    inertia_diag_kg_m2=(
        (3.2e-8, 1.9e-8, 1.9e-8),
        (2.88e-7, 1.36691e-6, 1.36691e-6),
        (1.92e-7, 5.4002e-7, 5.4002e-7),
        (1.28e-7, 1.9867e-7, 1.9867e-7),
    ),
)
MIDDLE = FingerShape(
    base_position_m=(0.099, -0.011, 0.0),
    base_rpy_deg=(0.0, 0.0, 0.0),
    base_offset_m=0.006,
    bone_lengths_m=(0.0453, 0.0351, 0.0221),
    bone_z_offsets_m=(0.0, -0.005, -0.0007),
    masses_kg=(0.001, 0.01, 0.007, 0.004),
    com_fraction=(0.5, 0.45, 0.45, 0.45),
    inertia_diag_kg_m2=(
        (3.2e-8, 1.9e-8, 1.9e-8),
        (3.2e-7, 1.87007e-6, 1.87007e-6),
        (2.24e-7, 8.30673e-7, 8.30673e-7),
        (1.28e-7, 2.26803e-7, 2.26803e-7),
    ),
)
RING = FingerShape(
    base_position_m=(0.095, 0.011, 0.0),
    base_rpy_deg=(0.0, 0.0, 0.0),
    base_offset_m=0.006,
    bone_lengths_m=(0.042, 0.0342, 0.022),
    bone_z_offsets_m=(0.0, -0.005, -0.0007),
    masses_kg=(0.001, 0.009, 0.0065, 0.004),
    com_fraction=(0.5, 0.45, 0.45, 0.45),
    inertia_diag_kg_m2=(
        (3.2e-8, 1.9e-8, 1.9e-8),
        (2.88e-7, 1.467e-6, 1.467e-6),
        (2.08e-7, 7.37555e-7, 7.37555e-7),
        (1.28e-7, 2.25333e-7, 2.25333e-7),
    ),
    coupled_ratio=1.0,
)
FIFTH = FingerShape(
    base_position_m=(0.0658, 0.0, 0.0),
    base_rpy_deg=(0.0, 0.0, 0.0),
    base_offset_m=0.006,
    bone_lengths_m=(0.0332, 0.0241, 0.0203),
    bone_z_offsets_m=(0.0, -0.005, -0.0007),
    masses_kg=(0.001, 0.007, 0.005, 0.003),
    com_fraction=(0.5, 0.45, 0.45, 0.45),
    inertia_diag_kg_m2=(
        (3.2e-8, 1.9e-8, 1.9e-8),
        (2.24e-7, 7.54973e-7, 7.54973e-7),
        (1.6e-7, 3.22004e-7, 3.22004e-7),
        (9.6e-8, 1.51022e-7, 1.51022e-7),
    ),
    coupled_ratio=1.0,
)
THUMB = FingerShape(
    base_position_m=(0.029, -0.034, 0.0086),
    base_rpy_deg=(-60.0, 0.0, -45.0),
    base_offset_m=0.0,
    bone_lengths_m=(0.0462, 0.0316, 0.0270),
    bone_z_offsets_m=(0.0, 0.0, 0.0),
    masses_kg=(0.002, 0.025, 0.012, 0.008),
    com_fraction=(0.5, 0.45, 0.45, 0.45),
    inertia_diag_kg_m2=(
        (6.4e-8, 3.8e-8, 3.8e-8),
        (8e-7, 4.84675e-6, 4.84675e-6),
        (3.84e-7, 1.19056e-6, 1.19056e-6),
        (2.56e-7, 6.14e-7, 6.14e-7),
    ),
)
INSERTION = {0: (1, -1), 1: (1, 1), 2: (-1, -1), 3: (-1, 1)}
"""Signs of y and z of Table 5.2, A B C D."""


def fixed_body(mass: float, com: tuple[float, ...], inertia: tuple[float, ...]) -> Body:
    """The palm."""
    return Body(
        parent=-1,
        joint=-1,
        rotation=np.eye(3),
        origin_m=np.zeros(3),
        axis=np.array([0.0, 0.0, 1.0]),
        mass_kg=mass,
        com_m=np.array(com),
        inertia_kg_m2=np.diag(inertia),
    )


def hmc_body() -> Body:
    axis = np.array([0.819152, -0.573576, 0.0])
    return Body(
        parent=0,
        joint=18,
        rotation=np.eye(3),
        origin_m=np.array([0.0207, 0.033, 0.0]),
        axis=axis / np.linalg.norm(axis),
        mass_kg=0.025,
        com_m=np.array([0.035, 0.0, 0.0]),
        inertia_kg_m2=np.diag([2.0e-6, 1.2e-5, 1.2e-5]),
    )


def row(finger: str, local: int) -> dict[int, float]:
    """Joint (index in the finger) -> dh/dq of one tendon, eq. 5.5, 5.18 (first pair's sum), 5.22."""
    r = RADII[finger]
    if finger == "hmc":
        return {0: r[0] if local == 1 else -r[0]}
    if finger == "thumb":
        return {4: {2: r[2]}, 5: {2: -r[2]}, 6: {2: -r[2], 3: r[3]}, 7: {2: r[2], 3: -r[3]}}.get(local, {})
    if local in BASE:
        return {0: BASE[local][0] * r[0], 1: BASE[local][1] * r[1]}
    if local in (5, 6):
        return {2: r[2] if local == 5 else -r[2]}
    return {2: r[2], 3: -r[3]} if local == 7 else {2: -r[2], 3: r[3]}


def place_tendons(model: RecordArray, slots: list[tuple[str, int]], fingers: tuple[str, ...]) -> None:
    m = model[0]
    joints = {f: JOINTS[f] for f in fingers}
    first = min(min(j) for j in joints.values())
    m["n_tendons"] = m["n_motors"] = len(slots)
    m["n_fingers"] = len(fingers)
    m["n_joints"] = sum(len(j) for j in joints.values())
    for f, name in enumerate(fingers):
        own = [j - first for j in joints[name]]
        m["finger_n_joints"][f] = len(own)
        m["finger_joint"][f, : len(own)] = own
        m["finger_kind"][f] = FingerKind.TENSEGRITY_BASE if name == "thumb" else FingerKind.LINEAR
        m["joint_finger"][own] = f
        mine = [t for t, (finger, _) in enumerate(slots) if finger == name]
        m["finger_n_tendons"][f] = len(mine)
        m["finger_tendon"][f, : len(mine)] = mine
        for t in mine:
            m["tendon_finger"][t] = f
            m["tendon_motor"][t] = t
            local = slots[t][1]
            if name == "thumb" and local < 4:
                m["tendon_kind"][t] = TendonKind.INSERTION_POINTS
                y, z = INSERTION[local]
                m["insertion_palm_m"][t] = m["insertion_bone_m"][t] = (0.002, 0.030 * y, 0.025 * z)
            for j, value in row(name, local).items():
                m["P_tj_m"][t, own[j]] = value


@cache
def hasy_model() -> RecordArray:
    """The whole hand: 6 fingers (HMC last), 19 joints, 22 bodies, 38 tendons, wrist. Do not write to it."""
    model = new(MODEL)
    m = model[0]
    m["n_axes"] = 2
    place_tendons(model, SLOTS, FINGERS)
    bodies = [fixed_body(0.30, (0.045, 0.0, 0.0), (3.0e-4, 2.5e-4, 4.5e-4))]
    shapes = {"thumb": THUMB, "index": INDEX, "middle": MIDDLE, "ring": RING, "fifth": FIFTH}
    for f, name in enumerate(FINGERS):
        m["finger_tip_body"][f] = -1
        if name == "hmc":
            continue
        parent = 0
        if name == "fifth":
            parent = len(bodies)
            bodies.append(hmc_body())
        own, tip = finger_bodies(shapes[name], parent=parent, first_body=len(bodies), joints=JOINTS[name])
        bodies += own
        m["finger_tip_body"][f] = len(bodies) - 1
        m["finger_tip_m"][f] = tip
    place_bodies(model, bodies)
    m["thumb_base_offset_m"][0] = THUMB.base_offset_m
    m["thumb_metacarpal_m"][0] = THUMB.bone_lengths_m[0]
    m["gravity_m_s2"] = (0.0, 0.0, -9.81)
    m["wrist_size_m"] = (0.050, 0.042, 0.036)
    m["wrist_neutral_rad"] = NEUTRAL
    for t in range(38):
        layer = 0 if t < 19 else 1
        m["forearm_point_m"][t] = (0.004, 1e-3 * FOREARM_Y[t], (0.008, 0.028)[layer])
        m["palm_point_m"][t] = (-0.004, 1e-3 * PALM_Y[t], (0.010, -0.010)[layer])
    return model


@cache
def finger_model() -> RecordArray:
    """The index finger alone on a fixed base. Do not write to it."""
    model = new(MODEL)
    m = model[0]
    place_tendons(model, [("index", n) for n in range(1, 9)], ("index",))
    own, tip = finger_bodies(INDEX, parent=0, first_body=1, joints=[0, 1, 2, 3])
    place_bodies(model, [fixed_body(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), *own])
    m["finger_tip_body"][0] = 4
    m["finger_tip_m"][0] = tip
    m["gravity_m_s2"] = (0.0, 0.0, -9.81)
    return model


def joint_box() -> tuple[np.ndarray, np.ndarray]:
    """Joint range of the reference hand [rad], shapes (19,)."""
    finger = [(-20, 20), (-20, 90), (0, 100), (0, 85)]
    coupled = [(-20, 20), (-20, 90), (0, 95)]
    thumb = [(-35, 35), (-20, 50), (-10, 80), (-10, 85)]
    box = np.radians(thumb + finger + finger + coupled + coupled + [(0, 25)])
    return box[:, 0], box[:, 1]


WRIST_BOX = (0.6 * 0.5, 0.4 * 0.5)
"""Half widths about neutral of (q71, q73) [rad] used for random wrist poses."""
FULL_WRIST_BOX = (math.radians(30), math.radians(17))


def pin_tree(model: RecordArray, free: bool = False) -> tuple[pin.Model, np.ndarray]:
    """Pinocchio's model of the same bodies, and the matrix (its coordinates) x (joint coordinates).

    ``free``: the palm, with its own inertia, on a free-flyer (6 velocities first, linear part first).
    """
    m = model[0]
    tree = pin.Model()
    palm = 0
    if free:
        palm = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "palm")
        tree.appendBodyToJoint(palm, inertia_of(m, 0), pin.SE3.Identity())
    ids = [palm]
    bodies = int(m["n_bodies"])
    offset = tree.nv
    spread = np.zeros((offset + bodies - 1, int(m["n_joints"])))
    for b in range(1, bodies):
        place = pin.SE3(m["body_rotation"][b].copy(), m["body_origin_m"][b].copy())
        joint = pin.JointModelRevoluteUnaligned(*m["body_axis"][b])
        ids.append(tree.addJoint(ids[m["body_parent"][b]], joint, place, f"b{b}"))
        tree.appendBodyToJoint(ids[b], inertia_of(m, b), pin.SE3.Identity())
        spread[offset + b - 1, m["body_joint"][b]] = m["body_ratio"][b]
    return tree, spread


def inertia_of(m: np.void, b: int) -> pin.Inertia:
    return pin.Inertia(
        float(m["body_mass_kg"][b]), m["body_com_m"][b].copy(), m["body_inertia_kg_m2"][b].copy()
    )


@cache
def random_tree_model(seed: int) -> RecordArray:
    """The reference hand's tree with random axes, places, ratios and inertias: no special case helps."""
    model = hasy_model().copy()
    m = model[0]
    rng = np.random.default_rng(seed)
    for b in range(int(m["n_bodies"])):
        m["body_mass_kg"][b] = rng.uniform(0.01, 1.0)
        m["body_com_m"][b] = rng.normal(0.0, 0.03, 3)
        spin, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        m["body_inertia_kg_m2"][b] = spin @ np.diag(rng.uniform(0.6, 1.0, 3) * 1e-4) @ spin.T
        if b == 0:
            continue
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        m["body_rotation"][b] = turn * np.sign(np.linalg.det(turn))
        m["body_origin_m"][b] = rng.normal(0.0, 0.05, 3)
        axis = rng.normal(size=3)
        m["body_axis"][b] = axis / np.linalg.norm(axis)
        m["body_ratio"][b] = rng.uniform(0.5, 1.5)
    return model
