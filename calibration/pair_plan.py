"""Joints whose motor winds both of their tendons: a path through their whole range and into their stops.

Nothing of such a hand tells a tension or a joint, only the motor's angle and current do. So every joint goes
at several speeds both ways, for the friction, and slowly beyond both ends of its range, for the stops. The
joints of a finger come one after the other, all fingers go at once, after those that carry them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from calibration.order import in_order, most_nm
from calibration.part import OPEN, Part
from hand.hand import Hand
from mechanics.springs import stiffness_of_force
from mechanics.start_tension import start_tension_n
from signals.modes import MotorMode, mode_of

PAIRS: Final = "pairs"
SPEEDS_DEG_S: Final = (30.0, 60.0, 100.0)
"""Greatest speeds of the sweeps: moves are of minimum jerk, each goes through all speeds below its own."""
PEAK: Final = 1.875
"""Greatest speed of a move over its mean."""
WAY_DEG_S: Final = 60.0
PRESS_DEG_S: Final = 20.0
ASIDE_DEG: Final = 6.0
"""Distance of the sweeps from the ends of the range."""
REACH_SHARE: Final = 0.45
"""Of the torque at which the other tendon of a pair becomes slack, with which a stop is pressed."""
REACH_DEG: Final = (2.0, 8.0)
"""How far beyond its range a joint is led, at least and at most."""
FURTHER_DEG: Final = 5.0
"""By how much further it is led when it met no stop."""
SPEED_SHARE: Final = 0.2
"""Of a motor's greatest speed: what it carries on soft tendons begins to swing when it goes faster."""
NUDGE_DEG: Final = 4.0
"""Of a joint each way, before it is led anywhere."""
REST_S: Final = 0.3
LEAD_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Pair:
    """A motor, the tendons that it winds, the joint that they move, and motor angle per joint angle."""

    motor: int
    tendons: tuple[int, ...]
    joint: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Move:
    """From one joint angle to another: label ``sweep``, ``low`` or ``high``, times since the motion began."""

    label: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Text of the motion, its length, and the moves of every pair that are looked at."""

    text: str
    seconds: float
    moves: tuple[tuple[Move, ...], ...]


def pairs_of(hand: Hand, tendons: list[int]) -> tuple[list[Pair], list[Part]]:
    """(Motors that move one joint by tendons without sensors; a row for every other motor of these)."""
    m, found, rest = hand.model[0], list[Pair](), list[Part]()
    n, joints = int(m["n_tendons"]), len(hand.names.joints)
    for i in dict.fromkeys(int(m["tendon_motor"][t]) for t in tendons):
        mine = tuple(t for t in range(n) if int(m["tendon_motor"][t]) == i)
        moved = {j for t in mine for j in range(joints) if m["P_tj_m"][t, j] != 0.0}
        text = ""
        if len(mine) < 2 or len(moved) != 1:
            text = "it does not wind all tendons of one joint: its friction and that joint are not told apart"
            if any(hand.file.sees(hand.names.tendons[t]) for t in mine):
                text += "; flexor identify drives, levers, guides measure what tendons with sensors do"
        elif mode_of(int(m["motor_command"][i])) is not MotorMode.CURRENT:
            text = (
                "it takes angles and tells no torque that is free of its own loop; legal: a drive with "
                'command = "current" in the hand file, if it has that mode'
            )
        if text:
            rest.append(Part.bare(hand.names.motors[i], "pair", "1", OPEN, text))
        else:
            j = next(iter(moved))
            ratios = [-float(m["P_tj_m"][t, j]) / float(m["spool_radius_m"][t]) for t in mine]
            found.append(Pair(i, mine, j, sum(ratios) / len(mine)))
    return found, rest


@dataclass(slots=True)
class _Course:
    """Points of one joint's angle over time."""

    times_s: list[float]
    angles_deg: list[float]

    def go(self, to_deg: float, speed_deg_s: float, label: str = "") -> Move:
        """On to an angle with a greatest speed, then rest."""
        begin = self.times_s[-1]
        end = begin + max(PEAK * abs(to_deg - self.angles_deg[-1]) / speed_deg_s, 0.1)
        self.times_s += [round(end, 4), round(end + REST_S, 4)]
        self.angles_deg += [to_deg, to_deg]
        return Move(label, begin, self.times_s[-2])


def nudge_of(hand: Hand, pairs: list[Pair]) -> Plan:
    """Every joint a little both ways."""

    def moves(_: Pair, course: _Course, low: float, high: float, limit_deg_s: float) -> list[Move]:
        found = [course.go(side * NUDGE_DEG, min(PRESS_DEG_S, limit_deg_s)) for side in (1.0, -1.0)]
        course.go(0.0, min(PRESS_DEG_S, limit_deg_s))
        return found

    return _plan_of(hand, pairs, moves)


def stiffness_nm_rad(hand: Hand, pair: Pair) -> float:
    """Torque of the motor per angle of it while the joint stands."""
    m = hand.model[0]
    force = start_tension_n(m, float(m["pretension_n"][m["joint_finger"][pair.joint]]))
    radii = [float(m["spool_radius_m"][t]) for t in pair.tendons]
    return sum(r**2 * stiffness_of_force(m, t, force) for r, t in zip(radii, pair.tendons, strict=True))


def slack_nm(hand: Hand, pair: Pair) -> float:
    """Torque of the motor at which one tendon of a pair becomes slack."""
    m = hand.model[0]
    radii = sum(abs(float(m["spool_radius_m"][t])) for t in pair.tendons)
    return radii * float(m["pretension_n"][m["joint_finger"][pair.joint]])


def reach_deg(hand: Hand, pair: Pair) -> float:
    """How far beyond its range a joint with a stop there is led."""
    give = 1.0 / stiffness_nm_rad(hand, pair) + pair.ratio**2 / float(hand.model[0]["stop_stiffness_nm_rad"])
    turn = min(REACH_SHARE * slack_nm(hand, pair), most_nm(hand, pair.motor)) * give
    least, most = REACH_DEG
    return min(max(math.degrees(turn / abs(pair.ratio)), least), most)


def plan_of(hand: Hand, pairs: list[Pair], further_deg: float = 0.0) -> Plan:
    """Every joint through its range and into its stops, which may lie further away."""

    def moves(pair: Pair, course: _Course, low: float, high: float, limit_deg_s: float) -> list[Move]:
        return _moves(course, low, high, reach_deg(hand, pair) + further_deg, limit_deg_s)

    return _plan_of(hand, pairs, moves)


def _plan_of(
    hand: Hand, pairs: list[Pair], moves_of: Callable[[Pair, _Course, float, float, float], list[Move]]
) -> Plan:
    """Group by group of the hand file; in a group the joints of each finger one after the other.

    A finger that stands on another one waits for it.
    """
    m, free_s, begin_s = hand.model[0], dict[int, float](), LEAD_S
    moves: dict[int, tuple[Move, ...]] = {}
    lines = ['description = "Joints led by their motors."', 'mode = "motor_position"', "blend_s = 0.2"]
    for first, pair in in_order(hand, pairs, lambda pair: pair.joint):
        if first:
            begin_s = max([begin_s, *free_s.values()])
            free_s.clear()
        j, finger = pair.joint, int(m["joint_finger"][pair.joint])
        parent = getattr(hand.file.fingers[hand.names.fingers[finger]], "parent", "")
        carried = hand.names.fingers.index(parent) if parent in hand.names.fingers else finger
        begin = free_s.get(finger, free_s.get(carried, begin_s))
        course = _Course([0.0, begin], [0.0, 0.0])
        limit = math.degrees(SPEED_SHARE * float(m["motor_speed_limit_rad_s"][pair.motor]) / abs(pair.ratio))
        low, high = (math.degrees(float(m[k][j])) for k in ("joint_min_rad", "joint_max_rad"))
        moves[pair.motor] = tuple(moves_of(pair, course, low, high, limit))
        free_s[finger] = course.times_s[-1]
        name = hand.names.motors[pair.motor]
        turns = [round(math.radians(a) * pair.ratio, 7) for a in course.angles_deg]
        lines += ["[[tracks]]", 'kind = "motor_rad"', f'names = ["{name}"]', "relative = true"]
        lines += [f"points = {{ times_s = {course.times_s}, values = {turns} }}"]
    return Plan(
        "\n".join(lines) + "\n",
        max(free_s.values(), default=0.0) + 0.3,
        tuple(moves[pair.motor] for pair in pairs),
    )


def _moves(course: _Course, low: float, high: float, reach: float, limit_deg_s: float) -> list[Move]:
    aside = min(ASIDE_DEG, 0.1 * (high - low))
    bottom, top, found = low + aside, high - aside, list[Move]()
    way, press = min(WAY_DEG_S, limit_deg_s), min(PRESS_DEG_S, limit_deg_s)
    course.go(bottom, way)
    found.append(course.go(low - reach, press, "low"))
    course.go(bottom, way)
    for k, speed in enumerate(SPEEDS_DEG_S):
        found.append(course.go(top, min(speed, limit_deg_s), "sweep"))
        if k == 0:
            found.append(course.go(high + reach, press, "high"))
            course.go(top, way)
        found.append(course.go(bottom, min(speed, limit_deg_s), "sweep"))
    course.go(0.0, way)
    return found
