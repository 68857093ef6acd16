r"""Position loops of the simulated drives: what a device does by itself with an angle as its goal.

.. math:: \tau = \mathrm{clip}(k\,\mathrm{dead}(\theta_d - \theta) - d\,\omega,\ \pm k_t i_{max})

A goal beyond the device's travel is taken as the end of it. The loop runs at the rate of the substeps, and
within its current it is stepped implicitly: a stiff loop on a light rotor is stable at any step.
"""

from __future__ import annotations

from typing import Final

from mechanics.motor import torque_bounds_nm
from signals.compiled import law
from signals.modes import DriveCommand, MotorMode
from signals.typed import Model
from sim.plant_record import PlantRecord

POSITION: Final = int(MotorMode.POSITION)
WITH_CURRENT: Final = int(DriveCommand.CURRENT_POSITION)


@law
def take_goal(m: Model, p: PlantRecord, i: int, angle_rad: float) -> None:
    """Goal and greatest current of servo ``i``; what is not a number leaves the goal as it is."""
    p.n_servos += 1
    if m.motor_command[i] == WITH_CURRENT:
        p.servo_current_a[i] = abs(p.current_a[i])
    else:
        p.servo_current_a[i] = m.motor_current_limit_a[i]
    if p.motor_enabled[i] != POSITION:
        p.current_a[i] = 0.0
    if angle_rad == angle_rad:
        p.servo_goal_rad[i] = min(max(angle_rad, m.servo_min_rad[i]), m.servo_max_rad[i])


@law
def servo_torques(m: Model, p: PlantRecord, h: float) -> None:
    """Torques [N m] of the servos into ``p.motor_torque_nm``, and what they lose per speed in a step [s]."""
    for i in range(m.n_motors):
        p.servo_slope_nms_rad[i] = 0.0
        if p.motor_enabled[i] != POSITION or p.motor_lost[i] != 0:
            continue
        w, dead, k = p.w_rad_s[i], m.servo_deadband_rad[i], m.servo_stiffness_nm_rad[i]
        missing = p.servo_goal_rad[i] - p.theta_rad[i]
        missing -= min(max(missing, -dead), dead)
        wanted = k * missing - m.servo_damping_nms_rad[i] * w
        most = m.motor_torque_constant_nm_a[i] * p.servo_current_a[i]
        low, high = torque_bounds_nm(m, i, w)
        low, high = max(low, -most), min(high, most)
        p.motor_torque_nm[i] = min(max(wanted, low), high)
        if low < wanted < high:
            p.servo_slope_nms_rad[i] = m.servo_damping_nms_rad[i] + (h * k if missing != 0.0 else 0.0)


@law
def give_way(m: Model, p: PlantRecord) -> None:
    """What a servo's torque [N m] became by the motion of the step itself."""
    for i in range(m.n_motors):
        p.motor_torque_nm[i] -= p.servo_slope_nms_rad[i] * p.motor_kick_rad_s[i]
