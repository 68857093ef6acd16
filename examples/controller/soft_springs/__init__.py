"""A controller of your own in the place of flexor's: joint springs of one common stiffness, in plain Python.

Install it (``pip install .``), run it from this folder, or put the folder into PYTHONPATH:

    flexor run finger_bench --set controller=soft_springs:control --motion open_close --for 10

or name it for good at the top of a copy of the hand file:

    controller = "soft_springs:control"

A controller is any callable with this signature, plain Python or compiled with ``numba.njit``. It reads goal
and estimated state and writes one thing: ``state.ref_motor_torque_nm``, the torque [N m] wanted of every
motor (with a wrist also ``command.axis_angle_rad``). The guard runs after it with the last word: limits,
detectors and state machine stay the same, and only fingers in state ACTIVE get what is asked here.

``MEMORY`` is optional: the dtype of a record that is kept for you between two cycles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ACTIVE = 3
STIFFNESS_NM_RAD = 1.5
DAMPING_NMS_RAD = 0.01
FADE_IN_S = 0.5

MEMORY = np.dtype([("active_s", "f8"), ("start_nm", "f8", (64,))], align=True)


def control(model: Any, goal: Any, memory: Any, state: Any, command: Any) -> None:
    """Joint springs, tensions by pseudo-inverse around the pretension, a proportional tension loop.

    Args:
        model: the hand, ``signals.records.MODEL``, shape (1,).
        goal: what is wanted, ``signals.records.GOAL``, shape (1,).
        memory: your own record, ``MEMORY``, shape (1,).
        state: what is estimated, ``signals.records.STATE``, shape (1,); receives ``ref_motor_torque_nm``.
        command: receives wrist angles where there is a wrist.
    """
    m, s, mem = model[0], state[0], memory[0]
    n_joints, n_tendons = int(m["n_joints"]), int(m["n_tendons"])
    torque = s["ref_motor_torque_nm"]
    if s["machine"] != ACTIVE:
        torque[:] = 0.0
        mem["active_s"] = 0.0
        mem["start_nm"][:] = s["motor_torque_nm"]
        return

    P_tj_m = m["P_tj_m"][:n_tendons, :n_joints]
    pinv_jt = m["pinv_jt_1_m"][:n_joints, :n_tendons]
    q_error = goal["joint_angle_rad"][0, :n_joints] - s["joint_angle_rad"][:n_joints]
    tau = STIFFNESS_NM_RAD * q_error - DAMPING_NMS_RAD * s["joint_speed_rad_s"][:n_joints]
    common = m["pretension_n"][m["tendon_finger"][:n_tendons]]
    wanted = np.clip(common - pinv_jt.T @ tau, m["tension_min_n"][:n_tendons], m["tension_max_n"][:n_tendons])

    motors = m["tendon_motor"][:n_tendons]
    missing = wanted - s["tension_n"][:n_tendons]
    new = m["spool_radius_m"][:n_tendons] * wanted + m["tension_kp_nm_n"] * missing
    new -= m["tension_kd_nms_rad"] * s["motor_speed_rad_s"][motors]

    # begin where the motors are: the guard limits the rate, but a smooth start is the controller's job
    mem["active_s"] += m["dt_s"]
    share = min(float(mem["active_s"]) / FADE_IN_S, 1.0)
    torque[motors] = share * new + (1.0 - share) * mem["start_nm"][motors]
    s["ref_tension_n"][:n_tendons] = wanted
    s["ref_joint_torque_nm"][:n_joints] = tau
    s["cmd_joint_torque_nm"][:n_joints] = -P_tj_m.T @ wanted
