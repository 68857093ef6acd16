r"""Fingers of kind SPRUNG: what fewer lines than joints can do, for goals that name every joint.

With G = K^-1 P^T (P K^-1 P^T)^-1 (``model.pinv_jt_1_m`` there) the joints move by q = G h as long as nothing
else holds them, and do the work of the tensions f on the way: G^T tau = -f. So a wish for angles becomes the
pose at the lengths that they would have, and a wish for torques the tensions that do the same work:

.. math:: q_d \leftarrow s\,G P q_d, \qquad f = -G^T \tau

These tensions are those of ``controllers.free_tensions``, whatever is preferred. A pose beyond a joint's
range is taken back towards the start pose by the share s. Both are projections: what can be done stays so.
"""

from __future__ import annotations

from typing import Final

from controllers.memory import ControllerMemory
from mechanics.finger_rows import add_row, along
from mechanics.passive_rows import rows_torque_nm
from signals.compiled import law
from signals.modes import FingerKind
from signals.typed import Goal, Model, State

SPRUNG: Final = int(FingerKind.SPRUNG)


@law
def share_within(angle: float, low: float, high: float) -> float:
    """Greatest share 0..1 of an angle that lies in a range around 0."""
    if angle > high:
        return high / angle
    if angle < low:
        return low / angle
    return 1.0


@law
def bring_within_reach(m: Model, goal: Goal, mem: ControllerMemory, f: int) -> None:
    """Joint angles [rad] and speeds [rad/s] of the goal of finger ``f``: what its lines can do of them."""
    n_tendons, n_joints, share = m.finger_n_tendons[f], m.finger_n_joints[f], 1.0
    for k in range(n_tendons):
        mem.row[k] = mem.other_row[k] = 0.0
    for b in range(n_joints):
        j = m.finger_joint[f, b]
        add_row(mem.row, goal.joint_angle_rad[j], mem.P_fbk_m[f, b], n_tendons)
        add_row(mem.other_row, goal.joint_speed_rad_s[j], mem.P_fbk_m[f, b], n_tendons)
    for b in range(n_joints):
        j = m.finger_joint[f, b]
        angle = along(mem.pinv_fbk_1_m[f, b], mem.row, n_tendons)
        share = min(share, share_within(angle, m.joint_min_rad[j], m.joint_max_rad[j]))
    for b in range(n_joints):
        j, inverse = m.finger_joint[f, b], mem.pinv_fbk_1_m[f, b]
        goal.joint_angle_rad[j] = share * along(inverse, mem.row, n_tendons)
        goal.joint_speed_rad_s[j] = along(inverse, mem.other_row, n_tendons) if share == 1.0 else 0.0


@law
def spring_tension_n(m: Model, mem: ControllerMemory, s: State, f: int, k: int) -> float:
    """Tension [N] of tendon number ``k`` of finger ``f`` that holds its springs at the joint references."""
    tension = 0.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        way = m.joint_rest_rad[j] - s.ref_joint_angle_rad[j]
        tension += mem.pinv_fbk_1_m[f, b, k] * m.joint_spring_nm_rad[j] * way
        tension -= mem.pinv_fbk_1_m[f, b, k] * rows_torque_nm(m, j, s.ref_joint_angle_rad)
    return tension


@law
def within_bounds(m: Model, mem: ControllerMemory, f: int) -> float:
    """Bring tensions [N] of finger ``f`` in ``mem.tension`` within their bounds; the share that is left."""
    share = 1.0
    for k in range(m.finger_n_tendons[f]):
        wanted, most = mem.tension[k], mem.high_all[k]
        if wanted > most:
            share = min(share, most / wanted)
        mem.tension[k] = min(max(wanted, mem.low_all[k]), most)
    return share
