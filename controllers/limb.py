"""Joint motors of what carries a hand, by inverse dynamics of the whole limb: the hand is no disturbance.

    tau = [ID(q, qd, qdd)] of the carrier's joints,  qdd = qdd_d + 2 zeta w (qd_d - qd) + w^2 (q_d - q)

with the fingers and the wrist where they are measured, at rest: what they weigh and resist is given, what
they do while they move is left to the feedback. Gravity turns with the carrier, and its motion throws the
fingers about; what both ask of the fingers' joints is added to their torque.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from controllers.inverse_dynamics import (
    IMPEDANCE,
    InverseDynamicsMemory,
    give_torques,
    goal_rates,
    wanted_accelerations,
)
from controllers.memory import ControllerMemory
from estimators.carried import CarriedMemory
from mechanics.dynamics.records import N_DOFS, TreeRecord, TreeWork
from mechanics.dynamics.rnea import rnea
from signals.compiled import law
from signals.layout import FloatArray, IntArray, Records, dtype_of
from signals.sizes import AXES
from signals.typed import Goal, Model, State


class LimbMemory(InverseDynamicsMemory, CarriedMemory, Protocol):
    """Memory of the carrier's controller, and of what is estimated of the tendons over its joints."""

    bandwidth_rad_s: float
    damping_ratio: float
    axis_dof: Annotated[IntArray, AXES]
    tree_qd: Annotated[FloatArray, N_DOFS]
    tree_qdd: Annotated[FloatArray, N_DOFS]
    tree_tau: Annotated[FloatArray, N_DOFS]


MEMORY: Final = dtype_of(LimbMemory)


@law
def limb_dynamics(
    tree: Records[TreeRecord],
    work: Records[TreeWork],
    no_loads: FloatArray,
    model: Records[Model],
    goal: Records[Goal],
    carried: Records[Goal],
    carried_memory: Records[ControllerMemory],
    memory: Records[LimbMemory],
    state: Records[State],
) -> None:
    """Motor torques of the carrier into ``state.ref_motor_torque_nm``.

    Args:
        tree: carrier and hand as one tree, the controller's own.
        work: its scratch.
        no_loads: empty, shape (0, 6).
        model: of the whole limb, ``signals.records.MODEL``, shape (1,).
        goal: ``signals.records.GOAL``, shape (1,).
        carried: a copy of it for the hand's own controller; its joints get the torque of their weight added.
        carried_memory: of the hand's own controller; gets the speeds of paths over the carrier's joints.
        memory: ``MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,).
    """
    m, g, mem, s = model[0], goal[0], memory[0], state[0]
    f = mem.finger
    goal_rates(m, g, mem, f)
    wanted_accelerations(m, g, mem, s, f, mem.bandwidth_rad_s, mem.damping_ratio)
    for a in range(m.n_axes):
        mem.tree_q[mem.axis_dof[a]] = s.axis_angle_rad[a]
    for j in range(m.n_joints):
        mem.tree_q[mem.joint_dof[j]] = mem.home_rad[j] + s.joint_angle_rad[j]
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        mem.tree_qd[mem.joint_dof[j]] = s.joint_speed_rad_s[j]
        mem.tree_qdd[mem.joint_dof[j]] = mem.qdd[j]
    rnea(tree, mem.tree_q, mem.tree_qd, mem.tree_qdd, no_loads, work, mem.tree_tau)
    for j in range(m.n_joints):
        mem.tau[j] = mem.tree_tau[mem.joint_dof[j]]
        carried[0].joint_torque_nm[j] += mem.tau[j]
    if mem.palm.frame >= 0:
        bear_tendons(m, g, mem, s, carried_memory[0])
    give_torques(m, g, mem, s, f)


@law
def bear_tendons(m: Model, g: Goal, mem: LimbMemory, s: State, hand: ControllerMemory) -> None:
    """Tendons over the carrier's joints: their pull P^T f is borne, their paths' speed P qd_d is told."""
    f, P = mem.finger, mem.palm.P_m
    following = g.finger_mode[f] == IMPEDANCE
    for t in range(m.n_tendons - m.finger_n_tendons[f]):
        speed = 0.0
        for k in range(m.finger_n_joints[f]):
            j = m.finger_joint[f, k]
            mem.tau[j] += P[t, k] * s.tension_n[t]
            speed += P[t, k] * g.joint_speed_rad_s[j] if following else 0.0
        hand.wrist_speed_m_s[t] = speed if m.use_wrist != 0 else 0.0
