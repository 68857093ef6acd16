"""The judge of a trial: true tensions, joints and motor torques of the recording against the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from runtime.faults import rules
from runtime.faults.draw import Trial
from runtime.faults.record import FloatArray, Recording
from runtime.faults.rules import KINDS, KindRule
from runtime.faults.stops import Stops
from runtime.faults.verdict import Verdict as Verdict
from signals.faults import Cause
from signals.modes import MachineState

FAULT: Final = int(MachineState.FAULT)
OPPOSITE: Final = -0.9
"""Cosine between two rows of P below which they are an antagonist pair."""


class Judge(Stops):
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
        """Verdict on a recording.

        Args:
            trial: what was done.
            recording: what happened.
            twins: the same trial without its fault up to a time [s] after it, with its own and with other
                noise; called only where a stop is hit.
            braked: the same trial with given currents [A] from a time [s] after the fault on, up to another;
                likewise.
        """
        rule = self.rule_of(trial)
        verdict = Verdict(trial=trial, must_react=rule.must_react)
        self._tensions(recording, verdict)
        self._others(trial, rule, recording, verdict)
        shows_s = self.shows_s(trial, rule, recording)
        verdict.shown = shows_s is not None
        begin_s = rule.tell_s + (shows_s or 0.0)
        self.judge_stops(
            recording, verdict, twins, lambda current_a, until_s: braked(current_a, begin_s, until_s)
        )
        if shows_s is not None:
            self._reaction(trial, rule, recording, verdict, shows_s)
        self._naming(trial, rule, recording, verdict, shows_s)
        if recording.of("timing", "bus_status").any():
            verdict.breaches.append("simulation: diverged")
        return verdict

    def rule_of(self, trial: Trial) -> KindRule:
        """Rule of a trial; a wrist axis whose error does not show need not be named."""
        rule = KINDS[trial.kind]
        if rule.space == "axis" and trial.part not in rules.SEEN_AXES:
            return replace(rule, must_react=False, causes=rule.causes | {Cause.NONE})
        return rule

    def shows_s(self, trial: Trial, rule: KindRule, recording: Recording) -> float | None:
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

    def _tensions(self, recording: Recording, verdict: Verdict) -> None:
        tension = recording.of("truth", "tension_n")
        verdict.tension_n = float(tension[recording.after(0.0) :].max())
        for limit, first in (
            (rules.TENSION_NEVER_N, recording.after(0.0)),
            (rules.TENSION_LATER_N, recording.after(rules.FIRST_MOMENT_S)),
        ):
            worst = tension[first:].max(axis=0)
            for t in np.flatnonzero(worst > limit):
                when = recording.time_s[first + int(tension[first:, t].argmax())]
                verdict.breaches.append(
                    f"tension: {self.names.tendons[t]} {worst[t]:.0f} N above {limit:.0f} N "
                    f"at {1e3 * when:.0f} ms"
                )

    def _others(self, trial: Trial, rule: KindRule, recording: Recording, verdict: Verdict) -> None:
        if rule.whole_hand:
            return
        states = recording.of("state", "finger_state")
        own = self.finger_of(trial)
        for f in range(states.shape[1]):
            stopped = states[:, f] == FAULT
            if f != own and stopped.any():
                k = int(stopped.argmax())
                cause = Cause(int(recording.of("state", "finger_cause")[k, f])).name
                verdict.breaches.append(
                    f"others: {self.names.fingers[f]} stopped at {1e3 * recording.time_s[k]:.0f} ms ({cause})"
                )

    def _reaction(
        self, trial: Trial, rule: KindRule, recording: Recording, verdict: Verdict, shows_s: float
    ) -> None:
        own = self.finger_of(trial)
        states = recording.of("state", "finger_state")
        stopped = states[:, own] == FAULT if own is not None else (states == FAULT).all(axis=1)
        if stopped.any():
            begun_s = float(recording.time_s[int(stopped.argmax())])
            verdict.react_s = max(begun_s - shows_s, 0.0)
        elif rule.must_react:
            verdict.breaches.append("reaction: none")
            return
        else:
            return
        deadline_s = shows_s + rules.REACT_S if rule.must_react else begun_s + rules.REACT_S
        if verdict.react_s > rules.REACT_S and rule.must_react:
            verdict.breaches.append(f"reaction: after {1e3 * verdict.react_s:.1f} ms")
        fingers = range(states.shape[1]) if own is None else (own,)
        for f in fingers:
            self._torques(trial, f, recording, verdict, deadline_s, begun_s)

    def _torques(
        self,
        trial: Trial,
        f: int,
        recording: Recording,
        verdict: Verdict,
        deadline_s: float,
        begun_s: float,
    ) -> None:
        m = self.model[0]
        torque = recording.of("truth", "motor_torque_nm")
        angle = recording.of("truth", "motor_angle_rad")
        first, begun = recording.after(deadline_s), recording.after(begun_s)
        late = recording.time_s[first:]
        for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            i = int(m["tendon_motor"][t])
            name = self.names.motors[i]
            before = max(float(torque[recording.after(-0.010) : first, i].max(initial=0.0)), 0.0)
            share = np.clip(1.0 - (late - deadline_s) / rules.RAMP_S, 0.0, 1.0)
            above = torque[first:, i] > before * share + rules.TORQUE_MARGIN_NM
            if above.any() and t == self._probed(trial):
                self._probe(name, recording, torque[:, i], angle[:, i], int(t), begun, verdict)
            elif above.any():
                k = first + int(above.argmax())
                verdict.breaches.append(
                    f"torque: {name} pulls with {torque[k, i]:.2f} N m at {1e3 * recording.time_s[k]:.0f} ms"
                )
            after = -min(float(torque[recording.after(-0.010) : first, i].min(initial=0.0)), 0.0) * share
            self._unwinding(name, late, torque[first:, i], after, begun_s, verdict)

    def _probed(self, trial: Trial) -> int:
        return self.tendon_of(trial) if KINDS[trial.kind].space == "tendon" else -1

    def _probe(
        self,
        name: str,
        recording: Recording,
        torque: FloatArray,
        angle: FloatArray,
        t: int,
        begun: int,
        verdict: Verdict,
    ) -> None:
        """The one motor that may pull, the faulted tendon's, within the bounds of a probe."""
        # the command of the reaction acts a cycle later, and comes down by the torque rate
        later = recording.after(float(recording.time_s[begun - 1]) + rules.REACT_S)
        wound = float(self.model["spool_radius_m"][0, t]) * (angle[begun:].max() - angle[begun])
        strongest = float(torque[later:].max())
        if strongest > rules.PROBE_NM + rules.TORQUE_MARGIN_NM:
            verdict.breaches.append(f"probe: {name} pulls with {strongest:.2f} N m")
        if wound > rules.PROBE_M:
            verdict.breaches.append(f"probe: {name} winds {1e3 * wound:.2f} mm")
        over = recording.after(float(recording.time_s[begun - 1]) + rules.PROBE_S)
        if (torque[over:] > rules.TORQUE_MARGIN_NM).any():
            verdict.breaches.append(f"probe: {name} pulls after {rules.PROBE_S} s")

    def _unwinding(
        self,
        name: str,
        time_s: FloatArray,
        torque: FloatArray,
        ramp: FloatArray,
        begun_s: float,
        verdict: Verdict,
    ) -> None:
        """Unwinding stays below the torque that friction needs, or on the ramp from what there was before."""
        allowed = np.maximum(ramp, rules.UNWIND_NM) + rules.TORQUE_MARGIN_NM
        if (torque < -allowed).any():
            hardest = float(torque[torque < -allowed].min())
            verdict.breaches.append(f"torque: {name} unwinds with {-hardest:.2f} N m")
        over = torque[time_s > begun_s + rules.UNWIND_S]
        if (over < -rules.TORQUE_MARGIN_NM).any():
            verdict.breaches.append(f"torque: {name} unwinds after {rules.UNWIND_S} s")

    def right_parts(self, trial: Trial, rule: KindRule, cause: Cause) -> set[int]:
        """Parts that a right cause may blame."""
        if rule.space == "axis":
            return set(range(len(self.names.axes)))
        t = self.tendon_of(trial)
        parts = {t} if rule.space == "tendon" else {trial.part}
        if cause is Cause.NOT_FINITE_MEASUREMENT:
            parts |= {trial.part, t}
        if rule.pair and cause is Cause.RESIDUAL_TOO_LARGE:
            parts |= self.partners(t)
        return parts

    def partners(self, t: int) -> set[int]:
        """Antagonists of a tendon: tendons of its finger with an opposite row of P."""
        m = self.model[0]
        f, rows = int(m["tendon_finger"][t]), self.coupling()
        found = set()
        for other in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            size = float(np.linalg.norm(rows[t]) * np.linalg.norm(rows[other]))
            if size > 0.0 and float(rows[t] @ rows[other]) < OPPOSITE * size:
                found.add(int(other))
        return found

    def _naming(
        self, trial: Trial, rule: KindRule, recording: Recording, verdict: Verdict, shows_s: float | None
    ) -> None:
        own = self.finger_of(trial)
        if rule.whole_hand:
            codes = recording.of("state", "hand_cause")
            parts = recording.of("state", "hand_cause_part")
            if not codes.any() and recording.of("state", "finger_cause").any():
                # a finger was blamed for what is the hand's
                f = int(np.argmax(recording.of("state", "finger_cause")[-1] != 0))
                codes = recording.of("state", "finger_cause")[:, f]
                parts = recording.of("state", "finger_cause_part")[:, f]
        else:
            codes = recording.of("state", "finger_cause")[:, own]
            parts = recording.of("state", "finger_cause_part")[:, own]
        last = Cause(int(codes[-1]))
        verdict.cause = last.name
        verdict.part = self._part_name(last, int(parts[-1]))
        if shows_s is None and last is not Cause.NONE:
            # named, and its finger stopped, before it would have shown by itself
            verdict.shown, shows_s = True, float(recording.time_s[-1])
            verdict.react_s = 0.0
        if shows_s is None:
            return
        if last is Cause.NONE:
            verdict.right = Cause.NONE in rule.causes
            return
        right = np.zeros(len(codes), dtype=bool)
        for cause in rule.causes - {Cause.NONE}:
            wanted = list(self.right_parts(trial, rule, cause))
            right |= (codes == cause) & np.isin(parts, wanted)
        if right[-1]:
            verdict.name_s = max(float(recording.time_s[int(right.argmax())]) - shows_s, 0.0)
        verdict.right = bool(right[-1]) and verdict.name_s is not None and verdict.name_s <= rule.name_s

    def _part_name(self, cause: Cause, part: int) -> str:
        from runtime.reports.faults import space_of

        names = self.names.of(space_of(cause)) if cause is not Cause.NONE else ()
        return names[part] if 0 <= part < len(names) else ""
