"""Bounded probe after a lost tension: wind three millimetres with limited torque, then name the cause.

If the tension comes back within them the tendon is slack, else broken. The probe is part of the safe
reaction: its torque is limited, it only winds, and it ends at the first sign of tension. It goes by the
motor's angle: one that is not believed any more (``guard.latch``), or that stands still under a torque
which turns every motor, ends it at once.
"""

from __future__ import annotations

from typing import Final

from guard.latch import PROBED as PROBED
from guard.latch import WINDING as WINDING
from guard.latch import write_finger_cause
from guard.memory import GuardMemory
from guard.tension_checks import at_slack_stop
from guard.urgent import partners
from mechanics.friction import motor_friction_nm
from mechanics.lines import sense_of
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Model, State

TENDON_BROKEN: Final = int(Cause.TENDON_BROKEN)
TENDON_SLACK: Final = int(Cause.TENDON_SLACK)
ENCODER_STUCK: Final = int(Cause.ENCODER_STUCK)

BACK_S: Final = 0.004
LONGEST_S: Final = 0.5
AGAIN_S: Final = 0.15
"""Time that letting go gets anew once a break is named: what a probe takes; a longer one adds none."""
UNMOVED_S: Final = 0.030
"""Time in which the probe's torque has turned a motor from rest: half a millimetre by then."""
UNSEEN_S: Final = 0.008
"""Time for which its angle may stand once it turns: 0.2 mm at the probe's speed, and as much to rest."""


@law
def begin_probe(mem: GuardMemory, s: State, f: int, motor: int) -> None:
    """Start the probe of the tendon that the finger's cause names."""
    mem.probe_phase[f] = WINDING
    mem.probe_tendon[f] = s.finger_cause_part[f]
    mem.probe_angle_rad[f] = s.motor_angle_rad[motor]
    mem.probe_age_s[f] = 0.0
    mem.probe_back_s[f] = 0.0


@law
def judge_probe(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """Name the cause once the probe has shown it."""
    t = mem.probe_tendon[f]
    i = m.tendon_motor[t]
    wound = m.spool_radius_m[t] * (s.motor_angle_rad[i] - mem.probe_angle_rad[f])
    mem.probe_age_s[f] += m.dt_s
    stood_s = min(mem.blocked_s[i], mem.probe_age_s[f])
    stand_s = UNSEEN_S if wound > m.probe_under_way_m else UNMOVED_S
    slack = at_slack_stop(m, t, s.lever_angle_rad[t] + m.slack_margin_rad[m.tendon_spring[t]])
    mem.probe_back_s[f] = 0.0 if slack else mem.probe_back_s[f] + m.dt_s
    if mem.probe_back_s[f] > BACK_S:
        write_finger_cause(s, f, TENDON_SLACK, t, 1e3 * wound, 1e3 * m.probe_way_m)
        mem.probe_phase[f] = PROBED
    elif stood_s > stand_s:
        write_finger_cause(s, f, ENCODER_STUCK, i, 1e3 * stood_s, 1e3 * stand_s)
        mem.probe_phase[f] = PROBED
    elif wound >= m.probe_way_m or mem.probe_age_s[f] > LONGEST_S:
        write_finger_cause(s, f, TENDON_BROKEN, t, 1e3 * wound, 1e3 * m.probe_way_m)
        mem.probe_phase[f] = PROBED
        mem.fault_age_s[f] = max(mem.fault_age_s[f] - AGAIN_S, 0.0)
        for k in range(m.finger_n_tendons[f]):
            other = m.finger_tendon[f, k]
            if mem.urgent[other] != 0:
                # its partner goes slack; any other one that did would leave its own partner the joint
                alone = partners(m, mem.P_tj_m, f, t, other)
                mem.urgent[other] = 0
                mem.release_to_n[other] = 0.0 if alone else mem.least_n[other]
                mem.released_s[other] = 0.0


@law
def probe_torque_nm(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> float:
    """Torque [N m] that winds tendon ``t`` at the probe's speed; never unwinds, never above its limit."""
    i = m.tendon_motor[t]
    friction = motor_friction_nm(
        m.probe_speed_rad_s,
        m.friction_gamma_1_s_rad[i],
        m.friction_gamma_2_nm[i],
        m.friction_gamma_3_nms_rad[i],
    )
    torque = friction + m.probe_damping_nms_rad * (
        m.probe_speed_rad_s - sense_of(m, t) * s.motor_speed_rad_s[i]
    )
    return float(min(max(torque, 0.0), m.release_torque_nm))
