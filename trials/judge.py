"""The judge of a trial: true tensions, joints and motor torques of the recording against the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from signals.faults import Cause
from signals.layout import FloatArray
from trials import rules
from trials.limits import longest_s
from trials.naming import Naming
from trials.reactions import FAULT, Shown
from trials.record import Recording
from trials.rules import KINDS, KindRule
from trials.trial import EVERY, Struck, Trial
from trials.verdict import Verdict as Verdict


class Judge(Naming):
    """Judges trials of one hand.

    Args:
        names: its names.
        model: its model record.
    """

    def judge(
        self,
        trial: Trial,
        recording: Recording,
        twins: tuple[Callable[[float], Recording], ...],
        braked: Callable[[FloatArray, float, float], Recording],
    ) -> Verdict:
        """Verdict on a recording with one fault or two.

        Args:
            trial: what was done.
            recording: what happened.
            twins: the same trial without its faults up to a time [s] after the first, with its own and with
                other noise; called only where a stop is hit.
            braked: the same trial with given currents [A] from a time [s] after the first fault on, up to
                another; likewise.
        """
        found: list[Shown] = []
        for fault in trial.faults:
            found.append(self._shown(fault, recording, found))
        verdict = Verdict(trial=trial, must_react=any(rule.must_react for _, rule, _ in found))
        verdict.shown = any(shows_s is not None for _, _, shows_s in found)
        self._tensions(recording, verdict, twins[0])
        tells = [(f, self.tells_s(f, rule, s, recording)) for f, rule, s in found]
        self.judge_stops(recording, verdict, twins, braked, tells)
        if recording.of("timing", "bus_status").any():
            verdict.breaches.append("simulation: diverged")
        strict = self._answers(found, recording, verdict, set())
        if not strict.breaches and strict.right is not False:
            return strict  # right whether or not the storm alone brings a finger into fault
        fallen = self._fallen(trial, recording, twins[0])
        return self._answers(found, recording, verdict, fallen) if fallen else strict

    def _shown(self, fault: Struck, recording: Recording, before: list[Shown]) -> Shown:
        """A fault, its rule and when it shows; one of a sensor that stands already, when that does."""
        rule = self.rule_of(fault)
        shown_s = [self.shows_s(fault, rule, recording.since(fault.at_s))]
        for other, _, other_s in before:
            if other.part == fault.part and fault.kind in rules.STANDING.get(other.kind, ()):
                shown_s.append(None if other_s is None else other_s - fault.at_s)
        known_s = [s for s in shown_s if s is not None]
        return fault, rule, fault.at_s + max(known_s) if len(known_s) == len(shown_s) else None

    def _answers(
        self, found: list[Shown], recording: Recording, limits: Verdict, fallen: set[int]
    ) -> Verdict:
        """The verdict on limits, with that on what the hand did and said; ``fallen``: as ``_fallen``."""
        verdict = replace(limits, breaches=list(limits.breaches))
        asked = [(f, rule, s) for f, rule, s in found if self.finger_of(f) not in fallen]
        shown = [shown for shown in asked if shown[2] is not None] or asked
        verdict.must_react = any(rule.must_react for _, rule, _ in shown)
        self._others(found, recording, verdict, fallen)
        self.judge_reactions(found, recording, verdict, fallen)
        self.judge_names(found, recording, verdict, fallen)
        return verdict

    def rule_of(self, trial: Trial | Struck) -> KindRule:
        """Rule of a trial; a wrist axis whose error does not show need not be named."""
        rule = KINDS[trial.kind]
        if rule.space == "axis" and trial.part not in rules.SEEN_AXES:
            return replace(rule, must_react=False, causes=rule.causes | {Cause.NONE})
        return rule

    def shows_s(self, trial: Trial | Struck, rule: KindRule, recording: Recording) -> float | None:
        """When the fault can be observed [s after it]; ``None``: not within the recording."""
        if not rule.shows_by_winding:
            return rule.shows_after_s
        t = self.tendon_of(trial)
        motor = int(self.model["tendon_motor"][0, t])
        angle = recording.of("truth", "motor_angle_rad")[:, motor]
        first = recording.after(0.0)
        wound = abs(angle[first:] - angle[first - 1]) * float(self.model["spool_radius_m"][0, t])
        beyond = wound >= rules.SHOWN_M
        return float(recording.time_s[first + int(beyond.argmax())]) if beyond.any() else None

    def tells_s(
        self, fault: Trial | Struck, rule: KindRule, shows_s: float | None, recording: Recording
    ) -> float:
        """First moment at which anybody could tell a fault [s after the first one].

        What shows by winding can be told once the hand stopped the finger for it, at the latest; a hand that
        stops it before it would have shown is not asked for a brake from the fault on.
        """
        begin_s = 0.0 if isinstance(fault, Trial) else fault.at_s
        own = self.finger_of(fault)
        known_s = [] if shows_s is None else [shows_s]
        if rule.shows_by_winding and own is not None:
            stopped = recording.of("state", "finger_state")[:, own] == FAULT
            stopped_s = float(recording.time_s[int(stopped.argmax())])
            if stopped.any() and stopped_s > begin_s:
                known_s.append(stopped_s)
        return rule.tell_s + min(known_s, default=begin_s)

    def _tensions(self, recording: Recording, verdict: Verdict, twin: Callable[[float], Recording]) -> None:
        tension, time_s = recording.of("truth", "tension_n"), recording.time_s
        first = recording.after(0.0)
        verdict.tension_n = float(tension[first:].max())
        later = np.ones(len(time_s) - first, dtype=bool)
        for fault in verdict.trial.faults:
            end = recording.after(fault.at_s + rules.FIRST_MOMENT_S)
            later[max(recording.after(fault.at_s) - first, 0) : end - first] = False
        for limit, counts in (
            (rules.TENSION_NEVER_N, np.ones_like(later)),
            (rules.TENSION_LATER_N, later),
        ):
            seen = np.where(counts[:, None], tension[first:], 0.0)
            if verdict.trial.storm and limit == rules.TENSION_LATER_N:
                # goals may pass it for a moment, up to their own limit
                row_s = longest_s(seen > limit, float(self.model["dt_s"][0]))
                short = row_s <= rules.GOAL_MOMENT_S + 0.5 * float(self.model["dt_s"][0])
                seen = np.where(short & (seen.max(axis=0) <= rules.GOAL_NEVER_N), 0.0, seen)
            worst = seen.max(axis=0)
            for t in np.flatnonzero(worst > limit):
                when = float(time_s[first + int(seen[:, t].argmax())])
                if self._without(verdict.trial, int(t), limit, when, twin):
                    continue
                verdict.breaches.append(
                    f"tension: {self.names.tendons[t]} {worst[t]:.0f} N above {limit:.0f} N "
                    f"at {1e3 * when:.0f} ms"
                )

    @staticmethod
    def _without(
        trial: Trial, t: int, limit: float, when_s: float, twin: Callable[[float], Recording]
    ) -> bool:
        """True where a client or a touch makes the tension without any fault too."""
        if not trial.storm and trial.touch is None:
            return False
        other = twin(when_s)
        return bool(other.of("truth", "tension_n")[other.after(0.0) :, t].max(initial=0.0) > limit)

    @staticmethod
    def _fallen(trial: Trial, recording: Recording, twin: Callable[[float], Recording]) -> set[int]:
        """Fingers that a client's storm brings into fault without any fault: those of ``--storms``."""
        if not trial.storm or not (recording.of("state", "finger_state") == FAULT).any():
            return set()
        states = twin(float(recording.time_s[-1])).of("state", "finger_state")
        return {int(f) for f in np.flatnonzero((states == FAULT).any(axis=0))}

    def _others(self, found: list[Shown], recording: Recording, verdict: Verdict, fallen: set[int]) -> None:
        if any(rule.whole_hand or fault.part == EVERY for fault, rule, _ in found):
            return
        states = recording.of("state", "finger_state")
        own = fallen | {self.finger_of(fault) for fault, _, _ in found}
        for f in range(states.shape[1]):
            stopped = states[:, f] == FAULT
            if f not in own and stopped.any():
                k = int(stopped.argmax())
                cause = Cause(int(recording.of("state", "finger_cause")[k, f]))
                part = int(recording.of("state", "finger_cause_part")[k, f])
                if verdict.trial.touch is not None and self.is_true(cause, part, recording, k):
                    continue
                verdict.breaches.append(
                    f"others: {self.names.fingers[f]} stopped at {1e3 * recording.time_s[k]:.0f} ms "
                    f"({cause.name})"
                )
