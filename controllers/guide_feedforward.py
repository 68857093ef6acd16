r"""Feedforward of joint friction and guide losses at the joints, from wanted speeds only.

.. math:: \tau = \kappa\,\bigl(\tau_{fric}(\dot q_d) + P^T\,((f\,\ell + F_b)\,s(v_d))\bigr), \qquad
          v_d = P \dot q_d + \dot h_{wrist,d}

with the joint's own friction (``mechanics.joint_friction``) and with what the guides take of each tension or
add to it (paper eq. (4.1), ``mechanics.guides``: share l, bending's force F_b, smooth sign s). The tensions f
are those wanted a cycle ago.
Along the motion it never does more work than these frictions take, as the gain is at most 1. The measured
speed never enters: where nothing is to move it is zero, so it cannot chatter. It is part of the wanted joint
torque: the distribution keeps the tensions within their bounds with it, the guard all that comes after.

Its tensions stretch the tendons, and what the motors wind for that is no motion of the joints: the joint
feedback, which follows the motors, is told (``mechanics.collocated``). Else it would hold against them.
"""

from __future__ import annotations

from typing import Final

from controllers.feedforward import gain_of
from controllers.memory import ControllerMemory
from mechanics.finger_rows import add_row, along
from mechanics.guides import guided_tension_n
from mechanics.joint_friction import joint_friction_nm
from signals.compiled import law
from signals.typed import Model, State

STRETCH_SHARE: Final = 0.4
"""Share of the feedforward's own stretch that the joint feedback does not take for motion."""


@law
def add_guide_torques(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """Feedforward of finger ``f`` into ``s.guide_torque_nm`` [N m], and added to ``mem.torque``.

    What its change in this cycle stretches each tendon by goes into ``mem.guide_stretch_m``.

    ``mem`` holds the finger's wanted joint speeds, and those of its tendons' paths in ``path_m_s``.
    """
    gain = gain_of(m.guide_gain, m.use_guides)
    if gain == 0.0:
        return
    n_tendons, v0, guide_v0 = m.finger_n_tendons[f], m.joint_friction_speed_rad_s, m.guide_speed_m_s
    for k in range(n_tendons):
        t = m.finger_tendon[f, k]
        tension, v = mem.ref_tension_n[t], mem.path_m_s[k]
        behind, _ = guided_tension_n(tension, m.guide_loss_frac[t], m.guide_bending_n[t], v, guide_v0)
        mem.other_row[k], mem.guide_row[k] = behind - tension, 0.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        own, _ = joint_friction_nm(
            mem.joint_speed_rad_s[j], m.joint_viscous_nms_rad[j], m.joint_coulomb_nm[j], v0
        )
        torque = gain * (own + along(mem.P_fbk_m[f, b], mem.other_row, n_tendons))
        change = STRETCH_SHARE * (torque - s.guide_torque_nm[j])
        add_row(mem.guide_row, -change, mem.pinv_fbk_1_m[f, b], n_tendons)
        s.guide_torque_nm[j] = torque
        mem.torque[b] += torque
    for k in range(n_tendons):
        t = m.finger_tendon[f, k]
        mem.guide_stretch_m[t] = mem.guide_row[k] / max(s.tendon_stiffness_n_m[t], 1.0)
