"""Bounds of every number that a client may send, from the hand's model alone.

What no hand can do is refused before it is tried: a torque that the tendons cannot give, a speed that the
motors do not have, a stiffness that the springs do not reach, a gain far beyond the hand's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mechanics.coupling import tendon_jacobian
from mechanics.springs import stiffness_of_force
from mechanics.wrist import wrist_lengths
from signals.layout import FloatArray
from signals.records import RecordArray

GAIN_TIMES: Final = 4.0
"""Impedance and damping may be this many times the hand's own: the loop was tuned for those."""

SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of a joint's range: halves would miss the longest arm of a thumb's base by 4 %."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and greatest value of each argument of ``goal``, arrays of the argument's index space.

    Attributes:
        ranges: argument -> (low, high) in SI.
        motor_travel_rad: how far a motor goal may be from the measured angle, shape (I,).
    """

    ranges: dict[str, tuple[FloatArray, FloatArray]]
    motor_travel_rad: FloatArray

    def of(self, argument: str, index: int, motor_now_rad: Any = None) -> tuple[float, float]:
        """Range of one value; a motor's is around ``motor_now_rad``, the measured angles (default 0)."""
        if argument == "motors":
            centre = 0.0 if motor_now_rad is None else float(motor_now_rad[index])
            return centre - self.motor_travel_rad[index], centre + self.motor_travel_rad[index]
        low, high = self.ranges[argument]
        return float(low[index]), float(high[index])


def goal_bounds(model: RecordArray) -> Bounds:
    """The bounds of a hand.

    Args:
        model: model record, shape (1,).
    """
    m = model[0]
    arms = _arms(m)
    low_torque, high_torque = _joint_torques(m, arms)
    speed, stiffness = _joint_speeds(m, arms), _stiffnesses(m, arms)
    low_common, high_common = _pretension(m)
    ranges: dict[str, tuple[FloatArray, FloatArray]] = {
        "joints": (m["joint_min_rad"], m["joint_max_rad"]),
        "joint_speeds": (-speed, speed),
        "joint_torques": (low_torque, high_torque),
        "tensions": (m["tension_min_n"], m["tension_max_n"]),
        "tension_rates": _both(np.full(len(m["tension_max_n"]), float(m["tension_rate_n_s"]))),
        "motor_speeds": _both(m["motor_speed_limit_rad_s"]),
        "motor_torques": _both(m["motor_torque_limit_nm"]),
        "axes": (m["axis_min_rad"], m["axis_max_rad"]),
        "axis_speeds": _both(m["axis_speed_limit_rad_s"]),
        "impedances": _from_zero(GAIN_TIMES * m["joint_impedance_nm_rad"]),
        "dampings": _from_zero(GAIN_TIMES * m["joint_damping_nms_rad"]),
        "stiffnesses": _from_zero(stiffness),
        "pretension": (low_common, high_common),
    }
    return Bounds(ranges, _motor_travel(m, arms))


def _both(high: FloatArray) -> tuple[FloatArray, FloatArray]:
    return -high, high


def _from_zero(high: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.zeros_like(high), high


def _arms(m: Any) -> FloatArray:
    """P = dh/dq [m/rad] at poses over the joints' ranges, shape (25, T, J): a thumb's depends on them."""
    n_tendons, n_joints = int(m["n_tendons"]), int(m["n_joints"])
    odd = np.zeros(n_joints, dtype=np.bool_)
    for f in range(int(m["n_fingers"])):
        odd[m["finger_joint"][f, 1 : int(m["finger_n_joints"][f]) : 2]] = True
    least, most = m["joint_min_rad"][:n_joints], m["joint_max_rad"][:n_joints]
    found = []
    for share in SHARES:
        for odd_share in SHARES:
            q = least + np.where(odd, odd_share, share) * (most - least)
            P = np.zeros((n_tendons, n_joints))
            tendon_jacobian(m, q, P)
            found.append(P)
    return np.array(found)


def _tendon_forces(m: Any) -> tuple[FloatArray, FloatArray]:
    """Least and greatest force [N] of each tendon, shape (T,); without tensions, what the motor gives."""
    n = int(m["n_tendons"])
    low, high = m["tension_min_n"][:n].copy(), m["tension_max_n"][:n].copy()
    for t in range(n):
        if high[t] <= 0.0:  # a rigid drive stands in the tendon's place and pushes as well as it pulls
            high[t] = m["motor_torque_limit_nm"][m["tendon_motor"][t]] / abs(m["spool_radius_m"][t])
            low[t] = -high[t]
    return low, high


def _spread(values: FloatArray, size: int) -> FloatArray:
    out = np.zeros(size)
    out[: len(values)] = values
    return out


def _joint_torques(m: Any, arms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Interval of ``-P^T f`` [N m] over all tensions, wide enough for every pose."""
    weak, strong = (force[None, :, None] for force in _tendon_forces(m))
    one, other = -arms * weak, -arms * strong
    size = len(m["joint_min_rad"])
    low = np.minimum(one, other).sum(axis=1).min(axis=0)
    high = np.maximum(one, other).sum(axis=1).max(axis=0)
    return _spread(np.minimum(low, 0.0), size), _spread(np.maximum(high, 0.0), size)


def _joint_speeds(m: Any, arms: FloatArray) -> FloatArray:
    """Joint speed [rad/s] at which the first of its tendons' motors is at its limit, at the best pose."""
    n = int(m["n_tendons"])
    winding = m["motor_speed_limit_rad_s"][m["tendon_motor"][:n]] * abs(m["spool_radius_m"][:n])
    slowest = (np.abs(arms) / np.maximum(winding, 1e-12)[None, :, None]).max(axis=1).min(axis=0)
    fastest = np.where(slowest > 0.0, 1.0 / np.maximum(slowest, 1e-12), 0.0)
    return _spread(fastest, len(m["joint_min_rad"]))


def _stiffnesses(m: Any, arms: FloatArray) -> FloatArray:
    """Diagonal of ``P^T K P`` [N m/rad] with every tendon at its greatest tension, at the stiffest pose."""
    n = int(m["n_tendons"])
    tendon = np.array([stiffness_of_force(m, t, float(m["tension_max_n"][t])) for t in range(n)])
    stiffest = (arms**2 * tendon[None, :, None]).sum(axis=1).max(axis=0)
    return _spread(stiffest, len(m["joint_min_rad"]))


def _pretension(m: Any) -> tuple[FloatArray, FloatArray]:
    """Co-contraction [N] that every tendon of the finger can carry, shape (F,)."""
    low, high = np.zeros(len(m["pretension_n"])), np.zeros(len(m["pretension_n"]))
    for f in range(int(m["n_fingers"])):
        tendons = m["finger_tendon"][f, : int(m["finger_n_tendons"][f])]
        low[f] = m["tension_min_n"][tendons].max(initial=0.0)
        high[f] = m["tension_max_n"][tendons].min() if len(tendons) else 0.0
    return low, high


def _motor_travel(m: Any, arms: FloatArray) -> FloatArray:
    """Motor angle [rad] that joints, spring, tendon and wrist take from end to end, shape (I,)."""
    n, n_joints = int(m["n_tendons"]), int(m["n_joints"])
    width = (m["joint_max_rad"] - m["joint_min_rad"])[:n_joints]
    path = np.abs(arms).max(axis=0) @ width + _wrist_path(m)
    path += np.ptp(m["spring_path_m"][m["tendon_spring"][:n]], axis=1)
    path += m["tension_max_n"][:n] * m["tendon_compliance_m_n"][:n]
    travel = np.zeros(len(m["motor_torque_limit_nm"]))
    np.maximum.at(travel, m["tendon_motor"][:n], path / abs(m["spool_radius_m"][:n]))
    return travel


def _wrist_path(m: Any) -> FloatArray:
    """Path [m] that the wrist's whole range takes from each tendon, shape (T,)."""
    n = int(m["n_tendons"])
    if int(m["n_axes"]) == 0:
        return np.zeros(n)
    (a, b), (c, d) = ((m["axis_min_rad"][k], m["axis_max_rad"][k]) for k in range(2))
    lengths = np.zeros((25, n))
    for k, (one, other) in enumerate((x, y) for x in np.linspace(a, b, 5) for y in np.linspace(c, d, 5)):
        wrist_lengths(m, float(one), float(other), lengths[k])
    return np.asarray(np.ptp(lengths, axis=0), dtype=np.float64)
