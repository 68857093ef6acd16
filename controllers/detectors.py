"""All detectors in the order of their weight: the first cause of a finger is the one that is latched."""

from __future__ import annotations

from typing import Any

from controllers.channel_checks import check_channels
from controllers.friction_checks import check_friction
from controllers.hall_checks import check_halls
from controllers.joint_checks import check_joints, check_wrist
from controllers.motor_checks import check_motors
from controllers.residual_checks import check_residuals
from controllers.tension_checks import check_tensions
from signals.compiled import law


@law
def detect(m: Any, mem: Any, z: Any, s: Any) -> None:
    """Latch every fault that this cycle shows, into the state."""
    check_channels(m, mem, z, s)
    check_halls(m, mem, z, s)
    check_motors(m, mem, z, s)
    check_tensions(m, mem, z, s)
    check_wrist(m, mem, z, s)
    check_residuals(m, mem, z, s)
    check_joints(m, mem, s)
    check_friction(m, mem, z, s)
