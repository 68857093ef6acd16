"""All shipped mechanisms without losses, with springs where free fall would leave the range."""

from __future__ import annotations

import numpy as np

from mechanics.dynamics.systems import Kind, System
from sim.mechanisms.load import load_mechanism
from sim.mechanisms.mechanism import JOINT_FIELDS, change_joints, vector

NAMES = ("y_tree", "long_tree", "muscle_finger", "prosthesis_arm", "carpal_wrist", "hand_on_arm")


def without_losses(name: str) -> tuple[System, np.ndarray]:
    """A system and its start."""
    mechanism = load_mechanism(name).mechanism
    system = mechanism.system
    part, stiffness, damping, rest = JOINT_FIELDS[system.kind]
    record = system.parts[part][0]
    record[damping] = 0.0
    for field in ("stop_stiffness", "stop_damping", "friction_n"):
        if field in record.dtype.names:
            record[field] = 0.0
    if system.kind == Kind.FINGER:
        record["drive"] = 0
    chosen = "springs" if name == "carpal_wrist" else None
    _, scenario = mechanism.scenario(chosen)
    change_joints(system, scenario.joints)
    q = vector(system, scenario.start_rad)
    if name == "hand_on_arm":
        # a limb of 26 coordinates shares its energy out; light finger links then spin beyond 10 kHz
        record[stiffness][:5], record[rest][:5] = 40.0, 0.0
        record[stiffness][7 : system.n_dofs] = 0.03
        q[:5] = (0.015, -0.015, 0.015, -0.015, 0.015)
    return system, q
