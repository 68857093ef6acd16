"""The three-link finger pulled by a twisted-and-coiled polymer muscle, from a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hand.file.values import Interval, NonNegative, Positive, PositiveVec3, Vec3
from mechanics.dynamics.systems import Kind, System, parts_of
from mechanics.muscle import MuscleDrive
from mechanics.muscle_finger import FINGER
from signals.layout import FloatArray
from signals.tables import Table
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable, NonNegativeVec3

JOINTS = ("mcp", "pip", "dip")
DRIVES = {
    "torque": MuscleDrive.TORQUE,
    "force": MuscleDrive.FORCE,
    "temperature": MuscleDrive.TEMPERATURE,
    "current": MuscleDrive.CURRENT,
}


class Links(Table):
    """Three links, proximal first."""

    length_m: PositiveVec3
    """Lengths."""
    com_m: Vec3
    """Centre of mass from the proximal joint, along the link."""
    mass_kg: PositiveVec3
    """Masses."""
    inertia_kg_m2: PositiveVec3
    """About the centre of mass, about the joint axis."""


class Joints(Table):
    """Return springs, dampers, stops."""

    stiffness_nm_rad: NonNegativeVec3
    """Return springs."""
    rest_rad: Vec3
    """Where they are relaxed."""
    damping_nms_rad: NonNegativeVec3
    """Dampers."""
    range_rad: tuple[Interval, Interval, Interval]
    """Joint stops."""
    stop_stiffness_nm_rad: NonNegative
    """Stiffness of the stops."""
    stop_damping_nms_rad: NonNegative
    """Damping of the stops."""


class Tendon(Table):
    """From the muscle to the joints."""

    offset_m: Positive
    """Distance of the tendon from every joint axis."""
    split: NonNegativeVec3
    """Share of the torque F e at each joint: alpha, beta, gamma."""
    friction_n: NonNegative
    """Force lost in the transmission."""
    friction_speed_m_s: Positive
    """Tendon speed that regularises the friction's sign."""


class Muscle(Table):
    """Electro-thermal muscle."""

    stiffness_n_m: NonNegative
    """Spring rate."""
    damping_ns_m: NonNegative
    """Damping."""
    thermal_n_k: Positive
    """Force per kelvin."""
    ambient_degc: float
    """Surroundings."""
    resistance_ohm: Positive
    """Electrical resistance."""
    loss_w_k: Positive
    """Heat lost per kelvin."""
    capacity_j_k: Positive
    """Heat capacity."""
    temperature_max_degc: float
    """Above this the muscle anneals."""


class MuscleFingerFile(MechanismTable):
    """A finger pulled by one muscle."""

    kind: Literal["muscle_finger"]
    """Kind of mechanism."""
    drive: Literal["torque", "force", "temperature", "current"]
    """What the muscle is given."""
    model: Literal["full", "reduced"]
    """reduced drops Coriolis terms and off-diagonal inertia, as the paper does."""
    gravity_m_s2: float
    """Along -y."""
    links: Links
    """Links."""
    joints: Joints
    """Joints."""
    tendon: Tendon
    """Tendon."""
    muscle: Muscle
    """Muscle."""


def finger_record(file: MuscleFingerFile) -> NDArray[Any]:
    """The finger's record, shape (1,)."""
    finger = np.zeros(1, dtype=FINGER)
    f = finger[0]
    f["drive"], f["reduced"] = DRIVES[file.drive], file.model == "reduced"
    f["gravity_m_s2"] = file.gravity_m_s2
    for key in ("length_m", "com_m", "mass_kg", "inertia_kg_m2"):
        f[key] = getattr(file.links, key)
    f["stiffness_nm_rad"], f["rest_rad"] = file.joints.stiffness_nm_rad, file.joints.rest_rad
    f["joint_damping_nms_rad"] = file.joints.damping_nms_rad
    f["lower"], f["upper"] = np.array(file.joints.range_rad).T
    f["stop_stiffness"] = file.joints.stop_stiffness_nm_rad
    f["stop_damping"] = file.joints.stop_damping_nms_rad
    for key in ("offset_m", "split", "friction_n", "friction_speed_m_s"):
        f[key] = getattr(file.tendon, key)
    for key in Muscle.model_fields:
        f[key] = getattr(file.muscle, key)
    return finger


def links_of(length_m: FloatArray, q: FloatArray) -> list[Segment]:
    """The three links in the x-y plane, drawn in x-z."""
    angle, point = 0.0, np.zeros(3)
    out = []
    for name, turn, length in zip(("proximal", "middle", "distal"), q, length_m, strict=True):
        angle += float(turn)
        end = point + length * np.array([math.cos(angle), 0.0, math.sin(angle)])
        out.append((name, np.array([point, end])))
        point = end
    return out


def tip_law(length_m: FloatArray, row: int) -> Callable[[FloatArray], FloatArray]:
    """Coordinate of the fingertip over rows of joint angles."""

    def tip(q: FloatArray) -> FloatArray:
        angles = np.cumsum(q, axis=1)
        directions = (np.cos(angles), np.sin(angles))[row]
        return np.asarray(directions @ length_m, dtype=np.float64)

    return tip


def finger_mechanism(file: MuscleFingerFile) -> Mechanism:
    """Assemble a finger file."""
    finger = finger_record(file)
    length = np.array(file.links.length_m)
    extra = {"force": "muscle_force_n", "temperature": "muscle_degc", "current": "muscle_current_a"}
    system = System(Kind.FINGER, parts_of(finger=finger), JOINTS, (False,) * 3, (), extra.get(file.drive, ""))
    tip = {"tip_x_m": tip_law(length, 0), "tip_y_m": tip_law(length, 1)}
    warm = file.muscle.ambient_degc
    return Mechanism.of(file, system, lambda q: links_of(length, q), rest_z=warm, outputs=tip)
