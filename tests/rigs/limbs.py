"""Hands on what carries them: a limb's parts, and the same tree in Pinocchio with its wrist projected."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

from hand.options import RunOptions
from mechanics.dynamics.bodies import Body
from mechanics.dynamics.records import JointKind
from runtime.limb_hand import LimbHand, read_as_hand
from signals.records import TRUTH, new

SUBSPACE = Callable[[np.ndarray, np.ndarray], tuple[pin.SE3, np.ndarray, np.ndarray]]
"""(q, qd) of a custom joint -> pose in its parent, S, (dS/dt) qd; body axes, linear part first."""


@cache
def hand_named(name: str) -> Any:
    """The hand of a run; read only."""
    return read_as_hand(RunOptions(hand=name, lockstep=True, seconds=1.0))


def limb_of(name: str) -> LimbHand:
    """Its limb."""
    limb = hand_named(name).mechanism
    assert isinstance(limb, LimbHand)
    return limb


def bus_of(name: str, **options: Any) -> Any:
    """A limb's plant; ``options`` of ``sim.options.SimOptions`` are the caller's to change before a step."""
    hand = hand_named(name)
    chosen = RunOptions(hand=name, lockstep=True, seconds=1.0, **options)
    return hand.mechanism.bus(hand.model, chosen, new(TRUTH), None)


class Projected:
    """Bodies in Pinocchio; a custom joint is a free flyer there, coupled hinges have their own coordinate.

    Args:
        bodies: parents first, subtrees without gaps.
        dofs: coordinates of the tree that is compared.
        gravity: in the world.
        subspace: kinematics of the one custom joint.
        armature: of each of ``dofs``.
    """

    def __init__(
        self,
        bodies: list[Body],
        dofs: tuple[str, ...],
        gravity: tuple[float, ...],
        subspace: SUBSPACE,
        armature: np.ndarray,
    ) -> None:
        self.bodies, self.dofs, self.subspace, self.armature = bodies, dofs, subspace, armature
        model = pin.Model()
        model.gravity.linear = np.array(gravity)
        joint_of: dict[str | None, int] = {None: 0}
        placed: dict[str | None, pin.SE3] = {None: pin.SE3.Identity()}
        self.joints: list[tuple[Body, int]] = []
        for b in bodies:
            here, joint = placed[b.parent] * pin.SE3(b.R_PB, b.p_PB_m), joint_of[b.parent]
            if b.joint.kind != JointKind.FIXED:
                custom = b.joint.kind == JointKind.CUSTOM
                made = (
                    pin.JointModelFreeFlyer()
                    if custom
                    else pin.JointModelRevoluteUnaligned(np.array(b.joint.axis))
                )
                joint, here = model.addJoint(joint, made, here, b.name), pin.SE3.Identity()
                self.joints.append((b, joint))
            joint_of[b.name], placed[b.name] = joint, here
            if joint > 0:
                inertia = pin.Inertia(b.mass_kg, np.array(b.com_m), np.array(b.inertia_kg_m2))
                model.appendBodyToJoint(joint, inertia, here)
        self.model, self.data = model, model.createData()

    def equations(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix and bias by ``dofs``: G^T M G and G^T (M dG/dt qd + h)."""
        m, n = self.model, len(self.dofs)
        theirs, G, drift = pin.neutral(m), np.zeros((m.nv, n)), np.zeros(m.nv)
        for b, joint in self.joints:
            at, v = m.joints[joint].idx_q, m.joints[joint].idx_v
            if b.joint.kind == JointKind.CUSTOM:
                columns = [self.dofs.index(name) for name in b.joint.coordinates]
                pose, S, rate = self.subspace(q[columns], qd[columns])
                theirs[at : at + 7] = pin.SE3ToXYZQUAT(pose)
                G[v : v + 6, columns], drift[v : v + 6] = S, rate
            elif b.joint.parent_ratio is not None:
                d = self.dofs.index(str(b.parent))
                theirs[at], G[v, d] = b.joint.parent_ratio * q[d], b.joint.parent_ratio
            else:
                d = self.dofs.index(b.name)
                theirs[at], G[v, d] = q[d], 1.0
        M = pin.crba(m, self.data, theirs)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(m, self.data, theirs, G @ qd)
        return G.T @ M @ G + np.diag(self.armature), G.T @ (M @ drift + h)
