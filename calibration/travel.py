r"""Every joint from stop to stop under a bounded torque: how far it goes, and where it is straight.

A joint's impedance leads it slowly to the end of its range; there an added torque presses, and then a greater
one. A joint that is free moves on by their difference over its impedance; one at a stop hardly does. The stop
is where the line through both presses meets the joint's own friction. Tensions come from the levers, whose
friction loop hides a share of every change; which way each tendon went is known, so that share is put back.

Both ends of the hand file then give

.. math:: q = a\,\hat q + b

with the angle b of what was taken for straight, whatever the lever arms' error a. All fingers go at once, the
joints of each one after the other. While they do, the controller takes their ranges for wider, or its own
limits would stop a joint before its stop does. Guides are not fed forward meanwhile: what is given on the way
and taken back at its end would turn the friction's side round.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import tomlkit

from calibration.motion_run import Keep, Means, Watch, must_be_sound, run_motion
from calibration.order import in_order, most_at_joint_nm
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.layout import FloatArray
from signals.modes import FingerKind

LEAD_S: Final = 1.0
SPEED_DEG_S: Final = 60.0
PRESS_S: Final = (0.35, 0.25, 0.25, 0.25, 0.2)
"""Up to the first press, there, up to the second, there, and back: slowly, so that friction always holds
against the same way."""
REACH_DEG: Final = (4.0, 6.0)
"""How far beyond its range each press would take a joint that has no stop there."""
WIDER_DEG: Final = 8.0
"""By how much the controller takes the ranges for wider on each side."""
SURE: Final = 4.0
"""Standard deviations of arms and spools that no fault is made of."""
TOUCH: Final = 0.6
"""Share of the way of a free joint from press to press below which it is at a stop."""
SHARE_GOOD: Final = 0.06
"""Of its travel that a joint may differ from the hand file: three sigma of a lever arm's tolerance."""
OFFSET_GOOD_DEG: Final = 5.0
"""From what was taken for straight: more, and the guard's limits would be nowhere near the stops."""
FLOOR_M: Final = 1.4e-4
"""Error of a tendon's length in a pose that was pressed: sensors and guides of simulated hands leave it."""
RETRY: Final = 1.5
"""Presses of the second try, as a multiple of the first ones."""
FIELDS: Final = (("state", "joint_angle_rad"), ("state", "tension_n"))


@dataclass(frozen=True, slots=True)
class Times:
    """When a joint is where, since the motion began [s]."""

    ends_s: tuple[float, float]
    """Arrival at the lower and at the upper end; each is pressed for twice ``PRESS_S``."""
    done_s: float


@dataclass(frozen=True, slots=True)
class Travel:
    """What was found of a joint.

    Attributes:
        joint: its index.
        stops_rad: lower and upper stop, in the angle of what was taken for straight; not a number: not met.
        torque_nm: the second press.
        half_rad: half of a stop's 95 % interval.
        share: of its travel that it may differ from the hand file.
    """

    joint: int
    stops_rad: tuple[float, float]
    torque_nm: float
    half_rad: float
    share: float = SHARE_GOOD

    @property
    def met(self) -> bool:
        """Both stops were found."""
        return all(math.isfinite(stop) for stop in self.stops_rad)

    def zero_rad(self, low_rad: float, high_rad: float) -> tuple[float, float]:
        """Angle b of what was taken for straight, by the range of the hand file, and half of its interval."""
        low, high = self.stops_rad
        scale = (high_rad - low_rad) / (high - low)
        return low_rad - scale * low, self.half_rad * math.hypot(low, high) / (high - low)


def joints_of(hand: Hand, tendons: list[int]) -> list[int]:
    """Joints of the fingers of these tendons whose whole range can be travelled, each by itself."""
    m = hand.model[0]
    fingers = {int(m["tendon_finger"][t]) for t in tendons}
    return [
        j
        for j in range(len(hand.names.joints))
        if int(m["joint_finger"][j]) in fingers
        and int(m["finger_kind"][m["joint_finger"][j]]) not in (FingerKind.TENSEGRITY_BASE, FingerKind.SPRUNG)
    ]


def why_not(hand: Hand, j: int) -> str:
    """Why a joint is none of ``joints_of``."""
    m = hand.model[0]
    if m["finger_kind"][m["joint_finger"][j]] == FingerKind.SPRUNG:
        return "its springs decide where it stands, no motor brings it to a stop by itself"
    return "its base has poses that no tensions hold"


def presses_nm(hand: Hand, j: int) -> tuple[float, float]:
    """Both presses of a joint [N m]; the second is no harder than ``homing.current_a`` allows."""
    impedance = float(hand.model[0]["joint_impedance_nm_rad"][j])
    least, most = (impedance * math.radians(reach) for reach in REACH_DEG)
    share = min(1.0, most_at_joint_nm(hand, j) / most)
    return share * least, share * most


def motion_of(hand: Hand, presses: dict[int, tuple[float, float]]) -> tuple[str, dict[int, Times], float]:
    """Text of the motion of these joints, when each is where, and its length [s].

    Group by group of the hand file; in a group fingers go at once, joints of a finger one after the other.
    """
    m, begin_s = hand.model[0], LEAD_S
    lines = ['description = "Every joint from stop to stop."', 'mode = "joint_impedance"']
    free_s: dict[int, float] = {}
    times: dict[int, Times] = {}
    for first, j in in_order(hand, presses, int):
        if first:
            begin_s = max([begin_s, *free_s.values()])
            free_s.clear()
        press, finger, name = presses[j], int(m["joint_finger"][j]), hand.names.joints[j]
        low, high = (math.degrees(float(m[k][j])) for k in ("joint_min_rad", "joint_max_rad"))
        at = [free_s.get(finger, begin_s)]
        for way in (abs(low), None, high - low, None, abs(high)):
            at.append(at[-1] + (sum(PRESS_S) if way is None else 0.2 + way / SPEED_DEG_S))
        lines += ["[[tracks]]", 'kind = "joint_deg"', f'names = ["{name}"]']
        when = [0.0, *(round(t, 4) for t in at)]
        lines += [f"points = {{ times_s = {when}, values = {[0.0, 0.0, low, low, high, high, 0.0]} }}"]
        lines += ["[[tracks]]", 'kind = "joint_torque_nm"', f'names = ["{name}"]']
        when, values = [0.0], [0.0]
        for end, side in ((at[1], -1.0), (at[3], 1.0)):
            when += [round(float(t), 4) for t in np.cumsum([end, *PRESS_S])]
            values += [0.0, *(side * press[k] for k in (0, 0, 1, 1)), 0.0]
        lines += [f"points = {{ times_s = {when}, values = {values} }}"]
        times[j] = Times((at[1], at[3]), at[5])
        free_s[finger] = at[5]
    return "\n".join(lines) + "\n", times, max(free_s.values(), default=0.0) + 0.3


def loop_n(hand: Hand, j: int, tensions: FloatArray, side: int) -> FloatArray:
    """What the levers' friction loop hides of each tension, shape (nt,), once a joint has gone to a side."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    return np.asarray(np.sign(-side * m["P_tj_m"][:n, j]) * m["lever_friction_frac"][:n] * tensions[:n])


def put_right(hand: Hand, j: int, angle_rad: float, tensions: FloatArray, side: int) -> tuple[float, float]:
    """(angle [rad], torque towards the side [N m]) of a joint with the loop's share put back.

    The hidden force stretches the tendon, so the angle is off by it too.
    """
    m = hand.model[0]
    n = int(m["n_tendons"])
    P, hidden = m["P_tj_m"][:n, : m["n_joints"]], loop_n(hand, j, tensions, side)
    torque = float(-side * P[:, j] @ (tensions[:n] + hidden))
    return angle_rad + float(np.linalg.pinv(P)[j] @ (hidden * m["tendon_compliance_m_n"][:n])), torque


def stop_of(
    hand: Hand, means: Means, j: int, arrival_s: float, presses: tuple[float, float], side: int
) -> tuple[float, float]:
    """(angle of a stop, half of its 95 % interval) [rad]; not a number: none was met.

    Args:
        hand: the hand.
        means: of the run.
        j: joint.
        arrival_s: when it was at the end of its range.
        presses: both of them [N m].
        side: -1 lower, 1 upper.
    """
    m, angles, torques = hand.model[0], [], []
    n = int(m["n_tendons"])
    arms = np.abs(m["P_tj_m"][:n, j])
    lost = 0.0
    for k in (1, 3):
        held = arrival_s + sum(PRESS_S[:k])
        window = held + 0.4 * PRESS_S[k], held + PRESS_S[k]
        tensions = means.between("tension_n", *window)
        seen = float(means.between("joint_angle_rad", *window)[j])
        angle, torque = put_right(hand, j, seen, tensions, side)
        angles.append(angle)
        torques.append(torque)
        lost = max(
            lost, float(np.sum(arms * (m["guide_loss_frac"][:n] * tensions[:n] + m["guide_bending_n"][:n])))
        )
    free = (presses[1] - presses[0]) / float(m["joint_impedance_nm_rad"][j])
    if not side * (angles[1] - angles[0]) < TOUCH * free:
        return math.nan, math.nan
    rise = max(torques[1] - torques[0], 0.25 * (presses[1] - presses[0]))
    give = (angles[1] - angles[0]) / rise
    half = math.hypot(FLOOR_M / float(np.sqrt(np.sum(arms**2))), abs(give) * lost)
    own = float(m["joint_coulomb_nm"][j])
    return float(angles[0] - give * max(torques[0] - own, 0.0)), half


def unknown_m(hand: Hand, f: int) -> float:
    """How far lengths of finger ``f`` may err at widened ends before its arms and spools are known [m].

    ``SURE`` standard deviations of both, for the tendon on pulleys that they change most. Tendons of a
    thumb's base have no constant arms: it stands meanwhile, and its file's limit holds.
    """
    m, n = hand.model[0], int(hand.model[0]["n_tendons"])
    ends = np.maximum(abs(m["joint_min_rad"]), abs(m["joint_max_rad"])) + math.radians(WIDER_DEG)
    own = np.flatnonzero(m["tendon_finger"][:n] == f)
    ways = abs(m["P_tj_m"][own] * ends)  # an arm errs by its own way, a spool by that of all joints
    moved = np.sqrt((ways**2).sum(axis=1) + ways.sum(axis=1) ** 2)
    return float(SURE * hand.file.tolerances.pulley_radius * moved.max(initial=0.0))


def widened(hand: Hand, folder: Path) -> Path:
    """Copy of the hand's file in which all joints go further, and lengths may err as arms are unknown."""
    document = tomlkit.parse(hand.text)
    for name, finger in document["fingers"].items():
        if "residual_limit_m" in finger:
            unknown = unknown_m(hand, hand.names.fingers.index(name))
            finger["residual_limit_m"] = max(float(finger["residual_limit_m"]), unknown)
        for joint in finger["joints"]:
            low, high = joint["range_deg"]
            joint["range_deg"] = [float(low) - WIDER_DEG, float(high) + WIDER_DEG]
    path = folder / "wider.toml"
    path.write_text(tomlkit.dumps(document), encoding="utf-8")
    return path


def run_wider(hand: Hand, options: RunOptions, motion: str, seconds: float, keep: Keep, watch: Watch) -> None:
    """Run a motion to the stops, with ranges that do not end it before and without guides fed forward.

    Raises:
        Faulted: a finger went into fault.
    """
    with tempfile.TemporaryDirectory() as folder:
        plant = options.plant if options.bus is not None or options.plant else options.hand
        file, without = str(widened(hand, Path(folder))), (*options.without, "guides", "lever")
        wider = replace(options, hand=file, plant=plant, without=without)
        must_be_sound(run_motion(read_hand(wider), wider, motion, seconds, keep, watch))


def travelled(
    hand: Hand, options: RunOptions, presses: dict[int, tuple[float, float]], watch: Watch
) -> tuple[list[Travel], float]:
    """Lead the joints to their stops with these presses; what was found, and the length of the motion.

    Raises:
        Faulted: a finger went into fault.
    """
    motion, times, seconds = motion_of(hand, presses)
    means, found = Means(*FIELDS), []
    run_wider(hand, options, motion, seconds, means, watch)
    for j, press in presses.items():
        ends = [stop_of(hand, means, j, times[j].ends_s[k], press, side) for k, side in enumerate((-1, 1))]
        found.append(Travel(j, (ends[0][0], ends[1][0]), press[1], max(ends[0][1], ends[1][1])))
    return found, seconds


def fits(hand: Hand, travel: Travel) -> bool:
    """Both stops were met, and as far apart as the hand file says."""
    m, j = hand.model[0], travel.joint
    whole = float(m["joint_max_rad"][j] - m["joint_min_rad"][j])
    return travel.met and abs(travel.stops_rad[1] - travel.stops_rad[0] - whole) <= travel.share * whole


def travel_joints(
    hand: Hand, options: RunOptions, joints: list[int], watch: Watch
) -> tuple[list[Travel], float]:
    """All joints; those that do not fit once more, with the higher torque."""
    first, seconds = travelled(
        hand, options, {j: presses_nm(hand, j) for j in joints}, lambda x: watch(0.6 * x)
    )
    again = {}
    for travel in first:
        if not fits(hand, travel):
            one, two = presses_nm(hand, travel.joint)
            again[travel.joint] = (RETRY * one, RETRY * two)
    if not again:
        return first, seconds
    second, more = travelled(hand, options, again, lambda x: watch(0.6 + 0.4 * x))
    better = {t.joint: t for t in second}
    return [better.get(t.joint, t) for t in first], seconds + more
