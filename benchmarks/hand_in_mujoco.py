"""The hand of a model record as a MuJoCo model: 38 rotors, 38 tendons with springs, friction everywhere.

MuJoCo gets the easier task: the closed wrist becomes two plain hinges, springs are linear, there is neither
ripple nor hysteresis nor lever. A tendon is a fixed one over finger joints and rotor plus a spatial one
through the wrist (MuJoCo does not add the two kinds up); the thumb's base tendons are spatial as well.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from signals.modes import TendonKind
from signals.records import RecordArray

SPRING_N_M = 7000.0
TENSION_N = 20.0


def numbers(values: Any) -> str:
    """Values as MJCF writes them."""
    return " ".join(f"{float(v):.12g}" for v in np.ravel(values))


def quaternion(R: Any) -> str:
    """Rotation matrix as a quaternion."""
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.ravel(np.asarray(R, dtype=np.float64)))
    return numbers(out)


def body_text(m: Any, b: int, inside: dict[int, str]) -> str:
    """A body with its joint, inertia, and the bodies on it."""
    j = int(m["body_joint"][b])
    inertia = m["body_inertia_kg_m2"][b]
    full = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    joint = ""
    if b == 0 and m["n_axes"]:
        joint = '<joint name="wrist0" axis="0 1 0" armature="1e-3" stiffness="30" damping="0.5"/>'
        joint += '<joint name="wrist1" axis="0 0 1" armature="1e-3" stiffness="30" damping="0.5"/>'
    elif j >= 0:
        joint = (
            f'<joint name="body{b}" axis="{numbers(m["body_axis"][b])}" '
            f'damping="{m["joint_viscous_nms_rad"][j]:g}" frictionloss="{m["joint_coulomb_nm"][j]:g}"/>'
        )
    place = f'pos="{numbers(m["body_origin_m"][b])}" quat="{quaternion(m["body_rotation"][b])}"' if b else ""
    return (
        f'<body name="b{b}" {place}>{joint}<inertial pos="{numbers(m["body_com_m"][b])}" '
        f'mass="{m["body_mass_kg"][b]:.12g}" fullinertia="{numbers(full)}"/>{inside[b]}</body>'
    )


def sites(m: Any) -> tuple[str, dict[int, str]]:
    """Sites in the forearm frame, and sites by body."""
    forearm = ""
    on: dict[int, str] = {b: "" for b in range(int(m["n_bodies"]))}
    neutral = np.array([m["wrist_size_m"][0], m["wrist_size_m"][1] / 2, m["wrist_size_m"][2] / 2])
    for t in range(int(m["n_tendons"])):
        forearm += f'<site name="f{t}" pos="{numbers(m["forearm_point_m"][t] - neutral)}"/>'
        on[0] += f'<site name="p{t}" pos="{numbers(m["palm_point_m"][t])}"/>'
        if m["tendon_kind"][t] == TendonKind.INSERTION_POINTS:
            first, bone = thumb_bodies(m, t)
            R, origin = m["body_rotation"][first], m["body_origin_m"][first]
            on[0] += f'<site name="x{t}" pos="{numbers(origin + R @ m["insertion_palm_m"][t])}"/>'
            on[bone] += f'<site name="y{t}" pos="{numbers(m["insertion_bone_m"][t])}"/>'
    return forearm, on


def thumb_bodies(m: Any, t: int) -> tuple[int, int]:
    """First and second body of the finger that a base tendon moves."""
    finger = int(m["tendon_finger"][t])
    joints = m["finger_joint"][finger]
    bodies = m["body_joint"][: int(m["n_bodies"])]
    return int(np.argmax(bodies == joints[0])), int(np.argmax(bodies == joints[1]))


def tendons(m: Any) -> str:
    """Fixed tendons over joints and rotors, spatial ones through the wrist and at the thumb's base."""
    out = ""
    bodies = m["body_joint"][: int(m["n_bodies"])]
    slack = TENSION_N / SPRING_N_M
    for t in range(int(m["n_tendons"])):
        rotor = f'<joint joint="rotor{int(m["tendon_motor"][t])}" coef="{m["spool_radius_m"][t]:g}"/>'
        for j in np.flatnonzero(m["P_tj_m"][t]):
            rotor += f'<joint joint="body{int(np.argmax(bodies == j))}" coef="{m["P_tj_m"][t, j]:g}"/>'
        spring = f'stiffness="{SPRING_N_M:g}"'
        out += f'<fixed {spring} springlength="{-slack:.9g}">{rotor}</fixed>'
        if m["n_axes"]:
            out += f'<spatial {spring}><site site="f{t}"/><site site="p{t}"/></spatial>'
        if m["tendon_kind"][t] == TendonKind.INSERTION_POINTS:
            out += f'<spatial {spring}><site site="x{t}"/><site site="y{t}"/></spatial>'
    return out


def hand_xml(model: RecordArray, step_s: float, settings: str = "") -> str:
    """MJCF of the hand; ``settings`` are further attributes of ``option``."""
    m = model[0]
    forearm, inside = sites(m)
    for b in range(int(m["n_bodies"]) - 1, 0, -1):
        inside[int(m["body_parent"][b])] += body_text(m, b, inside)
    rotors, coupled = "", ""
    for i in range(int(m["n_motors"])):
        inertia = f"{m['motor_inertia_kg_m2'][i]:g}"
        loss = float(m["friction_gamma_2_nm"][i]) * np.pi / 2.0
        viscous = f"{m['friction_gamma_3_nms_rad'][i]:g}"
        rotors += (
            f'<body><joint name="rotor{i}" frictionloss="{loss:g}" damping="{viscous}"/>'
            f'<inertial pos="0 0 0" mass="0.01" diaginertia="{inertia} {inertia} {inertia}"/></body>'
        )
    for b in range(1, int(m["n_bodies"])):
        up = int(m["body_parent"][b])
        if up > 0 and m["body_joint"][up] == m["body_joint"][b] >= 0:
            coupled += (
                f'<joint joint1="body{b}" joint2="body{up}" polycoef="0 {m["body_ratio"][b]:g} 0 0 0"/>'
            )
    return (
        f'<mujoco><option timestep="{step_s:.12g}" integrator="implicitfast" {settings} '
        f'gravity="{numbers(m["gravity_m_s2"])}"/>'
        f"<worldbody>{forearm}{body_text(m, 0, inside)}{rotors}</worldbody>"
        f"<equality>{coupled}</equality><tendon>{tendons(m)}</tendon></mujoco>"
    )


def hand_model(model: RecordArray, step_s: float, settings: str = "") -> mujoco.MjModel:
    """The compiled MuJoCo model."""
    return mujoco.MjModel.from_xml_string(hand_xml(model, step_s, settings))
