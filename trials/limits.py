"""The judge of trials without a fault: limits that hold whatever a client asks for, and whatever touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from signals.faults import Cause, part_name
from signals.layout import FloatArray
from trials import rules
from trials.record import Recording
from trials.stops import AFTER_HIT_S, Stops
from trials.trial import Touch, Trial
from trials.verdict import Verdict

LOST_S: Final = 0.05
"""Time within which a contact that is lost throws a joint into its stop, or another cause is looked for."""


def longest_s(over: Any, dt_s: float) -> Any:
    """Longest time in a row [s] for which each column is true.

    Args:
        over: flags, shape (n, m).
        dt_s: time between two rows.
    """
    place = np.arange(1, len(over) + 1)[:, None]
    since = np.maximum.accumulate(np.where(over, 0, place), axis=0)  # the last row that was not
    return (place - since).max(axis=0, initial=0) * dt_s


class Limits(Stops):
    """Judges trials of one hand in which nothing is broken."""

    def judge_whole(
        self,
        trial: Trial,
        recording: Recording,
        held: Callable[[], Recording],
        braked: Callable[[FloatArray, float], Recording],
    ) -> Verdict:
        """Verdict on a storm or a touch.

        Args:
            trial: what was done.
            recording: what happened.
            held: the same with motors that keep their currents from the touch on; asked only of a touch
                that broke a limit.
            braked: the same with these currents [A] from that time after the moment on [s]; asked only of a
                touch that threw a joint into its stop.
        """
        verdict = Verdict(trial=trial, must_react=False)
        verdict.tension_n = float(recording.of("truth", "tension_n").max())
        broken = self._over(recording) | self._stops(recording, verdict)
        if broken and trial.touch is not None:
            passive = self._over(held()) | self._stops(held(), None)
            broken = {key: text for key, text in broken.items() if key not in passive}
            self._spring_back(trial.touch, recording, broken, verdict, braked)
        verdict.breaches += broken.values()
        verdict.breaches += self._alarms(recording)
        if recording.of("timing", "bus_status").any():
            verdict.breaches.append("simulation: diverged")
        verdict.cause = Cause(int(recording.of("state", "hand_cause")[-1])).name
        return verdict

    def _spring_back(
        self,
        touch: Touch,
        recording: Recording,
        broken: dict[tuple[object, ...], str],
        verdict: Verdict,
        braked: Callable[[FloatArray, float], Recording],
    ) -> None:
        """From ``broken`` to what is unavoidable: hits after a touch went that no brake spares.

        What pressed a finger, or was pressed by it, goes: tendons throw the joint back. Anyone can tell once
        it is faster towards its stop than it may hit it. The brake from then on is that of a fault, with the
        motors of the joint's own finger. A stop that was hit before is not excused, nor is its next hit.
        """
        first_s, speeds = float(recording.time_s[0]), recording.of("truth", "joint_speed_rad_s")
        for (j, side), (_, when) in self.hits(recording.since(first_s)).items():
            key, hit = ("stop", j, side), recording.after(first_s + when) - 1
            goes = self._goes(touch, recording, j, hit) if key in broken else None
            if goes is None:
                continue
            slow = np.flatnonzero(side * speeds[: hit - 1, j] <= rules.STOP_SPEED_RAD_S)
            tell = max(int(slow.max(initial=0)), goes)
            tell_s, over_s = float(recording.time_s[tell]), float(recording.time_s[hit]) + AFTER_HIT_S
            if key in self._stops(recording.until(tell_s), None):
                continue
            pose = recording.of("truth", "joint_angle_rad")[tell]
            brake = self.brake_of_finger_a(int(self.model[0]["joint_finger"][j]), j, side, pose)
            least = self.hits(braked(brake, tell_s).since(tell_s))
            if (j, side) in least:
                verdict.unavoidable.append(
                    f"{broken.pop(key)}; {least[j, side][0]:.1f} under the strongest brake"
                )
                again = self._stops(recording, None, over_s)
                broken |= {key: again[key]} if key in again else {}

    def _goes(self, touch: Touch, recording: Recording, j: int, hit: int) -> int | None:
        """Frame at which what a joint's hit at a frame comes from begins to go; ``None``: nothing goes.

        The touch itself, up to ``AFTER_HIT_S`` after it; while it lasts, the contact of the fingertips that
        the joint moves: its force at the hit is less than half of the greatest in the ``LOST_S`` before.
        """
        falls_s = max(touch.falls_s - touch.before_s, 0.0)
        hit_s = float(recording.time_s[hit])
        if hit_s > falls_s:
            soon = hit_s <= touch.seconds - touch.before_s + AFTER_HIT_S
            return recording.after(falls_s) - 1 if soon else None
        first = recording.after(hit_s - LOST_S)
        force_n = recording.of("truth", "contact_force_n")[first : hit + 1, self.tips_of(j)].sum(axis=1)
        peak = int(force_n.argmax())
        return first + peak if force_n[-1] < 0.5 * force_n[peak] else None

    def tips_of(self, j: int) -> list[int]:
        """Fingers whose fingertips a joint moves."""
        m, found = self.model[0], []
        for f in range(int(m["n_fingers"])):
            body = int(m["finger_tip_body"][f])
            while body > 0 and int(m["body_joint"][body]) != j:
                body = int(m["body_parent"][body])
            if body > 0:
                found.append(f)
        return found

    def _over(self, recording: Recording) -> dict[tuple[object, ...], str]:
        """Broken limits of tension, by limit and tendon."""
        tension, found = recording.of("truth", "tension_n"), {}
        dt_s = float(self.model["dt_s"][0])
        if float(tension.max()) <= rules.TENSION_LATER_N:
            return {}
        for t, worst in enumerate(tension.max(axis=0)):
            if worst > rules.GOAL_NEVER_N:
                when = 1e3 * recording.time_s[int(tension[:, t].argmax())]
                found["never", t] = (
                    f"tension: {self.names.tendons[t]} {worst:.0f} N above {rules.GOAL_NEVER_N:.0f} N "
                    f"at {when:.0f} ms"
                )
        for t, row_s in enumerate(longest_s(tension > rules.TENSION_LATER_N, dt_s)):
            if row_s > rules.GOAL_MOMENT_S + 0.5 * dt_s:
                found["in a row", t] = (
                    f"tension: {self.names.tendons[t]} above {rules.TENSION_LATER_N:.0f} N "
                    f"for {1e3 * row_s:.1f} ms in a row"
                )
        return found  # type: ignore[return-value]  # two kinds of keys

    def _stops(
        self, recording: Recording, verdict: Verdict | None, since_s: float = -np.inf
    ) -> dict[tuple[object, ...], str]:
        """Stops that are hit too fast from a time on, by joint and side."""
        found: dict[tuple[object, ...], str] = {}
        since_s = max(since_s, float(recording.time_s[0]))
        for (j, side), (speed, when) in self.hits(recording.since(since_s)).items():
            at_ms = 1e3 * (since_s + when)
            found["stop", j, side] = f"stop: {self.names.joints[j]} {speed:.1f} rad/s at {at_ms:.0f} ms"
            if verdict is not None:
                verdict.stop_rad_s = max(verdict.stop_rad_s, speed)
        return found

    def _alarms(self, recording: Recording) -> list[str]:
        """Causes that were latched although nothing is broken, unless they are true."""
        found = []
        for who, codes, parts in self._latched(recording):
            for k in np.flatnonzero(np.diff(codes, prepend=0)):
                cause, part = Cause(int(codes[k])), int(parts[k])
                if cause not in rules.QUIET_CAUSES and not self.is_true(cause, part, recording, int(k)):
                    name, when = part_name(cause, self.names, part), 1e3 * recording.time_s[k]
                    found.append(f"alarm: {who} {cause.name} {name} at {when:.0f} ms")
        return found

    def _latched(self, recording: Recording) -> list[tuple[str, Any, Any]]:
        state = {
            name: recording.of("state", name)
            for name in ("hand_cause", "hand_cause_part", "finger_cause", "finger_cause_part")
        }
        each = [
            (name, state["finger_cause"][:, f], state["finger_cause_part"][:, f])
            for f, name in enumerate(self.names.fingers)
        ]
        return [("hand", state["hand_cause"], state["hand_cause_part"]), *each]
