"""Joints, fingers and bodies of the model record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hand.assembly.straight import straight_jacobian
from hand.file.fingers import ChainFinger, Finger, FourBar, HingeFinger, TreeBone, TreeFinger
from hand.file.hand import HandFile
from mechanics.bodies import Body, FingerShape, finger_bodies, place_bodies
from mechanics.frames import rotation_rpy
from signals.layout import FloatArray, IntArray
from signals.modes import FingerKind, Reaction
from signals.names import HandNames
from signals.records import RecordArray


def store_fingers(hand: HandFile, names: HandNames, model: RecordArray) -> None:
    """Everything with the index spaces joint, finger and body."""
    m = model[0]
    m["n_joints"], m["n_fingers"] = len(hand.joints), len(hand.fingers)
    m["joint_friction_speed_rad_s"] = hand.joint_stops.coulomb_speed_rad_s
    m["stop_stiffness_nm_rad"] = hand.joint_stops.stiffness_nm_rad
    m["stop_damping_nms_rad"] = hand.joint_stops.damping_nms_rad
    for f, (name, finger) in enumerate(hand.fingers.items()):
        joints = [names.index("joint", j.name) for j in finger.joints]
        tendons = [t for t, tendon in enumerate(hand.tendons) if tendon.finger == name]
        m["finger_kind"][f] = (
            FingerKind.TENSEGRITY_BASE if finger.kind == "tensegrity_base" else FingerKind.LINEAR
        )
        m["finger_n_joints"][f], m["finger_n_tendons"][f] = len(joints), len(tendons)
        m["finger_joint"][f, : len(joints)] = joints
        m["finger_tendon"][f, : len(tendons)] = tendons
        m["finger_reaction"][f] = Reaction[finger.reaction.upper()]
        m["residual_limit_m"][f] = finger.residual_limit_m
        m["pretension_n"][f] = hand.tendon.pretension_n
        for j, joint in zip(joints, finger.joints, strict=True):
            m["joint_finger"][j] = f
            m["joint_min_rad"][j], m["joint_max_rad"][j] = (math.radians(d) for d in joint.range_deg)
            m["joint_viscous_nms_rad"][j] = joint.viscous_nms_rad
            found = hand.measured(joint.name).coulomb_nm
            m["joint_coulomb_nm"][j] = joint.coulomb_nm if found is None else found
            if joint.spring is not None:
                m["joint_spring_nm_rad"][j] = joint.spring.stiffness_nm_rad
                m["joint_rest_rad"][j] = math.radians(joint.spring.rest_deg)
                m["finger_loaded"][f] = 1
            m["joint_impedance_nm_rad"][j] = joint.impedance_nm_rad
            m["joint_damping_nms_rad"][j] = joint.damping_nms_rad
        if isinstance(finger, HingeFinger) and finger.four_bar is not None and finger.four_bar.tendons_on:
            m["finger_kind"][f] = FingerKind.CURVED
            _store_linkage(finger.four_bar, m, joints[0])
    _store_passive(hand, names, m)
    _store_bodies(hand, names, model)


def _store_passive(hand: HandFile, names: HandNames, m: np.void) -> None:
    m["n_passives"] = len(hand.passive)
    for r, row in enumerate(hand.passive):
        f = names.index("finger", row.finger)
        m["passive_finger"][r], m["finger_loaded"][f] = f, 1
        m["passive_stiffness_n_m"][r], m["passive_preload_n"][r] = row.stiffness_n_m, row.preload_n
        for joint, arm in row.dh_dq_m_rad.items():
            m["passive_arm_m"][r, names.index("joint", joint)] = arm


def springs_of(m: np.void, joints: IntArray) -> FloatArray:
    """Stiffness [N m/rad] of springs and passive rows between joints, shape (n, n)."""
    arms = m["passive_arm_m"][:, joints]
    K_nm_rad: FloatArray = np.diag(m["joint_spring_nm_rad"][joints])
    K_nm_rad += (arms.T * m["passive_stiffness_n_m"]) @ arms
    return K_nm_rad


def _store_linkage(bars: FourBar, m: np.void, j: int) -> None:
    for bar in ("ground", "crank", "coupler", "rocker"):
        m[f"four_bar_{bar}_m"][j] = getattr(bars, f"{bar}_m")
    m["four_bar_neutral_rad"][j] = math.radians(bars.neutral_crank_deg)


def store_condition(model: RecordArray) -> None:
    """Condition number of each finger's coupling at the straight pose."""
    m = model[0]
    P_tj_m = straight_jacobian(model)
    for f in range(int(m["n_fingers"])):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        m["finger_condition"][f] = np.linalg.cond(P_tj_m[np.ix_(tendons, joints)])


def carried_first(hand: HandFile) -> Iterator[tuple[str, Finger]]:
    """Fingers by name, each after the one that carries it: the order of the model's bodies."""
    waiting, there = dict(hand.fingers), {"palm"}
    while waiting:
        name = next(n for n, f in waiting.items() if f.parent in there)
        there.add(name)
        yield name, waiting.pop(name)


def _store_bodies(hand: HandFile, names: HandNames, model: RecordArray) -> None:
    """The palm, then fingers in an order that puts parents before their children."""
    m = model[0]
    bodies = [_palm(hand)]
    carried_by = {"palm": 0}
    for name, finger in carried_first(hand):
        f = names.index("finger", name)
        joints = [names.index("joint", j.name) for j in finger.joints]
        parent = carried_by[finger.parent]
        if isinstance(finger, HingeFinger):
            carried_by[name] = len(bodies)
            bodies.append(_hinge(finger, parent, joints[0]))
            m["finger_tip_body"][f] = -1
            continue
        if isinstance(finger, TreeFinger):
            places = {bone.name: len(bodies) + k for k, bone in enumerate(finger.bones)}
            for k, bone in enumerate(finger.bones):
                under = places[bone.parent] if bone.parent else parent if k == 0 else len(bodies) - 1
                bodies.append(_tree_bone(bone, under, names.index("joint", bone.joint) if bone.joint else -1))
            carried_by[name] = len(bodies) - 1
            m["finger_tip_body"][f] = -1 if finger.tip_m is None else len(bodies) - 1
            m["finger_tip_m"][f] = finger.tip_m or 0.0
            continue
        new, tip = finger_bodies(_shape(finger), parent=parent, first_body=len(bodies), joints=joints)
        bodies += new
        m["finger_tip_body"][f] = len(bodies) - 1
        m["finger_tip_m"][f] = tip
        if finger.kind == "tensegrity_base":
            m["thumb_base_offset_m"][f] = finger.bones[0].length_m
            m["thumb_metacarpal_m"][f] = finger.bones[1].length_m
    place_bodies(model, [_mirrored(b) for b in bodies] if hand.side == "left" else bodies)
    if hand.side == "left":
        m["finger_tip_m"][:, 1] *= -1.0


def _mirrored(body: Body) -> Body:
    """The mirror image of a body across the plane y = 0: its joint turns by the same angle."""
    M = np.diag([1.0, -1.0, 1.0])
    return replace(
        body,
        rotation=M @ body.rotation @ M,
        origin_m=M @ body.origin_m,
        axis=-M @ body.axis,
        com_m=M @ body.com_m,
        inertia_kg_m2=M @ body.inertia_kg_m2 @ M,
    )


def _shape(finger: ChainFinger) -> FingerShape:
    bones = finger.bones
    return FingerShape(
        base_position_m=finger.base_position_m,
        base_rpy_deg=finger.base_rpy_deg,
        base_offset_m=bones[0].length_m,
        bone_lengths_m=[b.length_m for b in bones[1:]],
        bone_z_offsets_m=[b.offset_z_m for b in bones[1:]],
        masses_kg=[b.mass_kg for b in bones],
        com_fraction=[b.com_fraction for b in bones],
        inertia_diag_kg_m2=[b.inertia_diag_kg_m2 for b in bones],
        coupled_ratio=finger.coupled_ratio,
    )


def _tree_bone(bone: TreeBone, parent: int, joint: int) -> Body:
    axis = np.array(bone.axis)
    xx, yy, zz, xy, xz, yz = bone.inertia_kg_m2
    return Body(
        parent=parent,
        joint=joint,
        ratio=bone.ratio,
        rotation=rotation_rpy(np.radians(bone.rpy_deg)),
        origin_m=np.array(bone.position_m),
        axis=axis / np.linalg.norm(axis),
        mass_kg=bone.mass_kg,
        com_m=np.array(bone.com_m),
        inertia_kg_m2=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
    )


def _palm(hand: HandFile) -> Body:
    return Body(
        parent=-1,
        joint=-1,
        rotation=np.eye(3),
        origin_m=np.zeros(3),
        axis=np.array([0.0, 0.0, 1.0]),
        mass_kg=hand.palm.mass_kg,
        com_m=np.array(hand.palm.com_m),
        inertia_kg_m2=np.diag(hand.palm.inertia_diag_kg_m2),
    )


def _hinge(finger: HingeFinger, parent: int, joint: int) -> Body:
    axis = np.array(finger.axis)
    return Body(
        parent=parent,
        joint=joint,
        rotation=np.eye(3),
        origin_m=np.array(finger.position_m),
        axis=axis / np.linalg.norm(axis),
        mass_kg=finger.mass_kg,
        com_m=np.array(finger.com_m),
        inertia_kg_m2=np.diag(finger.inertia_diag_kg_m2),
    )
