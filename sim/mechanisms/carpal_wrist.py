"""The carpal wrist with a tool, from a file; the same wrist as a custom joint of a tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hand.file.values import Interval, NonNegative, Positive, Vec3
from mechanics.carpal import CARPAL, LEG_X, LEG_Y
from mechanics.carpal_geometry import CarpalError, check_geometry, pose_of_legs
from mechanics.dynamics.bodies import check_inertia
from mechanics.dynamics.systems import Kind, System, parts_of
from signals.layout import FloatArray
from signals.tables import Table
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import Inertia, matrix_of

LEGS = ("leg_1", "leg_2", "leg_3")


class Geometry(Table):
    """Three equal legs at 120 degrees."""

    joint_radius_m: Positive
    """Distance of the base (and distal) joints from the axis."""
    leg_m: Positive
    """Length of a leg link, basal and distal."""
    range_deg: Interval
    """Leg angles from the base plane, outward 0."""
    tilt_max_deg: Positive
    """Greatest tilt of the tool plate."""
    least_margin: NonNegative
    """Least distance from a singular pose, 0 singular, 1 best."""


class Tool(Table):
    """Tool and distal plate as one rigid body."""

    mass_kg: Positive
    """Mass."""
    com_m: Vec3
    """Centre of mass from the distal centre, distal frame."""
    inertia_kg_m2: Inertia
    """About the centre of mass: xx yy zz, or xx xy xz yy yz zz."""


class Motors(Table):
    """At the base joints."""

    torque_limit_nm: Positive
    """Greatest torque."""
    stiffness_nm_rad: NonNegative
    """Springs at the motors."""
    rest_rad: float
    """Where they are relaxed."""
    damping_nms_rad: NonNegative
    """Dampers at the motors."""
    stop_stiffness_nm_rad: NonNegative
    """Stiffness of the stops at the ends of the range."""
    stop_damping_nms_rad: NonNegative
    """Damping of the stops."""


class CarpalWristFile(MechanismTable):
    """A carpal wrist."""

    kind: Literal["carpal_wrist"]
    """Kind of mechanism."""
    gravity_m_s2: Vec3
    """Gravity in the base frame."""
    geometry: Geometry
    """Geometry."""
    tool: Tool
    """Tool."""
    motors: Motors
    """Motors."""


def wrist_record(file: CarpalWristFile) -> NDArray[Any]:
    """The wrist's record, shape (1,).

    Raises:
        CarpalError: impossible geometry.
        TreeError: an inertia that no tool has.
    """
    check_geometry(file.geometry.joint_radius_m, file.geometry.leg_m)
    inertia = matrix_of(file.tool.inertia_kg_m2, "tool")
    check_inertia("tool", inertia)
    carpal = np.zeros(1, dtype=CARPAL)
    c = carpal[0]
    c["r_m"], c["l_m"] = file.geometry.joint_radius_m, file.geometry.leg_m
    c["mass_kg"], c["com_m"], c["inertia_kg_m2"] = file.tool.mass_kg, file.tool.com_m, inertia
    c["gravity_m_s2"] = file.gravity_m_s2
    for key in ("stiffness_nm_rad", "rest_rad", "damping_nms_rad"):
        c[key] = getattr(file.motors, key)
    low, high = (math.radians(a) for a in file.geometry.range_deg)
    c["lower"], c["upper"] = low, high
    c["stop_stiffness"], c["stop_damping"] = (
        file.motors.stop_stiffness_nm_rad,
        file.motors.stop_damping_nms_rad,
    )
    return carpal


def wrist_lines(r_m: float, l_m: float, com_m: FloatArray, q: FloatArray) -> list[Segment]:
    """Base and distal plate, legs, and the tool as a line to its centre of mass."""
    pose = pose_of_legs(r_m, l_m, q)
    directions = np.column_stack([LEG_X, LEG_Y, np.zeros(3)])
    base = r_m * directions
    distal = pose.D_m + base @ pose.R.T
    out: list[Segment] = [("base", base[[0, 1, 2, 0]]), ("plate", distal[[0, 1, 2, 0]])]
    out += [(f"leg_{i + 1}", np.array([base[i], pose.M_m[i], distal[i]])) for i in range(3)]
    return [*out, ("tool", np.array([pose.D_m, pose.D_m + pose.R @ com_m]))]


def pose_law(r_m: float, l_m: float, key: str) -> Callable[[FloatArray], FloatArray]:
    """One figure of the tool pose over rows of leg angles; not a number where the pose is singular."""

    def figure(q: FloatArray) -> FloatArray:
        out = np.full(q.shape[0], np.nan)
        for k, row in enumerate(q):
            try:
                out[k] = getattr(pose_of_legs(r_m, l_m, row), key)
            except CarpalError:
                continue
        return out

    return figure


def carpal_mechanism(file: CarpalWristFile) -> Mechanism:
    """Assemble a carpal wrist file; checks that every scenario starts at a pose that exists.

    Raises:
        CarpalError: impossible geometry, or a scenario that starts at a singular pose.
        TreeError: an inertia that no tool has.
    """
    record = wrist_record(file)
    r, length = file.geometry.joint_radius_m, file.geometry.leg_m
    for name, scenario in file.scenario.items():
        start = np.array([scenario.start_rad.get(leg, 0.0) for leg in LEGS])
        try:
            pose_of_legs(r, length, start, file.geometry.least_margin)
        except CarpalError as error:
            raise CarpalError(f"scenario {name!r}: {error.problem}", error.remedy) from None
    keys = {"alpha_rad": "alpha_rad", "beta_rad": "beta_rad", "p_m": "p_m", "margin": "margin"}
    return Mechanism.of(
        file,
        System(Kind.CARPAL, parts_of(carpal=record), LEGS, (False,) * 3, ()),
        lambda q: wrist_lines(r, length, np.array(file.tool.com_m), q),
        outputs={name: pose_law(r, length, key) for name, key in keys.items()},
    )
