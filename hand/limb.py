"""A tendon hand on a mechanism that carries it: one set of records, and the stages of its tick.

The carrier's motors, joint sensors and joints stand behind the hand's own rows, as one more "finger" of the
kind that ``hand.mechanism_model`` makes: so one guard, one goal, one log and one report see both. Gains that
a hand has once (holding, torque rate) are the hand's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from controllers import limb as limb_control
from controllers.tick import CONTROLLER_MEMORY
from controllers.tick import control as control_hand
from estimators.carried import carried_lengths
from estimators.joint_sensors import MEMORY as SENSOR_MEMORY
from estimators.joint_sensors import sense_carrier
from estimators.tick import ESTIMATOR_MEMORY
from estimators.tick import estimate as estimate_hand
from guard.guard import GUARD_MEMORY, guard
from hand.mechanism_file import InverseDynamics, MechanismHandFile
from hand.stages import Stages
from mechanics.dynamics.tree import NO_LOADS, Tree
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import GOAL, RecordArray, new
from signals.sizes import EXTENTS
from signals.table import TABLE, Signal

COUNTS: Final = {
    "motor": "n_motors",
    "tendon": "n_tendons",
    "joint": "n_joints",
    "finger": "n_fingers",
    "spring": "n_springs",
}
"""Index spaces in which the carrier's rows stand behind the hand's -> count of the model."""
ROLE: Final = "carrier"
"""What the carrier's joints are for: motions that ask for flexion or abduction do not mean them."""


class TooMany(ValueError):
    """The records have no room for the carrier's parts beside the hand's."""


def whole_names(carrier: HandNames, hand: HandNames, finger: str) -> HandNames:
    """Names of a limb, called as its carrier's file is: the hand's, then the carrier's.

    Args:
        carrier: of the carrier; its joints' role becomes ``ROLE``.
        hand: of the hand.
        finger: name of the "finger" that the carrier is.

    Raises:
        TooMany: a part of both has the same name.
    """
    name, carrier = carrier.hand, replace(carrier, fingers=(finger,))
    for space in ("motor", "joint", "tendon", "finger"):
        both = set(hand.of(space)) & set(carrier.of(space))
        if both:
            raise TooMany(
                f"{space} {min(both)!r} is a part of hand and carrier; give the carrier's another name"
            )
    n = len(carrier.joints)
    return replace(
        hand,
        hand=name,
        motors=hand.motors + carrier.motors,
        tendons=hand.tendons + carrier.tendons,
        joints=hand.joints + carrier.joints,
        fingers=hand.fingers + carrier.fingers,
        motor_ids=hand.motor_ids + tuple(max(hand.motor_ids) + 1 + k for k in range(n)),
        hall_channels=hand.hall_channels + tuple(max(hand.hall_channels) + 1 + k for k in range(n)),
        joint_channels=hand.joint_channels + (0,) * n if hand.joint_channels else (),
        joint_roles=hand.joint_roles + (ROLE,) * n,
    )


def whole_model(hand: RecordArray, carrier: RecordArray) -> RecordArray:
    """Model record of a limb, shape (1,): the hand's, with the carrier's rows behind its own.

    Raises:
        TooMany: there is no room for them.
    """
    whole = hand.copy()
    first = {space: int(hand[count][0]) for space, count in COUNTS.items()}
    used = {space: int(carrier[count][0]) for space, count in COUNTS.items()}
    for space, count in COUNTS.items():
        if first[space] + used[space] > EXTENTS[space]:
            found = f"{first[space]} {space}s and {used[space]} of what carries it"
            raise TooMany(f"{found}; legal are {EXTENTS[space]} together")
        whole[count] = first[space] + used[space]
    for signal in TABLE["model"]:
        if not set(signal.dims) & set(COUNTS) or "body" in signal.dims:
            continue
        to = tuple(slice(first.get(d, 0), first.get(d, 0) + used.get(d, EXTENTS[d])) for d in signal.dims)
        of = tuple(slice(0, used.get(d, EXTENTS[d])) for d in signal.dims)
        whole[signal.name][0][to] = carrier[signal.name][0][of] + _shift(signal, first)
    return whole


def _shift(signal: Signal, first: dict[str, int]) -> int:
    """What an index into a space of the carrier's grows by; 0 for what is none."""
    return first.get(signal.name.rpartition("_")[2], 0) if signal.unit == "index" else 0


def new_memory(
    names: HandNames, tree: Tree, n_hand_joints: int, home_rad: FloatArray, law: InverseDynamics
) -> RecordArray:
    """Memory of the carrier's controller, shape (1,).

    Args:
        names: of the limb.
        tree: hand and carrier as one tree.
        n_hand_joints: how many of the joints are the hand's.
        home_rad: coordinates of the carrier where its joint angles are 0, shape (n,).
        law: gains of its controller.
    """
    memory = np.zeros(1, dtype=limb_control.MEMORY)
    m = memory[0]
    m["finger"] = len(names.fingers) - 1
    m["bandwidth_rad_s"], m["damping_ratio"] = 2.0 * math.pi * law.bandwidth_hz, law.damping_ratio
    m["axis_dof"][: len(names.axes)] = [tree.dof(a) for a in names.axes]
    m["joint_dof"][: len(names.joints)] = [tree.dof(j) for j in names.joints]
    m["palm"]["frame"] = -1
    m["home_rad"][n_hand_joints : len(names.joints)] = home_rad
    return memory


def limb_stages(
    hand_model: RecordArray,
    names: HandNames,
    tree: Tree,
    file: MechanismHandFile,
    home_rad: FloatArray,
    palm: str | None,
) -> Stages:
    """The hand's own estimator and controller on its own rows, the carrier's on theirs, one guard for both.

    Args:
        hand_model: the hand's model alone; gets the offsets that homing has found for the whole limb.
        names: of the limb.
        tree: hand and carrier as one tree, the controller's own.
        file: the carrier's motors and controller.
        home_rad: coordinates where its joint angles are 0, shape (n,).
        palm: frame of the palm in the tree, if the hand's tendons run over the carrier's joints.
    """
    assert isinstance(file.controller, InverseDynamics)
    own, filter_hz, finger = hand_model, file.control.velocity_filter_hz, len(names.fingers) - 1
    record, work = tree.record, tree.work()
    senses = np.zeros(1, dtype=SENSOR_MEMORY)
    drives = new_memory(names, tree, int(own["n_joints"][0]), home_rad, file.controller)
    crossed = palm is not None
    if palm is not None:
        drives["palm"]["frame"] = tree.frame(palm)
    carried = new(GOAL)
    carried_bytes, offsets = carried.view(np.uint8), own["elongation_offset_m"]

    def estimate(
        model: RecordArray, measurement: RecordArray, memory: RecordArray, state: RecordArray
    ) -> None:
        offsets[:] = model["elongation_offset_m"]
        sense_carrier(model, measurement, senses, state, finger, filter_hz)
        if crossed:
            carried_lengths(record, work, own, model, drives, state)
        estimate_hand(own, measurement, memory, state)

    def control(
        model: RecordArray, goal: RecordArray, memory: RecordArray, state: RecordArray, command: RecordArray
    ) -> None:
        carried_bytes[:] = goal.view(np.uint8)
        limb_control.limb_dynamics(record, work, NO_LOADS, model, goal, carried, memory, drives, state)
        control_hand(own, carried, memory, state, command)

    return Stages(
        estimate=estimate,
        estimator_memory=np.zeros(1, dtype=ESTIMATOR_MEMORY),
        control=control,
        controller_memory=np.zeros(1, dtype=CONTROLLER_MEMORY),
        guard=guard,
        guard_memory=np.zeros(1, dtype=GUARD_MEMORY),
        foreign=True,
    )
