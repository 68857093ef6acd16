"""The start pose of a simulated hand: straight fingers, neutral wrist, equal pretension, all at rest."""

from __future__ import annotations

import numpy as np

from mechanics.coupling import tendon_lengths
from mechanics.springs import spring_at
from mechanics.start_tension import start_tension_n
from mechanics.wrist import wrist_jacobian
from mechanics.wrist_springs import spring_ahead_rad
from signals.choices import WrongChoice
from signals.compiled import law
from signals.layout import Records, UintArray
from signals.records import RecordArray
from signals.sizes import BRANCH_JOINTS
from signals.typed import Model
from sim.options import SimOptions
from sim.plant_record import PlantRecord


@law
def _lever_of_force(m: Model, t: int, force_n: float) -> float:
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    for _ in range(60):
        middle = 0.5 * (low + high)
        force, _, _, _ = spring_at(m, t, middle)
        if force > force_n:
            low = middle
        else:
            high = middle
    return float(0.5 * (low + high))


@law
def elongation_of_force(m: Model, t: int, force_n: float) -> tuple[float, float]:
    """Elongation [m] and lever angle [rad] of a tendon at a force [N], friction loop at its middle."""
    s = m.tendon_spring[t]
    slackest, _, _, _ = spring_at(m, t, m.lever_max_rad[s])
    stretch = force_n * m.tendon_compliance_m_n[t]
    if force_n <= slackest:
        return stretch, m.lever_max_rad[s]
    lever = _lever_of_force(m, t, force_n)
    _, _, path, _ = spring_at(m, t, lever)
    return stretch - path, lever


@law
def _pretension(model: Records[Model], plant: Records[PlantRecord], force_n: float) -> None:
    m, p = model[0], plant[0]
    for t in range(m.n_tendons):
        e, lever = elongation_of_force(m, t, force_n)
        p.lever_rad[t] = lever
        p.hall_filtered_rad[t] = lever
        p.hall_played_rad[t] = lever
        p.tension_n[t] = force_n
        p.e0_m[t] = e - p.length_m[t]


@law
def _lengths_at_start(model: Records[Model], plant: Records[PlantRecord]) -> None:
    tendon_lengths(model[0], plant[0].q_rad, plant[0].length_m)


def _branches(model: RecordArray, plant: RecordArray) -> None:
    """Group joints by the child of the palm that carries them: the blocks of the mass matrix."""
    m, p = model[0], plant[0]
    roots: dict[int, list[int]] = {}
    for body in range(1, int(m["n_bodies"])):
        joint = int(m["body_joint"][body])
        root = body
        while int(m["body_parent"][root]) > 0:
            root = int(m["body_parent"][root])
        members = roots.setdefault(root, [])
        if joint >= 0 and joint not in members:
            members.append(joint)
    branches = [b for b in roots.values() if b]
    if len(branches) > p["branch_joint"].shape[0] or any(len(b) > BRANCH_JOINTS for b in branches):
        raise WrongChoice(
            f"the tree has {len(branches)} branches, the longest with {max(map(len, branches))} joints; "
            f"legal are {p['branch_joint'].shape[0]} branches of {BRANCH_JOINTS} joints"
        )
    p["n_branches"] = len(branches)
    for b, joints in enumerate(branches):
        p["branch_joints"][b] = len(joints)
        p["no_joint"][len(joints) :, b] = 1.0
        p["branch_joint"][b, : len(joints)] = joints
    for t in range(int(m["n_tendons"])):
        first = int(m["finger_joint"][int(m["tendon_finger"][t]), 0])
        b = next(b for b, joints in enumerate(branches) if first in joints)
        k = int(p["branch_tendons"][b])
        p["tendon_branch"][t], p["branch_tendon"][b, k], p["branch_tendons"][b] = b, t, k + 1
    p["most_joints"], p["most_tendons"] = p["branch_joints"].max(), p["branch_tendons"].max()


def _load_wrist_springs(model: RecordArray, plant: RecordArray) -> None:
    """The wrist's drive as far ahead of its axes as holds them against the tendons."""
    m, p = model[0], plant[0]
    P_w = np.zeros_like(p["P_tw_m"])
    wrist_jacobian(m, float(p["axis_rad"][0]), float(p["axis_rad"][1]), P_w)
    for a in range(int(m["n_axes"])):
        p["drive_rad"][a] += spring_ahead_rad(m, a, float(P_w[:, a] @ p["tension_n"]))


def start_pose(model: RecordArray, plant: RecordArray, options: SimOptions, rng: UintArray) -> None:
    """Bring a zeroed plant record into its start pose: q = 0, motors at 0, neutral wrist."""
    m, p = model[0], plant[0]
    p["substeps"] = options.substeps
    p["sensor_level"] = int(options.sensors)
    p["guides_on"] = int(options.guides)
    p["contact_on"] = int(options.contact)
    p["energy_on"] = int(options.energy)
    p["rng"] = rng
    p["friction_scale"] = 1.0
    p["hall_noise_scale"] = p["joint_noise_scale"] = 1.0
    p["winding_degc"] = p["case_degc"] = m["ambient_degc"]
    p["axis_rad"] = p["drive_rad"] = m["wrist_neutral_rad"]
    p["axis_wanted_rad"] = m["wrist_neutral_rad"]
    p["axis_zero_rad"][: len(options.axis_zeros_rad)] = options.axis_zeros_rad
    p["wrist_length_m"] = m["wrist_neutral_length_m"]
    _branches(model, plant)
    _lengths_at_start(model, plant)
    _pretension(model, plant, start_tension_n(m, options.pretension_n))
    if m["axis_spring_arm_m"][0] > 0.0:
        _load_wrist_springs(model, plant)
