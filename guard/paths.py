"""How fast the paths of tendons change, and how fast those of a finger were lately."""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from signals.compiled import law
from signals.typed import Model, State

WRIST_HZ: Final = 20.0
"""Cut-off of the speeds of the paths through the wrist, as that of the axes they are made of."""
REST_S: Final = 0.15
"""Time constant with which what was fast is forgotten [s]: kicks of a goal follow each other within it."""
MOST_UNREST: Final = 15.0
"""Greatest speed that is remembered, in ``unrest_speed_m_s``: a path at the no-load speed of its motor."""


@law
def path_speeds(m: Model, mem: GuardMemory, s: State) -> None:
    """Speeds of the paths through the wrist [m/s] into ``mem``, low-passed."""
    length, before, speed = s.wrist_length_m, mem.wrist_before_m, mem.wrist_m_s
    if mem.started != 0:
        share, dt_s = mem.path_share, m.dt_s
        for t in range(m.n_tendons):
            speed[t] += share * ((length[t] - before[t]) / dt_s - speed[t])
    for t in range(m.n_tendons):
        before[t] = length[t]


@law
def note_stands(m: Model, mem: GuardMemory) -> None:
    """Which finger carries each one, as a metacarpal does, into ``mem.stands_on``: itself, if none does."""
    for f in range(m.n_fingers):
        mem.stands_on[f], body = f, m.finger_tip_body[f]
        while body > 0:  # up to the palm
            j = m.body_joint[body]
            if j >= 0 and m.joint_finger[j] != f:
                mem.stands_on[f] = m.joint_finger[j]
                break
            body = m.body_parent[body]


@law
def motor_paths(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """Speeds [m/s] at which motors and wrist shorten finger ``f``'s paths, into ``mem.row``.

    The greatest into ``mem.fastest_m_s``, the greatest of late of what pulls into ``mem.unrest_m_s``: a motor
    whose tendon is off its spool disturbs nobody.
    """
    pulling = idle = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if s.elongation_m[t] > m.elongation_min_m[t]:
            speed = m.spool_radius_m[t] * s.motor_speed_rad_s[m.tendon_motor[t]] + mem.wrist_m_s[t]
            pulling = max(pulling, abs(speed))
        else:  # a slack tendon moves nothing: as if it went along
            speed = 0.0
            for b in range(m.finger_n_joints[f]):
                j = m.finger_joint[f, b]
                speed -= mem.P_tj_m[t, j] * s.joint_speed_rad_s[j]
            idle = max(idle, abs(speed))
        mem.row[k] = speed
    mem.fastest_m_s[f] = max(pulling, idle)
    lately = max(pulling, mem.unrest_kept * mem.unrest_m_s[f])
    mem.unrest_m_s[f] = min(lately, MOST_UNREST * m.unrest_speed_m_s)
    under = mem.stands_on[f]
    if under != f:  # it shakes what carries it
        mem.unrest_m_s[under] = max(mem.unrest_m_s[under], mem.unrest_m_s[f])


@law
def unrest(m: Model, mem: GuardMemory, f: int) -> float:
    """Share 0..1 of its joints' care that finger ``f`` takes: all, where a path was lately twice as fast."""
    return float(min(max(mem.unrest_m_s[f] / m.unrest_speed_m_s - 1.0, 0.0), 1.0))
