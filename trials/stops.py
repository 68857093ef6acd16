"""Hard stops that joints hit because of a fault: found, and tried again under the strongest brake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from mechanics.coupling import tendon_jacobian
from signals.faults import Cause
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray
from trials import rules
from trials.brake import most_a, ramp_left
from trials.record import FAULT, Recording
from trials.rules import KINDS
from trials.trial import EVERY, Struck, Trial
from trials.verdict import Verdict

AFTER_HIT_S: Final = 0.1
"""Time after the last hit up to which it is looked for without the fault and under the brake."""
WHIP: Final = "under the strongest brake another joint hits its stop"
EXCHANGE: Final = "the strongest brake throws another joint into its stop instead"


@dataclass(slots=True)
class Stops:
    """Hits of hard stops in trials of one hand.

    Args:
        names: its names.
        model: its model record.
    """

    names: HandNames
    model: RecordArray

    def finger_of(self, trial: Trial | Struck) -> int | None:
        """Finger of the faulted part; ``None`` for a wrist axis, and for all motors."""
        m, space = self.model[0], KINDS[trial.kind].space
        if space == "axis" or trial.part == EVERY:
            return None
        return int(m["tendon_finger"][self.tendon_of(trial)])

    def tendon_of(self, trial: Trial | Struck) -> int:
        """Faulted tendon, or the tendon of the faulted motor."""
        m = self.model[0]
        if KINDS[trial.kind].space == "tendon":
            return trial.part
        return int(np.flatnonzero(m["tendon_motor"][: m["n_tendons"]] == trial.part)[0])

    def judge_stops(
        self,
        recording: Recording,
        verdict: Verdict,
        twins: tuple[Callable[[float], Recording], ...],
        braked: Callable[[FloatArray, float, float], Recording],
        tells: list[tuple[Struck, float]],
    ) -> None:
        """Hard stops that are hit too fast, unless a twin without the fault hits them as well.

        A hit that even the strongest brake from the moment that anyone could tell the fault cannot slow down
        enough is no breach of the controller's: it is counted apart. So is what a finger's whip, as such a
        hit stops it, does to a later joint, if the brake of that joint only passes it on to another. And
        where one of two stops alone can be spared, the other one is: its joint's brake drives a joint into a
        stop that was not hit, and letting nothing go hits this one too, or one that was not. A finger that
        stands in fault already is braked as much as it may still unwind.

        Args:
            recording: what happened.
            verdict: to be filled.
            twins: as ``Judge.judge``.
            braked: as ``Judge.judge``.
            tells: the faults in order, each with the first moment at which anybody could tell it [s].
        """
        all_hits = self.hits(recording)
        if not all_hits:
            return
        until_s = max(when for _, when in all_hits.values()) + AFTER_HIT_S
        own = self.hits(twins[0](until_s))
        pose = recording.of("truth", "joint_angle_rad")[recording.after(0.0) - 1]
        whipped = False
        for (j, side), (speed, when) in sorted(all_hits.items(), key=lambda hit: hit[1][1]):
            if (j, side) in own:
                continue
            before = [(fault, tell) for fault, tell in tells if fault.at_s <= when] or tells[:1]
            faults = [fault for fault, _ in before]
            at_work = partial(_from, braked, before[-1][1], until_s)
            text = f"stop: {self.names.joints[j]} {speed:.1f} rad/s at {1e3 * when:.0f} ms"
            brake = self._within_rules(recording, before, self.brake_of(faults, j, side, pose))
            least = self.hits(at_work(brake))
            if (j, side) in least:
                whipped = True
                verdict.unavoidable.append(f"{text}; {least[j, side][0]:.1f} under the strongest brake")
            elif whipped and set(least) - set(all_hits):
                verdict.unavoidable.append(f"{text}; {WHIP}")
            elif set(least) - set(all_hits) and self._spares_less(faults, (j, side), all_hits, at_work):
                verdict.unavoidable.append(f"{text}; {EXCHANGE}")
            elif any((j, side) in self.hits(twin(until_s)) for twin in twins[1:]):
                continue
            else:
                verdict.breaches.append(text)
            verdict.stop_rad_s = max(verdict.stop_rad_s, speed)

    def _within_rules(
        self, recording: Recording, before: list[tuple[Struck, float]], current_a: FloatArray
    ) -> FloatArray:
        """A brake [A] that keeps the rule of unwinding in each finger that had to react to an earlier fault.

        What is left of its ramp as the newest fault can be told, at least ``UNWIND_NM``.
        """
        m, now_s = self.model[0], before[-1][1]
        states = recording.of("state", "finger_state")[min(recording.after(now_s), len(recording.time_s) - 1)]
        most: FloatArray = np.full(len(current_a), np.inf)
        for fault, tell_s in before[:-1]:
            own = self.finger_of(fault)
            if own is None or not KINDS[fault.kind].must_react or states[own] != FAULT:
                continue
            motors = np.flatnonzero(np.isfinite(self.nothing_of_finger_a(own)))
            weak_a = rules.UNWIND_NM / m["motor_torque_constant_nm_a"][motors]
            left = ramp_left(now_s - tell_s - rules.REACT_S)
            own_a = most_a(left, m["motor_current_limit_a"][motors], weak_a)
            most[motors] = np.minimum(most[motors], own_a)
        bounded: FloatArray = np.clip(current_a, -most, most)
        return bounded

    def _spares_less(
        self,
        faults: list[Struck],
        stop: tuple[int, int],
        all_hits: dict[tuple[int, int], tuple[float, float]],
        at_work: Callable[[FloatArray], Recording],
    ) -> bool:
        """True if letting nothing go hits this stop too, or one that was not hit."""
        still = set(self.hits(at_work(np.fmin.reduce([self.nothing_a(fault) for fault in faults]))))
        return stop in still or bool(still - set(all_hits))

    def brake_of(self, faults: list[Struck], j: int, side: int, q_rad: FloatArray) -> FloatArray:
        """``brake_a`` in the fingers of all these faults: where two differ, what unwinds.

        Nothing after a fault of all motors at once: a lost one hears nothing, one that was reset is off, and
        a drive turns its field by the angle that is no number.
        """
        if any(fault.part == EVERY for fault in faults):
            return self.nothing_of_finger_a(None)
        brakes = [self.brake_a(fault, j, side, q_rad) for fault in faults]
        current: FloatArray = np.fmin.reduce(brakes)
        return current

    def nothing_a(self, trial: Trial | Struck) -> FloatArray:
        """Currents [A] that switch the motors of the faulted finger off; NaN: not touched."""
        return self.nothing_of_finger_a(self.finger_of(trial))

    def nothing_of_finger_a(self, own: int | None) -> FloatArray:
        """The same for one finger, or (``None``) for the whole hand."""
        m = self.model[0]
        current = np.full(int(m["n_motors"]), np.nan)
        for t in range(int(m["n_tendons"])):
            if own is None or int(m["tendon_finger"][t]) == own:
                current[int(m["tendon_motor"][t])] = 0.0
        return current

    def coupling(self, q_rad: FloatArray | None = None) -> FloatArray:
        """P = dh/dq at joint angles, shape (nt, nj); at the straight hand without any."""
        m = self.model[0]
        full, rows = np.zeros_like(m["joint_min_rad"]), np.zeros_like(m["P_tj_m"])
        if q_rad is not None:
            full[: len(q_rad)] = q_rad
        tendon_jacobian(m, full, rows)
        coupling: FloatArray = rows[: int(m["n_tendons"]), : int(m["n_joints"])]
        return coupling

    def brake_a(
        self, trial: Trial | Struck, j: int, side: int, q_rad: FloatArray | None = None
    ) -> FloatArray:
        """Currents [A] that keep joint ``j`` from its upper (1) or lower (-1) stop as hard as rules allow.

        Every tendon of the faulted finger that pulls it there unwinds at the drive's limit, its other motors
        are off: no motor of a faulted finger may pull. Motors of other fingers are NaN, not touched. Of a
        joint of another finger all of the faulted one unwind.
        """
        return self.brake_of_finger_a(self.finger_of(trial), j, side, q_rad)

    def brake_of_finger_a(
        self, own: int | None, j: int, side: int, q_rad: FloatArray | None = None
    ) -> FloatArray:
        """The same with the motors of one finger, or (``None``) of the whole hand."""
        m, rows = self.model[0], self.coupling(q_rad)
        current = self.nothing_of_finger_a(own)
        foreign = own is not None and int(m["joint_finger"][j]) != own
        for t in range(int(m["n_tendons"])):
            if own is None or int(m["tendon_finger"][t]) == own:
                # a tendon that pulls turns the joint towards -P
                pulls_there = foreign or -side * rows[t, j] > 0.0
                if pulls_there:
                    i = int(m["tendon_motor"][t])
                    current[i] = -float(m["motor_current_limit_a"][i])
        return current

    def is_true(self, cause: Cause, part: int, recording: Recording, k: int) -> bool:
        """The plant's truth says the same within the moment before."""
        m, recent = self.model[0], slice(max(0, k - round(0.1 / float(self.model["dt_s"][0]))), k + 1)
        if cause is Cause.TENSION_TOO_HIGH:
            return bool(recording.of("truth", "tension_n")[recent, part].max() > rules.TENSION_LATER_N)
        if cause is Cause.JOINT_OUT_OF_RANGE:
            q = recording.of("truth", "joint_angle_rad")[recent, part]
            return bool(((q > m["joint_max_rad"][part]) | (q < m["joint_min_rad"][part])).any())
        if cause is Cause.MOTOR_TOO_FAST:
            angle = recording.of("truth", "motor_angle_rad")[recent, part]
            speed = abs(np.diff(angle)).max(initial=0.0) / float(m["dt_s"])
            return bool(speed > m["motor_speed_limit_rad_s"][part])
        return False

    def hits(
        self, recording: Recording, above_rad_s: float = rules.STOP_SPEED_RAD_S
    ) -> dict[tuple[int, int], tuple[float, float]]:
        """(joint, side) -> (speed [rad/s], time [s]) of its fastest hit of that stop, where that is too fast.

        Side 1 is the upper stop, -1 the lower one. From time zero of the recording on.
        """
        m, first = self.model[0], max(recording.after(0.0) - 1, 0)  # -1 would be the last frame
        q = recording.of("truth", "joint_angle_rad")[first:]
        speed = recording.of("truth", "joint_speed_rad_s")[first:]
        n = q.shape[1]
        found: dict[tuple[int, int], tuple[float, float]] = {}
        for side, beyond in ((1, q > m["joint_max_rad"][:n]), (-1, q < m["joint_min_rad"][:n])):
            outward = side * speed
            entered = beyond[1:] & ~beyond[:-1]
            # the stop may have slowed the joint within the cycle: the greater of the two speeds
            fast = np.where(entered, np.maximum(outward[1:], outward[:-1]), 0.0)
            for j in np.flatnonzero(fast.max(axis=0, initial=0.0) > above_rad_s):
                k = int(fast[:, j].argmax())
                found[int(j), side] = (float(fast[k, j]), float(recording.time_s[first + 1 + k]))
        return found


def _from(
    braked: Callable[[FloatArray, float, float], Recording],
    begin_s: float,
    until_s: float,
    current_a: FloatArray,
) -> Recording:
    """A braked trial whose currents come last."""
    return braked(current_a, begin_s, until_s)
