"""The hand on the carpal wrist as one tree: three legs, the tool plate, palm and fingers.

The carpal wrist takes the place of the hand's own: its base stands in the forearm frame {0}, the palm on its
tool plate. Tendons do not appear: springs and dampers at the finger joints stand for them, as in
``hand_on_arm``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from mechanics.carpal_geometry import CarpalError, pose_of_legs
from mechanics.dynamics.bodies import Body, Joint
from mechanics.dynamics.joint_laws import CustomLaw
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.tree import Tree, tree_of
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray
from sim.mechanisms.carpal_wrist import LEGS, CarpalWristFile, wrist_lines
from sim.mechanisms.hand_on_arm import FingerSprings, Place, Springs, body_lines, hand_bodies, tips_by_body
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import matrix_of, system_of

PALM = "palm"


class HandOnCarpalFile(MechanismTable):
    """A hand file on a carpal wrist file."""

    kind: Literal["hand_on_carpal"]
    """Kind of mechanism."""
    hand: Annotated[str, Field(min_length=1)]
    """Hand file: a shipped name or a path."""
    carpal: Annotated[str, Field(min_length=1)]
    """Carpal wrist file: a shipped name or a path; its gravity is in its base frame."""
    base: Place
    """The wrist's base plate in the hand's forearm frame {0}, its z axis away from the base."""
    palm: Place
    """The palm on the tool plate."""
    springs: FingerSprings
    """Springs."""


def without_wrist(model: RecordArray, names: HandNames) -> tuple[RecordArray, HandNames]:
    """A hand's model and names without its own wrist."""
    bare = model.copy()
    bare["n_axes"] = 0
    return bare, replace(names, axes=())


def carpal_bodies(
    file: HandOnCarpalFile, carpal: CarpalWristFile, model: RecordArray, names: HandNames
) -> list[Body]:
    """Base, tool plate on three legs, palm and fingers; ``model`` and ``names`` without a wrist."""
    geometry, motors, tool = carpal.geometry, carpal.motors, carpal.tool
    low, high = (math.radians(a) for a in geometry.range_deg)
    legs = Joint(
        kind=JointKind.CUSTOM,
        coordinates=LEGS,
        custom_law=int(CustomLaw.CARPAL),
        params=(geometry.joint_radius_m, geometry.leg_m),
        stiffness=motors.stiffness_nm_rad,
        damping=motors.damping_nms_rad,
        rest=motors.rest_rad,
        lower=low,
        upper=high,
        stop_stiffness=motors.stop_stiffness_nm_rad,
        stop_damping=motors.stop_damping_nms_rad,
    )
    base = Body(name="base", R_PB=file.base.rotation(), p_PB_m=np.array(file.base.position_m))
    plate = Body(
        name="plate",
        parent="base",
        joint=legs,
        mass_kg=tool.mass_kg,
        com_m=np.array(tool.com_m),
        inertia_kg_m2=matrix_of(tool.inertia_kg_m2, "tool"),
    )
    springs = Springs(**file.springs.model_dump(), wrist_stiffness_nm_rad=0.0, wrist_damping_nms_rad=0.0)
    palm, *fingers = hand_bodies(model, names, springs, "plate")
    palm = replace(palm, R_PB=file.palm.rotation(), p_PB_m=np.array(file.palm.position_m))
    return [base, plate, palm, *fingers]


def carpal_limb_tree(
    file: HandOnCarpalFile, carpal: CarpalWristFile, model: RecordArray, names: HandNames
) -> Tree:
    """The whole limb in the forearm frame {0}, gravity turned into it; without the hand's own wrist."""
    gravity = file.base.rotation() @ np.array(carpal.gravity_m_s2)
    return tree_of(carpal_bodies(file, carpal, model, names), gravity.tolist())


def _lines(
    tree: Tree, file: HandOnCarpalFile, carpal: CarpalWristFile, tips: dict[str, FloatArray], q: FloatArray
) -> list[Segment]:
    """Legs and plates, palm and finger bones."""
    r, length = carpal.geometry.joint_radius_m, carpal.geometry.leg_m
    turn, at = file.base.rotation(), np.array(file.base.position_m)
    legs = [tree.dof(leg) for leg in LEGS]
    out = [
        (name, at + line @ turn.T)
        for name, line in wrist_lines(r, length, np.zeros(3), q[legs])
        if name != "tool"
    ]
    return out + body_lines(tree, PALM, tips, q)


def hand_on_carpal_mechanism(
    file: HandOnCarpalFile, carpal: CarpalWristFile, model: RecordArray, names: HandNames
) -> Mechanism:
    """Assemble the limb from its wrist file and its hand's model record and names.

    Raises:
        CarpalError: a scenario that starts at a singular pose.
        TreeError: names the body and what to change.
    """
    bare, own = without_wrist(model, names)
    tree = carpal_limb_tree(file, carpal, bare, own)
    tips = tips_by_body(tree, bare)
    starts = _starts(file, carpal, tree, own)
    return Mechanism.of(
        file, system_of(tree), lambda q: _lines(tree, file, carpal, tips, q), scenarios=starts
    )


def _starts(file: HandOnCarpalFile, carpal: CarpalWristFile, tree: Tree, names: HandNames) -> dict[str, Any]:
    """Scenarios whose fingers start where their springs are relaxed, unless they say otherwise."""
    rest = tree.record["rest"][0]
    relaxed = {name: float(rest[tree.dof(name)]) for name in names.joints}
    found = {}
    for name, scenario in file.scenario.items():
        start = {**relaxed, **scenario.start_rad}
        legs = np.array([start.get(leg, 0.0) for leg in LEGS])
        geometry = carpal.geometry
        try:
            pose_of_legs(geometry.joint_radius_m, geometry.leg_m, legs, geometry.least_margin)
        except CarpalError as error:
            raise CarpalError(f"scenario {name!r}: {error.problem}", error.remedy) from None
        found[name] = scenario.model_copy(update={"start_rad": start})
    return found
