"""Joint motors by inverse dynamics and PD: the equations make every joint a double integrator.

    tau = ID(q, qd, qdd_d + 2 zeta w (qd_d - qd) + w^2 (q_d - q))

with bandwidth w and damping ratio zeta from the hand file; qdd_d is the filtered rate of the goal's speed. In
JOINT_TORQUE the goal's torque is added to what the pose needs. Gains of the goal are not used: they are
N m/rad for a finger, here the mass matrix scales them.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.dynamics.inverse import inverse
from mechanics.dynamics.systems import Parts
from mechanics.low_pass import filter_share
from signals.compiled import law
from signals.layout import FloatArray, Records, dtype_of
from signals.modes import Mode
from signals.sizes import JOINTS
from signals.typed import Goal, Model, State

FILTER_HZ: Final = 20.0
IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)
JOINT_TORQUE: Final = int(Mode.JOINT_TORQUE)
MOTOR_TORQUE: Final = int(Mode.MOTOR_TORQUE)
MOTOR_POSITION: Final = int(Mode.MOTOR_POSITION)


class InverseDynamicsMemory(Protocol):
    """Memory of the controller."""

    started: int
    goal_speed_rad_s: Annotated[FloatArray, JOINTS]
    goal_rate_rad_s2: Annotated[FloatArray, JOINTS]
    q: Annotated[FloatArray, JOINTS]
    qd: Annotated[FloatArray, JOINTS]
    qdd: Annotated[FloatArray, JOINTS]
    tau: Annotated[FloatArray, JOINTS]


MEMORY: Final = dtype_of(InverseDynamicsMemory)
NO_LOADS: Final[FloatArray] = np.zeros((0, 6))


@law
def goal_rates(m: Model, g: Goal, mem: InverseDynamicsMemory, finger: int) -> None:
    """Filtered rate of the goal's joint speeds [rad/s2]; a mechanism is one "finger" of the records."""
    dt_s = m.dt_s
    share = filter_share(FILTER_HZ, dt_s)
    for k in range(m.finger_n_joints[finger]):
        j, rate = m.finger_joint[finger, k], 0.0
        if mem.started != 0:
            rate = (g.joint_speed_rad_s[j] - mem.goal_speed_rad_s[j]) / dt_s
        mem.goal_rate_rad_s2[j] += share * (rate - mem.goal_rate_rad_s2[j])
        mem.goal_speed_rad_s[j] = g.joint_speed_rad_s[j]
    mem.started = 1


@law
def wanted_accelerations(
    m: Model,
    g: Goal,
    mem: InverseDynamicsMemory,
    s: State,
    finger: int,
    bandwidth_rad_s: float,
    damping: float,
) -> None:
    """Accelerations by PD towards the goal in the mode in force, into ``mem.qdd``."""
    mode = g.finger_mode[finger]
    for k in range(m.finger_n_joints[finger]):
        j = m.finger_joint[finger, k]
        i = m.tendon_motor[m.finger_tendon[finger, k]]
        q, qd = s.joint_angle_rad[j], s.joint_speed_rad_s[j]
        mem.qdd[j] = 0.0
        if mode == IMPEDANCE or mode == MOTOR_POSITION:
            wanted, speed = g.joint_angle_rad[j], g.joint_speed_rad_s[j]
            if mode == MOTOR_POSITION:
                wanted, speed = g.motor_angle_rad[i], g.motor_speed_rad_s[i]
            else:
                mem.qdd[j] = mem.goal_rate_rad_s2[j]
            mem.qdd[j] += bandwidth_rad_s * bandwidth_rad_s * (wanted - q)
            mem.qdd[j] += 2.0 * damping * bandwidth_rad_s * (speed - qd)
            s.ref_joint_angle_rad[j] = wanted
            s.ref_motor_speed_rad_s[i] = speed
        else:
            s.ref_joint_angle_rad[j] = q
            s.ref_motor_speed_rad_s[i] = qd


@law
def inverse_dynamics(
    kind: int,
    parts: Parts,
    home_rad: FloatArray,
    bandwidth_rad_s: float,
    damping: float,
    no_loads: FloatArray,
    model: Records[Model],
    goal: Records[Goal],
    memory: Records[InverseDynamicsMemory],
    state: Records[State],
) -> None:
    """Motor torques of a mechanism with one motor per joint into ``state.ref_motor_torque_nm``.

    Args:
        kind: ``mechanics.dynamics.systems.Kind``.
        parts: the mechanism's records (the controller's own).
        home_rad: mechanism's coordinates where the hand's joint angles are 0, shape (n,).
        bandwidth_rad_s: w.
        damping: zeta.
        no_loads: empty, shape (0, 6).
        model: ``signals.records.MODEL``, shape (1,).
        goal: ``signals.records.GOAL``, shape (1,).
        memory: ``MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,).
    """
    m, g, mem, s = model[0], goal[0], memory[0], state[0]
    n = home_rad.shape[0]
    goal_rates(m, g, mem, 0)
    wanted_accelerations(m, g, mem, s, 0, bandwidth_rad_s, damping)
    for j in range(n):
        mem.q[j] = home_rad[j] + s.joint_angle_rad[j]
        mem.qd[j] = s.joint_speed_rad_s[j]
    inverse(kind, parts, mem.q[:n], mem.qd[:n], mem.qdd[:n], no_loads, mem.tau[:n])
    give_torques(m, g, mem, s, 0)


@law
def give_torques(m: Model, g: Goal, mem: InverseDynamicsMemory, s: State, finger: int) -> None:
    """Torques of the mode in force into ``s``, from what the pose needs in ``mem.tau``, by joint."""
    mode = g.finger_mode[finger]
    s.finger_mode[finger] = mode
    for k in range(m.finger_n_joints[finger]):
        j = m.finger_joint[finger, k]
        i = m.tendon_motor[m.finger_tendon[finger, k]]
        torque = 0.0
        if mode == IMPEDANCE or mode == MOTOR_POSITION:
            torque = mem.tau[j]
        elif mode == JOINT_TORQUE:
            torque = mem.tau[j] + g.joint_torque_nm[j]
        elif mode == MOTOR_TORQUE:
            torque = g.motor_torque_nm[i]
        s.ref_joint_torque_nm[j] = torque
        s.ref_motor_torque_nm[i] = torque
