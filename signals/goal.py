"""The goal that a hand begins with."""

from __future__ import annotations

from signals.modes import Mode
from signals.records import GOAL, RecordArray, new


def default_goal(model: RecordArray, pretension_n: float | None = None) -> RecordArray:
    """Goal record, shape (1,): every finger in joint impedance at zero with the hand's own gains."""
    goal, m = new(GOAL), model[0]
    n_fingers = int(m["n_fingers"])
    goal["finger_mode"][0, :n_fingers] = int(Mode.JOINT_IMPEDANCE)
    goal["joint_impedance_nm_rad"][0] = m["joint_impedance_nm_rad"]
    goal["joint_damping_nms_rad"][0] = m["joint_damping_nms_rad"]
    goal["pretension_n"][0] = m["pretension_n"]
    if pretension_n is not None:
        goal["pretension_n"][0, :n_fingers] = pretension_n
    if int(m["n_axes"]):
        goal["axis_angle_rad"][0] = m["wrist_neutral_rad"]
    return goal
