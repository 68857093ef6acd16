"""The reference cases R1 to R4: mechanisms with the numbers of the mechanics page."""

from __future__ import annotations

import math

import numpy as np

from mechanics.arm import ARM, pseudo_inertia
from mechanics.carpal import CARPAL
from mechanics.dynamics.systems import Kind, System, parts_of
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.muscle_finger import FINGER
from sim.mechanisms.arm7 import ArmFile, Link, arm_bodies
from sim.mechanisms.tables import Scenario
from sim.mechanisms.trees import BodyTable, Rod, body_of

DIAGONAL = 0.5 / math.sqrt(2.0)


def y_tree(stiffness=0.0, damping=0.0, rest=0.0) -> Tree:
    """R1: slender rods of 0.5 m and 0.5 kg at 45 degrees, three hinges about y."""
    joint = {
        "axis": (0.0, 1.0, 0.0),
        "stiffness_nm_rad": stiffness,
        "damping_nms_rad": damping,
        "rest_rad": rest,
    }
    right, left = (DIAGONAL, 0.0, DIAGONAL), (-DIAGONAL, 0.0, DIAGONAL)
    rods = {side: Rod(mass_kg=0.5, to_m=side) for side in (right, left)}
    return tree_of(
        [
            body_of(BodyTable(name="union", rods=(rods[right], rods[left]), **joint)),
            body_of(BodyTable(name="right", parent="union", position_m=right, rods=(rods[right],), **joint)),
            body_of(BodyTable(name="left", parent="union", position_m=left, rods=(rods[left],), **joint)),
        ]
    )


def tree_system(tree: Tree) -> System:
    return System(Kind.TREE, parts_of(tree=tree.record), tree.dofs, tree.sliders, tree.frames)


def finger() -> np.ndarray:
    """R2 without springs, dampers and muscle."""
    record = np.zeros(1, dtype=FINGER)
    f = record[0]
    f["length_m"], f["com_m"] = (0.045, 0.027, 0.022), (0.021, 0.0125, 0.0105)
    f["mass_kg"], f["inertia_kg_m2"] = (0.012, 0.007, 0.005), (2.6e-6, 6.1e-7, 3.4e-7)
    f["gravity_m_s2"] = 9.81
    return record


def muscled_finger() -> np.ndarray:
    """R2 with springs, dampers and a muscle force split in fractions."""
    record = finger()
    f = record[0]
    f["stiffness_nm_rad"], f["joint_damping_nms_rad"] = 0.02, 2e-4
    f["drive"], f["offset_m"], f["split"] = 1, 0.0045, (0.5, 0.3, 0.2)
    return record


def finger_system(record: np.ndarray) -> System:
    return System(Kind.FINGER, parts_of(finger=record), ("mcp", "pip", "dip"), (False,) * 3, (), "force")


DH = (
    (0.0, 90.0, 0.0, 0.0),
    (0.0, -90.0, 0.0, -90.0),
    (0.0, 90.0, 0.30, 0.0),
    (0.0, -90.0, 0.0, 0.0),
    (0.0, 90.0, 0.25, 0.0),
    (0.0, -90.0, 0.0, 0.0),
    (0.08, 0.0, 0.0, 0.0),
)
MASSES = (0.9, 0.7, 1.1, 0.5, 0.6, 0.2, 0.35)
COMS = (
    (0.0, -0.02, 0.01),
    (0.01, 0.0, 0.03),
    (0.0, -0.12, 0.02),
    (0.0, 0.01, 0.02),
    (0.0, -0.10, 0.01),
    (0.0, 0.01, 0.0),
    (-0.03, 0.002, 0.004),
)
INERTIAS = (
    (2e-3, 2.1e-3, 1.5e-3),
    (1.6e-3, 1.5e-3, 1e-3),
    (9e-3, 8.7e-3, 1.2e-3),
    (8e-4, 7e-4, 6e-4),
    (3.5e-3, 3.4e-3, 4e-4),
    (1e-4, 1.1e-4, 9e-5),
    (3e-4, 6e-4, 7e-4),
)


Q3 = np.array([0.3, -0.5, 0.7, 0.9, -0.4, 0.6, -0.2])


def arm_file(form="tree") -> ArmFile:
    """R3, with a free swing from rest."""
    start = {f"j{i}": float(q) for i, q in enumerate(Q3)}
    links = tuple(
        Link(
            name=f"j{i}",
            a_m=DH[i][0],
            alpha_deg=DH[i][1],
            d_m=DH[i][2],
            offset_deg=DH[i][3],
            mass_kg=MASSES[i],
            com_m=COMS[i],
            inertia_kg_m2=INERTIAS[i],
        )
        for i in range(7)
    )
    return ArmFile(
        schema_version=1,
        kind="arm",
        name="r3",
        description="R3",
        scenario={"swing": Scenario(duration_s=0.2, step_s=1e-4, start_rad=start)},
        form=form,
        gravity_m_s2=(0.0, 0.0, -9.81),
        link=links,
    )


def arm() -> np.ndarray:
    """R3 in Lagrange's form."""
    record = np.zeros(1, dtype=ARM)
    m = record[0]
    m["n"], m["gravity_m_s2"] = 7, (0.0, 0.0, -9.81)
    for i, (a, alpha, d, offset) in enumerate(DH):
        m["a_m"][i], m["alpha_rad"][i] = a, math.radians(alpha)
        m["d_m"][i], m["offset_rad"][i] = d, math.radians(offset)
        m["pseudo"][i] = pseudo_inertia(MASSES[i], np.array(COMS[i]), np.diag(INERTIAS[i]))
    return record


def arm_tree() -> Tree:
    """R3 for the articulated-body method."""
    return tree_of(arm_bodies(arm_file()), (0.0, 0.0, -9.81))


def wrist() -> np.ndarray:
    """R4."""
    record = np.zeros(1, dtype=CARPAL)
    c = record[0]
    c["r_m"], c["l_m"], c["mass_kg"], c["com_m"] = 0.05, 0.09, 1.2, (0.004, -0.002, 0.06)
    c["inertia_kg_m2"] = [[2e-3, 1e-4, -5e-5], [1e-4, 1.6e-3, 8e-5], [-5e-5, 8e-5, 9e-4]]
    c["gravity_m_s2"] = (0.0, 0.0, -9.81)
    return record


def wrist_system(record: np.ndarray) -> System:
    return System(Kind.CARPAL, parts_of(carpal=record), ("leg_1", "leg_2", "leg_3"), (False,) * 3, ())


TH = np.array([0.9, 1.05, 0.8])
THD = np.array([0.7, -0.4, 1.1])
