"""Every signal, once: name, unit, shape, kind, meaning, room of origin, key in the live topics.

From these lines come the records' dtypes, the shared-memory layout, the telemetry messages, the log
schema, the classes of ``signals.typed`` and the reference page in the docs. A new signal is one line;
``./dev signals`` writes the two files that are made from it.

Columns of ``_ROWS``: name | unit | shape | kind | origin | meaning [| live]. Shape names index spaces of
``signals.sizes.EXTENTS`` joined by ``x``; ``-`` is a scalar. Kinds: f8, i8, u8, i4, u4. Names of physical
quantities carry their unit as suffix. Live is the key of the signal in the topics ``view`` and ``raw``, for a
signal of one motor, tendon, joint, finger or axis each; without it the signal is logged only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from signals.sizes import EXTENTS


@dataclass(frozen=True, slots=True)
class Signal:
    """One line of the table."""

    record: str
    name: str
    unit: str
    dims: tuple[str, ...]
    kind: str
    origin: str
    meaning: str
    live: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Capacity along each dimension."""
        return tuple(EXTENTS[d] for d in self.dims)


LIVE_DIMS: Final = (("motor",), ("tendon",), ("joint",), ("finger",), ("axis",))
"""Shapes of signals that may be live: their parts have names."""

_ROWS: Final[dict[str, str]] = {
    "measurement": """
time_ns                    | ns    | -      | i8 | drivers | monotonic time at which the exchange was complete
seq                        | 1     | -      | u8 | drivers | number of the exchange
motor_time_ns              | ns    | motor  | i8 | drivers | monotonic time of the motor's sample
hall_time_ns               | ns    | tendon | i8 | drivers | monotonic time of the Hall sample
axis_time_ns               | ns    | axis   | i8 | drivers | monotonic time of the wrist axis' sample
joint_time_ns              | ns    | joint  | i8 | drivers | monotonic time of the joint sensor's sample
motor_angle_rad            | rad   | motor  | f8 | drivers | motor angle at the gear output, positive winds the tendon in | motor
motor_speed_rad_s          | rad/s | motor  | f8 | drivers | motor speed at the gear output, from the device
motor_current_a            | A     | motor  | f8 | drivers | torque-producing motor current | current
motor_temperature_degc     | degC  | motor  | f8 | drivers | temperature reported by the motor (case)
axis_angle_rad             | rad   | axis   | f8 | drivers | wrist axis angle from its potentiometer
hall_fine_count            | count | tendon | f8 | drivers | Hall count with fraction where the device filters; equals hall_count else
joint_count                | count | joint  | f8 | drivers | count of the sensor at the joint, with fraction where the device filters
hall_count                 | count | tendon | i4 | drivers | raw count in the tendon's channel: of its lever's Hall sensor, of its force, of a difference of forces
motor_status               | bits  | motor  | u4 | drivers | signals.modes.ChannelStatus bits
hall_status                | bits  | tendon | u4 | drivers | signals.modes.ChannelStatus bits
axis_status                | bits  | axis   | u4 | drivers | signals.modes.ChannelStatus bits
joint_status               | bits  | joint  | u4 | drivers | signals.modes.ChannelStatus bits
""",
    "command": """
time_ns                    | ns    | -      | i8 | controllers | monotonic time at which the command was computed
seq                        | 1     | -      | u8 | controllers | number of the cycle that computed it
motor_current_a            | A     | motor  | f8 | controllers | wanted current, motor_mode CURRENT
motor_angle_rad            | rad   | motor  | f8 | controllers | wanted angle, motor_mode POSITION (device's own loop)
axis_angle_rad             | rad   | axis   | f8 | controllers | wanted wrist axis angle
motor_mode                 | enum  | motor  | u4 | controllers | signals.modes.MotorMode
axis_enable                | bool  | axis   | u4 | controllers | 1: the wrist drive may move
""",
    "goal": """
seq                        | 1      | -      | u8 | runtime | number of the goal
time_ns                    | ns     | -      | i8 | runtime | monotonic time at which the goal was received; 0: a motion, never ages
request_seq                | 1      | -      | u8 | runtime | number of the latest request
request                    | enum   | -      | i8 | runtime | signals.modes.Request
motor_angle_rad            | rad    | motor  | f8 | runtime | goal of MOTOR_POSITION
motor_speed_rad_s          | rad/s  | motor  | f8 | runtime | its derivative
motor_torque_nm            | N m    | motor  | f8 | runtime | goal of MOTOR_TORQUE
tendon_force_n             | N      | tendon | f8 | runtime | goal of TENDON_FORCE
tendon_force_rate_n_s      | N/s    | tendon | f8 | runtime | its derivative
joint_angle_rad            | rad    | joint  | f8 | runtime | goal of JOINT_IMPEDANCE
joint_speed_rad_s          | rad/s  | joint  | f8 | runtime | its derivative
joint_torque_nm            | N m    | joint  | f8 | runtime | goal of JOINT_TORQUE; added in JOINT_IMPEDANCE
joint_impedance_nm_rad     | N m/rad | joint | f8 | runtime | impedance gain (a want of the controller)
joint_damping_nms_rad      | N m s/rad | joint | f8 | runtime | damping gain
joint_stiffness_nm_rad     | N m/rad | joint | f8 | runtime | mechanical stiffness wanted by co-contraction; 0: pretension only
pretension_n               | N      | finger | f8 | runtime | co-contraction of the finger
axis_angle_rad             | rad    | axis   | f8 | runtime | wrist axis goal
axis_speed_rad_s           | rad/s  | axis   | f8 | runtime | its derivative
finger_mode                | enum   | finger | u4 | runtime | signals.modes.Mode
""",
    "state": """
tick                       | 1     | -      | u8 | runtime     | number of the cycle
time_ns                    | ns    | -      | i8 | runtime     | monotonic time of the cycle's measurement
dt_s                       | s     | -      | f8 | runtime     | real, bounded time since the previous cycle
machine                    | enum  | -      | i8 | controllers | signals.modes.MachineState
hand_cause                 | code  | -      | i8 | controllers | latched signals.faults.Cause of the whole hand
hand_cause_part            | index | -      | i8 | controllers | index of the part in the space of its cause (signals.faults), -1: all of it
hand_cause_value           | 1     | -      | f8 | controllers | figure of the cause
hand_cause_limit           | 1     | -      | f8 | controllers | its limit
tension_n                  | N     | tendon | f8 | estimators  | tendon force read from the lever | tension
tendon_stiffness_n_m       | N/m   | tendon | f8 | estimators  | stiffness of spring and tendon in series
lever_angle_rad            | rad   | tendon | f8 | estimators  | lever angle from the Hall count
elongation_m               | m     | tendon | f8 | estimators  | elastic elongation of spring and tendon
motor_angle_rad            | rad   | motor  | f8 | estimators  | motor angle in use: the last good value
motor_speed_rad_s          | rad/s | motor  | f8 | estimators  | filtered motor speed
tendon_length_m            | m     | tendon | f8 | estimators  | measured path length in the finger, wrist removed
residual_m                 | m     | tendon | f8 | estimators  | part of the lengths that no joint angle explains
residual_unexplained_m     | m     | tendon | f8 | estimators  | residual without the share that wrist_error_rad explains
joint_angle_rad            | rad   | joint  | f8 | estimators  | estimated joint angle | pos
joint_speed_rad_s          | rad/s | joint  | f8 | estimators  | estimated, filtered joint speed | vel
joint_sensor_error_rad     | rad   | joint  | f8 | estimators  | what the joint's sensor says beyond what tendons and motors tell
joint_torque_nm            | N m   | joint  | f8 | estimators  | joint torque of the measured tensions | torque
axis_angle_rad             | rad   | axis   | f8 | estimators  | wrist axis angle in use | axis
axis_speed_rad_s           | rad/s | axis   | f8 | estimators  | its filtered derivative
wrist_length_m             | m     | tendon | f8 | estimators  | path length through the wrist minus its neutral value
wrist_torque_nm            | N m   | axis   | f8 | estimators  | torque of all tendons on the wrist
wrist_error_rad            | rad   | axis   | f8 | estimators  | wrist angle error that explains the fingers' residuals
finger_residual_m          | m     | finger | f8 | estimators  | rms residual of the finger
finger_condition           | 1     | finger | f8 | estimators  | condition number of the finger's coupling matrix
fingertip_m                | m     | finger x xyz | f8 | estimators | fingertip in the palm frame
fingertip_forearm_m        | m     | finger x xyz | f8 | estimators | fingertip in the forearm frame
ref_joint_angle_rad        | rad   | joint  | f8 | controllers | joint angle wanted now | cmd
ref_joint_torque_nm        | N m   | joint  | f8 | controllers | joint torque wanted
cmd_joint_torque_nm        | N m   | joint  | f8 | controllers | joint torque that the tendons can give
guide_torque_nm            | N m   | joint  | f8 | controllers | feedforward of joint friction and guide losses, part of the torque wanted
ref_tension_n              | N     | tendon | f8 | controllers | tension wanted | tension_cmd
observed_tension_n         | N     | tendon | f8 | controllers | tension with the lever's friction loop put back, in tendon force; 0 else
ref_motor_speed_rad_s      | rad/s | motor  | f8 | controllers | motor speed wanted, for the friction feedforward
friction_torque_nm         | N m   | motor  | f8 | controllers | friction feedforward
ripple_torque_nm           | N m   | motor  | f8 | controllers | ripple feedforward
ref_motor_angle_rad        | rad   | motor  | f8 | controllers | set-point wanted of a drive that takes angles, before the guard
ref_motor_torque_nm        | N m   | motor  | f8 | controllers | motor torque wanted, before the guard
motor_torque_nm            | N m   | motor  | f8 | controllers | motor torque sent, after the guard | motor_torque
winding_temperature_degc   | degC  | motor  | f8 | controllers | winding temperature, model with sensor | temp
torque_scale               | 1     | finger | f8 | controllers | share of the wanted joint torque that is feasible
finger_status              | bits  | finger | u4 | estimators  | signals.modes.ChannelStatus bits of the finger's sensors
joint_source               | enum  | joint  | u4 | estimators  | signals.modes.JointSource: what tells the joint's angle | source
finger_state               | enum  | finger | u4 | controllers | signals.modes.MachineState of the finger
finger_mode                | enum  | finger | u4 | controllers | signals.modes.Mode in force
finger_cause               | code  | finger | i4 | controllers | latched signals.faults.Cause
finger_cause_part          | index | finger | i4 | controllers | index of the part in the space of its cause (signals.faults)
joint_sensor_cause         | code  | joint  | i4 | controllers | signals.faults.Cause for which the joint's sensor is left out, 0: none
finger_cause_value         | 1     | finger | f8 | controllers | figure of the cause
finger_cause_limit         | 1     | finger | f8 | controllers | its limit
finger_cause_tick          | 1     | finger | u8 | controllers | cycle in which it was latched
ripple_unknown             | bool  | motor  | u4 | controllers | 1: the angle gives no phase, no ripple feedforward until referenced anew
clip                       | bits  | motor  | u4 | controllers | signals.modes.Clip of this cycle
clip_count                 | 1     | motor  | u4 | controllers | cycles in which the guard changed the command
""",
    "truth": """
time_s                     | s     | -      | f8 | sim | simulated time
joint_angle_rad            | rad   | joint  | f8 | sim | true joint angle at the instant of the measurement | true_pos
joint_speed_rad_s          | rad/s | joint  | f8 | sim | true joint speed
tension_n                  | N     | tendon | f8 | sim | true tendon force at the spring, towards the finger | true_tension
finger_tension_n           | N     | tendon | f8 | sim | true tendon force in the finger, behind the guides
lever_angle_rad            | rad   | tendon | f8 | sim | true lever angle
motor_angle_rad            | rad   | motor  | f8 | sim | true motor angle
motor_speed_rad_s          | rad/s | motor  | f8 | sim | true motor speed
motor_torque_nm            | N m   | motor  | f8 | sim | torque that the motor really gave
winding_temperature_degc   | degC  | motor  | f8 | sim | true winding temperature
axis_angle_rad             | rad   | axis   | f8 | sim | true wrist axis angle
axis_speed_rad_s           | rad/s | axis   | f8 | sim | true wrist axis speed
fingertip_m                | m     | finger x xyz | f8 | sim | true fingertip in the palm frame
contact_force_n            | N     | finger | f8 | sim | force of the object on the fingertip
energy_in_j                | J     | -      | f8 | sim | work of motors, wrist drive and external wrench so far
energy_stored_j            | J     | -      | f8 | sim | kinetic and elastic energy
energy_lost_j              | J     | -      | f8 | sim | energy turned into heat so far
""",
    "timing": """
cycle                      | 1     | -      | u8 | runtime | number of the cycle since the start
deadline_ns                | ns    | -      | i8 | runtime | monotonic time at which the cycle was due
wake_ns                    | ns    | -      | i8 | runtime | wake-up minus deadline
exchange_ns                | ns    | -      | i8 | runtime | time of the bus or plant exchange
estimate_ns                | ns    | -      | i8 | runtime | time of the estimator
control_ns                 | ns    | -      | i8 | runtime | time of motion and controller
guard_ns                   | ns    | -      | i8 | runtime | time of the guard
tick_ns                    | ns    | -      | i8 | runtime | from the wake-up to the command, without the exchange
missed                     | 1     | -      | u8 | runtime | slots skipped since the start
late                       | 1     | -      | u8 | runtime | wake-ups a period or more late since the start
bus_status                 | bits  | -      | i8 | runtime | signals.modes.BusStatus of the exchange
goal_seq                   | 1     | -      | u8 | runtime | goal in use
""",
    "model": """
n_motors                   | 1     | -      | i8 | configs | motors in use
n_tendons                  | 1     | -      | i8 | configs | tendons in use
n_drives                   | 1     | -      | i8 | configs | types of drive in use
n_servos                   | 1     | -      | i8 | configs | motors that take angles
n_joints                   | 1     | -      | i8 | configs | independent joint coordinates in use
n_fingers                  | 1     | -      | i8 | configs | fingers in use
n_axes                     | 1     | -      | i8 | configs | wrist axes in use (0 or 2)
n_bodies                   | 1     | -      | i8 | configs | bodies of the tree, body 0 is the palm
n_ripples                  | 1     | -      | i8 | configs | ripple harmonics in use
n_springs                  | 1     | -      | i8 | configs | spring mechanisms in use
n_joint_sensors            | 1     | -      | i8 | configs | joints with a sensor of their own
n_differences              | 1     | -      | i8 | configs | sensors of the difference of two tendons' forces
n_passives                 | 1     | -      | i8 | configs | rows without a motor that run over joints
n_backlashes               | 1     | -      | i8 | configs | motors whose gear has play
dt_s                       | s     | -      | f8 | configs | control period
delay_s                    | s     | -      | f8 | configs | command delay from computation to action
motor_inertia_kg_m2        | kg m2 | motor  | f8 | configs | motor inertia at the gear output
motor_torque_constant_nm_a | N m/A | motor  | f8 | configs | torque at the gear output per ampere
motor_current_limit_a      | A     | motor  | f8 | configs | limit set in the drive
motor_torque_limit_nm      | N m   | motor  | f8 | configs | current limit times torque constant
motor_speed_limit_rad_s    | rad/s | motor  | f8 | configs | no-load speed at the bus voltage
motor_back_emf_v_s_rad     | V s/rad | motor | f8 | configs | amplitude of the phase back-EMF per output speed
motor_resistance_ohm       | Ohm   | motor  | f8 | configs | phase resistance
bus_voltage_v              | V     | motor  | f8 | configs | supply voltage
gear_ratio                 | 1     | motor  | f8 | configs | input turns per output turn
backlash_rad               | rad   | motor  | f8 | configs | play between the motor and what its gear turns, full width; the plant has it
encoder_step_rad           | rad   | motor  | f8 | configs | output angle per encoder count
friction_gamma_1_s_rad     | s/rad | motor  | f8 | configs | friction (3.8): arctangent slope
friction_gamma_2_nm        | N m   | motor  | f8 | configs | friction (3.8): arctangent amplitude
friction_gamma_3_nms_rad   | N m s/rad | motor | f8 | configs | friction (3.8): viscous part
ripple_order               | 1     | ripple | f8 | configs | order of the harmonic
ripple_is_input            | bool  | ripple | i8 | configs | 1: of the input shaft, 0: of the output shaft
ripple_amplitude_nm        | N m   | motor x ripple | f8 | configs | amplitude at the output
ripple_phase_rad           | rad   | motor x ripple | f8 | configs | phase
motor_command              | enum  | motor  | i8 | configs | signals.modes.DriveCommand: what the drive takes
motor_reports              | bits  | motor  | i8 | configs | signals.modes.DriveReport: what the drive reports
friction_watched           | bool  | motor  | i8 | configs | 1: the torque of its motion is known, so that its friction can be compared
servo_stiffness_nm_rad     | N m/rad | motor | f8 | configs | position loop in the device: torque per missing angle
servo_damping_nms_rad      | N m s/rad | motor | f8 | configs | position loop in the device: torque per speed
servo_deadband_rad         | rad   | motor  | f8 | configs | angle that may be missing without torque
servo_min_rad              | rad   | motor  | f8 | configs | least angle that the device takes as a goal
servo_max_rad              | rad   | motor  | f8 | configs | greatest angle that the device takes as a goal
encoder_reference          | enum  | motor  | i8 | configs | signals.modes.EncoderReference
tendon_motor               | index | tendon | i8 | configs | motor that winds the tendon
tendon_finger              | index | tendon | i8 | configs | finger that the tendon moves
tendon_kind                | enum  | tendon | i8 | configs | signals.modes.TendonKind
tendon_spring              | index | tendon | i8 | configs | spring mechanism of the tendon
spring_scale               | 1     | tendon | f8 | configs | spring constant relative to the mechanism's
spool_radius_m             | m     | tendon | f8 | configs | radius of the motor's spool; negative: wound as the motor's angle falls
tendon_follows             | bool  | tendon | i8 | configs | 1: a tendon before it has the same motor, which is looked at there
tendon_compliance_m_n      | m/N   | tendon | f8 | configs | l0/EA of the tendon
tension_min_n              | N     | tendon | f8 | configs | least tension that the distribution asks for
tension_max_n              | N     | tendon | f8 | configs | greatest tension that the distribution asks for
tension_limit_n            | N     | tendon | f8 | configs | tension above which the guard lets go
elongation_offset_m        | m     | tendon | f8 | configs | e0 from homing
elongation_goal_m          | m     | tendon | f8 | configs | elongation at the default co-contraction
elongation_min_m           | m     | tendon | f8 | configs | elongation down to which the guard lets a motor unwind a taut tendon
elongation_max_m           | m     | tendon | f8 | configs | elongation up to which the guard lets a motor stretch the tendon
P_tj_m                     | m/rad | tendon x joint | f8 | configs | dh/dq of the pulley part
curve_m                    | m     | tendon x joint x xyz | f8 | configs | dh/dq beside P_tj_m: coefficients of q, q^2, q^3
four_bar_ground_m          | m     | joint  | f8 | configs | linkage on whose rocker the joint's tendons wind: fixed bar
four_bar_crank_m           | m     | joint  | f8 | configs | its crank, the metacarpal; 0: the joint has no such linkage
four_bar_coupler_m         | m     | joint  | f8 | configs | its coupler
four_bar_rocker_m          | m     | joint  | f8 | configs | its rocker
four_bar_neutral_rad       | rad   | joint  | f8 | configs | crank angle at joint angle 0
pinv_jt_1_m                | rad/m | joint x tendon | f8 | configs | pseudo-inverse of each finger's pulley coupling
insertion_palm_m           | m     | tendon x xyz | f8 | configs | X0 of a base tendon, frame {10}
insertion_bone_m           | m     | tendon x xyz | f8 | configs | X of a base tendon, frame {12}
lever_min_rad              | rad   | spring | f8 | configs | hard stop at the tight end
lever_max_rad              | rad   | spring | f8 | configs | slack stop
lever_calibrated_min_rad   | rad   | spring | f8 | configs | tightest calibrated lever angle
slack_margin_rad           | rad   | spring | f8 | configs | slack is the lever within this of its slack stop
spring_force_n             | N     | spring x spring_node | f8 | configs | tendon force over the lever angle, lever_min..lever_max
spring_force_slope_n_rad   | N/rad | spring x spring_node | f8 | configs | its derivative
spring_path_m              | m     | spring x spring_node | f8 | configs | tendon path through the mechanism, 0 at the slack stop
spring_path_slope_m_rad    | m/rad | spring x spring_node | f8 | configs | its derivative
force_max_n                | N     | spring | f8 | configs | end of the force axis of stiffness_n_m (starts at 0)
stiffness_n_m              | N/m   | spring x force_node | f8 | configs | stiffness of the mechanism over the tendon force
lever_friction_frac        | 1     | tendon | f8 | configs | half width of the lever's friction loop, share of the force
lever_presliding_rad       | rad   | tendon | f8 | configs | lever travel over which the loop's sign turns
hall_zero_count            | count | tendon | f8 | configs | count at lever angle zero
hall_counts_rad            | count/rad | tendon | f8 | configs | counts per lever angle
hall_count_max             | count | tendon | i8 | configs | full scale
hall_noise_count           | count | tendon | f8 | configs | noise, rms
hall_weight                | 1     | tendon | f8 | configs | weight of its length in the joint angles; 0: motor-only, the sensor is not used
length_weight              | 1     | tendon | f8 | configs | weight of its length in the joint angles; as hall_weight, above 0 too where its motor's current tells its tension
difference_to              | index | tendon | i8 | configs | tendon whose force the sensor in this one's channel takes off its own, -1: there is none
difference_zero_count      | count | tendon | f8 | configs | count of that sensor at equal forces
difference_counts_n        | count/N | tendon | f8 | configs | counts per difference of force
hall_rest_count            | count | tendon | f8 | configs | count in the start pose with the start tension
hall_hysteresis_rad        | rad   | tendon | f8 | configs | magnetic hysteresis, full width in lever angle
hall_filter_hz             | Hz    | tendon | f8 | configs | sensor's own low-pass
guide_loss_frac            | 1     | tendon | f8 | configs | share of the tension lost in the guides
guide_bending_n            | N     | tendon | f8 | configs | force that bending at the guides takes, at any tension
guide_speed_m_s            | m/s   | -      | f8 | configs | tendon speed that regularises the guides' sign
joint_finger               | index | joint  | i8 | configs | finger of the joint
joint_min_rad              | rad   | joint  | f8 | configs | lower end of the range
joint_max_rad              | rad   | joint  | f8 | configs | upper end of the range
joint_viscous_nms_rad      | N m s/rad | joint | f8 | configs | viscous friction
joint_coulomb_nm           | N m   | joint  | f8 | configs | Coulomb friction
joint_spring_nm_rad        | N m/rad | joint | f8 | configs | spring across the joint; 0: none
joint_rest_rad             | rad   | joint  | f8 | configs | angle at which that spring is at rest
passive_finger             | index | passive | i8 | configs | finger of the passive row
passive_arm_m              | m/rad | passive x joint | f8 | configs | its moment arms: dh/dq
passive_stiffness_n_m      | N/m   | passive | f8 | configs | its stiffness along its path
passive_preload_n          | N     | passive | f8 | configs | its tension at q = 0
joint_source               | enum  | joint  | i8 | configs | signals.modes.JointSource without a sensor of its own
joint_weight_m2            | m2/rad2 | joint | f8 | configs | weight of the joint's sensor against the best tendon of its finger; 0: it has none
joint_zero_count           | count | joint  | f8 | configs | count of its sensor at joint angle zero
joint_counts_rad           | count/rad | joint | f8 | configs | counts per joint angle
joint_count_max            | count | joint  | f8 | configs | full scale
joint_turn_rad             | rad   | joint  | f8 | configs | angle after which the count begins anew, 0: it does not
joint_noise_count          | count | joint  | f8 | configs | noise, rms
joint_filter_hz            | Hz    | joint  | f8 | configs | sensor's own low-pass
joint_noise_rad            | rad   | joint  | f8 | configs | noise of its angle against what tendons and motors tell, rms
joint_band_rad             | rad   | joint  | f8 | configs | turn of a joint that the friction of its drives may hide
joint_side_rad             | rad   | joint  | f8 | configs | difference between its sensor and its tendons that is a fault
joint_jump_rad_s           | rad/s | joint  | f8 | configs | speed beyond its motors' that no joint has
joint_friction_speed_rad_s | rad/s | -      | f8 | configs | speed that regularises Coulomb friction
stop_stiffness_nm_rad      | N m/rad | -    | f8 | configs | joint stop
stop_damping_nms_rad       | N m s/rad | -  | f8 | configs | joint stop
joint_impedance_nm_rad     | N m/rad | joint | f8 | configs | default impedance gain
joint_damping_nms_rad      | N m s/rad | joint | f8 | configs | default damping gain
joint_speed_max_rad_s      | rad/s | joint  | f8 | configs | greatest speed of the joint's reference
joint_acceleration_max_rad_s2 | rad/s2 | joint | f8 | configs | greatest acceleration of the joint's reference
joint_torque_rate_nm_s     | N m/s | joint  | f8 | configs | greatest change of a joint torque that a goal asks for
joint_brake_rad_s2         | rad/s2 | joint | f8 | configs | deceleration with which the guard counts on the joint's motors
joint_care_rad             | rad   | joint  | f8 | configs | way before its stop at which a joint of a fast finger is kept
finger_kind                | enum  | finger | i8 | configs | signals.modes.FingerKind
finger_n_joints            | 1     | finger | i8 | configs | joints of the finger
finger_joint               | index | finger x finger_joint | i8 | configs | its joints, proximal first
finger_n_tendons           | 1     | finger | i8 | configs | tendons of the finger
finger_tendon              | index | finger x finger_tendon | i8 | configs | its tendons
finger_shares              | bool  | finger | i8 | configs | 1: a motor of it winds several tendons, or one as its angle falls
finger_carried             | bool  | finger | i8 | configs | 1: its tendons run over joints of what carries it too
finger_loaded              | bool  | finger | i8 | configs | 1: its joints bear more than its own tendons: springs, or tendons of fingers that it carries
finger_condition           | 1     | finger | f8 | configs | condition number of its coupling at q = 0
finger_tip_body            | index | finger | i8 | configs | body that carries the fingertip, -1: none
finger_tip_m               | m     | finger x xyz | f8 | configs | fingertip in that body's frame
thumb_base_offset_m        | m     | finger | f8 | configs | tensegrity base: distance of the two axes
thumb_metacarpal_m         | m     | finger | f8 | configs | tensegrity base: metacarpal length
estimation_damping         | 1     | -      | f8 | configs | damping of the weighted joint angles, share of the mean curvature
thumb_iterations           | 1     | -      | i8 | configs | iterations of the thumb's search
thumb_gauss_newton         | bool  | -      | i8 | configs | 1: Gauss-Newton, 0: gradient search
body_parent                | index | body   | i8 | configs | parent body, -1 for the palm
body_joint                 | index | body   | i8 | configs | joint coordinate, -1: fixed to the parent
body_ratio                 | 1     | body   | f8 | configs | joint angle of the body per coordinate
body_rotation              | 1     | body x row x xyz | f8 | configs | orientation in the parent at zero, parent from body
body_origin_m              | m     | body x xyz | f8 | configs | origin in the parent
body_axis                  | 1     | body x xyz | f8 | configs | joint axis in the body frame
body_mass_kg               | kg    | body   | f8 | configs | mass
body_com_m                 | m     | body x xyz | f8 | configs | centre of mass in the body frame
body_inertia_kg_m2         | kg m2 | body x row x xyz | f8 | configs | inertia about the centre of mass, body frame
gravity_m_s2               | m/s2  | xyz    | f8 | configs | gravity in the forearm frame
wrist_size_m               | m     | xyz    | f8 | configs | length a, width b, thickness c of the neutral wrist
wrist_neutral_rad          | rad   | axis   | f8 | configs | neutral (q71, q73)
wrist_origin_m             | m     | xyz    | f8 | configs | unused by hands without a wrist: palm origin in the forearm frame
forearm_point_m            | m     | tendon x xyz | f8 | configs | tendon's exit point in the forearm frame
palm_point_m               | m     | tendon x xyz | f8 | configs | tendon's entry point in the palm frame
wrist_arm_m                | m/rad | tendon x axis | f8 | configs | dh_wrist/dq of the neutral wrist
wrist_regularisation_m2    | m2/rad2 | -    | f8 | configs | added to the squares of the wrist's columns when its error is sought in the residuals
wrist_neutral_length_m     | m     | tendon | f8 | configs | path length through the neutral wrist
axis_min_rad               | rad   | axis   | f8 | configs | lower end of the axis range
axis_max_rad               | rad   | axis   | f8 | configs | upper end of the axis range
axis_step_rad              | rad   | axis   | f8 | configs | potentiometer resolution
axis_noise_rad             | rad   | axis   | f8 | configs | potentiometer noise, rms
axis_torque_limit_nm       | N m   | axis   | f8 | configs | torque of the wrist drive
axis_speed_limit_rad_s     | rad/s | axis   | f8 | configs | speed of the wrist drive
axis_bandwidth_hz          | Hz    | axis   | f8 | configs | bandwidth of the wrist drive's position loop
axis_damping_ratio         | 1     | axis   | f8 | configs | damping of the wrist drive's position loop
axis_spring_arm_m          | m     | axis   | f8 | configs | lever arm of the springs between axis and drive; 0: there are none
axis_spring_force_n        | N     | axis   | f8 | configs | their force at no load
axis_spring_length_m       | m     | axis   | f8 | configs | elongation over which that force grows e-fold
axis_spring_damping_nms_rad | N m s/rad | axis | f8 | configs | their damping
axis_speed_max_rad_s       | rad/s | axis   | f8 | configs | greatest speed of the axis' reference
axis_acceleration_max_rad_s2 | rad/s2 | axis | f8 | configs | greatest acceleration of the axis' reference
tension_kp_nm_n            | N m/N | -      | f8 | configs | tension loop, proportional
tension_kp_stiffness_n_m   | N/m   | -      | f8 | configs | stiffness at which that gain holds
tension_kd_nms_rad         | N m s/rad | -  | f8 | configs | tension loop, motor damping
position_kp_nm_rad         | N m/rad | -    | f8 | configs | motor position loop, proportional
position_kd_nms_rad        | N m s/rad | -  | f8 | configs | motor position loop, derivative
velocity_filter_hz         | Hz    | -      | f8 | configs | filter of motor and joint speeds
friction_gain              | 1     | -      | f8 | configs | kappa of the friction feedforward, <= 1
force_friction_gain        | 1     | motor  | f8 | configs | the same in tendon force: what is certain of an identified friction
ripple_gain                | 1     | -      | f8 | configs | gain of the ripple feedforward, <= 1
guide_gain                 | 1     | -      | f8 | configs | gain of the feedforward of joint friction and guide losses, <= 1
lever_gain                 | 1     | -      | f8 | configs | share of the lever's friction loop that is put back into stretch and, in tendon force, tension, <= 1
use_friction               | bool  | -      | i8 | runtime | 0: --without friction
use_ripple                 | bool  | -      | i8 | runtime | 0: --without ripple
use_guides                 | bool  | -      | i8 | runtime | 0: --without guides
use_lever                  | bool  | -      | i8 | runtime | 0: --without lever
use_wrist                  | bool  | -      | i8 | runtime | 0: --without wrist (estimator term and feedforward)
torque_rate_nm_s           | N m/s | -      | f8 | configs | greatest change of a motor torque
tension_rate_n_s           | N/s   | -      | f8 | configs | greatest change of a goal's tension (tendon force mode)
command_age_s              | s     | -      | f8 | configs | oldest usable goal
measurement_age_s          | s     | tier   | f8 | configs | warn, degraded, fault
winding_limit_degc         | degC  | level  | f8 | configs | derate, fault
thermal_winding_k_w        | K/W   | motor  | f8 | configs | winding to case
thermal_winding_j_k        | J/K   | motor  | f8 | configs | winding
thermal_case_k_w           | K/W   | motor  | f8 | configs | case to ambient
thermal_case_j_k           | J/K   | motor  | f8 | configs | case
ambient_degc               | degC  | -      | f8 | configs | surroundings
object_center_m            | m     | xyz    | f8 | configs | centre of the compliant object, palm frame
object_radius_m            | m     | -      | f8 | configs | its radius
object_stiffness_n_m       | N/m   | -      | f8 | configs | its contact stiffness
object_damping_ns_m        | N s/m | -      | f8 | configs | its contact damping
tip_radius_m               | m     | -      | f8 | configs | radius of the fingertips that touch it
slip_speed_m_s             | m/s   | -      | f8 | configs | sliding speed that regularises the sign of its friction
object_friction            | 1     | -      | f8 | configs | its friction coefficient
spring_energy_j            | J     | spring x spring_node | f8 | configs | elastic energy of the mechanism over the lever angle, 0 at the slack stop
residual_limit_m           | m     | finger | f8 | configs | residual that latches a fault
pretension_n               | N     | finger | f8 | configs | default co-contraction of the finger
finger_reaction            | enum  | finger | i8 | configs | signals.modes.Reaction after a fault of the finger
release_torque_nm          | N m   | -      | f8 | configs | greatest torque that unwinds, or winds a probe
excess_torque_nm           | N m   | -      | f8 | configs | torque beyond its tendon's load that must move a motor
friction_energy_j          | J     | -      | f8 | configs | work of a friction feedforward on a motor that should rest
rest_torque_nm             | N m   | -      | f8 | configs | greatest brake of a probe's motor once the cause is named
rest_damping_nms_rad       | N m s/rad | -      | f8 | configs | the same, per speed
probe_damping_nms_rad      | N m s/rad | -      | f8 | configs | torque of a probe per speed that is missing
envelope_damping_nms_rad   | N m s/rad | -      | f8 | configs | torque per motor speed beyond the allowed one
probe_speed_rad_s          | rad/s | -      | f8 | configs | speed of a probe's motor
rest_speed_rad_s           | rad/s | -      | f8 | configs | motor speed above which it is braked once the cause is named
standing_speed_rad_s       | rad/s | -      | f8 | configs | reference below which a motor should rest
running_speed_rad_s        | rad/s | -      | f8 | configs | motor speed that a friction feedforward reaches late
turning_speed_rad_s        | rad/s | -      | f8 | configs | motor speed from which its friction is followed
stop_speed_rad_s           | rad/s | -      | f8 | configs | speed with which a joint may come to the end of its range
joint_noise_rad_s          | rad/s | -      | f8 | configs | by how much a joint may be faster than its motors make it
unrest_speed_m_s           | m/s   | -      | f8 | configs | speed of a path from which on its finger's joints are kept from their stops
wrist_wind_rad_s           | rad/s | -      | f8 | configs | speed at which a motor may wind that loads the wrist, at no load
hit_speed_rad_s            | rad/s | -      | f8 | configs | joint speed at which a stop is hit hard
spared_speed_rad_s         | rad/s | -      | f8 | configs | looked ahead joint speed below which a stop is not hit
sure_speed_rad_s           | rad/s | -      | f8 | configs | looked ahead joint speed above which a stop is surely hit
softer_s_rad               | s/rad | -      | f8 | configs | weight of a hit's speed among sets that are as good
enter_joint_rad_s          | rad/s | -      | f8 | configs | mean joint speed of the blend into a mode
enter_motor_rad_s          | rad/s | -      | f8 | configs | mean motor speed of the blend into a mode
enter_tension_n_s          | N/s   | -      | f8 | configs | mean change of tension of the blend into a mode
enter_axis_rad_s           | rad/s | -      | f8 | configs | mean axis speed of the blend into following
axis_standing_rad_s        | rad/s | -      | f8 | configs | axis speed below which the wrist needs no feedforward
release_rate_n_s           | N/s   | -      | f8 | configs | rate at which tensions are led down in a finger that lost a tendon or presses on something
dip_tension_n              | N     | -      | f8 | configs | wanted tension below which motion may take a tendon to its slack stop
least_wanted_n             | N     | -      | f8 | configs | wanted tension above which a slack tendon is a fault
moving_tension_n           | N     | -      | f8 | configs | change of tension that shows that a motor moves
released_tension_n         | N     | -      | f8 | configs | what is left of a tension that counts as let go
step_share_1_n             | 1/N   | -      | f8 | configs | step of a residual that is allowed per tension, share of the finger's limit
probe_way_m                | m     | -      | f8 | configs | way that a probe winds
probe_under_way_m          | m     | -      | f8 | configs | way after which a probe's motor turns
stuck_moved_m              | m     | -      | f8 | configs | winding under which a noisy count must change
stuck_way_m                | m     | -      | f8 | configs | winding under which any count must change
stuck_residual_m           | m     | -      | f8 | configs | change of a residual that contradicts a count that stays
still_residual_m           | m     | -      | f8 | configs | change of a residual that contradicts an angle that stays
still_residual_m_n         | m/N   | -      | f8 | configs | the same, per tension
jump_count                 | count | -      | f8 | configs | change of a count in a cycle that no motion makes
jump_count_n               | count/N | -      | f8 | configs | the same, per tension
others_count               | count | -      | f8 | configs | change of another count that shows that the finger moves
near_count                 | count | -      | f8 | configs | change of a count that is believed without a look
""",
}


def _parse(record: str, text: str) -> list[Signal]:
    signals = []
    for line in text.strip().splitlines():
        name, unit, shape, kind, origin, meaning, *live = (c.strip() for c in line.split("|"))
        dims = () if shape == "-" else tuple(d.strip() for d in shape.split(" x "))
        unknown = [d for d in dims if d not in EXTENTS]
        if unknown:
            raise ValueError(f"signal {record}.{name}: unknown index space {unknown}")
        if live and (len(live) > 1 or record == "model" or dims not in LIVE_DIMS):
            raise ValueError(
                f"signal {record}.{name}: live {live}: one key, of a cycle, shape of {LIVE_DIMS}"
            )
        signals.append(Signal(record, name, unit, dims, kind, origin, meaning, *live))
    return signals


TABLE: Final[dict[str, list[Signal]]] = {r: _parse(r, text) for r, text in _ROWS.items()}
"""Record name -> its signals in the order of the text."""


def _live() -> dict[str, Signal]:
    found: dict[str, Signal] = {}
    for signal in (s for signals in TABLE.values() for s in signals if s.live):
        if signal.live in found:
            raise ValueError(f"signal {signal.record}.{signal.name}: live key {signal.live!r} is there twice")
        found[signal.live] = signal
    return found


LIVE: Final = _live()
"""Key in the live topics -> its signal."""
