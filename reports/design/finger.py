"""One finger in one pose, asked with the laws of the controller: feasible torques and stiffness."""

from __future__ import annotations

from typing import Final

import numpy as np

from controllers.distribution import distribute
from controllers.memory import new_controller_memory
from controllers.torque_set import feasible_share
from mechanics.coupling import joint_stiffness, tendon_jacobian
from mechanics.kinematics import fingertips, tip_jacobian
from mechanics.springs import stiffness_of_force
from mechanics.wrist import wrist_jacobian
from mechanics.wrist_springs import axis_spring, is_sprung, seen_stiffness, spring_ahead_rad
from signals.layout import FloatArray
from signals.records import RecordArray

BEYOND: Final = 4.0
"""Length of a torque that is surely out of reach, in greatest arms times greatest tensions."""
DIRECTIONS: Final = 360
"""Directions in which a section's edges are looked for: one of less than a degree may be missed."""
SAME: Final = 1e-9
WRIST_STEP_RAD: Final = 1e-5
"""Of the differences for how lever arms about the wrist change."""


class Finger:
    """A finger in a pose.

    Args:
        model: MODEL record, shape (1,).
        index: of the finger.
        q_rad: joint angles, shape (J,) of the record.
    """

    def __init__(self, model: RecordArray, index: int, q_rad: FloatArray) -> None:
        m = model[0]
        self.model, self.index, self._q = model, index, q_rad
        self.joints = [int(j) for j in m["finger_joint"][index, : m["finger_n_joints"][index]]]
        self.tendons = [int(t) for t in m["finger_tendon"][index, : m["finger_n_tendons"][index]]]
        self.pose_rad: FloatArray = q_rad[self.joints]
        self._rows = np.zeros_like(m["P_tj_m"])
        tendon_jacobian(m, q_rad, self._rows)
        self.P: FloatArray = self._rows[np.ix_(self.tendons, self.joints)]
        self.low_n: FloatArray = m["tension_min_n"][self.tendons].astype(float)
        self.high_n: FloatArray = m["tension_max_n"][self.tendons].astype(float)
        self.pretension_n = float(m["pretension_n"][index])
        self._memory = new_controller_memory()

    def _fill(self) -> tuple[int, int]:
        w = self._memory[0]
        n_t, n_j = self.P.shape
        w["A"][:n_t, :n_j] = self.P
        w["low_all"][:n_t] = w["low"][:n_t] = self.low_n
        w["high_all"][:n_t] = w["high"][:n_t] = self.high_n
        return n_t, n_j

    def greatest_torque_nm(self, direction: FloatArray) -> float:
        """Greatest torque along a direction, shape (joints,), that tensions within their bounds give [N m].

        0 also where not even the zero torque can be given.
        """
        w = self._memory[0]
        n_t, n_j = self._fill()
        unit = direction / np.linalg.norm(direction)
        far = BEYOND * float(np.abs(self.P).sum() * self.high_n.max())
        w["target"][:n_j] = -far * unit  # tau = -P^T f
        return far * float(feasible_share(w, n_t, n_j))

    def greatest_torques_nm(self) -> FloatArray:
        """Greatest torque of every joint, the others at zero, to both sides, shape (joints, 2)."""
        eye = np.eye(len(self.joints))
        return np.array([[self.greatest_torque_nm(side * e) for side in (1.0, -1.0)] for e in eye])

    def section_nm(self, a: int, b: int) -> FloatArray:
        """Corners of the feasible torques of two joints, the others at zero, shape (corners, 2) [N m].

        Each direction finds its facet; neighbouring facets meet in a corner. Empty where not even the zero
        torque can be given.
        """
        edges: list[FloatArray] = []
        for turn in np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False):
            way = np.zeros(len(self.joints))
            way[a], way[b] = np.cos(turn), np.sin(turn)
            greatest = self.greatest_torque_nm(way)
            normal = -self._memory[0]["best_normal"][[a, b]]
            size = float(np.hypot(*normal))
            if greatest <= 0.0 or size <= SAME:
                return np.zeros((0, 2))
            edge = np.append(normal, greatest * normal @ way[[a, b]]) / size
            if not edges or np.abs(edge - edges[-1]).max() > SAME:
                edges.append(edge)
        if np.abs(edges[0] - edges[-1]).max() <= SAME:
            edges.pop()
        pairs = [np.array([one, other]) for one, other in zip(edges, edges[1:] + edges[:1], strict=True)]
        return np.array([np.linalg.solve(p[:, :2], p[:, 2]) for p in pairs])

    def held(self, common_n: float) -> tuple[bool, FloatArray]:
        """Whether the zero torque can be held, and the tensions nearest to a common one that do."""
        w = self._memory[0]
        n_t, n_j = self._fill()
        w["torque"][:n_j] = 0.0
        w["preferred"][:n_t] = common_n
        share = distribute(w, n_t, n_j)
        return bool(share > 0.0), w["tension"][:n_t].astype(float).copy()

    def joint_stiffness_nm_rad(self, tension_n: FloatArray) -> FloatArray:
        """Joint stiffness at tensions, shape (tendons,), motors held, shape (joints, joints)."""
        m = self.model[0]
        tension, stiffness = np.zeros(len(self._rows)), np.zeros(len(self._rows))
        tension[self.tendons] = tension_n
        for t, f in zip(self.tendons, tension_n, strict=True):
            stiffness[t] = stiffness_of_force(m, t, float(f))
        K = np.zeros((self._rows.shape[1],) * 2)
        joint_stiffness(m, self._q, tension, stiffness, self._rows, K)
        found: FloatArray = K[np.ix_(self.joints, self.joints)]
        return found

    def whole_pose_rad(self) -> FloatArray:
        """Angles of all joints of the hand, shape (J,) of the record."""
        return self._q.copy()

    def yielding_stiffness_nm_rad(self, tension_n: FloatArray) -> FloatArray | None:
        """As ``joint_stiffness_nm_rad`` where wrist and other fingers give way too, shape (joints, joints).

        The wrist is neutral, the other fingers have their pretension. None without springs at the wrist.
        """
        m = self.model[0]
        nt, nj = int(m["n_tendons"]), int(m["n_joints"])
        if not is_sprung(m):
            return None
        tension = np.zeros(len(self._rows))
        tension[:nt] = m["pretension_n"][m["tendon_finger"][:nt]]
        tension[self.tendons] = tension_n
        stiffness = np.zeros(len(self._rows))
        stiffness[:nt] = [stiffness_of_force(m, t, float(tension[t])) for t in range(nt)]
        K_joints = np.zeros((self._rows.shape[1],) * 2)
        joint_stiffness(m, self._q, tension, stiffness, self._rows, K_joints)
        P_w, bends = self._wrist_rows()
        P = np.hstack([self._rows[:nt, :nj], P_w[:nt]])
        K: FloatArray = (P.T * stiffness[:nt]) @ P
        K[:nj, :nj] = K_joints[:nj, :nj]
        for a in range(2):
            K[nj + a, nj:] += bends[a, :nt].T @ tension[:nt]
            torque = float(P_w[:nt, a] @ tension[:nt])
            K[nj + a, nj + a] += axis_spring(m, a, spring_ahead_rad(m, a, torque))[1]
        return seen_stiffness(K, self.joints)

    def _wrist_rows(self) -> tuple[FloatArray, FloatArray]:
        """P_w of the neutral wrist, shape (T, 2), and its derivative by each axis, shape (2, T, 2)."""
        m = self.model[0]

        def rows(axes: FloatArray) -> FloatArray:
            P_w = np.zeros((len(self._rows), 2))
            wrist_jacobian(m, float(axes[0]), float(axes[1]), P_w)
            return P_w

        neutral, steps = np.array(m["wrist_neutral_rad"]), WRIST_STEP_RAD * np.eye(2)
        bends = [(rows(neutral + d) - rows(neutral - d)) / (2.0 * WRIST_STEP_RAD) for d in steps]
        return rows(neutral), np.array(bends)

    def tip_jacobian_m_rad(self) -> FloatArray | None:
        """Of the fingertip by the finger's own joints, palm frame, shape (3, joints); none without a tip."""
        m = self.model[0]
        if int(m["finger_tip_body"][self.index]) < 0:
            return None
        R, p, _ = self._poses()
        J = np.zeros((3, len(self._q)))
        tip_jacobian(m, self.index, R, p, J)
        return J[:, self.joints]

    def tip_compliance_m_n(self, stiffness_nm_rad: FloatArray) -> FloatArray | None:
        """Compliance of the fingertip, C = J K^-1 J^T, shape (3, 3).

        None without a tip, or where the joints do not stand by themselves (K is not positive definite).
        """
        J = self.tip_jacobian_m_rad()
        even = 0.5 * (stiffness_nm_rad + stiffness_nm_rad.T)
        if J is None or np.linalg.eigvalsh(even)[0] <= 0.0:
            return None
        found: FloatArray = J @ np.linalg.solve(even, J.T)
        return found

    def skeleton_m(self) -> FloatArray:
        """Origins of the finger's bodies from the palm outwards, then its tip, palm frame, shape (n, 3)."""
        m = self.model[0]
        _, p, tips = self._poses()
        bodies = []
        body = int(m["finger_tip_body"][self.index])
        if body < 0:
            body = int(np.flatnonzero(m["body_joint"] == self.joints[-1])[-1])
            bodies = [p[body]]
        else:
            bodies = [tips[self.index]]
        while body > 0:
            bodies.append(p[body])
            body = int(m["body_parent"][body])
        return np.array(bodies[::-1])

    def _poses(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        m = self.model[0]
        n = m["body_parent"].shape[0]
        R, p, tips = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((m["finger_joint"].shape[0], 3))
        fingertips(m, self._q, R, p, tips)
        return R, p, tips
